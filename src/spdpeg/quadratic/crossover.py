"""From an interior point to the exact face: zeros that are zeros, neighbours that are equal, bounds that are met.

The interior point shows which lines and groups vanish. A vanishing line with one entry fixes a variable, one with two
opposite entries makes two variables equal: these are eliminated, so that they hold exactly. All other vanishing rows
are equations. On the face the objective is smooth (broken lines have one slope, groups are away from 0), and Newton's
method with proximal multipliers for the equations, which may be dependent, takes a few steps. The result counts only if
all signs are those that were assumed and the objective is no larger than at the interior point.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ..penalties.conic import group_norms
from . import simple_face
from .linear_algebra import Assembly, BandedSaddle, NotPositive, Pairs, Saddle, dense_solver
from .model import LowRank, Model, ModelSolution

SLACK = 1e-14
"""Relative rise of the objective that rounding may cause; with more a wrong face was once taken for the right one."""
VANISHED = 1e-13
"""What may be left of a row that vanishes, relative to its terms."""
SOME, _LITTLE = 1e-3, 1e-8
_MOST_STEPS, _MOST_IDLE = 12, 2
_MOST_DENSE = 1000
"""Pieces up to which few rows are multiplied out on a face."""
_EXACT = 1e-15
"""Relative residual that rounding does not let fall."""
_EQUATION = 1e-8
"""What stands for the zero block of the equations, in units of unit rows."""
_SMALL_EQUATION = 1e-13
"""What stands for the zero block of the equations where the matrix is factored as it stands."""
_SHIFTS = (1e-13, 1e-9)
"""Added to the unit diagonal; the second where the first does not make the matrix positive."""


def to_face(model: Model, solution: ModelSolution) -> np.ndarray | None:
    """A minimiser on the face that the solution points to, or None if the guess of the face does not hold."""
    if simple_face.fits(model):
        w = simple_face.solve(model, solution)
        if w is not None:
            return w if _holds(model, solution, solution.active, w) else None
    face = _Face.find(model, solution)
    if face is None:
        return None
    if isinstance(model.H, LowRank) and face.B.shape[1] > _MOST_DENSE:
        return None
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        v = _newton(model, solution, face)
    if v is None:
        return None
    w = face.base + face.B @ v
    w[face.fixed] = face.base[face.fixed]
    w += 0.0  # no negative zeros
    return w if _holds(model, solution, face.vanish, w) else None


def to_pieces(model: Model, solution: ModelSolution) -> np.ndarray | None:
    """The solution, 0 and equal to its neighbours exactly where its vanishing lines say so; None if they contradict.

    Means over pieces instead of a minimiser on the face, whose equations would be multiplied out.
    """
    face = _Face.find(model, solution)
    if face is None:
        return None
    w = face.base + face.B @ _means(face, solution.w)
    w[face.fixed] = face.base[face.fixed]
    return np.asarray(w + 0.0)


def _means(face: "_Face", w: np.ndarray) -> np.ndarray:
    lengths = np.maximum(np.asarray(face.B.sum(axis=0)).ravel(), 1.0)
    return np.asarray((face.B.T @ (w - face.base)) / lengths)


class _Face:
    """w = base + B v, where B maps pieces to variables, and equations E w = right on top."""

    def __init__(
        self, base: np.ndarray, fixed: np.ndarray, B: sp.csr_array, rows: np.ndarray, vanish: np.ndarray
    ) -> None:
        self.base, self.fixed, self.B, self.rows, self.vanish = base, fixed, B, rows, vanish

    @staticmethod
    def find(model: Model, solution: ModelSolution) -> "_Face | None":
        """The face on which the active lines and the zero groups vanish."""
        form, n = model.form, model.width
        K = form.K.copy()
        K.sum_duplicates()
        norms = solution.zero & np.isfinite(form.weight)
        vanish = np.concatenate([solution.active, np.repeat(norms, np.diff(form.starts))])
        counts = np.diff(K.indptr)
        one = np.flatnonzero(vanish & (counts == 1))
        two = np.flatnonzero(vanish & (counts == 2) & (form.offset == 0.0))
        first, second = K.data[K.indptr[two]], K.data[K.indptr[two] + 1]
        two = two[first == -second]
        at = K.indptr[two]
        count, label = _components(n, K.indices[at], K.indices[at + 1])
        columns, values = K.indices[K.indptr[one]], form.offset[one] / K.data[K.indptr[one]]
        level = np.full(count, np.nan)
        level[label[columns]] = values
        if np.any(level[label[columns]] != values):  # two different values for one piece
            return None
        known = np.isfinite(level)
        number = np.cumsum(~known) - 1
        fixed = known[label]
        free = np.flatnonzero(~fixed)
        base = np.where(fixed, level[label], 0.0)
        B = sp.csr_array((np.ones(free.size), (free, number[label[free]])), shape=(n, int(np.count_nonzero(~known))))
        rest = vanish.copy()
        rest[one] = rest[two] = False
        return _Face(base, fixed, B, np.flatnonzero(rest), vanish)


def _components(n: int, i: np.ndarray, j: np.ndarray) -> tuple[int, np.ndarray]:
    graph = sp.csr_array((np.ones(i.size), (i, j)), shape=(n, n))
    return connected_components(graph, directed=False)


def _newton(model: Model, solution: ModelSolution, face: _Face) -> np.ndarray | None:
    """Values of the pieces."""
    form, B = model.form, face.B
    k, lines = B.shape[1], form.n_lines
    image = form.image(solution.w)
    slopes = np.zeros(form.K.shape[0])
    slopes[:lines] = np.where(face.vanish[:lines], 0.0, np.where(image[:lines] > 0.0, form.up, -form.down))
    if not np.all(np.isfinite(slopes)):
        return None
    linear = model.right() - form.adjoint(slopes)
    v = _means(face, solution.w)
    if k == 0:
        return v
    smooth = _Smooth(model, solution, face)
    E = sp.csr_array(form.K[face.rows] @ B)
    H = _on_face(model, B)
    scale = _scale(H.diagonal(), E)
    w = face.base + B @ v
    multipliers = solution.y[face.rows].copy()
    magnitudes = B.T @ (np.abs(model.right()) + np.abs(model.times(w)) + np.abs(form.K).T @ np.abs(solution.y))
    # Where all terms are small, rounding of the others is what the slope is made of.
    magnitudes = np.maximum(magnitudes, _LITTLE * float(np.max(scale * magnitudes, initial=0.0)) / scale)
    best, best_v, idle, terms = np.inf, None, 0, _terms(model, solution.w)
    for _ in range(_MOST_STEPS):
        rows, sides, curvature, gradient = smooth.at(w)
        y_smooth = smooth.multipliers
        slope = B.T @ (linear - model.times(w) - gradient - form.K[face.rows].T @ multipliers)
        missed = np.concatenate([form.offset[face.rows] - form.K[face.rows] @ w, sides])
        size = _relative(slope, magnitudes)
        size += _relative(missed, np.concatenate([terms[face.rows], np.ones(sides.size)]))
        # Newton on the right face halves the residual at least; where it does not, rounding is all that is left.
        idle = 0 if size < 0.5 * best else idle + 1
        if size < best:
            best, best_v = size, v
        if idle == _MOST_IDLE or best <= _EXACT:
            break
        equations = sp.csr_array(sp.vstack([E, rows])) if sides.size else E
        matrix = H if curvature is None else _plus(H, curvature)
        step = _step(matrix, equations, scale, slope, missed)
        if step is None:
            break
        dv, dy = step
        v = v + dv
        multipliers = multipliers + dy[: face.rows.size]
        smooth.multipliers = y_smooth + dy[face.rows.size :]
        w = face.base + B @ v
    return best_v


def _terms(model: Model, w: np.ndarray) -> np.ndarray:
    """The size of the terms of K w - t; if w is 0, what it would be without penalties."""
    diagonal = model.diagonal()
    known = diagonal > 0.0
    usual = float(np.max(np.abs(model.right()[known]) / diagonal[known], initial=0.0))
    largest = max(float(np.max(np.abs(w), initial=0.0)), SOME * usual)
    return model.form.image_sizes(np.full(w.size, largest))


def _relative(values: np.ndarray, sizes: np.ndarray) -> float:
    return float(np.max(np.abs(values) / np.maximum(sizes, 1e-300), initial=0.0))


def _scale(diagonal: np.ndarray, E: sp.csr_array) -> np.ndarray:
    """Factors for unit diagonal; where H has nothing, for unit columns of the equations."""
    columns = np.zeros(diagonal.size)
    np.maximum.at(columns, E.indices, np.abs(E.data))
    size = np.where(diagonal > 0.0, np.sqrt(np.maximum(diagonal, 0.0)), columns)
    return 1.0 / np.where(size > 0.0, size, 1.0)


def _plus(H: Any, curvature: sp.csr_array) -> Any:
    return H + curvature if sp.issparse(H) else H + curvature.toarray()


def _on_face(model: Model, B: sp.csr_array) -> Any:
    """B^T (H + Q) B, sparse if H is."""
    known = B[: model.b.size]
    extra = sp.csr_array(B.T @ model.form.quadratic @ B)
    H = model.H
    if isinstance(H, LowRank):
        V = (known.T @ H.V.T).T
        return (known.T @ sp.diags_array(H.base) @ known + extra).toarray() + V.T @ (H.signs[:, None] * V)
    if sp.issparse(H):
        return sp.csr_array(known.T @ H @ known + extra)
    return known.T @ (known.T @ H).T + extra.toarray()


def _step(
    H: Any, E: sp.csr_array, scale: np.ndarray, slope: np.ndarray, missed: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Solve H dv + E^T dy = slope, E dv - delta dy = missed, in scaled variables."""
    scaled = sp.csr_array(E @ sp.diags_array(scale))
    sizes = np.sqrt(np.asarray(scaled.multiply(scaled).sum(axis=1)).ravel())
    # Rows of unit length: one shift has to suit all equations.
    unit = 1.0 / np.where(sizes > 0.0, sizes, 1.0)
    scaled = sp.csr_array(sp.diags_array(unit) @ scaled)
    side = unit * missed
    for shift in _SHIFTS:
        try:
            solve = _solver(H, scaled, scale, shift)
        except NotPositive:
            continue
        dv, dy = solve(scale * slope, side)
        return scale * dv, unit * dy
    return None


def _solver(H: Any, E: sp.csr_array, scale: np.ndarray, shift: float) -> Saddle:
    """Solves H dv + E^T dy = a, E dv - delta dy = side: as it stands if it is a band, otherwise multiplied out."""
    if sp.issparse(H):
        sides = sp.diags_array(scale)
        H = sp.csr_array(sides @ H @ sides)
        band = BandedSaddle(H, E)
        if band.fits:
            return band.factor(np.full(E.shape[0], _SMALL_EQUATION), shift)
        none = np.zeros(0, dtype=np.int64)
        whole = Assembly(sp.csr_array(H + E.T @ E / _EQUATION), Pairs(none, none, np.zeros(0), none))
        solve = whole.factor(np.zeros(0), shift, 0.0)
    else:
        solve = dense_solver(scale[:, None] * H * scale + (E.T @ E).toarray() / _EQUATION, shift)

    def both(a: np.ndarray, side: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        dv = solve(a + E.T @ side / _EQUATION)
        return dv, (E @ dv - side) / _EQUATION

    return both


class _Smooth:
    """Groups away from 0: norms, and balls whose border is touched, which are equations |K_g w - t_g| = radius."""

    def __init__(self, model: Model, solution: ModelSolution, face: _Face) -> None:
        form = model.form
        balls = np.isinf(form.weight)
        self.form, self.B = form, face.B
        self.groups = np.flatnonzero(np.where(balls, solution.zero, ~solution.zero))
        self.rims = np.flatnonzero(balls[self.groups])
        self.weights = form.weight[self.groups].copy()
        self.multipliers = group_norms(solution.y, form.starts)[self.groups[self.rims]]
        lengths = np.diff(form.starts)[self.groups]
        self.starts = np.concatenate([[0], np.cumsum(lengths)])
        self.owner = np.repeat(np.arange(self.groups.size), lengths)
        first = np.repeat(form.starts[:-1][self.groups] - self.starts[:-1], lengths)
        rows = first + np.arange(self.owner.size)
        self.K, self.offset = sp.csr_array(form.K[rows]), form.offset[rows]
        self.KB = sp.csr_array(self.K @ face.B)

    def at(self, w: np.ndarray) -> tuple[sp.csr_array, np.ndarray, sp.csr_array | None, np.ndarray]:
        """Rows and sides of the equations, curvature of the pieces, and the gradient on w."""
        if not self.groups.size:
            return sp.csr_array((0, self.B.shape[1])), np.zeros(0), None, np.zeros(w.size)
        self.weights[self.rims] = self.multipliers
        z = self.K @ w - self.offset
        sizes = np.maximum(group_norms(z, self.starts), 1e-300)
        unit, stiff = z / sizes[self.owner], self.weights / sizes
        gradient = self.K.T @ (self.weights[self.owner] * unit)
        # One row for each group: its direction, along which the norm is not curved.
        along = sp.csr_array(
            sp.csr_array((unit, np.arange(unit.size), self.starts), shape=(sizes.size, unit.size)) @ self.KB
        )
        curvature = self.KB.T @ sp.diags_array(stiff[self.owner]) @ self.KB - along.T @ sp.diags_array(stiff) @ along
        sides = self.form.radius[self.groups[self.rims]] - sizes[self.rims]
        return sp.csr_array(along[self.rims]), sides, sp.csr_array(curvature), gradient


def _holds(model: Model, solution: ModelSolution, vanish: np.ndarray, w: np.ndarray) -> bool:
    """Whether the signs are those assumed, and the objective has not risen."""
    form = model.form
    lines = form.n_lines
    if not np.isfinite(w).all():
        return False
    image, size = form.image(w), form.image_sizes(w)
    if (vanish & (np.abs(image) > VANISHED * (size + _terms(model, w)))).any():
        return False
    # What rounding leaves of vanishing rows would count as a rise of the objective.
    image[vanish] = 0.0
    before = form.image(solution.w)
    # A sign that changed means that the face was the wrong one: the slopes assumed on it are not those of w.
    if ((np.sign(before) * image < 0.0) & (np.abs(image) > SLACK * size))[:lines].any():
        return False
    if form.bounded and model.violation(w) > max(solution.violation, VANISHED * float(np.max(size, initial=0.0))):
        return False
    # A face is accepted only if the objective is no higher than that of the interior point, up to rounding. A run that
    # took a wrong face would stay there.
    scale = abs(solution.value) + float(np.abs(model.right()) @ np.abs(w))
    return model.value(w, image) <= solution.value + SLACK * scale
