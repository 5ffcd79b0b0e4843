"""Generators: the same seed gives the same data."""

from typing import NamedTuple

import numpy as np

from ..errors import InputError
from ..parameters import as_number, one_of, shown, whole_number

TASKS = ("classification", "regression")

_MOST = 1 << 32
"""Numbers in the rows that are drawn: 32 GiB."""


class Sample(NamedTuple):
    """Rows, labels and the coefficients they were drawn from; unpacks as `X, y, truth`.

    See Also
    --------
    piecewise_constant : Returns it.

    Examples
    --------
    >>> from spdpeg import datasets
    >>> sample = datasets.piecewise_constant(5, 10)
    >>> sample.X.shape, sample.truth.size
    ((5, 10), 10)
    """

    X: np.ndarray
    y: np.ndarray
    truth: np.ndarray


def piecewise_constant(
    n_samples: int = 1000,
    n_features: int = 100,
    *,
    n_pieces: int = 8,
    task: str = "classification",
    noise: float = 1.0,
    seed: int = 0,
) -> Sample:
    """Rows and labels of a model whose coefficients are constant on `n_pieces` pieces of a chain, every other one 0.

    Rows are standard normal. For classification, labels are -1 or +1 with logistic odds: the margin <a, truth> divided
    by `noise` is their log-odds. For regression, y = <a, truth> + noise * standard normal.

    Parameters
    ----------
    n_samples, n_features, n_pieces : int
    task : {"classification", "regression"}
    noise : float
    seed : int

    Returns
    -------
    Sample
        X, y and truth.

    See Also
    --------
    clustered_graph : Coefficients on a graph.
    spdpeg.FusedLasso, spdpeg.FusedLogisticRegression : Models for such data.

    Examples
    --------
    >>> from spdpeg import datasets
    >>> X, y, truth = datasets.piecewise_constant(200, 30, n_pieces=5, seed=1)
    >>> X.shape, sorted(set(y.tolist())), int((truth[1:] != truth[:-1]).sum())
    ((200, 30), [-1.0, 1.0], 4)
    """
    n_samples, n_features, n_pieces = _counts(n_samples=n_samples, n_features=n_features, n_pieces=n_pieces)
    if n_pieces > n_features:
        raise InputError(
            f"n_pieces is {n_pieces} but there are {n_features} features. Ask for at most that many pieces."
        )
    rng = _generator(seed)
    cuts = np.sort(rng.choice(np.arange(1, n_features), n_pieces - 1, replace=False))
    lengths = np.diff(cuts, prepend=0, append=n_features)
    truth = np.repeat(_levels(rng, n_pieces), lengths)
    return _draw(rng, n_samples, truth, task, noise)


def clustered_graph(
    n_samples: int = 1000,
    n_features: int = 100,
    *,
    n_clusters: int = 8,
    task: str = "classification",
    noise: float = 1.0,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Coefficients that are equal within clusters of features, and the graph that says which features belong together.

    Features are assigned to clusters at random; each cluster is joined by two random trees, so no edge leaves a
    cluster. Rows and labels as in `piecewise_constant`; every other cluster has coefficient zero.

    Parameters
    ----------
    n_samples, n_features, n_clusters : int
    task : {"classification", "regression"}
    noise : float
    seed : int

    Returns
    -------
    X, y, truth : array
    edges : array of shape (m, 2)
        Pairs of feature numbers.

    See Also
    --------
    piecewise_constant : Coefficients along a chain.
    spdpeg.GraphGuidedRegressor : A model for such data.

    Examples
    --------
    >>> from spdpeg import datasets
    >>> X, y, truth, edges = datasets.clustered_graph(50, 20, n_clusters=4)
    >>> X.shape, bool((truth[edges[:, 0]] == truth[edges[:, 1]]).all())
    ((50, 20), True)
    """
    n_samples, n_features, n_clusters = _counts(n_samples=n_samples, n_features=n_features, n_clusters=n_clusters)
    if n_clusters > n_features:
        raise InputError(f"n_clusters is {n_clusters} but there are {n_features} features. Ask for at most that many.")
    rng = _generator(seed)
    shuffled = rng.permutation(n_features)
    levels = _levels(rng, n_clusters)
    truth = np.empty(n_features)
    edges: set[tuple[int, int]] = set()
    for level, members in zip(levels, np.array_split(shuffled, n_clusters), strict=True):
        truth[members] = level
        for k in range(1, members.size):
            for other in (members[rng.integers(k)], members[rng.integers(k)]):
                edges.add((int(min(members[k], other)), int(max(members[k], other))))
    pairs = np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)
    return *_draw(rng, n_samples, truth, task, noise), pairs


def _generator(seed: int) -> np.random.Generator:
    return np.random.default_rng(whole_number("seed", seed, least=0))


def _levels(rng: np.random.Generator, count: int) -> np.ndarray:
    """Zero and plus or minus [0.5, 1.5] in turn."""
    sizes: np.ndarray = rng.uniform(0.5, 1.5, count) * rng.choice([-1.0, 1.0], count)
    sizes[::2] = 0.0
    return sizes


def _draw(rng: np.random.Generator, n_samples: int, truth: np.ndarray, task: str, noise: float) -> Sample:
    one_of("task", task, TASKS)
    if not 0.0 < as_number(noise) < np.inf:
        raise InputError(f"noise is {shown(noise)}. It must be a positive number.")
    X = rng.standard_normal((n_samples, truth.size))
    margins = X @ truth
    if task == "regression":
        return Sample(X, margins + noise * rng.standard_normal(n_samples), truth)
    return Sample(X, np.where(margins + noise * rng.logistic(size=n_samples) > 0, 1.0, -1.0), truth)


def _counts(**counts: int) -> list[int]:
    """Whole numbers of rows, of columns, and of what these are made of."""
    rows, columns, parts = (whole_number(name, count, least=1) for name, count in counts.items())
    if rows * columns > _MOST:
        raise InputError(f"{rows} rows of {columns} numbers do not fit into memory. Ask for at most {_MOST} numbers.")
    return [rows, columns, parts]
