"""Step sizes c_k: one formula, whose constants the methods choose."""

import math
from dataclasses import asdict, dataclass
from typing import Self

import numpy as np

from ..view import View

_FAR = 1e8

_MARGIN = 3.0
"""A classifier's margins at the solution are about this large: sets the scale of the distance to travel."""


@dataclass(frozen=True)
class StepRule:
    """c_k = min(limit, scale / (kappa sqrt(k+1) + slope (k + shift) + base)), k = 0, 1, 2, ...

    kappa > 0 gives the 1/sqrt(k) steps of the convex regime, slope > 0 the 1/k steps of the strongly convex ones, base
    alone a constant step.
    """

    base: float
    kappa: float = 0.0
    slope: float = 0.0
    shift: float = 1.0
    scale: float = 1.0
    limit: float = math.inf
    stable: float = math.inf
    """The largest step at which the deterministic method is stable; a step beyond it may diverge."""

    def __call__(self, k: np.ndarray) -> np.ndarray:
        """Steps at the iterations k."""
        denominator = self.kappa * np.sqrt(k + 1.0) + self.slope * (k + self.shift) + self.base
        return np.minimum(self.scale / denominator, self.limit)

    @property
    def provably_convergent(self) -> bool:
        """The first and largest step lies within the stability limit."""
        return float(self(np.zeros(1))[0]) <= self.stable * (1.0 + 1e-12)

    def to_numbers(self) -> dict[str, float]:
        """The rule as numbers of a state."""
        return {f"step_{name}": value for name, value in asdict(self).items()}

    @classmethod
    def from_numbers(cls, numbers: dict[str, float]) -> Self:
        """The rule from the numbers of a state; steps of 1 if it has none."""
        parts = {name[5:]: value for name, value in numbers.items() if name.startswith("step_")}
        return cls(**parts or {"base": 1.0})

    def __str__(self) -> str:
        parts = []
        if self.kappa:
            parts.append(f"{self.kappa:.3g} sqrt(k+1)")
        if self.slope:
            parts.append(f"{self.slope:.3g} (k+{self.shift:g})")
        parts.append(f"{self.base:.3g}")
        rule = f"{self.scale:.3g} / ({' + '.join(parts)})"
        return rule if math.isinf(self.limit) else f"min({self.limit:.3g}, {rule})"


def extragradient_limit(lipschitz: float, coupling: float) -> float:
    """The largest c with c L + sqrt(c s) <= 1, s = rho |F|^2: where primal-dual extragradient ceases to be stable."""
    if lipschitz == 0.0:
        return 1.0 / coupling if coupling > 0.0 else math.inf
    # The textbook root (sqrt(s + 4L) - sqrt(s)) / (2L) cancels for s >> L; this form does not.
    return (2.0 / (math.sqrt(coupling) + math.sqrt(coupling + 4.0 * lipschitz))) ** 2


def noise_scale(problem: View, batch_size: int) -> float:
    """kappa = sigma / D: noise at 0 of a batch's gradient over a guess of the distance to the solution.

    For logistic regression and single rows this is mean |a_i|^2 / (6 sqrt(d)). Batches drawn without repetition from N
    rows have (N - b) / (b (N - 1)) of the variance: none at b = N.
    """
    n = problem.rows.n_samples
    variance = 1.0 / batch_size
    if n is not None and n > 1:
        variance = (n - batch_size) / (batch_size * (n - 1))
    return math.sqrt(problem.rows.statistics.mean_noise * variance) / distance_scale(problem)


def batch_lipschitz(problem: View, batch_size: int) -> float:
    """Expected smoothness of a batch: L_max of single rows at b = 1, L of the mean at b = N."""
    n = problem.rows.n_samples
    if n is None or n == 1 or batch_size == 1:
        return problem.bounds.lipschitz_max
    fraction = n * (batch_size - 1) / (batch_size * (n - 1))
    return fraction * problem.bounds.lipschitz + (1.0 - fraction) * problem.bounds.lipschitz_max


def distance_scale(problem: View) -> float:
    """A guess of |x*|: the norm at which margins reach the size of the labels (regression) or of 3 (classification).

    That is size * sqrt(d) / rms |a_i|; 1 if there is nothing to go by.
    """
    square = problem.rows.statistics.mean_square
    if square == 0.0:
        return 1.0
    size = _MARGIN if problem.loss.binary else _spread(problem.rows.block.labels)
    return size * math.sqrt(problem.n_coordinates / square)


def dual_radius(problem: View) -> float:
    """Size of the dual variables that r2 allows, seen from far away on either side; 1 if they are not bounded."""
    far = np.full(problem.F.n_outputs, _FAR)
    radius = max(float(np.linalg.norm(problem.r2.dual_prox(sign * far))) for sign in (1.0, -1.0))
    return radius if 0.0 < radius < 0.01 * np.linalg.norm(far) else 1.0


def _spread(labels: np.ndarray) -> float:
    return float(np.std(labels)) or float(np.max(np.abs(labels))) or 1.0
