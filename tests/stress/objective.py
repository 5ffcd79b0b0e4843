"""The objective, written from the documentation's formulas in extended precision. Nothing here calls the package."""

from typing import Any, NamedTuple

import numpy as np

from .cases import Case

Long = np.longdouble

_ROUNDING = 64 * np.finfo(float).eps


class Value(NamedTuple):
    """Objective without its sets, by how much the sets are violated, and the rounding of the first."""

    objective: float
    violation: float
    """The largest, relative to the size of what is bounded."""
    rounding: float
    """Most that an evaluation in double precision may be off by, to first order, for sums of up to 64 terms."""

    @property
    def own_rounding(self) -> float:
        """The same of the evaluation here, in extended precision."""
        return self.rounding * float(np.finfo(Long).eps) / float(np.finfo(float).eps)


@np.errstate(over="ignore")  # of losses that grow exponentially, which are infinite far away
def evaluate(case: Case, x: np.ndarray, intercept: float = 0.0) -> Value:
    """At the coefficients x and the intercept."""
    point = np.asarray(x, dtype=Long)
    margins = case.X.astype(Long) @ point + Long(intercept)
    weights = _weights(case)
    counts = weights > 0
    total = Long(0)
    if case.loss is not None:
        total += weights[counts] @ loss_values(case.loss, margins[counts], case.labels[counts])
    image = case.matrix.astype(Long) @ point if case.r2 is not None else np.zeros(0, dtype=Long)
    parts = np.abs(case.matrix) @ np.abs(x) if case.r2 is not None else np.zeros(0)
    violation = 0.0
    rough = squares = 0.0
    for penalty, v, terms in ((case.r1, point, np.abs(x)), (case.domain, point, None), (case.r2, image, parts)):
        cost, outside = penalty_value(penalty, v, float(np.max(terms, initial=0.0)) if terms is not None else 0.0)
        total += cost
        violation = max(violation, outside)
        rough += float(cost) + (0.0 if terms is None else _terms_of(penalty, terms))
    if case.loss is not None:
        slopes = np.where(counts, np.abs(_slopes(case.loss, np.where(counts, margins, 0), case.labels)), 0)
        sizes = np.abs(case.X) @ np.abs(x) + abs(intercept) + _label_sizes(case)
        rough += float(weights @ (slopes * sizes))
        # Where all margins are met, squares of what rounding leaves of them remain.
        squares = float(weights @ np.square(_ROUNDING * sizes))
    return Value(float(total), violation, _ROUNDING * rough + squares)


def _terms_of(penalty: Any, terms: np.ndarray) -> float:
    """What a penalty adds up if the terms of v, which may cancel, have these sizes.

    Times the relative rounding, it bounds what rounding of v = F x does to the penalty: a norm that grows with the
    sizes of its coordinates changes by at most its value at the errors, slopes of corners are at most the weights, the
    sum of all entries is above the nuclear norm, and a parabola changes by at most twice its value at the sizes.
    """
    name = type(penalty).__name__
    match name:
        case "SeparableSum":
            return sum(_terms_of(part, block) for part, block in blocks(penalty, terms))
        case "Hinge" | "Quantile":
            labels = 1.0 if name == "Hinge" else np.abs(penalty.labels)
            return float(np.sum(np.asarray(penalty.weight) * (terms + labels)))
        case "FusedL1":
            return float(penalty.l1 * np.sum(terms) + np.sum(np.asarray(penalty.l2) * (terms[:-1] + terms[1:])))
        case "Nuclear":
            return float(penalty.weight * np.sum(terms))
        case "L1" | "ElasticNet" | "GroupL2" | "LInf" | "HuberL1":
            return float(_cost(name, penalty, terms.astype(Long)))
    return 0.0


def at_zero(case: Case) -> float:
    """The objective at x = 0, beside which an optimum may be as good as 0."""
    return evaluate(case, np.zeros(case.X.shape[1])).objective


def _weights(case: Case) -> np.ndarray:
    weights = np.ones(len(case.labels), dtype=Long) if case.weights is None else case.weights.astype(Long)
    return weights / weights.sum()


def _label_sizes(case: Case) -> Any:
    """What margins are compared with."""
    name = type(case.loss).__name__
    if name in ("Logistic", "SquaredHinge", "SmoothedHinge", "Hinge"):
        return 0.0
    return np.abs(case.labels) if name not in ("Poisson", "Gamma") else np.abs(np.log(np.maximum(case.labels, 1e-300)))


def loss_values(loss: Any, t: np.ndarray, b: np.ndarray) -> np.ndarray:
    """phi(t, b)."""
    lack = np.maximum(1 - b * t, 0)
    match type(loss).__name__:
        case "Logistic":
            return np.logaddexp(Long(0), -b * t)
        case "Squared":
            return (t - b) ** 2 / 2
        case "SquaredHinge":
            return lack**2 / 2
        case "SmoothedHinge":
            return np.where(lack >= loss.width, lack - Long(loss.width) / 2, lack**2 / (2 * Long(loss.width)))
        case "Huber":
            r = np.abs(t - b)
            return np.where(r <= loss.delta, r**2 / 2, loss.delta * (r - Long(loss.delta) / 2))
        case "Hinge":
            return lack
        case "Quantile":
            return np.where(t < b, loss.level * (b - t), (1 - Long(loss.level)) * (t - b))
        case "Poisson":
            known = np.maximum(b, Long(1e-300))
            return np.where(b > 0, b * _above_tangent(t - np.log(known)), np.exp(t))
        case "Gamma":
            return _above_tangent(np.log(b.astype(Long)) - t)
    raise NotImplementedError(type(loss).__name__)


def _above_tangent(r: np.ndarray) -> np.ndarray:
    """exp(r) - 1 - r, by its series where the two cancel."""
    small = np.where(np.abs(r) < 0.1, r, 0)
    term, total = small, 0 * small
    for k in range(2, 18):
        term = term * small / k
        total = total + term
    return np.where(np.abs(r) < 0.1, total, np.expm1(r) - r)


def _slopes(loss: Any, t: np.ndarray, b: np.ndarray) -> np.ndarray:
    match type(loss).__name__:
        case "Squared":
            return t - b
        case "SquaredHinge":
            return np.maximum(1 - b * t, 0)
        case "Huber":
            return np.clip(t - b, -loss.delta, loss.delta)
        case "Poisson":
            return np.exp(t) + b
        case "Gamma":
            return 1 + b * np.exp(-t)
    return np.ones_like(t)


def penalty_value(penalty: Any, v: np.ndarray, size: float = 0.0) -> tuple[Any, float]:
    """r(v) and, for a set, how far v is outside, relative to its size, or that of the terms that were added up to v."""
    name = type(penalty).__name__
    if name in _SETS:
        return Long(0), float(_SETS[name](penalty, v, size))
    if name == "SeparableSum":
        parts = [penalty_value(part, block, size) for part, block in blocks(penalty, v)]
        return sum((cost for cost, _ in parts), Long(0)), max((outside for _, outside in parts), default=0.0)
    return _cost(name, penalty, v), 0.0


def blocks(penalty: Any, v: Any) -> list[tuple[Any, Any]]:
    """Parts of a SeparableSum with the stretches of v that they act on."""
    ends = np.cumsum(penalty.sizes)
    return [(part, v[end - size : end]) for part, size, end in zip(penalty.parts, penalty.sizes, ends, strict=True)]


def _cost(name: str, r: Any, v: np.ndarray) -> Any:
    match name:
        case "NoneType" | "Zero":
            return Long(0)
        case "L1":
            return np.sum(np.asarray(r.weight, dtype=Long) * np.abs(v))
        case "L2Squared":
            return np.sum(np.asarray(r.weight, dtype=Long) * v * v) / 2
        case "ElasticNet":
            l1, l2 = np.asarray(r.l1, dtype=Long), np.asarray(r.l2, dtype=Long)
            return np.sum(l1 * np.abs(v)) + np.sum(l2 * v * v) / 2
        case "FusedL1":
            return Long(r.l1) * np.sum(np.abs(v)) + np.sum(np.asarray(r.l2, dtype=Long) * np.abs(np.diff(v)))
        case "GroupL2":
            groups = group_members(r.groups, v.size)
            weights = np.broadcast_to(np.asarray(r.weight, dtype=Long), (len(groups),))
            return sum((w * np.sqrt(np.sum(v[g] ** 2)) for w, g in zip(weights, groups, strict=True)), Long(0))
        case "LInf":
            return Long(r.weight) * np.max(np.abs(v), initial=Long(0))
        case "HuberL1":
            size, delta = np.abs(v), Long(r.delta)
            return np.sum(
                np.asarray(r.weight, dtype=Long) * np.where(size <= delta, v * v / (2 * delta), size - delta / 2)
            )
        case "Nuclear":
            return Long(r.weight) * Long(np.linalg.norm(v.astype(float).reshape(r.shape), "nuc"))
        case "Hinge":
            return np.sum(np.asarray(r.weight, dtype=Long) * np.maximum(1 - np.asarray(r.labels) * v, 0))
        case "Quantile":
            rest = np.asarray(r.labels) - v
            return np.sum(np.asarray(r.weight, dtype=Long) * np.maximum(r.level * rest, (Long(r.level) - 1) * rest))
    raise NotImplementedError(name)


def group_members(groups: Any, size: int) -> list[np.ndarray]:
    """The coordinates of each group, by increasing label."""
    if groups is None:
        return [np.arange(size)]
    if isinstance(groups, int | np.integer):
        return [np.arange(start, start + groups) for start in range(0, size, groups)]
    if all(isinstance(group, list) for group in groups):
        return [np.asarray(group, dtype=int) for group in groups]
    labels = np.asarray(groups)
    return [np.flatnonzero(labels == label) for label in np.unique(labels) if label >= 0]


def _outside(v: np.ndarray, lower: Any, upper: Any, size: float) -> Any:
    """By how much v leaves its bounds, beside the largest number in sight."""
    bounds = np.concatenate([np.ravel(np.asarray(bound, dtype=Long)) for bound in (lower, upper)])
    size = max(size, np.max(np.abs(v), initial=0), np.max(np.abs(bounds[np.isfinite(bounds)]), initial=0))
    out = np.max(np.maximum(np.maximum(lower - v, v - upper), 0), initial=0)
    return out / size if size > 0 else Long(0)


_SETS = {
    "Box": lambda r, v, size: _outside(v, r.lower, r.upper, size),
    "NonNegative": lambda r, v, size: _outside(v, 0.0, np.inf, size),
    "L2Ball": lambda r, v, size: max(np.sqrt(np.sum(v * v)) / r.radius - 1, 0),
    "L1Ball": lambda r, v, size: max(np.sum(np.abs(v)) / r.radius - 1, 0),
    "Simplex": lambda r, v, size: max(np.max(-v / r.total, initial=0), abs(np.sum(v) / r.total - 1)),
}
