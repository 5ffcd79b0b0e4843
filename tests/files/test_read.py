"""Every format, plain and compressed, from a path and from standard input, gives the rows that were written."""

import bz2
import gzip
import lzma
import os
import sys
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

import spdpeg
from spdpeg import InputError, UnsupportedError, files
from spdpeg.files import delimited, parallel
from spdpeg.files.source import Source

RNG = np.random.default_rng(0)
X = np.where(RNG.random((60, 5)) < 0.5, RNG.standard_normal((60, 5)), 0.0)
X[0, 0], X[3, 4] = 1.5, -2.0
Y = np.where(RNG.random(60) < 0.5, 1.0, -1.0)
NAMES = ["a", "b", "c", "d", "e"]

LIBSVM = "".join(
    f"{label:g} " + " ".join(f"{j + 1}:{float(v)!r}" for j, v in enumerate(row) if v) + "\n"
    for row, label in zip(X, Y, strict=True)
)
CSV = "".join(",".join(map(repr, [*row.tolist(), label])) + "\n" for row, label in zip(X, Y.tolist(), strict=True))

COMPRESSIONS = {"plain": bytes, "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


def dense(rows):
    return rows.toarray() if sp.issparse(rows) else rows


def check(table, y=Y):
    rows, labels = table
    assert rows.dtype == np.float64
    np.testing.assert_array_equal(dense(rows), X)
    np.testing.assert_array_equal(labels, y)


def written(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("text", [LIBSVM, CSV], ids=["libsvm", "csv"])
def test_text_is_recognised_whatever_its_name(text, compression, tmp_path):
    check(files.read(written(tmp_path / "data", COMPRESSIONS[compression](text.encode()))))


@pytest.fixture
def standard_input(monkeypatch):
    """A function that puts content into a pipe at standard input."""
    pipes = []

    def fill(content):
        read, write = os.pipe()
        pipes.append(os.fdopen(read))
        monkeypatch.setattr(sys, "stdin", pipes[-1])
        with os.fdopen(write, "wb") as end:
            end.write(content)

    yield fill
    for pipe in pipes:
        pipe.close()


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("text", [LIBSVM, CSV], ids=["libsvm", "csv"])
def test_standard_input(text, compression, standard_input):
    standard_input(COMPRESSIONS[compression](text.encode()))
    check(files.read("-"))


def test_libsvm_counts_from_0_if_a_0_occurs(tmp_path):
    path = tmp_path / "zero"
    dump_svmlight_file(X, Y, str(path), zero_based=True)
    rows, _ = files.read(path)
    np.testing.assert_allclose(dense(rows), X, rtol=1e-12)


def test_libsvm_with_comments_blank_lines_query_numbers_and_rows_of_zeros(tmp_path):
    text = "# made by hand\n\n1 qid:3 2:5 # a comment\n-1\n\n1 1:2 3:1e-3\n"
    rows, labels = files.read(written(tmp_path / "data", text))
    np.testing.assert_array_equal(dense(rows), [[0, 5, 0], [0, 0, 0], [2, 0, 1e-3]])
    np.testing.assert_array_equal(labels, [1, -1, 1])


def test_n_features_widens_libsvm_text(tmp_path):
    path = written(tmp_path / "data", LIBSVM)
    assert files.read(path, n_features=9).X.shape == (60, 9)
    with pytest.raises(InputError, match=r"data, line 1: more than 4 features\. Pass n_features of at least 5"):
        files.read(written(path, "1 2:1 5:1\n" + LIBSVM), n_features=4)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_csv_with_a_header(delimiter, ending, tmp_path):
    text = ("a,b,c,d,e,label\n" + CSV).replace(",", delimiter).replace("\n", ending)
    table = files.read(written(tmp_path / "data.csv", b"\xef\xbb\xbf" + text.encode()))
    check(table)
    assert table.names == NAMES


@pytest.mark.parametrize("target", ["label", 0, -6])
def test_csv_target_by_name_or_position(target, tmp_path):
    lines = ["label,a,b,c,d,e", *(",".join(map(repr, row)) for row in np.column_stack([Y, X]).tolist())]
    table = files.read(written(tmp_path / "data.csv", "\n".join(lines)), target=target)
    check(table)
    assert table.names == NAMES


def test_csv_without_a_header_has_no_names(tmp_path):
    assert files.read(written(tmp_path / "data.csv", CSV)).names is None


def test_csv_as_pandas_writes_a_frame_without_names(tmp_path):
    table = files.read(written(tmp_path / "data.csv", "0,1,2,3,4,5\n" + CSV))
    check(table)
    assert table.names == ["0", "1", "2", "3", "4"]


def test_csv_with_text_labels_and_quotes(tmp_path):
    text = '"first, one",b,kind\n1,2,"red, dark"\n 3 ,4, blue \n'
    table = files.read(written(tmp_path / "data.csv", text))
    assert table.names == ["first, one", "b"]
    assert table.y.tolist() == ["red, dark", "blue"]
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])


def test_text_labels_do_not_make_a_header(tmp_path):
    table = files.read(written(tmp_path / "data.csv", "1,2,yes\n3,4,no\n"))
    assert table.names is None
    assert table.y.tolist() == ["yes", "no"]


@pytest.mark.parametrize("rows", [7, None])
@pytest.mark.parametrize("text", [LIBSVM, CSV], ids=["libsvm", "csv"])
def test_lines_may_end_in_carriage_returns(text, rows, tmp_path):
    path = written(tmp_path / "data", text.replace("\n", "\r"))
    chunks = [files.read(path)] if rows is None else list(files.stream(path, rows, n_features=5))
    check((np.concatenate([dense(chunk.X) for chunk in chunks]), np.concatenate([chunk.y for chunk in chunks])))


@pytest.mark.parametrize(
    ("text", "names", "labels"),
    [
        ("1990,2000,price\n1,2,3.5\n4,5,6\n", ["1990", "2000"], [3.5, 6]),
        ("400,410,420,kind\n0.1,0.2,0.3,rye\n0.2,0.5,0.1,oat\n", ["400", "410", "420"], ["rye", "oat"]),
        ("1,2,3,rye\n4,5,6,oat\n", None, ["rye", "oat"]),
        ("1,2,3,1\n0.5,0.5,0.5,0\n", ["1", "2", "3"], [0]),
        ("3,2,1,1\n0.5,0.5,0.5,0\n", None, [1, 0]),
        ("0.5,0.25,yes\n", None, ["yes"]),
    ],
)
def test_numbers_as_names_of_columns(text, names, labels, tmp_path):
    table = files.read(written(tmp_path / "data.csv", text))
    assert table.names == names
    assert table.y.tolist() == labels
    assert next(files.stream(tmp_path / "data.csv", 1)).names == names


def test_large_whole_labels_stay_apart(tmp_path):
    table = files.read(written(tmp_path / "data.csv", f"1,{2**53}\n2,{2**53 + 1}\n"))
    assert table.y.tolist() == [str(2**53), str(2**53 + 1)]
    table = files.read(written(tmp_path / "data.csv", "1,1e20\n2,3e20\n"))
    assert table.y.tolist() == [1e20, 3e20]


@pytest.mark.parametrize("header", ["", "a,b,c,d,e\n"])
def test_a_table_of_just_the_features_has_no_labels(header, tmp_path):
    text = header + "".join(line.rpartition(",")[0] + "\n" for line in CSV.splitlines())
    table = files.read(written(tmp_path / "data.csv", text), n_features=5)
    np.testing.assert_array_equal(table.X, X)
    assert table.y is None


def test_parquet(tmp_path):
    columns = {name: X[:, j] for j, name in enumerate(NAMES)}
    pq.write_table(pa.table({**columns, "label": Y}), tmp_path / "data.parquet")
    table = files.read(tmp_path / "data.parquet")
    check(table)
    assert table.names == NAMES
    pq.write_table(pa.table({"label": np.where(Y > 0, "yes", "no"), **columns}), tmp_path / "data.parquet")
    check(files.read(tmp_path / "data.parquet", target="label"), np.where(Y > 0, "yes", "no"))
    pq.write_table(pa.table(columns), tmp_path / "data.parquet")
    assert files.read(tmp_path / "data.parquet", n_features=5).y is None


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    pq.write_table(pa.table({"a": [1.0], "b": [2.0]}), tmp_path / "data.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UnsupportedError, match="pip install pyarrow"):
        files.read(tmp_path / "data.parquet")


@pytest.mark.parametrize("layout", [sp.csr_array, sp.csc_array, sp.coo_array])
def test_npz_of_a_sparse_matrix(layout, tmp_path):
    path = tmp_path / "data.npz"
    sp.save_npz(path, layout(X))
    assert files.read(path).y is None
    with np.load(path) as archive:
        np.savez(path, **archive, y=Y)
    check(files.read(path))


def test_npz_of_an_array_also_from_standard_input(tmp_path, standard_input):
    path = tmp_path / "data.npz"
    np.savez_compressed(path, X=X.astype(np.float64), y=Y.astype(np.int8))
    check(files.read(path))
    standard_input(path.read_bytes())
    check(files.read("-"))


@pytest.mark.parametrize("names", [("X", "y"), ("A", "labels")])
@pytest.mark.parametrize("layout", [np.asarray, sp.csc_matrix])
def test_matlab(names, layout, tmp_path):
    scipy.io.savemat(tmp_path / "data.mat", {names[0]: layout(X), names[1]: Y})
    check(files.read(tmp_path / "data.mat"))


def test_matlab_7_3_is_refused_with_what_to_do(tmp_path):
    head = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM" + b"\x89HDF\r\n\x1a\n"
    with pytest.raises(UnsupportedError, match="-v7"):
        files.read(written(tmp_path / "data.mat", head))


def test_cluto_with_classes_beside_it(tmp_path):
    rows = ["", *("  ".join(f"{j + 1} {float(v)!r}" for j, v in enumerate(row) if v) for row in X)]
    rows[0] = f"60 5 {np.count_nonzero(X)}"
    path = written(tmp_path / "data.mat", "\n".join(rows) + "\n")
    assert files.read(path).y is None
    written(tmp_path / "data.mat.rclass", "".join("yes\n" if label > 0 else "no\n" for label in Y))
    check(files.read(path), np.where(Y > 0, "yes", "no"))


def test_cluto_dense(tmp_path):
    lines = ["60 5", *(" ".join(map(repr, row)) for row in X.tolist())]
    np.testing.assert_array_equal(files.read(written(tmp_path / "data.mat", "\n".join(lines))).X, X)


@pytest.mark.parametrize("rows", [1, 7, 60, 1000])
@pytest.mark.parametrize("text", [LIBSVM, CSV, "a,b,c,d,e,label\n" + CSV], ids=["libsvm", "csv", "header"])
def test_chunks_put_together_are_the_file(text, rows, tmp_path):
    chunks = list(files.stream(written(tmp_path / "data", text), rows, n_features=5))
    assert [len(chunk.y) for chunk in chunks[:-1]] == [rows] * (len(chunks) - 1)
    check((np.concatenate([dense(chunk.X) for chunk in chunks]), np.concatenate([chunk.y for chunk in chunks])))
    assert all(chunk.names == chunks[0].names for chunk in chunks)


def test_chunks_are_what_a_stream_takes(tmp_path):
    path = written(tmp_path / "data", LIBSVM)
    problem = spdpeg.Problem(lambda: files.stream(path, 10, n_features=5), loss=spdpeg.losses.Logistic())
    assert spdpeg.solve(problem, "spdpeg", max_passes=2).passes == 2


def test_streams_keep_some_blocks_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(parallel, "_BLOCK", 1 << 12)
    peaks = []
    for copies in (50, 400):
        path = written(tmp_path / "data.xz", lzma.compress(CSV.encode() * copies, preset=0))
        tracemalloc.start()
        assert sum(chunk.X.shape[0] for chunk in files.stream(path, 500)) == 60 * copies
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # Threads parse ahead of the reader, so a few blocks more or less are in memory; the file is eight times as long.
    assert peaks[1] < 2.0 * peaks[0]


def test_blocks_are_parsed_a_few_ahead(tmp_path, monkeypatch):
    monkeypatch.setattr(parallel, "_BLOCK", 1 << 10)
    path, begun = written(tmp_path / "data.csv", CSV * 50), []

    def parse(name, first, text):
        begun.append(first)
        return [first]

    ahead = []
    with Source(path) as source:
        for taken, _ in enumerate(parallel.parsed(source, parse), 1):
            ahead.append(len(begun) - taken)
    assert len(begun) > 50
    assert max(ahead) <= parallel.cpu_count()


def test_a_stream_tells_how_far_it_is(tmp_path):
    path, told = written(tmp_path / "data.csv", CSV), []
    assert len(list(files.stream(path, 25, on_progress=told.append))) == len(told) == 3
    assert told[-1] == path.stat().st_size


LABELS = {
    "numbers": ["1", "-1", "0.25", "1e3"],
    "text": ["yes", "no", "not known", "1"],
    "numbers at first": ["1"] * 40 + ["1.0", "no"],
    "text at first": ["no"] + ["1.0"] * 60,
    "large": [str(2**53 + k) for k in range(4)],
    "infinite": ["1", "2", "1e999", "3"],
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("head", ["", "\n\n", "a;b;kind\n", "a;b;kind\r\n\r\n"])
def test_compiled_blocks_are_what_single_lines_are(kind, head, tmp_path, monkeypatch):
    """Blocks of a few lines, some of which only the parser of single lines can read."""
    rng = np.random.default_rng(0)
    fields = [" 1.5 ", "-3e-2", "0.1234567890123456789012", "5e-324", "+7", ".5"]
    labels = LABELS[kind] * 3 if len(LABELS[kind]) < 40 else LABELS[kind]
    lines = [f"{fields[rng.integers(6)]};{rng.standard_normal()!r};{label}" for label in labels]
    lines[len(lines) // 2] = '"2";3;' + labels[len(lines) // 2]
    path = written(tmp_path / "data.csv", head + "\n".join(lines))
    monkeypatch.setattr(parallel, "_BLOCK", 64)

    def outcome():
        try:
            table = files.read(path)
        except InputError as error:
            return str(error)
        return table.X.tolist(), table.y.tolist(), table.names

    compiled = outcome()
    monkeypatch.setattr(delimited, "_block", delimited._line_by_line)
    assert compiled == outcome()
    monkeypatch.setattr(parallel, "_BLOCK", 1 << 22)
    assert compiled == outcome()
