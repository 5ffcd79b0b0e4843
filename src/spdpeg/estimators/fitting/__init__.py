"""From rows and a model to solutions: one fit, a fit that goes on with a stream, and fits at many weights."""

from .flow import Data, Plan, Solution, Start, Terms, derive, fit, keep, penalties, plan, rows
from .folds import FoldMoments
from .grids import EPS, chosen
from .largest import lam_max, suggested, typical
from .refit import Basis, curve_basis, piece_basis
from .settings import Settings, check_settings
from .stream import learn
from .walk import walk

__all__ = [
    "EPS",
    "Basis",
    "Data",
    "FoldMoments",
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
    "keep",
    "lam_max",
    "learn",
    "penalties",
    "piece_basis",
    "plan",
    "rows",
    "suggested",
    "typical",
    "walk",
]
