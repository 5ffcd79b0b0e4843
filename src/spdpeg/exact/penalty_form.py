"""The penalties of a problem as one conic form, and the way back from its multipliers."""

from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp

from ..penalties import SeparableSum
from ..penalties.conic import ConicForm, as_csr
from ..quadratic.augmented import Split
from ..view import View
from .group_pieces import Groups
from .newton_models import ConicModels, SplitModels
from .pieces import Lines


@dataclass(frozen=True, eq=False)
class PenaltyForm:
    """r1 on its set plus r2(F .), in the form that interior points take.

    Attributes
    ----------
    form : ConicForm
        Of w = (x, auxiliary variables of r1, those of r2).
    """

    form: ConicForm
    inner: ConicForm
    """r2, as a penalty of F x."""
    F: sp.csr_array
    n_lines: int
    """Broken lines and rows of groups of r1, which come first."""
    n_group_rows: int
    n_auxiliary: int

    @classmethod
    def of(cls, problem: View) -> "PenaltyForm | None":
        """That of a problem, made once; None if one of its penalties has no such form."""
        if problem not in _forms:
            _forms[problem] = cls._made(problem)
        return _forms[problem]

    @classmethod
    def _made(cls, problem: View) -> "PenaltyForm | None":
        r1 = problem.regularizer.conic_form(problem.n_coordinates)
        r2 = problem.r2.conic_form(problem.F.n_outputs)
        if r1 is None or r2 is None:
            return None
        F = as_csr(problem.F.matrix())
        group_rows = r1.K.shape[0] - r1.n_lines
        form = r1 + r2.after(F) if F.shape[0] else r1
        return cls(form, r2, F, r1.n_lines, group_rows, r1.width - r1.size)

    @property
    def width(self) -> int:
        """Variables of a model."""
        return self.form.width

    @cached_property
    def models(self) -> ConicModels:
        """How models with these penalties are minimised."""
        return ConicModels(self.form)

    @cached_property
    def lines(self) -> Lines | None:
        """The same as weighted absolute values and squares; None if it holds anything else."""
        return Lines.of(self.form)

    @cached_property
    def groups(self) -> Groups | None:
        """The same with norms of groups of x among them, be they r1 or r2; None if it holds anything else."""
        inner, F = self.inner, self.F
        of_x = F.shape[0] == F.nnz and np.all(F.data == 1.0) and np.array_equal(F.indices, np.arange(F.nnz))
        if inner.K.shape[0] and (inner.n_lines or inner.curved or inner.linear.any() or not of_x):
            return None
        return Groups.of(self.form)

    def multiplier(self, w: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The subgradient of r2 at F x that w and the multipliers y of the form stand for."""
        inner, lines = self.inner, self.n_lines
        groups = self.form.n_lines + self.n_group_rows
        own = np.concatenate([y[lines : lines + inner.n_lines], y[groups : groups + inner.K.shape[0] - inner.n_lines]])
        out = inner.linear + inner.adjoint(own)
        if inner.curved:
            start = self.form.size + self.n_auxiliary
            out += inner.curvature(
                np.concatenate([self.F @ w[: self.form.size], w[start : start + inner.width - inner.size]])
            )
        return out[: inner.size]


@dataclass(frozen=True, eq=False)
class SplitForm:
    """r1 on its set plus r2(F .) as a penalty of K x, for those without a conic form."""

    models: SplitModels
    width: int
    n_outputs: int

    @classmethod
    def of(cls, problem: View) -> "SplitForm | None":
        """That of a small problem; None if it is large."""
        d, m = problem.n_coordinates, problem.F.n_outputs
        if d + m > MOST_SPLIT:
            return None
        penalty = SeparableSum([problem.r2, problem.regularizer], [m, d])
        K = np.vstack([problem.F.matrix().toarray(), np.eye(d)])
        return cls(SplitModels(Split(K, penalty), slice(m, m + d)), d, m)

    def multiplier(self, w: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The subgradient of r2 at F x that the multipliers y stand for."""
        return y[: self.n_outputs]


def model_form(problem: View) -> PenaltyForm | SplitForm | None:
    """The penalties of a problem in a form that models can be minimised with; None if there is none."""
    return PenaltyForm.of(problem) or SplitForm.of(problem)


MOST_SPLIT = 1000
"""Rows of K up to which penalties without a conic form are split off: a Jacobian has as many rows and columns."""

_forms: WeakKeyDictionary[View, PenaltyForm | None] = WeakKeyDictionary()
