"""What a method, the planner and the certificate see of a problem.

| file | what |
|---|---|
| view | `View`: the terms of the formula, and the four objects below |
| rows | `rows`: rows, labels and weights, one by one or as sums |
| moments | `moments`: the mean squared loss from second moments, kept |
| bounds | `bounds`: sizes that steps are chosen by |
| regularization | `penalty`: r1 + r2(F .) as one function |
"""

from .partitions import Partitions, Positive, columns_of, computed, of_each
from .view import View

__all__ = ["Partitions", "Positive", "View", "columns_of", "computed", "of_each"]
