"""Optima by CVXPY with Clarabel, from a model of their own that shares nothing with the package but terms' parameters.

The model is solved in coordinates of its own (unit columns, labels of size 1, objective of size 1), so that Clarabel is
as accurate for badly scaled data. What comes back is only a candidate: its objective is evaluated elsewhere, and
`excess` bounds what a violated constraint may have gained, by the multipliers.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import cvxpy
import numpy as np

from .cases import Case
from .objective import at_zero, blocks, evaluate, group_members

cp: Any = cvxpy

_TIGHT = {f"tol_{name}": 1e-13 for name in ("gap_abs", "gap_rel", "feas", "infeas_abs", "infeas_rel", "ktratio")}
_LOOSE: dict[str, float] = {}

_OUTSIDE = 1e-6
"""Part of its size by which a point of the reference may miss a set."""


@dataclass
class Model:
    """The problem in scaled coordinates: x = scale * u, intercept = shift * c, objective = unit * the model's."""

    case: Case
    scale: np.ndarray
    shift: float
    unit: float

    def __post_init__(self) -> None:
        case = self.case
        d = case.X.shape[1]
        self.u, self.c = cp.Variable(d), cp.Variable()
        cost: Any = 0
        self.constraints: list[Any] = []
        if not case.intercept:
            self.constraints.append(self.c == 0)
        if case.loss is not None:
            cost += self._loss()
        for penalty, M in ((case.r1, np.eye(d)), (case.domain, np.eye(d)), (case.r2, case.matrix)):
            value, sets = _penalty(penalty, M * self.scale, self.u, 1 / self.unit)
            cost += value
            self.constraints += sets
        self.problem = cp.Problem(cp.Minimize(cost), self.constraints)

    def _loss(self) -> Any:
        case = self.case
        weights = np.ones(len(case.labels)) if case.weights is None else case.weights / case.weights.max()
        used = weights > 0
        weights = weights[used] / weights[used].sum()
        size = self.shift
        margins = (case.X[used] * (self.scale / size)) @ self.u + self.c
        value, power = _loss(case.loss, margins, case.labels[used] / size, size)
        return (weights * (size**power / self.unit)) @ value

    def solve(self) -> str:
        """Solve, as exactly as Clarabel can; the status."""
        for settings in (_TIGHT, _LOOSE):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    self.problem.solve(solver=cp.CLARABEL, **settings)
            except (cvxpy.error.SolverError, ArithmeticError, ValueError):
                continue
            if self.u.value is not None or self.problem.status.startswith("infeasible"):
                return str(self.problem.status)
        return "failed"

    def point(self) -> tuple[np.ndarray, float]:
        """Coefficients and intercept."""
        return self.scale * self.u.value, float(self.shift * self.c.value) if self.case.intercept else 0.0

    def excess(self, x: np.ndarray) -> float:
        """How much lower the objective may be at x than at any point that satisfies the constraints."""
        self.u.value = x / self.scale
        self.c.value = 0.0
        total = 0.0
        for constraint in self.constraints[0 if self.case.intercept else 1 :]:
            if constraint.dual_value is None:
                return np.inf
            amounts = np.asarray(constraint.violation(), dtype=float)
            total += float(np.sum(np.abs(constraint.dual_value) * amounts))
        return 2.0 * self.unit * total


@dataclass
class Reference:
    """The least objective known at a point that satisfies all constraints, and where; `infeasible` if there is none."""

    upper: float = np.inf
    status: str = "failed"
    x: np.ndarray | None = None
    intercept: float = 0.0
    violation: float = np.inf

    @property
    def infeasible(self) -> bool:
        """Whether Clarabel proves that no point satisfies all constraints."""
        return self.status == "infeasible"


def solve(case: Case, *points: tuple[np.ndarray, float]) -> Reference:
    """The best of Clarabel's solutions and of further points, such as the package's."""
    best = Reference()
    shift = 1.0 if case.loss is None or _in_units_of_its_own(case.loss) else float(np.max(np.abs(case.labels))) or 1.0
    columns = np.sqrt(np.mean(np.square(case.X), axis=0)) if len(case.X) else np.zeros(case.X.shape[1])
    own = np.where(columns > 0, shift / np.where(columns > 0, columns, 1.0), shift)
    first = at_zero(case) or 1.0
    model = None
    for scale, unit in ((own, first), (own, None), (np.full_like(own, shift), first)):
        if unit is None:
            if not 0 < best.upper < 1e-3 * first:
                continue
            unit = best.upper
        elif model is not None and best.status == "optimal":
            break
        model = Model(case, scale, shift, unit)
        status = model.solve()
        if best.status in ("failed", "optimal_inaccurate") or status == "optimal":
            best.status = status
        if model.u.value is None:
            continue
        for x, intercept in (model.point(), *points):
            _offer(case, model, best, x, intercept)
    return best


def _offer(case: Case, model: Model, best: Reference, x: np.ndarray, intercept: float) -> None:
    """Keep a point if it is better, after a projection onto the sets that bound x itself.

    A point outside them is no candidate, however little it misses beside its largest entry: small entries have units of
    their own, in which that may be much. So have the rows of F.
    """
    for candidate in (_projected(case, x), _projected(case, x, image=True)):
        if not np.all(np.isfinite(candidate)) or not rows_hold(case, candidate):
            continue
        value = evaluate(case, candidate, intercept)
        upper = value.objective + value.own_rounding + (model.excess(candidate) if value.violation > 0 else 0.0)
        if upper < best.upper and value.violation <= _OUTSIDE:
            best.upper, best.x, best.intercept, best.violation = upper, candidate, intercept, value.violation


def rows_hold(case: Case, x: np.ndarray, outside: float = _OUTSIDE) -> bool:
    """Whether F x keeps its bounds, but for this part of the terms of each row."""
    if case.r2 is None:
        return True
    image, sizes = case.matrix @ x, np.abs(case.matrix) @ np.abs(x)
    lower, upper = _bounds(case.r2, len(image))
    for bound in (lower, upper):
        sizes = np.maximum(sizes, np.where(np.isfinite(bound), np.abs(bound), 0.0))
    return bool(np.all(np.maximum(lower - image, image - upper) <= outside * sizes))


def _bounds(penalty: Any, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Those of each entry, as far as a penalty has them."""
    match type(penalty).__name__:
        case "Box" | "NonNegative":
            ends = (np.asarray(end, dtype=float) for end in (penalty.lower, penalty.upper))
            lower, upper = (np.broadcast_to(end, (size,)) for end in ends)
            return lower, upper
        case "SeparableSum":
            own = [_bounds(part, len(block)) for part, block in blocks(penalty, np.zeros(size))]
            return np.concatenate([low for low, _ in own]), np.concatenate([high for _, high in own])
    return np.full(size, -np.inf), np.full(size, np.inf)


def _projected(case: Case, x: np.ndarray, image: bool = False) -> np.ndarray:
    """Inside the sets that bound x; with `image`, also in that of F x where F is the identity."""
    same = image and case.r2 is not None and np.array_equal(case.matrix, np.eye(x.size))
    for penalty in (case.r1, case.domain, case.r2 if same else None):
        match type(penalty).__name__:
            case "Box" | "NonNegative":
                x = np.clip(x, penalty.lower, penalty.upper)
            case "L2Ball" if (size := float(np.linalg.norm(x))) > penalty.radius:
                x = x * (penalty.radius / size) * (1 - 1e-15)
            case "L1Ball" if (size := float(np.sum(np.abs(x)))) > penalty.radius:
                x = x * (penalty.radius / size) * (1 - 1e-15)
            case "Simplex":
                x = np.maximum(x, 0.0)
                x = x * (penalty.total / max(float(np.sum(x)), 1e-300))
    return x


def _in_units_of_its_own(loss: Any) -> bool:
    """Whether margins have no units: log odds, classes, logarithms of means."""
    return type(loss).__name__ in ("Logistic", "SquaredHinge", "SmoothedHinge", "Hinge", "Poisson", "Gamma")


def _loss(loss: Any, t: Any, b: np.ndarray, size: float) -> tuple[Any, int]:
    """phi where margins and labels are `size` times t and b, over that power of `size` that makes it so."""
    match type(loss).__name__:
        case "Logistic":
            return cp.logistic(-cp.multiply(b, t)), 0
        case "Squared":
            return cp.square(t - b) / 2, 2
        case "Huber":
            return cp.huber(t - b, loss.delta / size) / 2, 2
        case "SquaredHinge":
            return cp.square(cp.pos(1 - cp.multiply(b, t))) / 2, 0
        case "SmoothedHinge":
            # The infimal convolution of the hinge and a parabola: min over s of (1 - s)_+ + |s - t|^2 / (2 width).
            s = cp.Variable(b.size)
            return cp.pos(1 - s) + cp.square(cp.multiply(b, t) - s) / (2 * loss.width), 0
        case "Hinge":
            return cp.pos(1 - cp.multiply(b, t)), 0
        case "Quantile":
            return cp.maximum(loss.level * (b - t), (loss.level - 1) * (b - t)), 1
        case "Poisson":
            return cp.exp(t) - cp.multiply(b, t), 0
        case "Gamma":
            return cp.exp(np.log(b) - t) + t, 0
    raise NotImplementedError(type(loss).__name__)


def _absolute(M: np.ndarray, u: Any, weight: Any) -> Any:
    """sum of weight_i |(M u)_i|, rows without weight left out."""
    weights = np.broadcast_to(np.asarray(weight, dtype=float), (len(M),))
    used = (weights > 0) & M.any(axis=1)
    return cp.norm1((M[used] * weights[used, None]) @ u) if used.any() else 0


def _squares(M: np.ndarray, u: Any, weight: Any) -> Any:
    weights = np.broadcast_to(np.asarray(weight, dtype=float), (len(M),))
    used = (weights > 0) & M.any(axis=1)
    return cp.sum_squares((M[used] * np.sqrt(weights[used])[:, None]) @ u) / 2 if used.any() else 0


def _penalty(r: Any, M: np.ndarray, u: Any, k: float) -> tuple[Any, list[Any]]:
    """k r(M u) and constraints."""
    name = type(r).__name__
    match name:
        case "NoneType" | "Zero":
            return 0, []
        case "SeparableSum":
            parts = [_penalty(part, rows, u, k) for part, rows in blocks(r, M)]
            return sum(cost for cost, _ in parts), [constraint for _, sets in parts for constraint in sets]
    if len(M) == 0:
        return 0, []
    match name:
        case "L1":
            return _absolute(M, u, k * np.asarray(r.weight)), []
        case "L2Squared":
            return _squares(M, u, k * np.asarray(r.weight)), []
        case "ElasticNet":
            return _absolute(M, u, k * np.asarray(r.l1)) + _squares(M, u, k * np.asarray(r.l2)), []
        case "FusedL1":
            return _absolute(M, u, k * r.l1) + _absolute(np.diff(M, axis=0), u, k * np.asarray(r.l2)), []
        case "GroupL2":
            groups = group_members(r.groups, len(M))
            weights = np.broadcast_to(np.asarray(r.weight, dtype=float), (len(groups),))
            used = [(w, g) for w, g in zip(weights, groups, strict=True) if w > 0 and g.size]
            return sum(cp.norm2((k * w * M[g]) @ u) for w, g in used) if used else 0, []
        case "LInf":
            return (cp.norm_inf((k * r.weight * M) @ u) if r.weight > 0 else 0), []
        case "HuberL1":
            weights = np.broadcast_to(np.asarray(r.weight, dtype=float), (len(M),)) * (k * r.delta / 2)
            return weights @ cp.huber((M / r.delta) @ u, 1.0), []
        case "Nuclear" if min(r.shape) == 1:
            return (cp.norm2((k * r.weight * M) @ u) if r.weight > 0 else 0), []
        case "Nuclear":
            return (cp.normNuc(cp.reshape((k * r.weight * M) @ u, r.shape, order="C")) if r.weight > 0 else 0), []
        case "Hinge":
            weights = np.broadcast_to(np.asarray(r.weight, dtype=float), (len(M),)) * k
            return weights @ cp.pos(1 - cp.multiply(r.labels, M @ u)), []
        case "Quantile":
            weights = np.broadcast_to(np.asarray(r.weight, dtype=float), (len(M),)) * k
            size = float(np.max(np.abs(r.labels))) or 1.0
            rest = np.asarray(r.labels) / size - (M / size) @ u
            return (size * weights) @ cp.maximum(r.level * rest, (r.level - 1) * rest), []
    return 0, _set(name, r, M, u)


def _set(name: str, r: Any, M: np.ndarray, u: Any) -> list[Any]:
    match name:
        case "Box" | "NonNegative":
            lower, upper = (np.broadcast_to(np.asarray(b, dtype=float), (len(M),)) for b in (r.lower, r.upper))
            # Rows of size 1, so that multipliers and violations are in units of their own.
            size = np.sqrt(np.sum(M * M, axis=1))
            size = np.where(size > 0, size, 1.0)
            below, above = np.isfinite(lower), np.isfinite(upper)
            rows = M / size[:, None]
            out = [rows[below] @ u >= (lower / size)[below]] if below.any() else []
            return out + ([rows[above] @ u <= (upper / size)[above]] if above.any() else [])
        case "L2Ball":
            return [cp.norm2((M / r.radius) @ u) <= 1]
        case "L1Ball":
            return [cp.norm1((M / r.radius) @ u) <= 1]
        case "Simplex":
            return [(M / r.total) @ u >= 0, cp.sum((M / r.total) @ u) == 1]
    raise NotImplementedError(name)
