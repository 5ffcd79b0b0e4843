"""How the quadratic models of Newton's steps are minimised, penalties included and without data.

By interior points in general (`ConicModels`); face by face or block by block, from where the last step ended, for
absolute values (`ChainModels`) and norms of groups (`BlockModels`); by augmented Lagrangians where penalties have no
conic form (`SplitModels`); and in twice the digits where 16 do not reach (`RowModels`).
"""

from dataclasses import replace
from typing import Protocol

import numpy as np
import scipy.linalg.lapack
import scipy.sparse as sp

from ..data.blocks import data_matrix
from ..kernels.lapack import ROUTINES
from ..penalties.conic import ConicForm, broken_lines, group_norms
from ..quadratic import LowRank, Minimum, Model, augmented, extended, minimize, minimum, semidefinite, to_face
from ..quadratic.along_chain import ChainPenalty, lowered, minimized
from ..quadratic.sparse import LONG
from ..view import View
from .block_models import minimize_dense
from .few_rows import are_few
from .group_pieces import Groups
from .penalty_form import PenaltyForm, SplitForm
from .pieces import AbsolutePenalties
from .split_program import mean_weights

_NOISE = 1e-14
"""Fraction of the objective that rounding may cost."""

_ASKED, _EXACT = 1e-13, 1e-12
"""Fractions of the most that a model can fall by: what is asked for block by block, and what may be left of it."""

_WITHIN = 1.0 - 8.0 * float(np.finfo(float).eps)
"""Factor that keeps multipliers of norms within their balls, whatever rounding does."""

_SINGULAR = 1e-14
"""Fraction of the largest curvature that is added to all, so that a matrix has a factor."""

_FEW_STEPS = 100
"""Most steps of an augmented Lagrangian before interior points take over. Models that suit it need fewer."""

MOST_ENTRIES, _MOST_LONG = 200_000, 64
"""Entries of F, and rows with many of them, that a sparse model may have."""

_LEAST = 1e-14
"""Fraction of the largest curvature that all rows have at least, so that the vertex of a parabola is a number."""


class Models(Protocol):
    """Minimises models with some penalties."""

    def minimum(self, H: np.ndarray, b: np.ndarray, x: np.ndarray) -> Minimum:
        """The minimum of 1/2 z^T H z - b^T z plus the penalties; x is a guess."""

    @property
    def rough(self) -> "Models":
        """The same, or what is quicker, where a point near the minimum will do and no multipliers are needed."""


class ConicModels:
    """Models minimised by interior points, for penalties in conic form."""

    def __init__(self, form: ConicForm) -> None:
        self._form = form

    def minimum(self, H: np.ndarray, b: np.ndarray, x: np.ndarray) -> Minimum:
        """The minimum of 1/2 z^T H z - b^T z plus the penalties; x is a guess."""
        if isinstance(H, LowRank):
            return self._among_rows(H, b)
        found = minimum(Model(H, b, self._form), x)
        return found._replace(point=found.point[: x.size].copy())

    def _among_rows(self, H: LowRank, b: np.ndarray) -> Minimum:
        """The same where H = V^T V for few rows: as parabolas, whose multipliers are unknowns of their own.

        V^T V w from w alone would lose the digits that rows of F with many orders of magnitude between them take.
        """
        own, d, n = self._form, b.size, len(H.V)
        ends = np.full(n, np.inf)
        K = sp.csr_array(H.V)
        K.resize((n, own.width))
        form = own + broken_lines(K, np.zeros(n), ends, ends, size=d, smoothing=1.0 / H.signs)
        solution = minimize(Model(sp.csr_array((d, d)), b, form))
        lines = own.n_lines
        y = np.concatenate([solution.y[:lines], solution.y[form.n_lines :]])
        known = replace(solution, y=y, active=solution.active[:lines])
        face = to_face(Model(H, b, own), known) if np.all(np.isfinite(solution.w)) else None
        point = solution.w if face is None else face
        return Minimum(point[:d].copy(), solution.w, y, solution.status, solution.gap)

    @property
    def rough(self) -> "ConicModels":
        """Itself."""
        return self


class SplitModels:
    """Models minimised by augmented Lagrangians, for any penalties with a prox.

    Where those fail, nuclear norms are minimised by interior points. K x holds F x and then x itself, with the
    structure that the prox gives it.
    """

    def __init__(self, form: SplitForm) -> None:
        self._form = form

    def minimum(self, H: np.ndarray, b: np.ndarray, x: np.ndarray) -> Minimum:
        """The minimum of 1/2 z^T H z - b^T z plus the penalties; x is a guess."""
        K, penalty = self._form.split
        most_steps = augmented.MOST_STEPS if self._form.conic is None else _FEW_STEPS
        found = augmented.minimize(H, b, self._form.split, x, most_steps)
        if not found.found and self._form.conic is not None:
            other = self._by_cones(self._form.conic, H, b)
            if other is not None:
                return other
        point, trial = found.x, found.z[self._form.n_outputs :]
        values = [0.5 * float(v @ (H @ v)) - float(b @ v) + penalty.value(K @ v) for v in (point, trial)]
        # Structure is worth the rounding that it may cost.
        point = trial.copy() if not values[1] > values[0] + _NOISE * abs(values[0]) else point
        return Minimum(point, found.x, found.y, *(("optimal", 0.0) if found.found else ("inaccurate", np.inf)))

    def _by_cones(self, penalties: PenaltyForm, H: np.ndarray, b: np.ndarray) -> Minimum | None:
        """The minimum by interior points, with multipliers of K x; None if it is not found."""
        found = semidefinite.minimize(Model(H, b, penalties.form))
        if not found.found:
            return None
        x, y = found.w[: b.size], penalties.multiplier(found.w, found.y)
        F = self._form.split.K[: self._form.n_outputs]
        return Minimum(x.copy(), x, np.concatenate([y, b - H @ x - F.T @ y]), "optimal", 0.0)

    @property
    def rough(self) -> "SplitModels":
        """Itself."""
        return self


class ChainModels:
    """Face by face, for weighted absolute values and squares of the coordinates, alone or along a chain.

    Parameters
    ----------
    penalties : PenaltyForm
    penalty : ChainPenalty
        The absolute values.
    ridge : array or None
        Weights of the squares.
    fractions : pair of arrays or None
        Where the multipliers of the form's lines are among those of coordinates and steps, and which fraction of them;
        None if they are the same.
    exact : bool
        Whether a minimum is asked for, with its multipliers, or a point that is lower than the guess.
    """

    def __init__(
        self,
        penalties: PenaltyForm,
        penalty: ChainPenalty,
        ridge: np.ndarray | None,
        fractions: tuple[np.ndarray, np.ndarray] | None,
        exact: bool = True,
    ) -> None:
        self._penalties, self._penalty, self._ridge, self._fractions = penalties, penalty, ridge, fractions
        self._exact = exact

    @classmethod
    def of(cls, problem: View, penalties: PenaltyForm) -> "ChainModels | None":
        """The models of a problem; None if its penalties are of another kind."""
        fused = problem.penalty.fused
        # A chain with gaps is no chain; without an l1 norm nothing but the steps says what a face is.
        if fused is not None and penalties.along_chain:
            weight = np.zeros(problem.n_coordinates)
            weight[: problem.rows.n_features] = fused.l1
            return cls(penalties, ChainPenalty(weight, np.full(problem.F.n_outputs, fused.l2)), None, None)
        lines = AbsolutePenalties.of(penalties.form) if problem.r2.vanishes else None
        if lines is None or lines.cost.size:
            return None
        ridge = lines.ridge if lines.ridge.any() else None
        return cls(penalties, ChainPenalty(lines.weight, lines.cost), ridge, _fractions(penalties.form, lines))

    def minimum(self, H: np.ndarray, b: np.ndarray, x: np.ndarray) -> Minimum:
        """The minimum of 1/2 z^T H z - b^T z plus the penalties; x is a guess."""
        with_ridge = H if self._ridge is None else H + np.diag(self._ridge)
        if not self._exact:
            w = lowered(with_ridge, b, self._penalty, x)
            return Minimum(w, w, np.zeros(0), "optimal", 0.0)
        # x tells about which face it is, and then a few linear systems replace the whole path of interior points.
        found = minimized(with_ridge, b, self._penalty, x)
        if found is None:
            return ConicModels(self._penalties.form).minimum(H, b, x)
        if self._fractions is None:
            y = np.concatenate([found.own[: found.along.size + 1], found.along])
        else:
            place, fraction = self._fractions
            y = fraction * found.own[place]
        return Minimum(found.w, found.w, y, "optimal", found.gap)

    @property
    def rough(self) -> "ChainModels":
        """The same for lower points."""
        return ChainModels(self._penalties, self._penalty, self._ridge, self._fractions, exact=False)


class BlockModels:
    """Block by block from where the last step ended, for norms of disjoint groups beside absolute values and squares.

    Where that ends short of its aim interior points take over, which have a cone for each group and take longer.
    """

    def __init__(self, penalties: PenaltyForm, groups: Groups) -> None:
        self._form, self._groups = penalties.form, groups
        alone = np.ones(groups.weight.size, dtype=bool)
        alone[groups.members] = False
        # Compiled steps take the groups first.
        self._order = np.concatenate([groups.members, np.flatnonzero(alone)])
        weight, ridge = groups.weight[self._order], groups.ridge[self._order]
        self._blocks = replace(groups, weight=weight, ridge=ridge, members=np.arange(groups.members.size)).blocks

    @classmethod
    def of(cls, penalties: PenaltyForm) -> "BlockModels | None":
        """For penalties; None if they are others, or have no groups."""
        groups = penalties.groups
        return None if groups is None or not groups.cost.size else cls(penalties, groups)

    def minimum(self, H: np.ndarray, b: np.ndarray, x: np.ndarray) -> Minimum:
        """The minimum of 1/2 z^T H z - b^T z plus the penalties; x is a guess."""
        w = x.copy()
        gap = self._descended(H, b, w)
        if gap is None:
            return ConicModels(self._form).minimum(H, b, x)
        return Minimum(w, w, self._multipliers(H, b, w), "optimal", gap)

    def _descended(self, H: np.ndarray, b: np.ndarray, w: np.ndarray) -> float | None:
        """Move w to the minimum; the gap there, or None if that is not small."""
        order = self._order
        own = H[np.ix_(order, order)]
        # Empty columns and others that depend on each other: norms hold them, and the gap below is that of H itself.
        own.flat[:: order.size + 1] += _SINGULAR * float(np.max(H.diagonal(), initial=0.0))
        factor, failed = scipy.linalg.lapack.dpotrf(own, lower=1)
        if failed:
            return None
        # No model can fall by more than without its penalties.
        total = 0.5 * float(np.sum(np.square(scipy.linalg.lapack.dtrtrs(factor, b[order], lower=1)[0])))
        factor = np.ascontiguousarray(factor)
        for _ in range(2):  # again from a point whose slopes are those of H itself
            v, gradient = w[order], (H @ w - b)[order]
            if not minimize_dense(factor, gradient, self._blocks, v, _ASKED * total, total, ROUTINES):
                return None
            w[order] = v
        groups, slopes = self._groups, b - H @ w - self._groups.ridge * w
        lines, norms = self._split(slopes, w)
        missed = slopes - lines
        missed[groups.members] -= norms
        gap = groups.value(w) - float(lines @ w + norms @ w[groups.members]) - 0.5 * float(groups.ridge @ (w * w))
        gap += float(np.abs(missed) @ np.abs(w))
        return gap if gap <= _EXACT * total else None

    def _split(self, slopes: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Slopes of the penalties at w as those of absolute values, and of norms by member, within their sets."""
        groups = self._groups
        held = np.clip(slopes, -groups.weight, groups.weight)
        lines = np.where(w != 0.0, groups.weight * np.sign(w), held)
        norms = (slopes - lines)[groups.members]
        lengths, most = group_norms(norms, groups.starts), _WITHIN * groups.cost
        shrink = np.where(lengths > most, most / np.where(lengths > 0.0, lengths, 1.0), 1.0)
        return lines, norms * np.repeat(shrink, np.diff(groups.starts))

    def _multipliers(self, H: np.ndarray, b: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Of the form's lines and rows of groups."""
        form, groups = self._form, self._groups
        lines, norms = self._split(b - H @ w - groups.ridge * w, w)
        by_line = form.K.indices[: form.n_lines]
        share = np.divide(lines, groups.weight, out=np.zeros(lines.size), where=groups.weight > 0.0)
        entries = form.K.data
        slopes = form.up * np.sign(entries[: form.n_lines]) * share[by_line]
        return np.concatenate([slopes, norms / entries[form.n_lines :]])

    @property
    def rough(self) -> "BlockModels":
        """Itself."""
        return self


class RowModels:
    """Models with each row as a parabola of its own, for penalties in conic form and rows in memory.

    The matrix of second moments keeps of columns that almost depend on each other what 16 digits keep of a square. Rows
    themselves keep all of it, and interior points on them have 32 digits: for small problems that Newton's steps leave
    short of their tolerance.
    """

    def __init__(self, problem: View) -> None:
        penalties = PenaltyForm.of(problem)
        assert penalties is not None
        self._problem, self._form, self._plain = problem, penalties.sharp.form, penalties.form

    @staticmethod
    def take(problem: View) -> bool:
        """Whether a problem is small enough, and its penalties are of this kind."""
        penalties = PenaltyForm.of(problem)
        if penalties is None or not problem.rows.in_memory:
            return False
        form = penalties.sharp
        return extended.affordable(form.width, form.n_rows + problem.sums.n_rows)

    def minimum(self, H: np.ndarray, b: np.ndarray, x: np.ndarray) -> Minimum:
        """The minimum of the model at x plus the penalties; H and b tell the same with fewer digits."""
        problem, own = self._problem, self._form
        rows, labels, _ = problem.rows.block
        weights = mean_weights(problem)
        A = sp.csr_array(data_matrix(rows))
        margins = A @ x
        curvature, slope = problem.loss.second_derivative(margins, labels), problem.loss.derivative(margins, labels)
        kept = np.flatnonzero((weights > 0.0) & ((curvature > 0.0) | (slope != 0.0)))  # of no data there is none
        curvature = np.maximum(curvature, _LEAST * float(curvature[kept].max(initial=0.0)))[kept]
        if not np.all(np.isfinite(curvature)) or not np.all(curvature > 0.0):
            return Minimum(x, x, np.zeros(own.K.shape[0]), "inaccurate", np.inf)
        vertex = margins[kept] - slope[kept] / curvature
        ends = np.full(kept.size, np.inf)
        parabolas = broken_lines(A[kept], vertex, ends, ends, size=x.size, smoothing=1.0 / (weights[kept] * curvature))
        form = own + parabolas
        found = minimize(Model(np.zeros((x.size, x.size)), np.zeros(x.size), form), digits=32)
        lines = own.n_lines
        y = np.concatenate([found.y[:lines], found.y[form.n_lines :]])
        slopes = np.zeros(labels.size)
        slopes[kept] = found.y[lines : form.n_lines] / weights[kept]
        slopes = np.clip(slopes, *problem.loss.slope_range(labels))
        face = None
        if own.width == self._plain.width:
            kept_lines = self._plain.n_lines
            known = replace(found, y=np.delete(y, np.s_[kept_lines:lines]), active=found.active[:kept_lines])
            face = to_face(Model(H, b, self._plain), known)
        point = (found.w if face is None else face)[: x.size].copy()
        return Minimum(point, found.w, y, found.status, found.gap, slopes)

    @property
    def rough(self) -> "RowModels":
        """Itself."""
        return self


def takes_few_rows(problem: View, form: PenaltyForm | SplitForm) -> bool:
    """Whether linear systems have the order of the rows, and the penalties are sparse enough for that."""
    if isinstance(form, SplitForm) or not problem.rows.in_memory or problem.rows.on_disk or not are_few(problem.sums):
        return False
    return form.lines is not None and are_sparse(form.lines)


def are_sparse(lines: AbsolutePenalties) -> bool:
    """Whether a model with these penalties is solved without a dense matrix."""
    long = np.count_nonzero(np.diff(lines.K.indptr) > LONG)
    return bool(lines.K.nnz <= MOST_ENTRIES and long <= _MOST_LONG)


def models_of(problem: View, form: PenaltyForm | SplitForm, digits: int = 16) -> Models:
    """The models of a problem: the quickest kind that takes its penalties, or that of 32 digits."""
    if isinstance(form, SplitForm):
        return SplitModels(form)
    if digits > 16:
        return RowModels(problem)
    return ChainModels.of(problem, form) or BlockModels.of(form) or ConicModels(form.form)


def _fractions(form: ConicForm, lines: AbsolutePenalties) -> tuple[np.ndarray, np.ndarray]:
    """Which coordinate each line of the form belongs to, and its part of that coordinate's weight."""
    place = form.K.indices[np.minimum(form.K.indptr[:-1], max(form.K.nnz - 1, 0))].astype(np.int64)
    whole = lines.weight[place]
    fraction = np.divide(lines.restored(lines.weight, lines.cost), whole, out=np.zeros(whole.size), where=whole > 0.0)
    return place, fraction
