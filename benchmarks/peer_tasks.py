"""What is compared: the tasks, the data sets that each is run on, and the weights."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from common import FLR, GGRLR, data_directory
from peer_cases import CHAIN, GRAPH, GRID, LOGISTIC, NONE, SQUARED, TRENDS, Case
from peer_data import DESIGN, FLAT, IMAGE, LARGE, PIXELS, TALL, TEXT, WIDE, Data, load_data
from spdpeg import datasets, graphs, operators

GRAPH_L1 = 5e-4, 5e-4
TREND = {SQUARED: 1e-2, LOGISTIC: 1e-3}
TOTAL_VARIATION = 1e-2, 1e-2
IMAGE_VARIATION = 0.2
"""For the sum over pixels; the noise is as large."""
FRACTIONS = (0.1, 0.01)
"""Of the smallest weight at which x is 0."""
GROUP = 10
LENGTH, LAST = 20, 0.01
"""Weights of a path, and the smallest over the largest."""
SCALES = {"x 1": 1.0, "x 0.1": 0.1, "x 0.01": 0.01}


def _csr(F: operators.Operator, d: int) -> sp.csr_matrix:
    matrix = sp.csr_array(F.bind(d).matrix())
    short = (matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32))
    return sp.csr_matrix(short, shape=matrix.shape)


def _graph(data: Data) -> sp.csr_matrix:
    """The authors' matrix where they published one, otherwise edges of an estimated precision matrix."""
    known = data.real and data.name in datasets.names()
    return _csr(datasets.graph(data.name, data_directory()).F if known else graphs.sics(data.X).operator(), data.d)


def _scaled(
    task: str, data: Data, loss: str, F: sp.csr_matrix, structure: str, label: str = "", **weights: Any
) -> Iterator[Case]:
    """The case with its weights, a tenth and a hundredth of them."""
    y = data.y if loss == LOGISTIC else data.numbers
    for name, scale in SCALES.items():
        scaled = {term: scale * weight for term, weight in weights.items()}
        yield Case(task, data.name, f"{label}{name}", loss, data.X, y, F, structure, **scaled)


def _fused(data: Data) -> Iterator[Case]:
    F = _csr(operators.FirstDifference(), data.d)
    return _scaled("flr", data, LOGISTIC, F, CHAIN, l1=FLR[0], lam2=FLR[1])


def _graph_l1(data: Data) -> Iterator[Case]:
    return _scaled("graph-l1", data, LOGISTIC, _graph(data), GRAPH, l1=GRAPH_L1[0], lam2=GRAPH_L1[1])


def _graph_ridge(data: Data) -> Iterator[Case]:
    return _scaled("ggrlr", data, LOGISTIC, _graph(data), GRAPH, ridge=GGRLR[0], lam2=GGRLR[1])


def _trend(data: Data) -> Iterator[Case]:
    for structure, order in TRENDS.items():
        F = _csr(operators.Difference(order), data.d)
        for loss, lam2 in TREND.items():
            yield from _scaled("trend", data, loss, F, structure, f"{structure}, {loss}, ", lam2=lam2)


def _total_variation(data: Data) -> Iterator[Case]:
    side = round(np.sqrt(data.d))
    F = _csr(operators.GridDifference((side, side)), data.d)
    if data.name == IMAGE:
        yield from _scaled("tv", data, SQUARED, F, GRID, f"{SQUARED}, ", lam2=IMAGE_VARIATION / data.d)
    else:
        l1, lam2 = TOTAL_VARIATION
        for loss in (SQUARED, LOGISTIC):
            yield from _scaled("tv", data, loss, F, GRID, f"{loss}, ", l1=l1, lam2=lam2)


def _slopes(data: Data) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Loss, labels, and the sizes of its slopes at 0."""
    for loss, y, slope in ((LOGISTIC, data.y, 0.5), (SQUARED, data.numbers, 1.0)):
        yield loss, y, np.abs(data.X.T @ y) * slope / y.size


def _alone(data: Data) -> Iterator[Case]:
    """r2 = 0; columns beyond the last whole group are left out."""
    d = data.d // GROUP * GROUP
    X, F = data.X[:, :d], sp.csr_matrix((0, d))
    for loss, y, slopes in _slopes(data):
        grouped = np.linalg.norm(slopes[:d].reshape(-1, GROUP), axis=1).max()
        for fraction in FRACTIONS:
            lam, label = fraction * slopes[:d].max(), f"{loss}, {fraction:g}"
            yield Case("l1", data.name, label, loss, X, y, F, l1=lam)
            yield Case("elastic net", data.name, label, loss, X, y, F, l1=lam, ridge=lam)
            yield Case("group", data.name, label, loss, X, y, F, group=fraction * grouped, size=GROUP)


def _paths(data: Data) -> Iterator[Case]:
    scales = tuple(np.geomspace(1.0, LAST, LENGTH))
    chain, none = _csr(operators.FirstDifference(), data.d), sp.csr_matrix((0, data.d))
    for loss, y, slopes in _slopes(data):
        kinds = (("fused", chain, CHAIN, LAST), ("l1", none, NONE, 1.0))
        for kind, F, structure, part in kinds:
            lam = slopes.max()
            case = Case("path", data.name, f"{loss}, {kind}", loss, data.X, y, F, structure, l1=part * lam, lam2=lam)
            yield replace(case, scales=scales)


@dataclass(frozen=True)
class Task:
    """Cases on one data set, and the sets that it is run on unless others are named."""

    cases: Callable[[Data], Iterator[Case]]
    sets: tuple[str, ...]


TASKS = {
    "flr": Task(_fused, (*TALL, *TEXT, WIDE)),
    "graph-l1": Task(_graph_l1, ("20news_100word", "a9a", *TEXT)),
    "ggrlr": Task(_graph_ridge, ("splice", "svmguide3", "mushrooms", "a9a", "w8a", *TEXT)),
    "trend": Task(_trend, (DESIGN, LARGE)),
    "tv": Task(_total_variation, (PIXELS, IMAGE)),
    "alone": Task(_alone, ("20news_100word", "a9a", "w8a", *TEXT, FLAT)),
    "path": Task(_paths, ("a9a", "hitech", LARGE)),
}


def cases(tasks: Sequence[str], sets: Sequence[str] | None, weights: Sequence[str]) -> Iterator[Case]:
    """All cases of these tasks on these sets whose label contains one of `weights`."""
    for task in tasks:
        for name in TASKS[task].sets if sets is None else [s for s in sets if s in TASKS[task].sets]:
            for case in TASKS[task].cases(load_data(name)):
                if not weights or any(part in case.weights.split(", ") for part in weights):
                    yield case
