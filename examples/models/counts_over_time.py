"""
Counts over time: a Poisson trend
=================================

Calls in an hour, cases in a week, photons in a bin: counts whose rate changes now and then. The squared loss trusts
large counts too much; the Poisson loss knows that a count varies like the root of its mean::

    mean of (rate * exposure - count * log(rate * exposure))  +  lam2 * sum of |changes of log(rate)|
"""

# %%
# Cases in each of 200 weeks, in a population that grows. The rate per head jumps twice. ``exposure`` is the
# population, so that the curve is the rate and not the count.

import matplotlib.pyplot as plt
import numpy as np

from spdpeg import TrendFilter

rng = np.random.default_rng(0)
week = np.arange(200.0)
population = np.linspace(1.0, 4.0, 200)  # in 100,000
rate = np.repeat([5.0, 12.0, 7.0], [90, 40, 70])
cases = rng.poisson(rate * population)

model = TrendFilter(order=1, lam2=0.4, family="poisson").fit(week[:, None], cases, exposure=population)
fitted = model.predict(week[:, None])  # of exposure 1: cases per 100,000
jumps = np.flatnonzero(np.diff(fitted)) + 1
print("the rate changes before the weeks", jumps.tolist())
print(model.certificate_)

# %%
# The counts grow with the population all the time; the rate does not.

figure, (above, below) = plt.subplots(2, 1, figsize=(8, 5), sharex=True, layout="constrained")
above.plot(week, cases, ".", color="0.6", label="cases")
above.plot(week, fitted * population, label="fitted rate times population")
above.set_ylabel("cases")
below.step(week, rate, where="mid", color="black", linewidth=1, label="true rate")
below.step(week, fitted, where="mid", label="fitted rate")
below.set(xlabel="week", ylabel="cases per 100,000")
for panel in (above, below):
    panel.legend()

# %%
# Parameters and pitfalls
# -----------------------
#
# - ``family`` is there for all regressors: ``"poisson"``, ``"gamma"`` (positive numbers whose spread grows with their
#   mean), ``"huber"`` and ``"quantile"`` beside ``"gaussian"``. ``predict`` gives means, ``score`` the part of the
#   deviance that is explained.
# - The link is the logarithm: coefficients add up in the log of the rate, and a difference of 0.7 is a doubling.
# - ``order=2`` makes the log of the rate piecewise linear: phases of exponential growth and decline.
# - A stretch without a single event has the rate 0, whose logarithm is minus infinity; the penalty holds it at that
#   of its neighbours.
