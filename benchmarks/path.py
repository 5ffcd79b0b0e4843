"""A path over two weights against as many fits from scratch, on a9a or other data (or data of its shape).

Run as `python benchmarks/path.py [points per weight] [data set]`. Both do the same work in turns, one lam1 after the
other, so that a change of the machine's speed meets both. Processor time is what counts; the wall clock is shown beside
it. The path is walked as `spdpeg.path` does, and every fit must be certified.
"""

import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import clone

from common import load
from spdpeg.errors import ChoiceWarning
from spdpeg.estimators import FusedLogisticRegression
from spdpeg.estimators.fitting import EPS, chosen, walk

TARGET = 5.0


class Account:
    """Seconds, passes and objectives of one way to fit the grid."""

    def __init__(self) -> None:
        self.processor = self.wall = 0.0
        self.passes = self.proved = 0
        self.objectives: list[float] = []

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count the time of a fit."""
        processor, wall = time.process_time(), time.perf_counter()
        yield
        self.processor += time.process_time() - processor
        self.wall += time.perf_counter() - wall

    def add(self, model: Any) -> None:
        """Count the outcome of a fit."""
        self.passes += model.n_iter_
        self.proved += model.certificate_.met is not None
        self.objectives.append(model.objective_)


def main() -> None:
    """Measure and print."""
    points = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    warnings.simplefilter("ignore", ChoiceWarning)  # at the largest weights all coefficients are 0
    data = load(sys.argv[2] if len(sys.argv) > 2 else "a9a")
    model = FusedLogisticRegression(random_state=0)
    grids = chosen(model, (data.X, data.y), None, None, points, points, EPS)
    clone(model).fit(data.X, data.y)
    list(walk(model, grids["lam1"][:2], grids["lam2"][:2], data.X, data.y))  # both have compiled now
    warm, cold = Account(), Account()
    steps = walk(model, **grids, X=data.X, y=data.y, details=False)
    for _ in range(points):
        places = []
        for _ in range(points):
            with warm.running():
                place, fitted = next(steps)
            warm.add(fitted)
            places.append(place)
        for i, j in places:
            fresh = clone(model).set_params(lam1=float(grids["lam1"][i]), lam2=float(grids["lam2"][j]))
            with cold.running():
                fresh.fit(data.X, data.y)
            cold.add(fresh)
    apart = np.max(np.abs(np.array(warm.objectives) / np.array(cold.objectives) - 1.0))
    print(f"{data.name} ({data.origin}), {points} x {points} fits of {model}")
    for name, account in (("path", warm), ("from scratch", cold)):
        print(
            f"{name:>12}: {account.processor:7.2f} s processor {account.wall:7.2f} s wall {account.passes:6d} passes "
            f"{account.proved:4d} proved"
        )
    ratio = cold.processor / warm.processor
    print(
        f"       ratio: {ratio:.2f} processor, {cold.wall / warm.wall:.2f} wall, {cold.passes / warm.passes:.2f} passes"
    )
    print(f"  objectives: differ by {apart:.1e} at most, tol is {model.tol:g}")
    print(f"      target: {TARGET:g} times faster {'met' if ratio >= TARGET else 'MISSED'}")


if __name__ == "__main__":
    main()
