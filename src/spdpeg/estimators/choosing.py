"""Models that choose their weights."""

from dataclasses import dataclass

from .cross_validation import ChosenWeight, ChosenWeights
from .fused import FusedLasso, FusedLogisticRegression, FusedSVC
from .generalized import GeneralizedLasso, GeneralizedLassoClassifier
from .graph_guided import GraphGuidedLogisticRegression, GraphGuidedRegressor
from .groups import GroupLasso, GroupLassoClassifier, SparseGroupLasso, SparseGroupLassoClassifier
from .images import LowRankClassifier, LowRankRegressor, TotalVariationClassifier, TotalVariationRegressor
from .survival import FusedCoxRegression
from .trend import TrendFilter


@dataclass(eq=False, repr=False)
class FusedLassoCV(ChosenWeights, FusedLasso):
    """Fused lasso whose weights lam1 and lam2 are chosen from the data.

    See `FusedLasso` for the model.

    See Also
    --------
    FusedLasso : The model at given weights.
    spdpeg.path : All fits on a grid of weights.

    Examples
    --------
    >>> from spdpeg import datasets
    >>> from spdpeg.estimators import FusedLassoCV
    >>> X, y, truth = datasets.piecewise_constant(200, 30, task="regression")
    >>> model = FusedLassoCV(n_lam1=5, n_lam2=5, cv=3, random_state=0).fit(X, y)
    >>> model.mean_scores_.shape, model.lam1_ in model.lam1_grid_
    ((5, 5), True)
    """

    _model = FusedLasso


@dataclass(eq=False, repr=False)
class FusedLogisticRegressionCV(ChosenWeights, FusedLogisticRegression):
    """Fused logistic regression whose weights lam1 and lam2 are chosen from the data.

    See `FusedLogisticRegression` for the model.

    See Also
    --------
    FusedLogisticRegression : The model at given weights.
    spdpeg.path : All fits on a grid of weights.

    Examples
    --------
    >>> from spdpeg import datasets
    >>> from spdpeg.estimators import FusedLogisticRegressionCV
    >>> X, y, truth = datasets.piecewise_constant(300, 20)
    >>> model = FusedLogisticRegressionCV(n_lam1=3, n_lam2=3, cv=3, random_state=0).fit(X, y)
    >>> model.scores_.shape
    (3, 3, 3)
    """

    _model = FusedLogisticRegression


@dataclass(eq=False, repr=False)
class FusedSVCCV(ChosenWeights, FusedSVC):
    """Fused support vector classifier whose weights lam1 and lam2 are chosen from the data.

    See `FusedSVC` for the model. There are no probabilities, so that by default the accuracy on rows held out chooses.

    See Also
    --------
    FusedSVC : The model at given weights.
    spdpeg.path : All fits on a grid of weights.

    Examples
    --------
    >>> from spdpeg import datasets
    >>> from spdpeg.estimators import FusedSVCCV
    >>> X, y, truth = datasets.piecewise_constant(100, 8)
    >>> model = FusedSVCCV(n_lam1=3, n_lam2=3, cv=3).fit(X, y)
    >>> model.lam2_ in model.lam2_grid_
    True
    """

    _model = FusedSVC


@dataclass(eq=False, repr=False)
class FusedCoxRegressionCV(ChosenWeights, FusedCoxRegression):
    """Fused Cox regression whose weights lam1 and lam2 are chosen from the data.

    See `FusedCoxRegression` for the model. Every fold has its part of the events. Rows held out are judged by their own
    partial likelihood.

    See Also
    --------
    FusedCoxRegression : The model at given weights.
    spdpeg.path : All fits on a grid of weights.

    Examples
    --------
    >>> import numpy as np
    >>> from spdpeg.estimators import FusedCoxRegressionCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((150, 8))
    >>> times = rng.exponential(np.exp(-X @ [0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]))
    >>> model = FusedCoxRegressionCV(n_lam1=3, n_lam2=3, cv=3).fit(X, times)
    >>> model.lam2_ in model.lam2_grid_
    True
    """

    _model = FusedCoxRegression


@dataclass(eq=False, repr=False)
class GraphGuidedLogisticRegressionCV(ChosenWeights, GraphGuidedLogisticRegression):
    """Graph-guided logistic regression whose weights lam1 and lam2 are chosen from the data.

    See `GraphGuidedLogisticRegression` for the model. A graph that is learned from the data is learned again in each
    fold, from the rows that are not held out.

    See Also
    --------
    GraphGuidedLogisticRegression : The model at given weights.
    spdpeg.path : All fits on a grid of weights.

    Examples
    --------
    >>> from spdpeg import datasets
    >>> from spdpeg.estimators import GraphGuidedLogisticRegressionCV
    >>> X, y, truth = datasets.piecewise_constant(300, 10)
    >>> model = GraphGuidedLogisticRegressionCV("chain", n_lam1=3, n_lam2=3, cv=3, random_state=0).fit(X, y)
    >>> model.lam2_ in model.lam2_grid_
    True
    """

    _model = GraphGuidedLogisticRegression


@dataclass(eq=False, repr=False)
class GraphGuidedRegressorCV(ChosenWeights, GraphGuidedRegressor):
    """Graph-guided least squares whose weights lam1 and lam2 are chosen from the data.

    See `GraphGuidedRegressor` for the model.

    See Also
    --------
    GraphGuidedRegressor : The model at given weights.
    spdpeg.path : All fits on a grid of weights.

    Examples
    --------
    >>> from spdpeg import datasets
    >>> from spdpeg.estimators import GraphGuidedRegressorCV
    >>> X, y, truth = datasets.piecewise_constant(100, 8, task="regression")
    >>> model = GraphGuidedRegressorCV("chain", n_lam1=3, n_lam2=3, cv=3).fit(X, y)
    >>> model.lam2_ in model.lam2_grid_
    True
    """

    _model = GraphGuidedRegressor


@dataclass(eq=False, repr=False)
class GeneralizedLassoCV(ChosenWeights, GeneralizedLasso):
    """Generalized lasso whose weights lam1 and lam2 are chosen from the data.

    See `GeneralizedLasso` for the model.

    See Also
    --------
    GeneralizedLasso : The model at given weights.
    spdpeg.path : All fits on a grid of weights.

    Examples
    --------
    >>> from spdpeg import datasets
    >>> from spdpeg.estimators import GeneralizedLassoCV
    >>> X, y, truth = datasets.piecewise_constant(100, 8, task="regression")
    >>> model = GeneralizedLassoCV(n_lam1=3, n_lam2=3, cv=3).fit(X, y)
    >>> model.lam2_ in model.lam2_grid_
    True
    """

    _model = GeneralizedLasso


@dataclass(eq=False, repr=False)
class GeneralizedLassoClassifierCV(ChosenWeights, GeneralizedLassoClassifier):
    """Generalized lasso for classes whose weights lam1 and lam2 are chosen from the data.

    See `GeneralizedLassoClassifier` for the model.

    See Also
    --------
    GeneralizedLassoClassifier : The model at given weights.
    spdpeg.path : All fits on a grid of weights.

    Examples
    --------
    >>> from spdpeg import datasets
    >>> from spdpeg.estimators import GeneralizedLassoClassifierCV
    >>> X, y, truth = datasets.piecewise_constant(100, 8)
    >>> model = GeneralizedLassoClassifierCV(n_lam1=3, n_lam2=3, cv=3).fit(X, y)
    >>> model.lam2_ in model.lam2_grid_
    True
    """

    _model = GeneralizedLassoClassifier


@dataclass(eq=False, repr=False)
class TotalVariationRegressorCV(ChosenWeights, TotalVariationRegressor):
    """Total variation regression whose weights lam1 and lam2 are chosen from the data.

    See `TotalVariationRegressor` for the model.

    See Also
    --------
    TotalVariationRegressor : The model at given weights.
    spdpeg.path : All fits on a grid of weights.

    Examples
    --------
    >>> from spdpeg import datasets
    >>> from spdpeg.estimators import TotalVariationRegressorCV
    >>> X, y, truth = datasets.piecewise_constant(100, 8, task="regression")
    >>> model = TotalVariationRegressorCV((2, 4), n_lam1=3, n_lam2=3, cv=3).fit(X, y)
    >>> model.lam2_ in model.lam2_grid_
    True
    """

    _model = TotalVariationRegressor


@dataclass(eq=False, repr=False)
class TotalVariationClassifierCV(ChosenWeights, TotalVariationClassifier):
    """Total variation classification whose weights lam1 and lam2 are chosen from the data.

    See `TotalVariationClassifier` for the model.

    See Also
    --------
    TotalVariationClassifier : The model at given weights.
    spdpeg.path : All fits on a grid of weights.

    Examples
    --------
    >>> from spdpeg import datasets
    >>> from spdpeg.estimators import TotalVariationClassifierCV
    >>> X, y, truth = datasets.piecewise_constant(100, 8)
    >>> model = TotalVariationClassifierCV((2, 4), n_lam1=3, n_lam2=3, cv=3).fit(X, y)
    >>> model.lam2_ in model.lam2_grid_
    True
    """

    _model = TotalVariationClassifier


@dataclass(eq=False, repr=False)
class LowRankRegressorCV(ChosenWeights, LowRankRegressor):
    """Low-rank regression whose weights lam1 and lam2 are chosen from the data.

    See `LowRankRegressor` for the model.

    See Also
    --------
    LowRankRegressor : The model at given weights.
    spdpeg.path : All fits on a grid of weights.

    Examples
    --------
    >>> from spdpeg import datasets
    >>> from spdpeg.estimators import LowRankRegressorCV
    >>> X, y, truth = datasets.piecewise_constant(100, 8, task="regression")
    >>> model = LowRankRegressorCV((2, 4), lam1=[0.0], n_lam2=3, cv=3).fit(X, y)
    >>> model.lam2_ in model.lam2_grid_
    True
    """

    _model = LowRankRegressor


@dataclass(eq=False, repr=False)
class LowRankClassifierCV(ChosenWeights, LowRankClassifier):
    """Low-rank classification whose weights lam1 and lam2 are chosen from the data.

    See `LowRankClassifier` for the model.

    See Also
    --------
    LowRankClassifier : The model at given weights.
    spdpeg.path : All fits on a grid of weights.

    Examples
    --------
    >>> from spdpeg import datasets
    >>> from spdpeg.estimators import LowRankClassifierCV
    >>> X, y, truth = datasets.piecewise_constant(100, 8)
    >>> model = LowRankClassifierCV((2, 4), lam1=[0.0], n_lam2=3, cv=3).fit(X, y)
    >>> model.lam2_ in model.lam2_grid_
    True
    """

    _model = LowRankClassifier


@dataclass(eq=False, repr=False)
class GroupLassoCV(ChosenWeight, GroupLasso):
    """Group lasso whose weight lam2 is chosen from the data.

    See `GroupLasso` for the model.

    See Also
    --------
    GroupLasso : The model at given weights.
    spdpeg.path : All fits on a grid of weights.

    Examples
    --------
    >>> from spdpeg import datasets
    >>> from spdpeg.estimators import GroupLassoCV
    >>> X, y, truth = datasets.piecewise_constant(100, 8, task="regression")
    >>> model = GroupLassoCV(groups=2, n_lam2=4, cv=3).fit(X, y)
    >>> model.lam2_ in model.lam2_grid_
    True
    """

    _model = GroupLasso


@dataclass(eq=False, repr=False)
class GroupLassoClassifierCV(ChosenWeight, GroupLassoClassifier):
    """Group lasso for classes whose weight lam2 is chosen from the data.

    See `GroupLassoClassifier` for the model.

    See Also
    --------
    GroupLassoClassifier : The model at given weights.
    spdpeg.path : All fits on a grid of weights.

    Examples
    --------
    >>> from spdpeg import datasets
    >>> from spdpeg.estimators import GroupLassoClassifierCV
    >>> X, y, truth = datasets.piecewise_constant(100, 8)
    >>> model = GroupLassoClassifierCV(groups=2, n_lam2=3, cv=3).fit(X, y)
    >>> model.lam2_ in model.lam2_grid_
    True
    """

    _model = GroupLassoClassifier


@dataclass(eq=False, repr=False)
class SparseGroupLassoCV(ChosenWeights, SparseGroupLasso):
    """Sparse group lasso whose weights lam1 and lam2 are chosen from the data.

    See `SparseGroupLasso` for the model.

    See Also
    --------
    SparseGroupLasso : The model at given weights.
    spdpeg.path : All fits on a grid of weights.

    Examples
    --------
    >>> from spdpeg import datasets
    >>> from spdpeg.estimators import SparseGroupLassoCV
    >>> X, y, truth = datasets.piecewise_constant(100, 8, task="regression")
    >>> model = SparseGroupLassoCV(groups=2, n_lam1=3, n_lam2=3, cv=3).fit(X, y)
    >>> model.lam2_ in model.lam2_grid_
    True
    """

    _model = SparseGroupLasso


@dataclass(eq=False, repr=False)
class SparseGroupLassoClassifierCV(ChosenWeights, SparseGroupLassoClassifier):
    """Sparse group lasso for classes whose weights lam1 and lam2 are chosen from the data.

    See `SparseGroupLassoClassifier` for the model.

    See Also
    --------
    SparseGroupLassoClassifier : The model at given weights.
    spdpeg.path : All fits on a grid of weights.

    Examples
    --------
    >>> from spdpeg import datasets
    >>> from spdpeg.estimators import SparseGroupLassoClassifierCV
    >>> X, y, truth = datasets.piecewise_constant(100, 8)
    >>> model = SparseGroupLassoClassifierCV(groups=2, n_lam1=3, n_lam2=3, cv=3).fit(X, y)
    >>> model.lam2_ in model.lam2_grid_
    True
    """

    _model = SparseGroupLassoClassifier


@dataclass(eq=False, repr=False)
class TrendFilterCV(ChosenWeight, TrendFilter):
    """Trend filtering whose weight lam2 is chosen from the data.

    See `TrendFilter` for the model. Rows with positions are held out evenly along the line.

    See Also
    --------
    TrendFilter : The model at given weights.
    spdpeg.path : All fits on a grid of weights.

    Examples
    --------
    >>> from spdpeg.estimators import TrendFilterCV
    >>> import numpy as np
    >>> t = np.arange(60.0)
    >>> y = np.abs(t - 20.0) + np.random.default_rng(0).standard_normal(60)
    >>> model = TrendFilterCV(n_lam2=6).fit(t[:, None], y)
    >>> model.lam2_ in model.lam2_grid_
    True
    """

    _model = TrendFilter
