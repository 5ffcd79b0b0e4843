"""Choosing weights on a signal: 990 values like a copy-number profile, X = identity, no download.

Run as `python benchmarks/signal_weights.py`. Processor seconds of cross-validation and of a path, beside as many single
fits; what is compared takes turns, and everything has run once before the clock starts.
"""

import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import KFold

from spdpeg import FusedLasso, FusedLassoCV, denoise, path

ROUNDS = 5
SIZE = 990


def profile() -> np.ndarray:
    """Levels with noise."""
    rng = np.random.default_rng(0)
    return np.repeat(rng.normal(0.0, 1.0, 15), SIZE // 15) + 0.3 * rng.standard_normal(SIZE)


def seconds(job: Callable[[], Any]) -> float:
    """Processor seconds of one call."""
    before = time.process_time()
    job()
    return time.process_time() - before


def main() -> None:
    """Measure and print."""
    y, X = profile(), sp.eye_array(SIZE, format="csr")
    folds, model = KFold(5, shuffle=True, random_state=0), FusedLasso(fit_intercept=False)
    lam2 = np.geomspace(1e-2, 1e-5, 40)
    grid = path(model, X, y, n_lam1=6, n_lam2=6)

    def fits() -> None:
        for lam1 in grid.lam1:
            for weight in grid.lam2:
                clone(model).set_params(lam1=lam1, lam2=weight).fit(X, y)

    jobs = {
        "FusedLassoCV, 5 folds, lam1 = 0, 40 lam2": lambda: FusedLassoCV(
            lam1=[0.0], lam2=lam2, cv=folds, fit_intercept=False
        ).fit(X, y),
        "FusedLassoCV, 5 folds, its own 10 x 10 weights, intercept": lambda: FusedLassoCV(cv=folds).fit(X, y),
        "denoise, lam2='cv', 5 folds, 60 weights": lambda: denoise(y, "cv"),
        "path, 6 x 6 weights": lambda: path(model, X, y, n_lam1=6, n_lam2=6),
        "the same, 36 single fits": fits,
    }
    for job in jobs.values():
        job()
    found = [{name: seconds(job) for name, job in jobs.items()} for _ in range(ROUNDS)]
    for name in jobs:
        print(f"{statistics.median(one[name] for one in found):8.4f} s  {name}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
