"""Sets on disk: what is read is what was written, and what is not whole is not read."""

import json
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from spdpeg import data
from spdpeg.data import CSR, Dense
from spdpeg.errors import InputError
from spdpeg.kernels.row_sums import margins

rng = np.random.default_rng(2)
X = np.where(rng.random((31, 6)) < 0.3, rng.integers(-8, 9, (31, 6)) / 4.0, 0.0)
X[[0, 7, 30]] = 0.0
Y = rng.integers(0, 2, 31)
V = rng.standard_normal(6)

KINDS: dict[str, tuple[Callable[..., None], Callable[..., Any], type]] = {
    "csr": (data.write_csr, data.open_csr, CSR),
    "dense": (data.write_dense, data.open_dense, Dense),
}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def chunks(size: int, make: Callable[[np.ndarray], Any] = np.asarray, dtype: type = float) -> Iterator[tuple[Any, Any]]:
    for start in range(0, len(X), size):
        yield make(X[start : start + size].astype(dtype)), Y[start : start + size]


def check(source: CSR | Dense, table: np.ndarray = X) -> None:
    out = np.empty(source.n_samples)
    margins(source.rows, V, out)
    np.testing.assert_allclose(out, table @ V, atol=1e-13)
    assert (source.n_samples, source.n_features) == table.shape
    assert source.on_disk
    assert not any(array.flags.writeable for array in source.rows[:3])


@pytest.mark.parametrize("size", [1, 8, 31])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.coo_matrix])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_chunks_come_back(tmp_path: Path, kind: str, size: int, make: Callable[..., Any], dtype: type) -> None:
    write, read, made = KINDS[kind]
    write(tmp_path / "set", chunks(size, make, dtype))
    source, labels = read(tmp_path / "set")
    assert isinstance(source, made)
    check(source)
    assert source.rows.values.dtype == dtype
    np.testing.assert_array_equal(labels, Y)
    assert isinstance(labels, np.memmap)
    assert not labels.flags.writeable


@pytest.mark.parametrize(
    "make", [np.asarray, sp.csr_array, sp.csc_matrix, Dense, lambda A: CSR.from_scipy(sp.csr_array(A))]
)
def test_a_matrix_comes_back_without_labels(tmp_path: Path, kind: str, make: Callable[..., Any]) -> None:
    write, read, _ = KINDS[kind]
    write(tmp_path, make(X))
    source, labels = read(str(tmp_path))
    check(source)
    assert labels is None


def test_a_matrix_is_written_in_pieces(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spdpeg.data.selection._ENTRIES_AT_ONCE", 25)
    write, read, _ = KINDS[kind]
    for make in (np.asarray, sp.csr_array):
        write(tmp_path, make(X))
        check(read(tmp_path)[0])


def test_one_kind_can_be_written_from_the_other(tmp_path: Path) -> None:
    data.write_csr(tmp_path / "a", X)
    data.write_dense(tmp_path / "b", data.open_csr(tmp_path / "a")[0])
    data.write_csr(tmp_path / "c", data.open_dense(tmp_path / "b")[0])
    check(data.open_csr(tmp_path / "c")[0])


def test_types_on_disk(tmp_path: Path) -> None:
    data.write_csr(tmp_path, chunks(4))
    source, _ = data.open_csr(tmp_path)
    assert (source.rows.indptr.dtype, source.rows.indices.dtype) == (np.int64, np.int32)
    assert source.rows.values.size == np.count_nonzero(X)


def test_more_columns_than_32_bits_can_count(tmp_path: Path) -> None:
    width = 2**31 + 5
    data.write_csr(tmp_path, sp.csr_array((np.ones(1), np.array([width - 1]), np.array([0, 1])), shape=(1, width)))
    source, _ = data.open_csr(tmp_path)
    assert source.rows.indices.tolist() == [width - 1]
    assert source.n_features == width


def test_numpy_opens_the_files(tmp_path: Path) -> None:
    data.write_dense(tmp_path, chunks(5))
    np.testing.assert_array_equal(np.load(tmp_path / "values.npy"), X)
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), Y)


def test_repeated_entries_are_summed(tmp_path: Path) -> None:
    matrix = sp.csr_array((np.array([1.0, 2.0]), np.array([4, 4]), np.array([0, 2])), shape=(1, 6))
    data.write_csr(tmp_path, matrix)
    source, _ = data.open_csr(tmp_path)
    assert (source.rows.values.tolist(), source.rows.indices.tolist()) == ([3.0], [4])


def test_a_matrix_without_entries(tmp_path: Path) -> None:
    data.write_csr(tmp_path, np.zeros((3, 6)))
    check(data.open_csr(tmp_path)[0], np.zeros((3, 6)))


def test_only_one_chunk_is_in_memory(tmp_path: Path, kind: str) -> None:
    write, _, _ = KINDS[kind]
    rows, columns, count = 200, 250, 40

    def large() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for _ in range(count):
            yield rng.standard_normal((rows, columns)), np.ones(rows)

    write(tmp_path, ((A[:2], y[:2]) for A, y in large()))
    tracemalloc.start()
    try:
        write(tmp_path, large())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # A chunk, the next one while it is made, and their copies as CSR: far from the forty that pass through.
    assert peak < 8 * (8 * rows * columns) < count * 8 * rows * columns


def test_a_failed_write_leaves_nothing_that_looks_complete(tmp_path: Path, kind: str) -> None:
    write, read, _ = KINDS[kind]

    def broken() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        yield X, Y
        raise RuntimeError("the feed broke")

    with pytest.raises(RuntimeError, match="the feed broke"):
        write(tmp_path, broken())
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match="holds no complete data set"):
        read(tmp_path)


def test_a_failed_write_leaves_the_old_set(tmp_path: Path, kind: str) -> None:
    write, read, _ = KINDS[kind]
    write(tmp_path, chunks(8))
    with pytest.raises(InputError, match="columns where"):
        write(tmp_path, [(X, Y), (X[:, :2], Y)])
    source, labels = read(tmp_path)
    check(source)
    np.testing.assert_array_equal(labels, Y)


def test_labels_of_text(tmp_path: Path, kind: str) -> None:
    write, read, _ = KINDS[kind]
    write(tmp_path, [(np.eye(3), ["b", "a", "b"]), (np.eye(3)[:2], ["c", "a"])])
    _, labels = read(tmp_path)
    assert labels.tolist() == ["b", "a", "b", "c", "a"]
    for mixed in ([(np.eye(2), [1.0, 2.0]), (np.eye(2), ["a", "b"])], [(np.eye(2), ["a", "b"]), (np.eye(2), [1, 2])]):
        with pytest.raises(InputError, match="Some labels are numbers and some are text"):
            write(tmp_path / "new", mixed)
    assert not (tmp_path / "new").exists()
    codes = np.load(tmp_path / "codes.npy", mmap_mode="r+")
    codes[1] = 3
    codes.flush()
    with pytest.raises(InputError, match=r"names classes that manifest.json does not"):
        read(tmp_path)
    write(tmp_path, [(np.eye(2), [1.0, 2.0])])
    assert not (tmp_path / "codes.npy").exists()


def test_a_new_set_replaces_the_old_one(tmp_path: Path, kind: str) -> None:
    write, read, _ = KINDS[kind]
    write(tmp_path, [(2 * X, Y)])
    write(tmp_path, X)
    source, labels = read(tmp_path)
    check(source)
    assert labels is None
    assert not [path for path in tmp_path.iterdir() if path.suffix == ".part"]


def test_mixed_precision(tmp_path: Path, kind: str) -> None:
    write, read, _ = KINDS[kind]
    single = X.astype(np.float32)
    write(tmp_path, [(X[:9], Y[:9]), (single[9:], Y[9:])])
    check(read(tmp_path)[0])
    with pytest.raises(InputError, match="float64 numbers after chunks of float32"):
        write(tmp_path, [(single[:9], Y[:9]), (X[9:], Y[9:])])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([(X, Y, np.ones(31))], "weights, which are not kept on disk"),
        ([(X, Y.astype(complex))], "labels of type complex"),
        ([], "dimension"),
        (iter([]), "no rows left"),
        (np.zeros((0, 3)), "0 rows"),
        (3, "X is a int"),
    ],
)
def test_bad_data_is_not_written(tmp_path: Path, kind: str, given: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        KINDS[kind][0](tmp_path, given)
    assert list(tmp_path.iterdir()) == []


def test_missing_directory(tmp_path: Path, kind: str) -> None:
    with pytest.raises(InputError, match=f"Write the set with data.write_{kind}"):
        KINDS[kind][1](tmp_path / "nowhere")


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", "{}", '{"format": "spdpeg csr 1", "columns": 6, "arrays": {"a": 3}}']
)
def test_damaged_manifest(tmp_path: Path, kind: str, text: str) -> None:
    KINDS[kind][0](tmp_path, X)
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(InputError, match=r"manifest\.json is damaged"):
        KINDS[kind][1](tmp_path)


def test_manifest_without_its_arrays(tmp_path: Path, kind: str) -> None:
    KINDS[kind][0](tmp_path, X)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    del manifest["arrays"]["values"]
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(InputError, match=r"manifest\.json is damaged"):
        KINDS[kind][1](tmp_path)


def test_names(tmp_path: Path, kind: str) -> None:
    write, read, _ = KINDS[kind]
    names = [f"c{k}" for k in range(X.shape[1])]
    write(tmp_path, X, names=names)
    assert read(tmp_path)[0].names == data.open_rows(tmp_path).names == names
    for wrong in (names[1:], [1] * len(names)):
        with pytest.raises(InputError, match="names"):
            write(tmp_path, X, names=wrong)
    assert read(tmp_path)[0].names == names
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    for wrong in (names[1:], [*names[:-1], 3], "abc", 7):
        (tmp_path / "manifest.json").write_text(json.dumps({**manifest, "names": wrong}))
        with pytest.raises(InputError, match=r"manifest\.json is damaged"):
            read(tmp_path)


def test_the_other_kind(tmp_path: Path) -> None:
    data.write_dense(tmp_path, X)
    with pytest.raises(InputError, match="format 'spdpeg dense 1', not 'spdpeg csr 1'"):
        data.open_csr(tmp_path)


@pytest.mark.parametrize("name", ["values", "indices", "indptr", "labels"])
@pytest.mark.parametrize("damage", ["missing", "cut", "emptied", "longer", "other type", "other shape", "garbage"])
def test_damaged_files(tmp_path: Path, name: str, damage: str) -> None:
    data.write_csr(tmp_path, chunks(8))
    path = tmp_path / f"{name}.npy"
    array, content = np.load(path), path.read_bytes()
    if damage == "missing":
        path.unlink()
    elif damage == "other type":
        np.save(path, array.astype(np.int8))
    elif damage == "other shape":
        np.save(path, array[:-1])
    else:
        path.write_bytes(
            {"cut": content[:-5], "emptied": b"", "longer": content + b"\0", "garbage": b"?" * 400}[damage]
        )
    with pytest.raises(InputError, match=rf"{name}\.npy .*Write the data set again"):
        data.open_csr(tmp_path)


def test_wild_indices_on_disk_are_found(tmp_path: Path) -> None:
    data.write_csr(tmp_path, X)
    indices = np.load(tmp_path / "indices.npy", mmap_mode="r+")
    indices[5] = 10**8
    indices.flush()
    with pytest.raises(InputError, match="the column number 100000000"):
        data.open_csr(tmp_path)
