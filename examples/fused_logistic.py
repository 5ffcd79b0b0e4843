"""Fused logistic regression, against CVXPY with the conic solver Clarabel.

The stochastic run is what SPDPEG is for: a few passes, modest accuracy. Full batches take the same code to the optimum.
"""

from typing import NamedTuple

import cvxpy as cp

import spdpeg
from spdpeg import datasets, losses, operators, penalties

LAM1, LAM2 = 5e-4, 5e-3


class Objectives(NamedTuple):
    """One function, three runs."""

    stochastic: float
    full_batches: float
    reference: float


def run(n_samples: int = 2000, n_features: int = 60) -> Objectives:
    """Solve one problem in the three ways."""
    X, y, _ = datasets.piecewise_constant(n_samples, n_features)
    problem = spdpeg.Problem(
        X, y, loss=losses.Logistic(), r1=penalties.L1(LAM1), r2=penalties.L1(LAM2), F=operators.FirstDifference()
    )
    stochastic = spdpeg.solve(problem, "spdpeg", max_passes=50)
    full = spdpeg.solve(problem, "spdpeg", max_passes=2000, batch_size=n_samples, kappa=0.0, record_every=2000)

    x = cp.Variable(n_features)
    loss = cp.sum(cp.logistic(-cp.multiply(y, X @ x))) / n_samples
    cp.Problem(cp.Minimize(loss + LAM1 * cp.norm1(x) + LAM2 * cp.norm1(cp.diff(x)))).solve(solver=cp.CLARABEL)
    return Objectives(stochastic.objective, problem.objective(full.x_last), problem.objective(x.value))


if __name__ == "__main__":
    stochastic, full_batches, reference = run()
    print(f"CVXPY with Clarabel                   {reference:.10f}")
    print(f"spdpeg, 50 passes                     {stochastic:.10f}  difference {stochastic - reference:.1e}")
    print(f"spdpeg, full batches, last iterate    {full_batches:.10f}  difference {full_batches - reference:.1e}")
