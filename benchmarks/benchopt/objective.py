"""Sparse fused regression: what every solver minimises, and how every solution is judged."""

import numpy as np

from benchopt import BaseObjective


class Objective(BaseObjective):
    """mean loss + lam1 |x|_1 + lam2 |F x|_1, F the differences of neighbours, weights as parts of those where x = 0."""

    name = "Fused lasso and fused logistic regression"
    url = "https://github.com/spdpeg/spdpeg"
    min_benchopt_version = "1.6"
    requirements = ["numpy"]
    parameters = {"loss": ["squared", "logistic"], "share": [0.1, 0.01]}

    def set_data(self, X, y):
        """Rows and numbers; their signs are the classes of the logistic loss."""
        self.X = X
        self.y = y if self.loss == "squared" else np.where(y > 0.0, 1.0, -1.0)
        pull = X.T @ self.y / y.size if self.loss == "squared" else X.T @ self.y / (2.0 * y.size)
        self.lam = self.share * float(np.abs(pull).max())

    def evaluate_result(self, x):
        """The objective, and what the solution looks like."""
        margins = self.X @ x
        if self.loss == "squared":
            loss = 0.5 * np.mean((margins - self.y) ** 2)
        else:
            loss = np.mean(np.logaddexp(0.0, -self.y * margins))
        penalty = self.lam * (np.abs(x).sum() + np.abs(np.diff(x)).sum())
        return {
            "value": loss + penalty,
            "nonzero": int(np.count_nonzero(x)),
            "pieces": 1 + int(np.count_nonzero(np.diff(x))),
        }

    def get_one_result(self):
        """A solution to test the objective with."""
        return {"x": np.zeros(self.X.shape[1])}

    def get_objective(self):
        """What solvers are given."""
        return {"X": self.X, "y": self.y, "loss": self.loss, "lam1": self.lam, "lam2": self.lam}
