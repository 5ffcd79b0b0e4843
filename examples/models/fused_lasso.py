"""
Fused lasso in Python
=====================

The fused lasso is linear regression for features that have an order: positions on a chromosome, wavelengths of a
spectrum, points in time. It finds coefficients that are zero on most stretches and constant on the others::

    mean of (prediction - y)^2 / 2  +  lam1 * sum of |x_j|  +  lam2 * sum of |x_{j+1} - x_j|

Use it if neighbouring columns mean nearly the same and their effect switches on and off. If the order of your columns
means nothing, take the lasso of scikit-learn.
"""

# %%
# The noise is strong. Cross-validation chooses both weights, and ``rule="one-standard-error"`` takes the simplest
# model that is not clearly worse than the best: the best one alone would keep many small coefficients.

import numpy as np
from sklearn.linear_model import LassoCV

from spdpeg import FusedLassoCV, datasets

X, y, truth = datasets.piecewise_constant(300, 120, n_pieces=7, task="regression", noise=6.0, seed=5)
model = FusedLassoCV(n_lam1=6, n_lam2=6, cv=3, rule="one-standard-error").fit(X, y)
lasso = LassoCV(cv=3).fit(X, y)


def error(coef):
    """Distance to the truth, relative to its length."""
    return np.linalg.norm(coef - truth) / np.linalg.norm(truth)


print(f"fused lasso: error {error(model.coef_):.2f} with lam1 = {model.lam1_:.2g}, lam2 = {model.lam2_:.2g}")
print(f"      lasso: error {error(lasso.coef_):.2f}")

# %%
# The fused lasso is exactly zero on the long stretches where the truth is, and nearly constant on the others, closer to
# zero than the truth. Stretches of a few columns drown in so much noise. The lasso sees no order and picks single
# columns out of each stretch.

pieces = 1 + np.count_nonzero(np.diff(model.coef_))
zeros = np.count_nonzero(model.coef_ == 0.0)
print(f"{pieces} pieces; {zeros} coefficients are 0, of {np.count_nonzero(truth == 0.0)} that should be")

panel = model.plot_coefficients().axes[0]
panel.plot(truth, color="black", linewidth=1, label="truth")
panel.plot(lasso.coef_, ".", color="tab:orange", label="LassoCV")
panel.legend(loc="lower right")

# %%
# What the parameters do
# ----------------------
#
# - ``lam1`` makes coefficients zero, ``lam2`` makes neighbours equal. With ``lam2=0`` this is the lasso: ``lam1`` is
#   scikit-learn's ``alpha``.
# - Both may be arrays, with a weight for each column or each pair of neighbours; 0 leaves it free.
# - ``tol`` bounds the duality gap relative to the objective. ``model.certificate_`` holds the bound that was reached.
#
# How to choose them
# ------------------
#
# ``lam_max(FusedLasso(), X, y)`` gives weights at which all coefficients are zero; smaller ones are of
# interest. ``path`` fits over a grid, ``FusedLassoCV`` chooses, and ``rule="one-standard-error"`` takes the
# simplest model that is not clearly worse than the best. This is how the scores lie over the grid:

model.plot_scores()

# %%
# Common pitfalls
# ---------------
#
# - Scale the columns alike (``StandardScaler``), or a column of small numbers is punished for its large coefficient.
#   If all columns have the same unit, leave them.
# - The intercept is free of penalties; do not add a column of ones.
# - The order of the columns is part of the model. A data frame that was sorted by name gives another fit.
# - Missing neighbours count as neighbours: for unevenly spaced columns divide ``lam2`` by their distances.
#
# Elsewhere
# ---------
#
# scikit-learn, skglm and celer have no fused penalty. SPAMS has the chain with an exact prox and is fast for data in
# memory. CVXPY and regreg take any matrix in place of the differences. R's genlasso computes the exact path for least
# squares.
