"""Data sets by name: where they are found, what is said about them, and which files are refused."""

import lzma
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from spdpeg import InputError, datasets

DATA = os.environ.get("SPDPEG_DATA_DIR")
with_data = pytest.mark.skipif(not DATA, reason="SPDPEG_DATA_DIR is not set")
BUILT_IN = ["breast_cancer", "digits", "piecewise_constant", "clustered_graph"]


def splice_text(path, rows=1000, columns=60):
    """LIBSVM text of the size of splice."""
    rng = np.random.default_rng(0)
    X = rng.integers(1, 5, (rows, columns)).astype(float)
    dump_svmlight_file(X, np.where(np.arange(rows) % 3 == 0, 1, -1), str(path), zero_based=False)
    return X


def hitech_archive(path, shape=(2301, 10080), classes=6):
    """A sparse .npz of the size of hitech."""
    X = sp.random_array(shape, density=1e-3, format="csr", random_state=np.random.default_rng(0))
    y = np.minimum(np.arange(shape[0]) % (classes + 1), classes - 1)
    np.savez(path, format=b"csr", shape=X.shape, data=X.data, indices=X.indices, indptr=X.indptr, y=y.astype(np.uint8))
    return X, y


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_sets_need_nothing(name, monkeypatch, cache):
    monkeypatch.setattr("spdpeg.datasets.storage.download", None)
    data = datasets.load(name)
    assert data.X.shape[0] == data.y.size > 500
    assert set(data.y) == {-1, 1}
    assert np.all(np.isfinite(data.X))
    assert np.abs(data.X).max() < 15
    assert data.description.startswith(f"{name}: {data.X.shape[0]:,} rows")
    assert not cache.exists()


def test_names():
    names = datasets.names()
    assert names[:8] == ["splice", "svmguide3", "mushrooms", "a9a", "w8a", "hitech", "k1b", "classic"]
    assert names[8:] == BUILT_IN


def test_built_in_scalings():
    cancer = datasets.load("breast_cancer")
    np.testing.assert_allclose(cancer.X.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(cancer.X.std(axis=0), 1.0)
    assert datasets.load("digits").X.max() == 1.0
    unit = datasets.load("digits", unit_rows=True)
    np.testing.assert_allclose(np.linalg.norm(unit.X, axis=1), 1.0)
    assert "unit norm" in unit.description


def test_found_in_the_directory_then_by_the_variable_then_in_the_cache(tmp_path, monkeypatch, cache):
    first, second, third = tmp_path / "first", tmp_path / "second", cache / "data"
    for place in (first, second, third):
        place.mkdir(parents=True)
        splice_text(place / "splice")
    monkeypatch.setenv("SPDPEG_DATA_DIR", str(second))
    assert datasets.load("splice", first).source == str(first / "splice")
    assert datasets.load("splice").source == str(second / "splice")
    (second / "splice").unlink()
    assert datasets.load("splice").source == str(third / "splice")


def test_values_labels_and_choices(tmp_path):
    X = splice_text(tmp_path / "splice.txt")
    data = datasets.load("splice", tmp_path)
    np.testing.assert_allclose(data.X.toarray(), X)
    assert np.mean(data.y > 0) == pytest.approx(0.334)
    assert data.choices == ("class 1 is positive, the larger label", "values are as in the file")
    other = datasets.load("splice", tmp_path, positive=-1, unit_rows=True)
    assert np.array_equal(other.y, -data.y)
    np.testing.assert_allclose(np.linalg.norm(other.X.toarray(), axis=1), 1.0)
    assert other.choices == ("class -1 is positive, as asked for", "rows are scaled to unit norm")
    with pytest.raises(InputError, match=r"positive is 7.*-1, 1"):
        datasets.load("splice", tmp_path, positive=7)


def test_text_sets_take_the_most_frequent_class_and_unit_rows(tmp_path):
    X, y = hitech_archive(tmp_path / "hitech.npz")
    data = datasets.load("hitech", tmp_path)
    assert np.array_equal(data.y > 0, y == 5)
    norms = np.sqrt(data.X.multiply(data.X).sum(axis=1))
    assert np.all((np.abs(norms - 1) < 1e-12) | (norms == 0))
    assert data.choices == ("class 5 is positive, the most frequent of 6", "rows are scaled to unit norm")
    raw = datasets.load("hitech", tmp_path, positive=2, unit_rows=False)
    assert (raw.X != X).nnz == 0
    assert np.array_equal(raw.y > 0, y == 2)
    assert "Values are as in the file" in raw.description


def test_files_of_another_size_are_refused(tmp_path):
    splice_text(tmp_path / "splice", rows=999)
    with pytest.raises(InputError, match="999 rows and 60 columns where splice has 1,000 x 60"):
        datasets.load("splice", tmp_path)
    splice_text(tmp_path / "splice", columns=61)
    with pytest.raises(InputError, match="60"):
        datasets.load("splice", tmp_path)
    hitech_archive(tmp_path / "hitech.npz", shape=(2301, 10000))
    with pytest.raises(InputError, match="10,000 columns where hitech has 2,301 x 10,080"):
        datasets.load("hitech", tmp_path)
    hitech_archive(tmp_path / "hitech.npz", classes=4)
    with pytest.raises(InputError, match="4 classes where hitech has 6"):
        datasets.load("hitech", tmp_path)


def test_damaged_files_are_refused(tmp_path):
    whole = tmp_path / "whole"
    splice_text(whole)
    content = whole.read_bytes()
    path = tmp_path / "splice"
    path.write_bytes(content.replace(b" 7:2", b" 7:nan", 1))
    with pytest.raises(InputError, match="NaN"):
        datasets.load("splice", tmp_path)
    path.write_bytes(b"<!DOCTYPE html><html><body>404 Not Found</body></html>")
    with pytest.raises(InputError, match="web page"):
        datasets.load("splice", tmp_path)
    path.unlink()
    (tmp_path / "splice.xz").write_bytes(lzma.compress(content)[:-1000])
    with pytest.raises(InputError, match="truncated"):
        datasets.load("splice", tmp_path)


def test_wrong_arguments_are_named(tmp_path):
    with pytest.raises(InputError, match=r"no data set called 'mnist'.*a9a"):
        datasets.load("mnist")
    with pytest.raises(InputError, match="no directory"):
        datasets.load("a9a", tmp_path / "nowhere")
    with pytest.raises(InputError, match="Leave out data_dir and positive"):
        datasets.load("digits", tmp_path)
    with pytest.raises(InputError, match="download is False"):
        datasets.load("a9a", tmp_path, download=False)


@with_data
@pytest.mark.parametrize(
    ("name", "shape", "said"),
    [
        ("splice", (1000, 60), "larger label"),
        ("svmguide3", (1243, 22), "counts 21"),
        ("mushrooms", (8124, 112), "Class 2"),
        ("a9a", (32561, 123), "larger label"),
        ("w8a", (49749, 300), "training part"),
        ("hitech", (2301, 10080), "most frequent of 6"),
        ("k1b", (2340, 21819), "21,839"),
        ("classic", (7094, 41681), "most frequent of 4"),
    ],
)
def test_sets_of_the_paper(name, shape, said):
    data = datasets.load(name, DATA, download=False)
    assert data.X.shape == shape
    assert set(data.y) == {-1, 1}
    assert said in data.description


@with_data
def test_k1b_of_the_size_in_the_paper(tmp_path):
    (tmp_path / "k1b.npz").symlink_to(Path(DATA) / "k1b_cluto21839.npz")
    data = datasets.load("k1b", tmp_path)
    assert data.X.shape == (2340, 21839)
    assert "21,839" not in " ".join(data.choices)


def test_descriptions_name_the_file_and_not_its_directory(tmp_path):
    splice_text(tmp_path / "splice")
    found = datasets.load("splice", tmp_path)
    assert found.source == str(tmp_path / "splice")
    assert str(tmp_path) not in found.description
    assert "positive; splice." in found.description
