"""The quadratic model of a proximal Newton step, solved by ADMM.

The penalties act on K x, where K is the identity if they have one prox together and [F; I] otherwise. For few
coordinates H + rho K^T K is inverted once a step. For few rows it is never formed: H = A^T D A has rank N, and Woodbury
leaves an N x N matrix.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg

from ..data.blocks import data_matrix
from ..kernels.jit import as_reals
from ..operators import Identity, Matrix, Operator, Stack
from ..penalties import L1, Penalty, SeparableSum
from ..quadratic import Model, minimize
from ..solvers.stacking import Stacked
from ..view import View
from .kernels import REBALANCE, RELAXATION, Work, add_curvature, correct, curvatures, model_steps

_MOST_INNER = 2000
"""Steps of ADMM on a model with few coordinates."""
_MOST_WIDE_INNER = 200
"""Steps of ADMM on a model with few rows."""
_DENSE_FRACTION = 0.3
"""Fraction of non-zero entries from which the curvature is left to dense linear algebra."""
_ENTRIES_AT_ONCE = 4_000_000
"""Entries of a block of rows that dense linear algebra takes at a time."""
_FINEST = 1e-12
"""Accuracy that interior points aim at most."""
_FEW_ENTRIES = 3
"""Entries per row, on average, up to which a model stays sparse."""
_UNEVEN = 2.0
"""Ratio of lengths from which on rows of F are brought to one length."""
_MOST_CHANGE = 1e4
"""Factor on rho within a step beyond which ADMM is taken not to converge."""
_LEAST_CHANGE = 1e-3
"""Change of the slope along a step, relative to the model's, from which the model is corrected."""
_UNSEEN = 1e-9
"""Curvature, relative to the largest of K^T K, in directions that K does not see."""
_FIRST_RHO = 0.01
"""The first rho relative to the mean curvature, for few rows."""


class Split(NamedTuple):
    """The variables of ADMM on the model: K x should equal z, and y is the multiplier of that."""

    y: np.ndarray
    z: np.ndarray


class Form(NamedTuple):
    """The splitting of the penalties: K, and the penalty on K x."""

    K: Operator
    penalty: Penalty
    holds_x: bool
    """K x ends with x itself."""
    lengths: np.ndarray
    """Lengths by which the rows of F were divided."""

    def split(self, problem: View, x: np.ndarray, y: np.ndarray, gradient: np.ndarray) -> Split:
        """The point at which ADMM would end if x were the solution, y the multiplier of F x, and this the gradient."""
        if problem.penalty.joint is not None:
            return Split(-gradient, x.copy())
        multipliers = y * self.lengths
        if self.holds_x:
            multipliers = np.concatenate([multipliers, -(gradient + problem.F.adjoint(y))])
        return Split(multipliers, self.K.forward(x))

    def exact(self, problem: View, point: np.ndarray, split: Split) -> np.ndarray:
        """The minimiser of a model with exact zeros and pieces: y is a subgradient at z up to rounding.

        The point as it is where the split does not hold it.
        """
        if not self.holds_x:
            return point
        penalty = problem.regularizer if problem.penalty.joint is None else problem.penalty.joint
        return penalty.prox(split.z[-point.size :] + split.y[-point.size :])

    def multiplier(self, problem: View, split: Split) -> np.ndarray:
        """The multiplier of F x."""
        if problem.penalty.joint is not None:
            return problem.penalty.chain_dual(split.z, split.y)
        return split.y[: self.lengths.size] / self.lengths


def splitting(problem: View) -> Form:
    """One prox for all penalties if there is one; otherwise F x, and x where r1 asks for it."""
    d, m = problem.n_coordinates, problem.F.n_outputs
    if problem.penalty.joint is not None:
        return Form(Identity().bind(d), problem.penalty.joint, True, np.ones(m))
    F, r2, lengths = _even_rows(problem)
    if problem.regularizer.vanishes:
        return Form(F, r2, False, lengths)
    return Form(Stack(F, Identity()).bind(d), SeparableSum([r2, problem.regularizer], [m, d]), True, lengths)


def _even_rows(problem: View) -> tuple[Operator, Penalty, np.ndarray]:
    """F with rows of equal length, r2 that makes up for it, and the lengths; as they are where one rho suits all."""
    F, r2 = problem.F, problem.r2
    weights = r2.l1_weights(F.n_outputs)
    if weights is not None:
        matrix = F.matrix()
        lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).reshape(-1))
        lengths[lengths == 0.0] = 1.0
        if lengths.max(initial=1.0) > _UNEVEN * lengths.min(initial=1.0):
            even = Matrix(sp.csr_array(sp.diags_array(1.0 / lengths) @ matrix)).bind(F.n_inputs)
            return even, L1(lengths * weights), lengths
    return F, r2, np.ones(F.n_outputs)


class TallModel:
    """For few coordinates: curvature averaged over every `stride`-th row, as a d x d matrix."""

    def __init__(self, problem: View, form: Form) -> None:
        rows, labels, _ = problem.rows.block
        d = problem.n_coordinates
        self._scattered = rows.indptr.size > 0 and rows.values.size < _DENSE_FRACTION * labels.size * d
        if not self._scattered:
            A = data_matrix(rows)
            small = labels.size * d <= _ENTRIES_AT_ONCE
            self._A = np.asarray(A.toarray() if sp.issparse(A) else A, dtype=float) if small else A
        self._H = np.empty((0, 0))
        self._K: sp.csr_array | None = None
        self._identity = self._stuck = self._agrees = False
        self.penalise(problem, form)

    def penalise(self, problem: View, form: Form) -> None:
        """Go on with other penalties on the same data; the curvature stays."""
        self._problem = problem
        identity = form.K.is_identity
        if not (identity and self._identity):
            K = form.K.matrix()
            if self._K is None or not _equal(K, self._K):
                self._K, self._identity = K, identity
                self._gram = np.eye(K.shape[1]) if identity else (K.T @ K).toarray()
                self._terms = Stacked(form.K, form.penalty).terms(problem)
                if self._H.size:
                    self._begin(math.nan)
        self._terms = self._terms._replace(dual_prox2=form.penalty.dual_prox_term(form.K.n_outputs))
        assert self._K is not None
        small = self._K.shape[0] * self._K.shape[1] <= _ENTRIES_AT_ONCE
        self._weights = form.penalty.l1_weights(self._K.shape[0]) if small else None

    def move(self, margins: np.ndarray, floor: float, stride: int, first: int, relative_rho: float) -> int:
        """Move the model to these margins; returns the number of rows read.

        `relative_rho` is that at the end of the step before, which suits this one mostly; NaN if there was none.
        """
        self._H, used = self._curvature(margins, floor, stride, first)
        self._begin(relative_rho)
        return used

    def adopt(self, H: np.ndarray) -> None:
        """Go on with a curvature that is known; nothing happens if it is the one at hand."""
        if self._H is not H:
            relative_rho = self.relative_rho if self._H.size else math.nan
            self._H = H
            self._begin(relative_rho)

    def _begin(self, relative_rho: float) -> None:
        """Choose rho for a new matrix."""
        self._stuck = math.isinf(relative_rho)
        if math.isnan(relative_rho):
            self._choose(_typical(self._H) * self._H.shape[0] / float(np.trace(self._gram)))
        elif not self._stuck:
            self._choose(relative_rho * float(np.trace(self._H)))

    def correct(self, move: np.ndarray, change: np.ndarray) -> None:
        """Let the model change the gradient along `move` as the loss did (Broyden, Fletcher, Goldfarb, Shanno)."""
        correct(self._H, self._inverse, move, change, _LEAST_CHANGE, np.empty(move.size), np.empty(move.size))

    @property
    def relative_rho(self) -> float:
        """rho over the curvature of the loss, if that served; infinite once interior points took the place of ADMM."""
        if self._stuck:
            return math.inf
        curvature = float(np.trace(self._H))
        return self._rho / curvature if self._agrees and curvature > 0.0 else math.nan

    def minimize(self, x: np.ndarray, gradient: np.ndarray, split: Split, accuracy: float) -> np.ndarray:
        """The minimiser of the model around x; moves the split there. By interior points where ADMM crawls."""
        right = self._H @ x - gradient
        if not self._stuck:
            point = self._alternate(x, right, split, accuracy)
            self._stuck = not self._agrees and self._weights is not None
        if self._stuck:
            assert self._weights is not None
            assert self._K is not None
            point, split.y[:] = _by_interior_points(self._H, right, self._K, self._weights, accuracy)
            split.z[:] = self._K @ point
        return point

    def _alternate(self, x: np.ndarray, right: np.ndarray, split: Split, accuracy: float) -> np.ndarray:
        """ADMM, up to where its splits agree."""
        self._agrees = False
        first = self._rho
        d, m = right.size, split.y.size
        point, residuals = x.copy(), np.empty(2)
        room = np.empty(m), np.empty(m), np.empty(m), np.empty(d), np.empty(d)
        work = Work(point, split.y, split.z, *room, residuals)
        left = _MOST_INNER
        while left > 0:
            left -= model_steps(self._inverse, right, self._rho, accuracy, left, self._terms, work)
            primal, dual = residuals
            if primal + dual <= accuracy * float(np.linalg.norm(split.z)):
                self._agrees = True
                break
            rho = self._rho * (3.0 if primal > dual else 1.0 / 3.0)
            if left == 0 or not first / _MOST_CHANGE < rho < first * _MOST_CHANGE:
                break
            self._choose(rho)
        return point

    def _choose(self, rho: float) -> None:
        self._rho = rho
        matrix = self._H + rho * self._gram
        # Where neither the rows nor K see a direction.
        matrix.flat[:: matrix.shape[0] + 1] += 1e-12 * np.trace(self._H) / matrix.shape[0]
        self._inverse = _inverse(matrix)

    def _curvature(self, margins: np.ndarray, floor: float, stride: int, first: int) -> tuple[np.ndarray, int]:
        """Mean of w phi''(margin) a a^T over every `stride`-th row, and the number of those rows."""
        _, labels, weights = self._problem.rows.block
        d, second = self._problem.n_coordinates, self._problem.loss.curvature_term
        if self._scattered:
            half = np.zeros((d, d))
            used = int(add_curvature(self._problem.rows.block, second, margins, floor, stride, first, half))
            return (half + half.T) / used, used
        chosen = range(first, labels.size, stride)
        at_once = max(1, _ENTRIES_AT_ONCE // d)
        H = np.zeros((d, d))
        for start in range(0, len(chosen), at_once):
            part = chosen[start : start + at_once]
            some = slice(part.start, part.stop, part.step)
            curvature = np.empty(len(part))
            w = as_reals(weights[some]) if weights.size else weights
            curvatures(second, margins[some].copy(), as_reals(labels[some]), w, floor, curvature)
            A: Any = self._A[some]
            S = (A.toarray() if sp.issparse(A) else A) * np.sqrt(curvature)[:, None]
            H += S.T @ S
        return H / len(chosen), len(chosen)


def _solver(gram: sp.csc_array) -> Callable[[np.ndarray], np.ndarray]:
    """Solves systems with K^T K, which is singular where K does not see a direction, as the mean of a graph's part."""
    try:
        return cast(Callable[[np.ndarray], np.ndarray], scipy.sparse.linalg.splu(gram).solve)
    except RuntimeError:  # SuperLU's word for it
        unseen = _UNSEEN * float(gram.diagonal().max(initial=0.0)) + np.finfo(float).tiny
        held = sp.csc_array(gram + unseen * sp.eye_array(gram.shape[0]))
        return cast(Callable[[np.ndarray], np.ndarray], scipy.sparse.linalg.splu(held).solve)


class WideModel:
    """For few rows: all of them, through Woodbury's identity.

    Most directions are flat then, and how far ADMM moves along them depends on rho. It follows the residuals, since
    another rho costs no more than another N x N factor.
    """

    def __init__(self, problem: View, form: Form) -> None:
        self._problem, self._form = problem, form
        self._A = A = data_matrix(problem.rows.block.rows)
        if form.K.is_identity:
            self._solve: Callable[[np.ndarray], np.ndarray] = _same
            self._back = A.T
        else:
            K = form.K.matrix()
            self._solve = _solver(sp.csc_array(K.T @ K))
            self._back = self._solve(np.ascontiguousarray(A.T.toarray() if sp.issparse(A) else A.T))
        products = A @ self._back
        self._products = products.toarray() if sp.issparse(products) else products

    relative_rho = math.nan
    """Unlike that of TallModel, rho is chosen at each step."""

    def move(self, margins: np.ndarray, floor: float, stride: int, first: int, relative_rho: float) -> int:
        """Move the model to these margins; returns the number of rows read, which is all of them."""
        _, labels, weights = self._problem.rows.block
        n = labels.size
        curvature = np.empty(n)
        curvatures(self._problem.loss.curvature_term, margins, labels, weights, floor, curvature)
        self._half = np.sqrt(curvature / n)
        self._core = self._half[:, None] * self._products * self._half
        self._choose(_FIRST_RHO * max(float(np.trace(self._core)) / n, 1e-12))
        return n

    def minimize(self, x: np.ndarray, gradient: np.ndarray, split: Split, accuracy: float) -> np.ndarray:
        """The minimiser of the model around x; moves the split there."""
        K, penalty = self._form.K, self._form.penalty
        half = self._half
        right = self._A.T @ (half * half * (self._A @ x)) - gradient
        y, z = split
        ahead = x
        for step in range(1, _MOST_WIDE_INNER + 1):
            rho = self._rho
            ahead = self._solve(right + K.adjoint(rho * z - y))
            ahead -= self._back @ (half * scipy.linalg.cho_solve(self._factor, half * (self._A @ ahead)))
            ahead /= rho
            Kx = K.forward(ahead)
            image = RELAXATION * Kx + (1.0 - RELAXATION) * z
            y_next = penalty.dual_prox(y + rho * image, rho)
            z_next = image + (y - y_next) / rho
            primal, dual = float(np.linalg.norm(Kx - z_next)), float(np.linalg.norm(z_next - z))
            y[:], z[:] = y_next, z_next
            if primal + dual <= accuracy * float(np.linalg.norm(z)):
                break
            if step % REBALANCE == 0 and not 0.2 * dual < primal < 5.0 * dual:
                self._choose(rho * (3.0 if primal > dual else 1.0 / 3.0))
        return ahead

    def _choose(self, rho: float) -> None:
        self._rho = rho
        self._factor = scipy.linalg.cho_factor(self._core + rho * np.eye(self._half.size), lower=True)


class SparseModel:
    """For rows with an entry or two and l1 norms of sparse maps, as in denoising: by interior points alone."""

    relative_rho = math.nan
    """There is no rho."""

    def __init__(self, problem: View, form: Form) -> None:
        self._problem = problem
        self._A = sp.csr_array(data_matrix(problem.rows.block.rows))
        self._K = form.K.matrix()
        weights = form.penalty.l1_weights(form.K.n_outputs)
        assert weights is not None
        self._weights = weights

    def move(self, margins: np.ndarray, floor: float, stride: int, first: int, relative_rho: float) -> int:
        """Move the model to these margins; returns the number of rows read, which is all of them."""
        _, labels, weights = self._problem.rows.block
        curvature = np.empty(labels.size)
        curvatures(self._problem.loss.curvature_term, margins, labels, weights, floor, curvature)
        self._H = sp.csr_array(self._A.T @ sp.diags_array(curvature / labels.size) @ self._A)
        return labels.size

    def minimize(self, x: np.ndarray, gradient: np.ndarray, split: Split, accuracy: float) -> np.ndarray:
        """The minimiser of the model around x; moves the split there."""
        right = self._H @ x - gradient
        point, split.y[:] = _by_interior_points(self._H, right, self._K, self._weights, accuracy)
        split.z[:] = self._K @ point
        return point


def is_sparse(problem: View) -> bool:
    """Whether curvature and penalties make a sparse model that interior points can take."""
    n, d, m = problem.rows.block.labels.size, problem.n_coordinates, problem.F.n_outputs
    return (
        problem.penalty.joint is None
        and problem.rows.block.rows.indptr.size > 0
        and problem.rows.bias == 0.0
        and problem.rows.block.rows.values.size <= _FEW_ENTRIES * n
        and problem.F.matrix().nnz <= _FEW_ENTRIES * (d + m)
        and problem.regularizer.l1_weights(d) is not None
        and problem.r2.l1_weights(m) is not None
    )


def _by_interior_points(
    H: Any, right: np.ndarray, K: sp.csr_array, weights: np.ndarray, accuracy: float
) -> tuple[np.ndarray, np.ndarray]:
    """The minimiser of 1/2 x^T H x - right^T x + sum_e w_e |K_e x|, and the multipliers of K x."""
    used = weights > 0.0
    form = L1(weights[used]).conic_form(int(used.sum())).after(K[used])
    found = minimize(Model(H, right, form), max(0.01 * accuracy, _FINEST))
    y = np.zeros(weights.size)
    y[used] = found.y
    return found.w, y


def _typical(H: np.ndarray) -> float:
    """Geometric mean of the eigenvalues, tiny ones lifted: the rho that suits steep and flat directions alike."""
    d = H.shape[0]
    mean = max(float(np.trace(H)) / d, 1e-12)
    factor, _ = scipy.linalg.lapack.dpotrf(H + 1e-6 * mean * np.eye(d), lower=1)
    return float(np.exp(2.0 * np.mean(np.log(np.diag(factor)))))


def _equal(A: sp.csr_array, B: sp.csr_array) -> bool:
    if A.shape != B.shape or A.nnz != B.nnz:
        return False
    return all(np.array_equal(getattr(A, part), getattr(B, part)) for part in ("indptr", "indices", "data"))


def _same(v: np.ndarray) -> np.ndarray:
    return v


@np.errstate(over="ignore")  # where numbers overflow, the step is not finite, which the loop tells
def _inverse(matrix: np.ndarray) -> np.ndarray:
    """The inverse of a positive definite matrix."""
    factor, _ = scipy.linalg.lapack.dpotrf(matrix, lower=1)
    lower, _ = scipy.linalg.lapack.dpotri(factor, lower=1)
    whole = np.ascontiguousarray(lower + lower.T)  # above the diagonal there are zeros
    whole.flat[:: len(whole) + 1] *= 0.5
    return whole
