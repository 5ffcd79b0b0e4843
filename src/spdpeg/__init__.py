"""Structured-sparse learning at scale.

min_x   E_xi[ l(x, xi) ]   +   r1(x)   +   r2( F x ),     x in a convex set
        data/  losses/         penalties/      operators/
        '---------------------- problem/ -----------------------'
solved by   solvers/   exact/   sampled_newton/      run by engine/
proved by   certificate/
used through   estimators/   signals/   paths/   cli/   reproduce/
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import data, datasets, losses, operators, penalties, plots, solvers, theory
    from . import estimators as estimators
    from . import files as files
    from . import graphs as graphs
    from . import model_file as model_file
    from . import paths as paths
    from . import signals as signals
    from .engine.registry import list_solvers
    from .engine.solve import solve
    from .errors import (
        CacheWarning,
        ChoiceWarning,
        ClusterError,
        DivergedError,
        FarFromOptimalWarning,
        InputError,
        OrderWarning,
        SpdpegError,
        StateError,
        UnsupportedError,
    )
    from .estimators import *  # noqa: F403
    from .model_file import load_model as load_model
    from .model_file import save_model as save_model
    from .paths import lam_max as lam_max
    from .paths import path as path
    from .problem import Problem
    from .result import History, Result, Status
    from .signals import denoise as denoise
    from .state import State

__version__ = "0.1.0"

_LAZY: dict[str, tuple[str, ...]] = {
    "data": (),
    "datasets": (),
    "engine": ("list_solvers", "solve"),
    "errors": (
        "CacheWarning",
        "ChoiceWarning",
        "ClusterError",
        "DivergedError",
        "FarFromOptimalWarning",
        "InputError",
        "OrderWarning",
        "SpdpegError",
        "StateError",
        "UnsupportedError",
    ),
    "kernels": (),
    "losses": (),
    "operators": (),
    "penalties": (),
    "plots": (),
    "problem": ("Problem",),
    "result": ("History", "Result", "Status"),
    "solvers": (),
    "state": ("State",),
    "theory": (),
    "estimators": (
        "CompositeClassifier",
        "CompositeRegressor",
        "FusedCoxRegression",
        "FusedCoxRegressionCV",
        "FusedLasso",
        "FusedLassoCV",
        "FusedLogisticRegression",
        "FusedLogisticRegressionCV",
        "FusedSVC",
        "FusedSVCCV",
        "GeneralizedLasso",
        "GeneralizedLassoCV",
        "GeneralizedLassoClassifier",
        "GeneralizedLassoClassifierCV",
        "GraphGuidedLogisticRegression",
        "GraphGuidedLogisticRegressionCV",
        "GraphGuidedRegressor",
        "GraphGuidedRegressorCV",
        "GroupLasso",
        "GroupLassoCV",
        "GroupLassoClassifier",
        "GroupLassoClassifierCV",
        "LowRankClassifier",
        "LowRankClassifierCV",
        "LowRankRegressor",
        "LowRankRegressorCV",
        "SparseGroupLasso",
        "SparseGroupLassoCV",
        "SparseGroupLassoClassifier",
        "SparseGroupLassoClassifierCV",
        "TotalVariationClassifier",
        "TotalVariationClassifierCV",
        "TotalVariationRegressor",
        "TotalVariationRegressorCV",
        "TrendFilter",
        "TrendFilterCV",
    ),
    "paths": (
        "lam_max",
        "path",
    ),
    "model_file": ("load_model", "save_model"),
    "signals": ("denoise",),
    "files": (),
    "graphs": (),
}
"""Parts and their public names, imported when they are first asked for: NumPy and its family take seconds, in which the
command line must answer to Ctrl-C already, and scikit-learn takes longer than all the rest."""

__all__ = [
    "CacheWarning",
    "ChoiceWarning",
    "ClusterError",
    "DivergedError",
    "FarFromOptimalWarning",
    "History",
    "InputError",
    "OrderWarning",
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
    "estimators",
    "files",
    "graphs",
    "model_file",
    "paths",
    "signals",
    *(name for part in ("estimators", "model_file", "paths", "signals") for name in _LAZY[part]),
]


def __getattr__(name: str) -> Any:
    for part, names in _LAZY.items():
        if name == part or name in names:
            module = import_module(f".{part}", __name__)
            found = module if name == part else getattr(module, name)
            globals()[name] = found
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
