"""
Change points in a signal, beside ruptures
==========================================

A signal that stays at a level, jumps and stays again: where are the jumps? ``denoise`` answers with the best curve
under a charge for jumps::

    sum of (curve - y)^2 / 2  +  lam2 * sum of |jumps|

It is solved exactly, in a time proportional to the length of the signal, and a certificate proves it.
"""

# %%
# The flow of the Nile at Aswan, year by year. One weight, and the curve has two levels.

import matplotlib.pyplot as plt
import numpy as np

import spdpeg

years, flow = spdpeg.datasets.nile()
found = spdpeg.denoise(flow, lam2=1000)
for start, stop, level in found.segments:
    print(f"{years[start]} to {years[stop - 1]}: {level:.0f}")
print(found.certificate)

# %%
# The charge also pulls the levels towards each other. Once the jumps are known, the mean of each segment is the
# better level: the dashed line.

means = np.concatenate([np.full(stop - start, flow[start:stop].mean()) for start, stop, _ in found.segments])
figure, panel = plt.subplots(figsize=(8, 3.6), layout="constrained")
panel.plot(years, flow, ".", color="0.6", label="measured")
panel.step(years, found.x, where="mid", label="denoised")
panel.step(years, means, "--", where="mid", color="black", linewidth=1, label="means of the segments")
panel.set(xlabel="year", ylabel="flow")
figure.legend(loc="outside upper center", ncols=3)

# %%
# How many jumps
# --------------
#
# ``lam2="bic"`` chooses the weight by the Bayesian information criterion, which counts segments; ``"cv"`` by leaving
# out every fifth value, which cares for the fit and keeps more jumps. Six levels here, with noise:

rng = np.random.default_rng(2)
truth = np.repeat([0.0, 2.0, 1.0, 3.0, 3.8, 1.5], [80, 40, 120, 60, 100, 100])
y = truth + 0.5 * rng.standard_normal(truth.size)
for criterion in ("bic", "cv"):
    chosen = spdpeg.denoise(y, lam2=criterion)
    print(f"{criterion}: lam2 = {chosen.lam2:.3g}, {chosen.n_pieces} pieces")

# %%
# A jump of the truth often becomes a staircase: two or three steps close to each other. The large jumps lie where
# they should.

bic = spdpeg.denoise(y, lam2="bic")
jumps = np.flatnonzero(np.abs(np.diff(bic.x)) > 0.3) + 1
print("jumps of more than 0.3 before:", jumps.tolist())
print("jumps of the truth before:    ", (np.flatnonzero(np.diff(truth)) + 1).tolist())
bic.plot()

# %%
# Beside ruptures
# ---------------
#
# ``ruptures`` charges for each jump, whatever its height, and finds the best segmentation by dynamic programming
# (``Pelt``, ``Dynp``) or greedily (``Binseg``). It has no staircases, and many cost functions beside the mean.
#
# ============================ ==================================== ==========================================
# you want                     here                                 ruptures
# ============================ ==================================== ==========================================
# few jumps of the mean        ``denoise(y, lam2)``                 ``Pelt(model="l2").fit_predict(y, pen)``
# a given number of jumps      lower ``lam2`` until there are       ``Dynp(model="l2").fit_predict(y, n)``
# jumps of a slope             ``denoise(y, lam2, order=2)``        ``model="clinear"``
# missing values               NaN                                  fill them first
# values that are mostly 0     ``lam1``                             not there
# a million values             about a second                       ``Pelt``
# images, graphs               ``denoise(image, lam2)``             not there
# jumps of variance or law     not there                            ``model="normal"``, ``"rbf"``
# ============================ ==================================== ==========================================
