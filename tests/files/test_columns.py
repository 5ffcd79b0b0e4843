"""Columns that are left out, and columns of text."""

import io
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spdpeg import InputError, UnsupportedError, files
from spdpeg.files import delimited

TEXT = "id,city,size,price\na7,Rome,1,10\nb2,Oslo,2,20\nc9,Rome,3,30\n"


@pytest.fixture(params=["csv", "parquet"])
def table(request, tmp_path):
    """The same rows as text and as Parquet."""
    path = tmp_path / f"homes.{request.param}"
    if request.param == "csv":
        path.write_text(TEXT)
    else:
        columns = {"id": ["a7", "b2", "c9"], "city": ["Rome", "Oslo", "Rome"], "size": [1, 2, 3], "price": [10, 20, 30]}
        pq.write_table(pa.table(columns), path)
    return path


def test_text_becomes_a_column_for_each_category(table):
    found = files.read(table, drop=["id"], categorical=["city"])
    assert found.names == ["city=Oslo", "city=Rome", "size"]
    np.testing.assert_array_equal(found.X, [[0, 1, 1], [1, 0, 2], [0, 1, 3]])
    np.testing.assert_array_equal(found.y, [10, 20, 30])


def test_categories_that_are_known_keep_their_places(table):
    asked = {"drop": ["id", "price"], "categorical": {"city": ["Rome", "Oslo", "Bern"], "absent": ["x"]}}
    found = files.read(table, n_features=4, **asked)
    np.testing.assert_array_equal(found.X[:, :3], [[1, 0, 0], [0, 1, 0], [1, 0, 0]])
    assert found.y is None
    with pytest.raises(InputError, match=r"'Oslo' in column 'city' in (line 3|row 1), which is none of: Rome"):
        files.read(table, drop=[0], categorical={"city": ["Rome"]})


def test_text_is_refused_with_the_advice_that_fits(table):
    with pytest.raises(InputError, match=r"--drop city,? or (encode text with )?--categorical city"):
        files.read(table, drop=["id"])
    with pytest.raises(InputError, match="no column 'town'"):
        files.read(table, categorical=["town"])
    with pytest.raises(InputError, match="drop is 9"):
        files.read(table, drop=[9])


def test_a_missing_number_is_still_a_matter_of_its_line(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\nNA,3\n")
    with pytest.raises(InputError, match=r"holds 'NA' where a number is expected\. Repair or drop the line"):
        files.read(tmp_path / "a.csv")


def test_streams_look_for_categories_first(tmp_path, monkeypatch):
    (tmp_path / "homes.csv").write_text(TEXT)
    whole = files.read(tmp_path / "homes.csv", drop=["id"], categorical=["city"])
    chunks = list(files.stream(tmp_path / "homes.csv", 1, drop=["id"], categorical={"city": None}))
    assert [chunk.names for chunk in chunks] == [whole.names] * 3
    np.testing.assert_array_equal(np.vstack([chunk.X for chunk in chunks]), whole.X)
    chunks = list(files.stream(tmp_path / "homes.csv", 2, drop=["id"], categorical={"city": ["Rome", "Oslo"]}))
    np.testing.assert_array_equal(np.vstack([chunk.X for chunk in chunks])[:, 0], [1, 0, 1])
    monkeypatch.setattr(delimited, "MOST_CATEGORIES", 1)
    with pytest.raises(InputError, match="more than 1 texts in column 'city'"):
        next(files.stream(tmp_path / "homes.csv", 2, drop=["id"], categorical=["city"]))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(TEXT.encode()))))
    with pytest.raises(UnsupportedError, match="'city' in Standard input"):
        next(files.stream("-", 2, drop=["id"], categorical=["city"]))


def test_many_categories_make_short_chunks(tmp_path, monkeypatch):
    (tmp_path / "homes.csv").write_text(TEXT)
    monkeypatch.setattr(delimited, "_ENTRIES", 8)
    chunks = list(files.stream(tmp_path / "homes.csv", 100, drop=["id"], categorical=["city"]))
    assert [chunk.X.shape for chunk in chunks] == [(2, 3), (1, 3)]


def test_other_formats_have_no_columns_to_choose(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.eye(2), y=np.ones(2))
    with pytest.raises(InputError, match="drop and categorical are for tables"):
        files.read(tmp_path / "a.npz", drop=[0])


@pytest.mark.parametrize(
    ("text", "column", "values", "name"),
    [
        ("1\n2\nNA\n4\n", None, [1, 2, np.nan, 4], None),
        ("flow\n1\n?\n", None, [1, np.nan], "flow"),
        ("t;flow\n0;1.5\n1;\n", "flow", [1.5, np.nan], "flow"),
        ("3,1\n4,2\n", 0, [3, 4], None),
    ],
)
def test_signals(text, column, values, name, tmp_path):
    (tmp_path / "signal.csv").write_text(text)
    found = files.read_signal(tmp_path / "signal.csv", column)
    np.testing.assert_array_equal(found[0], values)
    assert found[1] == name


@pytest.mark.parametrize("place", [[], 1.5, np.ones((2, 2)), object(), True], ids=lambda place: type(place).__name__)
def test_columns_that_are_none(place, tmp_path):
    (tmp_path / "table.csv").write_text("a,b\n1,2\n3,4\n")
    for options in ({"target": place}, {"drop": [place]}, {"categorical": {"a": 1, "b": place}}):
        with pytest.raises(InputError, match=next(iter(options))):
            files.read(tmp_path / "table.csv", **options)
    with pytest.raises(InputError, match="column is"):
        files.read_signal(tmp_path / "table.csv", place)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("flow\n", "holds no values"),
        ("1\nhigh\n", "line 2: 'high' is no number"),
        ("1,2\n3\n", "line 2: there is no column 2"),
    ],
)
def test_signals_that_are_refused(text, words, tmp_path):
    (tmp_path / "signal.csv").write_text(text)
    with pytest.raises(InputError, match=words):
        files.read_signal(tmp_path / "signal.csv")
