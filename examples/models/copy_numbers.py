"""
Copy numbers: a signal made of pieces
=====================================

Cells of a tumour have lost or doubled stretches of their genome. An array measures, clone by clone along the
chromosomes, the logarithm of the number of copies relative to a healthy cell. The truth is piecewise constant and
mostly 0; the measurement is noisy and has gaps. The fused lasso finds the pieces (Tibshirani and Wang, 2008)::

    1/2 * sum of (x - y)^2  +  lam1 * sum of |x|  +  lam2 * sum of |x_{i+1} - x_i|

The profile here is generated, with the proportions of real ones. To read your own:
``y = numpy.loadtxt("profile.txt")``.
"""

# %%
# One call. Missing clones are NaN.

import matplotlib.pyplot as plt
import numpy as np

import spdpeg

rng = np.random.default_rng(0)
lengths = [180, 40, 130, 15, 200, 75, 150, 60, 140]
levels = [0.0, 1.2, 0.0, 3.0, 0.0, -0.8, 0.0, 0.6, 0.0]
truth = np.repeat(levels, lengths)
y = truth + 0.45 * rng.standard_normal(truth.size)
y[rng.random(y.size) < 0.05] = np.nan

found = spdpeg.denoise(y, lam2=6.0)
print(found)

# %%
# ``segments`` is the answer: where a piece starts, where the next one does, and its level. Neighbours in a piece are
# equal to the last bit, so nothing has to be rounded.

for start, stop, value in found.segments:
    print(f"clones {start:3d} to {stop - 1:3d}: {value:6.2f}")
found.plot()

# %%
# Choosing lam2
# -------------
#
# ``"cv"`` holds out every fifth clone in turn, ``"sure"`` estimates the risk from the degrees of freedom, and ``"bic"``
# asks for strong reasons before it adds a piece, which is what a list of segments needs. Each of the 60 weights that
# are tried is solved exactly; all of them together take some milliseconds.

for criterion in ("cv", "sure", "bic"):
    one = spdpeg.denoise(y, criterion)
    error = np.sqrt(np.mean((one.x - truth) ** 2))
    print(f"{criterion:4}  lam2 = {one.lam2:6.3f}  {one.n_pieces:3d} pieces  error {error:.3f}")

# %%
# Most of the genome is unchanged
# -------------------------------
#
# lam1 makes pieces exactly 0. It shrinks all others by the same amount, so keep it small.

sparse = spdpeg.denoise(y, 6.0, lam1=0.15)
figure, panels = plt.subplots(2, 1, figsize=(8, 5), sharex=True, layout="constrained")
for panel, one in zip(panels, (found, sparse), strict=True):
    panel.plot(y, ".", color="0.75", markersize=3)
    panel.plot(truth, color="black", linewidth=1, label="truth")
    panel.plot(one.x, linewidth=1.8, label=f"lam1 = {one.lam1:g}")
    panel.set_title(f"{np.count_nonzero(one.x == 0.0)} of {y.size} clones are exactly 0, {one.df} degrees of freedom")
    panel.set_ylabel("log ratio")
    panel.legend()
panels[-1].set_xlabel("clone")
print(sparse.certificate)

# %%
# Common pitfalls
# ---------------
#
# - lam1 and lam2 belong to a sum, as in R's flsa, cghFLasso and genlasso. The models with ``fit`` take a mean over
#   rows: divide by the number of values to compare.
# - A jump is often found as a small staircase: its steps lie on the same side of the truth. A larger lam2 has fewer of
#   them.
# - The levels are shrunk towards each other by lam2 over the length of a piece. For unbiased levels take the means of y
#   over the segments.
# - Chromosomes are separate signals: fit them one by one, or set lam2 to 0 between them
#   (``lam2`` may be an array with an entry for each pair of neighbours).
