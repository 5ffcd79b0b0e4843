"""The problem: data, loss, penalties and operator put together, checked once, scaled in one place."""

from .problem import Problem
from .statistics import RowStatistics

__all__ = ["Problem", "RowStatistics"]
