"""SAGA with Condat-Vu where stability in mean square is an eigenvalue: a search for steps at which it fails.

    python benchmarks/saga_stability.py --seconds 20

Squared loss without labels, r1 = 0, r2 a multiple of |z|^2 or the constraint z = 0. Then a step is a random matrix M_i
applied to (x, stored margins, y), second moments follow E[M_i (x) M_i], and the method is stable in mean square if and
only if no eigenvalue of that is larger than 1 in absolute value. Small problems are drawn and then bent toward larger
eigenvalues. 1/tau - sigma |F|^2 = q L_max; the default of vr-spdpeg takes q = 2. Eigenvalues of exactly 1 are
directions that neither rows nor F see.
"""

import argparse
import time
from typing import NamedTuple

import numpy as np

from common import Verdicts, show, show_setting

FACTORS = (0.75, 1.0, 1.25, 1.5, 2.0)
DEFAULT = 2.0


class Case(NamedTuple):
    """Rows, F, sigma |F|^2 / L_max, and 1 / w for r2 = |z|^2 / (2 w), or 0 for the constraint."""

    rows: np.ndarray
    F: np.ndarray
    coupling: float
    softness: float


def radius(case: Case, q: float) -> float:
    """The largest eigenvalue of the second moments, in absolute value."""
    rows, F, coupling, softness = case
    (n, d), m = rows.shape, F.shape[0]
    size = d + n + m
    L = float(np.max(np.sum(rows**2, axis=1)))
    square = float(np.linalg.norm(F, 2)) ** 2
    sigma = coupling * L / square
    tau = 1.0 / (q * L + sigma * square)
    moments = np.zeros((size * size, size * size))
    mean = np.concatenate([np.zeros((d, d)), rows.T / n, F.T], axis=1)
    here = np.eye(d, size)
    dual = np.eye(m, size, k=d + n)
    for i in range(n):
        gradient = mean.copy()
        gradient[:, :d] += np.outer(rows[i], rows[i])
        gradient[:, d + i] -= rows[i]
        step = np.eye(size)
        step[:d] = here - tau * gradient
        step[d + i] = 0.0
        step[d + i, :d] = rows[i]
        step[d + n :] = (dual + sigma * F @ (2.0 * step[:d] - here)) / (1.0 + sigma * softness)
        moments += np.kron(step, step) / n
    return float(np.max(np.abs(np.linalg.eigvals(moments))))


def drawn(rng: np.random.Generator) -> Case:
    """A problem of a few rows, columns and constraints."""
    n, d = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    rows = rng.standard_normal((n, d)) * rng.lognormal(0.0, 1.0, (n, 1))
    F = rng.standard_normal((int(rng.integers(1, d + 1)), d))
    return Case(rows, F, float(rng.lognormal(0.0, 2.0)), float(rng.choice([0.0, rng.lognormal(0.0, 2.0)])))


def bent(case: Case, rng: np.random.Generator) -> Case:
    """One close to it."""
    by = float(rng.choice([0.02, 0.2, 0.6]))
    noise = [rng.standard_normal(part.shape) for part in (case.rows, case.rows, case.F)]
    rows = case.rows * (1.0 + by * noise[0]) + 0.1 * by * noise[1]
    scales = np.exp(by * rng.standard_normal(2))
    return Case(rows, case.F + by * noise[2], float(case.coupling * scales[0]), float(case.softness * scales[1]))


def main() -> None:
    """Search at each step length for as long as told."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0, help="for each step length")
    seconds = parser.parse_args().seconds
    show_setting()
    verdicts, rows = Verdicts(), []
    for q in FACTORS:
        rng = np.random.default_rng(0)
        worst, tried = drawn(rng), 0
        largest, end = radius(worst, q), time.monotonic() + seconds
        while time.monotonic() < end:
            case = drawn(rng) if rng.random() < 0.3 else bent(worst, rng)
            found, tried = radius(case, q), tried + 1
            if found > largest:
                worst, largest = case, found
        rows.append([q, tried, largest])
        if q == DEFAULT:
            verdicts.at_most("largest eigenvalue at the default step", 1.0 + 1e-12, largest)
    show("Largest eigenvalue of the second moments found", ["q", "problems", "largest"], rows)
    verdicts.show()


if __name__ == "__main__":
    main()
