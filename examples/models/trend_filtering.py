"""
Trend filtering
===============

Trend filtering draws a piecewise polynomial curve through noisy measurements and finds the places where it bends::

    mean of (curve - y)^2 / 2  +  lam2 * sum of |differences of the given order of the curve|

Order 1 gives steps, order 2 straight lines with kinks, order 3 parabolas. In contrast to smoothing splines the curve is
smooth in most places and bends sharply in few.
"""

# %%
# A single column holds positions, which need not be evenly spaced.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV, KFold

from spdpeg import TrendFilter

rng = np.random.default_rng(0)
t = np.sort(rng.uniform(0.0, 10.0, 200))
truth = np.abs(t - 4.0) + 2.0 * np.maximum(t - 7.0, 0.0)
y = truth + 0.4 * rng.standard_normal(200)
model = TrendFilter(order=2, lam2=0.5, random_state=0).fit(t[:, None], y)

# %%
# Kinks are where a second difference is not zero.

kinks = model.knots_[1:-1][np.abs(model.F_.forward(model.coef_)) > 1e-6]
dense = np.linspace(0.0, 10.0, 1000)
figure, panel = plt.subplots(figsize=(8, 4), layout="constrained")
panel.plot(t, y, ".", color="0.6", label="measured")
panel.plot(t, truth, color="black", linewidth=1, label="truth")
panel.plot(dense, model.predict(dense[:, None]), label="trend filter")
panel.plot(kinks, model.predict(kinks[:, None]), "o", fillstyle="none", label="kinks")
panel.set(xlabel="t", ylabel="y")
panel.legend()

# %%
# Choosing lam2
# -------------
#
# Predictions between the positions make cross-validation simple: leave out points and predict them.

folds = KFold(5, shuffle=True, random_state=0)
weights = [0.02, 0.1, 0.5, 2.5]
search = GridSearchCV(TrendFilter(random_state=0), {"lam2": weights}, cv=folds, scoring="neg_mean_squared_error")
search.fit(t[:, None], y)
for lam2, score in zip(weights, search.cv_results_["mean_test_score"], strict=True):
    print(f"lam2 = {lam2:<4}  mean squared error {-score:.4f}")

# %%
# Common pitfalls
# ---------------
#
# - ``lam2`` grows fast with the order: differences of order 3 of a smooth curve are tiny.
# - Scale y to be of order 1, or choose ``lam2`` in proportion to it.
# - The curve has a level of its own, so there is no intercept.
# - Beyond the first and last position, ``predict`` goes on with the outer polynomials.
# - With more than one column in X, x are coefficients of the columns as in any regression, and their curve over the
#   column number is piecewise polynomial: trend filtering with a design matrix.
#
# Elsewhere
# ---------
#
# R's glmgen and genlasso are exact and fast for the curve itself. For a design matrix or another loss, CVXPY, or
# ``CompositeRegressor`` with ``F=operators.Difference(order)``.
