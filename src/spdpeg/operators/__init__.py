"""Linear maps F: one file per family. `docs/extending.md` shows how to add one."""

from .base import Operator
from .difference import Difference, FirstDifference
from .graph import GraphDifference
from .grid import GridDifference
from .identity import Empty, Identity
from .matrix import Matrix, as_operator
from .repeated import Repeated
from .stack import Stack

__all__ = [
    "Difference",
    "Empty",
    "FirstDifference",
    "GraphDifference",
    "GridDifference",
    "Identity",
    "Matrix",
    "Operator",
    "Repeated",
    "Stack",
    "as_operator",
]
