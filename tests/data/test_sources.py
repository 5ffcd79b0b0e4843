"""Whatever holds the numbers, the kernels read the same rows."""

import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from spdpeg.data import CSR, Dense, Source, as_source
from spdpeg.errors import InputError
from spdpeg.kernels.row_sums import margins

rng = np.random.default_rng(5)
N, D = 23, 7
TABLE = np.where(rng.random((N, D)) < 0.4, rng.integers(-8, 9, (N, D)) / 4.0, 0.0)
TABLE[3] = 0.0
V = rng.standard_normal(D)


def product(source: Source) -> np.ndarray:
    out = np.empty(source.n_samples)
    margins(source.rows, V, out)
    return out


def assert_same_rows(source: Source, table: np.ndarray = TABLE) -> None:
    assert (source.n_samples, source.n_features) == table.shape
    np.testing.assert_allclose(product(source), np.asarray(table, dtype=float) @ V, atol=1e-13)


def wide_indices(X: np.ndarray) -> sp.csr_array:
    matrix = sp.csr_array(X)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


def unsorted(X: np.ndarray) -> sp.csr_array:
    matrix = sp.csr_array(X)
    for start, stop in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        matrix.indices[start:stop] = matrix.indices[start:stop][::-1].copy()
        matrix.data[start:stop] = matrix.data[start:stop][::-1].copy()
    matrix.has_sorted_indices = False
    return matrix


def repeated(X: np.ndarray) -> sp.csr_array:
    """Every entry stored as two halves."""
    matrix = sp.csr_array(X)
    halves = np.repeat((matrix.data / 2).astype(matrix.dtype), 2)
    return sp.csr_array((halves, np.repeat(matrix.indices, 2), 2 * matrix.indptr), shape=X.shape)


def explicit_zeros(X: np.ndarray) -> sp.csr_array:
    rows, columns = np.indices(X.shape).reshape(2, -1)
    return sp.csr_array(sp.coo_array((X.reshape(-1), (rows, columns)), shape=X.shape))


def read_only(X: np.ndarray) -> np.ndarray:
    view = X.copy()
    view.flags.writeable = False
    return view


def read_only_csr(X: np.ndarray) -> sp.csr_array:
    matrix = sp.csr_array(X)
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.flags.writeable = False
    return matrix


LAYOUTS: dict[str, Callable[[np.ndarray], Any]] = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "backwards": lambda X: X[::-1].copy()[::-1],
    "read-only": read_only,
    "other byte order": lambda X: X.astype(X.dtype.newbyteorder()),
    "np.matrix": lambda X: sp.csr_matrix(X).todense(),
    "lists": lambda X: X.tolist(),
    "tuples": lambda X: tuple(map(tuple, X.tolist())),
    "objects": lambda X: X.astype(object),
    "unmasked masked array": np.ma.masked_array,
    "data frame": pd.DataFrame,
    "sparse data frame": lambda X: pd.DataFrame(X).astype(pd.SparseDtype(X.dtype, X.dtype.type(0))),
    "csr": sp.csr_array,
    "csr matrix": sp.csr_matrix,
    "csr, 64-bit": wide_indices,
    "csr, read-only": read_only_csr,
    "unsorted": unsorted,
    "repeated": repeated,
    "explicit zeros": explicit_zeros,
    "csc": sp.csc_array,
    "coo": sp.coo_array,
    "coo matrix": sp.coo_matrix,
    "dok": sp.dok_array,
    "lil matrix": sp.lil_matrix,
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_same_rows_from_every_layout(layout: str, dtype: type) -> None:
    assert_same_rows(as_source(LAYOUTS[layout](TABLE.astype(dtype))))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int64, np.float16, np.longdouble])
@pytest.mark.parametrize("layout", ["C order", "Fortran order", "data frame", "csr", "coo"])
def test_same_rows_from_every_number_type(layout: str, dtype: type) -> None:
    table = np.abs(TABLE).astype(dtype)
    # SciPy stores no half precision.
    held = (
        LAYOUTS[layout](table) if dtype is not np.float16 or layout[0] != "c" else LAYOUTS[layout](table.astype("f4"))
    )
    source = as_source(held)
    assert_same_rows(source, table)


def test_mixed_data_frame() -> None:
    frame = pd.DataFrame({"a": [1.5, 2.0], "b": [3, 4], "c": [True, False]})
    assert as_source(frame).rows.values.tolist() == [1.5, 3.0, 1.0, 2.0, 4.0, 0.0]


def test_missing_values_of_a_data_frame_are_not_lost() -> None:
    frame = pd.DataFrame({"a": [1, 3], "b": [2.0, None]})
    np.testing.assert_array_equal(as_source(frame).rows.values, [1.0, 2.0, 3.0, np.nan])


@pytest.mark.parametrize("values", [np.float64, np.float32])
@pytest.mark.parametrize("indices", [np.int32, np.int64])
@pytest.mark.parametrize("indptr", [np.int32, np.int64])
def test_raw_csr_arrays_are_read_where_they_are(values: type, indices: type, indptr: type) -> None:
    matrix = sp.csr_array(TABLE)
    arrays = matrix.data.astype(values), matrix.indices.astype(indices), matrix.indptr.astype(indptr)
    source = CSR(*arrays, D)
    assert_same_rows(source)
    for given, held in zip(arrays, source.rows[:3], strict=True):
        assert np.shares_memory(given, held)


def test_other_index_types_are_converted() -> None:
    matrix = sp.csr_array(TABLE)
    assert_same_rows(CSR(matrix.data, matrix.indices.astype(np.uint8), matrix.indptr.astype(np.int16), D))


def test_spare_room_behind_the_entries_is_not_read() -> None:
    matrix = sp.csr_array(TABLE)
    matrix.data, matrix.indices = np.append(matrix.data, np.nan), np.append(matrix.indices, 99).astype(np.int32)
    assert_same_rows(as_source(matrix))


@pytest.mark.parametrize("layout", ["repeated", "unsorted", "explicit zeros", "csr", "C order"])
def test_what_is_given_is_left_alone(layout: str) -> None:
    given = LAYOUTS[layout](TABLE)
    parts = [given] if isinstance(given, np.ndarray) else [given.data, given.indices, given.indptr]
    before = [part.copy() for part in parts]
    assert_same_rows(as_source(given))
    for part, copy in zip(parts, before, strict=True):
        np.testing.assert_array_equal(part, copy)
        assert part.flags.writeable


def test_repeated_entries_are_found_behind_a_stale_flag() -> None:
    matrix = repeated(TABLE)
    matrix.has_canonical_format = True
    source = as_source(matrix)
    assert_same_rows(source)
    assert source.rows.values.size == np.count_nonzero(TABLE)


def test_a_source_stays_what_it_is() -> None:
    source = Dense(TABLE)
    assert as_source(source) is source


# Memory


@contextmanager
def peak_bytes() -> Iterator[list[int]]:
    peak: list[int] = []
    tracemalloc.start()
    try:
        yield peak
        peak.append(tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()


BIG = rng.standard_normal((400, 500))


@pytest.mark.parametrize("layout", ["C order", "read-only", "csr", "csr, 64-bit", "csr, read-only", "unsorted"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_float64_and_float32_are_not_copied(layout: str, dtype: type) -> None:
    given = LAYOUTS[layout](BIG.astype(dtype))
    as_source(given)  # what is compiled on the first call is none of the data's memory
    with peak_bytes() as peak:
        source = as_source(given)
    parts = [given] if isinstance(given, np.ndarray) else [given.data, given.indices, given.indptr]
    held = source.rows[: len(parts)]
    assert all(np.shares_memory(part, kept) for part, kept in zip(parts, held, strict=True))
    assert peak[0] < 50_000


@pytest.mark.parametrize(
    ("given", "itemsize"),
    [
        (np.asfortranarray(BIG), 8),
        (np.asfortranarray(BIG.astype(np.float32)), 4),
        (np.asfortranarray((10 * BIG).astype(np.int16)), 8),
        (BIG > 0, 8),
        (np.repeat(BIG, 2, axis=1)[:, ::2], 8),
    ],
    ids=["Fortran", "Fortran float32", "Fortran int16", "bool", "strided"],
)
def test_what_must_be_converted_is_copied_once(given: np.ndarray, itemsize: int) -> None:
    as_source(given)
    with peak_bytes() as peak:
        as_source(given)
    assert peak[0] < 1.1 * itemsize * BIG.size


# Disk


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_memory_mapped_arrays_are_read_from_disk(tmp_path: Path, dtype: type) -> None:
    np.save(tmp_path / "X.npy", TABLE.astype(dtype))
    loaded = np.load(tmp_path / "X.npy", mmap_mode="r")
    raw = np.memmap(tmp_path / "raw", dtype=dtype, mode="w+", shape=TABLE.shape)
    raw[:] = TABLE
    buffer = np.frombuffer(raw._mmap, dtype=dtype).reshape(TABLE.shape)
    for mapped in (loaded, raw, loaded[:], np.asarray(loaded), buffer):
        source = as_source(mapped)
        assert source.on_disk
        assert np.shares_memory(source.rows.values, mapped)
        assert_same_rows(source)
    assert as_source(loaded[2:9]).on_disk


def test_converted_memory_maps_are_no_longer_on_disk(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", np.asfortranarray(TABLE))
    source = as_source(np.load(tmp_path / "X.npy", mmap_mode="r"))
    assert not source.on_disk
    assert_same_rows(source)


def test_memory_is_not_disk() -> None:
    assert not as_source(TABLE).on_disk
    assert not as_source(sp.csr_array(TABLE)).on_disk


# Refusals


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones(4), r"1 dimension\(s\) and shape \(4,\)"),
        (np.ones((2, 2, 2)), r"3 dimension\(s\)"),
        (np.array(3.0), r"0 dimension\(s\)"),
        ([1.0, 2.0], r"1 dimension\(s\)"),
        ([], r"1 dimension\(s\)"),
        ([[1.0], [1.0, 2.0]], "no table of numbers"),
        (pd.Series([1.0, 2.0]), r"1 dimension\(s\)"),
        (np.ones((0, 3)), "0 rows and 3 columns"),
        (np.ones((3, 0)), "3 rows and 0 columns"),
        (sp.csr_array((0, 3)), "0 rows and 3 columns"),
        (sp.csr_array((3, 0)), "3 rows and 0 columns"),
        (pd.DataFrame(), "0 rows and 0 columns"),
        (np.array([["a", "b"]]), "not real numbers"),
        (np.array([["a", 1.0]], dtype=object), "not real numbers"),
        (np.array([[1.0 + 2.0j]]), "not real numbers"),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), "not real numbers"),
        (sp.csr_array(np.array([[1.0 + 2.0j]])), "not real numbers"),
        (pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}), "not real numbers"),
        (pd.DataFrame({"a": pd.arrays.SparseArray([1.0, 2.0], fill_value=1.0)}), "no table of numbers"),
        (np.ma.masked_array(np.ones((2, 2)), mask=[[True, False], [False, False]]), "masked entries"),
        ("data.npy", "X is a str"),
        (Path("data.npy"), "X is a "),
        ({"a": [1.0]}, "X is a dict"),
        (3.0, "X is a float"),
        (None, "X is a NoneType"),
    ],
)
def test_refused(X: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        as_source(X)


def test_refused_sparse_array_of_one_dimension() -> None:
    vector = sp.coo_array(np.ones(3))
    if vector.ndim == 2:
        pytest.skip("This SciPy has sparse arrays of two dimensions only.")
    with pytest.raises(InputError, match="It must have two dimensions"):
        as_source(vector)


def test_dense_refuses_a_sparse_matrix() -> None:
    with pytest.raises(InputError, match="X is a sparse matrix"):
        Dense(sp.csr_array(TABLE))


ONE = np.array([1.0, 2.0, 3.0]), np.array([0, 2, 1]), np.array([0, 2, 3])


@pytest.mark.parametrize(
    ("data", "indices", "indptr", "message"),
    [
        (ONE[0], np.array([0, 3, 1]), ONE[2], r"Row 0 of X holds the column number 3, outside 0\.\.2"),
        (ONE[0], np.array([0, 2, -1]), ONE[2], "Row 1 of X holds the column number -1"),
        (ONE[0], np.array([0, 2, 2**40]), ONE[2], "the column number 1099511627776"),
        (ONE[0], np.array([2, 3, 1]), ONE[2], "Row 0 of X holds the column number 3"),
        (ONE[0], np.array([1, 1, 0]), ONE[2], "Row 0 of X stores a column twice"),
        (ONE[0], ONE[1], np.array([0, 3, 1, 3]), "indptr goes from 3 to 1 at row 1"),
        (ONE[0], ONE[1], np.array([0, 9, 3]), "indptr goes from 0 to 9 at row 0"),
        (ONE[0], ONE[1], np.array([0, -9, 3]), "indptr goes from 0 to -9 at row 0"),
        (ONE[0], ONE[1], np.array([0, 2, 4]), "do not fit together"),
        (ONE[0], ONE[1], np.array([1, 2, 3]), "do not fit together"),
        (ONE[0], ONE[1][:2], ONE[2], "do not fit together"),
        (ONE[0].reshape(1, 3), ONE[1], ONE[2], "do not fit together"),
        (ONE[0], ONE[1], np.zeros(0, dtype=int), "do not fit together"),
        (ONE[0], ONE[1].astype(float), ONE[2], "indices of a CSR matrix has type float64"),
        (ONE[0], ONE[1], ONE[2].astype(float), "indptr of a CSR matrix has type float64"),
        (ONE[0].astype(str), ONE[1], ONE[2], "not real numbers"),
    ],
)
@pytest.mark.parametrize("bits", [32, 64])
def test_damaged_csr_is_refused(data: Any, indices: Any, indptr: Any, message: str, bits: int) -> None:
    if bits == 32 and indices.dtype == np.int64 and indices.max() < 2**31:
        indices = indices.astype(np.int32)
    with pytest.raises(InputError, match=message):
        CSR(data, indices, indptr, 3)


@pytest.mark.parametrize("seed", range(200))
def test_any_changed_column_number_is_seen(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = sp.csr_array(np.where(rng.random((6, 5)) < 0.5, 1.0, 0.0))
    if matrix.nnz == 0:
        return
    matrix.indices[rng.integers(matrix.nnz)] = rng.integers(-1, 6)
    rows = [matrix.indices[start:stop] for start, stop in pairwise(matrix.indptr)]
    sound = all(row.size == np.unique(row).size and np.all((row >= 0) & (row < 5)) for row in rows)
    if sound:
        CSR(matrix.data, matrix.indices, matrix.indptr, 5)
    else:
        with pytest.raises(InputError, match=r"of X (holds the column number|stores a column twice)"):
            CSR(matrix.data, matrix.indices, matrix.indptr, 5)


def test_damaged_scipy_matrix_is_refused() -> None:
    matrix = sp.csr_array(TABLE)
    matrix.indices[4] = 10**6
    with pytest.raises(InputError, match="the column number 1000000"):
        as_source(matrix)
    repeats = repeated(TABLE)
    repeats.indices[-1] = -3
    with pytest.raises(InputError, match="the index -3 lies outside"):
        as_source(repeats)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_rows_that_store_every_entry_are_read_as_an_array(dtype: type) -> None:
    source = CSR.from_scipy(explicit_zeros(TABLE.astype(dtype)))
    assert source.filled.indptr.size == 0
    assert np.shares_memory(source.filled.values, source.rows.values)
    np.testing.assert_array_equal(source.filled.values.reshape(N, D), TABLE)


@pytest.mark.parametrize("matrix", [sp.csr_array(TABLE), unsorted(explicit_zeros(TABLE).toarray() + 9.0)])
def test_rows_with_gaps_or_out_of_order_stay_sparse(matrix: sp.csr_array) -> None:
    source = CSR.from_scipy(matrix)
    assert source.filled is source.rows
