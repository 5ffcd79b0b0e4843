"""A model brought to unit size: unit diagonal of H, unit rows of K, unit b. Interior points need it.

All factors are powers of two, so that scaling and its inverse are exact: a residual at rounding level stays one.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..penalties.conic import ConicForm
from .central_path import Terms

TINY = 1e-28
"""A diagonal entry of H below this fraction of the largest one is what rounding left of a column without entries."""


class Scaling(NamedTuple):
    """w = columns * width * w', y = rows * price * y', objective = width * price * objective'."""

    columns: np.ndarray
    rows: np.ndarray
    width: float
    price: float

    def unscaled_w(self, w: np.ndarray) -> np.ndarray:
        """w in the units of the original model."""
        return self.columns * self.width * w

    def unscaled_y(self, y: np.ndarray) -> np.ndarray:
        """y in the units of the original model."""
        return self.rows * self.price * y


def equivalent_curvature(form: ConicForm) -> np.ndarray:
    """A stand-in for the diagonal of H where broken lines take the place of a loss, for each variable.

    Over the distance t from 0 to a kink with slopes of size s, the line is as curved as a parabola of curvature s / t.
    """
    lines = form.n_lines
    slopes, offset = form.up + form.down, np.abs(form.offset[:lines])
    known = (offset > 0.0) & np.isfinite(slopes)
    curvatures = np.divide(slopes, offset, out=np.zeros(lines), where=known)
    own = np.flatnonzero(form.smoothing)
    curvatures[own] = np.minimum(1.0 / form.smoothing[own], np.where(known, curvatures, np.inf)[own])
    own = np.flatnonzero(curvatures)
    return np.asarray((form.K[own].power(2)).T @ curvatures[own])


class Guess(NamedTuple):
    """A solution in units that were too large for it."""

    w: np.ndarray
    size: float
    """Size of the objective."""


def find(
    diagonal: np.ndarray, b: np.ndarray, form: ConicForm, tight: bool = False, guess: Guess | None = None
) -> Scaling:
    """Factors for a model whose H has this diagonal; `tight` if its constraints ask for far smaller w than H and b."""
    K, lines = form.K, form.n_lines
    size = np.abs(K.data)
    top = float(np.max(diagonal, initial=0.0))
    known = diagonal > TINY * top if top > 0.0 else np.zeros(b.size, dtype=bool)
    columns = np.ones(b.size)
    columns[known] = 1.0 / np.sqrt(diagonal[known])
    if not known.all():
        columns[~known] = _from_neighbours(K, columns, known)[~known]
    if guess is not None:
        unit = _power_of(float(np.sqrt(guess.size)))
        implied = ~known & (guess.w != 0.0)
        columns[implied] = np.minimum(columns[implied], np.abs(guess.w[implied]) / unit)
    gradient_size = float(np.max(np.abs(columns * b), initial=0.0))
    if tight:
        columns = np.minimum(columns, _column_extents(form) / (gradient_size or 1.0))
    columns = _power(columns)
    rows = _largest_in_rows(K, size * columns[K.indices])
    if form.weight.size:  # one factor for each group
        labels = np.repeat(np.arange(form.weight.size), np.diff(form.starts))
        largest = np.zeros(form.weight.size)
        np.maximum.at(largest, labels, rows[lines:])
        rows[lines:] = largest[labels]
    rows = _power(1.0 / np.where(rows > 0.0, rows, 1.0))
    gradient_size = float(np.max(np.abs(columns * b), initial=0.0))
    extent = _extent(form, rows)
    if top > 0.0:
        width = _power_of(max(gradient_size, extent)) if guess is None else unit
        return Scaling(columns, rows, width, width)
    # A rounded kink does not reach the ends of its slopes where they are farther than its offset takes it.
    most = np.abs(form.offset[:lines]) / np.where(form.smoothing > 0.0, form.smoothing, 1.0)
    most = np.where(form.smoothing > 0.0, most, np.inf)
    ends = [np.minimum(end, most) / rows[:lines] for end in (form.up, form.down)]
    slopes = np.concatenate([*ends, form.weight])
    slopes = slopes[np.isfinite(slopes)]
    return Scaling(columns, rows, _power_of(extent), _power_of(max(gradient_size, float(np.max(slopes, initial=0.0)))))


def apply(form: ConicForm, scaling: Scaling) -> Terms:
    """Lines and groups in scaled variables."""
    K, lines = form.K, form.n_lines
    counts = np.diff(K.indptr)
    line_rows = scaling.rows[:lines] * scaling.price
    balls = np.isinf(form.weight)
    first = form.starts[:-1]
    return Terms(
        pointers=K.indptr.astype(np.int64),
        columns=K.indices.astype(np.int64),
        values=K.data * np.repeat(scaling.rows, counts) * scaling.columns[K.indices],
        offset=form.offset * scaling.rows / scaling.width,
        up=np.where(np.isinf(form.up), 0.0, form.up) / line_rows,
        down=np.where(np.isinf(form.down), 0.0, form.down) / line_rows,
        above=np.isfinite(form.up).astype(float),
        below=np.isfinite(form.down).astype(float),
        starts=form.starts.astype(np.int64),
        weight=np.where(balls, 0.0, form.weight) / (scaling.rows[first] * scaling.price),
        radius=form.radius * scaling.rows[first] / scaling.width,
        balls=balls.astype(np.int64),
        smoothing=form.smoothing * scaling.rows[:lines] ** 2 * (scaling.price / scaling.width),
    )


def _from_neighbours(K: sp.csr_array, columns: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Sizes of variables that H does not see: the largest that a row of K suggests, or 1 / the largest entry."""
    size = np.abs(K.data)
    implied = _largest_in_rows(K, np.where(known[K.indices], size * columns[K.indices], 0.0))
    implied = np.repeat(np.where(implied > 0.0, implied, 0.0), np.diff(K.indptr))
    suggested, largest = np.zeros(columns.size), np.zeros(columns.size)
    np.maximum.at(suggested, K.indices, implied / np.where(size > 0.0, size, 1.0))
    np.maximum.at(largest, K.indices, size)
    alone = 1.0 / np.where(largest > 0.0, largest, 1.0)
    return np.where(suggested > 0.0, suggested, alone)


def _extent(form: ConicForm, rows: np.ndarray) -> float:
    """How far the offsets ask w to go; those of bounds, which may be far away, count only if there are no others."""
    lines = form.n_lines
    far = np.abs(form.offset) * rows
    above, below = form.limits
    bounds = above ^ below
    asked = np.concatenate([far[:lines][~bounds], far[lines:]])
    for sizes in (asked, far[:lines][bounds], form.radius):
        sizes = sizes[sizes > 0.0]
        if sizes.size:
            return float(np.median(sizes))
    return 0.0


def _column_extents(form: ConicForm) -> np.ndarray:
    """How far the nearest constraint lets each variable go by itself; infinite where there is none."""
    K, lines = form.K, form.n_lines
    above, below = form.limits
    balls = np.repeat(np.isinf(form.weight), np.diff(form.starts))
    far = np.concatenate([np.abs(form.offset[:lines]), np.repeat(form.radius, np.diff(form.starts))])
    far[~np.concatenate([above | below, balls]) | (far == 0.0)] = np.inf
    out = np.full(K.shape[1], np.inf)
    used = K.data != 0.0
    each = np.repeat(far, np.diff(K.indptr))[used] / np.abs(K.data[used])
    np.minimum.at(out, K.indices[used], each)
    return out


def _largest_in_rows(K: sp.csr_array, sizes: np.ndarray) -> np.ndarray:
    out = np.zeros(K.shape[0])
    filled = np.flatnonzero(np.diff(K.indptr))
    if filled.size:
        out[filled] = np.maximum.reduceat(sizes, K.indptr[filled])
    return out


def _power(values: np.ndarray) -> np.ndarray:
    """The nearest powers of two."""
    # Dividing by a power of two changes no digit, so that scaling costs no accuracy.
    return np.exp2(np.round(np.log2(values)))


def _power_of(value: float) -> float:
    return float(np.exp2(np.round(np.log2(value)))) if value > 0.0 else 1.0
