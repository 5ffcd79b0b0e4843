"""Losses made of lines and parabolas (hinge, quantile, Huber): the whole problem is one conic program."""

import numpy as np
import scipy.sparse as sp

from ..data import Block
from ..data.blocks import data_matrix
from ..errors import UnsupportedError
from ..kernels.terms import Terms
from ..penalties.conic import ConicForm, broken_lines
from ..quadratic import Model, extended, minimize, on_face, semidefinite, to_face, to_pieces, within
from ..result import Status
from ..solvers.base import About, Periodic, Solution
from ..state import State
from ..view import View
from . import split_program
from .newton_models import takes_few_rows
from .penalty_form import PenaltyForm
from .prox_newton import MOST_COORDINATES

_READS = 2
"""Reads of a step: to write down the program, and to evaluate its solution."""


_STRUCTURE = 1e-10
"""Part of the objective that exact zeros and pieces may cost."""


class InteriorPoint(Periodic):
    """All of the problem as broken lines, squares and norms, minimised by interior points in one step.

    The rows enter as broken lines of x itself, so that a step of the interior point solves a d x d system whatever N.
    Nuclear norms have semidefinite cones. What has no such form is split off by an augmented Lagrangian; all are exact.
    """

    about = About(
        name="interior-point",
        summary="the whole problem as one conic program, for losses made of lines and parabolas; for few coordinates",
        update="x+ = the solution",
        cost="one step; some 30 times the curvature of all rows and a factorisation of a d x d matrix",
        memory="N + d + l; 2 d^2 + 11 N + 11 l more for the step, and the rows once more",
        rate="ends after one step, or a second one with 32 digits",
        needs="loss of lines and parabolas (all but logistic); r1 and r2 with a conic form, or hinge, quantile and "
        "N + d + l up to 1000; finite sum; d at most 3000, more beside at most "
        "400 rows and a sparse F",
        assumptions="a point strictly inside all constraints",
        example="loss=losses.Hinge(), r1=penalties.L1(1e-3)",
        deterministic=True,
        finite_sum=True,
        converges=True,
    )

    def check(self, problem: View) -> None:
        form = PenaltyForm.of(problem)
        if form is None and (split_program.takes(problem) or with_matrices(problem) is not None):
            return
        if problem.loss.lines(problem.rows.block.labels) is None or form is None:
            raise UnsupportedError(
                f"interior-point takes losses of lines and parabolas, penalties of lines, squares and norms; here "
                f'{problem.loss!r}, r1={problem.penalty.r1!r}, r2={problem.r2!r}. Use "prox-newton" or "spdhg-cers".'
            )
        if form.form.width > MOST_COORDINATES and not takes_few_rows(problem, form):
            raise UnsupportedError(
                f"interior-point factorises a matrix of order {form.form.width}; it takes up to {MOST_COORDINATES}, "
                "and more only beside some hundreds of rows in memory and a sparse F. "
                'Use "spdhg-cers".'
            )

    def start(self, problem: View, batch_size: int, x0: np.ndarray) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        vectors = {
            "x": x0.copy(),
            "y": np.zeros(problem.F.n_outputs),
            "slopes": np.zeros(problem.rows.block.labels.size),
        }
        return {"exhausted": False, "infeasible": False, "solved": False}, vectors

    def steps_ahead(self, state: State) -> float:
        return 1.0

    def advance(self, problem: View, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int) -> int:
        penalties = PenaltyForm.of(problem)
        if penalties is None:
            conic = None if state.numbers["solved"] else with_matrices(problem)
            return self._split(problem, state) if conic is None else self._by_cones(problem, state, conic)
        if state.numbers["solved"]:
            penalties = penalties.sharp
        rows, v = loss_lines(problem, penalties.form.width), state.vectors
        form = penalties.form + rows
        d = problem.n_coordinates
        few = takes_few_rows(problem, penalties)
        model = Model(sp.csr_array((d, d)) if few else np.zeros((d, d)), np.zeros(d), form)
        # A certificate came before a second step: what it misses is digits.
        last = bool(state.numbers["solved"]) or not extended.fits(model)
        solution = minimize(model, digits=32 if state.numbers["solved"] else 16)
        # Rows that meet a kink would be equations on a face, and multiplied out there.
        face = None if form.rounded else to_pieces(model, solution) if few else to_face(model, solution)
        if solution.status == "infeasible" or not np.all(np.isfinite(solution.w)):
            state.numbers["exhausted"] = True
            state.numbers["infeasible"] = solution.status == "infeasible"
            return _READS * problem.rows.block.labels.size
        x = within(model, solution.w)[:d]
        if face is not None:
            exact = within(model, face)[:d]
            # Rows that vanish on the face do so up to rounding, which may count where their terms are large.
            if not problem.objective(exact) > (1.0 + _STRUCTURE) * problem.objective(x):
                x = exact
            solution = solution if few else on_face(model, solution, face)
        # More digits are no gain where systems of 32 fail; then all stays as it was.
        if (
            state.numbers["solved"]
            and solution.status == "inaccurate"
            and problem.objective(x) > problem.objective(v["x"])
        ):
            state.numbers["exhausted"] = True
            return _READS * problem.rows.block.labels.size
        before = v["x"] if state.numbers["solved"] else np.zeros(d)
        v["x"][:] = x if problem.objective(x) < problem.objective(before) else before
        lines = penalties.form.n_lines
        own = np.concatenate([solution.y[:lines], solution.y[form.n_lines :]])
        v["y"][:] = penalties.multiplier(solution.w, own)
        v["slopes"][:] = _slopes(problem, solution.y[lines : form.n_lines])
        state.numbers["exhausted"], state.numbers["solved"] = last, True
        return _READS * problem.rows.block.labels.size

    def _by_cones(self, problem: View, state: State, penalties: PenaltyForm) -> int:
        """The step with nuclear norms."""
        v, d, lines = state.vectors, problem.n_coordinates, penalties.form.n_lines
        form = penalties.form + loss_lines(problem, penalties.form.width)
        found = semidefinite.minimize(Model(np.zeros((d, d)), np.zeros(d), form))
        x = found.w[:d]
        if np.all(np.isfinite(x)) and problem.objective(x) < problem.objective(v["x"]):
            v["x"][:] = x
        v["y"][:] = penalties.multiplier(found.w, np.concatenate([found.y[:lines], found.y[form.n_lines :]]))
        v["slopes"][:] = _slopes(problem, found.y[lines : form.n_lines])
        state.numbers["exhausted"], state.numbers["solved"] = found.found or not split_program.takes(problem), True
        return _READS * problem.rows.block.labels.size

    def _split(self, problem: View, state: State) -> int:
        """The step where penalties have no conic form, or cones do not do."""
        found, v = split_program.minimize(problem, state.vectors["x"]), state.vectors
        weights = split_program.mean_weights(problem)
        if np.all(np.isfinite(found.x)) and problem.objective(found.x) < problem.objective(v["x"]):
            v["x"][:] = found.x
        v["y"][:] = found.y
        slopes = np.divide(found.rows, weights, out=np.zeros(weights.size), where=weights > 0.0)
        v["slopes"][:] = np.clip(slopes, *problem.loss.slope_range(problem.rows.block.labels))
        state.numbers["exhausted"] = True
        return _READS * problem.rows.block.labels.size

    def solution(self, problem: View, state: State) -> Solution:
        v = state.vectors
        x = v["x"].copy()
        done = state.numbers["exhausted"] or state.numbers["solved"]
        slopes = v["slopes"].copy() if done else None
        return Solution(x, x.copy(), None, -v["y"], slopes)

    def ended(self, state: State) -> Status | None:
        if state.numbers["infeasible"]:
            return Status.INFEASIBLE
        return Status.EXHAUSTED if state.numbers["exhausted"] else None


def with_matrices(problem: View) -> PenaltyForm | None:
    """The penalties of a small problem with nuclear norms and such a loss; None if it is another."""
    penalties = PenaltyForm.with_matrices(problem) if problem.n_coordinates <= MOST_COORDINATES else None
    if penalties is None or problem.loss.lines(problem.rows.labels[:0]) is None:
        return None
    return penalties if semidefinite.takes(penalties.form, problem.sums.n_rows) else None


def loss_lines(problem: View, width: int) -> ConicForm:
    """The mean loss as broken lines of w, one for each row of weight above 0."""
    rows, labels, _ = problem.rows.block
    lines = problem.loss.lines(labels)
    assert lines is not None
    mean_weights = split_program.mean_weights(problem)
    kept = np.flatnonzero(mean_weights)
    A = sp.csr_array(data_matrix(rows))[kept]
    K = sp.csr_array(A.multiply(lines.sign[kept, None]))
    K = sp.csr_array((K.data, K.indices, K.indptr), shape=(kept.size, width))
    own = mean_weights[kept]
    return broken_lines(
        K, lines.offset[kept], own * lines.over[kept], own * lines.short[kept], size=problem.n_coordinates,
        smoothing=lines.smoothing / own,
    )  # fmt: skip


def _slopes(problem: View, y: np.ndarray) -> np.ndarray:
    """Slopes of all rows, from the multipliers of those with a weight; a row without one has slope 0."""
    labels = problem.rows.block.labels
    lines = problem.loss.lines(labels)
    assert lines is not None
    mean_weights = split_program.mean_weights(problem)
    kept = np.flatnonzero(mean_weights)
    slopes = np.zeros(labels.size)
    used = (lines.over[kept] > 0.0) | (lines.short[kept] > 0.0)
    slopes[kept[used]] = lines.sign[kept[used]] * y / mean_weights[kept[used]]
    # Dividing by the weight may round beyond the slopes of the two lines.
    return np.clip(slopes, *problem.loss.slope_range(labels))
