"""Coefficients that are alike where a graph joins their features."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..graphs import structure as structures
from ..operators import Operator
from ..parameters import one_of
from ..penalties import L1, L2Squared, Penalty
from .base import bounded, weighted
from .classification import LogisticClassifier
from .hat import ShrunkPieces
from .regression import Regressor

R1: dict[str, type[L1] | type[L2Squared]] = {"l1": L1, "ridge": L2Squared}


@dataclass(eq=False, repr=False)
class GraphGuided(ShrunkPieces):
    """The penalty of the graph-guided models.

    Parameters
    ----------
    structure : str, tuple, sparse matrix, array, networkx graph or Operator, default="sics"
        The edges and their weights. "sics": sparse inverse covariance selection on the columns of X, scaled to equal
        variance, as in the paper of SPDPEG; "knn": each column and the 5 with the most similar direction; "chain":
        neighbouring columns; a tuple of ints: the shape of a grid; a sparse symmetric matrix: the weights of edges; a
        list of pairs (i, j) or triples (i, j, weight): edges between column numbers; a networkx graph over the names or
        numbers of the columns; an operator: F itself. `partial_fit` learns the graph from the first chunk.
    r1 : {"ridge", "l1"}, default="ridge"
        "ridge" is half the sum of squares; "l1" makes the coefficients sparse.
    lam1 : float or array of shape (n_features,), or "auto", default="auto"
        Weight of r1. "auto" takes a hundredth of the largest weight worth trying, kept in `lam1_`.
    lam2 : float or array with an entry for each edge, or "auto", default="auto"
        The larger, the more coefficients of joined features are equal. "auto" takes a hundredth of the largest weight
        worth trying, kept in `lam2_`.
    """

    structure: Any = "sics"
    r1: str = "ridge"
    lam1: Any = "auto"
    lam2: Any = "auto"

    def _penalties(self, n_features: int) -> tuple[Penalty | None, Penalty | None]:
        one_of(f"r1 of {type(self).__name__}", self.r1, R1)
        return bounded(self, weighted(self, "lam1", R1[self.r1])), weighted(self, "lam2")

    def _operator(self, X: Any, weights: np.ndarray | None) -> Operator:
        return structures.resolve(self.structure, X, weights, getattr(self, "feature_names_in_", None))

    def _sparse(self) -> bool:
        return self.r1 == "l1" and super()._sparse()

    def _curvature(self, k: int) -> sp.sparray | None:
        ridge = np.broadcast_to(self._weight("lam1"), self._coef(k).shape)
        return sp.diags_array(ridge) if self.r1 == "ridge" and np.any(ridge) else None


@dataclass(eq=False, repr=False)
class GraphGuidedRegressor(GraphGuided, Regressor):
    """Least squares guided by a graph of the features.

    Minimises, over x and the intercept c,

        mean of (<a_i, x> + c - y_i)^2 / 2  +  lam1 r1(x)  +  lam2 sum over edges (j, k) of w_jk |x_j - x_k|

    where the mean over the rows a_i counts their weights.

    See Also
    --------
    FusedLasso : The graph is a line.
    spdpeg.graphs.sics : The graph that is learned by default.

    Examples
    --------
    >>> import numpy as np
    >>> from spdpeg.estimators import GraphGuidedRegressor
    >>> X = np.random.default_rng(0).standard_normal((100, 4))
    >>> model = GraphGuidedRegressor(structure=[(0, 2), (1, 3)], lam1=0.001, random_state=0, tol=1e-8)
    >>> model.fit(X, X @ [1.0, 2.0, 1.0, 2.0]).coef_.round(2).tolist()
    [1.0, 2.0, 1.0, 2.0]
    """


@dataclass(eq=False, repr=False)
class GraphGuidedLogisticRegression(GraphGuided, LogisticClassifier):
    """Graph-guided regularised logistic regression, the model of the SPDPEG paper.

    Minimises, over x and the intercept c, with y_i = -1 or +1,

        mean of log(1 + exp(-y_i (<a_i, x> + c)))  +  lam1 r1(x)  +  lam2 sum over edges (j, k) of w_jk |x_j - x_k|

    where the mean over the rows a_i counts their weights.

    See Also
    --------
    GraphGuidedLogisticRegressionCV : Choose lam1 and lam2 by cross-validation.
    FusedLogisticRegression : The graph is a line.
    spdpeg.graphs.sics : The graph that is learned by default.

    Examples
    --------
    >>> import numpy as np
    >>> from spdpeg.estimators import GraphGuidedLogisticRegression
    >>> X = np.random.default_rng(0).standard_normal((300, 4))
    >>> y = X @ [1.0, -1.0, 1.0, -1.0] > 0.0
    >>> model = GraphGuidedLogisticRegression(structure=[(0, 2), (1, 3)], random_state=0).fit(X, y)
    >>> np.sign(model.coef_[0]).tolist()
    [1.0, -1.0, 1.0, -1.0]
    """
