"""The problem: data, loss, penalties and operator put together, checked once."""

from .checks import as_point
from .problem import Problem

__all__ = ["Problem", "as_point"]
