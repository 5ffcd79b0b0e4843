"""Several outputs at once, coupled by the lengths of what they have in common.

    min over x_1 .. x_k, c   sum over outputs of the mean of l(<a_i, x_o> + c_o, y_io)
                             + sum_j w_j |(x_1j, .., x_kj)|  +  sum_j v_j |((F x_1)_j, .., (F x_k)_j)|

It is a problem as any other: the rows of all outputs below each other, each beside zeros for the other outputs.
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...certificate import objective_size
from ...errors import UnsupportedError
from ...losses import Loss
from ...operators import Operator, Repeated
from ...penalties import GroupL2, Penalty
from ...problem import Problem
from ...result import Result, Run, uninterrupted


def across(penalty: Penalty, size: int, copies: int, skip: int = 0, factor: float = 1.0) -> GroupL2:
    """The lengths over several copies of what a penalty takes the sizes of; coordinates to skip follow each copy."""
    groups = penalty.group_lengths(size)
    if groups is None:
        raise UnsupportedError(
            f"coupled is True and a penalty is {penalty!r}. Outputs are coupled under l1 and group norms without "
            "bounds; leave coupled out."
        )
    labels = np.tile(np.append(groups.labels, np.full(skip, -1)), copies)
    return GroupL2(factor * groups.weight, labels)


class Coupled:
    """The joint problem of k outputs; x holds the coefficients of the first output, its intercept, those of the next.

    Parameters
    ----------
    X : array or CSR matrix
    targets : list of arrays
        The labels of each output.
    loss : Loss
    weights : array or None
        Of the rows.
    offset : array or None
        Added to the margins: one for all outputs, or a column for each.
    intercept : bool
    """

    def __init__(
        self,
        X: Any,
        targets: Sequence[np.ndarray],
        loss: Loss,
        weights: np.ndarray | None,
        offset: np.ndarray | None,
        intercept: bool,
    ) -> None:
        self._count, self._intercept, self._n_features = len(targets), intercept, X.shape[1]
        ones = np.ones((X.shape[0], int(intercept)))
        rows = sp.hstack([sp.csr_array(X), sp.csr_array(ones)], format="csr")
        self._problem = Problem(
            sp.csr_array(sp.block_diag([rows] * self._count, format="csr")),
            np.concatenate(targets),
            loss=loss,
            sample_weight=None if weights is None else np.tile(weights, self._count),
            offset=None if offset is None else np.broadcast_to(offset.T, (self._count, X.shape[0])).ravel(),
        )

    def with_penalties(self, r1: Penalty | None, r2: Penalty | None, F: Operator | None) -> "Coupled":
        """The same data under other penalties, given for one output."""
        other, k, skip = copy(self), self._count, int(self._intercept)
        fraction = 1.0 / k  # the mean over all rows is one over outputs, too
        lengths = None if r1 is None else across(r1, self._n_features, k, skip, fraction)
        if r2 is None or F is None:
            other._problem = self._problem.with_penalties(lengths)
        else:
            together = across(r2, F.n_outputs, k, factor=fraction)
            other._problem = self._problem.with_penalties(lengths, together, Repeated(F, k, skip))
        return other

    def penalty_value(self, x: np.ndarray) -> float:
        """r1 and r2 at x."""
        return self._count * self._problem.view.penalty.value(x)

    def objective(self, x: np.ndarray) -> float:
        """The losses of all outputs and the penalties at x."""
        return self._count * self._problem.objective(x)

    @property
    def objective_size(self) -> float:
        """The scale of the objective."""
        return self._count * objective_size(self._problem.view)

    def join(self, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        """x, from what `split` returns."""
        return np.hstack([coef, intercept[:, None]] if self._intercept else [coef]).astype(float).ravel()

    def split(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients and intercepts, a row for each output."""
        table = x.reshape(self._count, -1)
        if not self._intercept:
            return table.copy(), np.zeros(self._count)
        return table[:, :-1].copy(), table[:, -1].copy()

    def solve(self, starts: Sequence[Any], tol: float, max_passes: float, minimize: Callable[..., Result]) -> Run:
        """Solve by `minimize(problem, tol=, max_passes=, x0=, dual0=)` from the starts of the outputs."""
        parts = [np.append(coef, [constant] * self._intercept) for coef, constant, _ in starts]
        duals = [dual for _, _, dual in starts if dual is not None]
        dual = np.concatenate(duals) / self._count if duals else None
        known = dual is not None and dual.size == self._problem.F.n_outputs
        result = uninterrupted(
            minimize(
                self._problem,
                tol=tol,
                max_passes=max_passes,
                x0=np.concatenate(parts).astype(float),
                dual0=dual if known else None,
            )
        )
        certificate = result.certificate
        assert certificate is not None
        return Run(
            result.x,
            self._count * result.dual.reshape(self._count, -1),
            self._count * result.objective,
            replace(certificate, primal=self._count * certificate.primal, dual=self._count * certificate.dual),
            replace(result.history, objective=self._count * result.history.objective),
            result.passes,
            result.status,
        )
