"""The problem: what it computes, what it refuses and in which words, and the odd shapes it must cope with."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import InputError, Problem, UnsupportedError, losses, operators, penalties
from support import catalogue

X = catalogue.rows(20, 4)
Y = np.where(np.arange(20) % 3, 1.0, -1.0)


def build(X: Any = X, y: Any = Y, **changes: Any) -> Problem:
    arguments = {
        "loss": losses.Logistic(),
        "r1": penalties.L1(0.01),
        "r2": penalties.L1(0.01),
        "F": operators.FirstDifference(),
    }
    return Problem(X, y, **{**arguments, **changes})


def changed(entry: float, matrix: Any = X) -> Any:
    other = matrix.copy()
    other[3, 2] = entry
    return other


def damaged_csr() -> sp.csr_array:
    csr = sp.csr_array(X)
    csr.indices[0] = 99
    return csr


def solve(solver: str = "spdpeg", **options: Any) -> Any:
    return spdpeg.solve(build(), solver, **options)


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "X one-dimensional": (lambda: build(X[0]), "1 dimension"),
    "X three-dimensional": (lambda: build(X[None]), "3 dimension"),
    "X a number": (lambda: build(3.0), "X is a float"),
    "X a text": (lambda: build([["a", "b"], ["c", "d"]], [0, 1]), "not real numbers"),
    "X ragged": (lambda: build([[1.0, 2.0], [3.0]], [0, 1]), "X"),
    "X complex": (lambda: build(X.astype(complex)), "complex"),
    "X with NaN": (lambda: build(changed(np.nan)), "NaN or infinite entry in row 3"),
    "X with inf": (lambda: build(changed(-np.inf)), "NaN or infinite entry in row 3"),
    "sparse X with NaN": (lambda: build(sp.csr_array(changed(np.nan))), "NaN or infinite entry in row 3"),
    "X with huge entries": (lambda: build(changed(1e200)), "so large that their squares overflow"),
    "X without rows": (lambda: build(X[:0], Y[:0]), "0 rows and 4 columns"),
    "X without columns": (lambda: build(X[:, :0]), "20 rows and 0 columns"),
    "sparse X without rows": (lambda: build(sp.csr_array((0, 4)), Y[:0]), "0 rows and 4 columns"),
    "sparse X damaged": (lambda: build(damaged_csr()), "outside 0..3"),
    "X missing and F of unknown size": (lambda: Problem(None, F=operators.FirstDifference()), "X is None"),
    "y missing": (lambda: build(y=None), "y is missing"),
    "y too short": (lambda: build(y=Y[:-1]), r"y has shape \(19,\)"),
    "y a matrix": (lambda: build(y=np.c_[Y, Y]), r"y has shape \(20, 2\)"),
    "y one class": (lambda: build(y=np.ones(20)), r"1 class\(es\)"),
    "y three classes": (lambda: build(y=np.arange(20) % 3), r"3 class\(es\)"),
    "y many classes": (lambda: build(y=np.arange(20)), r"20 class\(es\)"),
    "y with NaN, classification": (lambda: build(y=np.where(Y > 0, np.nan, 1.0)), "NaN or infinite labels"),
    "y with NaN, regression": (lambda: build(y=np.where(Y > 0, np.nan, 1.0), loss=losses.Squared()), "NaN or infinite"),
    "y text, regression": (lambda: build(y=["a"] * 20, loss=losses.Squared()), "not numbers"),
    "loss missing": (lambda: build(loss=None), "loss is None"),
    "loss by name": (lambda: build(loss="logistic"), "loss is 'logistic'"),
    "loss as a class": (lambda: build(loss=losses.Logistic), "loss is"),
    "loss with a bad parameter": (lambda: build(y=X[:, 0], loss=losses.Huber(-1.0)), "delta of Huber is -1"),
    "r1 a number": (lambda: build(r1=0.1), "r1 is 0.1"),
    "r2 a number": (lambda: build(r2=0.1), "r2 is 0.1"),
    "penalty negative": (lambda: build(r1=penalties.L1(-0.1)), "weight of L1"),
    "penalty of another length": (lambda: build(r1=penalties.L1(np.ones(5))), r"shape \(5,\) but acts on 4"),
    "r2 of another length": (lambda: build(r2=penalties.L1(np.ones(4))), r"shape \(4,\) but acts on 3"),
    "box upside down": (lambda: build(r1=penalties.Box(1.0, -1.0)), "above its upper bound"),
    "ball without radius": (lambda: build(domain=penalties.L2Ball(0.0), r1=None), "radius of L2Ball is 0"),
    "domain not a set": (lambda: build(domain=penalties.L1(1.0)), "domain is L1"),
    "domain without an exact prox": (lambda: build(domain=penalties.Simplex()), "has no closed form"),
    "F of another width": (lambda: build(F=np.ones((3, 5))), "5.* but x has 4"),
    "F one-dimensional": (lambda: build(F=np.ones(4)), r"F has 1 dimension"),
    "F with NaN": (lambda: build(F=np.full((2, 4), np.nan)), "F holds NaN"),
    "F by name": (lambda: build(F="chain"), "F is 'chain'"),
    "F with edges beyond x": (lambda: build(F=operators.GraphDifference([(0, 4)])), "4"),
    "F a grid of another size": (lambda: build(F=operators.GridDifference((3, 2))), "6"),
    "weights negative": (lambda: build(sample_weight=-Y), "negative, NaN or infinite"),
    "weights with NaN": (lambda: build(sample_weight=Y * np.nan), "negative, NaN or infinite"),
    "weights zero": (lambda: build(sample_weight=np.zeros(20)), "0 everywhere"),
    "weights too short": (lambda: build(sample_weight=np.ones(3)), r"shape \(3,\)"),
    "stream with y": (lambda: build([(X, Y)], Y), "brings its labels and weights itself"),
    "stream empty": (lambda: build(iter([]), None), "no rows left"),
    "stream of other things": (lambda: build(iter([X]), None), "is not a pair"),
    "stream with one class": (lambda: build([(X, np.full(20, 7))], None), r"label\(s\) 7 only"),
    "stream with NaN": (lambda: build([(changed(np.nan), Y)], None), "NaN or infinite entry in row 3"),
    "x of another length": (lambda: build().objective(np.zeros(5)), r"x has shape \(5,\)"),
    "solver unknown": (lambda: solve(solver="adam"), "no solver called 'adam'"),
    "solver parameter unknown": (lambda: solve(momentum=0.9), "spdpeg has no parameter 'momentum'"),
    "mode unknown": (lambda: solve(mode="fast"), "mode is 'fast'"),
    "sampling unknown": (lambda: solve(sampling="sorted"), "sampling is 'sorted'"),
    "rho zero": (lambda: solve(rho=0.0), "rho is 0"),
    "scale negative": (lambda: solve(scale=-1.0), "scale is -1"),
    "kappa negative": (lambda: solve(kappa=-1.0), "kappa is -1"),
    "kappa in a regime without it": (lambda: solve(solver="spdpeg-sc1", kappa=1.0, mu_loss=1.0), "kappa"),
    "no strong convexity": (lambda: solve(solver="spdpeg-sc1"), "neither r1 nor mu_loss brings any"),
    "loss with a corner": (lambda: spdpeg.solve(build(loss=losses.Hinge()), "spdpeg"), "needs a smooth loss"),
    "batch size zero": (lambda: solve(batch_size=0), "batch_size is 0"),
    "batch size fractional": (lambda: solve(batch_size=1.5), "batch_size is 1.5"),
    "batch larger than the data": (lambda: solve(batch_size=21), "batch_size is 21 but there are 20 rows"),
    "seed negative": (lambda: solve(seed=-1), "seed is -1"),
    "x0 of another length": (lambda: solve(x0=np.zeros(3)), r"x0 has shape \(3,\)"),
    "x0 with NaN": (lambda: solve(x0=np.full(4, np.nan)), "NaN or infinite"),
    "not a problem": (
        lambda: spdpeg.solve(X),  # type: ignore[arg-type]
        "first argument is",
    ),
    "tol on a stream": (lambda: spdpeg.solve(build([(X, Y)], None), tol=1e-3), "full gradient"),
    "objective of a stream": (lambda: build([(X, Y)], None).objective(np.zeros(4)), "stream has no objective"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_say_what_and_what_to_do(name: str) -> None:
    attempt, words = REFUSED[name]
    with pytest.raises((InputError, UnsupportedError), match=words) as caught:
        attempt()
    message = str(caught.value)
    # Array dumps and decimals aside: at least two sentences, each with a verb's worth of words.
    sentences = [part for part in re.split(r"(?<=[.;:])\s+", message) if len(part.split()) >= 2]
    assert len(sentences) >= 2, message
    assert message.endswith(".")


def test_the_mildest_base_class_catches_everything() -> None:
    for attempt, _ in REFUSED.values():
        with pytest.raises(spdpeg.SpdpegError):
            attempt()


ODD: dict[str, Callable[[], Problem]] = {
    "one feature": lambda: build(X[:, :1], F=None),
    "one feature, chain": lambda: build(X[:, :1]),
    "one sample": lambda: build(X[:1], y=[2.0], loss=losses.Squared()),
    "one sample, one feature": lambda: build([[2.0]], [1.0], loss=losses.Squared(), F=None),
    "two samples": lambda: build(X[:2], [0, 1]),
    "constant columns": lambda: build(np.ones((20, 4))),
    "empty rows": lambda: build(sp.csr_array(np.where(np.arange(20)[:, None] % 2, X, 0.0))),
    "all rows empty": lambda: build(sp.csr_array((20, 4))),
    "all zeros": lambda: build(np.zeros((20, 4))),
    "many more features than samples": lambda: build(np.tile(X[:5], (1, 700)), [0, 1, 0, 1, 1]),
    "duplicate indices": lambda: build(sp.csr_array(([1.0, 2.0, 3.0], [0, 0, 1], [0, 2, 3]), shape=(2, 4)), [0, 1]),
    "large values": lambda: build(1e100 * X),
    "tiny values": lambda: build(1e-150 * X),
    "one huge row": lambda: build(np.vstack([X, 1e6 * X[:1]]), np.append(Y, 1.0)),
    "text labels": lambda: build(y=np.where(Y > 0, "yes", "no")),
    "boolean labels": lambda: build(y=Y > 0),
    "object labels": lambda: build(y=np.array(["a" if v > 0 else "b" for v in Y], dtype=object)),
    "lists": lambda: build(X.tolist(), Y.tolist()),
    "data frame": lambda: build(pd.DataFrame(X), pd.Series(Y)),
    "integers": lambda: build(np.rint(X).astype(np.int8)),
    "booleans": lambda: build(X > 0),
    "no penalties": lambda: build(r1=None, r2=None, F=None),
    "constant labels, regression": lambda: build(y=np.ones(20), loss=losses.Squared()),
    "zero labels, regression": lambda: build(y=np.zeros(20), loss=losses.Squared()),
    "F of zeros": lambda: build(F=np.zeros((2, 4))),
    "F as a list": lambda: build(F=[[1.0, -1.0, 0.0, 0.0]]),
    "no smooth loss": lambda: Problem(None, F=np.eye(4), r1=penalties.L2Squared(1.0), r2=penalties.L1(0.1)),
    "no smooth loss, no ridge": lambda: Problem(None, F=np.eye(4), r2=penalties.L1(0.1)),
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("mode", ["default", "paper"])
def test_odd_problems_are_solved(name: str, mode: str) -> None:
    problem = ODD[name]()
    noisy = spdpeg.solve(problem, "spdpeg", mode=mode, max_passes=30)
    assert np.all(np.isfinite(noisy.x))
    assert np.isfinite(noisy.objective)
    smooth = spdpeg.solve(problem, "spdpeg", mode=mode, batch_size=problem.n_samples or 1, max_passes=400)
    assert smooth.objective <= problem.objective(np.zeros(problem.n_features)) * (1 + 1e-12)


def test_duplicate_indices_add_up() -> None:
    doubled = sp.csr_array(([1.0, 2.0, 3.0], [0, 0, 1], [0, 2, 3]), shape=(2, 4))
    summed = build(np.array([[3.0, 0, 0, 0], [0, 3.0, 0, 0]]), [0, 1])
    x = np.array([0.3, -1.0, 0.5, 0.0])
    assert build(doubled, [0, 1]).objective(x) == summed.objective(x)
    assert doubled.nnz == 3


def test_constant_columns_change_nothing_else() -> None:
    x = np.array([0.5, -0.2, 0.1, 0.4])
    wider = np.hstack([X, np.zeros((20, 1))])
    plain, padded = build(r1=None, r2=None, F=None), build(wider, r1=None, r2=None, F=None)
    assert padded.objective(np.append(x, 7.0)) == pytest.approx(plain.objective(x), rel=1e-15)


def test_the_larger_class_is_positive() -> None:
    problem = build(y=np.where(Y > 0, "spam", "ham"))
    assert problem.classes is not None
    assert problem.classes.tolist() == ["ham", "spam"]
    x = np.array([0.5, -0.2, 0.1, 0.4])
    assert problem.objective(x) == build().objective(x)


@pytest.mark.parametrize("loss", catalogue.LOSSES)
@pytest.mark.parametrize("sparse", [False, True])
def test_weight_k_is_k_copies(loss: str, sparse: bool) -> None:
    instance = catalogue.instance(loss, weighted=True)
    assert instance.weights is not None
    copies = np.repeat(np.arange(catalogue.N), instance.weights.astype(int))
    as_given: Callable[[np.ndarray], Any] = sp.csr_array if sparse else np.asarray
    weighted = instance.problem(X=as_given(instance.X), sample_weight=instance.weights)
    repeated = instance.problem(X=as_given(instance.X[copies]), y=instance.labels[copies], sample_weight=None)
    kept = instance.weights > 0
    dropped = instance.problem(
        X=as_given(instance.X[kept]), y=instance.labels[kept], sample_weight=instance.weights[kept]
    )
    for x in (np.zeros(catalogue.D), np.linspace(-1, 1, catalogue.D)):
        for other in (repeated, dropped):
            assert weighted.objective(x) == pytest.approx(other.objective(x), rel=1e-13)
            np.testing.assert_allclose(weighted.gradient(x), other.gradient(x), rtol=1e-11, atol=1e-15)
    for other in (repeated, dropped):
        assert weighted.view.bounds.lipschitz == pytest.approx(other.view.bounds.lipschitz, rel=1e-9)


@pytest.mark.parametrize("scale", [0.5, 1.0, 1e6])
def test_only_the_ratio_of_weights_counts(scale: float) -> None:
    instance = catalogue.instance(weighted=True)
    assert instance.weights is not None
    x = np.linspace(-1, 1, catalogue.D)
    first, second = instance.problem(), instance.problem(sample_weight=scale * instance.weights)
    assert first.objective(x) == pytest.approx(second.objective(x), rel=1e-14)
    assert first.view.bounds.lipschitz_max == pytest.approx(second.view.bounds.lipschitz_max, rel=1e-14)


@pytest.mark.parametrize("loss", catalogue.LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
def test_lipschitz_bounds(loss: str, weighted: bool) -> None:
    """Above the truth and within its margin; the worst row's constant is exact."""
    instance = catalogue.instance(loss, weighted=weighted)
    problem = instance.problem()
    w = instance.scaled_weights
    true = problem.loss.curvature * np.linalg.eigvalsh(instance.X.T @ (w[:, None] * instance.X) / catalogue.N)[-1]
    assert true <= problem.view.bounds.lipschitz <= 1.1 * true
    worst = problem.loss.curvature * np.max(w * (instance.X**2).sum(axis=1))
    assert problem.view.bounds.lipschitz_max == pytest.approx(worst, rel=1e-14)


@pytest.mark.parametrize("operator", [name for name in catalogue.OPERATORS if name != "None"])
def test_norm_F(operator: str) -> None:
    instance = catalogue.instance(operator=operator)
    true = np.linalg.norm(instance.F, 2)
    assert true * (1 - 1e-12) <= instance.problem().F.norm <= 1.5 * true


def test_read_only_points_are_accepted() -> None:
    x = np.linspace(-1, 1, 4)
    expected = build().objective(x)
    x.flags.writeable = False
    assert build().objective(x) == expected
    assert build().objective([float(v) for v in x]) == expected


def test_outside_the_domain_the_objective_is_infinite() -> None:
    problem = build(domain=penalties.Box(-1, 1))
    assert problem.objective(np.full(4, 2.0)) == np.inf
    assert np.isfinite(problem.objective(np.ones(4)))


def test_repr_names_the_parts() -> None:
    assert repr(build()).startswith("Problem(20 rows, 4 coordinates, Logistic(), r1=L1(weight=0.01)")
    assert "a stream of rows" in repr(build([(X, Y)], None))


def test_solvers_table() -> None:
    table = spdpeg.list_solvers()
    assert {"spdpeg", "spdpeg-sc1", "spdpeg-sc2"} <= {row["name"] for row in table}
    for row in table:
        assert row["summary"]
        assert row["needs"]
        assert row["rate"]


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_other_penalties_on_the_same_data(intercept: bool, sparse: bool) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((30, 5)), rng.standard_normal(30)
    data = (sp.csr_array(X) if sparse else X, y, losses.Squared())
    first = spdpeg.Problem(*data, r1=penalties.L1(0.3), intercept=intercept, sample_weight=1.0 + np.arange(30))
    terms = {"r1": penalties.L2Squared(0.2), "r2": penalties.L1(0.7), "F": operators.FirstDifference()}
    assert first.view.penalty.joint is not None
    other = first.with_penalties(**terms)
    anew = spdpeg.Problem(*data, **terms, intercept=intercept, sample_weight=1.0 + np.arange(30))
    x = rng.standard_normal(first.n_coordinates)
    assert other.objective(x) == pytest.approx(anew.objective(x), rel=1e-15)
    assert other.view.rows.block.rows.values is first.view.rows.block.rows.values
    assert other.view.penalty.joint is None
    assert first.objective(x) == pytest.approx(first.view.mean_loss(x) + 0.3 * np.abs(x[:5]).sum(), rel=1e-15)
    with pytest.raises(InputError, match="r2 is 3"):
        first.with_penalties(r2=3)
    with pytest.raises(InputError, match="acts on 5 coordinates"):
        first.with_penalties(penalties.L1(np.ones(4)))
