"""
Generalized lasso with any matrix
=================================

The generalized lasso makes any linear functions of the coefficients sparse, those that a matrix F computes::

    mean of (prediction - y)^2 / 2  +  lam1 * sum of |x_j|  +  lam2 * sum of |(F x)_k|

Each row of F states something that is usually zero: a difference between two coefficients, a second difference, the sum
of a group. The fused lasso, trend filtering and graph-guided models are special cases with a name of their own.
"""

# %%
# An example that has no name: an effect for each hour of the week. Neighbouring hours are alike, Sunday's last hour is
# beside Monday's first, and the same hour of neighbouring days is alike.

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

from spdpeg import GeneralizedLasso

rng = np.random.default_rng(0)
truth = np.full((7, 24), -0.5)
truth[:5, 8:18] = 1.0  # working hours
X = rng.standard_normal((250, truth.size))
y = X @ truth.ravel() + 3.0 * rng.standard_normal(250)

hours = np.arange(truth.size)
one = sp.eye_array(truth.size, format="csr")
F = sp.vstack([one[np.roll(hours, -1)] - one, one[hours[24:]] - one[hours[:-24]]])
model = GeneralizedLasso(F, lam1=0.0, lam2=0.15, random_state=0).fit(X, y)

# %%
# Least squares, for comparison, fits the noise.

plain = GeneralizedLasso(lam1=0.0, lam2=0.0, random_state=0).fit(X, y)
figure, panels = plt.subplots(3, 1, figsize=(7, 6), layout="constrained")
shown = {"truth": truth, "generalized lasso": model.coef_, "least squares": plain.coef_}
for panel, (title, coef) in zip(panels, shown.items(), strict=True):
    panel.imshow(np.reshape(coef, truth.shape), cmap="RdBu_r", vmin=-1.5, vmax=1.5)
    panel.set(title=title, xlabel="hour", ylabel="day")

# %%
# What the parameters do
# ----------------------
#
# - ``F`` is a SciPy sparse matrix, an array, or one of ``spdpeg.operators``. These need no memory for a matrix and are
#   faster: ``FirstDifference``, ``Difference(order)``, ``GridDifference(shape)``, ``GraphDifference(edges)``, and
#   ``Stack([...])`` to put several below each other.
# - ``lam1`` weighs the coefficients themselves. With ``lam1=0`` there is not always a finite duality gap; the
#   residual of the optimality conditions then decides when to stop, and ``model.certificate_.met`` says which
#   it was.
# - ``lam2`` may be an array with a weight for each row of F.
#
# How to choose them
# ------------------
#
# ``path(GeneralizedLasso(F), X, y)`` fits over both weights, ``lam_max`` finds where all coefficients are zero, and any
# search of scikit-learn (``GridSearchCV``) takes the model.
#
# Common pitfalls
# ---------------
#
# - Rows of F of different length are punished differently. Scale them, or use an array for ``lam2``.
# - Scale the columns of X alike. F has no column for the intercept, which is free.
# - ``GeneralizedLassoClassifier`` is the same with the logistic loss.
#
# Elsewhere
# ---------
#
# R's genlasso computes the whole path for least squares. CVXPY and regreg solve it for data in memory.
