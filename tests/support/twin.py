"""SPDPEG as the paper prints it: z and lambda kept, all iterates stored, averages taken as plain weighted sums."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from support import formulas
from support.instances import Instance


@dataclass
class Trace:
    """All iterates, k = 0, 1, 2, ..."""

    regime: str
    x: list[np.ndarray] = field(default_factory=list)
    x_bar: list[np.ndarray] = field(default_factory=list)
    z: list[np.ndarray] = field(default_factory=list)
    dual_bar: list[np.ndarray] = field(default_factory=list)

    def average(self, iterates: list[np.ndarray], count: int) -> np.ndarray:
        """Weighted sum of the first `count` iterates."""
        weights = averaging_weights(self.regime, count - 1)
        return np.asarray(sum(weight * iterate for weight, iterate in zip(weights, iterates, strict=False)))


def averaging_weights(regime: str, t: int) -> np.ndarray:
    """Weights of the iterates 0, ..., t."""
    k = np.arange(t + 1)
    if regime == "spdpeg-sc2":
        return np.asarray(2 * (k + 3) / ((t + 1) * (t + 6)))
    return np.full(t + 1, 1 / (t + 1))


def run(
    instance: Instance,
    regime: str,
    step: Callable[[int], float],
    rho: float,
    batches: list[np.ndarray],
    x0: np.ndarray | None = None,
) -> Trace:
    """len(batches) / 2 iterations; batch 2k gives the gradient at x, batch 2k+1 that at x_bar."""
    F = instance.F
    x = np.zeros(instance.X.shape[1]) if x0 is None else x0
    dual = np.zeros(F.shape[0])
    trace = Trace(regime)
    for k in range(len(batches) // 2):
        c = step(k)
        z = _prox(instance.r2, F @ x - dual / rho, 1.0 / rho)
        dual_bar = dual - rho * (F @ x - z)
        x_bar = _constrained_prox(instance, x - c * (_gradient(instance, x, batches[2 * k]) - F.T @ dual), c)
        x = _constrained_prox(instance, x - c * (_gradient(instance, x_bar, batches[2 * k + 1]) - F.T @ dual_bar), c)
        dual = dual - rho * (F @ x_bar - z)
        trace.x.append(x)
        trace.x_bar.append(x_bar)
        trace.z.append(z)
        trace.dual_bar.append(dual_bar)
    return trace


def run_one_sample(
    instance: Instance, regime: str, step: Callable[[int], float], rho: float, batches: list[np.ndarray]
) -> Trace:
    """An iteration for each batch, whose gradient at x serves for x_bar and for x."""
    F = instance.F
    x, dual = np.zeros(instance.X.shape[1]), np.zeros(F.shape[0])
    trace = Trace(regime)
    for k, batch in enumerate(batches):
        c, gradient = step(k), _gradient(instance, x, batch)
        z = _prox(instance.r2, F @ x - dual / rho, 1.0 / rho)
        dual_bar = dual - rho * (F @ x - z)
        x_bar = _constrained_prox(instance, x - c * (gradient - F.T @ dual), c)
        x = _constrained_prox(instance, x - c * (gradient - F.T @ dual_bar), c)
        dual = dual - rho * (F @ x_bar - z)
        trace.x.append(x)
        trace.x_bar.append(x_bar)
        trace.z.append(z)
        trace.dual_bar.append(dual_bar)
    return trace


def _gradient(instance: Instance, x: np.ndarray, rows: np.ndarray) -> np.ndarray:
    A, b, w = instance.X[rows], instance.labels[rows], instance.scaled_weights[rows]
    return np.asarray(np.mean((w * formulas.loss_derivative(instance.loss, A @ x, b))[:, None] * A, axis=0))


def _prox(penalty: object, v: np.ndarray, c: float) -> np.ndarray:
    return v if penalty is None else formulas.prox(penalty, v, c)


def _constrained_prox(instance: Instance, v: np.ndarray, c: float) -> np.ndarray:
    return _prox(instance.domain, _prox(instance.r1, v, c), c)


@dataclass(frozen=True)
class Constants:
    """What the step sizes depend on. `lipschitz` is that of the mean loss, the rest is read off the rows."""

    lipschitz: float
    lipschitz_max: float
    mean_square: float
    noise: float
    spread: float
    squared_norm: float
    mu_loss: float
    mu_r1: float


def measure(instance: Instance, rows: slice, lipschitz: float, squared_norm: float, mu_loss: float) -> Constants:
    """Constants of the given rows."""
    A, b, w = instance.X[rows], instance.labels[rows], instance.scaled_weights[rows]
    squares = w * (A**2).sum(axis=1)
    slopes = w * formulas.loss_derivative(instance.loss, np.zeros(len(b)), b)
    return Constants(
        lipschitz,
        instance.loss.curvature * squares.max(),
        squares.mean(),
        math.sqrt(np.mean(slopes**2 * (A**2).sum(axis=1))),
        3.0 if instance.loss.binary else float(b.std()),
        squared_norm,
        mu_loss,
        0.0 if instance.r1 is None else instance.r1.strong_convexity,
    )


def paper_steps(regime: str, known: Constants) -> tuple[Callable[[int], float], float]:
    """c_k and rho as printed, with rho = 1 and the Lipschitz constant of the worst row."""
    mu = 0.0 if regime == "spdpeg" else known.mu_loss + known.mu_r1
    s, L = known.squared_norm, known.lipschitz_max
    L_tilde = max(8 * s, math.sqrt(8 * L**2 + s)) + mu
    return _schedule(regime, 1.0, mu, L_tilde), 1.0


def tight_steps(
    regime: str, known: Constants, batch: int, n: int | None, d: int, bounded_slope: bool
) -> tuple[Callable[[int], float], float]:
    """c_k and rho of the mode "tight": tight L~, balanced rho, kappa = noise / distance, clipped.

    `n` is the number of rows that batches are drawn from without repetition, or None for a stream.
    """
    variance = 1 / batch if n is None else (n - batch) / (batch * (n - 1))
    share = 0.0 if n is None else n * (batch - 1) / (batch * (n - 1))
    L = known.lipschitz if bounded_slope else share * known.lipschitz + (1 - share) * known.lipschitz_max
    rho = 2 * L / (3 * known.squared_norm) if known.squared_norm else 1.0
    s = rho * known.squared_norm
    mu = known.mu_loss + 2 * known.mu_r1
    L_tilde = max(4 * s, 2 * L + s)
    if known.mu_loss:
        L_tilde = max(8 * s, math.sqrt(8) * L + s) + known.mu_loss
    kappa = known.noise * math.sqrt(variance) / (known.spread * math.sqrt(d / known.mean_square))
    limit = ((math.sqrt(s + 4 * L) - math.sqrt(s)) / (2 * L)) ** 2
    schedule = _schedule(regime, kappa, mu, L_tilde)
    return lambda k: min(limit, schedule(k)), rho


def _schedule(regime: str, kappa: float, mu: float, L_tilde: float) -> Callable[[int], float]:
    if regime == "spdpeg":
        return lambda k: 1 / (kappa * math.sqrt(k + 1) + L_tilde)
    if regime == "spdpeg-sc1":
        return lambda k: 2 / (mu * (k + 1) + 2 * L_tilde)
    return lambda k: 4 / (mu * (k + 2) + 4 * L_tilde)
