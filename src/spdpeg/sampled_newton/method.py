"""Proximal Newton with sampled curvature, for problems with few coordinates.

Each step replaces the loss by its quadratic model and solves the model, penalties included, by ADMM on K = [F; I],
whose matrix is factorised once a step. The curvature is that of a sample of the rows: it changes the path, not the
solution. Lee, Sun, Saunders: Proximal Newton-type methods for minimizing composite functions, SIAM Journal on
Optimization 24 (2014); sampled curvature: Byrd, Chin, Neveitt, Nocedal, SIAM Journal on Optimization 21 (2011).
"""

import math

import numpy as np
import scipy.sparse as sp

from ..certificate import Certificate
from ..data import Block
from ..data.blocks import data_matrix
from ..data.sources import NO_WEIGHTS
from ..errors import UnsupportedError
from ..kernels.jit import as_reals
from ..kernels.terms import Terms
from ..parameters import whole_number
from ..quadratic.linear_algebra import band_flops
from ..solvers.base import About, Periodic, Solution, Watcher, per_problem, require_smooth
from ..state import State
from ..sums import Evaluation, evaluated_rows
from ..view import View
from .chain_face import face_step
from .kernels import curvatures
from .models import Form, SparseModel, Split, TallModel, WideModel, is_sparse, splitting

MOST_FEATURES = 2000
"""Coordinates, or rows, of a model with a dense matrix, at most."""
_MOST_WIDE = 2e7
"""Entries of an N x d matrix that may be kept where d is larger than that."""
_MOST_PRODUCTS, _MOST_FLOPS = 1e8, 1e12
"""Products of two entries of a row of F, and operations of a factorisation of F^T F, which that takes too."""
_MOST_SPARSE = 100_000
"""Coordinates of a sparse model, at most."""
ROWS_PER_FEATURE = 20
"""Rows that the curvature is averaged over, per coordinate."""
_FIRST_ACCURACY, _LAST_ACCURACY = 1e-3, 1e-11
_MOST_HALVINGS = 15
_ROUNDING = 1e-14
"""Fraction of the objective by which a step may raise it."""
_FIRST_FLOOR = 1e-3
"""Least curvature of a row, relative to the most that the loss has, after a step that had to be cut short."""
_MOST_FACE_STEPS = 20
_SAMPLE = 1000
"""Rows that tell, at the start, whether the loss is flat."""
_FLAT = 1e-8
"""Curvature of a row, relative to the most that the loss has, below which the loss counts as flat there."""
_LARGE_DROP = 1e-3
"""A step that lowers the objective by more than this part of it is hardly the last one."""


_EVALUATED = ("margins", "gradient", "positive_part")
"""Vectors of the state that hold what was read at x."""

Model = TallModel | WideModel | SparseModel


def fits(problem: View) -> bool:
    """Whether the model's matrices fit: few coordinates, few rows, or few entries in each."""
    return (
        problem.n_coordinates <= MOST_FEATURES
        or (
            problem.rows.n_samples is not None
            and problem.rows.n_samples <= MOST_FEATURES
            and problem.rows.n_samples * problem.n_coordinates <= _MOST_WIDE
            and _factors(problem)
        )
        or (problem.n_coordinates <= _MOST_SPARSE and is_sparse(problem))
    )


def _factors(problem: View) -> bool:
    """Whether F^T F has a sparse factor: those of some graphs fill in, whatever the order."""
    if problem.penalty.joint is not None or not problem.F.n_outputs:
        return True
    F = sp.csr_array(problem.F.matrix())
    if float(np.sum(np.square(np.diff(F.indptr).astype(float)))) > _MOST_PRODUCTS:
        return False
    return band_flops(F.T @ F) <= _MOST_FLOPS


def is_tall(problem: View) -> bool:
    """Whether the model has a d x d matrix."""
    return problem.n_coordinates <= MOST_FEATURES and not is_sparse(problem)


class SampledNewton(Periodic, Watcher):
    """x <- minimiser of the quadratic model of l plus r1 + r2(F .), with step halving; the last iterate.

    Parameters
    ----------
    rows : int, optional
        Rows that the curvature is averaged over; 20 d by default, all of them if there are fewer. Halving steps doubles
        their number. With more than 2000 coordinates all rows are taken.
    """

    about = About(
        name="sampled-newton",
        summary="proximal Newton with sampled curvature, deterministic, for few coordinates or few rows",
        update="x+ = x + step (m - x), m the minimiser of a quadratic model of l, plus r1 + r2(F .)",
        cost=(
            "1 pass, curvature of 20 d rows, one factorisation (d x d, or N x N), up to 2000 products, F and F^T with "
            "it"
        ),
        memory="5 d + 2 l + N, and at work 3 d^2 + N + 7 d + 3 l, or N^2 + N d for few rows",
        rate="superlinear if the curvature is that of all rows",
        needs=(
            "smooth loss; any r1, r2, F; finite sum; d at most 2000, or N at most 2000 with N d at most 2e7, or sparse"
            " rows and l1 norms"
        ),
        deterministic=True,
        finite_sum=True,
        converges=True,
        assumptions=(
            "l twice differentiable and strongly convex on the level set, models solved ever more accurately; near the"
            " solution"
        ),
    )

    def __init__(self, rows: int | None = None) -> None:
        self.rows = rows
        if rows is not None:
            whole_number("rows", rows, least=1)

    def check(self, problem: View) -> None:
        require_smooth(self, problem)
        if not fits(problem):
            raise UnsupportedError(
                f"sampled-newton factorises a d x d or an N x N matrix; d is {problem.n_coordinates} and N is "
                f'{problem.rows.n_samples}. It takes up to {MOST_FEATURES}; use "vr-spdpeg".'
            )

    def _dual_size(self, problem: View) -> int:
        return splitting(problem).K.n_outputs

    def steps_ahead(self, state: State) -> float:
        return 1.0  # each step reads a number of rows of its own

    def start(self, problem: View, batch_size: int, x0: np.ndarray) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        n, d = problem.rows.block.labels.size, x0.size
        z = self._form(problem).K.forward(x0)
        vectors = {"x": x0.copy(), "z": z, "y": np.zeros(z.size), "margins": np.zeros(n)}
        vectors |= {"gradient": np.zeros(d), "positive_part": np.zeros(d)}
        stride = max(1, n // int(self.rows or ROWS_PER_FEATURE * d))
        numbers = {"stride": stride, "accuracy": _FIRST_ACCURACY, "floor": 0.0}
        numbers |= {"relative_rho": math.nan, "loss": math.nan, "value": math.nan, "drop": 0.0}
        return numbers, vectors

    def prepare(self, problem: View, terms: Terms, state: State) -> int:
        if not math.isnan(state.numbers["value"]):
            return 0
        self._begin(problem, state, evaluated_rows(problem.sums, state.vectors["x"]))
        return problem.rows.block.labels.size

    def on_certificate(
        self, problem: View, state: State, certificate: Certificate, evaluation: Evaluation, tol: float | None
    ) -> None:
        if math.isnan(state.numbers["value"]):
            margins = problem.sums.vector(evaluation.margins)  # where rows are on a disk they are not kept as one
            self._begin(problem, state, evaluation._replace(margins=margins))

    def _begin(self, problem: View, state: State, evaluation: Evaluation) -> None:
        """Begin with the loss as evaluated at the start."""
        v = state.vectors
        _take(state, evaluation, evaluation.loss + problem.penalty.value(v["x"]))
        if problem.penalty.joint is not None:
            v["y"][:] = -v["gradient"]  # what it is at the solution
        some = slice(None, None, max(1, v["margins"].size // _SAMPLE))
        labels, margins = as_reals(problem.rows.block.labels[some]), v["margins"][some].copy()
        curvature = np.empty(labels.size)
        curvatures(problem.loss.curvature_term, margins, labels, NO_WEIGHTS, 0.0, curvature)
        if 2 * np.count_nonzero(curvature > _FLAT * problem.loss.curvature) < labels.size:
            state.numbers["floor"] = 1.0  # most rows lie where the loss is nearly straight

    def advance(self, problem: View, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int) -> int:
        v, numbers = state.vectors, state.numbers
        n = block.labels.size
        form, model = self._form(problem), self._model(problem)
        before_step = numbers["value"]
        stride = int(numbers["stride"])
        floor = numbers["floor"] * problem.loss.curvature
        reads = model.move(v["margins"], floor, stride, state.steps % stride, numbers["relative_rho"])
        before = Split(v["y"].copy(), v["z"].copy())
        with np.errstate(over="ignore", invalid="ignore"):  # in a model without curvature, which has no minimiser
            x_new = model.minimize(v["x"], v["gradient"], Split(v["y"], v["z"]), numbers["accuracy"])
        x_new = form.exact(problem, x_new, Split(v["y"], v["z"]))

        evaluation, value = _read(problem, x_new)
        reads += n
        step = 1.0
        # At the end values differ by rounding alone while the gradient, and with it the gap, still gains.
        ceiling = numbers["value"] + _ROUNDING * abs(numbers["value"])
        while value > ceiling and step > 0.5**_MOST_HALVINGS:
            step *= 0.5
            evaluation, value = _read(problem, v["x"] + step * (x_new - v["x"]))
            reads += n
        # A loss with flat parts may have no curvature where x is; the model then needs some of its own.
        raised = min(max(10.0 * numbers["floor"], _FIRST_FLOOR), 1.0)
        numbers["floor"] = raised if step < 0.5 or not value <= ceiling else 0.1 * numbers["floor"]
        if step < 1.0:
            numbers["stride"] = max(1, stride // 2)
        if value <= ceiling:
            # A whole step keeps the exact zeros and pieces of the model's solution.
            v["x"][:] = x_new if step == 1.0 else v["x"] + step * (x_new - v["x"])
            _take(state, evaluation, value)
        else:
            v["y"][:], v["z"][:] = before  # a model without a minimiser has carried them far away
        if isinstance(model, WideModel) and problem.penalty.joint is not None and problem.F.n_outputs > 0:
            reads += n * self._face_steps(problem, state)
        drop = before_step - numbers["value"]
        numbers["drop"] = drop / abs(numbers["value"]) if 0.0 < drop < math.inf and numbers["value"] else 0.0
        numbers["accuracy"] = max(_LAST_ACCURACY, 0.1 * numbers["accuracy"])
        numbers["relative_rho"] = model.relative_rho
        return reads

    @per_problem
    def _form(self, problem: View) -> Form:
        """The split of the penalties."""
        return splitting(problem)

    @per_problem
    def _model(self, problem: View) -> Model:
        """The model, not before the first step; the state holds what changes."""
        kind = TallModel if is_tall(problem) else SparseModel if is_sparse(problem) else WideModel
        return kind(problem, self._form(problem))

    def _face_steps(self, problem: View, state: State) -> int:
        """Newton's steps among the pieces that the model's solution has; the number of reads."""
        v, numbers = state.vectors, state.numbers
        rows, labels, weights = problem.rows.block
        curvature = np.empty_like(v["margins"])
        A = data_matrix(rows)
        for reads in range(_MOST_FACE_STEPS):
            curvatures(problem.loss.curvature_term, v["margins"], labels, weights, 0.0, curvature)
            x_new = face_step(problem, A, curvature / labels.size, v["x"], v["gradient"])
            if x_new is None:
                return reads
            evaluation, value = _read(problem, x_new)
            if not value < numbers["value"] - 1e-14 * abs(numbers["value"]):
                return reads + 1
            v["x"][:] = x_new
            _take(state, evaluation, value)
        return _MOST_FACE_STEPS

    def may_be_optimal(self, state: State, tol: float) -> bool:
        # Each step about squares the distance that is left, in the end.
        return state.numbers["drop"] <= max(math.sqrt(tol), _LARGE_DROP)

    def evaluation(self, state: State) -> Evaluation | None:
        if math.isnan(state.numbers["value"]):
            return None
        margins, gradient, positive = (state.vectors[name] for name in _EVALUATED)
        return Evaluation(state.numbers["loss"], margins, gradient, positive)

    def solution(self, problem: View, state: State) -> Solution:
        v, form = state.vectors, self._form(problem)
        m = form.lengths.size
        z = v["z"][:m] * form.lengths if problem.penalty.joint is None else problem.F.forward(v["z"])
        return Solution(v["x"].copy(), v["x"].copy(), z, -form.multiplier(problem, Split(v["y"], v["z"])))

    def set_dual(self, problem: View, vectors: dict[str, np.ndarray], y: np.ndarray) -> None:
        vectors["y"][: y.size] = y * self._form(problem).lengths


def _read(problem: View, x: np.ndarray) -> tuple[Evaluation, float]:
    """Loss and gradient at x, and the objective."""
    evaluation = evaluated_rows(problem.sums, x)
    return evaluation, evaluation.loss + problem.penalty.value(x)


def _take(state: State, evaluation: Evaluation, value: float) -> None:
    """Keep the evaluation at x, and the objective there."""
    state.numbers["loss"], state.numbers["value"] = evaluation.loss, value
    for name in _EVALUATED:
        state.vectors[name][:] = getattr(evaluation, name)
