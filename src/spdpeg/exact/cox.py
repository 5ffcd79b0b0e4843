"""Cox's partial likelihood: how the hazard of an event depends on the features, whatever the baseline hazard.

    min over x   1/W sum over events i of w_i ( log( sum over j at risk of w_j exp(<a_j, x>) / d_i ) - <a_i, x> )
                 + r1(x) + r2(F x)

At risk at an event are all rows whose time is not before it, d_i is the weight of all events at its time (Breslow's
ties), W that of all rows. With d_i the loss is half the deviance over W: at least 0, and the same in any unit of the
weights. Rows are in the order of their times, the last first, so that the rows at risk are the first ones.
docs/theory.md has the bound and the Hessian.
"""

from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import entr, xlogy

from ..certificate.slopes import LossPart
from ..errors import UnsupportedError
from ..kernels.survival import deviations
from .joint_newton import FLOOR, MOST, JointNewton, factored, mean_weights

_BLOCK = 512
"""Rows whose outer products are added up at a time."""


class _Risk(NamedTuple):
    """Sums over the risk sets at given margins."""

    totals: np.ndarray
    """For each row, the logarithm of the sum of w exp(margin) over it and all rows before it."""
    fractions: np.ndarray
    """The share of the row itself in this sum."""
    others: np.ndarray
    """1 - fractions."""
    expected: np.ndarray
    """Weight of the events that are expected of each row, in its time: w exp(margin) times the cumulative hazard."""


class Cox(JointNewton):
    """The problem, without penalties until `with_penalties` adds some.

    Parameters
    ----------
    X : array or CSR matrix
    times, events : arrays
        When a row was last seen, and whether (1 or 0) it had its event then.
    weights : array or None
    """

    def __init__(self, X: Any, times: np.ndarray, events: np.ndarray, weights: np.ndarray | None) -> None:
        n, d = X.shape
        if min(n, d) * d > MOST**2:
            raise UnsupportedError(
                f"The Cox model of {n} rows and {d} features is more than a dense model holds. Take at most {MOST} "
                f"features, or so few rows that rows times features are at most {MOST**2}."
            )
        super().__init__(1, d, intercept=False)
        order = np.argsort(-times, kind="stable")
        self._rows = X[order].astype(float)
        self._weights = mean_weights(weights, n)[order]
        self._log_weights = np.log(self._weights)
        # The loss does not see a shift of the columns, but rounding does.
        self._center = np.zeros(d) if sp.issparse(X) else self._weights @ self._rows
        if not sp.issparse(X):
            self._rows -= self._center
        self._events = np.flatnonzero(events[order])
        late = -times[order]
        # Distinct times of events, the last first.
        late_events, self._time_of_event = np.unique(late[self._events], return_inverse=True)
        self.times = -late_events
        self._deaths = np.bincount(self._time_of_event, self._weights[self._events])
        self._last_at_risk = np.searchsorted(late, late_events, side="right") - 1
        self._first_time = np.searchsorted(late_events, late, side="left")
        self._observed = np.zeros(n)
        self._observed[self._events] = self._weights[self._events]

    def on(self, columns: Any) -> Self:
        """The same rows and times with other features, linear in those of X, and no penalties."""
        other = self.with_penalties(None, None, None)
        rows = self._rows @ columns
        other._rows = rows.toarray() if sp.issparse(rows) else np.asarray(rows)
        other._center = np.asarray(self._center @ columns)
        other._n_features = other._rows.shape[1]
        return other.with_penalties(None, None, None)

    @property
    def objective_size(self) -> float:
        """The objective at x = 0, or the weight of all events where those at risk leave nothing to explain."""
        return max(super().objective_size, float(self._deaths.sum()))

    def loss(self, x: np.ndarray) -> float:
        """Half the deviance over W."""
        return self._loss(self._margins(x))

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """The gradient of the loss."""
        return self._gradient(self._risk(self._margins(x)))

    def log_hazards(self, x: np.ndarray) -> np.ndarray:
        """Logarithms of the jumps of the cumulative hazard of a row of zeros at `times`: Breslow's estimator."""
        totals = self._totals(self._margins(x)) + self._center @ x
        return np.log(self._deaths) - totals[self._last_at_risk]

    def _margins(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self._rows @ x)

    def _totals(self, margins: np.ndarray) -> np.ndarray:
        return np.logaddexp.accumulate(margins + self._log_weights)

    def _loss(self, margins: np.ndarray) -> float:
        sizes = self._totals(margins)[self._last_at_risk] - np.log(self._deaths)
        return float(self._deaths @ sizes - self._observed @ margins)

    def _risk(self, margins: np.ndarray) -> _Risk:
        sizes = margins + self._log_weights
        totals = np.logaddexp.accumulate(sizes)
        jumps = np.log(self._deaths) - totals[self._last_at_risk]
        # The earliest time is the last one. Before it nothing is expected.
        hazards = np.append(np.logaddexp.accumulate(jumps[::-1])[::-1], -np.inf)
        expected = np.exp(sizes + hazards[self._first_time])
        return _Risk(totals, np.exp(sizes - totals), -np.expm1(sizes - totals), expected)

    def _gradient(self, risk: _Risk) -> np.ndarray:
        return np.asarray(self._rows.T @ (risk.expected - self._observed))

    def _curvature(self, margins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """From the deviations D of the rows from the mean of those before them: H = D^T diag(h) D, gradient = D^T v."""
        risk = self._risk(margins)
        slopes = risk.expected - self._observed
        after = np.append(np.cumsum(slopes[:0:-1])[::-1], 0.0)
        v = slopes + risk.fractions * after
        # Where hardly an event is expected and there is one, a response v / h would be beyond all numbers.
        h = np.maximum(risk.expected * risk.others, FLOOR * np.abs(v))
        n, d = self._rows.shape
        mean = np.zeros(d)
        if n <= d:
            root = np.sqrt(h)
            target = np.divide(v, root, out=np.zeros(n), where=root > 0.0)
            return root[:, None] * self._deviations(slice(0, n), risk, mean), target
        H = np.zeros((d, d))
        for begin in range(0, n, _BLOCK):
            part = slice(begin, min(begin + _BLOCK, n))
            block = np.sqrt(h[part])[:, None] * self._deviations(part, risk, mean)
            H += block.T @ block
        diagonal = H.diagonal()
        return factored(H, self._gradient(risk), FLOOR * np.where(diagonal > 0.0, diagonal, diagonal.max() or 1.0))

    def _deviations(self, part: slice, risk: _Risk, mean: np.ndarray) -> np.ndarray:
        """Deviations of some rows from the weighted mean of all rows before each; `mean` is updated in place."""
        block = self._rows[part]
        block = block.toarray() if sp.issparse(block) else block.copy()
        deviations(block, risk.fractions[part], mean)
        return block

    def _slopes(self, margins: np.ndarray) -> tuple[np.ndarray, LossPart]:
        """The conjugate at s times the gradient is at most the relative entropies of the mixtures with fraction s of
        those at risk and 1 - s of the events themselves."""
        risk = self._risk(margins)
        column = margins[:, None].copy()
        deviations(column, risk.fractions, np.zeros(1))
        means = (margins - risk.others * column[:, 0])[self._last_at_risk]
        sizes = risk.totals[self._last_at_risk] - np.log(self._deaths)
        every, spread = float(self._deaths.sum()), float(self._deaths @ (means - sizes))
        weights = self._weights[self._events]
        ratios = np.exp(margins[self._events] - sizes[self._time_of_event])

        def loss_part(scale: float) -> float:
            mixed = weights @ (entr(scale * ratios + 1.0 - scale) - entr(scale * ratios))
            return float(mixed - every * xlogy(scale, scale) - scale * spread)

        return self._gradient(risk), loss_part
