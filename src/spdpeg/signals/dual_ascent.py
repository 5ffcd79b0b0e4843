"""Many cheap steps for large images and graphs: accelerated projected gradients on the dual."""

import math
from typing import Any, NamedTuple

import numpy as np

from ..certificate import Certificate
from ..kernels.jit import Term, call_linear, call_prox, kernel
from ..operators.pieces import components, pairs_of
from .axis_chains import AxisChains
from .signal import Signal

_STEPS = 20
"""Between two looks at the gap."""

_NO_STEP = 1e-12
"""The prox of a conjugate with hardly any step is the projection onto its domain."""

_THRESHOLDS = np.geomspace(1e-5, 1e-1, 5)
"""Differences, as parts of the largest, below which neighbours are tried as one piece."""


class Maps(NamedTuple):
    """The maps that a step applies: F, its adjoint, and the projection onto the domain of r2*."""

    forward: Term
    adjoint: Term
    project: Term


def dual_ascent(
    signal: Signal, lam2: Any, tol: float, most_checks: int, start: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, Certificate]:
    """Minimise 1/2 sum w (x - y)^2 + l1 |x|_1 + r2(F x) by FISTA on its dual, restarted where it turns back.

    Every u in the domain of r2* has the x that minimises the Lagrangian, and a gap. In the end neighbours that hardly
    differ become one piece if that does not raise the objective.

    Parameters
    ----------
    signal : Signal
        Without missing values.
    lam2 : float or array
    tol : float
        Relative gap.
    most_checks : int
        Of the gap, each after some steps.
    start : array or None
        Multipliers to begin with.

    Returns
    -------
    x, u, Certificate

    References
    ----------
    Beck, Teboulle: Fast gradient-based algorithms for constrained total variation image denoising and deblurring
    problems. IEEE Transactions on Image Processing 18 (2009).
    """
    F, y, w, l1 = signal.F, signal.y, signal.weights, signal.l1
    edges = pairs_of(F.matrix())
    # Differences do not see a common level; taken away, it costs the gap no digits.
    level = float(w @ y / w.sum()) if l1 == 0.0 and edges is not None else 0.0
    first = np.zeros(F.n_outputs) if start is None else signal.norm(lam2).dual_prox(start, _NO_STEP)
    kind = AxisChains if AxisChains.takes(signal) else EdgeByEdge
    steps = kind(signal, lam2, y - level, first)
    taken, best = 0, -math.inf
    while True:
        u = steps.ascend()
        taken += 1
        adjoint = F.adjoint(u)
        x = y - level - adjoint / w
        if l1 > 0.0:
            x -= np.clip(x, -l1 / w, l1 / w)
        residual = x - (y - level)
        rest = 0.5 * float(w @ (residual * residual)) + l1 * float(np.sum(np.abs(x)))
        # Any u gives a bound, and momentum lets it fall now and then: the best one counts.
        best = max(best, rest + float(adjoint @ x))
        primal = rest + signal.penalty(F.forward(x), lam2)
        found = Certificate(primal, best, math.nan).judged(tol, signal.size)
        if found.met is not None or taken >= most_checks:
            break
    x += level
    x, primal = _merged(signal, lam2, x, signal.objective(x, lam2), tol, edges)
    return x, u, Certificate(primal, min(best, primal), math.nan).judged(tol, signal.size)


class EdgeByEdge:
    """Steps for any F and any weights."""

    def __init__(self, signal: Signal, lam2: Any, centred: np.ndarray, start: np.ndarray) -> None:
        F = signal.F
        self._maps = Maps(F.forward_term, F.adjoint_term, signal.norm(lam2).dual_prox_term(F.n_outputs))
        self._y, self._signal, self._u = centred, signal, start.copy()
        self._step = float(signal.weights.min()) / F.squared_norm
        self._ahead, self._momentum = start.copy(), np.ones(1)
        self._spare = np.empty(centred.size + 2 * start.size)

    def ascend(self) -> np.ndarray:
        """Take some steps; returns the multipliers of F x."""
        w, l1 = self._signal.weights, self._signal.l1
        ascend(self._maps, self._y, w, l1, self._step, self._u, self._ahead, self._spare, self._momentum)
        return self._u


@kernel
def ascend(
    maps: Maps,
    y: np.ndarray,
    w: np.ndarray,
    l1: float,
    step: float,
    u: np.ndarray,
    ahead: np.ndarray,
    scratch: np.ndarray,
    state: np.ndarray,
) -> None:
    """Some steps from u, looking ahead along the last one; `state` holds the momentum."""
    n, m = y.size, u.size
    x, image, after = scratch[:n], scratch[n : n + m], scratch[n + m :]
    for _ in range(_STEPS):
        call_linear(maps.adjoint, ahead, x)
        for i in range(n):
            value = y[i] - x[i] / w[i]
            limit = l1 / w[i]
            x[i] = value - min(max(value, -limit), limit)
        call_linear(maps.forward, x, image)
        for e in range(m):
            image[e] = ahead[e] + step * image[e]
        call_prox(maps.project, image, _NO_STEP, after)
        # Momentum that points away from the step just taken is dropped (O'Donoghue, Candes 2015).
        turned = 0.0
        for e in range(m):
            turned += (ahead[e] - after[e]) * (after[e] - u[e])
        momentum = 1.0 if turned > 0.0 else state[0]
        following = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * momentum * momentum))
        weight = (momentum - 1.0) / following
        for e in range(m):
            ahead[e] = after[e] + weight * (after[e] - u[e])
            u[e] = after[e]
        state[0] = following


def _merged(
    signal: Signal, lam2: Any, x: np.ndarray, value: float, tol: float, edges: np.ndarray | None
) -> tuple[np.ndarray, float]:
    """x with neighbours that hardly differ made equal, if the objective stays within a tenth of the tolerance."""
    if edges is None:
        return x, value
    jumps = x[edges[:, 0]] - x[edges[:, 1]]
    allowed = value + 0.1 * tol * abs(value)
    best, best_value = x, value
    for threshold in _THRESHOLDS * float(np.max(np.abs(jumps), initial=0.0)):
        labels = components(edges[np.abs(jumps) <= threshold], x.size)
        flat = _levels(signal, lam2, x, labels)[labels]
        found = signal.objective(flat, lam2)
        if found <= max(best_value, allowed if best is x else best_value):
            best, best_value = flat, found
    return best, best_value


def _levels(signal: Signal, lam2: Any, x: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The best value of each piece if all differences keep their signs; the mean of x for lengths of differences."""
    mass = np.bincount(labels, signal.weights)
    if signal.groups is not None:
        return np.asarray(np.bincount(labels, signal.weights * x) / mass)
    means = np.bincount(labels, signal.weights * x) / mass
    image = signal.F.forward(means[labels])
    signs = signal.F.adjoint(np.sign(image) * lam2) + signal.l1 * np.sign(means)[labels]
    return np.asarray(np.bincount(labels, signal.weights * signal.y - signs) / mass)
