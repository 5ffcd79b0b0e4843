"""The linear SVM with the exact hinge loss, against scikit-learn's LinearSVC.

The hinge is not smooth, so it cannot be the loss. It has a closed-form prox, so it can be r2, composed with the data:

    (mu / 2) |x|^2  +  (1 / N) sum_i max(0, 1 - b_i <a_i, x>)      r1 is ridge, F is the data matrix
"""

from typing import NamedTuple

import numpy as np
from sklearn.svm import LinearSVC

import spdpeg
from spdpeg import operators, penalties

MU = 1e-2
ITERATIONS = 20_000


class Objectives(NamedTuple):
    """One function, two solvers."""

    ours: float
    reference: float


def run(n_samples: int = 500, n_features: int = 20) -> Objectives:
    """Solve one problem with both."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_samples, n_features))
    y = np.sign(X @ rng.standard_normal(n_features) + 2.0 * rng.standard_normal(n_samples))
    problem = spdpeg.Problem(
        None, r1=penalties.L2Squared(MU), r2=penalties.Hinge(y, weight=1 / n_samples), F=operators.Matrix(X)
    )

    # rho is the size of the dual (entries up to 1/N) over that of F x (margins up to 10 or so).
    result = spdpeg.solve(
        problem,
        "spdpeg-sc2",
        max_passes=None,
        max_iterations=ITERATIONS,
        record_every=2 * ITERATIONS,
        rho=0.1 / n_samples,
    )
    svc = LinearSVC(loss="hinge", C=1 / (MU * n_samples), fit_intercept=False, tol=1e-8, max_iter=1_000_000).fit(X, y)
    return Objectives(result.objective, problem.objective(svc.coef_[0]))


if __name__ == "__main__":
    ours, reference = run()
    print(f"spdpeg        {ours:.10f}")
    print(f"scikit-learn  {reference:.10f}")
    print(f"difference    {ours - reference:.1e}")
