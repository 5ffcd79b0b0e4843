"""The penalties of a problem as one conic form, and the way back from its multipliers."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..penalties.conic import ConicForm
from ..problem import Problem


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
    def of(cls, problem: Problem) -> "PenaltyForm | None":
        """That of a problem; None if one of its penalties has no such form."""
        r1 = problem.regularizer.conic_form(problem.n_coordinates)
        r2 = problem.r2.conic_form(problem.F.n_outputs)
        if r1 is None or r2 is None:
            return None
        F = sp.csr_array(problem.F.matrix())
        group_rows = r1.K.shape[0] - r1.n_lines
        return cls(r1 + r2.after(F), r2, F, r1.n_lines, group_rows, r1.width - r1.size)

    def multiplier(self, w: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The subgradient of r2 at F x that w and the multipliers y of the form stand for."""
        inner, lines = self.inner, self.n_lines
        groups = self.form.n_lines + self.n_group_rows
        own = np.concatenate([y[lines : lines + inner.n_lines], y[groups : groups + inner.K.shape[0] - inner.n_lines]])
        start = self.form.size + self.n_auxiliary
        v = np.concatenate([self.F @ w[: self.form.size], w[start : start + inner.width - inner.size]])
        return np.asarray(inner.quadratic @ v + inner.linear + inner.K.T @ own)[: inner.size]
