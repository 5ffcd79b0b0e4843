"""The page about data larger than memory says what is supported, as a trial of everything finds it."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "larger_than_memory.md"


def test_page_is_what_a_trial_finds():
    pytest.importorskip("distributed")
    tables = runpy.run_path(str(ROOT / "docs" / "source_tables.py"))
    text = PAGE.read_text(encoding="utf-8")
    assert tables["page"](text) == text, "run: python docs/source_tables.py"
    assert "`prox-newton`" in text
