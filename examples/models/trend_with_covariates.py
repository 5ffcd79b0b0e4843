"""
A trend beside covariates
=========================

Sales have a level that changes now and then, and they react to price and weather at the same time. A regression
without the level blames its changes on the covariates; a trend filter without the covariates blames their noise on
the trend. One model has both::

    y_t  =  level_t  +  <z_t, b>  +  noise,      lam2 charges for changes of the level, and b is free
"""

# %%
# The design has a column for each week, which is 1 in that week alone, and the covariates beside them. F takes
# differences of the levels and leaves the covariates out.

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

from spdpeg import GeneralizedLasso

rng = np.random.default_rng(0)
weeks = 150
level = np.repeat([10.0, 13.0, 11.0], [60, 40, 50])
price = 2.0 + 0.3 * rng.standard_normal(weeks) - 0.15 * (level - 10.0)  # it was lowered when sales were high
warmth = np.sin(2 * np.pi * np.arange(weeks) / 52) + 0.3 * rng.standard_normal(weeks)
covariates = np.column_stack([price, warmth])
y = level + covariates @ [-2.0, 1.0] + 0.5 * rng.standard_normal(weeks)

X = np.hstack([np.eye(weeks), covariates])
differences = sp.diags_array([-1.0, 1.0], offsets=[0, 1], shape=(weeks - 1, weeks))
F = sp.hstack([differences, sp.csr_array((weeks - 1, 2))]).tocsr()
model = GeneralizedLasso(F, lam1=0.0, lam2=0.02, fit_intercept=False).fit(X, y)
b = model.coef_[weeks:]
alone, *_ = np.linalg.lstsq(np.column_stack([np.ones(weeks), covariates]), y, rcond=None)
print("effects of price and warmth, truth -2 and 1:")
print(f"  with a level that changes: {b[0]:.2f}, {b[1]:.2f}")
print(f"  with one level for all:    {alone[1]:.2f}, {alone[2]:.2f}")
print(model.certificate_)

# %%
# Since the price was lowered when the level was high, the regression with one level overstates what the price does.
# The curve below is the level with the covariates taken out.

figure, panel = plt.subplots(figsize=(8, 3.8), layout="constrained")
panel.plot(y - covariates @ b, ".", color="0.6", label="sales without the effect of price and warmth")
panel.step(np.arange(weeks), level, where="mid", color="black", linewidth=1, label="true level")
panel.step(np.arange(weeks), model.coef_[:weeks], where="mid", label="fitted level")
panel.set(xlabel="week", ylabel="level")
panel.legend(fontsize="small")

# %%
# Variations
# ----------
#
# - ``operators.Difference(2)`` in place of the differences gives a level made of straight lines.
# - ``lam2`` as an array charges some changes less: weeks in which a change is known to be likely.
# - ``lam1`` as an array, 0 for the weeks, makes covariates sparse.
# - With several rows in a week, repeat its row of the identity matrix.
