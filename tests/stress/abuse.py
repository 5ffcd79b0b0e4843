"""Bad input to everything public: an error of `spdpeg.errors` on one line, or a result; nothing else."""

import tempfile
import time
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import spdpeg
from spdpeg import data, datasets, files, graphs, losses, operators, paths, penalties
from spdpeg.errors import SpdpegError

from .fuzz import where
from .outcome import Outcome, Verdict

N, D = 12, 4


@cache
def _rows() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((N, D))


@cache
def _labels() -> np.ndarray:
    return np.where(_rows()[:, 0] > 0, 1.0, -1.0)


def _broken(kind: str, where_: str) -> Any:
    """A sparse matrix whose arrays do not fit together."""
    matrix = getattr(sp, f"{kind}_array")(_rows())
    if where_ == "index":
        matrix.indices = matrix.indices.copy()
        matrix.indices[3] = 10**6
    elif where_ == "negative":
        matrix.indices = matrix.indices.copy()
        matrix.indices[3] = -5
    else:
        matrix.indptr = matrix.indptr.copy()
        matrix.indptr[2] = 10**6
    return matrix


JUNK: tuple[Callable[[], Any], ...] = (
    lambda: None,
    lambda: "a",
    lambda: "",
    lambda: b"bytes",
    lambda: np.nan,
    lambda: np.inf,
    lambda: -np.inf,
    lambda: -1,
    lambda: 0,
    lambda: 1e308,
    lambda: 1e-320,
    lambda: 10**30,
    lambda: 1j,
    lambda: True,
    lambda: object(),
    lambda: object,
    list,
    dict,
    lambda: set(),
    lambda: (1, 2),
    lambda: [1, "a", None],
    lambda: [[1, 2], [3]],
    lambda: len,
    lambda: np.array([]),
    lambda: np.zeros((0, 3)),
    lambda: np.zeros((3, 0)),
    lambda: np.zeros((2, 2, 2)),
    lambda: np.full((N, D), np.nan),
    lambda: np.full(N, np.inf),
    lambda: np.full((N, D), 1e200),
    lambda: np.array(["a"] * N),
    lambda: np.array([None, "a"] * (N // 2), dtype=object),
    lambda: np.array([1, "a"] * (N // 2), dtype=object),
    lambda: np.zeros((N, D), dtype=complex),
    lambda: np.zeros((N, D), dtype="datetime64[s]"),
    lambda: np.array(3.0),
    lambda: np.ma.masked_invalid(_rows()),
    lambda: np.arange(N),
    lambda: np.full(N, 2**60 + 1),
    lambda: np.zeros(N, dtype=bool),
    lambda: sp.csr_array((0, 0)),
    lambda: sp.coo_array(_rows()),
    lambda: sp.csr_array(np.full((N, D), np.nan)),
    lambda: _broken("csr", "index"),
    lambda: _broken("csr", "negative"),
    lambda: _broken("csr", "indptr"),
    lambda: _broken("csc", "index"),
    lambda: _broken("csc", "indptr"),
    lambda: (row for row in _rows()),
    lambda: iter([(_rows(), _labels()), (None, None)]),
    lambda: penalties.L1,
    lambda: penalties.L1(-1.0),
    lambda: penalties.L1([1.0, 2.0]),
    lambda: penalties.L1("a"),
    lambda: penalties.Box(1.0, -1.0),
    lambda: penalties.SeparableSum([1, 2], [1, 1]),
    lambda: losses.Huber(-1.0),
    lambda: losses.Logistic,
    lambda: operators.GraphDifference([(0, 99)]),
    lambda: operators.GridDifference((3, 5)),
    lambda: operators.Stack(),
    lambda: operators.Difference(99),
    lambda: spdpeg.State("spdpeg", {}, 0),
    lambda: "/nonexistent/directory/file",
    lambda: "/dev/null",
    lambda: "/",
)


def _problem() -> spdpeg.Problem:
    return spdpeg.Problem(_rows(), _labels(), loss=losses.Logistic(), r1=penalties.L1(0.1))


def _solve(**arguments: Any) -> Any:
    problem = arguments.pop("problem", None) or _problem()
    return spdpeg.solve(problem, **{"max_passes": 2, **arguments})


def _make_and_solve(**arguments: Any) -> Any:
    given = {"X": _rows(), "y": _labels(), "loss": losses.Squared(), **arguments}
    return spdpeg.solve(spdpeg.Problem(**given), max_passes=2)


def _fit(**arguments: Any) -> Any:
    name = arguments.pop("name")
    given = {"X": _rows(), "y": _labels(), "sample_weight": None}
    given.update({key: arguments.pop(key) for key in list(arguments) if key in given})
    return getattr(spdpeg, name)(**{"max_passes": 2, **arguments}).fit(**given)


@cache
def _fitted() -> Any:
    return spdpeg.FusedLogisticRegression().fit(_rows(), _labels())


def _partial_fit(X: Any, y: Any, classes: Any, sample_weight: Any) -> Any:
    return spdpeg.FusedLogisticRegression().partial_fit(X, y, classes=classes, sample_weight=sample_weight)


def _stream(chunks: Any, n_features: Any, classes: Any) -> Any:
    stream = data.Stream(chunks, n_features, classes)
    return spdpeg.solve(spdpeg.Problem(stream, loss=losses.Logistic()), max_passes=1)


def _penalty(name: str, v: Any, step: Any, **parameters: Any) -> Any:
    penalty = getattr(penalties, name)(**parameters)
    return penalty.prox(v, step)


def _loss(name: str, t: Any, b: Any, **parameters: Any) -> Any:
    loss = getattr(losses, name)(**parameters)
    return loss.value(t, b), loss.derivative(t, b), loss.conjugate(t, b), loss.prox(t, b)


def _operator(F: Any, x: Any, n: Any) -> Any:
    return operators.as_operator(F).bind(n) @ x


def _save_and_load(estimator: Any, path: Any) -> Any:
    with tempfile.TemporaryDirectory() as directory:
        target = path if isinstance(path, str) and path.startswith("/") else str(Path(directory, "m"))
        if target in ("/dev/null", "/"):
            target = str(Path(directory, "m"))
        spdpeg.save_model(estimator, target)
        return spdpeg.load_model(target)


Recipe = tuple[str, Callable[..., Any], dict[str, Callable[[], Any]]]


def _value(value: Any) -> Callable[[], Any]:
    return lambda: value


def _recipes() -> list[Recipe]:
    """Name, function, and sound arguments."""
    X, y = _rows, _labels
    chunks = lambda: [(_rows(), _labels())]  # noqa: E731
    settings = {
        "solver": _value("auto"),
        "tol": _value(1e-3),
        "max_passes": _value(2),
        "fit_intercept": _value(True),
        "random_state": _value(0),
    }
    out: list[Recipe] = [
        (
            "solve",
            _solve,
            {
                "problem": _problem,
                "solver": _value("auto"),
                "max_passes": _value(2),
                "max_seconds": _value(5.0),
                "max_iterations": _value(100),
                "tol": _value(1e-3),
                "seed": _value(0),
                "batch_size": _value(1),
                "x0": lambda: np.zeros(D),
                "state": _value(None),
                "record_every": _value(1.0),
                "callback": _value(None),
            },
        ),
        (
            "Problem",
            _make_and_solve,
            {
                "X": X,
                "y": y,
                "loss": losses.Squared,
                "r1": lambda: penalties.L1(0.1),
                "r2": lambda: penalties.L1(0.1),
                "F": operators.FirstDifference,
                "domain": penalties.NonNegative,
                "sample_weight": lambda: np.ones(N),
                "intercept": _value(True),
            },
        ),
        ("objective", lambda x: _problem().objective(x), {"x": lambda: np.zeros(D)}),
        ("gradient", lambda x: _problem().gradient(x), {"x": lambda: np.zeros(D)}),
        (
            "certificate",
            lambda x, dual, slopes: _problem().certificate(x, dual, slopes),
            {"x": lambda: np.zeros(D), "dual": lambda: np.zeros(0), "slopes": _value(None)},
        ),
        ("predict", lambda X: _fitted().predict(X), {"X": X}),
        ("predict_proba", lambda X: _fitted().predict_proba(X), {"X": X}),
        ("partial_fit", _partial_fit, {"X": X, "y": y, "classes": lambda: [-1.0, 1.0], "sample_weight": _value(None)}),
        ("Stream", _stream, {"chunks": chunks, "n_features": _value(D), "classes": _value((-1.0, 1.0))}),
        ("as_source", data.as_source, {"X": X}),
        ("operator", _operator, {"F": lambda: np.eye(D), "x": lambda: np.ones(D), "n": _value(D)}),
        ("save_model", _save_and_load, {"estimator": _fitted, "path": _value("m")}),
        ("load_model", spdpeg.load_model, {"path": _value("/nonexistent")}),
        ("State.load", spdpeg.State.load, {"path": _value("/nonexistent")}),
        (
            "read",
            files.read,
            {"path": _value("/nonexistent"), "format": _value(None), "n_features": _value(3), "target": _value(None)},
        ),
        (
            "lam_max",
            paths.lam_max,
            {"estimator": spdpeg.FusedLasso, "X": X, "y": y, "sample_weight": _value(None), "ratio": _value(1.0)},
        ),
        (
            "path",
            paths.path,
            {
                "estimator": lambda: spdpeg.FusedLasso(max_passes=2),
                "X": X,
                "y": y,
                "n_lam1": _value(2),
                "n_lam2": _value(2),
                "eps": _value(0.1),
                "lam1": _value(None),
            },
        ),
        ("knn", graphs.knn, {"X": X, "k": _value(2), "metric": _value("cosine"), "sample_weight": _value(None)}),
        ("sics", graphs.sics, {"X": X, "weight": _value(0.5), "tol": _value(1e-3), "max_iterations": _value(10)}),
        (
            "piecewise_constant",
            datasets.piecewise_constant,
            {
                "n_samples": _value(10),
                "n_features": _value(10),
                "n_pieces": _value(3),
                "task": _value("regression"),
                "noise": _value(1.0),
                "seed": _value(0),
            },
        ),
        ("load", lambda name: datasets.load(name, "/nonexistent", download=False), {"name": _value("a9a")}),
    ]
    vector = {"v": lambda: np.ones(D), "step": _value(1.0)}
    for name, parameters in {
        "L1": {"weight": _value(1.0)},
        "L2Squared": {"weight": _value(1.0)},
        "ElasticNet": {"l1": _value(1.0), "l2": _value(1.0)},
        "FusedL1": {"l1": _value(1.0), "l2": _value(1.0)},
        "GroupL2": {"weight": _value(1.0), "groups": _value(2)},
        "Nuclear": {"weight": _value(1.0), "shape": _value((2, 2))},
        "LInf": {"weight": _value(1.0)},
        "HuberL1": {"weight": _value(1.0), "delta": _value(1.0)},
        "Hinge": {"labels": lambda: np.ones(D), "weight": _value(1.0)},
        "Quantile": {"labels": lambda: np.ones(D), "level": _value(0.5), "weight": _value(1.0)},
        "Box": {"lower": _value(0.0), "upper": _value(1.0)},
        "L2Ball": {"radius": _value(1.0)},
        "L1Ball": {"radius": _value(1.0)},
        "Simplex": {"total": _value(1.0)},
    }.items():
        out.append((name, _named(_penalty, name), {**vector, **parameters}))
    margins = {"t": lambda: np.zeros(3), "b": lambda: np.ones(3)}
    for name, parameters in {
        "Logistic": {},
        "Squared": {},
        "SquaredHinge": {},
        "SmoothedHinge": {"width": _value(1.0)},
        "Huber": {"delta": _value(1.0)},
        "Hinge": {},
        "Quantile": {"level": _value(0.5)},
    }.items():
        out.append((name, _named(_loss, name), {**margins, **parameters}))
    sample = {"X": X, "y": y, "sample_weight": lambda: np.ones(N)}
    weights = {"lam1": _value(0.1), "lam2": _value(0.1)}
    for name, parameters in {
        "FusedLasso": weights,
        "FusedLogisticRegression": weights,
        "FusedSVC": weights,
        "GeneralizedLasso": {**weights, "F": lambda: np.eye(D)},
        "GraphGuidedRegressor": {**weights, "structure": lambda: [(0, 1)], "r1": _value("l1")},
        "LowRankRegressor": {**weights, "shape": _value((2, 2))},
        "TotalVariationClassifier": {**weights, "shape": _value((2, 2))},
        "TrendFilter": {"order": _value(1), "lam2": _value(0.1)},
        "CompositeRegressor": {"loss": losses.Huber, "r1": penalties.L1, "r2": penalties.L1},
    }.items():
        out.append((name, _estimator(name), {**sample, **parameters, **settings}))
    return out


def _named(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    return lambda **arguments: function(name, **arguments)


def _estimator(name: str) -> Callable[..., Any]:
    return lambda **arguments: _fit(name=name, **arguments)


def run(seed: int) -> Outcome:
    """Call something with one or two arguments replaced by what does not belong there."""
    rng = np.random.default_rng([5, seed])
    recipes = _recipes()
    name, function, sound = recipes[int(rng.integers(len(recipes)))]
    bad = [
        str(key) for key in rng.choice(list(sound), size=min(len(sound), 1 + int(rng.random() < 0.2)), replace=False)
    ]
    arguments = {key: make() for key, make in sound.items()}
    for key in bad:
        arguments[key] = JUNK[int(rng.integers(len(JUNK)))]()
    shown = ", ".join(f"{key}={_short(arguments[key])}" for key in bad)
    outcome = Outcome(seed, Verdict.PASSED, case=f"seed {seed}: {name}({shown})", kinds={"function": name})
    begun = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(**arguments)
    except SpdpegError as error:
        outcome.verdict, outcome.reason = Verdict.REFUSED, str(error)
        if "\n" in str(error) or not str(error):
            outcome.verdict = Verdict.RAW
    except (NotFittedError, OSError) as error:  # scikit-learn's own, and what the system says of a path
        outcome.verdict, outcome.reason = Verdict.REFUSED, str(error)
    except Exception as error:
        outcome.verdict, outcome.reason = Verdict.RAW, where(error)
    outcome.seconds = time.perf_counter() - begun
    return outcome


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    shape = f" {np.shape(value)}" if isinstance(value, np.ndarray) else ""
    return text[:70] + shape
