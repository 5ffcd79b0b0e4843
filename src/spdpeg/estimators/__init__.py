"""scikit-learn estimators: the models that people search for.

They choose terms and solver, and hold no algorithm. fitting/ is the way from rows to a fitted model.
"""

from .composite import CompositeClassifier, CompositeRegressor
from .cross_validation import FusedLassoCV, FusedLogisticRegressionCV, GraphGuidedLogisticRegressionCV
from .fused import FusedLasso, FusedLogisticRegression, FusedSVC
from .generalized import GeneralizedLasso, GeneralizedLassoClassifier
from .graph_guided import GraphGuidedLogisticRegression, GraphGuidedRegressor
from .groups import GroupLasso, GroupLassoClassifier, SparseGroupLasso, SparseGroupLassoClassifier
from .images import LowRankClassifier, LowRankRegressor, TotalVariationClassifier, TotalVariationRegressor
from .trend import TrendFilter

__all__ = [
    "CompositeClassifier",
    "CompositeRegressor",
    "FusedLasso",
    "FusedLassoCV",
    "FusedLogisticRegression",
    "FusedLogisticRegressionCV",
    "FusedSVC",
    "GeneralizedLasso",
    "GeneralizedLassoClassifier",
    "GraphGuidedLogisticRegression",
    "GraphGuidedLogisticRegressionCV",
    "GraphGuidedRegressor",
    "GroupLasso",
    "GroupLassoClassifier",
    "LowRankClassifier",
    "LowRankRegressor",
    "SparseGroupLasso",
    "SparseGroupLassoClassifier",
    "TotalVariationClassifier",
    "TotalVariationRegressor",
    "TrendFilter",
]
