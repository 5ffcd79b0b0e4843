"""Models with nuclear norms, by interior points: groups of a form are matrices, and their cones semidefinite.

The nuclear norm of V is the least c (tr A + tr B) / 2 for which X = (A V; V^T B) is positive semidefinite. The
multipliers of that are Z = (c I, -Y; -Y^T, c I) / 2, where Y is the multiplier of V, so that |Y| <= c. X and Z are
brought together along the central path X Z = mu I by the steps of Nesterov and Todd, with the corrector of Mehrotra.
Given dY, the steps of A and B follow, so that a matrix brings no variables of its own into the linear system: it adds
a block of its size to D in H dw + K^T dy = ., K dw - D dy = . A Euclidean norm is that of a single column.

Nesterov, Todd: Primal-dual interior-point methods for self-scaled cones, SIAM Journal on Optimization, 1998.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg

from ..kernels import deadline
from ..penalties.conic import ConicForm
from . import scaling
from .central_path import Terms
from .minimization import kept_lines, padded
from .model import Model

_MOST_ORDER = 800
"""Order of the linear systems up to which they are solved: variables and rows of K."""

_MOST_STEPS = 100
_ACCURACY = 1e-13
"""Relative size of the gap and of what is missed at which a run ends."""
_RISES = 12
"""Steps without progress after which rounding is all that is left."""
_PROGRESS = 0.95
_BACK = 0.99
"""Fraction of the way to the border of the cones."""
_SHIFT = 1e-15
"""Added to the unit diagonal of H."""
_REFINEMENTS = 2
_ENOUGH = 1e-8
"""Relative size of gap and misses that counts as a solution."""


class ConicSolution(NamedTuple):
    """A minimiser w, multipliers y of the rows of K within their sets, and what they miss, relative to their sizes."""

    w: np.ndarray
    y: np.ndarray
    accuracy: float

    @property
    def found(self) -> bool:
        """Whether a minimiser was found."""
        return self.accuracy <= _ENOUGH


def takes(form: ConicForm, rows: int = 0) -> bool:
    """Whether a form, with so many broken lines beside it, is small enough and holds no ball."""
    return form.width + form.K.shape[0] + rows <= _MOST_ORDER and not np.isinf(form.weight).any()


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # a run that fails shows it by its accuracy
def minimize(model: Model) -> ConicSolution:
    """The solution of a model with a dense H, as far as rounding allows."""
    kept = kept_lines(model.form)
    right, diagonal = model.right(), model.diagonal()
    if not model.H.any():
        diagonal = diagonal + scaling.equivalent_curvature(kept.form)
    scales = scaling.find(diagonal, right, kept.form)
    factor = scales.columns * np.sqrt(scales.width / scales.price)
    H = padded(model) * factor[:, None] * factor
    path = _Path(H, scales.columns * right / scales.price, scaling.apply(kept.form, scales), kept.form.columns)
    try:
        w, y, accuracy = path.follow()
    except (np.linalg.LinAlgError, ValueError):  # numbers that are none
        w, y, accuracy = np.zeros(model.width), np.zeros(kept.rows.size), np.inf
    multipliers = kept.y.copy()
    multipliers[kept.rows] = _within(kept.form, scales.unscaled_y(y))
    return ConicSolution(scales.unscaled_w(w), multipliers, accuracy)


def _within(form: ConicForm, y: np.ndarray) -> np.ndarray:
    """y cut off at its set."""
    lines = form.n_lines
    y[:lines] = np.clip(y[:lines], -form.down, form.up)
    for group, (first, last) in enumerate(zip(form.starts[:-1], form.starts[1:], strict=True)):
        left, values, other = np.linalg.svd(y[first:last].reshape(-1, form.columns[group]), full_matrices=False)
        if values.max(initial=0.0) > form.weight[group]:
            y[first:last] = ((left * np.minimum(values, form.weight[group])) @ other).ravel()
    return y


@dataclass
class _Cone:
    """A matrix V = K w - t of some rows and columns, as the corner of X; and how both sides are scaled to one."""

    rows: slice
    shape: tuple[int, int]
    weight: float
    X: np.ndarray

    def Z(self, y: np.ndarray) -> np.ndarray:
        """The matrix Z for a multiplier of V."""
        return 0.5 * (self.weight * np.eye(len(self.X)) - self.off(y))

    def off(self, y: np.ndarray) -> np.ndarray:
        """(0 Y; Y^T 0)."""
        r, Y = self.shape[0], y[self.rows].reshape(self.shape)
        out = np.zeros_like(self.X)
        out[:r, r:], out[r:, :r] = Y, Y.T
        return out

    def corner(self, matrix: np.ndarray) -> np.ndarray:
        """The block of the matrix that holds V."""
        return matrix[: self.shape[0], self.shape[0] :].ravel()

    def scale(self, y: np.ndarray) -> None:
        """R with R^T Z R = R^-1 X R^-T = diag(lam)."""
        lower, upper = np.linalg.cholesky(self.X), np.linalg.cholesky(self.Z(y))
        left, self.lam, right = np.linalg.svd(upper.T @ lower)
        root = np.sqrt(self.lam)
        self.R, self.inverse = (lower @ right.T) / root, (left / root).T @ upper.T
        self.W = self.R @ self.R.T

    def block(self) -> np.ndarray:
        """The block of D: half the corner of W (0 dY; dY^T 0) W."""
        r, size = self.shape[0], self.shape[0] * self.shape[1]
        own = np.kron(self.W[:r, :r], self.W[r:, r:])
        crossed = np.einsum("ik,lj->ijlk", self.W[:r, r:], self.W[:r, r:]).reshape(size, size)
        return 0.5 * (own + crossed)

    def target(self, mu: float, moves: tuple[np.ndarray, np.ndarray] | None) -> np.ndarray:
        """The right-hand side dX + W dZ W for X Z = mu I; `moves` are the predicted ones of X and Z."""
        goal = np.diag(mu - self.lam**2)
        if moves is not None:
            product = (self.inverse @ moves[0] @ self.inverse.T) @ (self.R.T @ moves[1] @ self.R)
            goal = goal - 0.5 * (product + product.T)
        return np.asarray(self.R @ (2.0 * goal / (self.lam[:, None] + self.lam)) @ self.R.T)

    def longest(self, dX: np.ndarray, dZ: np.ndarray) -> float:
        """Length of the step at which one of the two leaves its cone."""
        root = np.sqrt(self.lam)
        least = 0.0
        for move in (self.inverse @ dX @ self.inverse.T, self.R.T @ dZ @ self.R):
            least = min(least, float(np.linalg.eigvalsh(move / root[:, None] / root)[0]))
        return -1.0 / least if least < 0.0 else np.inf


@dataclass
class _Move:
    """The step of all variables."""

    w: np.ndarray
    y: np.ndarray
    p: np.ndarray
    q: np.ndarray
    X: list[np.ndarray]
    Z: list[np.ndarray]


class _Path:
    """The run in scaled variables. Lines have K w - t - smoothing y = p - q, u = up - y and v = y + down."""

    def __init__(self, H: np.ndarray, b: np.ndarray, terms: Terms, columns: np.ndarray) -> None:
        n, rows = b.size, terms.offset.size
        self._H, self._b, self._terms = H + _SHIFT * np.eye(n), b, terms
        self._K = np.zeros((rows, n))
        np.add.at(self._K, (np.repeat(np.arange(rows), np.diff(terms.pointers)), terms.columns), terms.values)
        self._above, self._below = terms.above > 0.0, terms.below > 0.0
        self._w, self._y, lines = np.zeros(n), np.zeros(rows), terms.up.size
        self._y[:lines] = np.where(
            self._above & self._below,
            0.5 * (terms.up - terms.down),
            np.where(self._above, terms.up - 1.0, np.where(self._below, 1.0 - terms.down, 0.0)),
        )
        away = -terms.offset[:lines] - terms.smoothing * self._y[:lines]
        self._p = np.where(self._above, np.maximum(away, 0.0) + 1.0, 0.0)
        self._q = np.where(self._below, np.maximum(-away, 0.0) + 1.0, 0.0)
        self._u = np.where(self._above, terms.up - self._y[:lines], 1.0)
        self._v = np.where(self._below, terms.down + self._y[:lines], 1.0)
        self._cones = []
        for group, (first, last) in enumerate(zip(terms.starts[:-1], terms.starts[1:], strict=True)):
            shape = ((last - first) // columns[group], columns[group])
            size = 1.0 + float(np.linalg.norm(terms.offset[first:last]))
            self._cones.append(_Cone(slice(first, last), shape, terms.weight[group], size * np.eye(sum(shape))))
        self._orders = np.count_nonzero(self._above) + np.count_nonzero(self._below)
        self._orders += sum(len(cone.X) for cone in self._cones)

    def follow(self) -> tuple[np.ndarray, np.ndarray, float]:
        """w, y and what they miss."""
        best, since = (self._w, self._y, np.inf), 0
        for _ in range(_MOST_STEPS):
            deadline.check()
            slope, missed = self._missed()
            accuracy = self._accuracy(slope, missed)
            if not np.isfinite(accuracy):
                break
            since = 0 if accuracy <= _PROGRESS * best[2] else since + 1
            if accuracy < best[2]:
                best = self._w, self._y, accuracy
            if best[2] <= _ACCURACY or since >= _RISES:
                break
            try:
                self._step(slope, missed)
            except np.linalg.LinAlgError:  # on the border of a cone
                break
        return best

    def _missed(self) -> tuple[np.ndarray, np.ndarray]:
        """Residuals of H w - b + K^T y = 0, and of K w - t = what lines and cones require."""
        image, lines = self._K @ self._w - self._terms.offset, self._terms.up.size
        image[:lines] -= self._terms.smoothing * self._y[:lines] + self._p - self._q
        for cone in self._cones:
            image[cone.rows] -= cone.corner(cone.X)
        return self._H @ self._w - self._b + self._K.T @ self._y, image

    def _gap(self) -> float:
        lines = float(self._p @ np.where(self._above, self._u, 0.0) + self._q @ np.where(self._below, self._v, 0.0))
        return lines + sum(float(np.sum(cone.X * cone.Z(self._y))) for cone in self._cones)

    def _accuracy(self, slope: np.ndarray, missed: np.ndarray) -> float:
        gap, w, y = self._gap(), np.abs(self._w), np.abs(self._y)
        terms = abs(float(self._b @ self._w)) + float(self._w @ (self._H @ self._w)) + float(y @ np.abs(self._K) @ w)
        size = terms + float(y @ np.abs(self._terms.offset)) + 1e-300
        cost = float(np.abs(slope) @ (w + 1e-3)) + float(np.abs(missed) @ (y + 1e-3))
        return (gap + cost) / size

    def _step(self, slope: np.ndarray, missed: np.ndarray) -> None:
        lines = self._terms.up.size
        for cone in self._cones:
            cone.scale(self._y)
        n, mu = self._w.size, self._gap() / max(float(self._orders), 1.0)
        matrix = np.zeros((n + self._y.size, n + self._y.size))
        matrix[:n, :n], matrix[:n, n:], matrix[n:, :n] = self._H, self._K.T, self._K
        bent = self._terms.smoothing + self._p / self._u + self._q / self._v
        matrix[n + np.arange(lines), n + np.arange(lines)] = -bent
        for cone in self._cones:
            own = slice(n + cone.rows.start, n + cone.rows.stop)
            matrix[own, own] = -cone.block()
        lu, pivots, failed = scipy.linalg.lapack.dgetrf(matrix)
        if failed or not np.all(np.isfinite(lu)):
            raise np.linalg.LinAlgError
        factors = lu, pivots
        ahead = self._direction(matrix, factors, slope, missed, 0.0, None)
        reach = min(1.0, self._longest(ahead))
        centring = (1.0 - reach) ** 3 if self._orders else 0.0
        move = self._direction(matrix, factors, slope, missed, centring * mu, ahead)
        length = min(1.0, _BACK * self._longest(move))
        self._w, self._y = self._w + length * move.w, self._y + length * move.y
        self._p, self._q = self._p + length * move.p, self._q + length * move.q
        self._u = np.where(self._above, self._u - length * move.y[:lines], 1.0)
        self._v = np.where(self._below, self._v + length * move.y[:lines], 1.0)
        for cone, dX in zip(self._cones, move.X, strict=True):
            cone.X = cone.X + length * dX
            cone.X = 0.5 * (cone.X + cone.X.T)

    def _direction(
        self,
        matrix: np.ndarray,
        factors: tuple[np.ndarray, np.ndarray],
        slope: np.ndarray,
        missed: np.ndarray,
        mu: float,
        ahead: _Move | None,
    ) -> _Move:
        n, lines = self._w.size, self._terms.up.size
        over, short = mu - self._p * self._u, mu - self._q * self._v
        if ahead is not None:
            over, short = over + ahead.p * ahead.y[:lines], short - ahead.q * ahead.y[:lines]
        over, short = np.where(self._above, over, 0.0) / self._u, np.where(self._below, short, 0.0) / self._v
        right = np.concatenate([-slope, -missed])
        right[n : n + lines] += over - short
        goals = []
        for k, cone in enumerate(self._cones):
            goals.append(cone.target(mu, None if ahead is None else (ahead.X[k], ahead.Z[k])))
            right[n + cone.rows.start : n + cone.rows.stop] += cone.corner(goals[-1])
        found = scipy.linalg.lapack.dgetrs(*factors, right)[0]
        for _ in range(_REFINEMENTS):
            found = found + scipy.linalg.lapack.dgetrs(*factors, right - matrix @ found)[0]
        dw, dy = found[:n], found[n:]
        dp = np.where(self._above, over + self._p / self._u * dy[:lines], 0.0)
        dq = np.where(self._below, short - self._q / self._v * dy[:lines], 0.0)
        dZ = [-0.5 * cone.off(dy) for cone in self._cones]
        dX = [goal - cone.W @ move @ cone.W for goal, cone, move in zip(goals, self._cones, dZ, strict=True)]
        return _Move(dw, dy, dp, dq, dX, dZ)

    def _longest(self, move: _Move) -> float:
        """Length of the step at which something leaves its cone."""
        lines, least = self._terms.up.size, 0.0
        for used, value, change in (
            (self._above, self._p, move.p),
            (self._below, self._q, move.q),
            (self._above, self._u, -move.y[:lines]),
            (self._below, self._v, move.y[:lines]),
        ):
            least = min(least, float(np.min(change[used] / value[used], initial=0.0)))
        longest = -1.0 / least if least < 0.0 else np.inf
        return min([longest, *(c.longest(X, Z) for c, X, Z in zip(self._cones, move.X, move.Z, strict=True))])
