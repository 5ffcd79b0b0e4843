"""Random losses, penalties, sets and operators, of sizes that matter beside the data."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from spdpeg import losses, operators, penalties

Generator = np.random.Generator

LOSSES = (
    "Logistic",
    "Squared",
    "SquaredHinge",
    "SmoothedHinge",
    "Huber",
    "Hinge",
    "Quantile",
    "Poisson",
    "Gamma",
    "None",
)
_LOSS_ODDS = np.array([5, 5, 2, 2, 3, 2, 2, 1.5, 1.5, 1.0])

PENALTIES = (
    "None",
    "Zero",
    "L1",
    "L1 vector",
    "L2Squared",
    "L2Squared vector",
    "ElasticNet",
    "FusedL1",
    "GroupL2",
    "Nuclear",
    "LInf",
    "HuberL1",
    "Hinge",
    "Quantile",
    "SeparableSum",
)
SETS = ("Box", "NonNegative", "L2Ball", "L1Ball", "Simplex")

_MOST_SIDES = 41
"""Rows and columns of a matrix whose nuclear norm a conic solver takes in a moment."""

OPERATORS = (
    "None",
    "Identity",
    "FirstDifference",
    "Difference",
    "GraphDifference",
    "GridDifference",
    "dense",
    "sparse",
    "zero rows",
    "duplicated rows",
    "one-entry rows",
    "hub rows",
    "zero",
    "Stack",
    "Repeated",
    "tall",
    "scaled rows",
)


def loss(rng: Generator, kind: str, size: float) -> Any:
    """A loss whose parameters fit labels of that size."""
    match kind:
        case "Logistic":
            return losses.Logistic()
        case "Squared":
            return losses.Squared()
        case "SquaredHinge":
            return losses.SquaredHinge()
        case "SmoothedHinge":
            return losses.SmoothedHinge(float(rng.choice([0.05, 0.5, 1.0, 2.0])))
        case "Huber":
            return losses.Huber(float(size * 10.0 ** rng.uniform(-3, 1)))
        case "Hinge":
            return losses.Hinge()
        case "Quantile":
            return losses.Quantile(float(rng.choice([0.05, 0.3, 0.5, 0.9])))
        case "Poisson":
            return losses.Poisson()
        case "Gamma":
            return losses.Gamma()
    return None


def draw_loss(rng: Generator) -> str:
    """The name of a loss; "None" stands for a loss with corners inside r2."""
    return str(rng.choice(LOSSES, p=_LOSS_ODDS / _LOSS_ODDS.sum()))


def strength(rng: Generator, largest: float) -> float:
    """From 0 over almost nothing to above the weight that makes x vanish."""
    kind = rng.random()
    if kind < 0.05:
        return 0.0
    if kind < 0.1:
        return largest * 1e-10
    if kind < 0.18:
        return largest * float(rng.uniform(1.0, 3.0))
    return float(largest * 10.0 ** rng.uniform(-5, 0))


class Scales:
    """What is large and what is small for a vector of `size` coordinates that a penalty acts on."""

    def __init__(self, size: int, force: float, width: float, bend: float) -> None:
        self.size = size
        self.force = force
        """An l1 weight from which on all coordinates vanish, about."""
        self.width = width
        """The size of a coordinate at the optimum, about."""
        self.bend = bend
        """A ridge weight that matters."""


def penalty(rng: Generator, scales: Scales, sets: float = 0.15, nested: bool = True) -> tuple[Any, str]:
    """A penalty or, with that probability, a set."""
    if rng.random() < sets:
        return convex_set(rng, scales)
    kind = str(rng.choice(PENALTIES if nested else PENALTIES[1:-1]))
    return _penalty(rng, kind, scales), kind


def _penalty(rng: Generator, kind: str, scales: Scales) -> Any:
    n = scales.size
    lam = strength(rng, scales.force)
    vector = lam * rng.random(n) * (rng.random(n) < 0.8)
    bends = scales.bend * 10.0 ** rng.uniform(-5, 1)
    match kind:
        case "None":
            return None
        case "Zero":
            return penalties.Zero()
        case "L1":
            return penalties.L1(lam)
        case "L1 vector":
            return penalties.L1(vector)
        case "L2Squared":
            return penalties.L2Squared(float(bends))
        case "L2Squared vector":
            return penalties.L2Squared(bends * rng.random(n) * (rng.random(n) < 0.8))
        case "ElasticNet":
            return penalties.ElasticNet(lam if rng.random() < 0.7 else vector, float(bends))
        case "FusedL1":
            edges = max(n - 1, 0)
            l2 = strength(rng, scales.force)
            return penalties.FusedL1(lam, l2 if rng.random() < 0.7 else l2 * rng.random(edges))
        case "GroupL2":
            return _groups(rng, lam * np.sqrt(max(n, 1)), n)
        case "Nuclear":
            return penalties.Nuclear(lam, matrix_shape(rng, n))
        case "LInf":
            return penalties.LInf(lam * max(n, 1))
        case "HuberL1":
            weight = lam if rng.random() < 0.7 else vector
            return penalties.HuberL1(weight, float(scales.width * 10.0 ** rng.uniform(-3, 1)))
        case "Hinge":
            return penalties.Hinge(rng.choice([-1.0, 1.0], n), lam if rng.random() < 0.5 else vector)
        case "Quantile":
            labels = scales.width * rng.standard_normal(n)
            return penalties.Quantile(labels, float(rng.uniform(0.05, 0.95)), lam if rng.random() < 0.5 else vector)
    cut = int(rng.integers(0, n + 1))
    return separable(rng, [cut, n - cut], scales)


def matrix_shape(rng: Generator, n: int) -> tuple[int, int]:
    """Of a matrix with n entries, so small that a conic solver takes its singular values, or of one row or column."""
    few = [k for k in range(1, n + 1) if n % k == 0 and (k in (1, n) or k + n // k <= _MOST_SIDES)]
    rows = int(rng.choice(few or [1]))
    return rows, n // rows


def separable(rng: Generator, lengths: list[int], scales: Scales) -> Any:
    """A penalty of its own for each stretch."""
    parts = []
    for length in lengths:
        part = Scales(length, scales.force, scales.width, scales.bend)
        parts.append(penalty(rng, part, nested=False)[0])
    return penalties.SeparableSum(parts, lengths)


def _groups(rng: Generator, lam: float, n: int) -> Any:
    kind = rng.integers(4)
    if kind == 0 or n == 0:
        return penalties.GroupL2(lam)
    if kind == 1:
        return penalties.GroupL2(lam, int(rng.choice([k for k in range(1, n + 1) if n % k == 0])))
    labels = rng.integers(-1, max(1, n // 3) + 1, n)
    if kind == 2:
        return penalties.GroupL2(lam, labels)
    lists = [np.flatnonzero(labels == k).tolist() for k in range(labels.max() + 1)]
    lists = [group for group in lists if group] or [[0]]
    return penalties.GroupL2(lam * rng.random(len(lists)), lists)


def convex_set(rng: Generator, scales: Scales) -> tuple[Any, str]:
    """A set, loose or tight, now and then one that leaves little or nothing."""
    kind = str(rng.choice(SETS, p=[0.4, 0.2, 0.15, 0.15, 0.1]))
    radius = float(scales.width * 10.0 ** rng.uniform(-2, 1))
    match kind:
        case "Box":
            return _box(rng, radius, scales.size), kind
        case "NonNegative":
            return penalties.NonNegative(), kind
        case "L2Ball":
            return penalties.L2Ball(radius), kind
        case "L1Ball":
            return penalties.L1Ball(radius * np.sqrt(max(scales.size, 1))), kind
    return penalties.Simplex(radius * np.sqrt(max(scales.size, 1))), kind


def _box(rng: Generator, radius: float, n: int) -> Any:
    match rng.integers(6):
        case 0:
            return penalties.Box(-radius, radius)
        case 1:
            return penalties.Box(lower=-radius)
        case 2:
            return penalties.Box(upper=radius * rng.uniform(-1, 1))
        case 3:
            return penalties.Box(radius, 1.5 * radius)
        case 4:
            lower = -radius * rng.random(n)
            upper = np.where(rng.random(n) < 0.2, lower, radius * rng.random(n))
            return penalties.Box(lower, upper)
    upper = np.where(rng.random(n) < 0.5, np.inf, radius * rng.random(n))
    return penalties.Box(np.where(rng.random(n) < 0.5, -np.inf, -radius), upper)


def operator(rng: Generator, d: int) -> tuple[Any, str]:
    """An F that acts on d coordinates."""
    kind = str(rng.choice(OPERATORS))
    return _operator(rng, kind, d), kind


def _operator(rng: Generator, kind: str, d: int) -> Any:
    m = int(rng.integers(1, max(2, d) + 3))
    dense = rng.standard_normal((m, d)) * (rng.random((m, d)) < 0.5)
    match kind:
        case "None":
            return None
        case "Identity":
            return operators.Identity()
        case "FirstDifference":
            return operators.FirstDifference()
        case "Difference":
            return operators.Difference(int(rng.integers(1, min(4, d) + 1)))
        case "GraphDifference":
            return _graph(rng, d)
        case "GridDifference":
            return _grid(rng, d)
        case "dense":
            return dense if rng.random() < 0.5 else operators.Matrix(dense)
        case "sparse":
            return sp.csr_array(dense) if rng.random() < 0.5 else sp.coo_matrix(dense)
        case "zero rows":
            dense[rng.random(m) < 0.5] = 0.0
        case "duplicated rows":
            dense = dense[rng.integers(max(1, m // 2), size=m)]
        case "one-entry rows":
            dense = np.eye(d)[rng.integers(d, size=m)] * rng.standard_normal((m, 1))
        case "hub rows":
            dense = np.vstack([np.ones((1, d)), rng.random((1, d)), np.eye(d)[rng.integers(d, size=m)]])
        case "zero":
            dense = np.zeros((m, d))
        case "Stack":
            parts = [_operator(rng, str(rng.choice(OPERATORS[1:9])), d) for _ in range(int(rng.integers(1, 4)))]
            return operators.Stack(*parts)
        case "Repeated":
            return _repeated(rng, d)
        case "tall":
            dense = rng.standard_normal((2 * d + m, d))
        case "scaled rows":
            dense *= 10.0 ** rng.uniform(-4, 4, (m, 1))
    match int(rng.integers(6)):
        case 0:
            return sp.csr_array(dense)
        case 1:
            return sp.csc_matrix(dense)
        case 2:
            return np.asfortranarray(dense)
        case 3:
            return dense.tolist()
        case 4:
            return np.round(2 * dense).astype(int)
    return dense


def _graph(rng: Generator, d: int) -> Any:
    m = int(rng.integers(0, 2 * d + 1)) if d > 1 else 0
    first = rng.integers(d, size=m)
    edges = np.column_stack([first, (first + rng.integers(1, max(d, 2), size=m)) % d])
    kind = rng.integers(3)
    weights = None if kind == 0 else rng.random(m) * (rng.random(m) < (0.8 if kind == 1 else 1.1))
    return operators.GraphDifference(edges, weights, n_nodes=d if rng.random() < 0.5 else None)


def _grid(rng: Generator, d: int) -> Any:
    rows = int(rng.choice([k for k in range(1, d + 1) if d % k == 0]))
    shape = (rows, d // rows) if rng.random() < 0.8 else (d,)
    return operators.GridDifference(shape, None if rng.random() < 0.6 else rng.random(len(shape)) + 0.1)


def _repeated(rng: Generator, d: int) -> Any:
    copies = int(rng.choice([k for k in range(1, d + 1) if d % k == 0]))
    width = d // copies
    skip = int(rng.integers(0, width))
    kinds = ("Identity", "FirstDifference", "dense", "GraphDifference")
    inner = _operator(rng, str(rng.choice(kinds)), width - skip)
    return operators.Repeated(operators.as_operator(inner).bind(width - skip), copies, skip)
