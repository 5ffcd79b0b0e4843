"""
Sparse fused support vector machine
===================================

A linear support vector machine whose coefficients are zero on most stretches of the features and constant on
the others::

    mean of max(0, 1 - y * score)  +  lam1 * sum of |x_j|  +  lam2 * sum of |x_{j+1} - x_j|

The hinge does not care about rows that are on the right side with a margin, so the fit rests on the rows near
the border. Use it for ordered features if you need classes and no probabilities; otherwise the logistic loss is
easier to fit.
"""

# %%
# Half of the rows are held out.

from sklearn.model_selection import train_test_split

from spdpeg import FusedSVC, datasets

X, y, truth = datasets.piecewise_constant(400, 60, n_pieces=6, seed=1)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
for lam2 in (0.0, 0.03):
    model = FusedSVC(lam1=0.005, lam2=lam2, random_state=0).fit(X, y)
    print(f"lam2 = {lam2:<4}: accuracy {model.score(X_test, y_test):.3f}")

# %%
# The line is the truth.

panel = model.plot_coefficients().axes[0]
panel.plot(truth, color="black", linewidth=1, label="truth")
panel.legend()

# %%
# Parameters and pitfalls
# -----------------------
#
# - The hinge has a corner. Solvers that need a gradient do not apply, and there is neither ``predict_proba`` nor
#   ``partial_fit``; ``decision_function`` gives the distances that rank rows.
# - The loss is averaged: scikit-learn's ``LinearSVC(loss="hinge")`` sums, with ``C = 1 / (weight * n_samples)``.
# - ``class_weight="balanced"`` helps if one class is rare. More than two classes are fitted one against the rest.
# - Scale the columns alike. The intercept is free of penalties, unlike LinearSVC's.
# - Choose the weights with ``GridSearchCV``, or with ``path`` and weights of your own: ``lam_max`` needs a smooth loss.
#
# Elsewhere
# ---------
#
# scikit-learn's ``LinearSVC`` and ``SGDClassifier`` have the hinge with ridge or l1, no fusion. CVXPY takes the
# model as it stands, for small data.
