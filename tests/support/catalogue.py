"""Every term and every kind of data the package has, small, by name: what contract tests run over."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from spdpeg import data, losses, operators, penalties
from support.instances import Instance

N, D = 53, 12
GRID = (3, 4)
EDGES = [(0, 1), (0, 5), (1, 4), (2, 3), (2, 9), (3, 7), (5, 8), (6, 10), (7, 11)]
EDGE_WEIGHTS = [1.0, 0.5, 2.0, 1.0, 0.25, 1.5, 1.0, 1.0, 0.75]

LOSSES: dict[str, Callable[[], Any]] = {
    "Logistic": losses.Logistic,
    "Squared": losses.Squared,
    "Huber": lambda: losses.Huber(0.5),
    "SquaredHinge": losses.SquaredHinge,
    "SmoothedHinge": lambda: losses.SmoothedHinge(0.4),
}

WEIGHTS = np.where(np.arange(64) % 5 == 0, 0.0, 0.002 * (1 + np.arange(64) % 3))

PENALTIES: dict[str, Callable[[int], Any]] = {
    "None": lambda size: None,
    "Zero": lambda size: penalties.Zero(),
    "L1": lambda size: penalties.L1(0.01),
    "L1Weighted": lambda size: penalties.L1(WEIGHTS[:size]),
    "L2Squared": lambda size: penalties.L2Squared(0.05),
    "L2SquaredWeighted": lambda size: penalties.L2Squared(WEIGHTS[:size]),
    "Box": lambda size: penalties.Box(-0.1, np.linspace(0.02, 0.2, size)),
    "NonNegative": lambda size: penalties.NonNegative(),
    "L2Ball": lambda size: penalties.L2Ball(0.3),
    "L1Ball": lambda size: penalties.L1Ball(0.4),
    "Simplex": lambda size: penalties.Simplex(0.5),
    "ElasticNet": lambda size: penalties.ElasticNet(0.01, 0.05),
    "FusedL1": lambda size: penalties.FusedL1(0.01, 0.02),
    "GroupL2": lambda size: penalties.GroupL2(0.01, groups=_divisor(size)),
    "LInf": lambda size: penalties.LInf(0.02),
    "HuberL1": lambda size: penalties.HuberL1(0.01, delta=0.05),
    "Nuclear": lambda size: penalties.Nuclear(0.01, (size // _divisor(size), _divisor(size))),
    "Hinge": lambda size: penalties.Hinge(np.where(np.arange(size) % 2, 1.0, -1.0), weight=0.02),
    "Quantile": lambda size: penalties.Quantile(np.linspace(-0.1, 0.1, size), level=0.3, weight=0.02),
    "SeparableSum": lambda size: penalties.SeparableSum([penalties.L1(0.02), penalties.Box(-0.1, 0.1)], [5, size - 5]),
}


def _divisor(size: int) -> int:
    """The largest of 4, 3, 2 and 1 that divides `size`."""
    return next(n for n in (4, 3, 2, 1) if size % n == 0)


DOMAINS: dict[str, tuple[str, Callable[[], Any]]] = {
    "L1inBox": ("L1", lambda: penalties.Box(-0.1, 0.1)),
    "L2SquaredinL1Ball": ("L2Squared", lambda: penalties.L1Ball(0.4)),
    "L1inL2Ball": ("L1Weighted", lambda: penalties.L2Ball(0.2)),
    "L1inL1Ball": ("L1", lambda: penalties.L1Ball(0.3)),
    "ElasticNetinL2Ball": ("ElasticNet", lambda: penalties.L2Ball(0.2)),
    "GroupL2inL2Ball": ("GroupL2", lambda: penalties.L2Ball(0.2)),
    "NoneinSimplex": ("None", lambda: penalties.Simplex(0.5)),
}
"""r1 on a set."""


def _chain(order: int = 1) -> np.ndarray:
    return np.diff(np.eye(D), n=order, axis=0)


def _graph() -> np.ndarray:
    F = np.zeros((len(EDGES), D))
    for row, (i, j), weight in zip(F, EDGES, EDGE_WEIGHTS, strict=True):
        row[i], row[j] = weight, -weight
    return F


def _grid() -> np.ndarray:
    places = np.arange(D).reshape(GRID)
    pairs = [
        pair
        for axis in (0, 1)
        for pair in zip(np.delete(places, -1, axis).reshape(-1), np.delete(places, 0, axis).reshape(-1), strict=True)
    ]
    F = np.zeros((len(pairs), D))
    for row, (i, j) in zip(F, pairs, strict=True):
        row[i], row[j] = -1.0, 1.0
    return F


def _rectangle() -> np.ndarray:
    return np.asarray(np.random.default_rng(7).standard_normal((7, D)))


OPERATORS: dict[str, tuple[Callable[[], Any], Callable[[], np.ndarray]]] = {
    "None": (lambda: None, lambda: np.eye(D)),
    "Identity": (operators.Identity, lambda: np.eye(D)),
    "FirstDifference": (operators.FirstDifference, _chain),
    "Difference": (lambda: operators.Difference(3), lambda: _chain(3)),
    "GraphDifference": (lambda: operators.GraphDifference(EDGES, EDGE_WEIGHTS), _graph),
    "GridDifference": (lambda: operators.GridDifference(GRID), _grid),
    "Stack": (
        lambda: operators.Stack(operators.FirstDifference(), _rectangle()),
        lambda: np.vstack([_chain(), _rectangle()]),
    ),
    "Repeated": (
        lambda: operators.Repeated(operators.FirstDifference(), copies=3, skip=1),
        lambda: np.kron(np.eye(3), np.diff(np.eye(3, 4), axis=0)),
    ),
    "SparseMatrix": (lambda: sp.csc_array(_graph()), _graph),
    "DenseMatrix": (_rectangle, _rectangle),
}
"""F as users give it, and written out."""


def _csr(X: np.ndarray, kind: type, dtype: type = np.float64) -> sp.csr_array:
    csr = sp.csr_array(X.astype(dtype))
    return sp.csr_array((csr.data, csr.indices.astype(kind), csr.indptr.astype(kind)), shape=csr.shape)


def _read_only(X: np.ndarray) -> np.ndarray:
    frozen = X.copy()
    frozen.flags.writeable = False
    return frozen


def _mapped(array: np.ndarray, path: Path) -> Any:
    np.save(path, array)
    return np.load(path, mmap_mode="r")


def _mapped_csr(X: np.ndarray, folder: Path) -> data.CSR:
    csr = sp.csr_array(X)
    values, indices, indptr = (
        _mapped(getattr(csr, part), folder / f"{part}.npy") for part in ("data", "indices", "indptr")
    )
    return data.CSR(values, indices, indptr, X.shape[1])


SOURCES: dict[str, Callable[[np.ndarray, Path], Any]] = {
    "dense": lambda X, folder: X,
    "dense32": lambda X, folder: X.astype(np.float32),
    "fortran": lambda X, folder: np.asfortranarray(X),
    "readonly": lambda X, folder: _read_only(X),
    "integers": lambda X, folder: np.rint(4 * X).astype(np.int64),
    "csr32": lambda X, folder: _csr(X, np.int32),
    "csr64": lambda X, folder: _csr(X, np.int64),
    "csr_float32": lambda X, folder: _csr(X, np.int32, np.float32),
    "csc": lambda X, folder: sp.csc_matrix(X),
    "memmap": lambda X, folder: _mapped(X, folder / "X.npy"),
    "memmap_csr": _mapped_csr,
}
"""The same rows in the ways users hold them; a stream differs in more than X and is made by `stream_of`."""

CHUNK = 20


def stream_of(instance: Instance, sparse: bool = False) -> list[tuple[Any, ...]]:
    """The rows as a list of chunks, weights included."""
    X = sp.csr_array(instance.X) if sparse else instance.X
    cuts = [slice(start, start + CHUNK) for start in range(0, X.shape[0], CHUNK)]
    if instance.weights is None:
        return [(X[cut], instance.labels[cut]) for cut in cuts]
    return [(X[cut], instance.labels[cut], instance.scaled_weights[cut]) for cut in cuts]


def rows(n: int = N, d: int = D, seed: int = 0) -> np.ndarray:
    """Half-empty rows of quarters, exact in every number type; one row is empty, one column constant."""
    rng = np.random.default_rng(seed)
    X = np.rint(4 * rng.standard_normal((n, d))) / 4 * (rng.random((n, d)) < 0.5)
    X[n // 2] = 0.0
    X[:, d // 2] = 1.0
    return np.asarray(X)


def labels_for(loss: Any, X: np.ndarray, seed: int = 1) -> np.ndarray:
    """Labels that depend on the first columns of X, with noise."""
    rng = np.random.default_rng(seed)
    t = X[:, :3].sum(axis=1) + 0.5 * rng.standard_normal(X.shape[0])
    return np.where(t > 0, 1.0, -1.0) if loss.binary else np.asarray(t)


def instance(
    loss: str = "Logistic",
    r1: str = "L1",
    r2: str = "L1",
    operator: str = "FirstDifference",
    weighted: bool = False,
) -> Instance:
    """A small problem made of the named parts; `r1` may be a key of DOMAINS."""
    the_loss = LOSSES[loss]()
    X = rows()
    make_operator, make_matrix = OPERATORS[operator]
    matrix = make_matrix()
    penalty, make_domain = DOMAINS.get(r1, (r1, lambda: None))
    rng = np.random.default_rng(2)
    return Instance(
        X,
        labels_for(the_loss, X),
        the_loss,
        r1=PENALTIES[penalty](D),
        r2=PENALTIES[r2](matrix.shape[0]),
        operator=make_operator(),
        matrix=matrix,
        domain=make_domain(),
        weights=rng.integers(0, 4, N).astype(float) if weighted else None,
    )


def instance_for(solver: str, weighted: bool = False) -> Instance:
    """A small problem that the solver takes."""
    if solver in ("lp", "interior-point"):
        return instance(r1="L1", weighted=weighted).with_(loss=losses.Hinge())
    if solver == "one-read":
        return instance("Squared", "L1", weighted=weighted)
    if solver == "sparsa":
        return instance(r1="L1", weighted=weighted)
    return instance(r1="L2Squared", weighted=weighted)
