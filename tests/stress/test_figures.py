"""The table of docs/reliability.md."""

from pathlib import Path

from stress import figures


def test_table_replaces_what_was_there(tmp_path: Path) -> None:
    page, records = tmp_path / "page.md", tmp_path / "fuzz.json"
    page.write_text("# Page\n\n<!-- figures -->\nstale\n<!-- end of figures -->\n\nafter\n")
    verdicts = ("PASSED", "PASSED", "REFUSED", "UNFINISHED", "RAW")
    records.write_text("".join(f'{{"part": "fuzz", "verdict": "{verdict}"}}\n' for verdict in verdicts))
    figures.main(str(page), str(records))
    text = page.read_text()
    assert "stale" not in text
    assert "| 5 | 1 | 1 | 1 raw exception |" in text
    assert text.startswith("# Page\n")
    assert text.endswith("\nafter\n")
