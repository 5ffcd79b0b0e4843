"""
Choosing lam1 and lam2
======================

Two weights decide what a fused or graph-guided model looks like: ``lam1`` makes coefficients zero, ``lam2`` makes
neighbours equal. Four ways to choose them, from a look to a rule.
"""

# %%
# A look
# ------
#
# ``path`` fits at all pairs of weights on a grid that begins where everything is zero. Rows that were held out judge
# each pair. ``found.explore("path.html")`` makes a page of it, with a slider for each weight; here is the picture.

import matplotlib.pyplot as plt
import numpy as np

from spdpeg import FusedLasso, FusedLassoCV, datasets, lam_max, path

X, y, truth = datasets.piecewise_constant(300, 60, n_pieces=7, task="regression", noise=4.0, seed=3)
X, X_test, y, y_test = X[:150], X[150:], y[:150], y[150:]
found = path(FusedLasso(), X, y, n_lam1=8, n_lam2=8)
scores = found.scores(X_test, y_test)
i, j = np.unravel_index(scores.argmax(), scores.shape)
print(f"best R^2 on rows held out: {scores.max():.3f} at lam1 = {found.lam1[i]:.2g}, lam2 = {found.lam2[j]:.2g}")
found.plot(at=(i, j))

# %%
# A rule
# ------
#
# ``FusedLassoCV`` does the same with folds, so that no rows are lost. ``rule="one-standard-error"`` takes the largest
# weights that are not clearly worse than the best: fewer pieces, more zeros.

for rule in ("best", "one-standard-error"):
    model = FusedLassoCV(n_lam1=6, n_lam2=6, cv=3, rule=rule).fit(X, y)
    pieces = 1 + np.count_nonzero(np.diff(model.coef_))
    zeros = np.count_nonzero(model.coef_ == 0.0)
    print(f"{rule:>18}: {pieces} pieces, {zeros} zeros, R^2 {model.score(X_test, y_test):.3f} on rows held out")

panel = model.plot_coefficients().axes[0]
panel.plot(truth, color="black", linewidth=1, label="truth")
panel.legend()

# %%
# The scores lie on a plateau: many pairs are nearly as good. The star is what the rule took, the circle the best.

model.plot_scores()

# %%
# A scale
# -------
#
# ``lam_max`` is where the last coefficient leaves zero. Weights mean most as parts of it: a tenth is much, a
# thousandth little.

top1, top2 = lam_max(FusedLasso(), X, y, ratio=1.0)
parts = np.geomspace(1.0, 1e-3, 10)
kept = [np.count_nonzero(FusedLasso(part * top1, part * top2).fit(X, y).coef_) for part in parts]
figure, panel = plt.subplots(figsize=(7, 3), layout="constrained")
panel.semilogx(parts, kept, "o-")
panel.set(xlabel="part of lam_max", ylabel="coefficients other than 0")

# %%
# Pitfalls
# --------
#
# - If the best weight is the last of the grid, the grid is too short: lower ``eps``, or give ``lam1`` and ``lam2``.
# - Scores of the rows that were fitted always prefer the smallest weights.
# - Shuffled folds tear a time series apart. For a signal, ``denoise(y, lam2="cv")`` leaves out every fifth value
#   instead.
# - Weights chosen on a tenth of the rows are good for all of them: the loss is a mean.
