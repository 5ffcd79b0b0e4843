"""From rows and a model to solutions: one fit, a fit that goes on with a stream, and fits at many weights."""

from .flow import Solution, fit, keep
from .folds import FoldMoments
from .outputs import Coupled
from .plan import (
    Data,
    Joint,
    Model,
    Plan,
    Settings,
    Start,
    Terms,
    check_settings,
    derive,
    in_memory,
    penalties,
    plan,
    rows,
)
from .refit import Basis, curve_basis, piece_basis
from .stream import learn
from .walk import walk
from .weights import EPS, chosen, lam_max, least_scale, suggested, typical

__all__ = [
    "EPS",
    "Basis",
    "Coupled",
    "Data",
    "FoldMoments",
    "Joint",
    "Model",
    "Plan",
    "Settings",
    "Solution",
    "Start",
    "Terms",
    "check_settings",
    "chosen",
    "curve_basis",
    "derive",
    "fit",
    "in_memory",
    "keep",
    "lam_max",
    "learn",
    "least_scale",
    "penalties",
    "piece_basis",
    "plan",
    "rows",
    "suggested",
    "typical",
    "walk",
]
