"""Penalties in the form that interior points take: squares, broken lines and Euclidean norms of linear functions.

    r(v) = min over s of  1/2 w^T Q w + l^T w + sum_i g_i(K_i w - t_i) + sum_g c_g |K_g w - t_g|,      w = (v, s),

with g_i(a) = up_i max(a, 0) + down_i max(-a, 0). An infinite `up` or `down` is a constraint, both infinite an equation.
Where `smoothing_i` is above 0 the kink is round, g_i(a) = max of y a - smoothing_i y^2 / 2 over y in [-down_i, up_i],
and an infinite slope is a parabola. Only losses have such rows.
A group with an infinite weight is the ball |K_g w - t_g| <= radius_g. One with several columns is a matrix with its
nuclear norm, which `quadratic.semidefinite` alone takes. The auxiliary variables s come after v.

Forms are made by `squares`, `broken_lines`, `norms` and `ball`; they are added (`+`), put side by side (`stack`),
multiplied (`scaled`) and taken after a matrix (`after`).
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

_LONG = 32
"""Entries of a row of F beyond which a square of it gets a variable of its own: its product with itself is dense."""


_NO_GROUPS = np.zeros(0, dtype=np.int64)


class Entries(NamedTuple):
    """Entries of K, row by row."""

    pointers: np.ndarray
    """Where the rows start."""
    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class ConicForm:
    """A penalty as squares, broken lines and norms.

    Parameters
    ----------
    size : int
        Length of v.
    quadratic : csr_array
        Q, symmetric and positive semidefinite, one row and column for each entry of w = (v, s).
    linear : array
        l.
    K : csr_array
        The rows of the broken lines, then those of the groups.
    offset : array
        t, one number for each row of K.
    up, down : array
        Slopes on the two sides, in [0, inf], one for each broken line.
    starts : array of int
        The rows of group g are starts[g], ..., starts[g + 1] - 1; the first group starts after the broken lines.
    weight, radius : array
        c_g, infinite for a ball; radius_g, 0 for a norm.
    smoothing : array
        How round the kink of each broken line is; 0 for a sharp one.
    columns : array of int
        Of each group as a matrix, row after row, whose nuclear norm is meant; 1 for a Euclidean norm.
    """

    size: int
    quadratic: sp.csr_array
    linear: np.ndarray
    K: sp.csr_array
    offset: np.ndarray
    up: np.ndarray
    down: np.ndarray
    starts: np.ndarray
    weight: np.ndarray
    radius: np.ndarray
    smoothing: np.ndarray
    columns: np.ndarray

    @property
    def width(self) -> int:
        """Length of w."""
        return self.linear.size

    @property
    def n_lines(self) -> int:
        """Number of broken lines."""
        return self.up.size

    @cached_property
    def entries(self) -> Entries:
        """The entries of K, for products with fewer Python calls than SciPy's.

        They are copies, as scipy sorts the entries of a matrix whenever it needs to.
        """
        pointers = self.K.indptr.astype(np.int64)
        rows = np.repeat(np.arange(pointers.size - 1), np.diff(pointers))
        columns, values = self.K.indices[: rows.size].astype(np.int64), self.K.data[: rows.size].copy()
        return Entries(pointers, rows, columns, values)

    @cached_property
    def _is_plain(self) -> bool:
        """Whether K is the identity, as it is for penalties of the entries of v."""
        return _is_identity(self.K)

    @cached_property
    def plain_lines(self) -> bool:
        """Whether it is broken lines of the entries of v and nothing else: a multiplier is a subgradient."""
        return self._is_plain and self.n_lines == self.size and not self.curved and not np.any(self.linear)

    @cached_property
    def curved(self) -> bool:
        """Whether Q has entries."""
        return bool(self.quadratic.nnz)

    @cached_property
    def bounded(self) -> bool:
        """Whether it holds a constraint."""
        above, below = self.limits
        return bool(above.any() or below.any() or np.isinf(self.weight).any())

    @cached_property
    def limits(self) -> tuple[np.ndarray, np.ndarray]:
        """Which lines are constraints K_i w <= t_i, and which K_i w >= t_i."""
        sharp = self.smoothing == 0.0
        return np.isinf(self.up) & sharp, np.isinf(self.down) & sharp

    @cached_property
    def holds_matrices(self) -> bool:
        """Whether it holds a nuclear norm."""
        return bool(np.any(self.columns > 1))

    @cached_property
    def rounded(self) -> bool:
        """Whether a line has a rounded kink."""
        return bool(np.any(self.smoothing))

    def slopes(self, lines: np.ndarray) -> np.ndarray:
        """Slopes of the broken lines at given K w - t; on a kink, that of its lower side."""
        ends = np.where(lines > 0.0, self.up, -self.down)
        if not self.rounded:
            return ends
        smoothing = np.where(self.smoothing > 0.0, self.smoothing, 1.0)
        return np.where(self.smoothing > 0.0, np.minimum(np.maximum(lines / smoothing, -self.down), self.up), ends)

    def image(self, w: np.ndarray) -> np.ndarray:
        """K w - t."""
        _, rows, columns, values = self.entries
        return np.bincount(rows, values * w[columns], self.offset.size) - self.offset

    def image_sizes(self, w: np.ndarray) -> np.ndarray:
        """|K| |w| + |t|: of what size the terms of the image are."""
        _, rows, columns, values = self.entries
        return np.bincount(rows, np.abs(values * w[columns]), self.offset.size) + np.abs(self.offset)

    def adjoint(self, y: np.ndarray) -> np.ndarray:
        """K^T y."""
        if self._is_plain:
            return y.copy()
        _, rows, columns, values = self.entries
        return np.bincount(columns, values * y[rows], self.width)

    def curvature(self, w: np.ndarray) -> np.ndarray:
        """Q w."""
        return self.quadratic @ w if self.curved else np.zeros(self.width)

    def value(self, w: np.ndarray, slack: float = 0.0) -> float:
        """The value at w = (v, s); infinite where a constraint is missed by more than `slack`."""
        image = self.image(w)
        lines = image[: self.n_lines]
        lengths = group_norms(image, self.starts)
        for g in np.flatnonzero(self.columns > 1):
            matrix = image[self.starts[g] : self.starts[g + 1]].reshape(-1, self.columns[g])
            lengths[g] = np.linalg.norm(matrix, "nuc")
        balls = np.isinf(self.weight)
        above, below = self.limits
        if np.any(above & (lines > slack)) or np.any(below & (lines < -slack)):
            return np.inf
        if np.any(lengths[balls] > self.radius[balls] + slack):
            return np.inf
        slopes = self.slopes(lines)
        slopes = np.where(np.isfinite(slopes), slopes, 0.0)
        total = 0.5 * w @ self.curvature(w) + self.linear @ w + slopes @ (lines - 0.5 * self.smoothing * slopes)
        return float(total + self.weight[~balls] @ lengths[~balls])

    def scaled(self, factor: float) -> "ConicForm":
        """factor * r, for factor > 0."""
        return replace(
            self,
            quadratic=self.quadratic * factor,
            linear=self.linear * factor,
            up=self.up * factor,
            down=self.down * factor,
            weight=self.weight * factor,
            smoothing=self.smoothing / factor,
        )

    def with_round_kinks(self) -> "ConicForm":
        """The same with a round kink for a line minus an auxiliary variable that has a square and no other use."""
        columns, diagonal = sp.csc_array(self.K), self.quadratic.diagonal()
        counts = np.diff(columns.indptr)
        own = np.flatnonzero((counts == 1) & (diagonal > 0.0) & (self.linear == 0.0))
        own = own[own >= self.size]
        rows, values = columns.indices[columns.indptr[own]], columns.data[columns.indptr[own]]
        fitting = (rows < self.n_lines) & (values == -1.0)
        own, rows = own[fitting], rows[fitting]
        if not own.size or self.quadratic.nnz != np.count_nonzero(diagonal) or np.unique(rows).size != rows.size:
            return self
        kept = np.delete(np.arange(self.width), own)
        smoothing = self.smoothing.copy()
        smoothing[rows] = 1.0 / diagonal[own]
        quadratic = sp.csr_array(self.quadratic[kept][:, kept])
        K = sp.csr_array(columns[:, kept])
        return replace(self, K=K, quadratic=quadratic, linear=self.linear[kept], smoothing=smoothing)

    def with_parabolas(self) -> "ConicForm":
        """The same with a line for each square, its kink as round as that: after a matrix, no products are rounded."""
        diagonal = self.quadratic.diagonal()
        own = np.flatnonzero(diagonal)
        if self.quadratic.nnz != own.size:
            return self
        K = sp.csr_array((np.ones(own.size), own, np.arange(own.size + 1)), shape=(own.size, self.width))
        parabolas = broken_lines(K, 0.0, np.inf, np.inf, self.size, smoothing=1.0 / diagonal[own])
        places = [np.arange(self.width)] * 2
        return _combined([replace(self, quadratic=_no_entries(self.width, self.width)), parabolas], places, self.size)

    def __add__(self, other: "ConicForm") -> "ConicForm":
        """The sum of two penalties of the same v."""
        if self.width == self.size == other.width and not self.K.shape[0] and not other.curved:
            return replace(other, quadratic=self.quadratic, linear=self.linear + other.linear)  # squares beside lines
        first = np.arange(self.width)
        second = np.concatenate([np.arange(self.size), self.width + np.arange(other.width - other.size)])
        return _combined([self, other], [first, second], self.size)

    def after(self, F: Any) -> "ConicForm":
        """The penalty of F x as one of x.

        Squares become x^T F^T Q F x, except those of rows of F with many entries, which become variables.
        """
        F = as_csr(F)
        outputs, inputs = F.shape
        n_auxiliary = self.width - outputs
        every = sp.block_diag([F, sp.eye_array(n_auxiliary)], format="csr") if n_auxiliary else F
        squared = np.diff(self.quadratic.indptr)[:outputs] > 0
        own = np.flatnonzero(squared & (np.diff(F.indptr) > _LONG))
        moved = replace(
            self,
            size=inputs,
            quadratic=_no_entries(every.shape[1], every.shape[1]),
            linear=every.T @ self.linear if self.linear.any() else np.zeros(every.shape[1]),
            K=every if self._is_plain and is_clean(every) else sp.csr_array(self.K @ every),
        )
        if not self.curved:
            return moved
        if not own.size:
            return replace(moved, quadratic=sp.csr_array(every.T @ self.quadratic @ every))
        # z_own = F_own x, as variables at the end, and squares of z instead of F x.
        width = every.shape[1] + own.size
        pick = sp.csr_array((np.ones(own.size), (own, np.arange(own.size))), shape=(self.width, own.size))
        kept = np.ones(self.width)
        kept[own] = 0.0
        squares = sp.hstack([sp.diags_array(kept) @ every, pick], format="csr")
        equations = sp.hstack([F[own], sp.csr_array((own.size, n_auxiliary)), -sp.eye_array(own.size)], format="csr")
        ends = _bare(inputs, width)
        ends = replace(ends, quadratic=sp.csr_array(squares.T @ self.quadratic @ squares))
        ends = replace(ends, **_line_fields(equations, 0.0, np.inf, np.inf))
        return _combined([moved, ends], [np.arange(every.shape[1]), np.arange(width)], inputs)


def group_norms(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The Euclidean norm of each segment values[starts[g]:starts[g + 1]]."""
    if starts.size == 1:
        return np.zeros(0)
    own = values[starts[0] :]
    labels = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    scale = float(np.max(np.abs(own), initial=0.0))
    if not 0.0 < scale < np.inf:
        return np.full(starts.size - 1, scale)
    return scale * np.sqrt(np.bincount(labels, np.square(own / scale), minlength=starts.size - 1))


def squares(weight: Any, size: int) -> ConicForm:
    """Half the sum of weight_j v_j^2."""
    weights = np.broadcast_to(np.asarray(weight, dtype=float), (size,))
    kept = np.flatnonzero(weights)
    pointers = np.concatenate([[0], np.cumsum(weights != 0.0)])
    return replace(_bare(size), quadratic=sp.csr_array((weights[kept], kept, pointers), shape=(size, size)))


def broken_lines(
    K: Any,
    offset: Any,
    up: Any,
    down: Any,
    size: int | None = None,
    linear: np.ndarray | None = None,
    curvature: np.ndarray | None = None,
    smoothing: Any = 0.0,
) -> ConicForm:
    """The sum of g_i(K_i w - t_i), plus l^T w and half the sum of curvature_j w_j^2 if given.

    Columns of K from `size` on belong to auxiliary variables. Lines of slope 0 are left out.
    """
    K = as_csr(K)
    width = K.shape[1]
    fields = _line_fields(K, offset, up, down, smoothing)
    used = (fields["up"] > 0.0) | (fields["down"] > 0.0)
    if not used.all():
        fields = _line_fields(K[used], *(fields[name][used] for name in ("offset", "up", "down", "smoothing")))
    none = np.zeros(0)
    return ConicForm(
        size=width if size is None else size,
        quadratic=_no_entries(width, width) if curvature is None else squares(curvature, width).quadratic,
        linear=np.zeros(width) if linear is None else linear,
        weight=none,
        radius=none,
        columns=_NO_GROUPS,
        **fields,
    )


def as_csr(matrix: Any) -> sp.csr_array:
    """The matrix itself if it is one: scipy takes its time to find that out."""
    return matrix if type(matrix) is sp.csr_array else sp.csr_array(matrix)


def identity(size: int) -> sp.csr_array:
    """K of the coordinates themselves."""
    return sp.csr_array((np.ones(size), np.arange(size), np.arange(size + 1)), shape=(size, size))


def _is_identity(K: sp.csr_array) -> bool:
    size = K.shape[0]
    if K.shape[1] != size or K.nnz != size or not np.all(K.data == 1.0):
        return False
    return np.array_equal(K.indices, np.arange(size)) and np.array_equal(K.indptr, np.arange(size + 1))


def is_clean(K: sp.csr_array) -> bool:
    """Whether rows are sorted and hold no entry twice, and none that is 0."""
    return bool(K.has_canonical_format and np.all(K.data != 0.0))


@lru_cache(maxsize=16)
def _no_entries(rows: int, columns: int) -> sp.csr_array:
    """A shared matrix of zeros, never written to."""
    return sp.csr_array((rows, columns))


def norms(members: Sequence[np.ndarray], weight: np.ndarray, size: int) -> ConicForm:
    """The sum over groups of weight_g |v_g|; groups of weight 0 and empty groups are left out.

    A group of one entry is a broken line: interior points keep more digits of it than of a cone.
    """
    weight = np.asarray(weight, dtype=float)
    used = [g for g, group in enumerate(members) if len(group) > 1 and weight[g] > 0.0]
    form = _groups([members[g] for g in used], weight[used], np.zeros(len(used)), size)
    single = [g for g, group in enumerate(members) if len(group) == 1 and weight[g] > 0.0]
    if not single:
        return form
    columns = np.concatenate([members[g] for g in single])
    K = sp.csr_array((np.ones(columns.size), columns, np.arange(columns.size + 1)), shape=(columns.size, size))
    lines = broken_lines(K, 0.0, weight[single], weight[single])
    return _combined([lines, form], [np.arange(size)] * 2, size)


def nuclear_norm(weight: float, columns: int, size: int) -> ConicForm:
    """weight times the nuclear norm of v as a matrix with so many columns."""
    form = _groups([np.arange(size)], np.array([weight]), np.zeros(1), size)
    return replace(form, columns=np.array([columns], dtype=np.int64))


def ball(radius: float, size: int) -> ConicForm:
    """The set |v| <= radius."""
    if size == 0:
        return _bare(0)
    return _groups([np.arange(size)], np.array([np.inf]), np.array([radius]), size)


def stack(forms: Sequence[ConicForm]) -> ConicForm:
    """Penalties of consecutive blocks of v, side by side."""
    size = sum(form.size for form in forms)
    first = itertools.accumulate([0] + [form.size for form in forms])
    extra = itertools.accumulate([size] + [form.width - form.size for form in forms])
    places = [
        np.concatenate([v + np.arange(form.size), s + np.arange(form.width - form.size)])
        for form, v, s in zip(forms, first, extra, strict=False)
    ]
    return _combined(forms, places, size)


def _bare(size: int, width: int | None = None) -> ConicForm:
    """r = 0."""
    width = size if width is None else width
    none = np.zeros(0)
    return ConicForm(
        size=size,
        quadratic=_no_entries(width, width),
        linear=np.zeros(width),
        K=_no_entries(0, width),
        offset=none,
        up=none,
        down=none,
        starts=np.zeros(1, dtype=np.int64),
        weight=none,
        radius=none,
        smoothing=none,
        columns=_NO_GROUPS,
    )


def _line_fields(K: sp.csr_array, offset: Any, up: Any, down: Any, smoothing: Any = 0.0) -> dict[str, Any]:
    count = K.shape[0]
    vectors = {"offset": offset, "up": up, "down": down, "smoothing": smoothing}
    fields = {name: np.array(np.broadcast_to(values, (count,)), dtype=float) for name, values in vectors.items()}
    return {"K": K, "starts": np.array([count], dtype=np.int64), **fields}


def _groups(members: Sequence[np.ndarray], weight: np.ndarray, radius: np.ndarray, size: int) -> ConicForm:
    columns = np.concatenate([np.zeros(0, dtype=np.int64), *members]).astype(np.int64)
    rows = sp.csr_array((np.ones(columns.size), columns, np.arange(columns.size + 1)), shape=(columns.size, size))
    starts = np.cumsum([0] + [len(group) for group in members])
    form = replace(_bare(size), K=rows, offset=np.zeros(columns.size), starts=starts, weight=weight, radius=radius)
    return replace(form, columns=np.ones(len(members), dtype=np.int64))


def _combined(forms: Sequence[ConicForm], places: Sequence[np.ndarray], size: int) -> ConicForm:
    """The sum of forms, whose variables have the given places among those of the sum."""
    width = max((int(np.max(place, initial=-1)) + 1 for place in places), default=0)
    width = max(width, size)
    linear = np.zeros(width)
    for form, place in zip(forms, places, strict=True):
        linear[place] += form.linear
    quadratic = _no_entries(width, width)
    for form, place in zip(forms, places, strict=True):
        if form.quadratic.nnz:
            entries = form.quadratic.tocoo()
            moved = (entries.data, (place[entries.row], place[entries.col]))
            quadratic = sp.csr_array(quadratic + sp.csr_array(moved, shape=(width, width)))
    segments = [(form.K, place, 0, form.n_lines) for form, place in zip(forms, places, strict=True)]
    segments += [(form.K, place, form.n_lines, form.K.shape[0]) for form, place in zip(forms, places, strict=True)]
    counts, columns, values = [np.zeros(1, dtype=np.int64)], [], []
    for K, place, first, last in segments:
        own = slice(K.indptr[first], K.indptr[last])
        counts.append(np.diff(K.indptr[first : last + 1]))
        columns.append(place[K.indices[own]])
        values.append(K.data[own])
    pointers = np.cumsum(np.concatenate(counts))
    rows = (np.concatenate(values), np.concatenate(columns), pointers)
    n_lines = sum(form.n_lines for form in forms)
    lengths = np.concatenate([np.zeros(0, dtype=np.int64), *(np.diff(form.starts) for form in forms)])
    return ConicForm(
        size=size,
        quadratic=quadratic,
        linear=linear,
        K=sp.csr_array(rows, shape=(pointers.size - 1, width)),
        offset=np.concatenate(
            [form.offset[: form.n_lines] for form in forms] + [form.offset[form.n_lines :] for form in forms]
        ),
        up=np.concatenate([form.up for form in forms]),
        down=np.concatenate([form.down for form in forms]),
        starts=n_lines + np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        weight=np.concatenate([form.weight for form in forms]),
        radius=np.concatenate([form.radius for form in forms]),
        smoothing=np.concatenate([form.smoothing for form in forms]),
        columns=np.concatenate([form.columns for form in forms]),
    )
