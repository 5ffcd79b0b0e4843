"""
Low-rank (nuclear norm) classification of matrices
==================================================

If each row of the data is a matrix, such as channels by time, rows by columns, or users by items, the
coefficients are a matrix too. Often a few patterns explain it: it has low rank. The nuclear norm, the sum of
the singular values, is the convex penalty for that::

    mean of log(1 + exp(-y * <A, W>))  +  lam1 * sum of |W_jk|  +  lam2 * sum of the singular values of W
"""

# %%
# 12 channels at 15 times; the classes differ in one pattern over channels times one over time.

import matplotlib.pyplot as plt
import numpy as np

from spdpeg import LowRankClassifier

rng = np.random.default_rng(0)
truth = np.outer(np.sin(np.linspace(0.0, np.pi, 12)), np.cos(np.linspace(0.0, 2.0 * np.pi, 15)))
matrices = rng.standard_normal((400, *truth.shape))
y = np.where(np.tensordot(matrices, truth) + rng.logistic(size=400) > 0.0, "go", "stop")
X = matrices.reshape(400, -1)

figure, panels = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
panels[0].imshow(truth, cmap="RdBu_r")
panels[0].set(title="truth", xlabel="time", ylabel="channel")
for lam2, panel in zip((0.01, 0.06), panels[1:], strict=True):
    model = LowRankClassifier(truth.shape, lam2=lam2, random_state=0).fit(X, y)
    values = np.linalg.svd(model.coef_.reshape(truth.shape), compute_uv=False)
    closeness = -np.corrcoef(model.coef_[0], truth.ravel())[0, 1]  # "stop" is the second class
    panel.imshow(-model.coef_.reshape(truth.shape), cmap="RdBu_r")
    panel.set(title=f"lam2 = {lam2}", xlabel="time")
    print(f"lam2 = {lam2}: rank {np.sum(values > 0.01 * values[0])}, correlation with the truth {closeness:.2f}")

# %%
# What the parameters do
# ----------------------
#
# - ``shape`` says how a row of X is read as a matrix, in C order.
# - ``lam2`` lowers the rank. Singular values come out small rather than exactly zero: cut them off at a percent of the
#   largest, as above.
# - ``lam1`` makes entries zero in addition. With 0, the default, only the rank counts.
#
# How to choose them
# ------------------
#
# ``path(LowRankClassifier(shape), X, y, lam1=[0.0])`` fits over ``lam2``; ``GridSearchCV`` chooses.
#
# Common pitfalls
# ---------------
#
# - Each step takes a singular value decomposition of the matrix: sides of a few hundred are fine, thousands are slow.
# - Give channels a common scale. The intercept is free of the penalty.
# - ``LowRankRegressor`` is the same for numbers. For the rank of the coefficients of *many classes*, which is another
#   matrix, this is not the model.
#
# Elsewhere
# ---------
#
# CVXPY has ``normNuc``, for small matrices. lightning has a trace norm, and no wheels for current Python.
