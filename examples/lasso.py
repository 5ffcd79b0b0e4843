"""The Lasso: squared loss + L1, against scikit-learn's coordinate descent."""

from typing import NamedTuple

import numpy as np
from sklearn.linear_model import Lasso

import spdpeg
from spdpeg import losses, penalties

ALPHA = 0.1


class Objectives(NamedTuple):
    """One function, two solvers."""

    ours: float
    reference: float


def run(n_samples: int = 400, n_features: int = 60) -> Objectives:
    """Solve one problem with both."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_samples, n_features))
    y = X[:, :5] @ np.array([3.0, -2.0, 1.5, -1.0, 0.5]) + rng.standard_normal(n_samples)
    problem = spdpeg.Problem(X, y, loss=losses.Squared(), r1=penalties.L1(ALPHA))

    # All rows in every batch leave no noise: the steps need not shrink (kappa = 0), the curvature of the mean is the
    # right one, and the last iterate converges faster than the average.
    result = spdpeg.solve(
        problem,
        "spdpeg",
        max_passes=2000,
        batch_size=n_samples,
        kappa=0.0,
        lipschitz=problem.view.bounds.lipschitz,
        record_every=2000,
    )
    lasso = Lasso(alpha=ALPHA, fit_intercept=False, tol=1e-10, max_iter=100_000).fit(X, y)
    return Objectives(problem.objective(result.x_last), problem.objective(lasso.coef_))


if __name__ == "__main__":
    ours, reference = run()
    print(f"spdpeg        {ours:.10f}")
    print(f"scikit-learn  {reference:.10f}")
    print(f"difference    {ours - reference:.1e}")
