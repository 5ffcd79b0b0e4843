"""Sparse inverse covariance selection on the eight data sets of the paper: graph, duality gap, time and memory.

The five sets that are no text have the authors' weight 0.005, and scikit-learn's `graphical_lasso` beside, without the
constant columns; "theirs - ours" is the difference of the objectives. The text sets have the weight that is chosen from
the data so that no component is larger than 1,000 columns, and d x d is never held: each set is a process of its own,
whose peak is shown. Takes the data from SPDPEG_DATA_DIR.
"""

import json
import resource
import subprocess
import sys
import time
import warnings
from typing import Any

import numpy as np
from sklearn.covariance import empirical_covariance, graphical_lasso

from common import Verdicts, show, show_setting
from spdpeg import datasets, graphs

AUTHORS_WEIGHT = 0.005
SETS = {name: None if name in ("hitech", "k1b", "classic") else AUTHORS_WEIGHT for name in datasets.names()[:8]}


def objective(S: np.ndarray, T: np.ndarray, weight: float) -> float:
    """-log det T + <S, T> + weight times the sizes off the diagonal."""
    pairs = np.abs(T).sum() - np.abs(np.diag(T)).sum()
    return float(-np.linalg.slogdet(T)[1] + np.sum(S * T) + weight * pairs)


def theirs(X: np.ndarray, weight: float) -> float:
    """The objective that scikit-learn reaches; not a number where it gives up."""
    S = empirical_covariance(X[:, X.std(axis=0) > 0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return objective(S, graphical_lasso(S, alpha=weight, enet_tol=1e-6, max_iter=200)[1], weight)
        except FloatingPointError:
            return float("nan")


def measure(name: str) -> dict[str, Any]:
    """One data set, in this process."""
    X, weight = datasets.load(name).X, SETS[name]
    start = time.perf_counter()
    found = graphs.sics(X, weight)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {
        "columns": X.shape[1],
        "weight": found.weight,
        "edges": len(found.edges),
        "components": int(found.sizes.size),
        "largest": int(found.sizes.max(initial=1)),
        "gap per column": float(np.max(found.gaps / found.sizes)),
        "theirs - ours": float("nan") if weight is None else theirs(X.toarray(), weight) - found.objective,
        "seconds": seconds,
        "peak GiB": peak,
    }


def main() -> None:
    """All sets, one process each."""
    show_setting()
    verdicts, rows = Verdicts(), []
    for name in SETS:
        run = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True, check=True)
        figures = json.loads(run.stdout)
        rows.append((name, *figures.values()))
        verdicts.at_most(f"{name}: gap per column", 1e-6, figures["gap per column"])
        if name in ("splice", "a9a", "w8a"):
            verdicts.at_most(f"{name}: |theirs - ours|", 1e-4, abs(figures["theirs - ours"]))
    verdicts.at_most("classic: minutes", 5.0, figures["seconds"] / 60)
    verdicts.at_most("classic: GiB", 8.0, figures["peak GiB"])
    show("Sparse inverse covariance selection", ("set", *figures), rows)
    verdicts.show()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measure(sys.argv[1])))
    else:
        main()
