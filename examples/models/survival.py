"""
Cox regression with fused coefficients: survival along a genome
===============================================================

Patients were followed until they died or left the study, and their tumours have copy numbers at many positions along a
chromosome. Which stretches change the hazard, and by how much? Cox regression leaves the course of the hazard in time
open, and tells what features multiply it by. Here neighbouring positions share their effects, and most have none::

    half the partial deviance, over the number of rows  +  lam1 * sum of |x_j|  +  lam2 * sum of |x_{j+1} - x_j|

Use it if y is a time until an event, some of which were never seen, and your columns have an order or form a graph.
"""

# %%
# The cohort is drawn: 500 patients, 120 positions, gains and losses of whole stretches. Two stretches matter: gains of
# the first raise the hazard, those of the second lower it. Patients leave after a while, whatever their tumours do.

import matplotlib.pyplot as plt
import numpy as np

from spdpeg import FusedCoxRegression, FusedCoxRegressionCV

rng = np.random.default_rng(3)
n, d = 500, 120
copies = np.zeros((n, d))
for row in copies:
    for _ in range(6):
        start = rng.integers(d)
        row[start : start + rng.integers(5, 25)] += rng.choice([-1.0, 1.0])
copies += 0.5 * rng.standard_normal((n, d))

truth = np.zeros(d)
truth[20:35], truth[80:100] = 0.1, -0.08
died = rng.exponential(60.0 * np.exp(-copies @ truth))
left = rng.uniform(10.0, 120.0, n)
outcome = np.column_stack([np.minimum(died, left), died <= left])  # months, and whether the patient died then
print(f"{int(outcome[:, 1].sum())} of {n} patients died")

# %%
# Cross-validation chooses both weights on 350 patients, and ``rule="one-standard-error"`` takes the simplest model that
# is not clearly worse than the best. The other patients tell how well it orders times that it has never seen. Their
# concordance index is the part of the pairs in which the patient with the higher predicted hazard died first: 0.5 is
# guessing.

model = FusedCoxRegressionCV(n_lam1=5, n_lam2=6, rule="one-standard-error", random_state=0)
model.fit(copies[:350], outcome[:350])
single = FusedCoxRegression(model.lam1_, lam2=0.0).fit(copies[:350], outcome[:350])
for name, found in (("fused", model), ("lam2 = 0", single)):
    concordance = found.score(copies[350:], outcome[350:])
    print(f"{name}: concordance {concordance:.3f} with {np.unique(found.coef_[found.coef_ != 0.0]).size} hazard ratios")
print(model.certificate_)

# %%
# Fused or not, patients are ordered about as well; but fused coefficients say where. They are logarithms of hazard
# ratios, shrunk toward zero, and the two stretches are found.

panel = model.plot_coefficients().axes[0]
panel.plot(truth, color="black", linewidth=1, label="truth")
panel.legend()
for start, stop, value in model.segments_:
    if value:
        print(f"positions {start:3d} to {stop - 1:3d}: hazard times {np.exp(value):.3f} for each copy")

# %%
# ``predict_survival`` gives the probabilities to live longer than some times, by Breslow's estimator. Here are those of
# the new patients with the lowest and the highest tenth of predicted hazards.

hazards = model.predict(copies[350:])
figure, panel = plt.subplots()
low, high = np.quantile(hazards, [0.1, 0.9])
for name, some in (("lowest tenth", hazards <= low), ("highest tenth", hazards >= high)):
    curve = model.predict_survival(copies[350:][some]).mean(axis=0)
    panel.step(model.event_times_, curve, where="post", label=name)
panel.set(xlabel="months", ylabel="probability to survive", ylim=(0.0, 1.0))
panel.legend()

# %%
# What the parameters do
# ----------------------
#
# - ``lam1`` makes coefficients zero, ``lam2`` makes neighbours equal; with ``lam2=0`` this is glmnet's Cox lasso.
# - ``structure`` says who the neighbours are: ``"chain"``, the shape of a grid, the edges of a graph of genes.
# - ``refit=True`` fits the pieces again without penalties, so that hazard ratios are not shrunk.
#
# Common pitfalls
# ---------------
#
# - y has two columns, **time first**, then 1 for an event and 0 for a patient who left. A structured array as that of
#   scikit-survival is taken too.
# - Only the order of the times counts. Ties are treated as Breslow does. Columns are not scaled; do that first if they
#   have different units.
# - If a feature tells the order of events without fail, no finite coefficient is best: keep ``lam1`` above 0.
