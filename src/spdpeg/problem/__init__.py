"""The problem: data, loss, penalties and operator put together, checked once, scaled in one place."""

from ..sums import RowStatistics
from .partitions import Partitions, Positive, columns_of, computed, of_each
from .problem import Problem
from .view import View

__all__ = ["Partitions", "Positive", "Problem", "RowStatistics", "View", "columns_of", "computed", "of_each"]
