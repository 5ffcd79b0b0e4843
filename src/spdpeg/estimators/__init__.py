"""scikit-learn estimators: the models that people search for.

They choose terms and solver. One algorithm lives here, the Newton method of multinomial.py, on top of `solve`.
"""

from .composite import CompositeClassifier, CompositeRegressor
from .fused import FusedLasso, FusedLogisticRegression, FusedSVC
from .generalized import GeneralizedLasso, GeneralizedLassoClassifier
from .graph_guided import GraphGuidedLogisticRegression, GraphGuidedRegressor
from .images import LowRankClassifier, LowRankRegressor, TotalVariationClassifier, TotalVariationRegressor
from .trend import TrendFilter

__all__ = [
    "CompositeClassifier",
    "CompositeRegressor",
    "FusedLasso",
    "FusedLogisticRegression",
    "FusedSVC",
    "GeneralizedLasso",
    "GeneralizedLassoClassifier",
    "GraphGuidedLogisticRegression",
    "GraphGuidedRegressor",
    "LowRankClassifier",
    "LowRankRegressor",
    "TotalVariationClassifier",
    "TotalVariationRegressor",
    "TrendFilter",
]
