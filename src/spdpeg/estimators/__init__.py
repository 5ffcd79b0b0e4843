"""scikit-learn estimators: the models that people search for.

They choose terms and solver, and hold no algorithm. fitting/ is the way from rows to a fitted model.
"""

from .choosing import (
    FusedCoxRegressionCV,
    FusedLassoCV,
    FusedLogisticRegressionCV,
    FusedSVCCV,
    GeneralizedLassoClassifierCV,
    GeneralizedLassoCV,
    GraphGuidedLogisticRegressionCV,
    GraphGuidedRegressorCV,
    GroupLassoClassifierCV,
    GroupLassoCV,
    LowRankClassifierCV,
    LowRankRegressorCV,
    SparseGroupLassoClassifierCV,
    SparseGroupLassoCV,
    TotalVariationClassifierCV,
    TotalVariationRegressorCV,
    TrendFilterCV,
)
from .composite import CompositeClassifier, CompositeRegressor
from .fused import FusedLasso, FusedLogisticRegression, FusedSVC
from .generalized import GeneralizedLasso, GeneralizedLassoClassifier
from .graph_guided import GraphGuidedLogisticRegression, GraphGuidedRegressor
from .groups import GroupLasso, GroupLassoClassifier, SparseGroupLasso, SparseGroupLassoClassifier
from .images import LowRankClassifier, LowRankRegressor, TotalVariationClassifier, TotalVariationRegressor
from .survival import FusedCoxRegression
from .trend import TrendFilter

__all__ = [
    "CompositeClassifier",
    "CompositeRegressor",
    "FusedCoxRegression",
    "FusedCoxRegressionCV",
    "FusedLasso",
    "FusedLassoCV",
    "FusedLogisticRegression",
    "FusedLogisticRegressionCV",
    "FusedSVC",
    "FusedSVCCV",
    "GeneralizedLasso",
    "GeneralizedLassoCV",
    "GeneralizedLassoClassifier",
    "GeneralizedLassoClassifierCV",
    "GraphGuidedLogisticRegression",
    "GraphGuidedLogisticRegressionCV",
    "GraphGuidedRegressor",
    "GraphGuidedRegressorCV",
    "GroupLasso",
    "GroupLassoCV",
    "GroupLassoClassifier",
    "GroupLassoClassifierCV",
    "LowRankClassifier",
    "LowRankClassifierCV",
    "LowRankRegressor",
    "LowRankRegressorCV",
    "SparseGroupLasso",
    "SparseGroupLassoCV",
    "SparseGroupLassoClassifier",
    "SparseGroupLassoClassifierCV",
    "TotalVariationClassifier",
    "TotalVariationClassifierCV",
    "TotalVariationRegressor",
    "TotalVariationRegressorCV",
    "TrendFilter",
    "TrendFilterCV",
]
