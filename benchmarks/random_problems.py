"""Problems of middle size drawn at random, none of them chosen: reads and seconds until six digits are proved.

    python benchmarks/random_problems.py --first 1000 --problems 100

Rows are dense and tall, dense and wide, like text, one-hot, or correlated. Losses are the smooth ones but Gamma. r1 is
an l1 norm, a ridge, both or nothing; F a chain, second or third differences, a tree, a random graph, a grid, random
sparse rows, groups or nothing. Weights lie between 1/1000 and 1/2 of the largest gradient at 0.
"""

import argparse
import time
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import spdpeg
from common import Verdicts, show
from spdpeg import losses, operators, penalties

_TOL = 1e-6
_SECONDS = 40.0
_WORDS = 60


class Drawn(NamedTuple):
    """What describes a problem, and the problem."""

    words: str
    problem: spdpeg.Problem


def text(rng: np.random.Generator, n: int, d: int) -> sp.csr_array:
    """Rows of length 1 with words that are the rarer the later they come."""
    chances = 1.0 / np.arange(1, d + 1)
    words = rng.choice(d, n * _WORDS, p=chances / chances.sum())
    X = sp.csr_array((np.ones(n * _WORDS), (np.repeat(np.arange(n), _WORDS), words)), shape=(n, d))
    X.sum_duplicates()
    return sp.csr_array(sp.diags_array(1.0 / np.sqrt(X.power(2).sum(axis=1))) @ X)


def one_hot(rng: np.random.Generator, n: int) -> sp.csr_array:
    """Columns of 0 and 1 for the categories of some variables."""
    sizes = rng.integers(2, 40, rng.integers(5, 25))
    parts = [sp.csr_array((np.ones(n), (np.arange(n), rng.integers(0, k, n))), shape=(n, k)) for k in sizes]
    return sp.csr_array(sp.hstack(parts))


def rows(rng: np.random.Generator) -> tuple[str, Any]:
    """A kind of rows, and rows of that kind."""
    kind = str(rng.choice(["tall", "wide", "text", "one-hot", "correlated"]))
    if kind == "tall":
        return kind, rng.standard_normal((rng.integers(5_000, 40_000), rng.integers(50, 400)))
    if kind == "wide":
        return kind, rng.standard_normal((rng.integers(60, 300), rng.integers(1_000, 8_000)))
    if kind == "text":
        return kind, text(rng, int(rng.integers(800, 5_000)), int(rng.integers(3_000, 20_000)))
    if kind == "one-hot":
        return kind, one_hot(rng, int(rng.integers(3_000, 30_000)))
    n, d = rng.integers(1_000, 8_000), rng.integers(100, 1_500)
    return kind, rng.standard_normal((n, 10)) @ rng.standard_normal((10, d)) + 0.3 * rng.standard_normal((n, d))


def labels(rng: np.random.Generator, linear: np.ndarray) -> tuple[losses.Loss, np.ndarray, np.ndarray]:
    """A loss, labels for it, and minus its slopes at 0."""
    noise = rng.standard_normal(linear.size)
    signs = np.where(linear + noise > 0.0, 1.0, -1.0)
    kind = int(rng.integers(6))
    if kind == 0:
        return losses.Logistic(), signs, signs / 2.0
    if kind == 1:
        return losses.SquaredHinge(), signs, signs
    if kind == 2:
        return losses.SmoothedHinge(0.5), signs, signs
    if kind == 3:
        counts = rng.poisson(np.exp(0.5 * linear)).astype(float)
        return losses.Poisson(), counts, counts - 1.0
    if kind == 4:
        heavy = linear + 0.5 * rng.standard_t(2, linear.size)
        return losses.Huber(1.0), heavy, np.clip(heavy, -1.0, 1.0)
    return losses.Squared(), linear + 0.5 * noise, linear + 0.5 * noise


def structure(rng: np.random.Generator, d: int, weight: float) -> tuple[str, dict[str, Any]]:
    """A kind of F, and r2 with it."""
    kinds = ["chain", "trend", "tree", "graph", "grid", "sparse rows", "groups", "none"]
    kind = str(rng.choice(kinds, p=[0.2, 0.1, 0.15, 0.15, 0.1, 0.1, 0.1, 0.1]))
    F: operators.Operator
    if kind == "none":
        return kind, {}
    if kind == "groups":
        groups = [list(range(start, min(start + 7, d))) for start in range(0, d, 7)]
        return kind, {"r2": penalties.GroupL2(weight, groups), "F": operators.Identity()}
    if kind == "chain":
        F = operators.FirstDifference()
    elif kind == "trend":
        F = operators.Difference(int(rng.integers(2, 4)))
    elif kind == "tree":
        F = operators.GraphDifference([(int(rng.integers(0, j)), j) for j in range(1, d)])
    elif kind == "graph":
        ends = np.sort(rng.integers(0, d, (int(d * rng.uniform(0.3, 3.0)), 2)), axis=1)
        F = operators.GraphDifference(np.unique(ends[ends[:, 0] < ends[:, 1]], axis=0).tolist())
    elif kind == "grid":
        F = operators.GridDifference((d // 20, 20))
    else:
        sparse = sp.random_array((int(rng.integers(10, 800)), d), density=4.0 / d, rng=rng, format="csr")
        F = operators.Matrix(sparse)
    return kind, {"r2": penalties.L1(weight), "F": F}


def drawn(seed: int) -> Drawn:
    """The problem of a seed."""
    rng = np.random.default_rng(seed)
    kind, X = rows(rng)
    X = X[:, : 20 * (X.shape[1] // 20)]  # of which a grid can be made
    n, d = X.shape
    truth = np.repeat(rng.standard_normal(d // 20), 20) * (rng.random(d) < 0.7)
    linear = X @ truth
    linear -= linear.mean()  # both classes occur
    loss, y, slopes = labels(rng, linear / max(float(linear.std()), 1e-12))
    largest = float(np.abs(X.T @ slopes).max()) / n
    first, second = largest * 10.0 ** rng.uniform([-3.0, -3.0], [-0.5, -0.3])
    r1 = [penalties.L1(first), penalties.L2Squared(first), penalties.ElasticNet(first, first / 2.0), None]
    which = int(rng.choice(4, p=[0.5, 0.2, 0.15, 0.15]))
    named, r2 = structure(rng, d, second)
    intercept = bool(rng.random() < 0.4)
    beside = ("l1", "ridge", "l1 and ridge", "nothing")[which]
    words = f"{kind} {n} x {d}, {type(loss).__name__}, {beside} {first / largest:.0e}, {named} {second / largest:.0e}"
    return Drawn(words, spdpeg.Problem(X, y, loss=loss, r1=r1[which], intercept=intercept, **r2))


def main() -> None:
    """Solve them one after the other; each a second time, so that nothing is compiled on the clock."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=1000, help="seed of the first problem (default: 1000)")
    parser.add_argument("--problems", type=int, default=100, help="how many (default: 100)")
    parser.add_argument("--slowest", type=int, default=15, help="how many to list (default: 15)")
    options = parser.parse_args()
    reads, seconds, proved, table = [], [], [], []
    for seed in range(options.first, options.first + options.problems):
        words, problem = drawn(seed)
        spdpeg.solve(problem, tol=_TOL, max_seconds=_SECONDS)
        problem = drawn(seed).problem
        begun = time.process_time()
        result = spdpeg.solve(problem, tol=_TOL, max_seconds=_SECONDS)
        seconds.append(time.process_time() - begun)
        reads.append(result.passes)
        # A relative gap; where the optimum is 0, a gap of 1e-12 of the objective at x = 0.
        proved.append(result.certificate is not None and result.certificate.met in ("relative gap", "gap"))
        ran = ", ".join(stage.method for stage in result.stages)
        table.append([seed, words, ran, f"{reads[-1]:.3g}", f"{seconds[-1]:.2f}", "yes" if proved[-1] else "no"])
    slowest = np.argsort(seconds)[::-1][: options.slowest]
    header = ["seed", "problem", "methods", "reads", "seconds", "proved"]
    show(f"the slowest of {options.problems}", header, [table[k] for k in slowest])
    verdicts = Verdicts()
    verdicts.at_least("fraction of the problems proved to 1e-6", 1.0, float(np.mean(proved)))
    verdicts.at_most("reads, median", 10.0, float(np.median(reads)))
    verdicts.at_most("reads, nine of ten", 20.0, float(np.quantile(reads, 0.9)))
    verdicts.at_most("processor seconds, nine of ten", 3.0, float(np.quantile(seconds, 0.9)))
    verdicts.show()


if __name__ == "__main__":
    main()
