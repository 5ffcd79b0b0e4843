"""
Learning from a stream: out of core with partial_fit
====================================================

Every estimator with a smooth loss learns from chunks of rows, each read once, in constant memory. ``partial_fit`` takes
steps of SPDPEG, the stochastic primal-dual method of this package, so that structured penalties work on streams too.
"""

# %%
# Rows arrive 2,000 at a time and are then forgotten. The first call must name all classes that will ever come.

import matplotlib.pyplot as plt
import numpy as np

from spdpeg import FusedLogisticRegression, datasets

X, y, truth = datasets.piecewise_constant(110_000, 60, n_pieces=6, seed=1)
X_test, y_test = X[100_000:], y[100_000:]
chunks = ((X[first : first + 2000], y[first : first + 2000]) for first in range(0, 100_000, 2000))

model = FusedLogisticRegression(lam1=5e-4, lam2=5e-3)
accuracy = []
for rows, labels in chunks:
    model.partial_fit(rows, labels, classes=[-1, 1])
    accuracy.append(model.score(X_test, y_test))

# %%
# A fit to all rows at once, for comparison.

batch = FusedLogisticRegression(lam1=5e-4, lam2=5e-3).fit(X[:100_000], y[:100_000])
print(f"accuracy after one reading: {accuracy[-1]:.4f}, of the batch fit: {batch.score(X_test, y_test):.4f}")
figure, panel = plt.subplots(figsize=(8, 3.5), layout="constrained")
panel.plot(2000 * np.arange(1, 51), accuracy, label="partial_fit")
panel.axhline(batch.score(X_test, y_test), color="black", linewidth=1, label="fit")
panel.set(xlabel="rows seen", ylabel="accuracy on rows held out")
panel.legend()

# %%
# What to expect
# --------------
#
# - The result is that of one run over all rows so far, however they are cut into chunks; steps follow their size.
# - Predictions are good after a fraction of the rows. Coefficients approach the solution slowly, like one over the root
#   of the number of rows, and no certificate is given. If the rows can be read again, ``fit`` is better.
# - Memory does not grow with the number of rows. They may come in runs shorter than ``buffer_size``: shuffle a sorted
#   file first.
# - ``save_model`` keeps the model for predictions.
#
# Other ways to large data
# ------------------------
#
# - A NumPy memory map or a CSR matrix of memory maps goes straight into ``fit``, which then reads from disk.
# - ``spdpeg.files.stream`` reads CSV, LIBSVM and Parquet files in chunks; ``spdpeg fit FILE --stream`` does all
#   of it on the command line.
# - ``spdpeg.solve`` takes a stream as the data of a ``Problem``, if you want the solver itself.
#
# Elsewhere
# ---------
#
# scikit-learn's ``SGDClassifier`` and Vowpal Wabbit learn from streams with penalties on the coefficients
# themselves. No other library that we know of does it with an F inside the penalty.
