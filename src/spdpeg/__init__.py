"""Structured-sparse learning at scale.

min_x   E_xi[ l(x, xi) ]   +   r1(x)   +   r2( F x ),     x in a convex set
        data/  losses/         penalties/      operators/
        '---------------------- problem.py ----------------------'
solved by   solvers/   newton/   run by engine/
proved by   certificate.py
used through   estimators/   paths/   cli/   reproduce/
"""

from importlib import import_module
from typing import Any

from . import data, datasets, losses, operators, penalties, plots, solvers, theory
from .engine import list_solvers, solve
from .errors import CacheWarning, DivergedError, InputError, SpdpegError, StateError, UnsupportedError
from .problem import Problem
from .result import History, Result, Status
from .state import State

__version__ = "0.1.0"

_LAZY = {
    "estimators": (
        "CompositeClassifier",
        "CompositeRegressor",
        "FusedLasso",
        "FusedLassoCV",
        "FusedLogisticRegression",
        "FusedLogisticRegressionCV",
        "FusedSVC",
        "GeneralizedLasso",
        "GeneralizedLassoClassifier",
        "GraphGuidedLogisticRegression",
        "GraphGuidedLogisticRegressionCV",
        "GraphGuidedRegressor",
        "LowRankClassifier",
        "LowRankRegressor",
        "TotalVariationClassifier",
        "TotalVariationRegressor",
        "TrendFilter",
    ),
    "paths": (
        "lam_max",
        "path",
    ),
    "model_file": ("load_model", "save_model"),
    "files": (),
    "graphs": (),
}
"""Parts and names that are imported when they are first asked for: scikit-learn takes longer than all the rest."""

__all__ = [
    "CacheWarning",
    "DivergedError",
    "History",
    "InputError",
    "Problem",
    "Result",
    "SpdpegError",
    "State",
    "StateError",
    "Status",
    "UnsupportedError",
    "data",
    "datasets",
    "list_solvers",
    "losses",
    "operators",
    "penalties",
    "plots",
    "solve",
    "solvers",
    "theory",
    *_LAZY,
    *(name for names in _LAZY.values() for name in names),
]


def __getattr__(name: str) -> Any:
    for part, names in _LAZY.items():
        if name == part or name in names:
            module = import_module(f".{part}", __name__)
            return module if name == part else getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
