"""The default mode of SPDPEG, written out slowly: what it learns from the rows as they come, and the steps it takes."""

import math
from dataclasses import dataclass, field

import numpy as np

from support import formulas
from support.instances import Instance


@dataclass
class AdaptiveTwin:
    """One-sample extragradient steps of length distance over weighted gradients, in the metric of the columns.

    No intercept.

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
    used: list[tuple[int, float]] = field(default_factory=list)
    """Rows measured so far, and what their squares were shrunk by."""

    def run(self, batches: list[np.ndarray]) -> dict[str, np.ndarray]:
        """One iteration for each batch; the averages and the last iterate."""
        F, d = self.instance.F, self.instance.X.shape[1]
        x, dual = np.zeros(d), np.zeros(F.shape[0])
        self.metric = np.ones(d)
        factors = np.full(F.shape[0], 1.0 / self.squared_norm if self.squared_norm else 1.0)
        due = [-(-256 * 2**i // len(batches[0])) for i in range(20)]
        bars: dict[str, list[np.ndarray]] = {"x": [], "z": [], "dual": []}
        for k, rows in enumerate(batches):
            if k in due:
                factors = self._take_metric(x)
            gradient, c = self._gradient_and_step(x, rows, k)
            self.steps.append(c)
            rho = 0.25 / c * factors
            step = c * self.metric
            z = _prox(self.instance.r2, F @ x - dual / rho, 1.0 / rho)
            dual_bar = dual - rho * (F @ x - z)
            x_bar = self._prox1(x - step * (gradient - F.T @ dual), step)
            x = self._prox1(x - step * (gradient - F.T @ dual_bar), step)
            dual = dual - rho * (F @ x_bar - z)
            for name, value in (("x", x_bar), ("z", z), ("dual", dual_bar)):
                bars[name].append(value)
        averages = {name: self._average(values) for name, values in bars.items()}
        return averages | {"x_last": x}

    def _take_metric(self, x: np.ndarray) -> np.ndarray:
        """Change to the metric of the rows so far; returns the factors of the dual steps."""
        A = self.instance.X[[row for row, _ in self.used]]
        counts = np.count_nonzero(A, axis=0)
        squares = np.array([factor for _, factor in self.used]) @ A**2
        entry = np.log(squares / counts)
        entry = (entry - entry.mean()) * counts / (counts + 10.0)
        beyond = np.sign(entry) * np.maximum(np.abs(entry) - math.log(10.0), 0.0)
        metric = (
            np.exp(-0.25 * (entry - beyond) - beyond) * (len(A) / (counts + 32.0 * (1.0 + counts.size / len(A)))) ** 0.5
        )
        metric *= squares.sum() / (squares @ metric)
        change = math.sqrt(np.sum(x**2 / metric) / np.sum(x**2 / self.metric))
        self.radius, self.weight, self.metric = change * self.radius, change**2 * self.weight, metric
        absolute = np.abs(self.instance.F)
        factors = 1.0 / (absolute @ (absolute.sum(axis=0) * metric))
        return factors if type(self.instance.r2).__name__ == "L1" else np.full(factors.size, factors.min())

    def _average(self, values: list[np.ndarray]) -> np.ndarray:
        average = values[0]
        for k, value in enumerate(values):
            average = average + (1 + self.forgetting) / (k + 1 + self.forgetting) * (value - average)
        return average

    def _gradient_and_step(self, x: np.ndarray, rows: np.ndarray, k: int) -> tuple[np.ndarray, float]:
        """Mean gradient of a walk along the rows by the length of its steps, and that of the walk."""
        loss = self.instance.loss
        A, b, w = self.instance.X[rows], self.instance.labels[rows], self.instance.scaled_weights[rows]
        squares = A**2 @ self.metric
        slopes = np.abs(formulas.loss_derivative(loss, np.zeros(len(b)), b))
        for row, square, weight, slope in zip(rows, squares, w, slopes, strict=True):
            if weight > 0.0:
                self._measure(square, weight, math.sqrt(weight) * slope)
                shrunk = 25.0 * math.exp(self.log_square + self.log_weight) / (weight * square)
                self.used.append((int(row), min(1.0, shrunk)))
        typical = math.exp(self.log_square + self.log_weight)
        least = 2.0 * self.size / (loss.curvature * math.sqrt(typical))
        self.radius = max(self.radius, math.sqrt(np.sum(x**2 / self.metric)), least)
        factors = 25.0 * typical / np.maximum(25.0 * typical, w * squares)
        at, steps, gradients = x, [], []
        for i in range(len(b)):
            slope = formulas.loss_derivative(loss, A[[i]] @ at, b[[i]])[0]
            gradients.append(factors[i] * w[i] * slope * A[i])
            self.weight += self.radius**2 * float(self.metric @ gradients[-1] ** 2)
            steps.append(self._step(typical, factors[i] * w[i] * squares[i], k * len(b)))
            at = at - steps[-1] * self.metric * gradients[-1]
        return np.average(gradients, axis=0, weights=steps), sum(steps)

    def _step(self, typical: float, square: float, used: int) -> float:
        loss = self.instance.loss
        limit = 64.0 / (loss.curvature * typical)
        if not loss.bounded_slope:
            limit = 1.0 / (loss.curvature * max(typical, square))
        if self.slope:
            limit = min(limit, 1.0 / (self.slope * (used + self.shift)))
        return min(0.92 * self.radius**2 / math.sqrt(self.weight), limit)

    def _measure(self, square: float, weight: float, size: float) -> None:
        self.seen += 1
        share = 4.0 / (self.seen + 3.0)
        if self.seen == 1:
            self.log_square, self.log_weight = math.log(square), math.log(weight)
        else:
            self.log_square += share * float(np.clip(math.log(square) - self.log_square, -6.0, 6.0))
            self.log_weight += share * float(np.clip(math.log(weight) - self.log_weight, -6.0, 6.0))
        self.size += share * (size - self.size)

    def _prox1(self, v: np.ndarray, c: np.ndarray) -> np.ndarray:
        return _prox(self.instance.domain, _prox(self.instance.r1, v, c), c)


def _prox(penalty: object, v: np.ndarray, c: np.ndarray) -> np.ndarray:
    return v if penalty is None else formulas.prox(penalty, v, c)
