"""A problem as methods, the planner and the certificate see it.

| file | what |
|---|---|
| view | `View`: the terms, and `moments` and `bounds`, which are measured once |
| rows | `rows`: rows, labels and weights, one by one or as sums |
| labels | labels and weights as a loss takes them |
| partitions, partition_tasks | rows on a cluster: the driver, and its workers |
| dask_collections | arrays and data frames of dask, partition by partition |
| regularization | `penalty`: r1 + r2(F .) as one function |
"""

from .dask_collections import columns_of, computed, of_each
from .partitions import Partitions, Positive
from .view import View

__all__ = ["Partitions", "Positive", "View", "columns_of", "computed", "of_each"]
