"""What is wrong in a file is told with its place."""

import bz2
import gzip
import lzma

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp

from spdpeg import InputError, UnsupportedError, files

GOOD_LIBSVM = "1 1:0.5 3:2\n-1 2:1\n" * 500
GOOD_CSV = "0.5,0,2,1\n0,1,0,-1\n" * 500


def refused(path, content, **options):
    """The message on reading the file whole; the same on reading it in chunks."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as whole:
        files.read(path, **options)
    assert str(path) in str(whole.value)
    assert str(whole.value).count(". ") >= 1, "one sentence what happened, one what to do"
    with pytest.raises(InputError) as chunked:
        for _ in files.stream(path, 300, **options):
            pass
    assert str(chunked.value) == str(whole.value)
    return str(whole.value)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("one 1:2", "the label 'one' is not a number"),
        ("1 1:2 3", "'3' is not index:value"),
        ("1 1:2 3:x", "'3:x' is not index:value"),
        ("1 a:2", "'a:2' is not index:value"),
        ("1 3:2 3:1", "index 3 follows index 3"),
        ("1 3:2 1:1", "index 1 follows index 3"),
        ("1 -3:2", "an index is negative or too large"),
        ("1 99999999999999999999:2", "an index is negative or too large"),
        ("1 qid:1 a:2", "'a:2' is not index:value"),
        ("1,2 1:1", "the label '1,2' is not a number"),
        ("1 1:1_000", "'1:1_000' is not index:value"),
        ("1_0 1:1", "the label '1_0' is not a number"),
        (f"{2**53 + 1} 1:1", "is a whole number that float64 does not hold exactly"),
        ("1 1:nan", "NaN or infinite entry in line 1001"),
        ("1 2:-inf", "NaN or infinite entry in line 1001"),
        ("nan 1:1", "a label that is NaN or infinite in line 1001"),
    ],
)
def test_malformed_libsvm_line(line, complaint, tmp_path):
    message = refused(tmp_path / "data", GOOD_LIBSVM + line + "\n" + GOOD_LIBSVM)
    assert complaint in message
    assert "line 1001" in message


def test_line_numbers_count_comments_and_blank_lines(tmp_path):
    assert "line 1004:" in refused(tmp_path / "data", "# head\n\n" + GOOD_LIBSVM + "\nbad 1:2\n")
    assert "line 1003:" in refused(tmp_path / "data.csv", "\n" + GOOD_CSV + "\n1,x,3,1\n")


def test_libsvm_cut_in_the_middle_of_a_line(tmp_path):
    assert "may be truncated" in refused(tmp_path / "data", GOOD_LIBSVM + "1 1:0.5 3")


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("1,2,3", "3 columns where 4 are expected"),
        ("1,2,3,4,5", "5 columns where 4 are expected"),
        ("1,x,3,1", "column 2 holds 'x' where a number is expected"),
        ("1,,3,1", "column 2 holds nothing where a number is expected"),
        ("1,2,3,", "the label is missing"),
        ("1,nan,3,1", "NaN or infinite entry in line 1001"),
        ("1,1e999,3,1", "NaN or infinite entry in line 1001"),
        ("1,2,3,nan", "a label that is NaN or infinite in line 1001"),
        ("1,\udcff,3,1", "not UTF-8"),
        ("1,1_000,3,1", "column 2 holds '1_000' where a number is expected"),
        ("1,2\r1,3,1", "this is no line of a table (new-line character seen in unquoted field)"),
    ],
)
def test_malformed_csv_line(line, complaint, tmp_path):
    text = (GOOD_CSV + line + "\n" + GOOD_CSV).encode("utf-8", "surrogateescape")
    message = refused(tmp_path / "data.csv", text)
    assert complaint in message
    assert "line 1001" in message


@pytest.mark.parametrize("label", ["nan", "NaN", "NA", "?", "null"])
def test_a_missing_label_is_no_class(label, tmp_path):
    good = GOOD_CSV.replace(",1\n", ",yes\n").replace(",-1\n", ",no\n")
    message = refused(tmp_path / "data.csv", good + f"1,2,3,{label}\n")
    assert f"has the label {label!r} in line 1001: it is missing" in message


def test_a_line_of_quotes(tmp_path):
    assert "line 1001" in refused(tmp_path / "data.csv", GOOD_CSV + '1,"2,3,1\n')
    assert "line 1" in refused(tmp_path / "data.csv", "a,b,c\r,label\n" + GOOD_CSV)


def test_a_column_is_called_by_its_name(tmp_path):
    message = refused(tmp_path / "data.csv", "size,age,mass,label\n" + GOOD_CSV + "1,NA,3,1\n")
    assert "line 1002: column 2 (age) holds 'NA'" in message


def test_a_missing_value_in_the_first_line_does_not_make_it_a_header(tmp_path):
    assert "line 1: column 2 holds 'NA'" in refused(tmp_path / "data.csv", "1,NA,3,1\n" + GOOD_CSV)


def test_the_index_of_a_frame_is_not_taken_for_a_feature(tmp_path):
    assert "index=False" in refused(tmp_path / "data.csv", ",a,b,label\n" + GOOD_CSV)


@pytest.mark.parametrize(
    ("target", "complaint"),
    [("mass", "has no column 'mass'. It has: a, b, c, label"), (4, "has 4 columns"), (-5, "has 4 columns")],
)
def test_a_target_that_is_not_there(target, complaint, tmp_path):
    assert complaint in refused(tmp_path / "data.csv", "a,b,c,label\n" + GOOD_CSV, target=target)


def test_other_numbers_of_columns_than_expected(tmp_path):
    assert "3 columns beside the labels where 7 are expected" in refused(tmp_path / "data.csv", GOOD_CSV, n_features=7)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("text", [GOOD_LIBSVM, GOOD_CSV], ids=["libsvm", "csv"])
@pytest.mark.parametrize("kept", [0.2, 0.5, 0.9])
def test_truncated_compressed_file(compress, text, kept, tmp_path):
    numbers = np.random.default_rng(0).random(3000)
    body = text + "".join(f"1 1:{v}\n" if text is GOOD_LIBSVM else f"{v},0,0,1\n" for v in numbers)
    content = compress(body.encode())
    assert "truncated or damaged" in refused(tmp_path / "data.z", content[: int(kept * len(content))])


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_damaged_compressed_file(compress, tmp_path):
    content = bytearray(compress("".join(f"1 1:{v}\n" for v in np.random.default_rng(0).random(3000)).encode()))
    middle = len(content) // 2
    content[middle : middle + 50] = bytes(50)
    message = refused(tmp_path / "data.z", bytes(content))
    assert "truncated or damaged" in message or "is not" in message


@pytest.mark.parametrize("name", ["a9a.xz", "data.csv", "data.npz", "data.mat"])
@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_a_web_page_saved_as_data(name, compress, tmp_path):
    page = b"\n<!DOCTYPE html><html><body>404, not, found</body></html>"
    assert "web page" in refused(tmp_path / name, compress(page))


@pytest.mark.parametrize("content", [b"", b"\n\n", gzip.compress(b"")], ids=["nothing", "blank", "compressed"])
def test_an_empty_file(content, tmp_path):
    assert "is empty" in refused(tmp_path / "data", content)


@pytest.mark.parametrize("format", ["libsvm", "csv"])
def test_an_empty_file_of_a_named_format_has_no_rows(format, tmp_path):
    (tmp_path / "data").write_bytes(b"\n")
    with pytest.raises(InputError, match="holds no rows"):
        files.read(tmp_path / "data", format=format)


def test_a_header_alone_has_no_rows(tmp_path):
    (tmp_path / "data.csv").write_text("a,b,label\n")
    with pytest.raises(InputError, match="holds no rows"):
        files.read(tmp_path / "data.csv")


def test_something_else(tmp_path):
    assert "no format that is known" in refused(tmp_path / "data.xz", b"\x00\x01\x02 what is this")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"format": "xls"}, "There is no format called 'xls'. Choose from: libsvm, csv"),
        ({"format": ["csv"]}, "There is no format called ['csv']"),
        ({"n_features": 0}, "n_features is 0"),
        ({"target": "label"}, "the format libsvm has its labels elsewhere"),
    ],
)
def test_options_that_cannot_be(options, complaint, tmp_path):
    (tmp_path / "data").write_text(GOOD_LIBSVM)
    for reading in (
        lambda: files.read(tmp_path / "data", **options),
        lambda: next(files.stream(tmp_path / "data", 9, **options)),
    ):
        with pytest.raises(InputError) as error:
            reading()
        assert complaint in str(error.value)


def test_rows_per_chunk_must_be_positive(tmp_path):
    with pytest.raises(InputError, match="rows_per_chunk is 0"):
        next(files.stream(tmp_path / "data", 0))


def test_a_missing_file_is_the_usual_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        files.read(tmp_path / "nothing")


def test_chunks_of_libsvm_text_may_not_grow(tmp_path):
    (tmp_path / "data").write_text("1 1:1\n" * 10 + "1 1:1 7:1\n")
    with pytest.raises(InputError, match=r"line 11: more than 1 features\. Pass n_features of at least 7"):
        list(files.stream(tmp_path / "data", 5))


def test_chunks_of_libsvm_text_count_as_the_first(tmp_path):
    (tmp_path / "data").write_text("1 1:1\n" * 10 + "1 0:1\n")
    with pytest.raises(InputError, match="line 11: index 0, where the lines before counted from 1"):
        list(files.stream(tmp_path / "data", 5))


def test_chunks_are_not_cut_from_binary_files(tmp_path):
    np.savez(tmp_path / "data.npz", X=np.eye(3))
    with pytest.raises(UnsupportedError, match="not read in chunks"):
        next(files.stream(tmp_path / "data.npz", 2))


@pytest.mark.parametrize(
    ("arrays", "complaint"),
    [
        ({"data": np.eye(2)}, "holds data, but neither an array X nor a sparse matrix"),
        ({"X": np.eye(2), "y": np.ones(3)}, "has 2 rows and 3 labels. Each row needs one label"),
        ({"X": np.ones((2, 3)), "y": np.ones(3)}, "has 2 rows and 3 labels. Transpose X"),
        ({"X": np.ones(3)}, "has an X of shape (3,)"),
        ({"X": np.ones((0, 3))}, "has an X of shape (0, 3)"),
        ({"X": np.array([["a", "b"]])}, "It must hold real numbers"),
        ({"X": np.array([[1j]])}, "It must hold real numbers"),
        ({"X": np.array([[1, None]])}, "objects instead of numbers"),
        ({"X": np.array([[1.0, 2.0], [3.0, np.nan]])}, "NaN or infinite entry in row 1"),
        ({"X": np.eye(2), "y": np.array([1.0, np.nan])}, "NaN or infinite in row 1"),
    ],
)
def test_npz(arrays, complaint, tmp_path):
    np.savez(tmp_path / "data.npz", **arrays)
    with pytest.raises(InputError) as error:
        files.read(tmp_path / "data.npz")
    assert complaint in str(error.value)


def test_npz_sparse_with_nan(tmp_path):
    rows = sp.csr_array(np.array([[0.0, 1.0], [0.0, 0.0], [np.inf, 0.0]]))
    sp.save_npz(tmp_path / "data.npz", rows)
    with pytest.raises(InputError, match="row 2"):
        files.read(tmp_path / "data.npz")


def test_huge_numbers_are_finite(tmp_path):
    np.savez(tmp_path / "data.npz", X=np.full((4, 2), 1e308))
    assert files.read(tmp_path / "data.npz").X.shape == (4, 2)


@pytest.mark.parametrize("kept", [10, 200, 0.5, 0.99])
@pytest.mark.parametrize("kind", ["npz", "parquet", "mat"])
def test_truncated_binary_file(kind, kept, tmp_path):
    path = tmp_path / f"data.{kind}"
    X = np.random.default_rng(0).random((50, 4))
    if kind == "npz":
        np.savez_compressed(path, X=X, y=X[:, 0])
    elif kind == "parquet":
        pq.write_table(pa.table({f"c{j}": X[:, j] for j in range(4)}), path)
    else:
        scipy.io.savemat(path, {"X": X, "y": X[:, 0]})
    content = path.read_bytes()
    path.write_bytes(content[: kept if kept > 1 else int(kept * len(content))])
    with pytest.raises(InputError, match="damaged"):
        files.read(path)


def test_parquet_with_text_or_missing_values(tmp_path):
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"city": ["Rome"], "label": [1.0]}), path)
    with pytest.raises(InputError, match="type string in column 'city'"):
        files.read(path)
    pq.write_table(pa.table({"a": [1.0, None], "label": [1.0, 0.0]}), path)
    with pytest.raises(InputError, match="row 1"):
        files.read(path)
    pq.write_table(pa.table({"a": [1.0, 2.0], "label": ["yes", None]}), path)
    with pytest.raises(InputError, match="1 missing labels in column 'label'"):
        files.read(path)


def test_parquet_complaints_are_of_one_line(tmp_path):
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"a": [1.0, 2.0], "label": [1.0, 0.0]}), path)
    content, complaints = path.read_bytes(), []
    for place in range(4, len(content) - 8, 7):
        changed = bytearray(content)
        changed[place] ^= 0xFF
        path.write_bytes(changed)
        complaints += _complaint(path)
    assert len(complaints) > 10
    assert not any("\n" in complaint for complaint in complaints)


def _complaint(path):
    try:
        files.read(path)
    except (InputError, UnsupportedError) as error:
        return [str(error)]
    return []


def test_parquet_may_not_fill_the_memory(tmp_path):
    pq.write_table(
        pa.table({"a": np.zeros(40_000_000, dtype=np.int8), "label": np.zeros(40_000_000, np.int8)}),
        tmp_path / "data.parquet",
    )
    with pytest.raises(InputError, match="SPDPEG_MAX_EXPANDED"):
        files.read(tmp_path / "data.parquet")


@pytest.mark.parametrize("labels", [np.array([2**53, 2**53 + 1]), np.array([1j, 2]), np.array([b"nan", b"x"])])
def test_labels_that_cannot_be(labels, tmp_path):
    np.savez(tmp_path / "data.npz", X=np.eye(2), y=labels)
    with pytest.raises(InputError, match="label"):
        files.read(tmp_path / "data.npz")


@pytest.mark.parametrize("path", [3, None, b"data", "a\0b", 2.5])
def test_paths_that_are_none(path):
    with pytest.raises((InputError, FileNotFoundError)):
        files.read(path)


@pytest.mark.parametrize(
    "options", [{"n_features": "3"}, {"n_features": 2.5}, {"format": 3}, {"format": ["csv"]}, {"target": 1.5}]
)
def test_options_of_other_types(options, tmp_path):
    (tmp_path / "data.csv").write_text(GOOD_CSV)
    with pytest.raises(InputError):
        files.read(tmp_path / "data.csv", **options)


def test_matlab_without_rows(tmp_path):
    scipy.io.savemat(tmp_path / "data.mat", {"Z": np.eye(2)})
    with pytest.raises(InputError, match="holds Z, but neither X nor A"):
        files.read(tmp_path / "data.mat")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("3 4 2\n1 1 2 1\n", "has 1 rows where its first line says 3"),
        ("2 4 3\n1 1 2 1\n\n", "has 2 entries where its first line says 3"),
        ("2 4 2\n1 1\n5 1\n", "line 3: this is no list of pairs, a column between 1 and 4"),
        ("2 4 2\n1 1 2\n1 1\n", "line 2: this is no list of pairs"),
        ("2 4 2\n1 1\n1 x\n", "line 3: not all entries are numbers"),
        ("2 2\n1 1\n1\n", "line 3: 1 numbers where the first line says 2"),
        ("1 1\nnan\n", "NaN or infinite entry in line 2"),
        ("0 4 0\n", "line 1: '0 4 0'. A CLUTO matrix begins with"),
        ("2 4.5 1\n1 1\n\n", "all whole numbers"),
        ("1e30 4 1\n1 1\n", "all whole numbers"),
        ("-2 4 1\n1 1\n", "all whole numbers"),
        ("1 4 1 1\n1 1\n", "all whole numbers"),
        ("1 4 1\n1 1\n2 1\n", "has more rows than the 1 that its first line says"),
        ("1 4 1\n1 1_0\n", "line 2: not all entries are numbers"),
    ],
)
def test_cluto(text, complaint, tmp_path):
    (tmp_path / "data.mat").write_text(text)
    with pytest.raises(InputError) as error:
        files.read(tmp_path / "data.mat", format="cluto")
    assert complaint in str(error.value)
