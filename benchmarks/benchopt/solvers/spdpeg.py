"""The solvers of spdpeg, by name; `auto` is what runs by default."""

import warnings

from benchopt import BaseSolver
from spdpeg import Problem, losses, operators, penalties, solve

_LOSSES = {"squared": losses.Squared, "logistic": losses.Logistic}


class Solver(BaseSolver):
    """Each point of a curve is a run with so many passes over the rows."""

    name = "spdpeg"
    requirements = ["pip::spdpeg"]
    parameters = {"solver": ["auto", "spdpeg", "vr-spdpeg", "pd3o"]}
    sampling_strategy = "iteration"

    def set_objective(self, X, y, loss, lam1, lam2):
        """The problem; compiled code is loaded before the clock starts."""
        r1, r2 = penalties.L1(lam1), penalties.L1(lam2)
        self.problem = Problem(X, y, loss=_LOSSES[loss](), r1=r1, r2=r2, F=operators.FirstDifference())
        self.run(30)

    def run(self, n_iter):
        """So many passes."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a budget is short is what the curve shows
            self.x = solve(self.problem, self.solver, max_passes=n_iter, tol=1e-12).x

    def get_result(self):
        """Where the run ended."""
        return {"x": self.x}
