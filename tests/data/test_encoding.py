"""Text in Parquet files and Arrow tables: columns of 0 and 1, the same ones in every batch."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spdpeg
from spdpeg import FusedLasso, FusedLogisticRegression, data, files
from spdpeg.data import encoding

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

CITIES = np.array(["Bern", "Oslo", "Rome"])
NAMES = ["city=Bern", "city=Oslo", "city=Rome", "size"]


def homes(n: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cities, of which the first third of the rows has Oslo only and the last one no Oslo; sizes; prices."""
    rng = np.random.default_rng(seed)
    chosen = np.concatenate([np.full(n // 3, 1), rng.integers(0, 3, n // 3), rng.choice([0, 2], n - 2 * (n // 3))])
    size = rng.standard_normal(n)
    price = 2.0 * size + np.array([0.0, 3.0, -1.0])[chosen] + 0.1 * rng.standard_normal(n)
    return CITIES[chosen], size, price


def table(city: np.ndarray, size: np.ndarray, price: np.ndarray, as_dictionary: bool = True) -> Any:
    texts = pa.array(city.tolist())
    return pa.table({"city": texts.dictionary_encode() if as_dictionary else texts, "size": size, "price": price})


def written(place: Path, as_dictionary: bool = True) -> Path:
    """Two files, whose row groups number the categories in different ways and have different ones of them."""
    rows = homes()
    for number, some in enumerate((slice(0, 130), slice(130, 300))):
        part = table(*(column[some] for column in rows), as_dictionary=as_dictionary)
        pq.write_table(part, place / f"{number}.parquet", row_group_size=50)
    return place


def expected() -> np.ndarray:
    city, size, _ = homes()
    return np.column_stack([city[:, None] == CITIES, size])


def whole(rows: data.Tables) -> np.ndarray:
    return np.concatenate(list(rows.blocks()))


@pytest.mark.parametrize("as_dictionary", [True, False], ids=["dictionary", "text"])
def test_categories_of_all_files_become_columns(as_dictionary: bool, tmp_path: Path) -> None:
    asked = () if as_dictionary else ["city"]
    rows = data.open_parquet(written(tmp_path, as_dictionary), target="price", categorical=asked)
    assert rows.names == NAMES
    assert rows.categories == {"city": CITIES.tolist()}
    np.testing.assert_array_equal(whole(rows), expected())
    np.testing.assert_array_equal(rows.labels, homes()[2])
    assert rows.parts is not None
    for start, some, _ in rows.parts(40):
        np.testing.assert_array_equal(some, expected()[start : start + some.shape[0]])


def test_as_in_memory(tmp_path: Path) -> None:
    pq.write_table(table(*homes()), tmp_path / "homes.parquet")
    there = files.read(tmp_path / "homes.parquet", target="price")
    rows = data.open_parquet(tmp_path / "homes.parquet", target="price")
    assert there.names == rows.names
    np.testing.assert_array_equal(there.X, whole(rows))
    here = FusedLasso(0.01, 0.02, tol=1e-10).fit(there.X, there.y)
    model = FusedLasso(0.01, 0.02, tol=1e-10).fit(rows)
    np.testing.assert_allclose(model.coef_, here.coef_, atol=1e-6)
    assert model.feature_names_in_.tolist() == NAMES


def test_other_rows_for_the_same_model(tmp_path: Path) -> None:
    fitted = data.open_parquet(written(tmp_path), target="price")
    model = FusedLasso(0.001, 0.001).fit(fitted)
    city, size, price = (column[-60:] for column in homes(seed=1))
    assert "Oslo" not in city
    few = table(city, size, price)
    with pytest.raises(spdpeg.InputError, match="categories"):
        model.predict(data.from_arrow(few, target="price"))
    same = data.from_arrow(few, target="price", categorical=fitted.categories)
    assert same.names == NAMES
    assert model.score(same, price) > 0.9
    # By the names of X, whatever the order in the table; the last column is no target where it is a feature.
    turned = data.from_arrow(few.select(["size", "city"]), columns=fitted.names, categorical=fitted.categories)
    assert turned.labels is None
    np.testing.assert_array_equal(model.predict(turned), model.predict(same))
    two = pa.table({"city": ["Rome", "Bern"], "size": [1.0, 2.0]})
    unknown = data.from_arrow(two, labelled=False, categorical={"city": ["Oslo", "Rome"]})
    with pytest.raises(spdpeg.InputError, match=r"'Bern' in column 'city' in row 1, which is none of: Oslo, Rome"):
        whole(unknown)


def test_labels_and_numbers_may_be_dictionaries(tmp_path: Path) -> None:
    city, size, price = homes()
    columns = {"city": pa.array(city.tolist()).dictionary_encode(), "rooms": pa.array(np.arange(300) % 4), "size": size}
    columns["rooms"] = columns["rooms"].dictionary_encode()
    columns["kind"] = pa.array(np.where(price > 0, "dear", "cheap").tolist()).dictionary_encode()
    rows = data.from_arrow(pa.table(columns))
    assert rows.names == [*NAMES[:3], "rooms", "size"]
    np.testing.assert_array_equal(whole(rows)[:, 3], np.arange(300) % 4)
    assert FusedLogisticRegression(0.01, 0.01).fit(rows).classes_.tolist() == ["cheap", "dear"]
    by_number = data.from_arrow(pa.table(columns), categorical=["rooms"], drop=["city"])
    assert by_number.names == ["rooms=0", "rooms=1", "rooms=2", "rooms=3", "size"]


def test_lazy_frames_with_categories() -> None:
    polars = pytest.importorskip("polars")
    city, size, price = homes()
    frame = polars.DataFrame({"city": city, "size": size, "price": price})
    for kind in (polars.Categorical, polars.Enum(["Rome", "Oslo", "Bern", "Graz"])):
        lazy = frame.lazy().with_columns(polars.col("city").cast(kind))
        np.testing.assert_array_equal(whole(data.from_arrow(lazy, target="price")), expected())
        model = FusedLasso(0.01, 0.02).fit(lazy.select(["city", "size"]), price)
        assert model.feature_names_in_.tolist() == NAMES


class Stream:
    """Whatever speaks the Arrow C stream interface, and nothing else: two batches, each with its own dictionary."""

    def __init__(self) -> None:
        self.asked = 0

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        self.asked += 1
        rows = homes()
        parts = [table(*(column[some] for column in rows)) for some in (slice(0, 100), slice(100, 300))]
        batches = [batch for part in parts for batch in part.to_batches()]
        return pa.RecordBatchReader.from_batches(parts[0].schema, batches).__arrow_c_stream__(requested_schema)


def test_an_object_that_speaks_arrow() -> None:
    source = Stream()
    rows = data.from_arrow(source, target="price")
    np.testing.assert_array_equal(whole(rows), expected())
    model = FusedLasso(0.01, 0.02, tol=1e-8).fit(rows)
    here = FusedLasso(0.01, 0.02, tol=1e-8).fit(expected(), homes()[2])
    np.testing.assert_allclose(model.coef_, here.coef_, atol=1e-5)
    assert source.asked > 2
    given = FusedLasso(0.01, 0.02, tol=1e-8).fit(Stream(), np.arange(300.0))
    assert given.feature_names_in_.tolist() == [*NAMES, "price"]
    streamed = FusedLasso(0.01, 0.02, random_state=0).partial_fit(rows)
    assert streamed.n_features_in_ == 4


def test_duckdb(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    written(tmp_path)
    here = FusedLasso(0.01, 0.02, tol=1e-8).fit(expected(), homes()[2])
    with duckdb.connect() as connection:
        connection.execute("create type cities as enum ('Oslo', 'Rome', 'Bern', 'Graz')")
        for kind, asked in (("varchar", ["city"]), ("cities", ())):
            query = f"select city::{kind} as city, size, price from '{tmp_path}/*.parquet'"
            ordered = connection.sql(f"{query} order by filename, file_row_number")
            rows = data.from_arrow(ordered, target="price", categorical=asked)
            assert rows.names == NAMES
            model = FusedLasso(0.01, 0.02, tol=1e-8).fit(rows)
            np.testing.assert_allclose(model.coef_, here.coef_, atol=1e-5)


def test_adbc() -> None:
    pytest.importorskip("adbc_driver_sqlite")
    from adbc_driver_sqlite import dbapi

    class Query:
        def __init__(self, connection: Any) -> None:
            self.cursor = connection.cursor()

        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            self.cursor.execute("select city, size, price from homes order by rowid")
            return self.cursor.fetch_record_batch().__arrow_c_stream__(requested_schema)

    with dbapi.connect() as connection:
        query = Query(connection)
        query.cursor.adbc_ingest("homes", table(*homes(), as_dictionary=False))
        rows = data.from_arrow(query, target="price", categorical=["city"])
        np.testing.assert_allclose(whole(rows), expected())
        model = FusedLasso(0.01, 0.02, tol=1e-8).fit(rows)
        query.cursor.close()
    here = FusedLasso(0.01, 0.02, tol=1e-8).fit(expected(), homes()[2])
    np.testing.assert_allclose(model.coef_, here.coef_, atol=1e-5)


@pytest.mark.parametrize("as_dictionary", [True, False], ids=["dictionary", "text"])
def test_text_that_is_missing_is_found_with_its_row(as_dictionary: bool, tmp_path: Path) -> None:
    texts = pa.array([*["Rome"] * 70, None, "Oslo"])
    column = texts.dictionary_encode() if as_dictionary else texts
    pq.write_table(pa.table({"city": column, "y": np.arange(72.0)}), tmp_path / "a.parquet", row_group_size=30)
    for read in (data.open_parquet, files.read):
        with pytest.raises(spdpeg.InputError, match="no value in column 'city' in row 70"):
            read(tmp_path / "a.parquet", categorical=["city"])


def test_what_is_no_category(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "MOST_CATEGORIES", 50)
    names = pa.array([f"n{k}" for k in range(60)])
    with pytest.raises(spdpeg.InputError, match=r"more than 50 texts in column 'id'\. Leave it out"):
        data.from_arrow(pa.table({"id": names.dictionary_encode(), "a": np.ones(60)}))
    with pytest.raises(spdpeg.InputError, match=r"type string in column 'id'\. Name it among the categorical"):
        whole(data.from_arrow(pa.table({"id": names, "a": np.ones(60)})))
    with pytest.raises(spdpeg.InputError, match="no column 'town'"):
        data.from_arrow(pa.table({"id": names, "a": np.ones(60)}), categorical=["town"])
