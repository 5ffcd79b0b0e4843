"""The results on the page of the reproduction are those of the run whose files lie beside it."""

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def tables():
    return runpy.run_path(str(DOCS / "reproduction_tables.py"))


def test_page_is_what_the_files_say(tables):
    text = (DOCS / "reproduce.md").read_text(encoding="utf-8")
    assert tables["page"](text) == text, "run: python docs/reproduction_tables.py"


def test_page_without_a_place_for_a_table_is_refused(tables):
    text = (DOCS / "reproduce.md").read_text(encoding="utf-8").replace("<!-- ranks -->", "")
    with pytest.raises(ValueError, match="ranks"):
        tables["page"](text)
