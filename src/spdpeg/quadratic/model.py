"""The quadratic model, and what is known of its minimiser.

    1/2 w^T H w - b^T w + (lines and groups of a ConicForm)

H may be dense, sparse or diagonal plus few rows (`LowRank`); it may be smaller than the form, whose auxiliary variables
it does not see, singular, or 0.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from ..penalties.conic import ConicForm, group_norms

Status = Literal["optimal", "inaccurate", "infeasible", "unbounded"]


@dataclass(frozen=True, eq=False)
class LowRank:
    """diag(base) + V^T diag(signs) V: a quasi-Newton matrix, or the curvature of few rows."""

    base: np.ndarray
    V: np.ndarray
    signs: np.ndarray
    __array_ufunc__: ClassVar[None] = None

    def __matmul__(self, w: np.ndarray) -> np.ndarray:
        return np.asarray(self.base * w + self.V.T @ (self.signs * (self.V @ w)))

    def __rmul__(self, factor: float) -> "LowRank":
        return LowRank(factor * self.base, self.V, factor * self.signs)

    def diagonal(self) -> np.ndarray:
        """Its entries on the diagonal."""
        return np.asarray(self.base + self.signs @ np.square(self.V))


_MET = 1e-9
"""Fraction of the terms of a constraint by which it may be missed."""


@dataclass(frozen=True, eq=False)
class Model:
    """1/2 w^T H w - b^T w + form(w).

    Parameters
    ----------
    H : array, sparse array or LowRank
        Symmetric and positive semidefinite. It and `b` may leave out auxiliary variables at the end of w.
    b : array
    form : ConicForm
    """

    H: Any
    b: np.ndarray
    form: ConicForm

    @property
    def width(self) -> int:
        """Length of w."""
        return self.form.width

    def times(self, w: np.ndarray) -> np.ndarray:
        """(H + Q) w."""
        known = self.b.size
        out = self.form.curvature(w)
        out[:known] += self.H @ w[:known]
        return out

    def diagonal(self) -> np.ndarray:
        """The diagonal of H + Q."""
        out = self.form.quadratic.diagonal() if self.form.curved else np.zeros(self.width)
        known = slice(self.b.size)
        out[known] += self.H.diagonal()
        return np.maximum(out, 0.0)

    def right(self) -> np.ndarray:
        """b - l, for all of w."""
        right = -self.form.linear
        right[: self.b.size] += self.b
        return right

    def value(self, w: np.ndarray, image: np.ndarray | None = None) -> float:
        """The objective, without what a missed constraint would add; `image` is K w - t if it is known better."""
        image = self.form.image(w) if image is None else image
        return 0.5 * float(w @ self.times(w)) - float(self.right() @ w) + _penalty(self.form, image)

    def violation(self, w: np.ndarray) -> float:
        """By how much the worst constraint is missed."""
        form = self.form
        if not form.bounded:
            return 0.0
        image = form.image(w)
        lines, balls = image[: form.n_lines], np.isinf(form.weight)
        above, below = form.limits
        over = [lines[above], -lines[below]]
        over.append(group_norms(image, form.starts)[balls] - form.radius[balls])
        return max(0.0, float(np.max(np.concatenate(over), initial=0.0)))

    def misses(self, w: np.ndarray) -> bool:
        """Whether a constraint is missed by more than a small part of its own terms."""
        form = self.form
        if not form.bounded:
            return False
        image, size = form.image(w), _MET * form.image_sizes(w)
        lines = form.n_lines
        above, below = form.limits
        if np.any((image > size)[:lines] & above) or np.any((image < -size)[:lines] & below):
            return True
        balls = np.isinf(form.weight)
        return bool(np.any(group_norms(image, form.starts)[balls] > (1.0 + _MET) * form.radius[balls]))


@dataclass(frozen=True, eq=False)
class ModelSolution:
    """A minimiser with its multipliers.

    Attributes
    ----------
    w, y : array
        H w - b + l + K^T y = residual; each y lies exactly within its set: [-down, up], or a ball of radius c_g.
    residual : array
        What rounding leaves of the optimality condition.
    value : float
        The objective at w, missed constraints aside; `violation` is by how much they are missed.
    gap : float
        Estimate of value - optimum: the complementarity of w and y plus |residual| |w|.
    active : array of bool
        Lines on which K_i w - t_i vanishes at the solution (by a guess that `crossover.to_face` checks).
    zero : array of bool
        Groups that vanish (norms) or touch the border (balls).
    iterations : int
    status : str
    certificate : array or None
        A direction of unbounded descent (unbounded), or multipliers that no w satisfies (infeasible).
    """

    w: np.ndarray
    y: np.ndarray
    residual: np.ndarray
    value: float
    violation: float
    gap: float
    active: np.ndarray
    zero: np.ndarray
    iterations: int
    status: Status
    certificate: np.ndarray | None = None


def _penalty(form: ConicForm, image: np.ndarray) -> float:
    """The finite part of the lines and groups."""
    lines = image[: form.n_lines]
    slopes = form.slopes(lines)
    slopes = np.where(np.isinf(slopes), 0.0, slopes)
    total = float(slopes @ (lines - 0.5 * form.smoothing * slopes))
    if form.weight.size:
        total += float(np.where(np.isinf(form.weight), 0.0, form.weight) @ group_norms(image, form.starts))
    return total
