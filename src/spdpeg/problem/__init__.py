"""The problem: data, loss, penalties and operator put together, checked once, scaled in one place."""

from ..sums import RowStatistics
from .problem import Problem

__all__ = ["Problem", "RowStatistics"]
