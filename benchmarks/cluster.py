"""Rows on a dask cluster of two workers: rounds beside the reads of a local solve, what scheduling costs, and dask-ml.

    python benchmarks/cluster.py             # a minute or two
    python benchmarks/cluster.py --rows 200000

dask-ml and dask-glm are used where they are installed. What they read is counted in the one place where they touch a
chunk: loss and gradient at one point count as one read.
"""

import argparse
import time
from itertools import product
from typing import Any

import dask
import dask.array as da
import distributed
import numpy as np

import spdpeg
from common import Verdicts, show
from spdpeg import losses, operators, penalties

_ITERATIONS = (5, 10, 20, 40)
"""Of dask-ml's ADMM, each from its start."""

_RHOS = (1.0, 100.0, 1000.0, 3000.0)
"""Its default, at which the first iterates are 0 here, and others; the best of them is what is compared."""


def made(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a model with two pieces, and noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, columns))
    truth = np.repeat([0.5, -0.25], columns // 2)
    return X, X @ truth + rng.logistic(size=rows) > 0.0


def scheduling(client: Any, rows: int, verdicts: Verdicts) -> None:
    """Rounds, and processor seconds of client and scheduler in each, at some numbers of partitions."""
    X, y = made(rows, 20)
    terms = {"r1": penalties.L1(0.005), "r2": penalties.L1(0.01), "F": operators.FirstDifference(), "intercept": True}
    local = spdpeg.solve(spdpeg.Problem(X, y, loss=losses.Logistic(), **terms), tol=1e-14)
    reads = spdpeg.solve(spdpeg.Problem(X, y, loss=losses.Logistic(), **terms), tol=1e-6).passes
    table = []
    for count in (16, 100):
        chunk = -(-rows // count)
        seconds = []
        for _ in range(3):
            problem = spdpeg.Problem(
                da.from_array(X, chunks=(chunk, 20)), da.from_array(y, chunks=chunk), loss=losses.Logistic(), **terms
            )
            begun = time.process_time()
            spdpeg.solve(problem, tol=1e-6)
            rounds = problem.view.sums.rounds
            seconds.append((time.process_time() - begun) / rounds)
        apart = np.max(np.abs(spdpeg.solve(problem, tol=1e-14).x - local.x))
        table.append([count, rounds, f"{reads:.1f}", f"{min(seconds):.3f}", f"{apart:.1e}"])
        verdicts.at_most(f"{count} partitions: rounds / reads in memory", 1.1, rounds / reads)
        verdicts.at_most(f"{count} partitions: processor seconds a round", 0.15, min(seconds))
        verdicts.at_most(f"{count} partitions: apart from memory", 1e-10, float(apart))
    header = ["partitions", "rounds to 1e-6", "reads in memory", "processor seconds a round", "apart from memory"]
    show(f"{rows:,} x 20", header, table)


def beside_dask_ml(client: Any, rows: int, verdicts: Verdicts) -> None:
    """Reads of the data to a suboptimality, l1 logistic regression."""
    try:
        from dask_glm import families
        from dask_ml.linear_model import LogisticRegression
    except ImportError:
        print("dask-ml is not installed, so that nothing is compared with it.")
        return
    X, y = made(rows, 50)
    lam, chunk = 0.01 * rows, rows // 16
    problem = spdpeg.Problem(X, y, loss=losses.Logistic(), r1=penalties.L1(lam / rows))
    optimum = spdpeg.solve(problem, tol=1e-12).objective
    dX, dy = da.from_array(X, chunks=(chunk, 50)), da.from_array(y.astype(float), chunks=chunk)
    there = spdpeg.solve(spdpeg.Problem(dX, dy, loss=losses.Logistic(), r1=penalties.L1(lam / rows)), tol=1e-6)
    calls = 0
    honest = families.Logistic.pointwise_gradient

    def counted(beta: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        nonlocal calls
        calls += 1
        return honest(beta, X, y)

    families.Logistic.pointwise_gradient = staticmethod(counted)
    table: list[list[Any]] = []
    reached: dict[float, float] = {}
    with dask.config.set(scheduler="synchronous"):  # so that calls are counted here
        for rho, iterations in product(_RHOS, _ITERATIONS):
            calls = 0
            model = LogisticRegression(
                solver="admm",
                penalty="l1",
                C=1.0 / lam,
                max_iter=iterations,
                fit_intercept=False,
                # The same problem: columns as they are. It stops by the number of iterations alone.
                solver_kwargs={"abstol": 0.0, "reltol": 0.0, "rho": rho, "normalize": False},
            )
            model.fit(dX, dy)
            above = problem.objective(np.ravel(model.coef_)) / optimum - 1.0
            reads = calls / 16
            table.append([f"dask-ml, ADMM, rho = {rho:g}", iterations, f"{reads:.0f}", f"{above:.1e}"])
            for digits in (1e-4, 1e-6):
                if above <= digits:
                    reached[digits] = min(reads, reached.get(digits, reads))
    ours = there.objective / optimum - 1.0
    table.append(["spdpeg, proved", "", f"{there.passes:.1f}", f"{ours:.1e}"])
    show(f"{rows:,} x 50, l1, 16 partitions", ["method", "iterations", "reads", "above the optimum"], table)
    for digits, reads in reached.items():
        verdicts.at_least(f"reads of dask-ml to {digits:g}, best rho / of spdpeg to 1e-6", 5.0, reads / there.passes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    options = parser.parse_args()
    verdicts = Verdicts()
    workers = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    with workers, distributed.Client(workers) as client:
        scheduling(client, options.rows, verdicts)
        beside_dask_ml(client, options.rows, verdicts)
    verdicts.show()


if __name__ == "__main__":
    main()
