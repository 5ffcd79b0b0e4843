"""CVXPY with Clarabel: the conic program, to its default accuracy."""

from benchopt import BaseSolver, safe_import_context

with safe_import_context() as import_ctx:
    import cvxpy as cp


class Solver(BaseSolver):
    """One point: an interior-point method is not stopped on its way."""

    name = "cvxpy"
    requirements = ["pip::cvxpy", "pip::clarabel"]
    sampling_strategy = "run_once"

    def set_objective(self, X, y, loss, lam1, lam2):
        """The model as one writes it down."""
        self.x = cp.Variable(X.shape[1])
        margins = X @ self.x
        mean = (
            cp.sum_squares(margins - y) / (2 * y.size)
            if loss == "squared"
            else cp.sum(cp.logistic(cp.multiply(-y, margins))) / y.size
        )
        penalty = lam1 * cp.norm1(self.x) + lam2 * cp.norm1(cp.diff(self.x))
        self.problem = cp.Problem(cp.Minimize(mean + penalty))

    def run(self, _):
        """Solve."""
        self.problem.solve(solver=cp.CLARABEL)

    def get_result(self):
        """The solution."""
        return {"x": self.x.value}
