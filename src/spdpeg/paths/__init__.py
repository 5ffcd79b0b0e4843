"""Models at many weights: the largest weights worth trying, paths over two weights, and cross-validation."""

from ..estimators import FusedLassoCV, FusedLogisticRegressionCV, GraphGuidedLogisticRegressionCV
from ..estimators.fitting import EPS, lam_max
from .path import Path, path

__all__ = [
    "EPS",
    "FusedLassoCV",
    "FusedLogisticRegressionCV",
    "GraphGuidedLogisticRegressionCV",
    "Path",
    "lam_max",
    "path",
]
