"""The penalties of a problem as one conic form, and the way back from its multipliers."""

from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp

from ..penalties import SeparableSum
from ..penalties.conic import ConicForm, as_csr
from ..quadratic import semidefinite
from ..quadratic.augmented import Split
from ..view import View
from ..view.regularization import Regularization
from .group_pieces import Groups
from .pieces import AbsolutePenalties


class PenaltyForm:
    """r1 on its set plus r2(F .), in the form that interior points take.

    Attributes
    ----------
    width : int
        Variables of a model: w = (x, auxiliary variables of r1, those of r2).
    n_rows : int
        Lines and rows of groups.
    along_chain : bool
        Whether it is two l1 norms along a chain without gaps: a line for each feature, then one for each step.
    """

    def __init__(self, penalty: Regularization, matrices: bool = False, parabolas: bool = False) -> None:
        self._penalty, self._parabolas = penalty, parabolas
        # Two l1 norms along a chain are what small problems mostly have. Their models are minimised without the form,
        # which takes longer to write down than to do without.
        fused = penalty.fused
        self.along_chain = bool(fused is not None and penalty.F.n_outputs and fused.l1 > 0.0 and np.all(fused.l2 > 0.0))
        if self.along_chain:
            features = penalty.F.n_outputs + 1
            self.width, self.n_rows = penalty.n_coordinates, features + penalty.F.n_outputs
        elif self._weights is not None:
            (weight, _), cost = self._weights
            self.width, self.n_rows = penalty.n_coordinates, int(np.count_nonzero(weight)) + cost.size
        else:
            r1, inner = self._r1, self.inner
            forms = [r1, inner] if penalty.F.n_outputs else [r1]
            if any(form.holds_matrices for form in forms) and not matrices:
                raise _NoForm
            # Known before the form is written down, unless squares of F x take variables and equations of their own.
            forms = [self.form] if inner.curved else forms
            self.width = penalty.n_coordinates + sum(form.width - form.size for form in forms)
            self.n_rows = sum(form.K.shape[0] for form in forms)

    @classmethod
    def with_matrices(cls, problem: View) -> "PenaltyForm | None":
        """The form of a problem with a nuclear norm; None if another penalty has no such form, or it is too large."""
        try:
            penalties = cls(problem.penalty, matrices=True)
        except _NoForm:
            return None
        return penalties if semidefinite.takes(penalties.form) else None

    @classmethod
    def of(cls, problem: View) -> "PenaltyForm | None":
        """The form of a problem's penalties, made once; None if one of them has no such form."""
        if problem not in _forms:
            try:
                _forms[problem] = cls(problem.penalty)
            except _NoForm:
                _forms[problem] = None
        return _forms[problem]

    @cached_property
    def _weights(self) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray] | None:
        """Those of entries of x and their squares in r1, and of entries of F x in r2; None if there is anything else.

        Of many coordinates they are written down far sooner than a conic form, which may never be asked for.
        """
        if self._parabolas:
            return None
        own = self._penalty.regularizer.entry_weights(self._penalty.n_coordinates)
        outer = None if own is None else self._penalty.r2.l1_weights(self._penalty.F.n_outputs)
        return None if own is None or outer is None or not np.all(outer > 0.0) else (own, outer)

    @property
    def holds_groups(self) -> bool:
        """Whether it holds norms of groups."""
        return not self.along_chain and self._weights is None and bool(self.form.weight.size)

    @cached_property
    def form(self) -> ConicForm:
        """The conic form in w: the lines and rows of groups of r1, then those of r2."""
        if self.along_chain and self._penalty.joint is not None:
            return _found(self._penalty.joint.conic_form(self._penalty.n_coordinates))
        r1, inner = self._r1, self.inner  # both before F, which may be expensive to write down
        return r1 + inner.after(self._F) if self._F.shape[0] else r1

    @cached_property
    def _r1(self) -> ConicForm:
        form = _found(self._penalty.regularizer.conic_form(self._penalty.n_coordinates))
        return form.with_round_kinks() if self._parabolas else form

    @cached_property
    def inner(self) -> ConicForm:
        """r2, as a penalty of F x."""
        form = _found(self._penalty.r2.conic_form(self._penalty.F.n_outputs))
        return form.with_round_kinks().with_parabolas() if self._parabolas else form

    @cached_property
    def _F(self) -> sp.csr_array:
        return as_csr(self._penalty.F.matrix())

    @cached_property
    def sharp(self) -> "PenaltyForm":
        """The same for models of 32 digits: squares of F x are lines, as F^T Q F would keep 16 of them.

        These lines come after all others.
        """
        if self.along_chain:
            return self
        r1 = self._r1
        if not (self.inner.curved or (r1.curved and r1.width > r1.size)):  # squares of x itself stay as they are
            return self
        return PenaltyForm(self._penalty, parabolas=True)

    @cached_property
    def lines(self) -> AbsolutePenalties | None:
        """The same as weighted absolute values and squares; None if it holds anything else."""
        if not self.along_chain and self._weights is not None:
            (weight, ridge), cost = self._weights
            return AbsolutePenalties.made(self._F, cost, weight, ridge)
        if self.along_chain or not self._F.shape[0]:
            return AbsolutePenalties.of(self.form)
        # The form of the sum takes longer to write down, and may never be asked for.
        return AbsolutePenalties.of(self._r1, self.inner.after(self._F))

    @cached_property
    def groups(self) -> Groups | None:
        """The same with norms of groups of x among them, be they r1 or r2; None if it holds anything else."""
        if self.along_chain:
            return None
        if self._weights is not None:
            own, cost = self._weights
            return None if cost.size else Groups.single(*own)
        inner, F = self.inner, self._F
        of_x = F.shape[0] == F.nnz and np.all(F.data == 1.0) and np.array_equal(F.indices, np.arange(F.nnz))
        alone = inner.n_lines == inner.K.shape[0] > 0  # groups of one coordinate are lines too, beside others
        if inner.K.shape[0] and (alone or inner.curved or inner.linear.any() or not of_x):
            return None
        return Groups.of(self.form)

    @cached_property
    def own_weight(self) -> np.ndarray:
        """Weight of |x_j| in r1, where that has lines of single coordinates."""
        K, lines = self._r1.K, self._r1.n_lines
        return np.bincount(K.indices[:lines], self._r1.up * np.abs(K.data[:lines]), minlength=self._r1.size)

    def multiplier_of_lines(self, x: np.ndarray, slopes: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
        """The subgradient of r2 at F x that those of the weights and of the rows of `lines` stand for."""
        assert self.lines is not None
        y = self.lines.restored(slopes, multipliers)
        return self.multiplier(x, y) if self.along_chain or self._weights is None else y

    def multiplier(self, w: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The subgradient of r2 at F x that w and the multipliers y of the form stand for."""
        if self.along_chain:
            return y[-self._penalty.F.n_outputs :]
        inner, r1 = self.inner, self._r1
        lines, in_groups, d = r1.n_lines, inner.K.shape[0] - inner.n_lines, self._penalty.n_coordinates
        own = y[lines : lines + inner.n_lines]
        if in_groups:
            groups = self.form.n_lines + r1.K.shape[0] - lines
            own = np.concatenate([own, y[groups : groups + in_groups]])
        out = own if inner.plain_lines else inner.linear + inner.adjoint(own)
        if inner.curved:
            start = d + r1.width - r1.size
            out += inner.curvature(np.concatenate([self._F @ w[:d], w[start : start + inner.width - inner.size]]))
        return out[: inner.size]


class _NoForm(Exception):
    """A penalty has no conic form."""


def _found(form: ConicForm | None) -> ConicForm:
    if form is None:
        raise _NoForm
    return form


@dataclass(frozen=True, eq=False)
class SplitForm:
    """r1 on its set plus r2(F .) as a penalty of K x, for those without a conic form."""

    split: Split
    width: int
    n_outputs: int
    conic: PenaltyForm | None
    """The same with nuclear norms, if that is all that was in the way."""

    @classmethod
    def of(cls, problem: View) -> "SplitForm | None":
        """The split form of a small problem; None if it is large."""
        d, m = problem.n_coordinates, problem.F.n_outputs
        if d + m > MOST_SPLIT:
            return None
        penalty = SeparableSum([problem.r2, problem.regularizer], [m, d])
        K = np.vstack([problem.F.matrix().toarray(), np.eye(d)])
        return cls(Split(K, penalty), d, m, PenaltyForm.with_matrices(problem))

    def multiplier(self, w: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The subgradient of r2 at F x that the multipliers y stand for."""
        return y[: self.n_outputs]


def model_form(problem: View) -> PenaltyForm | SplitForm | None:
    """The penalties of a problem in a form that models can be minimised with; None if there is none."""
    return PenaltyForm.of(problem) or SplitForm.of(problem)


MOST_SPLIT = 1000
"""Rows of K up to which penalties without a conic form are split off: a Jacobian has as many rows and columns."""

_forms: WeakKeyDictionary[View, PenaltyForm | None] = WeakKeyDictionary()
