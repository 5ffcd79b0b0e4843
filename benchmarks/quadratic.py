"""Quadratic models with l1 norms: the interior point of spdpeg.exact beside Clarabel, on the same models.

Dense models are least squares with l1 and chain rows; trend filters and total variation have H = identity. "higher" is
by how much the other objective is higher, relative to its size; "face" the time of the crossover to exact pieces.
"""

import time
from collections.abc import Callable
from typing import Any

import clarabel
import numpy as np
import scipy.sparse as sp

from common import show, show_setting
from spdpeg import penalties as pen
from spdpeg.quadratic import Model, minimize, to_face


def by_clarabel(model: Model) -> np.ndarray:
    """The minimiser by Clarabel with K w = p - q; p, q >= 0, for finite slopes and t = 0."""
    K, n, m = model.form.K, model.width, model.form.n_lines
    P = sp.csc_matrix(sp.triu(sp.block_diag([sp.csc_array(model.H), sp.csc_array((2 * m, 2 * m))])))
    cost = np.concatenate([-model.b, model.form.up, model.form.down])
    each = sp.eye_array(m)
    signs = sp.hstack([sp.csr_array((2 * m, n)), -sp.eye_array(2 * m)])
    A = sp.csc_matrix(sp.vstack([sp.hstack([K, -each, each]), signs]))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cones = [clarabel.ZeroConeT(m), clarabel.NonnegativeConeT(2 * m)]
    return np.array(clarabel.DefaultSolver(P, cost, A, np.zeros(3 * m), cones, settings).solve().x)[:n]


def fused(k: int) -> Model:
    """Least squares with l1 and chain rows."""
    rng = np.random.default_rng(k)
    A = rng.standard_normal((2 * k, k)) / np.sqrt(2 * k)
    b = A.T @ (A @ np.repeat(rng.standard_normal(k // 10 + 1), 10)[:k] + rng.standard_normal(2 * k))
    return Model(A.T @ A, b, pen.FusedL1(0.1, 0.2).conic_form(k))


def differences(n: int, order: int) -> Any:
    """The matrix of differences."""
    D = sp.eye_array(n, format="csr")
    for _ in range(order):
        D = D[1:] - D[:-1]
    return D


def trend(n: int, order: int, weight: float) -> Model:
    """A noisy zigzag."""
    y = np.abs(np.linspace(0.0, 4.0, n) % 2.0 - 1.0) + 0.1 * np.random.default_rng(n).standard_normal(n)
    return Model(sp.eye_array(n, format="csr"), y, pen.L1(weight).conic_form(n - order).after(differences(n, order)))


def total_variation(side: int) -> Model:
    """A noisy rectangle."""
    picture = np.zeros((side, side))
    picture[side // 4 : side // 2, side // 3 : 2 * side // 3] = 1.0
    y = (picture + 0.3 * np.random.default_rng(side).standard_normal((side, side))).ravel()
    along, across = sp.kron(sp.eye_array(side), differences(side, 1)), sp.kron(differences(side, 1), sp.eye_array(side))
    F = sp.vstack([along, across])
    form = pen.L1(0.3).conic_form(F.shape[0]).after(F) + pen.L1(0.05).conic_form(side * side)
    return Model(sp.eye_array(side * side, format="csr"), y, form)


def best_of(run: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """The least seconds, and the result."""
    least = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        result = run()
        least = min(least, time.perf_counter() - start)
    return least, result


def main() -> None:
    """Print the table."""
    show_setting()
    models: dict[str, Model] = {f"dense, {k} variables": fused(k) for k in (20, 60, 100, 400, 1000)}
    for n in (10_000, 100_000):
        models |= {f"trend filter, order {k}, {n:,} points": trend(n, k, w) for k, w in ((1, 3.0), (2, 0.1 * n))}
    models |= {f"total variation, {side} x {side}": total_variation(side) for side in (64, 128)}
    minimize(fused(20))
    for order in (1, 2):
        minimize(trend(100, order, 1.0))
    to_face(fused(20), minimize(fused(20)))
    rows = []
    for name, model in models.items():
        repeats = 5 if model.width <= 100 else 1
        ours, found = best_of(lambda model=model: minimize(model), repeats)
        face, w = best_of(lambda model=model, found=found: to_face(model, found), repeats)
        theirs, other = best_of(lambda model=model: by_clarabel(model), repeats)
        higher = (model.value(other) - found.value) / abs(found.value)
        row = [name, found.iterations, f"{ours:.4f}", f"{face:.4f}", "no" if w is None else "yes"]
        rows.append(
            [*row, f"{theirs:.4f}", f"{theirs / ours:.1f}", f"{higher:.0e}", f"{found.gap / abs(found.value):.0e}"]
        )
    show(
        "Seconds beside Clarabel",
        ["model", "steps", "ours", "face", "exact", "Clarabel", "ratio", "higher", "own gap"],
        rows,
    )


if __name__ == "__main__":
    main()
