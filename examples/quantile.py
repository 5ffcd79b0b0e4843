"""Quantile regression with an L1 penalty, against scikit-learn's linear program.

The pinball loss is not smooth, so, as the hinge in svm.py, it is r2 and the data matrix is F:

    alpha |x|_1  +  (1 / N) sum_i pinball(b_i - <a_i, x>)
"""

from typing import NamedTuple

import numpy as np
from sklearn.linear_model import QuantileRegressor

import spdpeg
from spdpeg import operators, penalties

ALPHA = 5e-3
LEVEL = 0.8
ITERATIONS = 20_000


class Objectives(NamedTuple):
    """One function, two solvers."""

    ours: float
    reference: float


def run(n_samples: int = 500, n_features: int = 20) -> Objectives:
    """Solve one problem with both."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_samples, n_features))
    y = X @ rng.standard_normal(n_features) + 2.0 * rng.standard_normal(n_samples)
    problem = spdpeg.Problem(
        None, r1=penalties.L1(ALPHA), r2=penalties.Quantile(y, level=LEVEL, weight=1 / n_samples), F=operators.Matrix(X)
    )

    # rho is the size of the dual (entries up to 1/N) over that of F x (predictions up to 10 or so).
    result = spdpeg.solve(
        problem, "spdpeg", max_iterations=ITERATIONS, record_every=2 * ITERATIONS, rho=0.1 / n_samples
    )
    reference = QuantileRegressor(quantile=LEVEL, alpha=ALPHA, fit_intercept=False).fit(X, y)
    return Objectives(result.objective, problem.objective(reference.coef_))


if __name__ == "__main__":
    ours, reference = run()
    print(f"spdpeg        {ours:.10f}")
    print(f"scikit-learn  {reference:.10f}")
    print(f"difference    {ours - reference:.1e}")
