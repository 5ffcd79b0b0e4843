"""Non-smooth losses, as penalties of z = X x: the exact support vector machine and quantile regression.

A solver meets such a loss as r2 with F = X, next to losses.Zero(): a kink needs a prox, not a gradient. With
weight = 1 / N they are mean losses.
"""

from typing import Any

import numpy as np

from ..errors import InputError
from ..kernels import jit
from .base import Packed, Penalty
from .conic import ConicForm, broken_lines, identity
from .shared import ends, in_dual_domain, interval_scale, numbers_of, weights_of


class Hinge(Penalty):
    """Sum of weight_i max(0, 1 - b_i z_i): the linear support vector machine.

    Parameters
    ----------
    labels : array
        b, one -1 or +1 per row of X.
    weight : float or array
        One number or one per row; 0 drops a row.

    See Also
    --------
    spdpeg.losses.Hinge : The same as the loss of a problem.

    Examples
    --------
    >>> import numpy as np
    >>> from spdpeg import Problem, penalties
    >>> X, b = np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([1.0, -1.0])
    >>> svm = Problem(None, r1=penalties.L2Squared(0.1), r2=penalties.Hinge(b, weight=1 / 2), F=X)
    >>> svm.objective(np.zeros(2))
    1.0
    """

    separable = True

    def __init__(self, labels: Any, weight: Any = 1.0) -> None:
        self.labels = labels
        self.weight = weight

    def value(self, v: np.ndarray) -> float:
        return float(np.sum(np.asarray(self.weight) * np.maximum(1.0 - np.asarray(self.labels) * v, 0.0)))

    def conjugate(self, u: np.ndarray) -> float:
        along = np.asarray(self.labels) * u
        return float(np.sum(along)) if in_dual_domain(along, -np.asarray(self.weight), 0.0) else np.inf

    def conic_form(self, size: int) -> ConicForm:
        labels, weight = np.split(self.pack(size).reals, 2)
        return broken_lines(identity(size), labels, weight * (labels < 0.0), weight * (labels > 0.0))

    def maximizer(self, u: np.ndarray) -> np.ndarray:
        labels, weight = np.asarray(self.labels), np.asarray(self.weight, dtype=float)
        along = labels * u
        kink = np.where(along < -weight, -np.inf, np.where(along > 0.0, np.inf, 1.0))
        return labels * kink

    def dual_ends(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        labels, weight = np.asarray(self.labels), np.asarray(self.weight, dtype=float)
        return ends(np.where(labels > 0.0, -weight, 0.0), np.where(labels > 0.0, 0.0, weight), size)

    def nearest_dual(self, u: np.ndarray) -> np.ndarray:
        labels = np.asarray(self.labels)
        return np.where(np.asarray(self.weight) == 0.0, 0.0, labels * np.minimum(labels * u, 0.0))

    def dual_scale(self, u: np.ndarray) -> float:
        return interval_scale(np.asarray(self.labels) * u, -np.asarray(self.weight, dtype=float), 0.0)

    def pack(self, size: int) -> Packed:
        labels = _labels_of(self, self.labels, size)
        if not np.all(np.abs(labels) == 1.0):
            raise InputError(
                f"labels of Hinge hold {labels[np.abs(labels) != 1.0][0]} beside -1 and +1. "
                "Write the two classes as -1 and +1, as in numpy.where(y == positive, 1.0, -1.0)."
            )
        return Packed(np.concatenate([labels, _full(weights_of(self, "weight", self.weight, size), size)]), jit.NONE)

    @jit.prox
    @staticmethod
    def kernel_prox(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        size = point.size
        for i in range(size):
            label = reals[i]
            out[i] = point[i] + label * min(max(1.0 - label * point[i], 0.0), step * reals[size + i])

    @jit.prox
    @staticmethod
    def kernel_dual_prox(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        size = point.size
        for i in range(size):
            label = reals[i]
            out[i] = label * min(max(label * point[i] - step, -reals[size + i]), 0.0)


class Quantile(Penalty):
    """Sum of weight_i times level * r for r >= 0 and (level - 1) * r for r < 0, where r = b_i - z_i: the pinball loss.

    Parameters
    ----------
    labels : array
        b, one number per row of X.
    level : float
        The quantile, strictly between 0 and 1. At 1/2 the loss is half the absolute error.
    weight : float or array
        One number or one per row; 0 drops a row.

    See Also
    --------
    spdpeg.losses.Quantile : The same as the loss of a problem.

    Examples
    --------
    >>> from spdpeg import penalties
    >>> penalties.Quantile([1.0, 1.0], level=0.9).prox([0.0, 3.0]).round(6).tolist()
    [0.9, 2.9]
    """

    separable = True

    def __init__(self, labels: Any, level: float = 0.5, weight: Any = 1.0) -> None:
        self.labels = labels
        self.level = level
        self.weight = weight

    def value(self, v: np.ndarray) -> float:
        residual = np.asarray(self.labels) - v
        return float(np.sum(np.asarray(self.weight) * np.maximum(self.level * residual, (self.level - 1.0) * residual)))

    def conjugate(self, u: np.ndarray) -> float:
        weight = np.asarray(self.weight)
        inside = in_dual_domain(u, -self.level * weight, (1.0 - self.level) * weight)
        return float(np.sum(u * np.asarray(self.labels))) if inside else np.inf

    def conic_form(self, size: int) -> ConicForm:
        labels, above, below = np.split(self.pack(size).reals, 3)
        return broken_lines(identity(size), labels, below, above)

    def maximizer(self, u: np.ndarray) -> np.ndarray:
        weight = np.asarray(self.weight, dtype=float)
        kink = np.broadcast_to(np.asarray(self.labels, dtype=float), u.shape)
        return np.where(u < -self.level * weight, -np.inf, np.where(u > (1.0 - self.level) * weight, np.inf, kink))

    def dual_ends(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        weight = np.asarray(self.weight, dtype=float)
        return ends(-self.level * weight, (1.0 - self.level) * weight, size)

    def nearest_dual(self, u: np.ndarray) -> np.ndarray:
        return np.where(np.asarray(self.weight) == 0.0, 0.0, u)

    def dual_scale(self, u: np.ndarray) -> float:
        weight = np.asarray(self.weight, dtype=float)
        return interval_scale(u, -self.level * weight, (1.0 - self.level) * weight)

    def pack(self, size: int) -> Packed:
        labels = _labels_of(self, self.labels, size)
        level = numbers_of(self, "level", self.level)
        if level.ndim or not 0.0 < level < 1.0:
            raise InputError(f"level of Quantile is {self.level!r}. It must lie strictly between 0 and 1.")
        weight = _full(weights_of(self, "weight", self.weight, size), size)
        return Packed(np.concatenate([labels, level * weight, (1.0 - level) * weight]), jit.NONE)

    @jit.prox
    @staticmethod
    def kernel_prox(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        size = point.size
        for i in range(size):
            up, down = step * reals[size + i], step * reals[2 * size + i]
            out[i] = point[i] + min(max(reals[i] - point[i], -down), up)

    @jit.prox
    @staticmethod
    def kernel_dual_prox(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        size = point.size
        for i in range(size):
            out[i] = min(max(point[i] - step * reals[i], -reals[size + i]), reals[2 * size + i])


def _labels_of(owner: Penalty, value: Any, size: int) -> np.ndarray:
    labels = numbers_of(owner, "labels", value)
    if labels.shape != (size,):
        raise InputError(
            f"labels of {type(owner).__name__} have shape {labels.shape} but act on {size} coordinates. "
            "Give one label per row of X."
        )
    if not np.all(np.isfinite(labels)):
        raise InputError(
            f"labels of {type(owner).__name__} hold NaN or infinite entries. Drop those rows or repair them."
        )
    return labels


def _full(weight: np.ndarray, size: int) -> np.ndarray:
    return np.broadcast_to(weight, (size,))
