"""Proximal Newton with sampled curvature, for problems with few coordinates.

Each step replaces the loss by its quadratic model and solves the model, penalties included, by ADMM on K = [F; I],
whose matrix is factorised once a step. The curvature is averaged over a part of the rows only: it changes the path, not
the solution. Lee, Sun, Saunders: Proximal Newton-type methods for minimizing composite functions, SIAM Journal on
Optimization 24 (2014); sampled curvature: Byrd, Chin, Neveitt, Nocedal, SIAM Journal on Optimization 21 (2011).
"""

import numpy as np
import scipy.linalg

from ..data import Block
from ..errors import UnsupportedError
from ..kernels.jit import Term, call_linear, call_prox, call_scalar, inner, kernel
from ..kernels.rows import Rows, add_row, count, row_dot, weight_of
from ..problem import Problem, Terms
from ..state import State
from .base import Solution, Solver, require_positive, require_smooth
from .stacking import Stacked, stacked
from .steps import StepRule

_MOST_FEATURES = 2000
_ROWS_PER_FEATURE = 20
"""Rows that the curvature is averaged over, per coordinate."""
_RELAXATION = 1.7
_MOST_INNER = 2000
_FIRST_ACCURACY, _LAST_ACCURACY = 1e-3, 1e-11
_MOST_HALVINGS = 15


class ProxNewton(Solver):
    """x <- minimiser of the quadratic model of l plus r1 + r2(F .), with step halving; the last iterate.

    Parameters
    ----------
    rows : int, optional
        Rows that the curvature is averaged over; 20 d by default, all of them if there are fewer. Halving steps doubles
        their number.
    """

    name = "prox-newton"
    summary = "proximal Newton with sampled curvature, deterministic, for d up to 2000"
    update = "x+ = x + step (m - x), m the minimiser of a quadratic model of l, plus r1 + r2(F .)"
    cost = "1 pass, curvature of 20 d rows, one d x d factorisation, up to 2000 products with it, 1 F and 1 F^T each"
    memory = "4 d + 2 l + N, and at work 3 d^2 + N + 7 d + 3 l"
    rate = "superlinear if the curvature is that of all rows"
    needs = "smooth loss; any r1, r2, F; finite sum; d at most 2000"
    deterministic = True
    finite_sum = True

    def __init__(self, rows: int | None = None) -> None:
        self.rows = rows
        require_positive(rows=rows)

    def check(self, problem: Problem) -> None:
        require_smooth(self, problem)
        if problem.n_features > _MOST_FEATURES:
            raise UnsupportedError(
                f"prox-newton factorises d x d matrices and d is {problem.n_features}. "
                f'It takes up to {_MOST_FEATURES}; use "svrg-admm" or "sag-admm".'
            )

    def dual_size(self, problem: Problem) -> int:
        return problem.F.n_outputs + problem.n_features

    def steps_ahead(self, state: State) -> float:
        return 1.0  # each step reads a number of rows of its own

    def start(
        self, problem: Problem, batch_size: int, x0: np.ndarray
    ) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        n, d = problem.block.labels.size, problem.n_features
        z = stacked(problem).K.forward(x0)
        vectors = {"x": x0.copy(), "z": z, "y": np.zeros(z.size), "margins": np.zeros(n), "gradient": np.zeros(d)}
        stride = max(1, n // int(self.rows or _ROWS_PER_FEATURE * d))
        numbers = {"stride": float(stride), "accuracy": _FIRST_ACCURACY, "value": np.nan}
        return {**numbers, **StepRule(base=1.0).to_numbers()}, vectors

    def prepare(self, problem: Problem, terms: Terms, state: State) -> int:
        if not np.isnan(state.numbers["value"]):
            return 0
        v = state.vectors
        state.numbers["value"] = self._read(problem, v["x"], v["margins"], v["gradient"])
        return problem.block.labels.size

    def advance(self, problem: Problem, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int) -> int:
        form = stacked(problem)
        v, numbers = state.vectors, state.numbers
        n, d = block.labels.size, problem.n_features
        stride = int(numbers["stride"])
        curvature = np.zeros((d, d))
        sampled = add_curvature(block, terms.derivative, v["margins"], stride, state.iterations % stride, curvature)
        curvature = (curvature + np.tril(curvature, -1).T) / sampled
        x_new = self._minimize_model(form, form.terms(problem), curvature, state)

        margins, gradient = np.empty(n), np.empty(d)
        value = self._read(problem, x_new, margins, gradient)
        reads = n + sampled
        step = 1.0
        while value > numbers["value"] and step > 0.5**_MOST_HALVINGS:
            step *= 0.5
            value = self._read(problem, v["x"] + step * (x_new - v["x"]), margins, gradient)
            reads += n
        if step < 1.0:
            numbers["stride"] = float(max(1, stride // 2))
        if value <= numbers["value"]:
            v["x"] += step * (x_new - v["x"])
            v["margins"][:], v["gradient"][:], numbers["value"] = margins, gradient, value
        numbers["accuracy"] = max(_LAST_ACCURACY, 0.1 * numbers["accuracy"])
        return reads - order.size

    def solution(self, problem: Problem, state: State) -> Solution:
        v = state.vectors
        m = problem.F.n_outputs
        return Solution(v["x"].copy(), v["x"].copy(), v["z"][:m].copy(), -v["y"][:m])

    def _read(self, problem: Problem, x: np.ndarray, margins: np.ndarray, gradient: np.ndarray) -> float:
        """Objective at x; fills margins and the gradient of the loss in the same read."""
        loss = evaluate(problem.block, problem.loss.value_term, problem.loss.derivative_term, x, margins, gradient)
        return float(loss) + problem.regularizer.value(x) + problem.r2.value(problem.F.forward(x))

    def _minimize_model(self, form: Stacked, terms: Terms, curvature: np.ndarray, state: State) -> np.ndarray:
        v = state.vectors
        K = form.K.matrix()
        gram = (K.T @ K).toarray()
        rho = max(float(np.trace(curvature) / np.trace(gram)), 1e-12)
        inverse = _inverse(curvature + rho * gram)
        right = curvature @ v["x"] - v["gradient"]
        d, m = right.size, v["y"].size
        x = v["x"].copy()
        model_steps(
            inverse,
            right,
            rho,
            state.numbers["accuracy"],
            terms,
            x,
            v["y"],
            v["z"],
            np.empty(m),
            np.empty(m),
            np.empty(m),
            np.empty(d),
            np.empty(d),
        )
        return v["z"][m - d :].copy()


def _inverse(matrix: np.ndarray) -> np.ndarray:
    """Of a positive definite matrix."""
    factor, _ = scipy.linalg.lapack.dpotrf(matrix, lower=1)
    lower, _ = scipy.linalg.lapack.dpotri(factor, lower=1)
    return np.ascontiguousarray(np.tril(lower) + np.tril(lower, -1).T)


@kernel
def evaluate(
    block: Block, value: Term, derivative: Term, x: np.ndarray, margins: np.ndarray, gradient: np.ndarray
) -> float:
    """Mean loss at x; fills the margins and the gradient of the mean loss."""
    n = margins.size
    total = 0.0
    gradient[:] = 0.0
    for i in range(n):
        w = weight_of(block.weights, i)
        margins[i] = row_dot(block.rows, i, x)
        total += w * call_scalar(value, margins[i], block.labels[i])
        add_row(block.rows, i, w * call_scalar(derivative, margins[i], block.labels[i]) / n, gradient)
    return total / n


@kernel
def add_curvature(block: Block, derivative: Term, margins: np.ndarray, stride: int, first: int, out: np.ndarray) -> int:
    """Lower triangle of out += sum of w phi''(margin) a a^T over every `stride`-th row; the number of those rows.

    phi'' by central differences: the model needs no more.
    """
    used = 0
    for i in range(first, count(block.rows), stride):
        used += 1
        h = 1e-6 * max(1.0, abs(margins[i]))
        rise = call_scalar(derivative, margins[i] + h, block.labels[i]) - call_scalar(
            derivative, margins[i] - h, block.labels[i]
        )
        add_outer(block.rows, i, weight_of(block.weights, i) * max(rise, 0.0) / (2.0 * h), out)
    return used


@inner
def add_outer(rows: Rows, i: int, factor: float, out: np.ndarray) -> None:
    """Lower triangle of out += factor a_i a_i^T (columns in any order: both triangles of unsorted rows count once)."""
    if rows.indptr.size == 0:
        row = rows.values[i * rows.width : (i + 1) * rows.width]
        for j in range(row.size):
            scaled = factor * row[j]
            if scaled != 0.0:
                for k in range(j + 1):
                    out[j, k] += scaled * row[k]
    else:
        start, stop = np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])
        for p in range(start, stop):
            scaled = factor * rows.values[p]
            row_of_out = np.uint64(rows.indices[p])
            for q in range(start, stop):
                column = np.uint64(rows.indices[q])
                if column <= row_of_out:
                    out[row_of_out, column] += scaled * rows.values[q]


@kernel
def model_steps(
    inverse: np.ndarray,
    right: np.ndarray,
    rho: float,
    accuracy: float,
    stack: Terms,
    x: np.ndarray,
    y: np.ndarray,
    z: np.ndarray,
    y_next: np.ndarray,
    ahead: np.ndarray,
    image: np.ndarray,
    back: np.ndarray,
    total_right: np.ndarray,
) -> int:
    """Relaxed ADMM on the model until y and z move by less than `accuracy`; the number of steps.

    x = inverse (right + K^T (rho z - y)),  y <- prox_{rho psi*}(y + rho v),  z <- v + (y before - y) / rho,
    v = 1.7 K x - 0.7 z
    """
    for step in range(_MOST_INNER):
        for e in range(y.size):
            ahead[e] = rho * z[e] - y[e]
        call_linear(stack.adjoint, ahead, back)
        for j in range(x.size):
            total_right[j] = right[j] + back[j]
        for j in range(x.size):
            total = 0.0
            for k in range(x.size):
                total += inverse[j, k] * total_right[k]
            x[j] = total
        call_linear(stack.forward, x, image)
        for e in range(y.size):
            image[e] = _RELAXATION * image[e] + (1.0 - _RELAXATION) * z[e]
        for e in range(y.size):
            ahead[e] = y[e] + rho * image[e]
        call_prox(stack.dual_prox2, ahead, rho, y_next)
        moved = 0.0
        size = 0.0
        for e in range(y.size):
            after = image[e] + (y[e] - y_next[e]) / rho
            moved += (after - z[e]) ** 2 + ((y_next[e] - y[e]) / rho) ** 2
            size += after**2
            z[e] = after
        for e in range(y.size):
            y[e] = y_next[e]
        if moved <= accuracy * accuracy * size:
            return step + 1
    return _MOST_INNER
