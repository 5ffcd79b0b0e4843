"""Proximal gradient steps of spectral length, for penalties that have a prox as a whole.

The length of a step comes from the change of the gradient along the last one (Barzilai, Borwein), so no bound on the
curvature is needed, and the objective may rise for a while: it must fall below the largest of its last values. One read
of the data a step, which also tells all that a certificate needs.

Wright, Nowak, Figueiredo: Sparse reconstruction by separable approximation, IEEE Transactions on Signal Processing 57,
2009. Barzilai, Borwein: Two-point step size gradient methods, IMA Journal of Numerical Analysis 8, 1988.
"""

import math

import numpy as np

from ..data import Block
from ..errors import UnsupportedError
from ..kernels.terms import Terms
from ..penalties import Penalty
from ..result import Status
from ..solvers.base import About, FullReads, Solution, require_differentiable
from ..state import State
from ..sums import Sums, Sweep
from ..view import View

_MEMORY = 5
"""Objectives of the last steps, the largest of which the next one must fall below."""

_SUFFICIENT = 1e-4
"""Fraction of |x+ - x|^2 / (2 length) by which it must fall at least."""

_ROUNDING = 1e-14
"""Relative error of an objective."""

_MOST_HALVINGS = 40
"""Most halvings of one step; beyond these the point moves by rounding alone."""

_MOST_STALLED = 4 * _MEMORY
"""Steps in a row without a new least objective that end a run."""

_SELDOM = 50
"""Steps after which a certificate is made even if nothing promises it."""


class SpaRSA(FullReads):
    """x <- prox of all penalties at x - length g, the length of Barzilai and Borwein; the last iterate.

    The objective need not fall at every step, only below the largest of its last five values.
    """

    about = About(
        name="sparsa",
        summary="proximal gradient steps of spectral length; deterministic, for penalties with a prox as a whole",
        update="x+ = prox of t (r1 + r2(F .)) at x - t g, t = <s, s> / <s, v> and <s, v> / <v, v> in turns, "
        "s and v the last changes of x and g",
        cost="1 pass; 1 prox",
        memory="N + 2 d + l + 5; 4 d more for a step",
        rate="objective converges; linear where it grows quadratically",
        needs="smooth loss; r2 = 0, or l1 norms along a chain: a prox of r1 + r2(F .); finite sum",
        assumptions="gradient of l Lipschitz on the level set of the start",
        deterministic=True,
        finite_sum=True,
        converges=True,
    )

    def check(self, problem: View) -> None:
        require_differentiable(self, problem)
        if problem.penalty.joint is None:
            raise UnsupportedError(
                f"sparsa takes the prox of r1 + r2(F .), and r1={problem.penalty.r1!r} with r2={problem.r2!r} and "
                f'F={problem.F!r} has none in closed form. Use "vr-spdpeg".'
            )

    def start(self, problem: View, batch_size: int, x0: np.ndarray) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        vectors = self._vectors(problem, x0.copy()) | {"values": np.zeros(_MEMORY)}
        numbers = {"loss": math.nan, "length": 1.0, "decrease": math.inf, "least": math.inf, "stalled": 0}
        return numbers | {"unit": 1.0}, vectors

    def prepare(self, problem: View, terms: Terms, state: State) -> int:
        """Loss and gradient at the start, and the curvature of the loss along the gradient and along the intercept."""
        if not math.isnan(state.numbers["loss"]):
            return 0
        x, sums, n_features = state.vectors["x"].copy(), problem.sums, problem.rows.n_features
        first, numbers, reads = sums.at(x), state.numbers, 2
        # One product with the true Hessian gives the first length its unit, another one that of an intercept.
        slope = first.gradient.copy()
        slope[n_features:] = 0.0
        curvature = self._curvature(sums, first, x, slope)
        numbers["length"] = 1.0 / curvature if curvature > 0.0 else 1.0
        if n_features < x.size:
            alone = np.zeros(x.size)
            alone[n_features:] = 1.0
            unit = numbers["length"] * self._curvature(sums, first, x, alone)
            numbers["unit"] = unit if unit > 0.0 else 1.0
            reads += 1
        self._take(problem, state, x, first)
        state.vectors["values"][:] = state.numbers["least"]
        return reads * sums.n_rows

    def advance(self, problem: View, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int) -> int:
        v, numbers, penalty = state.vectors, state.numbers, _joint(problem)
        x, g, length = v["x"].copy(), v["gradient"].copy(), numbers["length"]
        ceiling, least = float(v["values"].max()), numbers["least"]
        # Beside the columns of the features, that of an intercept is long: it has a unit of its own.
        units = np.ones(x.size)
        units[problem.rows.n_features :] = numbers["unit"]
        downhill, reads = g / units, 0
        while True:
            ahead = penalty.prox(x - length * downhill, length)
            move = ahead - x
            sweep = problem.sums.at(ahead)
            reads += 1
            square = float(move @ (units * move))
            decrease = square / (2.0 * length)
            value = sweep.loss + problem.penalty.value(ahead)
            if value <= ceiling - _SUFFICIENT * decrease + _ROUNDING * abs(ceiling):
                break
            if reads == _MOST_HALVINGS:
                numbers["stalled"] = _MOST_STALLED
                return reads * problem.sums.n_rows
            length *= 0.5
        numbers["decrease"] = decrease / abs(value) if value else 0.0
        self._take(problem, state, ahead, sweep)
        numbers["stalled"] = 0 if value < least - _ROUNDING * abs(least) else numbers["stalled"] + 1
        change = sweep.gradient - g
        product = float(move @ change)
        # Along a way without curvature the length says nothing new.
        if product > 0.0:
            longest = state.steps % 2 == 0
            length = square / product if longest else product / float(change @ (change / units))
        numbers["length"] = length
        return reads * problem.sums.n_rows

    def solution(self, problem: View, state: State) -> Solution:
        x = state.vectors["x"].copy()
        y = problem.penalty.chain_dual(x, -state.vectors["gradient"])
        return Solution(x, x.copy(), None, -y)

    def may_be_optimal(self, state: State, tol: float) -> bool:
        # The gap is of the order of the root of what is left, so a step that still gains much proves nothing.
        numbers = state.numbers
        return numbers["decrease"] <= tol or numbers["stalled"] >= _MOST_STALLED or state.steps % _SELDOM == 0

    def ended(self, state: State) -> Status | None:
        return Status.EXHAUSTED if state.numbers["stalled"] >= _MOST_STALLED else None

    @staticmethod
    def _curvature(sums: Sums, at: Sweep, x: np.ndarray, way: np.ndarray) -> float:
        """Curvature of the loss along a direction of unit length."""
        ahead = sums.at(x, model=at, ahead=x + way)
        assert ahead.predicted_gradient is not None
        square = float(way @ way)
        return float(way @ (ahead.predicted_gradient - at.gradient)) / square if square > 0.0 else 0.0

    def _take(self, problem: View, state: State, x: np.ndarray, sweep: Sweep) -> None:
        self._keep(problem, state, x, sweep)
        value, values = sweep.loss + problem.penalty.value(x), state.vectors["values"]
        values[:-1] = values[1:].copy()
        values[-1] = value
        state.numbers["least"] = min(state.numbers["least"], value)


def _joint(problem: View) -> Penalty:
    penalty = problem.penalty.joint
    assert penalty is not None
    return penalty
