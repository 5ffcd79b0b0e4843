"""Everything public, each with arguments that are sound."""

import inspect
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pyarrow

import spdpeg
from spdpeg import data, datasets, estimators, files, graphs, losses, operators, paths, penalties, solvers, theory

from . import files as samples
from .junk import D, N, labels, rows

Recipe = tuple[str, Callable[..., Any], dict[str, Any]]
"""Name, function and sound arguments; a function among these makes the argument anew for each call."""

_PASSES = {"max_passes": 2}
_ROOM = tempfile.TemporaryDirectory(prefix="stress-")
"""For sound files, as long as the process lives."""


@cache
def recipes() -> list[Recipe]:
    """All of them; each estimator twice, for most of the input is theirs."""
    models = [_model(name) for name in estimators.__all__]
    return [*_functions(), *_penalties(), *_losses(), *_operators(), *_methods(), *_bounds(), *models, *models]


def _functions() -> list[Recipe]:
    X, y = rows, labels
    sample = {"X": X, "y": y, "sample_weight": None}
    table = {"target": None, "drop": (), "columns": None, "labelled": True, "categorical": ()}
    columns = {"format": None, "n_features": 5, "target": None, "drop": (), "categorical": {}}
    drawn = {"n_samples": 10, "n_features": 10, "task": "regression", "noise": 1.0, "seed": 0}
    grid = {"n_lam1": 2, "n_lam2": 2, "eps": 0.1, "lam1": None, "lam2": None}
    return [
        ("solve", spdpeg.solve, {"problem": _problem, "x0": lambda: np.zeros(D), **_solving()}),
        ("Problem", _solved, {**sample, "y": y, **_terms(), "intercept": True, "sample_weight": lambda: np.ones(N)}),
        ("objective", lambda x: _problem().objective(x), {"x": lambda: np.zeros(D)}),
        ("gradient", lambda x: _problem().gradient(x), {"x": lambda: np.zeros(D)}),
        ("split", lambda x: _problem().split(x), {"x": lambda: np.zeros(D)}),
        ("join", lambda x, level: _problem().join(x, level), {"x": lambda: np.ones(D), "level": 0}),
        (
            "certificate",
            lambda x, dual, slopes: _problem().certificate(x, dual, slopes),
            {"x": lambda: np.zeros(D), "dual": lambda: np.zeros(0), "slopes": None},
        ),
        ("predict", lambda X: _fitted().predict(X), {"X": X}),
        ("predict_proba", lambda X: _fitted().predict_proba(X), {"X": X}),
        ("decision_function", lambda X: _fitted().decision_function(X), {"X": X}),
        ("accuracy", lambda **given: _fitted().score(**given), sample),
        ("explained", lambda **given: _fitted("FusedLasso").score(**given), sample),
        (
            "partial_fit",
            lambda **given: spdpeg.FusedLogisticRegression().partial_fit(**given),
            {**sample, "classes": lambda: [-1.0, 1.0]},
        ),
        ("set_params", lambda **given: _fitted().set_params(**given), {"lam1": 0.1, "tol": 1e-3}),
        ("Stream", _streamed, {"chunks": lambda: [(rows(), labels())], "n_features": D, "classes": (-1.0, 1.0)}),
        ("as_source", data.as_source, {"X": X}),
        ("Dense", data.Dense, {"X": X}),
        ("CSR", data.CSR, {"data": [1.0], "indices": [0], "indptr": [0, 1], "n_features": D}),
        ("from_arrow", data.from_arrow, {"source": _table, **table}),
        ("open_parquet", data.open_parquet, {"source": lambda: _file("parquet"), **table}),
        ("open_csr", data.open_csr, {"directory": _directory}),
        ("open_rows", data.open_rows, {"directory": _directory}),
        ("write_csr", _written, {"chunks": lambda: [(rows(), labels())]}),
        ("save_model", _saved, {"estimator": _fitted, "path": "m"}),
        ("load_model", spdpeg.load_model, {"path": lambda: _file("model")}),
        ("State.load", spdpeg.State.load, {"path": lambda: _file("state")}),
        ("read", files.read, {"path": lambda: _file("csv"), **columns}),
        (
            "stream",
            lambda **given: list(files.stream(**given)),
            {"path": lambda: _file("csv"), "rows_per_chunk": 3, **columns},
        ),
        ("read_signal", files.read_signal, {"path": lambda: _file("csv"), "column": "a"}),
        ("lam_max", paths.lam_max, {"estimator": spdpeg.FusedLasso, **sample, "ratio": 1.0}),
        ("path", paths.path, {"estimator": lambda: spdpeg.FusedLasso(max_passes=2), **sample, **grid}),
        ("Path.at", lambda i, j: _path().at(i, j), {"i": 0, "j": 0}),
        ("Path.scores", lambda **given: _path().scores(**given), {"X": X, "y": y, "scoring": None}),
        (
            "denoise",
            spdpeg.denoise,
            {
                "y": y,
                "lam2": 0.5,
                "lam1": 0.1,
                "order": 1,
                "structure": None,
                "weights": None,
                "isotropic": False,
                "sigma": None,
                "folds": 2,
                "tol": None,
            },
        ),
        ("knn", graphs.knn, {"X": X, "k": 2, "metric": "cosine", "sample_weight": None}),
        (
            "sics",
            graphs.sics,
            {"X": X, "weight": 0.5, "sample_weight": None, "standardize": False, "tol": 1e-3, "max_iterations": 10},
        ),
        ("sics of a covariance", graphs.sics, {"covariance": lambda: np.eye(D), "weight": 0.5, "max_nodes": 100}),
        ("from_networkx", graphs.from_networkx, {"graph": _nodes, "nodes": None, "weight": None}),
        ("piecewise_constant", datasets.piecewise_constant, {**drawn, "n_pieces": 3}),
        ("clustered_graph", datasets.clustered_graph, {**drawn, "n_clusters": 3}),
        (
            "load",
            partial(datasets.load, download=False),
            {"name": "digits", "data_dir": None, "positive": None, "unit_rows": None},
        ),
        ("graph", datasets.graph, {"data": "digits", "data_dir": None, "form": None}),
    ]


def _problem() -> spdpeg.Problem:
    return spdpeg.Problem(rows(), labels(), loss=losses.Logistic(), r1=penalties.L1(0.1))


def _solving() -> dict[str, Any]:
    """Arguments of `solve`."""
    return {
        "solver": "spdpeg",
        "max_passes": 2,
        "max_seconds": 5.0,
        "max_iterations": 100,
        "tol": 1e-3,
        "seed": 0,
        "batch_size": 1,
        "state": None,
        "record_every": 1.0,
        "callback": None,
    }


def _terms() -> dict[str, Any]:
    """Arguments of `Problem`."""
    return {
        "loss": losses.Squared,
        "r1": lambda: penalties.L1(0.1),
        "r2": lambda: penalties.L1(0.1),
        "F": operators.FirstDifference,
        "domain": penalties.NonNegative,
    }


def _solved(**given: Any) -> Any:
    return spdpeg.solve(spdpeg.Problem(**given), max_passes=2)


@cache
def _fitted(name: str = "FusedLogisticRegression") -> Any:
    return getattr(spdpeg, name)().fit(rows(), labels())


@cache
def _path() -> Any:
    return paths.path(spdpeg.FusedLasso(max_passes=2), rows(), labels(), n_lam1=2, n_lam2=2)


@cache
def _file(kind: str) -> str:
    path = Path(_ROOM.name, f"sound.{kind}")
    path.write_bytes(samples.original(kind))
    return str(path)


@cache
def _directory() -> str:
    path = Path(_ROOM.name, "set")
    data.write_csr(path, [(rows(), labels())])
    return str(path)


def _table() -> Any:
    return pyarrow.table({f"c{j}": column for j, column in enumerate(rows().T)})


def _nodes() -> Any:
    return networkx.path_graph(D)


def _streamed(chunks: Any, n_features: Any, classes: Any) -> Any:
    stream = data.Stream(chunks, n_features, classes)
    return spdpeg.solve(spdpeg.Problem(stream, loss=losses.Logistic()), max_passes=1)


def _written(chunks: Any) -> Any:
    with tempfile.TemporaryDirectory() as directory:
        data.write_csr(Path(directory, "set"), chunks)
        return data.open_csr(Path(directory, "set"))


def _saved(estimator: Any, path: Any) -> Any:
    """To that path, if it is of no file that is there."""
    with tempfile.TemporaryDirectory() as directory:
        spare = str(Path(directory, "m"))
        target = spare if isinstance(path, str) and Path(path).exists() else path
        spdpeg.save_model(estimator, spare if isinstance(target, str) and target == "m" else target)
        return spdpeg.load_model(spare)


def _penalties() -> list[Recipe]:
    needed = {
        "GroupL2": {"groups": 2},
        "Nuclear": {"weight": 1.0, "shape": (2, 2)},
        "Hinge": {"labels": lambda: np.ones(D)},
        "Quantile": {"labels": lambda: np.ones(D)},
        "SeparableSum": {"parts": lambda: [penalties.L1(), penalties.L1()], "sizes": (2, 2)},
    }
    point = {"v": lambda: np.ones(D), "step": 1.0}
    out: list[Recipe] = []
    for name in set(penalties.__all__) - {"Penalty", "constrain"}:
        given = {**_defaults(getattr(penalties, name)), **needed.get(name, {})}
        out.append((f"penalties.{name}", partial(_penalised, name), {**point, **given}))
    return [
        *sorted(out, key=lambda recipe: recipe[0]),
        ("constrain", penalties.constrain, {"penalty": penalties.L1, "domain": penalties.NonNegative}),
    ]


def _penalised(name: str, v: Any, step: Any, **parameters: Any) -> Any:
    penalty = getattr(penalties, name)(**parameters)
    return penalty.prox(v, step), penalty.dual_prox(v, step), penalty.value(v), penalty.conjugate(v)


def _losses() -> list[Recipe]:
    margins = {"t": lambda: np.zeros(3), "b": lambda: np.ones(3)}
    return [
        (f"losses.{name}", partial(_lost, name), {**margins, **_defaults(getattr(losses, name))})
        for name in losses.__all__
        if name not in ("Loss", "Zero")
    ]


def _lost(name: str, t: Any, b: Any, **parameters: Any) -> Any:
    loss = getattr(losses, name)(**parameters)
    return loss.value(t, b), loss.derivative(t, b), loss.conjugate(t, b), loss.prox(t, b)


def _operators() -> list[Recipe]:
    needed: dict[str, dict[str, Any]] = {
        "GraphDifference": {"edges": lambda: [(0, 1), (1, 2)]},
        "GridDifference": {"shape": (2, 2)},
        "Matrix": {"F": lambda: np.eye(D)},
        "Repeated": {"operator": operators.Identity},
        "as_operator": {"F": lambda: np.eye(D)},
    }
    given = {"x": lambda: np.ones(D), "n": D}
    return [
        (f"operators.{name}", partial(_operated, name), {**given, **_defaults(getattr(operators, name)), **more})
        for name in operators.__all__
        if name not in ("Operator", "Empty", "Stack")
        for more in [needed.get(name, {})]
    ]


def _operated(name: str, x: Any, n: Any, **parameters: Any) -> Any:
    F = getattr(operators, name)(**parameters).bind(n)
    return F @ x, F.squared_norm


def _methods() -> list[Recipe]:
    """Solvers, with their parameters."""
    out: list[Recipe] = []
    for name in solvers.__all__:
        method = getattr(solvers, name)
        if isinstance(method, type) and hasattr(method, "about") and (given := _defaults(method)):
            out.append((f"solvers.{name}", partial(_run, name), given))
    return out


def _run(name: str, **parameters: Any) -> Any:
    terms = {"r1": penalties.L2Squared(0.1), "r2": penalties.L1(0.1), "F": operators.FirstDifference()}
    problem = spdpeg.Problem(rows(), labels(), loss=losses.Logistic(), **terms)
    return spdpeg.solve(problem, getattr(solvers, name)(**parameters), **_PASSES)


def _bounds() -> list[Recipe]:
    """The theory's, all of whose constants are positive numbers."""
    names = ("violation", "weighted_violation", "convex", "strongly_convex", "strongly_convex_weighted")
    return [
        (f"theory.{name}", getattr(theory, name), dict.fromkeys(inspect.signature(getattr(theory, name)).parameters, 1))
        for name in names
    ]


def _model(name: str) -> Recipe:
    """An estimator: everything that it can be told."""
    special: dict[str, Any] = {
        "F": lambda: np.eye(D),
        "structure": lambda: [(0, 1)],
        "shape": (2, 2),
        "groups": 2,
        "cv": 2,
        "n_lam1": 2,
        "n_lam2": 2,
        "max_passes": 2,
        "loss": losses.Logistic if name.endswith("Classifier") else losses.Huber,
        "r1": "l1" if name.startswith("GraphGuided") else penalties.L1,
        "r2": penalties.L1,
    }
    defaults = getattr(spdpeg, name)().get_params(deep=False)
    parameters = {key: special.get(key, value) for key, value in defaults.items()}
    trend = {"X": lambda: np.arange(float(N))[:, None]} if name.startswith("TrendFilter") else {"X": rows}
    y = (lambda: np.column_stack([np.arange(float(N)), labels() > 0.0])) if "Cox" in name else labels
    return name, partial(_fit, name), {**trend, "y": y, "sample_weight": lambda: np.ones(N), **parameters}


def _fit(name: str, X: Any, y: Any, sample_weight: Any, **parameters: Any) -> Any:
    return getattr(spdpeg, name)(**parameters).fit(X, y, sample_weight=sample_weight)


def _defaults(function: Callable[..., Any]) -> dict[str, Any]:
    """Arguments that have a default, which is sound."""
    return {
        name: parameter.default
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.default is not parameter.empty
    }
