"""Models at many weights: the largest weights worth trying, paths over two weights, and cross-validation."""

from .cross_validation import FusedLassoCV, FusedLogisticRegressionCV, GraphGuidedLogisticRegressionCV
from .largest import lam_max
from .path import EPS, Path, path

__all__ = [
    "EPS",
    "FusedLassoCV",
    "FusedLogisticRegressionCV",
    "GraphGuidedLogisticRegressionCV",
    "Path",
    "lam_max",
    "path",
]
