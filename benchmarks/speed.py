"""What one compiled step costs: against a hand-fused loop, against NumPy, and against copying a vector.

The hand-fused loop is the yardstick for the price of generality: the same method written for this one case only
(CSR rows, logistic loss, l1 penalties, chain F, batches of one), with every term inlined and neighbouring loops merged.
It reads the same rows in the same order and does the same arithmetic, so the iterates agree to 1e-12, which is checked.
It holds no prefetch instructions; the package's kernel asks for the next rows ahead of time, the yardstick does not.
`solve` also draws the rows, which the other two are given.
"""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
import scipy.sparse as sp

import spdpeg
from common import (
    FLR,
    DataSet,
    Verdicts,
    fused_logistic,
    interleaved,
    load,
    new_state,
    seconds,
    show,
    show_setting,
    stepper,
)
from spdpeg.solvers import averaging, sampling
from spdpeg.solvers.steps import StepRule

A9A_STEPS = 200_000
TWIN_STEPS = 2_000
CLASSIC_STEPS = 1_000
COPIES = 3_000
REPEATS = 9


class Run(NamedTuple):
    """The rows, step sizes and averaging weights of the first iterations of a solve."""

    problem: spdpeg.Problem
    start: spdpeg.State
    X: sp.csr_array
    labels: np.ndarray
    order: np.ndarray
    steps: np.ndarray
    thetas: np.ndarray
    rho: float

    def first(self, steps: int) -> "Run":
        """The same run, cut short."""
        return self._replace(order=self.order[: 2 * steps], steps=self.steps[:steps], thetas=self.thetas[:steps])


def prepare(data: DataSet, steps: int) -> Run:
    """What `solve` would do with seed 0, written out."""
    problem = fused_logistic(data.X, data.y)
    start = new_state(problem)
    k = np.arange(steps, dtype=float)
    order = sampling.make("auto", data.y.size, 1, 0, on_disk=False).draw(0, 2 * steps)
    sizes, rho = StepRule.from_numbers(start.numbers)(k), start.numbers["rho"]
    return Run(problem, start, data.X, data.y, order, sizes, averaging.uniform(k), rho)


@numba.njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def fused_loop(  # type: ignore[no-untyped-def]
    values, columns, pointers, labels, order, steps, thetas, rho, lam1, lam2,
    x, y, x_average, z_average, y_average, x_bar, y_bar, ahead,
):  # fmt: skip
    """SPDPEG for logistic loss + lam1 |x|_1 + lam2 |Fx|_1 with F a chain, one row per batch."""
    d = x.size
    for k in range(steps.size):
        c, theta = steps[k], thetas[k]
        limit = c * lam1

        i = order[2 * k]
        margin = 0.0
        for p in range(pointers[i], pointers[i + 1]):
            margin += values[p] * x[columns[p]]
        slope = -labels[i] / (1.0 + np.exp(labels[i] * margin))
        for j in range(d - 1):
            y_bar[j] = min(max(y[j] + rho * (x[j + 1] - x[j]), -lam2), lam2)
        x_bar[0] = x[0] + c * y[0]
        for j in range(1, d - 1):
            x_bar[j] = x[j] - c * (y[j - 1] - y[j])
        x_bar[d - 1] = x[d - 1] - c * y[d - 2]
        for p in range(pointers[i], pointers[i + 1]):
            x_bar[columns[p]] -= c * slope * values[p]
        for j in range(d):
            x_bar[j] -= min(max(x_bar[j], -limit), limit)

        i = order[2 * k + 1]
        margin = 0.0
        for p in range(pointers[i], pointers[i + 1]):
            margin += values[p] * x_bar[columns[p]]
        slope = -labels[i] / (1.0 + np.exp(labels[i] * margin))
        ahead[0] = x[0] + c * y_bar[0]
        for j in range(1, d - 1):
            ahead[j] = x[j] - c * (y_bar[j - 1] - y_bar[j])
        ahead[d - 1] = x[d - 1] - c * y_bar[d - 2]
        for p in range(pointers[i], pointers[i + 1]):
            ahead[columns[p]] -= c * slope * values[p]

        for j in range(d - 1):
            difference = x[j + 1] - x[j]
            z_average[j] += theta * (difference + (y[j] - y_bar[j]) / rho - z_average[j])
            y_average[j] += theta * (y_bar[j] - y_average[j])
            y[j] = y_bar[j] + rho * (x_bar[j + 1] - x_bar[j] - difference)
        for j in range(d):
            x[j] = ahead[j] - min(max(ahead[j], -limit), limit)
            x_average[j] += theta * (x_bar[j] - x_average[j])


def fused(run: Run) -> tuple[np.ndarray, float]:
    """The yardstick: x and seconds."""
    d = run.X.shape[1]
    x, x_average, x_bar, ahead = (np.zeros(d) for _ in range(4))
    y, z_average, y_average, y_bar = (np.zeros(d - 1) for _ in range(4))
    spent = seconds(
        lambda: fused_loop(
            run.X.data, run.X.indices, run.X.indptr, run.labels, run.order, run.steps, run.thetas, run.rho, *FLR,
            x, y, x_average, z_average, y_average, x_bar, y_bar, ahead,
        )
    )  # fmt: skip
    return x_average, spent


def kernel(run: Run) -> tuple[np.ndarray, float]:
    """The package's step without the outer loop."""
    state = run.start.copy()
    step = stepper(run.problem, state)
    spent = seconds(lambda: step(run.order))
    return state.vectors["x_average"], spent


def solved(run: Run) -> tuple[np.ndarray, float]:
    """The package's public function; its seconds exclude the evaluation of the objective at the start and the end."""
    n, steps = run.labels.size, run.steps.size
    budget = {"max_passes": None, "max_iterations": steps, "record_every": 2 * steps / n + 1}
    with warnings.catch_warnings(action="ignore"):  # so few steps end far from the optimum
        result = spdpeg.solve(run.problem, "spdpeg", mode="tight", **budget)
    return result.x, result.seconds


def lean_twin(run: Run) -> tuple[np.ndarray, float]:
    """The same steps in plain NumPy: whole-vector operations, rows as slices of the CSR arrays."""
    x = np.zeros(run.X.shape[1])
    x_average = np.zeros_like(x)
    y = np.zeros(x.size - 1)
    z_average, y_average = np.zeros_like(y), np.zeros_like(y)

    def forward(point: np.ndarray, at: np.ndarray, dual: np.ndarray, i: int, c: float) -> np.ndarray:
        row = slice(run.X.indptr[i], run.X.indptr[i + 1])
        columns, values, label = run.X.indices[row], run.X.data[row], run.labels[i]
        slope = -label / (1.0 + np.exp(label * (values @ at[columns])))
        ahead = point.copy()
        ahead[:-1] += c * dual
        ahead[1:] -= c * dual
        ahead[columns] -= c * slope * values
        shrunk: np.ndarray = ahead - np.clip(ahead, -c * FLR[0], c * FLR[0])
        return shrunk

    def loop() -> None:
        nonlocal x, y, x_average, z_average, y_average
        for k in range(run.steps.size):
            c, theta = run.steps[k], run.thetas[k]
            Fx = x[1:] - x[:-1]
            y_bar = np.clip(y + run.rho * Fx, -FLR[1], FLR[1])
            x_bar = forward(x, x, y, run.order[2 * k], c)
            x = forward(x, x_bar, y_bar, run.order[2 * k + 1], c)
            z_average += theta * (Fx + (y - y_bar) / run.rho - z_average)
            y = y_bar + run.rho * (x_bar[1:] - x_bar[:-1] - Fx)
            y_average += theta * (y_bar - y_average)
            x_average += theta * (x_bar - x_average)

    spent = seconds(loop)
    return x_average, spent


def plain_twin(run: Run) -> tuple[np.ndarray, float]:
    """The same steps as the paper prints them, z and lambda kept, with SciPy products: what one would write first."""
    F = run.problem.F.matrix()
    x = np.zeros(run.X.shape[1])
    x_average, dual = np.zeros_like(x), np.zeros(F.shape[0])

    def soft(v: np.ndarray, limit: float) -> np.ndarray:
        shrunk: np.ndarray = np.sign(v) * np.maximum(np.abs(v) - limit, 0.0)
        return shrunk

    def gradient(at: np.ndarray, i: int) -> np.ndarray:
        row = run.X[[i]]
        slope = -run.labels[i] / (1.0 + np.exp(run.labels[i] * (row @ at)))
        result: np.ndarray = row.T @ slope
        return result

    def loop() -> None:
        nonlocal x, x_average, dual
        for k in range(run.steps.size):
            c, theta = run.steps[k], run.thetas[k]
            z = soft(F @ x - dual / run.rho, FLR[1] / run.rho)
            dual_bar = dual - run.rho * (F @ x - z)
            x_bar = soft(x - c * (gradient(x, run.order[2 * k]) - F.T @ dual), c * FLR[0])
            x = soft(x - c * (gradient(x_bar, run.order[2 * k + 1]) - F.T @ dual_bar), c * FLR[0])
            dual = dual - run.rho * (F @ x_bar - z)
            x_average = x_average + theta * (x_bar - x_average)

    spent = seconds(loop)
    return x_average, spent


def per_step(method: Callable[[Run], tuple[np.ndarray, float]], run: Run) -> Callable[[], float]:
    """Microseconds per step of one run."""
    return lambda: 1e6 * method(run)[1] / run.steps.size


def copy_seconds(d: int) -> Callable[[], float]:
    """Microseconds of one copy of a d-vector."""
    source, target = np.random.default_rng(0).standard_normal(d), np.empty(d)

    def copies() -> None:
        for _ in range(COPIES):
            np.copyto(target, source)

    return lambda: 1e6 * seconds(copies) / COPIES


def measure_a9a(data: DataSet, verdicts: Verdicts) -> None:
    """Kernel and solve against the hand-fused loop and the two NumPy twins."""
    run = prepare(data, A9A_STEPS)
    short = run.first(TWIN_STEPS)
    expected = fused(run)[0]
    apart: dict[str, Any] = {
        "kernel": np.abs(kernel(run)[0] - expected).max(),
        "solve": np.abs(solved(run)[0] - expected).max(),
        "NumPy twin": np.abs(plain_twin(short)[0] - fused(short)[0]).max(),
        "lean NumPy twin": np.abs(lean_twin(short)[0] - fused(short)[0]).max(),
    }
    times = interleaved(
        {
            "hand-fused loop": per_step(fused, run),
            "kernel": per_step(kernel, run),
            "solve": per_step(solved, run),
            "NumPy twin": per_step(plain_twin, short),
            "lean NumPy twin": per_step(lean_twin, short),
        },
        REPEATS,
    )
    show(
        f"a9a shape, {A9A_STEPS} steps ({TWIN_STEPS} for the twins), medians of {REPEATS} interleaved repeats",
        ("", "microseconds per step", "times the fused loop", "largest difference of x"),
        [(name, t, t / times["hand-fused loop"], float(apart.get(name, 0.0))) for name, t in times.items()],
    )
    verdicts.at_most("largest difference of x from the hand-fused loop", 1e-12, max(apart.values()))
    verdicts.at_most("kernel / hand-fused loop", 1.6, times["kernel"] / times["hand-fused loop"])
    verdicts.at_most("solve / hand-fused loop", 1.6, times["solve"] / times["hand-fused loop"])
    verdicts.at_least("NumPy twin / kernel", 100, times["NumPy twin"] / times["kernel"])
    verdicts.at_least("lean NumPy twin / kernel", 100, times["lean NumPy twin"] / times["kernel"])


def measure_classic(data: DataSet, verdicts: Verdicts) -> None:
    """Kernel against one copy of a vector as long as x."""
    run = prepare(data, CLASSIC_STEPS)
    kernel(run)
    fused(run)
    times = interleaved(
        {
            "copy of a d-vector": copy_seconds(data.X.shape[1]),
            "hand-fused loop": per_step(fused, run),
            "kernel": per_step(kernel, run),
        },
        REPEATS,
    )
    show(
        f"classic shape, {CLASSIC_STEPS} steps, medians of {REPEATS} interleaved repeats",
        ("", "microseconds", "times the copy"),
        [(name, t, t / times["copy of a d-vector"]) for name, t in times.items()],
    )
    verdicts.at_most("kernel step / copy of a d-vector", 25, times["kernel"] / times["copy of a d-vector"])


def main() -> None:
    """Measure both shapes."""
    a9a, classic = load("a9a"), load("classic")
    show_setting([a9a, classic])
    verdicts = Verdicts()
    measure_a9a(a9a, verdicts)
    measure_classic(classic, verdicts)
    verdicts.show()


if __name__ == "__main__":
    main()
