"""
Any loss and penalty: composite models
======================================

The estimators with names are combinations of four parts, and so can yours be::

    mean of loss(prediction, y)  +  r1(x)  +  r2(F x)

``CompositeRegressor`` and ``CompositeClassifier`` take the parts as objects and behave like any estimator.
"""

# %%
# A fused lasso that one measurement in ten, being badly wrong, cannot spoil: Huber's loss grows linearly beyond
# ``delta``.

import numpy as np
from sklearn.model_selection import GridSearchCV

from spdpeg import CompositeRegressor, datasets, losses, operators, penalties

rng = np.random.default_rng(0)
X, y, truth = datasets.piecewise_constant(300, 60, n_pieces=6, task="regression", seed=1)
wrong = rng.choice(300, 30, replace=False)
y[wrong] += 60.0 * rng.standard_normal(30)

terms = {"r1": penalties.L1(0.01), "r2": penalties.L1(0.1), "F": operators.FirstDifference()}
for loss in (losses.Squared(), losses.Huber(delta=1.0)):
    model = CompositeRegressor(loss, **terms, random_state=0).fit(X, y)
    print(f"{loss}: error {np.linalg.norm(model.coef_ - truth) / np.linalg.norm(truth):.2f}")

# %%
# The robust fit follows the truth.

panel = model.plot_coefficients().axes[0]
panel.plot(truth, color="black", linewidth=1, label="truth")
panel.legend()

# %%
# The parts
# ---------
#
# ============ ==========================================================================================
# part         choices
# ============ ==========================================================================================
# loss         ``Squared`` ``Huber`` ``Quantile``; for classes ``Logistic`` ``SquaredHinge`` ``SmoothedHinge`` ``Hinge``
# r1, r2       ``L1`` ``L2Squared`` ``ElasticNet`` ``FusedL1`` ``GroupL2`` ``Nuclear`` ``LInf`` ``HuberL1``
# sets as r1   ``Box`` ``NonNegative`` ``L2Ball`` ``L1Ball`` ``Simplex``
# F            ``FirstDifference`` ``Difference`` ``GraphDifference`` ``GridDifference`` ``Stack``, or any matrix
# ============ ==========================================================================================
#
# Non-negative coefficients that form groups, for example:

groups = CompositeRegressor(
    losses.Huber(),
    r1=penalties.NonNegative(),
    r2=penalties.GroupL2(0.3, np.repeat(np.arange(12), 5)),
    random_state=0,
).fit(X, y)
print(f"smallest coefficient {groups.coef_.min():.3g}")

# %%
# Searches reach the parameters of the parts by name.

search = GridSearchCV(model, {"r2__weight": [0.01, 0.1, 1.0]}, scoring="neg_median_absolute_error").fit(X, y)
print(search.best_params_)

# %%
# Pitfalls
# --------
#
# - The weight of a penalty is its own parameter; there are no ``lam1`` and ``lam2``, and ``path`` does not apply.
# - A set as r1 makes the objective infinite outside, and without r1 there is not always a finite duality gap: the
#   residual of the optimality conditions then decides when to stop.
# - Losses with a corner, ``Hinge`` and ``Quantile``, rule out the solvers that need gradients, and ``partial_fit``.
# - Your own loss, penalty or operator is a class of some twenty lines: see the page on extending.
#
# Elsewhere
# ---------
#
# CVXPY takes any convex model for small data. regreg and PyProximal compose terms in the same spirit and read all rows
# in every step. skglm composes losses and penalties with F = identity.
