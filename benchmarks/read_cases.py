"""Problems by class, with the reads of the data that a proof of six digits may take."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import spdpeg
from common import FLR, GGRLR, data_directory, load
from spdpeg import datasets, losses, operators, penalties

TEXT = "hitech", "k1b", "classic"
TALL = "splice", "svmguide3", "mushrooms", "a9a", "w8a", "ijcnn1", "20news_100word", "covtype.binary"
PARTS = 1.0, 0.1, 0.01
"""Of the paper's weights."""


class Case(NamedTuple):
    """A problem, and what is asked of the default on it."""

    name: str
    problem: Callable[[], spdpeg.Problem]
    reads: float
    seconds: float | None = None
    not_slower: float | None = None
    """How many times faster than an earlier version it must be, where one is measured beside it."""


_load = cache(load)


def _logistic(X: Any, y: np.ndarray, r1: Any, r2: Any = None, F: Any = None) -> spdpeg.Problem:
    return spdpeg.Problem(X, y, loss=losses.Logistic(), r1=r1, r2=r2, F=F)


def _flr(name: str, part: float) -> spdpeg.Problem:
    data = _load(name)
    r1, r2 = (penalties.L1(part * weight) for weight in FLR)
    return _logistic(data.X, data.y, r1, r2, operators.FirstDifference())


def text() -> Iterator[Case]:
    """FLR where there are many more columns than rows, at the paper's weights and below."""
    for name in TEXT:
        for part, reads in zip(PARTS, (7, 12, 20), strict=True):
            yield Case(f"text:{name} x {part:g}", partial(_flr, name, part), reads)


def tall() -> Iterator[Case]:
    """FLR where there are many more rows than columns."""
    quick = {"splice": 2e-3, "svmguide3": 2e-3}
    for name in TALL:
        for part, reads in zip(PARTS, (7, 8, 12), strict=True):
            yield Case(f"tall:{name} x {part:g}", partial(_flr, name, part), reads, quick.get(name), 1.0)


@cache
def _wide_data(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Correlated columns, as of genes, and a piecewise constant truth."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 12)) @ rng.standard_normal((12, d)) / 4.0 + rng.standard_normal((n, d))
    truth = np.zeros(d)
    for start in rng.integers(d - 20, size=6):
        truth[start : start + 20] = rng.standard_normal()
    return X, np.where(X @ truth + rng.standard_normal(n) > 0.0, 1.0, -1.0)


def wide() -> Iterator[Case]:
    """FLR on fewer than 100 dense rows with thousands of columns."""
    for n, d in ((62, 2000), (38, 7129), (90, 5000)):
        for part in PARTS:

            def problem(n: int = n, d: int = d, part: float = part) -> spdpeg.Problem:
                r1, r2 = (penalties.L1(part * weight) for weight in FLR)
                return _logistic(*_wide_data(n, d, n), r1, r2, operators.FirstDifference())

            yield Case(f"wide:{n} x {d} x {part:g}", problem, 18)


@cache
def _graph(name: str) -> Any:
    return datasets.graph(name, data_directory())[0]


def graph() -> Iterator[Case]:
    """The authors' graph with l1, on text."""
    for name in TEXT:
        for weight, reads in ((5e-4, 12), (5e-5, 16)):

            def problem(name: str = name, weight: float = weight) -> spdpeg.Problem:
                data = _load(name)
                return _logistic(data.X, data.y, penalties.L1(weight), penalties.L1(weight), _graph(name))

            yield Case(f"graph:{name} {weight:g}", problem, reads, not_slower=20.0)


def ridge() -> Iterator[Case]:
    """GGRLR: the authors' graph with ridge, on text."""
    for name in TEXT:

        def problem(name: str = name) -> spdpeg.Problem:
            data = _load(name)
            return _logistic(data.X, data.y, penalties.L2Squared(GGRLR[0]), penalties.L1(GGRLR[1]), _graph(name))

        yield Case(f"ridge:{name}", problem, 8)


@cache
def _design(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Dense rows, classes and responses of a smooth truth with two kinks."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    t = np.linspace(0.0, 1.0, d)
    score = X @ (np.abs(t - 0.3) + np.maximum(t - 0.7, 0.0)) / np.sqrt(d) * 3.0
    return X, np.where(score + rng.standard_normal(n) > 0.0, 1.0, -1.0), score + rng.standard_normal(n)


@cache
def _sparse_rows(m: int, d: int, seed: int) -> sp.csr_array:
    """Rows of one to six entries, any signs."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 7, size=m)
    columns = np.concatenate([rng.choice(d, size=k, replace=False) for k in lengths])
    pointers = np.concatenate([[0], np.cumsum(lengths)])
    return sp.csr_array((rng.standard_normal(columns.size), columns, pointers), shape=(m, d))


def any_f() -> Iterator[Case]:
    """Any F with at most 1000 coordinates, and smooth losses."""
    for order in (2, 3):

        def trend(order: int = order) -> spdpeg.Problem:
            X, y, _ = _design(20_000, 400, 0)
            return _logistic(X, y, penalties.L1(1e-4), penalties.L1(1e-2), operators.Difference(order))

        yield Case(f"any-f:trend {order}, logistic 20000 x 400", trend, 10)
    for d in (50, 200, 1000):
        n = max(2000, 5 * d)

        def problem(n: int, d: int, loss: Any, part: float) -> spdpeg.Problem:
            X, y, response = _design(n, d, d)
            F = _sparse_rows(2 * d, d, d)
            labels = y if loss.binary else response
            return spdpeg.Problem(X, labels, loss=loss, r1=penalties.L1(part), r2=penalties.L1(part), F=F)

        for loss in (losses.Logistic(), losses.Huber(), losses.Poisson()):
            if isinstance(loss, losses.Poisson):

                def counts(n: int = n, d: int = d) -> spdpeg.Problem:
                    X, _, response = _design(n, d, d)
                    F = _sparse_rows(2 * d, d, d)
                    y = np.round(np.exp(np.clip(response, -2.0, 2.0)))
                    r = penalties.L1(1e-3)
                    return spdpeg.Problem(X, y, loss=losses.Poisson(), r1=r, r2=r, F=F)

                yield Case(f"any-f:random rows, Poisson, {n} x {d}", counts, 10)
                continue
            for part in (1e-3, 1e-4):
                name = type(loss).__name__
                yield Case(f"any-f:random rows {part:g}, {name}, {n} x {d}", partial(problem, n, d, loss, part), 10)


@cache
def _dense(n: int, d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Independent columns and a truth of 20 of them."""
    rng = np.random.default_rng(n + d)
    X = rng.standard_normal((n, d))
    truth = np.zeros(d)
    truth[rng.choice(d, 20, replace=False)] = rng.standard_normal(20)
    response = X @ truth + rng.standard_normal(n)
    return X, np.where(response > 0.0, 1.0, -1.0), response


PLAIN_SETS = ("20news_100word", "a9a", "w8a", *TEXT, "500 x 20000", "20000 x 500")
PLAIN_PENALTIES = "l1", "elastic net", "group"


def plain_data(name: str, squared: bool) -> tuple[Any, np.ndarray]:
    """Rows with classes, or with responses for the squared loss."""
    if " x " in name:
        n, d = map(int, name.split(" x "))
        X, y, response = _dense(n, d)
        return X, response if squared else y
    data = _load(name)
    return data.X, data.y


def plain_weight(X: Any, y: np.ndarray, squared: bool, penalty: str) -> float:
    """The least weight at which the solution is 0."""
    slopes = np.abs(X.T @ (y if squared else 0.5 * y)) / y.size
    if penalty == "group":
        starts = np.arange(0, slopes.size, GROUP)
        sizes = np.sqrt(np.diff(np.append(starts, slopes.size)))
        return float(np.max(np.sqrt(np.add.reduceat(slopes**2, starts)) / sizes))
    return float(slopes.max()) / (SHARE if penalty == "elastic net" else 1.0)


GROUP = 5
"""Columns of a group."""
SHARE = 0.9
"""Of l1 in the elastic net."""


def plain_problem(name: str, squared: bool, penalty: str, part: float) -> spdpeg.Problem:
    """Logistic or squared loss without F, at a part of the largest weight worth trying."""
    X, y = plain_data(name, squared)
    weight = part * plain_weight(X, y, squared, penalty)
    if penalty == "l1":
        r1: Any = penalties.L1(weight)
    elif penalty == "elastic net":
        r1 = penalties.ElasticNet(SHARE * weight, (1.0 - SHARE) * weight)
    else:
        r1 = penalties.GroupL2(weight, [np.arange(i, min(i + GROUP, X.shape[1])) for i in range(0, X.shape[1], GROUP)])
    return spdpeg.Problem(X, y, loss=losses.Squared() if squared else losses.Logistic(), r1=r1)


def plain() -> Iterator[Case]:
    """r2 = 0."""
    for penalty in PLAIN_PENALTIES:
        for squared in (False, True):
            for name in PLAIN_SETS:
                for part in (0.1, 0.01):
                    loss = "squared" if squared else "logistic"
                    run = partial(plain_problem, name, squared, penalty, part)
                    yield Case(f"plain:{penalty}, {loss}, {name} x {part:g}", run, 15)


def squares() -> Iterator[Case]:
    """Squared loss with few coordinates."""
    for order in (0, 1, 2, 3):

        def trend(order: int = order) -> spdpeg.Problem:
            X, _, response = _design(20_000, 400, 0)
            F = operators.Difference(order + 1) if order else operators.FirstDifference()
            r1, r2 = penalties.L1(1e-4), penalties.L1(1e-2)
            return spdpeg.Problem(X, response, loss=losses.Squared(), r1=r1, r2=r2, F=F)

        yield Case(f"squares:trend {order + 1}, 20000 x 400", trend, 1)

    def large() -> spdpeg.Problem:
        X, _, response = _design(6000, 2500, 0)
        r1, r2 = penalties.L1(1e-3), penalties.L1(1e-2)
        return spdpeg.Problem(X, response, loss=losses.Squared(), r1=r1, r2=r2, F=operators.FirstDifference())

    yield Case("squares:chain, 6000 x 2500", large, 1)


@cache
def _huge() -> tuple[sp.csr_array, np.ndarray]:
    rng = np.random.default_rng(0)
    n, d, entries = 200, 10_000_000, 10_000
    columns = np.sort(rng.choice(d, entries, replace=False)).astype(np.int32)
    X = sp.coo_array((rng.standard_normal(entries), (rng.integers(n, size=entries), columns)), shape=(n, d)).tocsr()
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, np.where(np.asarray(X.sum(axis=1)).ravel() + rng.standard_normal(n) > 0.0, 1.0, -1.0)


def huge() -> Iterator[Case]:
    """Ten million columns of which 10,000 have an entry."""
    for weight in (1e-2, 1e-3):

        def l1(weight: float = weight) -> spdpeg.Problem:
            return _logistic(*_huge(), penalties.L1(weight))

        def fused(weight: float = weight) -> spdpeg.Problem:
            r1, r2 = penalties.L1(0.1 * weight), penalties.L1(weight)
            return _logistic(*_huge(), r1, r2, operators.FirstDifference())

        yield Case(f"huge:l1 {weight:g}", l1, 12, 3.0)
        yield Case(f"huge:fused {weight:g}", fused, 12, 3.0)


@cache
def _counts(name: str) -> tuple[sp.csr_array, np.ndarray]:
    data = datasets.load(name, data_directory(), unit_rows=False)
    return data.X, data.y


def counts() -> Iterator[Case]:
    """Counts of words as they are."""
    for name in TEXT:

        def problem(name: str = name) -> spdpeg.Problem:
            r1, r2 = (penalties.L1(weight) for weight in FLR)
            return _logistic(*_counts(name), r1, r2, operators.FirstDifference())

        yield Case(f"counts:{name}", problem, 25)


CLASSES: dict[str, Callable[[], Iterator[Case]]] = {
    "text": text,
    "wide": wide,
    "tall": tall,
    "graph": graph,
    "ridge": ridge,
    "any-f": any_f,
    "plain": plain,
    "squares": squares,
    "huge": huge,
    "counts": counts,
}


def cases(chosen: Iterable[str] = ()) -> Iterator[Case]:
    """Those whose names begin with one of these, or all."""
    for start in list(chosen) or list(CLASSES):
        for case in CLASSES[start.split(":")[0]]():
            if case.name.startswith(start):
                yield case
