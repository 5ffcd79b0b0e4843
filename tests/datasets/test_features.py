"""F of a data set: the published matrix, or sparse inverse covariance selection."""

import os

import numpy as np
import pytest
import scipy.sparse as sp

from spdpeg import InputError, datasets, graphs

DATA = os.environ.get("SPDPEG_DATA_DIR")
with_data = pytest.mark.skipif(not DATA, reason="SPDPEG_DATA_DIR is not set")


@pytest.fixture
def splice(tmp_path):
    """A data directory with rows of the size of splice."""
    rng = np.random.default_rng(0)
    X = rng.integers(1, 5, (1000, 30))
    X = np.hstack([X, np.where(rng.random((1000, 30)) < 0.5, X, rng.integers(1, 5, (1000, 30)))])
    np.savez(tmp_path / "splice.npz", X=X, y=rng.choice([-1, 1], 1000))
    return tmp_path


def test_selected_as_the_authors_did(splice, cache):
    found = datasets.graph("splice", splice)
    expected = graphs.sics(datasets.load("splice", splice).X, 0.005).operator(threshold=0.0025)
    assert np.array_equal(found.F.edges, expected.edges)
    assert "weight 0.005, as the authors did, and threshold 0.0025" in found.origin
    assert len(list((cache / "graphs").iterdir())) == 1
    signed = datasets.graph("splice", splice, form="signed").F.matrix().toarray()
    assert np.array_equal(np.argwhere(np.triu(signed) == 1.0), expected.edges)
    assert np.array_equal(signed, -signed.T)


def test_published_where_it_fits(splice):
    (splice / "graphs").mkdir()
    F = sp.random_array((40, 60), density=0.1, random_state=np.random.default_rng(1))
    path = splice / "graphs" / "F_splice.npz"
    sp.save_npz(path, F)
    found = datasets.graph("splice", splice)
    np.testing.assert_allclose(found.F.matrix().toarray(), F.toarray())
    assert "published" in found.origin
    assert path.name in found.origin
    assert str(splice) not in found.origin  # reports are passed on, and their readers have other directories
    assert "difference form" in datasets.graph("splice", splice, form="difference").origin
    sp.save_npz(path, F[:, :59])
    assert "Sparse inverse covariance" in datasets.graph(datasets.load("splice", splice), splice).origin
    with pytest.raises(InputError, match="no published matrix for splice with 60 columns"):
        datasets.graph("splice", splice, form="published")
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError, match="damaged"):
        datasets.graph("splice", splice)


def test_built_in_sets():
    X, _, truth, edges = datasets.clustered_graph()
    found = datasets.graph("clustered_graph")
    assert np.array_equal(found.F.edges, edges)
    assert np.all(found.F.bind(X.shape[1]) @ truth == 0)
    assert "true edges" in found.origin
    digits = datasets.graph("digits")
    assert 0 < digits.F.n_outputs <= 4 * 64
    assert "chosen from the data" in digits.origin
    with pytest.raises(InputError, match="no published matrix for digits"):
        datasets.graph("digits", form="published")


def test_wrong_form():
    with pytest.raises(InputError, match="form is 'laplacian'"):
        datasets.graph("digits", form="laplacian")


@with_data
@pytest.mark.parametrize(("name", "columns"), [("splice", 60), ("hitech", 10080), ("k1b", 21819), ("classic", 41681)])
def test_matrices_that_the_authors_published(name, columns):
    F, origin = datasets.graph(name, DATA)
    assert F.matrix().shape == (columns, columns)
    assert "published" in origin
