"""Named problems of real size: images, trends, graphs and chains, with a valid gap and the pieces of the solution."""

import os
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import spdpeg
from spdpeg import losses, operators, penalties

from .fuzz import where
from .outcome import Outcome, Verdict

Found = tuple[Any, float, np.ndarray]
"""Certificate, tolerance, coefficients."""


def _denoised(side: int) -> Found:
    """Total variation denoising of a square image, no l1."""
    rng = np.random.default_rng(0)
    image = np.zeros((side, side))
    image[side // 4 : side // 2, side // 4 : 3 * side // 4] = 1.0
    y = (image + 0.2 * rng.standard_normal((side, side))).ravel()
    model = spdpeg.TotalVariationRegressor(
        shape=(side, side), lam1=0.0, lam2=0.15 / y.size, fit_intercept=False, tol=1e-6
    )
    model.fit(sp.eye_array(y.size, format="csr"), y)
    return model.certificate_, 1e-6, model.coef_


def _trend(order: int, points: int) -> Found:
    """A trend filter of positions."""
    rng = np.random.default_rng(0)
    t = np.arange(float(points))
    y = np.abs(t / points - 0.4) + 0.1 * rng.standard_normal(points)
    lam = (0.5, 20.0, 500.0)[order - 1] / points
    model = spdpeg.TrendFilter(order=order, lam2=lam, tol=1e-6).fit(t[:, None], y)
    return model.certificate_, 1e-6, model.coef_


def _graph(nodes: int) -> Found:
    """Least squares guided by a random graph, no l1."""
    rng = np.random.default_rng(0)
    edges = [(j, int(rng.integers(max(0, j - 20), j))) for j in range(1, nodes)]
    y = np.repeat(rng.standard_normal(nodes // 50 + 1), 50)[:nodes] + 0.3 * rng.standard_normal(nodes)
    model = spdpeg.GraphGuidedRegressor(
        structure=edges, r1="l1", lam1=0.0, lam2=0.5 / nodes, fit_intercept=False, tol=1e-6
    )
    model.fit(sp.eye_array(nodes, format="csr"), y)
    return model.certificate_, 1e-6, model.coef_


def _fused() -> Found:
    """The fused lasso whose solution has 28 jumps."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 990))
    truth = np.zeros(990)
    truth[247:495], truth[-99:] = 1.0, -0.5
    y = X @ truth + rng.standard_normal(2000)
    model = spdpeg.FusedLasso(lam1=1e-2, lam2=5e-2, tol=1e-6, random_state=0).fit(X, y)
    return model.certificate_, 1e-6, model.coef_


def _signal(lam1: float, measured: Callable[[], np.ndarray]) -> Found:
    """A signal, X the identity."""
    y = measured()
    F = operators.FirstDifference()
    problem = spdpeg.Problem(
        sp.eye_array(y.size, format="csr"),
        y,
        loss=losses.Squared(),
        r1=penalties.L1(lam1 / y.size) if lam1 else None,
        r2=penalties.L1(1.0 / y.size),
        F=F,
    )
    result = spdpeg.solve(problem, tol=1e-6)
    return result.certificate, 1e-6, result.x


def signal() -> np.ndarray:
    """Steps and noise."""
    rng = np.random.default_rng(1)
    return np.asarray(np.repeat(rng.standard_normal(33), 30) + 0.3 * rng.standard_normal(990))


_COPY_NUMBERS = Path(os.environ.get("SPDPEG_DATA_DIR", ""), "cgh_cghFLasso.npz")


def copy_numbers() -> np.ndarray:
    """Gene copy numbers of a tumour (GBM_y of the package cghFLasso), where the file is at hand."""
    with np.load(_COPY_NUMBERS) as file:
        return np.asarray(file["GBM_y"])


def taut_string(y: np.ndarray, lam: float) -> np.ndarray:
    """argmin of |x - y|^2 / 2 + lam sum |x_{j+1} - x_j|: slopes of the shortest way between the cumulative sums."""
    sums = np.concatenate([[0.0], np.cumsum(y)])
    floor, ceiling = sums - lam, sums + lam
    floor[[0, -1]] = ceiling[[0, -1]] = sums[[0, -1]]
    x, start, height = np.empty(y.size), 0, 0.0
    while start < y.size:
        least, most, end, slope = (-np.inf, start), (np.inf, start), y.size, np.nan
        for k in range(start + 1, y.size + 1):
            low, high = (floor[k] - height) / (k - start), (ceiling[k] - height) / (k - start)
            if low > most[0] or high < least[0]:
                slope, end = most if low > most[0] else least
                break
            least, most = max(least, (low, k)), min(most, (high, k), key=lambda bound: bound[0])
            slope = (sums[-1] - height) / (y.size - start)
        x[start:end] = slope
        start, height = end, height + slope * (end - start)
    return x


def _jumps(x: np.ndarray) -> int:
    return int(np.count_nonzero(np.diff(x)))


def _signal_jumps(lam1: float) -> tuple[int, ...]:
    flat = taut_string(signal(), 1.0)
    return (_jumps(np.sign(flat) * np.maximum(np.abs(flat) - lam1, 0.0)),)


# The problem and, where known, the numbers of jumps its solution may have.
SCENARIOS: dict[str, tuple[Callable[[], Found], Callable[[], tuple[int, ...]] | None]] = {
    **{f"image {side} x {side}": (partial(_denoised, side), None) for side in (32, 128, 256, 512)},
    **{
        f"trend of order {order}, {points} points": (partial(_trend, order, points), None)
        for order in (1, 2, 3)
        for points in (1_000, 10_000, 100_000)
    },
    **{f"graph of {nodes} nodes, no l1": (partial(_graph, nodes), None) for nodes in (500, 5_000)},
    "fused lasso 2000 x 990": (_fused, lambda: (28, 29)),
    "signal of 990 points": (partial(_signal, 0.2, signal), partial(_signal_jumps, 0.2)),
    "signal of 990 points, no l1": (partial(_signal, 0.0, signal), partial(_signal_jumps, 0.0)),
}
if _COPY_NUMBERS.is_file():
    SCENARIOS["copy numbers"] = (partial(_signal, 0.1, copy_numbers), lambda: (84,))
    SCENARIOS["copy numbers, no l1"] = (partial(_signal, 0.0, copy_numbers), lambda: (98,))


def run(seed: int) -> Outcome:
    """The problem with this number, in order."""
    name = list(SCENARIOS)[seed % len(SCENARIOS)]
    solve, jumps = SCENARIOS[name]
    outcome = Outcome(seed, Verdict.PASSED, case=f"seed {seed}: {name}", kinds={"problem": name})
    begun = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            certificate, tol, x = solve()
    except Exception as error:
        outcome.verdict, outcome.reason = Verdict.RAW, where(error)
        return outcome
    outcome.seconds = time.perf_counter() - begun
    counted = _jumps(np.ravel(x))
    outcome.reason = f"relative gap {certificate.rel_gap:.2g}, met by {certificate.met}, {counted} jumps"
    if certificate.gap < -1e-12 * abs(certificate.primal):
        outcome.verdict = Verdict.FALSE_BOUND
    elif certificate.met is None or not certificate.rel_gap <= tol:
        outcome.verdict = Verdict.UNFINISHED
    elif jumps is not None and counted not in jumps():
        outcome.verdict, outcome.reason = Verdict.WRONG_VALUE, f"{outcome.reason} where the solution has {jumps()}"
    return outcome
