"""A problem to compare packages on, in plain arrays, and the one function that scores every x.

No package is imported here, not even this one: a case is handed to processes that hold another version of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

LOGISTIC, SQUARED = "logistic", "squared"
NONE, CHAIN, GRAPH, GRID = "none", "chain", "graph", "grid"
TRENDS = {"trend 1": 2, "trend 2": 3}
"""Order of the differences that vanish on pieces of lines and of parabolas."""


@dataclass(frozen=True)
class Case:
    """Mean loss + l1 |x|_1 + ridge / 2 |x|_2^2 + group sum_g |x_g|_2 + lam2 |F x|_1; a weight of 0 leaves a term out.

    The squared loss is half the square. Groups are blocks of `size` neighbours. A path has several `scales`, all
    others one: lam2 is multiplied by each of them or, without F, l1 and group.
    """

    task: str
    set: str
    weights: str
    loss: str
    X: Any
    y: np.ndarray
    F: sp.csr_matrix
    structure: str = NONE
    l1: float = 0.0
    ridge: float = 0.0
    group: float = 0.0
    size: int = 1
    lam2: float = 0.0
    scales: tuple[float, ...] = (1.0,)

    @property
    def name(self) -> str:
        """As it is called in tables."""
        return f"{self.set}/{self.task}/{self.weights}"

    @property
    def is_path(self) -> bool:
        """Whether it asks for the solutions at many weights."""
        return len(self.scales) > 1

    @property
    def side(self) -> int:
        """Of the square grid."""
        return round(np.sqrt(self.X.shape[1]))

    @property
    def entries(self) -> int:
        """Stored numbers of X."""
        return int(self.X.nnz if sp.issparse(self.X) else self.X.size)

    def at(self, scale: float) -> "Case":
        """The problem at one of the scales."""
        if self.structure == NONE:
            return replace(self, l1=scale * self.l1, group=scale * self.group, scales=(1.0,))
        return replace(self, lam2=scale * self.lam2, scales=(1.0,))

    def points(self) -> list["Case"]:
        """The problems at all scales."""
        return [self.at(scale) for scale in self.scales]

    def objective(self, x: np.ndarray) -> float:
        """In plain NumPy, sharing no code with any of the packages."""
        t = self.X @ x
        loss = np.logaddexp(0.0, -self.y * t) if self.loss == LOGISTIC else 0.5 * (t - self.y) ** 2
        penalty = self.l1 * np.abs(x).sum() + 0.5 * self.ridge * (x @ x) + self.lam2 * np.abs(self.F @ x).sum()
        if self.group > 0.0:
            penalty += self.group * np.linalg.norm(x.reshape(-1, self.size), axis=1).sum()
        return float(loss.mean() + penalty)

    def suboptimality(self, xs: Sequence[np.ndarray], optima: Sequence[float]) -> float:
        """Relative, the worst over all scales; infinite if a number is not finite."""
        with np.errstate(all="ignore"):
            values = [point.objective(x) for point, x in zip(self.points(), xs, strict=True)]
        worst = max(value / best - 1.0 for value, best in zip(values, optima, strict=True))
        return worst if np.all(np.isfinite(values)) else np.inf
