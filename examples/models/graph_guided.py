"""
Graph-guided (network-constrained) regression and classification
================================================================

Features that a network joins, such as genes in a pathway, words that occur together or sensors on one pipe, should have
similar coefficients. Graph-guided models charge for the difference along each edge::

    mean loss  +  lam1 * r1(x)  +  lam2 * sum over edges (j, k) of weight_jk * |x_j - x_k|

r1 is a ridge penalty, as in the paper of SPDPEG, or an l1 norm with ``r1="l1"``. The charge is an absolute value, not a
square as in Laplacian smoothing: joined coefficients become equal, and few edges keep a difference.
"""

# %%
# Five groups of features with a common coefficient each. The graph joins features of a group; the model does not know
# the groups.

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from spdpeg import GraphGuidedLogisticRegression, datasets

X, y, truth, edges = datasets.clustered_graph(300, 60, n_clusters=5, seed=0)
for lam2 in (0.0, 0.03):
    model = GraphGuidedLogisticRegression(edges, lam1=0.01, lam2=lam2, random_state=0).fit(X, y)
    print(f"lam2 = {lam2}: correlation with the truth {np.corrcoef(model.coef_[0], truth)[0, 1]:.3f}")

# %%
# Dark edges join equal coefficients.

model.plot_coefficients()

# %%
# Where the graph comes from
# --------------------------
#
# ``structure`` takes what you have: pairs ``(i, j)`` or triples ``(i, j, weight)``, a sparse adjacency matrix,
# a networkx graph over the names or numbers of the columns, the shape of a grid, ``"chain"``, or an operator.
# If you have none, ``"knn"`` joins columns of similar direction, and ``"sics"``, the default, joins columns
# that depend on each other given all others (sparse inverse covariance selection, the paper's choice).

data = load_breast_cancer(as_frame=True)
scaled = StandardScaler().set_output(transform="pandas").fit_transform(data.data)
learned = GraphGuidedLogisticRegression("sics", lam1=0.001, lam2=0.003, random_state=0).fit(scaled, data.target)
print(f"{learned.F_.n_outputs} edges, accuracy {learned.score(scaled, data.target):.3f} on the rows of the fit")
learned.plot_coefficients()

# %%
# Choosing, and pitfalls
# ----------------------
#
# - ``GraphGuidedLogisticRegressionCV`` chooses both weights by cross-validation; ``path`` works with both models.
# - Under ridge no coefficient becomes zero, so ``lam_max`` needs ``r1="l1"``.
# - A negative correlation between joined features calls for opposite coefficients, which this penalty opposes: flip the
#   sign of one of the columns, or leave the edge out.
# - Scale the columns: equal coefficients mean something only for equal units. The intercept is free.
# - ``GraphGuidedRegressor`` is the same for numbers.
#
# Elsewhere
# ---------
#
# CVXPY, regreg and PyProximal with PyLops take the edges as a matrix and read all rows in every step. Laplacian
# (squared) penalties are in glum, as its matrix ``P2``.
