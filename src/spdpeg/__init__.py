"""Structured-sparse learning at scale.

min_x   E_xi[ l(x, xi) ]   +   r1(x)   +   r2( F x ),     x in a convex set
        data/  losses/         penalties/      operators/
        '---------------------- problem.py ----------------------'
solved by   solvers/
"""

from . import data, datasets, losses, operators, penalties
from .errors import CacheWarning, DivergedError, InputError, SpdpegError, StateError, UnsupportedError
from .problem import Problem
from .result import History, Result, Status
from .solvers import bounds, solve, solvers
from .state import State

__version__ = "0.1.0"

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
    "bounds",
    "data",
    "datasets",
    "losses",
    "operators",
    "penalties",
    "solve",
    "solvers",
]
