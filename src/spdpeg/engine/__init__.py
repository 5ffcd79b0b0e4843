"""Runs any method: `solve`, the one loop, budgets, rows to read, records, and the registry of methods.

| file | what |
|---|---|
| solve | the one call, and checks of its arguments |
| registry | methods by name |
| auto | the planner: which methods run if none is named, and why |
| stages | what is planned, and how one method hands over to the next |
| loop | steps, stopping, callbacks, interruption |
| recorder | records, certificates and their schedule, the result |
| budgets | what a run may spend, and its clock |
| memory | what a run is likely to need |
| feed, shuffle | the rows of the next steps: any order from finite data; from a stream, mixed in a buffer |
| progress | bars for terminals |
"""

from .recorder import Progress
from .registry import list_solvers
from .solve import quietly, solve

__all__ = ["Progress", "list_solvers", "quietly", "solve"]
