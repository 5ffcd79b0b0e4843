"""The default mode of SPDPEG, written out slowly: what it learns from the rows as they come, and the steps it takes."""

import math
from dataclasses import dataclass, field

import numpy as np

from support import formulas
from support.instances import Instance


@dataclass
class AdaptiveTwin:
    """One-sample extragradient steps of length distance over weighted gradients; no intercept.

    `squared_norm` is |F|^2, `slope` and `shift` bound the steps by 1 / (slope (k + shift)), `forgetting` is the power
    with which later iterates weigh more.
    """

    instance: Instance
    squared_norm: float
    forgetting: float
    slope: float = 0.0
    shift: float = 1.0
    radius: float = 0.0
    weight: float = 0.0
    seen: int = 0
    log_square: float = 0.0
    log_weight: float = 0.0
    size: float = 0.0
    steps: list[float] = field(default_factory=list)

    def run(self, batches: list[np.ndarray]) -> dict[str, np.ndarray]:
        """One iteration for each batch; the averages and the last iterate."""
        F, d = self.instance.F, self.instance.X.shape[1]
        x, dual = np.zeros(d), np.zeros(F.shape[0])
        bars: dict[str, list[np.ndarray]] = {"x": [], "z": [], "dual": []}
        for k, rows in enumerate(batches):
            gradient, c = self._gradient_and_step(x, rows, k)
            self.steps.append(c)
            rho = 0.25 / (c * self.squared_norm) if self.squared_norm else 1.0
            z = _prox(self.instance.r2, F @ x - dual / rho, 1.0 / rho)
            dual_bar = dual - rho * (F @ x - z)
            x_bar = self._prox1(x - c * (gradient - F.T @ dual), c)
            x = self._prox1(x - c * (gradient - F.T @ dual_bar), c)
            dual = dual - rho * (F @ x_bar - z)
            for name, value in (("x", x_bar), ("z", z), ("dual", dual_bar)):
                bars[name].append(value)
        averages = {name: self._average(values) for name, values in bars.items()}
        return averages | {"x_last": x}

    def _average(self, values: list[np.ndarray]) -> np.ndarray:
        average = values[0]
        for k, value in enumerate(values):
            average = average + (1 + self.forgetting) / (k + 1 + self.forgetting) * (value - average)
        return average

    def _gradient_and_step(self, x: np.ndarray, rows: np.ndarray, k: int) -> tuple[np.ndarray, float]:
        loss = self.instance.loss
        A, b, w = self.instance.X[rows], self.instance.labels[rows], self.instance.scaled_weights[rows]
        squares = (A**2).sum(axis=1)
        slopes = np.abs(formulas.loss_derivative(loss, np.zeros(len(b)), b))
        for square, weight, slope in zip(squares, w, slopes, strict=True):
            if weight > 0.0:
                self._measure(square, weight, math.sqrt(weight) * slope)
        typical = math.exp(self.log_square + self.log_weight)
        factors = np.sqrt(25.0 * typical / np.maximum(25.0 * typical, w * squares))
        gradient = np.mean((factors * w * formulas.loss_derivative(loss, A @ x, b))[:, None] * A, axis=0)
        least = 2.0 * self.size / (loss.curvature * math.sqrt(typical))
        self.radius = max(self.radius, float(np.linalg.norm(x)), least)
        self.weight += self.radius**2 * float(gradient @ gradient)
        limit = 64.0 / (loss.curvature * typical)
        if not loss.bounded_slope:
            limit = 1.0 / (loss.curvature * max(typical, float(np.mean(factors * w * squares))))
        if self.slope:
            limit = min(limit, 1.0 / (self.slope * (k + self.shift)))
        return gradient, min(0.92 * self.radius**2 / math.sqrt(self.weight), limit)

    def _measure(self, square: float, weight: float, size: float) -> None:
        self.seen += 1
        share = 4.0 / (self.seen + 3.0)
        if self.seen == 1:
            self.log_square, self.log_weight = math.log(square), math.log(weight)
        else:
            self.log_square += share * float(np.clip(math.log(square) - self.log_square, -6.0, 6.0))
            self.log_weight += share * float(np.clip(math.log(weight) - self.log_weight, -6.0, 6.0))
        self.size += share * (size - self.size)

    def _prox1(self, v: np.ndarray, c: float) -> np.ndarray:
        return _prox(self.instance.domain, _prox(self.instance.r1, v, c), c)


def _prox(penalty: object, v: np.ndarray, c: float) -> np.ndarray:
    return v if penalty is None else formulas.prox(penalty, v, c)
