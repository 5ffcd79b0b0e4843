"""Interior points for a sparse H, or one that is diagonal plus few rows.

A step factors H + K^T D^-1 K without long rows, of which only few are allowed: these, the few rows of H, and the
rank-one parts of large groups come in by a Schur complement. A long row keeps its multiplier as an unknown there;
computing it from K dw instead, as for a short one, would lose all digits once the row is active.
"""

from typing import NamedTuple, Protocol

import numpy as np
import scipy.linalg.lapack
import scipy.sparse as sp

from ..kernels import deadline
from ..kernels.jit import kernel
from . import central_path
from .central_path import ALMOST, Point, Terms, Work, new_work, start
from .linear_algebra import Assembly, BandedSaddle, NotPositive, Pairs, Solve, pairs_of
from .stopping import (
    CENTRAL,
    CLOSE,
    CLOSE_RISES,
    FAR,
    FLOOR,
    HUGE,
    LEAST,
    LEAST_DAMPING,
    MOST_DAMPING,
    MOST_RISES,
    MOST_STEPS,
    NEAR,
    NEAR_RISES,
    POLISHING,
    PROGRESS,
    SHORT,
    SMALL,
    TIGHTER,
    Outcome,
)

LONG = 24
"""Entries beyond which a row, or a group, is not multiplied out."""


class Parts(NamedTuple):
    """H = sparse + V^T diag(signs) V."""

    sparse: sp.csr_array
    V: np.ndarray
    signs: np.ndarray

    def times(self, w: np.ndarray) -> np.ndarray:
        """H w."""
        out = self.sparse @ w
        return out + self.V.T @ (self.signs * (self.V @ w)) if self.signs.size else out


class _Observing:
    """Image and slope in doubles."""

    spread = 1.0
    H: Parts
    terms: Terms
    K: sp.csr_array
    KT: sp.csr_array

    def observe(self, b: np.ndarray, point: Point, work: Work) -> float:
        """Image and slope at a point, written into `work`; returns w^T H w."""
        Hw = self.H.times(point.w)
        work.slope[:] = Hw - b + self.KT @ point.y
        work.image[:] = self.K @ point.w - self.terms.offset
        return float(point.w @ Hw)


class Solvable(Protocol):
    """A factorisation that solves the linear systems of a step."""

    terms: Terms
    spread: float
    """Size of the slacks that a run begins with."""

    def observe(self, b: np.ndarray, point: Point, work: Work) -> float:
        """Image and slope at a point, written into `work`; returns w^T H w."""

    def factor(self, work: Work, damping: float) -> None:
        """Factor for the scaling in `work`."""

    def direction(self, work: Work, rounds: int) -> None:
        """dw, K dw and dy, improved `rounds` times against the matrix itself."""


class System(_Observing):
    """Solves H dw + K^T dy = a, K dw - D dy = -rest for the scaling in `work`."""

    def __init__(self, H: Parts, terms: Terms) -> None:
        n, lines = H.sparse.shape[0], terms.up.size
        self.H, self.terms = H, terms
        self.K = sp.csr_array((terms.values, terms.columns, terms.pointers), shape=(terms.offset.size, n))
        self.KT = sp.csr_array(self.K.T)
        counts = np.diff(terms.pointers)
        self.long = np.flatnonzero(counts[:lines] > LONG)
        short = np.ones(terms.offset.size, dtype=bool)
        short[self.long] = False
        rows = np.flatnonzero(short)
        plain = pairs_of(sp.csr_array(self.K[rows]))
        products = [plain._replace(owner=rows[plain.owner])]
        # The rank-one part of a small group: products of entries of all its rows, with weights bar_e bar_f.
        sizes = np.add.reduceat(np.append(counts, 0), terms.starts[:-1]) if terms.weight.size else np.zeros(0)
        self.large = np.flatnonzero(sizes > LONG)
        folds = [_group_pairs(self.K, terms.starts, int(g)) for g in np.flatnonzero(sizes <= LONG)]
        self.first, self.second, self.small = (_joined([fold[k] for fold in folds]) for k in (3, 4, 5))
        i, j, values = (_joined([fold[k] for fold in folds]) for k in range(3))
        products.append(Pairs(i, j, values, terms.offset.size + np.arange(self.small.size)))
        self.assembly = Assembly(H.sparse, Pairs(*(np.concatenate(field) for field in zip(*products, strict=True))))

    def factor(self, work: Work, damping: float) -> None:
        """Factor for the scaling in `work`."""
        folded = work.inverse[self.first] * work.fold[self.small] * work.bar[self.first] * work.bar[self.second]
        self._solve: Solve = self.assembly.factor(np.concatenate([work.inverse, folded]), LEAST, damping)
        rows, sides = [self.K[self.long].toarray()], [1.0 / work.inverse[self.long]]
        if self.H.signs.size:
            rows.append(np.sqrt(np.abs(self.H.signs))[:, None] * self.H.V)
            sides.append(np.sign(self.H.signs))
        for g in self.large:
            own = slice(self.terms.starts[g], self.terms.starts[g + 1])
            scale = work.fold[g] * work.inverse[own.start]
            rows.append((np.sqrt(abs(scale)) * (self.KT[:, own] @ work.bar[own]))[None])
            sides.append(np.sign([scale]))
        self._rows = np.concatenate(rows)
        if self._rows.shape[0]:
            self._columns = self._solve(np.ascontiguousarray(self._rows.T))
            schur = self._rows @ self._columns + np.diag(np.concatenate(sides))
            *self._schur, flag = scipy.linalg.lapack.dgetrf(schur)
            if flag:
                raise NotPositive

    def direction(self, work: Work, rounds: int) -> None:
        """dw, K dw and dy, improved `rounds` times against the matrix itself."""
        a = -work.slope
        dw, dy_long = self._once(a, work.rest, work)
        # Refinement gives back the digits that damping and ill-conditioned cones take.
        for _ in range(rounds):
            dy = self._multipliers(dw, dy_long, work)
            left = a - self.H.times(dw) - self.KT @ dy
            missed = np.zeros(work.rest.size)
            missed[self.long] = (self.K @ dw + work.rest)[self.long] - dy[self.long] / work.inverse[self.long]
            more, more_long = self._once(left, missed, work)
            dw, dy_long = dw + more, dy_long + more_long
        work.dw[:] = dw
        work.dy[:] = self._multipliers(dw, dy_long, work)

    def _once(self, a: np.ndarray, rest: np.ndarray, work: Work) -> tuple[np.ndarray, np.ndarray]:
        weighed = np.empty(rest.size)
        _weigh(self.terms, work, rest, weighed)
        weighed[self.long] = 0.0
        dw = self._solve(a - self.KT @ weighed)
        if not self._rows.shape[0]:
            return dw, np.zeros(0)
        right = self._rows @ dw
        right[: self.long.size] += rest[self.long]
        extra, _ = scipy.linalg.lapack.dgetrs(*self._schur, right)
        return dw - self._columns @ extra, extra[: self.long.size]

    def _multipliers(self, dw: np.ndarray, dy_long: np.ndarray, work: Work) -> np.ndarray:
        work.move_image[:] = self.K @ dw
        dy = np.empty(work.rest.size)
        _weigh(self.terms, work, work.move_image + work.rest, dy)
        dy[self.long] = dy_long
        return dy


class SaddleSystem(_Observing):
    """The same for bands that are not multiplied out: no groups, no long rows, no few rows of H."""

    def __init__(self, H: Parts, terms: Terms, K: sp.csr_array, matrix: BandedSaddle) -> None:
        self.H, self.terms, self.K, self.KT, self._matrix = H, terms, K, sp.csr_array(K.T), matrix

    def factor(self, work: Work, damping: float) -> None:
        """Factor for the scaling in `work`."""
        self._solve = self._matrix.factor(1.0 / work.inverse, LEAST + damping)

    def direction(self, work: Work, rounds: int) -> None:
        """dw, K dw and dy, improved `rounds` times against the matrix itself."""
        work.dw[:], work.dy[:] = self._solve(-work.slope, -work.rest)
        for _ in range(rounds):
            left = -work.slope - self.H.times(work.dw) - self.KT @ work.dy
            missed = -work.rest - self.K @ work.dw + work.dy / work.inverse
            more_w, more_y = self._solve(left, missed)
            work.dw[:] += more_w
            work.dy[:] += more_y
        work.move_image[:] = self.K @ work.dw


def _system(H: Parts, terms: Terms) -> System | SaddleSystem:
    """The system unreduced where rows of at least three entries form a band, otherwise multiplied out."""
    counts = np.diff(terms.pointers)
    # Multiplied out, rows of three entries and more widen the band and lose digits.
    if not terms.weight.size and not H.signs.size and counts.size and 3 <= counts.max() <= LONG:
        K = sp.csr_array((terms.values, terms.columns, terms.pointers), shape=(counts.size, H.sparse.shape[0]))
        matrix = BandedSaddle(H.sparse, K)
        if matrix.fits:
            return SaddleSystem(H, terms, K, matrix)
    return System(H, terms)


def _joined(vectors: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(vectors) if vectors else np.zeros(0, dtype=np.int64)


def _group_pairs(K: sp.csr_array, starts: np.ndarray, g: int) -> tuple[np.ndarray, ...]:
    """Products of all entries of the rows of a group: places, values, the two rows, and the group."""
    part = K[starts[g] : starts[g + 1]].tocoo()
    a, c = np.divmod(np.arange(part.nnz * part.nnz), part.nnz)
    rows = part.row.astype(np.int64) + starts[g]
    columns = part.col.astype(np.int64)
    return columns[a], columns[c], part.data[a] * part.data[c], rows[a], rows[c], np.full(a.size, g)


# A Schur complement that rounding has made singular gives steps that overflow; they are recognised and end the run.
@np.errstate(over="ignore", invalid="ignore")
def run(H: Parts, b: np.ndarray, terms: Terms, accuracy: float) -> Outcome:
    """Follow the path until gap and misses are `accuracy` times the objective's terms, or as far as rounding allows."""
    return follow(_system(H, terms), b, accuracy)


def follow(system: Solvable, b: np.ndarray, accuracy: float) -> Outcome:
    """Follow the path, with any solver of its linear systems."""
    terms = system.terms
    point, work = start(b.size, terms, system.spread), new_work(b.size, terms)
    best = _copied(point)
    pairs = terms.weight.size + float(terms.above.sum() + terms.below.sum())
    least, least_size, rises, damping, steps = np.inf, 0.0, 0, 0.0, 0
    for _ in range(MOST_STEPS):
        deadline.check()
        residual, size = _residuals(system, b, point, work)
        gap, cost, far = _observe(terms, point, work)
        short, size = gap + cost + residual, max(size, FLOOR)
        # Iterates that run away belong to a model without a solution; more steps would only overflow.
        if not short < HUGE or far > FAR * system.spread:
            break
        # Steps may be worse before they are better, far from the solution above all; near it no progress means
        # rounding.
        rises = 0 if short < PROGRESS * least else rises + 1
        if short < least:
            least, least_size, best = short, size, _copied(point)
        patience = NEAR_RISES if least <= NEAR * least_size else MOST_RISES
        # Without slacks one step is the solution, and a second one shows what rounding leaves.
        patience = CLOSE_RISES if least <= CLOSE * least_size or pairs == 0.0 else patience
        if short <= accuracy * size or rises >= patience:
            break
        damping = _factored(system, work, damping)
        if damping > MOST_DAMPING:
            break
        target = second = step = moved = 0.0
        for stage in range(3):
            _aim(terms, point, work, target, second)
            system.direction(work, 2 if damping > 0.0 or terms.weight.size else 0)
            step, left, moved = _complete(terms, point, work)
            if pairs == 0.0 or (stage == 1 and step > SHORT) or stage == 2:
                break
            if stage == 0:
                # Mehrotra: the better the affine step did, the closer to the border the next one may aim.
                target, second = gap / pairs * min(1.0, left / gap) ** 3, 1.0
            else:  # second-order terms have led astray
                target, second = CENTRAL * gap / pairs, 0.0
        if not moved < HUGE:
            break
        _move(terms, point, work, min(1.0, ALMOST * step))
        steps += 1
    _polish(system, b, best, work, damping, max(2.0 * least, accuracy * least_size))
    return Outcome(best, least, least_size, steps, point)


def _copied(point: Point) -> Point:
    return Point(*(vector.copy() for vector in point))


def _residuals(system: Solvable, b: np.ndarray, point: Point, work: Work) -> tuple[float, float]:
    """Image and slope at a point; returns what the slope may cost and the size of the terms of the objective."""
    offset = system.terms.offset
    size = 0.5 * system.observe(b, point, work) + float(np.abs(b) @ np.abs(point.w))
    size += float(np.abs(point.y) @ (np.abs(work.image + offset) + np.abs(offset)))
    return float(np.abs(work.slope).sum()) * max(float(np.max(np.abs(point.w), initial=0.0)), SMALL), size


def _factored(system: Solvable, work: Work, damping: float) -> float:
    """Factor with as little damping as possible, at least that given; returns it, more than allowed if in vain."""
    while damping <= MOST_DAMPING:
        try:
            system.factor(work, damping)
            return damping
        except NotPositive:
            damping = max(damping * TIGHTER, LEAST_DAMPING)
    return damping


def _polish(system: Solvable, b: np.ndarray, point: Point, work: Work, damping: float, limit: float) -> None:
    """Take the slope down to rounding: Newton steps that keep the slacks."""
    terms = system.terms
    lines = terms.up.size
    residual, _ = _residuals(system, b, point, work)
    _observe(terms, point, work)
    if _factored(system, work, damping if damping <= MOST_DAMPING else 0.0) > MOST_DAMPING:
        return
    for _ in range(POLISHING):
        work.rest[:] = 0.0
        system.direction(work, 1)
        # No slack loses more than half, or a multiplier would leave its interval.
        own = work.dy[:lines]
        np.minimum(own, np.where(terms.above > 0.0, 0.5 * point.u, np.inf), out=own)
        np.maximum(own, np.where(terms.below > 0.0, -0.5 * point.v, -np.inf), out=own)
        before = _copied(point)
        point.w[:] += work.dw
        point.y[:] += work.dy
        point.u[:] -= terms.above * own
        point.v[:] += terms.below * own
        after, _ = _residuals(system, b, point, work)
        gap, cost, _ = _observe(terms, point, work)
        # Where H is singular a correction of the slope may go far and spoil the rest.
        if not (after < residual and gap + cost <= limit):
            for vector, old in zip(point, before, strict=True):
                vector[:] = old
            break
        residual = after


@kernel
def _observe(terms: Terms, point: Point, work: Work) -> tuple[float, float, float]:
    gap, cost = central_path.measure(terms, point, work)
    return gap, cost, central_path.far(terms, point)


@kernel
def _aim(terms: Terms, point: Point, work: Work, target: float, second: float) -> None:
    central_path.aim(terms, point, work, target, second)


@kernel
def _complete(terms: Terms, point: Point, work: Work) -> tuple[float, float, float]:
    step = central_path.complete(terms, point, work)
    left = max(central_path.products_after(terms, point, work, min(1.0, step)), 0.0)
    return step, left, central_path.length(work)


@kernel
def _move(terms: Terms, point: Point, work: Work, step: float) -> None:
    central_path.move(terms, point, work, step)


@kernel
def _weigh(terms: Terms, work: Work, vector: np.ndarray, out: np.ndarray) -> None:
    central_path.weigh(terms, work, vector, out)
