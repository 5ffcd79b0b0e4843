"""Random data: rows, labels, weights, and the ways they are stored."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from spdpeg import data

Generator = np.random.Generator

KINDS = (
    "normal",
    "uniform",
    "sparse",
    "one-hot",
    "duplicated columns",
    "zero columns",
    "collinear",
    "badly scaled columns",
    "tiny",
    "huge",
    "outlying row",
    "counts",
    "duplicated rows",
    "zero rows",
    "rank one",
    "identity",
    "increasing",
    "all zero",
)
_ODDS = (5, 2, 3, 2, 2, 2, 2, 3, 1, 1, 2, 2, 2, 1, 1, 1, 1, 0.2)

STORAGES = (
    "C",
    "F",
    "float32",
    "csr",
    "csc",
    "coo",
    "csr int64",
    "list",
    "integers",
    "view",
    "memmap",
    "matrix csr",
    "frame",
)


def sizes(rng: Generator) -> tuple[int, int]:
    """Rows and columns: tall, wide, tiny."""
    rows = [1, rng.integers(2, 6), rng.integers(6, 40), rng.integers(40, 151), rng.integers(151, 301)]
    columns = [1, rng.integers(2, 5), rng.integers(5, 16), rng.integers(16, 41), rng.integers(41, 301)]
    return int(rng.choice(rows, p=[0.04, 0.16, 0.4, 0.36, 0.04])), int(
        rng.choice(columns, p=[0.06, 0.24, 0.4, 0.26, 0.04])
    )


def rows(rng: Generator, n: int, d: int) -> tuple[np.ndarray, str]:
    """A design of one of the kinds."""
    kind = str(rng.choice(KINDS, p=np.array(_ODDS) / sum(_ODDS)))
    X = rng.standard_normal((n, d))
    match kind:
        case "uniform":
            X = rng.random((n, d))
        case "sparse":
            X *= rng.random((n, d)) < rng.choice([0.05, 0.2, 0.5])
        case "one-hot":
            X = np.eye(d)[rng.integers(d, size=n)]
        case "duplicated columns":
            X = X[:, rng.integers(max(1, d // 2), size=d)]
        case "zero columns":
            X[:, rng.random(d) < 0.4] = 0.0
        case "collinear":
            X = X[:, :1] + 10.0 ** rng.integers(-8, 0) * X
        case "badly scaled columns":
            X *= 10.0 ** rng.uniform(-6, 6, d)
        case "tiny":
            X *= 10.0 ** rng.uniform(-9, -3)
        case "huge":
            X *= 10.0 ** rng.uniform(3, 9)
        case "outlying row":
            X[rng.integers(n)] *= 10.0 ** rng.uniform(1, 5)
        case "counts":
            X = rng.poisson(1.0, (n, d)).astype(float)
        case "duplicated rows":
            X = X[rng.integers(max(1, n // 3), size=n)]
        case "zero rows":
            X[rng.random(n) < 0.3] = 0.0
        case "rank one":
            X = np.outer(X[:, 0], rng.standard_normal(d))
        case "identity":
            X = np.eye(n, d)
        case "increasing":
            X = np.cumsum(rng.random((n, d)), axis=1) / np.arange(1, d + 1)
        case "all zero":
            X = np.zeros((n, d))
    return X, kind


def stored(rng: Generator, X: np.ndarray, kinds: tuple[str, ...] = STORAGES) -> tuple[Any, np.ndarray, str]:
    """X in some form of storage, and the numbers that this form holds."""
    kind = str(rng.choice(kinds))
    given: Any = X
    match kind:
        case "C":
            given = np.ascontiguousarray(X)
        case "F":
            given = np.asfortranarray(X)
        case "float32":
            given = X.astype(np.float32)
            X = given.astype(float)
        case "csr" | "csc" | "coo":
            given = getattr(sp, f"{kind}_array")(X)
        case "csr int64":
            given = sp.csr_array(X)
            given.indices, given.indptr = given.indices.astype(np.int64), given.indptr.astype(np.int64)
        case "matrix csr":
            given = sp.csr_matrix(X)
        case "frame":
            given = pd.DataFrame(X)
        case "list":
            given = X.tolist()
        case "integers":
            given = np.round(X / max(float(np.max(np.abs(X))), 1e-300) * 9).astype(int)
            X = given.astype(float)
        case "view":
            wide = np.zeros((2 * X.shape[0], 2 * X.shape[1]))
            wide[::2, ::2] = X
            given = wide[::2, ::2]
        case "disk csr" | "disk dense":
            form = kind.split()[1]
            with tempfile.TemporaryDirectory() as directory:
                rows = sp.csr_array(X) if form == "csr" else X
                getattr(data, f"write_{form}")(directory, [(rows, np.zeros(len(X)))])
                given = getattr(data, f"open_{form}")(directory)[0]
        case "memmap":
            with tempfile.TemporaryDirectory() as directory:
                path = Path(directory, "X.npy")
                np.save(path, X)
                given = np.load(path, mmap_mode="r")  # the mapping outlives the name of its file
    return given, X, kind


def classes(rng: Generator, X: np.ndarray) -> tuple[Any, np.ndarray, str]:
    """Two classes: as the package is given them, as -1 and +1, and their kind."""
    n, d = X.shape
    kind = str(rng.choice(["noisy", "separable", "random", "rare", "one class"], p=[0.5, 0.2, 0.2, 0.09, 0.01]))
    with np.errstate(all="ignore"):
        scores = (X / np.where(np.abs(X).max(axis=0) > 0, np.abs(X).max(axis=0), 1.0)) @ rng.standard_normal(d)
    match kind:
        case "noisy":
            b = np.sign(scores + (np.std(scores) + 1e-3) * rng.standard_normal(n))
        case "separable":
            b = np.sign(scores - np.median(scores))
        case "random" | "one class":
            b = rng.choice([-1.0, 1.0], n)
        case _:
            b = -np.ones(n)
            b[rng.integers(n)] = 1.0
    b[b == 0] = 1.0
    if kind == "one class":
        b[:] = 1.0
    elif n > 1 and abs(b.sum()) == n:
        b[rng.integers(n)] *= -1.0
    negative, positive = [(-1, 1), (0, 1), (1, 2), (False, True), ("no", "yes"), (-1.0, 1.0)][rng.integers(6)]
    return np.where(b > 0, positive, negative), b, kind


def numbers(rng: Generator, X: np.ndarray) -> tuple[np.ndarray, str]:
    """Labels that are numbers, of any size."""
    n, d = X.shape
    kind = str(
        rng.choice(
            ["linear", "exact", "noise", "heavy tails", "constant", "zero", "offset"],
            p=[0.45, 0.1, 0.15, 0.1, 0.08, 0.02, 0.1],
        )
    )
    truth = rng.standard_normal(d) * (rng.random(d) < 0.5)
    signal = (X / np.where(np.abs(X).max(axis=0) > 0, np.abs(X).max(axis=0), 1.0)) @ truth
    match kind:
        case "linear":
            b = signal + 10.0 ** rng.uniform(-3, 0) * rng.standard_normal(n)
        case "exact":
            b = signal
        case "noise":
            b = rng.standard_normal(n)
        case "heavy tails":
            b = signal + rng.standard_t(1.2, n)
        case "constant":
            b = np.ones(n)
        case "zero":
            b = np.zeros(n)
        case _:
            b = 10.0 + signal + 0.1 * rng.standard_normal(n)
    size = 10.0 ** rng.uniform(-4, 8) if rng.random() < 0.4 else 1.0
    return b * size, kind if size == 1.0 else f"{kind}, scaled"


def counts(rng: Generator, X: np.ndarray, positive: bool) -> tuple[np.ndarray, str]:
    """Counts and rates of at least 0, or positive numbers, whose logarithm is about linear."""
    n, d = X.shape
    kind = str(rng.choice(["counts", "rates", "many zeros", "large", "constant"], p=[0.4, 0.25, 0.15, 0.15, 0.05]))
    signal = (X / np.where(np.abs(X).max(axis=0) > 0, np.abs(X).max(axis=0), 1.0)) @ rng.standard_normal(d)
    means = np.exp(np.clip(signal - np.mean(signal), -5.0, 5.0))
    match kind:
        case "counts":
            b = rng.poisson(means).astype(float)
        case "many zeros":
            b = rng.poisson(0.1 * means).astype(float)
        case "large":
            b = 10.0 ** rng.uniform(2, 6) * means * rng.gamma(2.0, 0.5, n)
        case "constant":
            b = np.full(n, 2.0)
        case _:
            b = means * rng.gamma(2.0, 0.5, n)
    return np.maximum(b, 1e-3) if positive else b, kind


def row_weights(rng: Generator, n: int) -> tuple[np.ndarray | None, str]:
    """Weights of the rows, or none."""
    kind = str(
        rng.choice(
            ["none", "mild", "zeros", "huge ratio", "repeats", "all tiny", "all huge"],
            p=[0.6, 0.1, 0.1, 0.08, 0.06, 0.03, 0.03],
        )
    )
    match kind:
        case "none":
            return None, kind
        case "mild":
            return rng.random(n) + 0.1, kind
        case "zeros":
            weights = rng.random(n) * (rng.random(n) < 0.7)
            weights[rng.integers(n)] = 1.0
            return weights, kind
        case "huge ratio":
            return 10.0 ** rng.uniform(-8, 8, n), kind
        case "repeats":
            return rng.integers(1, 4, n).astype(float), kind
        case "all tiny":
            return np.full(n, rng.choice([1e-200, 1e-320])), kind
    return np.full(n, rng.choice([1e200, 1e308])), kind
