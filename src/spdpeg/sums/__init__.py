"""Sums over rows: all that the exact methods and the certificate see of the data.

A `Sweep` at a point holds the mean loss, its gradient and its curvature, all from one read. What belongs to single rows
(margins, slopes, curvatures) stays with the rows.

| file | what |
|---|---|
| base | the protocol, for people who keep rows somewhere else |
| local | sums over blocks of rows in the memory of this process |
| out_of_core | the same for rows that are read again each time: one number stays with each of them |
| blocks | rows cut into blocks, a sample of them, and the sums over one block |
| collapse | columns added up over pieces |
| threads | blocks worked on by several threads, with the same bits for any number of them |
| moments | second moments, which are all that the squared loss depends on |
| cluster | sums over partitions on the workers of a dask cluster |
| rounds | tasks on a cluster, added up by a tree; what went wrong, in a sentence |
| tasks | what a worker does with a partition |
"""

from .base import Evaluation, RowStatistics, Sums, Sweep, Token, evaluated_rows
from .local import AtMinimum, LocalSums, ModelMinimum
from .out_of_core import OutOfCoreSums

__all__ = [
    "AtMinimum",
    "Evaluation",
    "LocalSums",
    "ModelMinimum",
    "OutOfCoreSums",
    "RowStatistics",
    "Sums",
    "Sweep",
    "Token",
    "evaluated_rows",
]
