"""Sparse matrices with arrays that do not fit together are refused wherever they are given."""

import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import InputError, graphs, losses, operators, penalties
from spdpeg.data import CSR, Stream, as_source
from spdpeg.estimators import FusedLogisticRegression, GraphGuidedRegressor
from spdpeg.sparse import first_not_finite, sound

DENSE = np.array([[1.0, 0, 2, 0], [0, 3, 0, 4], [5, 0, 0, 6], [0, 7, 8, 0]])
LABELS = np.array([0.0, 1, 0, 1])


def bad(format, part, place, value):
    matrix = sp.csr_array(DENSE).asformat(format)
    array = getattr(matrix, part).copy()
    array[place] = value
    setattr(matrix, part, array)
    return matrix


BAD = {
    f"{format}-{part}-{value}": bad(format, part, place, value)
    for format in ("csr", "csc", "bsr")
    for part, place, value in [
        ("indices", 2, 10**8),
        ("indices", 0, 4),
        ("indices", -1, -1),
        ("indptr", 1, 10**8),
        ("indptr", 2, -9),
        ("indptr", -1, 1000),
    ]
}
BAD["coo-row"] = bad("coo", "row", 1, 10**8)
BAD["coo-col"] = bad("coo", "col", 1, -1)
BAD["short"] = sp.csr_array(DENSE)
BAD["short"].indptr = BAD["short"].indptr[:-1]
BAD["none"] = sp.csr_array(DENSE)
BAD["none"].indptr = None
BAD["lil"] = sp.lil_array(DENSE)
BAD["lil"].rows[0] = [0, 99]
every_bad = pytest.mark.parametrize("name", BAD)

USES = {
    "sound": sound,
    "source": as_source,
    "csr": CSR.from_scipy,
    "problem": lambda X: spdpeg.Problem(X, LABELS, loss=losses.Logistic()),
    "stream": lambda X: Stream([(X, LABELS)]).peek(),
    "F": lambda X: spdpeg.Problem(DENSE, LABELS, loss=losses.Logistic(), r2=penalties.L1(1.0), F=X),
    "operator": lambda X: operators.Matrix(X).bind(4),
    "adjacency": operators.GraphDifference.from_adjacency,
    "sics": graphs.sics,
    "knn": graphs.knn,
    "fit": lambda X: FusedLogisticRegression().fit(X, LABELS),
    "partial_fit": lambda X: FusedLogisticRegression().partial_fit(X, LABELS, classes=[0, 1]),
    "structure": lambda X: GraphGuidedRegressor(X).fit(DENSE, LABELS),
}


@every_bad
@pytest.mark.parametrize("use", USES)
def test_damaged_matrices_are_refused(use, name):
    with pytest.raises(InputError):
        USES[use](BAD[name])


@every_bad
def test_predictions_follow_no_index_blindly(name):
    model = FusedLogisticRegression(max_passes=50, tol=0.1).fit(DENSE, LABELS)
    with pytest.raises(InputError, match="damaged sparse matrix"):
        model.predict(BAD[name])


@pytest.mark.parametrize("format", ["csr", "csc", "bsr", "coo", "dia", "lil", "dok"])
def test_sound_matrices_pass_as_they_are(format):
    matrix = sp.csr_array(DENSE).asformat(format)
    assert sound(matrix) is matrix
    assert as_source(matrix).n_samples == 4


def test_the_first_row_that_is_not_finite():
    assert first_not_finite(DENSE) is None
    assert first_not_finite(np.full((2, 2), 1e308)) is None
    broken = DENSE.copy()
    broken[2, 3] = np.nan
    assert first_not_finite(broken) == first_not_finite(sp.csr_array(broken)) == 2
