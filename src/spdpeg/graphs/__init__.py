"""Where F comes from: sparse inverse covariance selection, nearest neighbours, graphs of other libraries."""

from .neighbours import from_networkx, knn
from .precision import SparsePrecision
from .sics import sics

__all__ = ["SparsePrecision", "from_networkx", "knn", "sics"]
