"""
Fused logistic regression
=========================

Logistic regression for features that have an order, with coefficients that are zero on most stretches and constant on
the others::

    mean of log(1 + exp(-y * score))  +  lam1 * sum of |x_j|  +  lam2 * sum of |x_{j+1} - x_j|

Use it to classify signals, spectra, genomic profiles or histograms, where a class shows in whole stretches of columns.
"""

# %%
# Half of the rows are held out. Without ``lam2`` this is l1-penalised logistic regression.

import numpy as np
from sklearn.model_selection import train_test_split

from spdpeg import FusedLogisticRegression, datasets, lam_max, path

X, y, truth = datasets.piecewise_constant(600, 80, n_pieces=6, seed=1)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
sparse = FusedLogisticRegression(lam1=0.01, lam2=0.0, random_state=0).fit(X, y)
fused = FusedLogisticRegression(lam1=0.01, lam2=0.05, random_state=0).fit(X, y)
for model in (sparse, fused):
    print(f"lam2 = {model.lam2}: accuracy {model.score(X_test, y_test):.3f}")
print(f"the objective is at most {fused.certificate_.rel_gap:.0e} above its minimum, relatively")

# %%
# The stretches come out, smaller than the truth: both penalties pull towards zero.

panel = fused.plot_coefficients().axes[0]
panel.plot(truth, color="black", linewidth=1, label="truth")
panel.legend()

# %%
# How to choose lam1 and lam2
# ---------------------------
#
# At ``lam_max`` all coefficients are zero. ``path`` fits on a grid that begins there; each fit starts from the
# solutions of its neighbours. ``FusedLogisticRegressionCV`` does it in each fold and chooses.

print("all coefficients are zero at lam1 = {:.3g}, lam2 = {:.3g}".format(*lam_max(FusedLogisticRegression(), X, y)))
found = path(FusedLogisticRegression(random_state=0), X, y, n_lam1=8, n_lam2=8)
found.plot()

# %%
# A score for all pairs of weights takes a line, since the path holds the coefficients:

margins = np.einsum("ijkf,nf->ijn", found.coef, X_test) + found.intercept
accuracy = np.mean(np.sign(margins) == y_test, axis=2)
i, j = np.unravel_index(accuracy.argmax(), accuracy.shape)
print(f"best accuracy on the path: {accuracy.max():.3f} at lam1 = {found.lam1[i]:.2g}, lam2 = {found.lam2[j]:.2g}")

# %%
# Parameters and pitfalls
# -----------------------
#
# - Labels may be of any kind. More than two classes get coefficients each: fitted one against the rest, or
#   together with ``multi_class="multinomial"``. ``predict_proba`` gives probabilities.
# - ``class_weight="balanced"`` helps if one class is rare. ``sample_weight`` of k equals k copies of a row.
# - The losses are averaged, not summed: weights do not depend on the number of rows. scikit-learn's ``C`` sums them, so
#   that ``lam1 = 1 / (C * n_samples)``.
# - Scale the columns alike unless they share a unit. The intercept is free and needs no column.
# - Rows that do not fit in memory: ``partial_fit`` learns from chunks.
#
# Elsewhere
# ---------
#
# SPAMS has this model for data in memory. In CVXPY it is three lines, for small data. copt and tick have
# stochastic solvers for the chain.
