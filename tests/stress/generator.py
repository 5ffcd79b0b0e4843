"""From a seed to a problem."""

from typing import Any

import numpy as np

from spdpeg import penalties

from . import designs, terms
from .cases import Case
from .operators import matrix_of

TOLERANCES = (1e-3, 1e-4, 1e-6, 1e-8, 1e-9)
_BINARY = ("Logistic", "SquaredHinge", "SmoothedHinge", "Hinge")
_LOG_LINK = ("Poisson", "Gamma")


def problem(seed: int) -> Case:
    """The problem with this number."""
    rng = np.random.default_rng([1, seed])
    kind = terms.draw_loss(rng)
    n, d = designs.sizes(rng)
    if kind in _BINARY:
        n = max(n, 2)
    X, data = designs.rows(rng, n, d)
    given, X, storage = designs.stored(rng, X)
    if kind == "None":
        return _without_loss(rng, seed, X, data)
    if kind in _BINARY:
        y, labels, target = designs.classes(rng, X)
    elif kind in _LOG_LINK:
        y, target = designs.counts(rng, X, positive=kind == "Gamma")
        labels = y
    else:
        labels, target = designs.numbers(rng, X)
        y = labels
    weights, weighing = designs.row_weights(rng, n)
    size = float(np.median(np.abs(labels))) or float(np.max(np.abs(labels))) or 1.0
    loss = terms.loss(rng, kind, size)
    intercept: bool | float = [False, True, 1.0, float(10.0 ** rng.uniform(-2, 2))][
        rng.choice(4, p=[0.5, 0.35, 0.1, 0.05])
    ]
    scales = scales_of(X, labels, kind, size, weights)
    r1, first = terms.penalty(rng, scales)
    F, structure = terms.operator(rng, d)
    matrix = matrix_of(F, d)
    if rng.random() < 0.25:
        r2, second = None, "None"
    else:
        r2, second = _second(rng, F, matrix, scales)
    domain, area = (None, "None") if rng.random() < 0.85 else terms.convex_set(rng, scales)
    kinds = {
        "loss": kind,
        "r1": first,
        "r2": second,
        "F": structure,
        "domain": area,
        "data": data,
        "storage": storage,
        "labels": target,
        "weights": weighing,
        "intercept": "True" if intercept is True else "False" if intercept is False else "number",
    }
    tol = float(rng.choice(TOLERANCES))
    start = scales.width * rng.standard_normal(d + bool(intercept)) if rng.random() < 0.12 else None
    passes = float(rng.choice([0, 1, 3, 10])) if rng.random() < 0.08 else None
    return Case(
        seed, loss, r1, r2, F, domain, given, X, y, labels, matrix, weights, intercept, tol, start, passes, kinds
    )


def _without_loss(rng: np.random.Generator, seed: int, X: np.ndarray, data: str) -> Case:
    """A loss with corners as r2 of F = X, and no other."""
    n, d = X.shape
    size = max(float(np.sqrt(np.mean(X * X))), 1e-300)
    if rng.random() < 0.5:
        b = designs.classes(rng, X)[1]
        r2: Any = penalties.Hinge(b, 1 / n)
        force, width = size, 1 / size
    else:
        b = designs.numbers(rng, X)[0]
        r2 = penalties.Quantile(b, float(rng.uniform(0.1, 0.9)), 1 / n)
        force, width = size, (float(np.max(np.abs(b))) or 1.0) / size
    r1, first = terms.penalty(rng, terms.Scales(d, force, width, force / width))
    domain, area = (None, "None") if rng.random() < 0.8 else terms.convex_set(rng, terms.Scales(d, force, width, 1.0))
    kinds = {"loss": "None", "r1": first, "r2": type(r2).__name__, "F": "data", "domain": area, "data": data}
    tol = float(rng.choice(TOLERANCES))
    empty = np.zeros((0, d))
    return Case(seed, None, r1, r2, X, domain, None, empty, None, np.zeros(0), X, None, False, tol, kinds=kinds)


def scales_of(X: np.ndarray, labels: np.ndarray, kind: str, size: float, weights: np.ndarray | None) -> terms.Scales:
    """What is large for penalties of x itself."""
    w = np.ones(len(X)) if weights is None else weights / weights.max()
    w = w / w.sum()
    slopes = labels if kind in ("Squared", "Huber") else np.sign(labels)
    if kind == "Huber":
        slopes = np.clip(labels, -size, size)
    elif kind in _LOG_LINK:
        slopes = labels - 1.0
    force = float(np.max(np.abs(X.T @ (w * slopes)), initial=0.0)) or 1.0
    square = float(np.mean(X * X)) or 1.0
    width = (size if kind in ("Squared", "Huber", "Quantile") else 1.0) / np.sqrt(square)
    return terms.Scales(X.shape[1], force, float(width), square)


def _second(rng: np.random.Generator, F: Any, matrix: np.ndarray, scales: terms.Scales) -> tuple[Any, str]:
    m = len(matrix)
    rows = float(np.sqrt(np.mean(np.sum(matrix * matrix, axis=1)))) if m else 1.0
    rows = rows or 1.0
    beyond = terms.Scales(m, scales.force / rows, scales.width * rows, scales.bend / rows**2)
    if type(F).__name__ == "Stack" and rng.random() < 0.7:
        d = matrix.shape[1]
        return terms.separable(rng, [len(matrix_of(part, d)) for part in F.operators], beyond), "SeparableSum"
    return terms.penalty(rng, beyond)
