"""A proximal quasi-Newton method for strongly convex r1 and many coordinates.

The loss is modelled by the curvature that gradients along the way have shown (L-BFGS, compact form). With all penalties
this model is minimised without data by conjugate gradients among the multipliers, or by interior points where these are
slow: on coordinates that F or a weight takes part in; all others enter it as squares alone and are eliminated. One read
of the data a step.

Becker, Fadili, Ochs: On quasi-Newton forward-backward splitting, SIAM Journal on Optimization 29,
2019.
"""

import math
from collections.abc import Callable
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ..certificate import Certificate
from ..data import Block
from ..errors import StateError, UnsupportedError
from ..kernels.jit import as_reals
from ..kernels.terms import Terms
from ..penalties.conic import ConicForm
from ..quadratic import ACCURACY, LowRank, Model, minimize, multipliers
from ..result import Status
from ..solvers.base import About, FullReads, Solution, per_problem, require_smooth
from ..state import State
from ..sums import Evaluation, Sweep
from ..sums.blocks import adjoint_of, column_squares_of, margins_of
from ..view import View
from .penalty_form import PenaltyForm
from .pieces import AbsolutePenalties
from .secants import Secants

_MEMORY = 40
"""Steps whose curvature is kept."""

_FEW_PAIRS = 4
"""Room for them at first: new memory for all would cost a short run more than its reads."""

_SAMPLED_ROWS = 256
"""Rows that show how curved the loss is to begin with; later the steps show it."""

_SAMPLED_STEPS = 2
"""Steps of conjugate gradients on these rows, which are remembered as if they had been taken..."""
_MOST_BESIDE_SAMPLE = 10
"""... until so many others were: beside those they are noise. Chosen on seeds 8000 to 8199 of
benchmarks/random_problems.py."""

_LEAST_CURVATURE = 0.1
"""Fraction of the largest curvature that all rows are taken to have: at first a loss may be a line for many of them."""

_UNEQUAL = 0.1
_POWER, _LEAST_UNIT = 0.75, 1e-3
"""Where one column holds that fraction of the squares of all, as the first words of a text do, the first curvature is
not the same for all columns but this power of their squares, and at least so much beside the largest: a sample knows no
more of rare ones. Chosen on seeds 5000 to 5079 and 8000 to 8399 of benchmarks/random_problems.py; in weighted text no
column holds a twentieth, and one curvature for all takes fewer reads."""

_INNER, _INNER_TOL = 1e-3, 0.05
"""Fractions of the gap and of the tolerance that the model is solved to."""
_SHARE, _TIGHTER = 0.1, 1e-2
"""Fraction of the promised decrease by which the model may miss its minimum, and how much is left of it otherwise."""
_MOST_PRODUCTS = 1000
"""Of a model with H^-1, after which it is factored; where pieces are large, as on a grid, that takes less."""

_CURVED = 1e-10
"""Least cosine between a step and the change of the gradient along it, for a pair that is kept."""

_ARMIJO = 1e-4
"""Fraction of the decrease that the model promises to first order, which a step must bring."""
_ROUNDING = 1e-14
"""Relative error of an objective."""
_MOST_HALVINGS = 20
"""Most halvings of one step; beyond these the point stays where it is."""
_MOST_STALLED = 3
"""Steps in a row without a gain beyond rounding that end a run."""


class ProxLBFGS(FullReads):
    """x <- minimiser of a quasi-Newton model of l plus r1 + r2(F .), with step halving; the last iterate."""

    about = About(
        name="prox-lbfgs",
        summary="quasi-Newton model of l with exact penalties, solved without data; deterministic, for a ridge",
        update="x+ = x + step (m - x), m the minimiser of g'z + (z - x)'B(z - x)/2 + r1(z) + r2(F z), B by L-BFGS",
        cost="1 pass; some tens of products with F and with up to 80 vectors, among the columns that occur in F",
        memory="N + 11 d + 2 l + 4800, up to 72 d more as steps are remembered; 100 d more for a step",
        rate="linear",
        needs="smooth loss; ridge in r1; r1 and r2 of l1 type beside it; finite sum",
        assumptions="r1 strongly convex",
        example="loss=losses.Logistic(), r1=penalties.L2Squared(1e-2)",
        deterministic=True,
        finite_sum=True,
        converges=True,
    )
    derived = ("moves", "changes")

    def check(self, problem: View) -> None:
        require_smooth(self, problem)
        form = PenaltyForm.of(problem)
        if form is None or form.lines is None or not np.any(form.lines.ridge > 0.0):
            raise UnsupportedError(
                f"prox-lbfgs takes a ridge beside weighted absolute values of x and F x; here "
                f'r1={problem.penalty.r1!r}, r2={problem.r2!r}. Use "working-set" or "vr-spdpeg".'
            )

    def start(self, problem: View, batch_size: int, x0: np.ndarray) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        vectors = self._vectors(problem, x0.copy())
        vectors |= {"moves": np.zeros((_FEW_PAIRS, x0.size)), "changes": np.zeros((_FEW_PAIRS, x0.size))}
        vectors |= {
            "products": np.zeros((3 * _MEMORY, _MEMORY)),
            "multipliers": np.zeros(self._parts(problem).n_rows),
        }
        vectors["units"] = np.ones(x0.size)
        numbers = {
            "loss": math.nan,
            "value": math.nan,
            "gap": math.inf,
            "pairs": 0,
            "scale": 1.0,
            "unequal": 0,
            "sampled": 0,
            "stalled": 0,
        }
        return numbers | {"factored": 0, "tol": 0.0}, vectors

    def prepare(self, problem: View, terms: Terms, state: State) -> int:
        """Loss and gradient at the start, and the curvature of the loss along the gradient."""
        if not math.isnan(state.numbers["loss"]):
            return 0
        x = state.vectors["x"]
        first = problem.sums.at(x)
        self._keep(problem, state, x, first)
        state.numbers["value"] = first.loss + problem.penalty.value(x)
        read = self._first_curvature(problem, state, first)
        return problem.sums.n_rows + read

    def _first_curvature(self, problem: View, state: State, first: Sweep) -> int:
        """Guess the curvature of each column, and see that along some steps; the number of rows read for it.

        Without it the first model has a curvature of 1, in no units at all.
        """
        v, sums = state.vectors, problem.sums
        sample = sums.sample(_SAMPLED_ROWS)
        if sample is None:

            def product(step: np.ndarray) -> np.ndarray:
                there = sums.at(v["x"] + step, model=first, ahead=v["x"] + step)
                assert there.predicted_gradient is not None
                return there.predicted_gradient - first.gradient

            self._try(problem, state, product, 1)
            return sums.n_rows
        (rows, labels, weights), n = sample.block, sample.block.labels.size
        curvatures = problem.loss.second_derivative(margins_of(rows, n, v["x"]), labels)
        curvatures = np.maximum(curvatures, _LEAST_CURVATURE * problem.loss.curvature)
        curvatures *= weights if weights.size else 1.0
        squares = column_squares_of(Block(rows, labels, as_reals(curvatures)))
        most = float(squares.max(initial=0.0))
        if most > _UNEQUAL * float(squares.sum()):
            v["units"][:] = np.maximum((squares / most) ** _POWER, _LEAST_UNIT)
            state.numbers["unequal"] = 1
        self._try(problem, state, lambda step: adjoint_of(rows, curvatures, margins_of(rows, n, step)), _SAMPLED_STEPS)
        state.numbers["sampled"] = state.numbers["pairs"]
        return sample.read

    def _try(self, problem: View, state: State, product: Callable[[np.ndarray], np.ndarray], steps: int) -> None:
        """Remember the first steps of conjugate gradients without F, given products with the curvature of the loss."""
        v, ridge, units = state.vectors, self._parts(problem).ridge, self._units(state)
        left = -(v["gradient"] + ridge * v["x"])
        ahead = left / units
        step, size, scale = ahead, float(left @ ahead), state.numbers["scale"]
        for k in range(steps):
            change = product(step)
            self._remember(state, step, change)
            # Later ones go where little is left, and are more of the noise in a sample.
            scale = state.numbers["scale"] if k == 0 else scale
            change += ridge * step
            curved = float(step @ change)
            if not 0.0 < curved < math.inf:
                break
            left = left - (size / curved) * change
            ahead = left / units
            before, size = size, float(left @ ahead)
            step = ahead + (size / before) * step
        state.numbers["scale"] = scale

    def on_certificate(
        self, problem: View, state: State, certificate: Certificate, evaluation: Evaluation, tol: float | None
    ) -> None:
        state.numbers["gap"] = certificate.rel_gap
        state.numbers["tol"] = tol or 0.0

    def advance(self, problem: View, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int) -> int:
        v, numbers = state.vectors, state.numbers
        x, g, before = v["x"].copy(), v["gradient"].copy(), numbers["value"]
        z, v["y"][:], penalty, slope = self._minimum(problem, state)
        move = z - x
        length, reads, point = 1.0, 0, z
        for _ in range(_MOST_HALVINGS):
            sweep = problem.sums.at(point)
            reads += 1
            value = sweep.loss + penalty
            # Points that are refused teach curvature too, and their read is paid for.
            self._remember(state, point - x, sweep.gradient - g)
            if value <= before + _ARMIJO * length * min(slope, 0.0) + _ROUNDING * abs(before):
                self._keep(problem, state, point, sweep)
                numbers["value"] = value
                break
            length *= 0.5
            point = x + length * move
            penalty = problem.penalty.value(point)
        gained = before - numbers["value"]
        numbers["stalled"] = numbers["stalled"] + 1 if gained <= _ROUNDING * abs(before) else 0
        if numbers["stalled"]:
            # Of many steps that nearly depend on each other rounding may have made a wrong matrix.
            numbers["pairs"] = numbers["sampled"] = 0
        return reads * problem.sums.n_rows

    def solution(self, problem: View, state: State) -> Solution:
        v = state.vectors
        x = v["x"].copy()
        return Solution(x, x.copy(), None, -v["y"])

    def evaluation(self, state: State) -> Evaluation | None:
        known = super().evaluation(state)
        return None if known is None else known._replace(objective=state.numbers["value"])

    def ended(self, state: State) -> Status | None:
        return Status.EXHAUSTED if state.numbers["stalled"] >= _MOST_STALLED else None

    def may_be_optimal(self, state: State, tol: float) -> bool:
        # A model has a multiplier to try, the start at 0 has none.
        return state.iterations > 0 or bool(state.vectors["x"].any())

    def check_state(self, problem: View, state: State) -> None:
        v = state.vectors
        if not int(state.numbers["pairs"]) <= len(v["moves"]) == len(v["changes"]) <= _MEMORY:
            raise StateError("The state's steps and changes of the gradient do not fit each other. Start a new run.")

    def _minimum(self, problem: View, state: State) -> tuple[np.ndarray, np.ndarray, float, float]:
        """That of the model, its multiplier of r2, the penalties there, and the change that is promised."""
        v, numbers, parts = state.vectors, state.numbers, self._parts(problem)
        B, x, g = self._curvature(state), v["x"], v["gradient"]
        gap = numbers["gap"] if math.isfinite(numbers["gap"]) else 1.0
        accuracy = max(_INNER * min(gap, 1.0), _INNER_TOL * numbers["tol"], ACCURACY)
        size = abs(numbers["value"])
        aim = accuracy * size
        while not numbers["factored"]:
            found = parts.descended(B, x, g, v["multipliers"], aim)
            if found is None:
                numbers["factored"] = 1
                break
            z, y, left = found
            penalty = problem.penalty.value(z)
            slope = self._promised(state, z, penalty)
            # Where the whole objective can fall by little, its size says nothing of how exact a step must be.
            if left <= _SHARE * max(-slope, 0.0) or aim <= _ROUNDING * size:
                return z, y, penalty, slope
            aim = _TIGHTER * left
        z, y = parts.minimum(B.orthogonal(), x, g, accuracy)
        penalty = problem.penalty.value(z)
        return z, y, penalty, self._promised(state, z, penalty)

    @staticmethod
    def _promised(state: State, z: np.ndarray, penalty: float) -> float:
        """Change of the objective from x to z, the loss to first order; Armijo's rule asks for a part of it."""
        v, numbers = state.vectors, state.numbers
        before = numbers["value"] - numbers["loss"]
        return float(v["gradient"] @ (z - v["x"])) + penalty - before

    def _curvature(self, state: State) -> Secants:
        pairs, v = int(state.numbers["pairs"]), state.vectors
        kept = v["products"].reshape(3, _MEMORY, _MEMORY)[:, :pairs, :pairs]
        return Secants(v["moves"][:pairs], v["changes"][:pairs], kept, state.numbers["scale"], self._units(state))

    @staticmethod
    def _units(state: State) -> np.ndarray | float:
        """Curvatures of the columns beside each other; one number if they are equal, as they nearly always are."""
        return state.vectors["units"] if state.numbers["unequal"] else 1.0

    def _remember(self, state: State, move: np.ndarray, change: np.ndarray) -> None:
        """Keep a pair of step and change of the gradient, the last ones of them."""
        v, numbers, units = state.vectors, state.numbers, self._units(state)
        scaled, back = (units * move, change / units) if isinstance(units, np.ndarray) else (move, change)
        product, square = float(move @ change), float(move @ scaled)
        # A pair without curvature would make B singular or indefinite.
        if not product > _CURVED * math.sqrt(square * float(change @ back)):
            return
        pairs, products = int(numbers["pairs"]), v["products"].reshape(3, _MEMORY, _MEMORY)
        # The oldest pair makes room; those of a sample are gone by then.
        sampled = int(numbers["sampled"])
        gone = sampled if sampled and pairs == sampled + _MOST_BESIDE_SAMPLE else int(pairs == _MEMORY)
        if gone:
            for kept in (v["moves"], v["changes"]):
                kept[:-gone] = kept[gone:].copy()
            products[:, :-gone, :-gone] = products[:, gone:, gone:].copy()
            pairs, numbers["sampled"] = pairs - gone, 0
        for name in ("moves", "changes"):
            if pairs == len(v[name]):
                more = np.zeros((min(pairs, _MEMORY - pairs), move.size))
                v[name] = np.concatenate([v[name], more])
        # Pairs of length 1: all numbers of the model keep one size while steps become short.
        length = math.sqrt(square)
        moves, changes, known = v["moves"], v["changes"], slice(pairs + 1)
        np.divide(move, length, out=moves[pairs])
        np.divide(change, length, out=changes[pairs])
        numbers["pairs"], numbers["scale"] = pairs + 1, product / square
        products[0, pairs, known] = products[0, known, pairs] = moves[known] @ scaled / length
        products[1, pairs, known] = changes[known] @ moves[pairs]
        products[1, known, pairs] = moves[known] @ changes[pairs]
        products[2, pairs, known] = products[2, known, pairs] = changes[known] @ changes[pairs]

    @per_problem
    def _parts(self, problem: View) -> "_Parts":
        form = PenaltyForm.of(problem)
        assert form is not None
        assert form.lines is not None
        return _Parts(form, form.lines)


class _Parts:
    """The penalties, and which coordinates are more than squares in them."""

    def __init__(self, form: PenaltyForm, lines: AbsolutePenalties) -> None:
        self._form, self._lines = form, lines
        K, used = lines.K, lines.weight > 0.0
        singles = self._singles = np.flatnonzero(used)
        used[K.indices] = True
        self._used = np.flatnonzero(used)
        place = np.empty(used.size, dtype=np.int64)
        place[self._used] = np.arange(self._used.size)
        ridge = lines.ridge
        self.ridge = float(ridge[0]) if ridge.size and np.all(ridge == ridge[0]) else ridge
        """Of each coordinate; one number if they are equal, as they are but for an intercept's."""
        # The lines of the coordinates themselves, then K, on the columns that are used.
        self._rows = multipliers.CostedRows(
            np.concatenate([np.arange(singles.size), singles.size + K.indptr.astype(np.int64)]),
            place[np.concatenate([singles, K.indices])],
            np.concatenate([np.ones(singles.size), K.data]),
            np.concatenate([lines.weight[singles], lines.cost]),
        )

    @property
    def n_rows(self) -> int:
        """Multipliers of a model."""
        return self._rows.cost.size

    @cached_property
    def _small(self) -> ConicForm:
        """The penalties of the columns that are used, for interior points."""
        lines, used = self._lines, self._used
        own = sp.csr_array(lines.K[:, used])
        return AbsolutePenalties(lines.weight[used], lines.ridge[used], own, lines.cost, lines.pairs).form

    def descended(
        self, B: Secants, x: np.ndarray, g: np.ndarray, y: np.ndarray, aim: float
    ) -> tuple[np.ndarray, np.ndarray, float] | None:
        """The minimum as below, and how far it may be above it, by steps among the multipliers; None if they are slow.

        They begin with the multipliers `y` of an earlier model, and leave their own there.
        """
        used = self._used
        D = B.diagonal + self.ridge
        # In steps from x the model has no curvature to begin with that would take products with all pairs.
        step = -self.ridge * x
        step -= g
        right = step[used]
        own = step / D
        own[used] = 0.0
        inner = np.linalg.inv(B.squares(D) - B.middle)
        own_D = np.full(used.size, D) if isinstance(D, float) else D[used]
        H = multipliers.Inverse(own_D, B.columns(used), inner, B.times(own))
        w, few, gap = multipliers.descend(H, right, self._rows, x[used], y, aim, _MOST_PRODUCTS)
        if not gap <= aim:
            return None
        step -= B.adjoint(few)
        step /= D
        step[used] = w
        z, singles = x + step, self._singles
        # A coordinate is 0 where its multiplier has more room than its own part of the model has slope.
        room = self._lines.weight[singles] - np.abs(y[: singles.size])
        z[singles[room > (D if isinstance(D, float) else D[singles]) * np.abs(z[singles])]] = 0.0
        return z, self._multiplier(z, y), gap

    def minimum(self, B: LowRank, x: np.ndarray, g: np.ndarray, accuracy: float) -> tuple[np.ndarray, np.ndarray]:
        """The minimum of g^T z + (z - x)^T B (z - x) / 2 plus penalties, and its multiplier of r2.

        Coordinates that are squares alone are eliminated: with D their diagonal and V_p their part of V, what they
        leave of V^T S V among the others is V_u^T C V_u, C = (S^-1 + V_p D^-1 V_p^T)^-1.
        """
        used, lines = self._used, self._lines
        plain = np.setdiff1d(np.arange(x.size), used, assume_unique=True)
        right = B @ x - g
        V_u, V_p = B.V[:, used], B.V[:, plain]
        D = B.base[plain] + lines.ridge[plain]
        C = np.linalg.solve(np.eye(B.signs.size) + B.signs[:, None] * ((V_p / D) @ V_p.T), np.diag(B.signs))
        # Symmetric but for rounding; eigh reads one triangle only.
        C = 0.5 * (C + C.T)
        alone = V_p @ (right[plain] / D)
        values, vectors = np.linalg.eigh(C)
        H = LowRank(B.base[used], np.ascontiguousarray(vectors.T @ V_u), values)
        z = np.empty(x.size)
        if not used.size:
            return (right - V_p.T @ (C @ alone)) / D, np.zeros(self._form.inner.size)
        model = Model(H, right[used] - V_u.T @ (C @ alone), self._small)
        solution = minimize(model, accuracy)
        z[used] = solution.w
        # Coordinates that vanish are exactly 0. A face of all that vanishes would take a dense matrix of this order.
        singles = self._singles
        z[singles[solution.active[: singles.size]]] = 0.0
        z[plain] = (right[plain] - V_p.T @ (C @ (alone + V_u @ z[used]))) / D
        return z, self._multiplier(z, solution.y)

    def _multiplier(self, z: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The multiplier of r2 at F z, from the multipliers of the model."""
        slopes, singles = np.zeros(z.size), self._singles
        slopes[singles] = y[: singles.size]
        return self._form.multiplier_of_lines(z, slopes, y[singles.size :])
