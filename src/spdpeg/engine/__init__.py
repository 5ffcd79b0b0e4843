"""What runs any method: `solve`, the one loop, budgets, rows to read, records, and the list of methods by name."""

from .recorder import Progress
from .registry import list_solvers
from .solve import quietly, solve

__all__ = ["Progress", "list_solvers", "quietly", "solve"]
