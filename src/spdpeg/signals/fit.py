"""One signal at one pair of weights: which method, and what proves its answer."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..certificate import Certificate
from ..engine import solve
from ..kernels.weighted_chain import MEMORY, chain_bounds, chain_flows, chain_signal, weighted_chain_signal
from ..losses import Squared
from ..operators.pieces import pairs_of
from ..penalties import L1
from ..problem import Problem
from ..result import uninterrupted
from .dual_ascent import dual_ascent
from .signal import Signal

_LARGE = 5000
"""Values of an image or a graph from which on cheap steps are taken for few digits."""

_FEW_DIGITS = 1e-5
"""Relative gap down to which they take less time than minimum cuts, which give all digits."""

_INSIDE = 1.0 - 1e-15
"""A scaled flow stays this far short of its limit, where rounding could cross it."""

_MOST_CHECKS = 1_000
"""Most checks of the gap of the cheap steps, some dozen of which are taken between two checks."""


class Fit(NamedTuple):
    """The solution, multipliers u of F x (a subgradient of r2 there) and the proof."""

    x: np.ndarray
    dual: np.ndarray
    certificate: Certificate


def tolerance_for(signal: Signal) -> float:
    """Relative gap to stop at if none is asked for."""
    return 1e-4 if signal.order is None and signal.y.size > _LARGE else 1e-6


def fit(signal: Signal, lam2: Any, tol: float, start: Fit | None = None) -> Fit:
    """The minimiser of 1/2 sum w (x - y)^2 + l1 |x|_1 + r2(F x).

    Along a line the answer for order 1 is exact, in linear time. Large images and graphs without missing values take
    cheap steps in the dual for few digits, and so do lengths of gradients; all others go to `solve`.

    Parameters
    ----------
    signal : Signal
    lam2 : float or array with an entry for each row of F
    tol : float
        Relative duality gap.
    start : Fit, optional
        Of the same signal at another lam2, which the cheap steps go on from.

    Returns
    -------
    Fit
    """
    if signal.F.chain:
        return _along_a_line(signal, np.broadcast_to(lam2, (signal.F.n_outputs,)).astype(float), tol)
    if signal.F.n_outputs == 0 or not np.any(lam2):
        return _separate(signal, tol)
    many, cut = signal.y.size > _LARGE, signal.groups is None and pairs_of(signal.F.matrix()) is not None
    cheap = many and tol >= _FEW_DIGITS if cut else many or signal.groups is not None
    if cheap and signal.complete and signal.order is None:
        dual = None if start is None else start.dual
        x, dual, certificate = dual_ascent(signal, lam2, tol, _MOST_CHECKS, dual)
        if certificate.met is not None or (many and not cut):
            return Fit(x, dual, certificate)
    if signal.order is not None and signal.complete and signal.l1 == 0.0 and np.ndim(lam2) == 0:
        level, u = balance(signal)
        if np.max(np.abs(u), initial=0.0) <= lam2:
            return _one_curve(signal, level, u, tol)
    return _solved(signal, lam2, tol)


def balance(signal: Signal) -> tuple[np.ndarray, np.ndarray]:
    """Along a line: the x with F x = 0 that is nearest to y, and the u with F^T u = w (y - x)."""
    assert signal.order is not None
    root = np.sqrt(signal.weights)
    curves = np.polynomial.legendre.legvander(np.linspace(-1.0, 1.0, root.size), signal.order - 1)
    level = curves @ np.linalg.lstsq(curves * root[:, None], signal.y * root, rcond=None)[0]
    u = signal.weights * (signal.y - level)
    for _ in range(signal.order):
        u = -np.cumsum(u)[:-1]
    return level, u


def _one_curve(signal: Signal, level: np.ndarray, u: np.ndarray, tol: float) -> Fit:
    """Where lam2 is so large that F x = 0."""
    residual, adjoint = level - signal.y, signal.F.adjoint(u)
    best = signal.y - adjoint / signal.weights
    value = 0.5 * float(signal.weights @ (residual * residual))
    bound = 0.5 * float(signal.weights @ np.square(best - signal.y)) + float(adjoint @ (best - level))
    return Fit(level, u, Certificate(value, bound, np.nan).judged(tol, signal.size))


def _separate(signal: Signal, tol: float) -> Fit:
    """Without F each value stands for itself."""
    w = np.where(signal.observed, signal.weights, 1.0)
    x = signal.y - np.clip(signal.y, -signal.l1 / w, signal.l1 / w)
    value = signal.objective(x, 0.0)
    return Fit(x, np.zeros(signal.F.n_outputs), Certificate(value, value, np.nan).judged(tol, signal.size))


def _along_a_line(signal: Signal, l2: np.ndarray, tol: float) -> Fit:
    """Exact, by dynamic programming."""
    y, w, l1 = signal.y, signal.weights, signal.l1
    n = y.size
    memory, x, flows = np.empty(MEMORY * n), np.empty(n), np.empty(max(n - 1, 0))
    scale = float(w[0])
    if signal.even:  # the same problem, with weights of 1
        w, l1 = np.empty(0), l1 / scale
        l2 = l2 if scale == 1.0 else l2 / scale
        chain_signal(y, l1, l2, memory, x)
    else:
        scale = 1.0
        weighted_chain_signal(y, w, l1, l2, memory, x)
        if l1 == 0.0:
            _bridge(x, w, l2)
    chain_flows(y, w, l1, l2, x, memory, flows)
    # The bound is a small difference of large sums unless a common level is taken away, which l1 would notice.
    level = float(x[n // 2]) if l1 == 0.0 else 0.0
    primal, dual, divergence = chain_bounds(y, w, l1, l2, x, flows, level)
    if divergence > l1:  # rounding at missing values: weaker flows are in order
        dual = -np.inf if l1 == 0.0 else chain_bounds(y, w, l1, l2, x, flows * (_INSIDE * l1 / divergence), level)[1]
    if scale != 1.0:
        flows *= scale
    return Fit(x, flows, Certificate(scale * primal, scale * dual, np.nan).judged(tol, signal.size))


def _bridge(x: np.ndarray, w: np.ndarray, l2: np.ndarray) -> None:
    """Let a jump across missing values happen at the cheapest edge between their neighbours, in the middle of these."""
    observed = np.flatnonzero(w > 0.0)
    crossed = (np.diff(observed) > 1) & (np.diff(x[observed]) != 0.0)
    for left, right in zip(observed[:-1][crossed], observed[1:][crossed], strict=True):
        cheapest = np.flatnonzero(l2[left:right] == l2[left:right].min())
        cut = left + 1 + cheapest[cheapest.size // 2]
        x[left + 1 : cut], x[cut:right] = x[left], x[right]


def _solved(signal: Signal, lam2: Any, tol: float) -> Fit:
    """By the exact solver, whose objective is a mean: everything is divided by the sum of the weights."""
    observed = np.flatnonzero(signal.observed)
    total = float(signal.weights.sum())
    rows = sp.csr_array(
        (np.ones(observed.size), (np.arange(observed.size), observed)), shape=(observed.size, signal.y.size)
    )
    even = np.ptp(signal.weights[observed]) == 0.0
    problem = Problem(
        rows,
        signal.y[observed],
        loss=Squared(),
        r1=L1(signal.l1 / total) if signal.l1 > 0.0 else None,
        r2=signal.norm(np.asarray(lam2, dtype=float) / total),
        F=signal.F,
        sample_weight=None if even else signal.weights[observed],
    )
    result = uninterrupted(solve(problem, tol=tol))
    found = result.certificate
    assert found is not None
    certificate = replace(found, primal=total * found.primal, dual=total * found.dual)
    return Fit(result.x, -total * result.dual, certificate)
