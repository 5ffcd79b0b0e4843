"""The problem: data, loss, penalties and operator put together, checked once."""

from .problem import Problem, as_point

__all__ = ["Problem", "as_point"]
