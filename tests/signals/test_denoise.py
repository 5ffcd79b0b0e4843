"""denoise against a conic solver, on every kind of signal; what it returns, and what it refuses."""

import warnings
from typing import Any

import cvxpy
import numpy as np
import pytest
import scipy.sparse as sp
from scipy import ndimage

import spdpeg
from spdpeg import operators
from spdpeg.errors import InputError, UnsupportedError
from spdpeg.signals import Region, Segment
from support.conic import TIGHT

cp: Any = cvxpy
NAN = float("nan")
EDGES = [(0, 1, 1.0), (1, 4, 0.5), (2, 3, 2.0), (0, 5, 1.0), (4, 5, 1.0)]


def least(y: np.ndarray, w: np.ndarray, lam1: float, penalty: Any) -> tuple[np.ndarray, float]:
    """x and the least value by Clarabel; `penalty` takes the variable in the shape of y."""
    x = cp.Variable(y.shape)
    flat = cp.vec(x, order="C")
    fitted = cp.sum(cp.multiply(w.ravel(), cp.square(flat - np.nan_to_num(y).ravel()))) / 2
    problem = cp.Problem(cp.Minimize(fitted + lam1 * cp.norm1(flat) + penalty(x)))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate|The problem has an expression with dimension")
        problem.solve(solver=cp.CLARABEL, **TIGHT)
    return x.value, float(problem.value)


def tv(x: Any) -> Any:
    """Anisotropic, of an image."""
    return cp.sum(cp.abs(cp.diff(x, axis=0))) + cp.sum(cp.abs(cp.diff(x, axis=1)))


def isotropic(x: Any) -> Any:
    down, right = cp.diff(x, axis=0), cp.diff(x, axis=1)
    inner = cp.norm(cp.vstack([cp.vec(down[:, :-1], order="C"), cp.vec(right[:-1], order="C")]), axis=0)
    return cp.sum(inner) + cp.sum(cp.abs(down[:, -1])) + cp.sum(cp.abs(right[-1]))


def graph(x: Any) -> Any:
    return sum(w * cp.abs(x[i] - x[j]) for i, j, w in EDGES)


RNG = np.random.default_rng(7)
LINE = np.repeat([0.0, 2.0, 0.5], 5) + 0.4 * RNG.standard_normal(15)
GAPS = np.where(np.isin(np.arange(15), [0, 4, 5, 9]), NAN, LINE)
WEIGHTS = RNG.exponential(1.0, 15)
IMAGE = np.kron([[0.0, 2.0], [1.0, 0.0]], np.ones((2, 3))) + 0.4 * RNG.standard_normal((4, 6))
HOLES = np.where(RNG.random((4, 6)) < 0.2, NAN, IMAGE)
NODES = np.array([1.0, 1.3, -1.0, -0.7, 0.9, 0.0])
VOLUME = RNG.standard_normal((2, 3, 3))

CASES: list[tuple[str, np.ndarray, dict[str, Any], Any]] = [
    ("chain", LINE, {"lam2": 0.5}, lambda x: 0.5 * cp.norm1(cp.diff(x))),
    ("sparse chain", LINE, {"lam2": 0.5, "lam1": 0.3}, lambda x: 0.5 * cp.norm1(cp.diff(x))),
    ("weights", LINE, {"lam2": 0.5, "lam1": 0.3, "weights": WEIGHTS}, lambda x: 0.5 * cp.norm1(cp.diff(x))),
    ("gaps", GAPS, {"lam2": 0.5, "weights": WEIGHTS}, lambda x: 0.5 * cp.norm1(cp.diff(x))),
    ("sparse gaps", GAPS, {"lam2": 0.5, "lam1": 0.2}, lambda x: 0.5 * cp.norm1(cp.diff(x))),
    ("trend", LINE, {"lam2": 0.7, "order": 2}, lambda x: 0.7 * cp.norm1(cp.diff(x, 2))),
    ("quadratic", GAPS, {"lam2": 0.2, "order": 3, "lam1": 0.1}, lambda x: 0.2 * cp.norm1(cp.diff(x, 3))),
    ("image", IMAGE, {"lam2": 0.4}, lambda x: 0.4 * tv(x)),
    ("holes", HOLES, {"lam2": 0.4, "lam1": 0.1}, lambda x: 0.4 * tv(x)),
    ("isotropic", IMAGE, {"lam2": 0.4, "isotropic": True, "tol": 1e-9}, lambda x: 0.4 * isotropic(x)),
    ("isotropic holes", HOLES, {"lam2": 0.4, "isotropic": True, "lam1": 0.05}, lambda x: 0.4 * isotropic(x)),
    ("graph", NODES, {"lam2": 0.3, "lam1": 0.1, "structure": EDGES}, lambda x: 0.3 * graph(x)),
    (
        "volume",
        VOLUME,
        {"lam2": 0.2},
        lambda x: 0.2 * sum(cp.sum(cp.abs(cp.diff(x, axis=axis))) for axis in range(3)),
    ),
]


@pytest.mark.parametrize(("y", "arguments", "penalty"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_conic_solver_agrees(y: np.ndarray, arguments: dict[str, Any], penalty: Any) -> None:
    found = spdpeg.denoise(y, **arguments)
    w = np.where(np.isnan(y), 0.0, arguments.get("weights", np.ones(y.shape)))
    x, value = least(y, w, arguments.get("lam1", 0.0), penalty)
    assert found.x.shape == y.shape
    assert found.objective == pytest.approx(value, rel=1e-6)
    assert found.certificate.dual <= value * (1.0 + 1e-9)
    assert found.certificate.met == "relative gap"
    seen = w > 0.0
    np.testing.assert_allclose(found.x[seen], x[seen], atol=1e-4 if arguments.get("isotropic") else 1e-6)
    residual = np.where(seen, found.x - np.nan_to_num(y), 0.0)
    by_hand = 0.5 * np.sum(w * residual**2) + arguments.get("lam1", 0.0) * np.abs(found.x).sum()
    assert found.objective == pytest.approx(by_hand + penalty(found.x).value, rel=1e-9)


def test_segments_of_a_line() -> None:
    found = spdpeg.denoise([1.0, 1.2, 5.0, 5.0, 0.0, 0.0], 0.3, 0.2)
    assert [(piece.start, piece.stop) for piece in found.segments] == [(0, 2), (2, 4), (4, 6)]
    assert all(isinstance(piece, Segment) for piece in found.segments)
    np.testing.assert_allclose([piece.value for piece in found.segments], [1.05, 4.5, 0.0], atol=1e-12)
    assert (found.n_pieces, found.df) == (3, 2)
    assert found.labels.tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("lam2", [0.1, 0.5])
def test_segments_of_an_image_are_connected_regions(lam2: float) -> None:
    found = spdpeg.denoise(IMAGE, lam2)
    levels = np.round(found.x, 9)
    regions = [
        part
        for level in np.unique(levels)
        for mask, count in [ndimage.label(levels == level)]
        for part in (mask == k for k in range(1, count + 1))
    ]
    assert found.n_pieces == found.df == len(regions) == len(found.segments)
    expected = {tuple(np.flatnonzero(region)) for region in regions}
    assert {tuple(piece.members) for piece in found.segments if isinstance(piece, Region)} == expected
    for piece in found.segments:
        assert isinstance(piece, Region)
        np.testing.assert_allclose(found.x.ravel()[piece.members], piece.value, atol=1e-9)


def test_trend_has_knots() -> None:
    t = np.arange(40.0)
    found = spdpeg.denoise(np.abs(t - 12.0), 0.5, order=2)
    knots = np.flatnonzero(np.abs(np.diff(found.x, 2)) > 1e-9) + 1
    assert [piece.start for piece in found.segments] == [0, *knots]
    assert [piece.stop for piece in found.segments] == [*knots, 40]
    assert found.df == knots.size + 2
    flat = spdpeg.denoise(np.abs(t - 12.0), 1e6, order=2)
    assert (flat.n_pieces, flat.df) == (1, 2)
    assert flat.certificate.met == "relative gap"
    np.testing.assert_allclose(flat.x, np.polyval(np.polyfit(t, np.abs(t - 12.0), 1), t), atol=1e-9)


def test_weights_are_copies() -> None:
    """A value of weight 2 is two values that must be equal."""
    weighted = spdpeg.denoise([1.0, 3.0, 2.0], 0.3, 0.1, weights=[1.0, 2.0, 1.0])
    tied = spdpeg.denoise([1.0, 3.0, 3.0, 2.0], [0.3, 1e3, 0.3], 0.1, weights=[1.0, 1.0, 1.0, 1.0])
    # The tied pair pays lam1 twice, which a single value of weight 2 pays once.
    np.testing.assert_allclose(weighted.x[1] - tied.x[1], 0.05, atol=1e-12)


@pytest.mark.parametrize("lam2", [0.0, [0.0] * 4])
def test_without_differences_it_is_a_threshold(lam2: Any) -> None:
    found = spdpeg.denoise([3.0, -1.0, 0.2, NAN, 1.0], lam2, 0.5)
    np.testing.assert_allclose(found.x, [2.5, -0.5, 0.0, 0.0, 0.5], atol=1e-15)


def test_a_jump_across_missing_values_is_in_their_middle() -> None:
    found = spdpeg.denoise([0.0, NAN, NAN, NAN, 5.0, NAN], 0.5)
    assert found.x.tolist() == [0.5, 0.5, 0.5, 4.5, 4.5, 4.5]


def test_a_large_offset_costs_no_digits() -> None:
    y = np.repeat([0.0, 1.0], 50) + 0.1 * np.random.default_rng(0).standard_normal(100)
    near, far = spdpeg.denoise(y, 1.0), spdpeg.denoise(y + 1e6, 1.0)
    assert far.certificate.met == "relative gap"
    assert far.objective == pytest.approx(near.objective, rel=1e-8)


@pytest.mark.parametrize("y", [[3.7, NAN], [0.1], [1e9 / 3.0] * 5, [0.0, 0.0]])
def test_values_that_need_no_penalty_are_met_exactly(y: list[float]) -> None:
    """The optimum is 0, and no relative gap exists."""
    for arguments in ({}, {"weights": np.linspace(0.3, 0.7, len(y))}):
        found = spdpeg.denoise(y, 0.8, **arguments)
        assert found.certificate.met is not None
        np.testing.assert_allclose(found.x, np.nan_to_num(y, nan=y[0]), rtol=1e-15)


def test_a_large_image_takes_many_cheap_steps_and_has_pieces() -> None:
    rng = np.random.default_rng(0)
    image = np.kron(np.array([[0.0, 1.0], [2.0, 0.0]]), np.ones((40, 40))) + 0.1 * rng.standard_normal((80, 80))
    found = spdpeg.denoise(image, 0.5)
    assert found.certificate.met == "relative gap"
    assert found.n_pieces < 60
    assert np.sqrt(np.mean((found.x - np.kron([[0.0, 1.0], [2.0, 0.0]], np.ones((40, 40)))) ** 2)) < 0.03


def test_structures() -> None:
    networkx = pytest.importorskip("networkx")
    y = [1.0, 1.2, 5.0, 5.1]
    by_edges = spdpeg.denoise(y, 0.3, structure=[(0, 1), (2, 3)])
    adjacency = np.zeros((4, 4))
    adjacency[[0, 1, 2, 3], [1, 0, 3, 2]] = 1.0
    F = sp.csr_array(np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]]))
    for structure in (sp.csr_array(adjacency), networkx.Graph(adjacency), F, operators.Matrix(F)):
        np.testing.assert_allclose(spdpeg.denoise(y, 0.3, structure=structure).x, by_edges.x, atol=1e-7)
    np.testing.assert_allclose(by_edges.x, [1.1, 1.1, 5.05, 5.05], atol=1e-7)
    assert [piece.value for piece in by_edges.segments] == pytest.approx([1.1, 5.05])
    along = spdpeg.denoise(y, 0.3, structure="chain")
    np.testing.assert_array_equal(along.x, spdpeg.denoise(y, 0.3).x)


def test_single_precision_stays() -> None:
    assert spdpeg.denoise(np.ones(5, dtype=np.float32), 1.0).x.dtype == np.float32
    assert spdpeg.denoise(np.ones(5, dtype=int), 1.0).x.dtype == np.float64


def test_it_tells_what_it_found() -> None:
    text = repr(spdpeg.denoise([0.0, NAN, 4.0, 4.0], 0.5))
    assert text.startswith("Denoised(4 values, 1 missing, 2 pieces, df=2, lam2=0.5, lam1=0, objective=1.8125")
    assert "proved by a duality gap" in text
    assert "isotropic" not in repr(spdpeg.denoise(IMAGE, 0.4, isotropic=True))


@pytest.mark.parametrize("y", [LINE, IMAGE, VOLUME], ids=["line", "image", "volume"])
def test_pictures(y: np.ndarray) -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    figure = spdpeg.denoise(y, 0.4).plot()
    assert figure.axes
    plt.close(figure)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"y": []}, "at least one value"),
        ({"y": [1.0, np.inf]}, "infinite"),
        ({"y": [NAN, NAN]}, "missing"),
        ({"y": [1.0, 2.0], "lam1": -1.0}, "lam1"),
        ({"y": [1.0, 2.0], "lam2": [1.0, 2.0]}, "lam2"),
        ({"y": [1.0, 2.0], "lam2": "aic"}, "cv, sure, bic"),
        ({"y": [1.0, 2.0], "weights": [1.0]}, "weights"),
        ({"y": [1.0, 2.0], "order": 0}, "order"),
        ({"y": [1.0, 2.0], "structure": "sics"}, "structure"),
        ({"y": [1.0, 2.0], "tol": 0.0}, "tol"),
        ({"y": [1.0, 2.0], "lam2": "bic", "sigma": -1.0}, "sigma"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        spdpeg.denoise(**{"lam2": 1.0, **arguments})


def test_what_is_not_there_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="order"):
        spdpeg.denoise(IMAGE, 1.0, order=2)
    with pytest.raises(UnsupportedError, match="isotropic"):
        spdpeg.denoise(LINE, 1.0, isotropic=True)
    F = operators.Matrix(np.array([[1.0, 2.0, 1.0]]))
    with pytest.raises(UnsupportedError, match="pieces"):
        _ = spdpeg.denoise([1.0, 2.0, 3.0], 0.1, structure=F).n_pieces


def test_what_is_masked_is_missing() -> None:
    y = np.array([1.0, 1.0, 100.0, 1.0, 5.0, 5.0, 5.0])
    hidden = np.ma.masked_greater(y, 50.0)
    np.testing.assert_array_equal(spdpeg.denoise(hidden, 0.1).x, spdpeg.denoise(np.where(y > 50.0, np.nan, y), 0.1).x)
    with pytest.raises(InputError, match="Add 1"):
        spdpeg.denoise(y, 0.1, order=0)
