"""A problem as methods, the planner and the certificate see it.

| file | what |
|---|---|
| view | `View`: the terms, and `moments` and `bounds`, which are measured once |
| rows | `rows`: rows, labels and weights, one by one or as sums |
| labels | labels and weights as a loss takes them |
| partitions | rows on a cluster |
| regularization | `penalty`: r1 + r2(F .) as one function |
"""

from .partitions import Partitions, Positive, columns_of, computed, of_each
from .view import View

__all__ = ["Partitions", "Positive", "View", "columns_of", "computed", "of_each"]
