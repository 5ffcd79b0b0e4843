"""Values that belong nowhere: sparse matrices whose arrays do not fit together among them."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

import spdpeg
from spdpeg import losses, operators, penalties

N, D = 12, 4


@cache
def rows() -> np.ndarray:
    """Sound data."""
    return np.random.default_rng(0).standard_normal((N, D))


@cache
def labels() -> np.ndarray:
    """Two classes that go with them."""
    return np.where(rows()[:, 0] > 0, 1.0, -1.0)


def _broken(kind: str, where_: str) -> Any:
    """A sparse matrix whose arrays do not fit together."""
    matrix = getattr(sp, f"{kind}_array")(rows())
    if where_ == "index":
        matrix.indices = matrix.indices.copy()
        matrix.indices[3] = 10**6
    elif where_ == "negative":
        matrix.indices = matrix.indices.copy()
        matrix.indices[3] = -5
    else:
        matrix.indptr = matrix.indptr.copy()
        matrix.indptr[2] = 10**6
    return matrix


JUNK: tuple[Callable[[], Any], ...] = (
    lambda: None,
    lambda: "a",
    lambda: "",
    lambda: b"bytes",
    lambda: np.nan,
    lambda: np.inf,
    lambda: -np.inf,
    lambda: -1,
    lambda: 0,
    lambda: 1e308,
    lambda: 1e-320,
    lambda: 10**30,
    lambda: 1j,
    lambda: True,
    lambda: object(),
    lambda: object,
    list,
    dict,
    lambda: set(),
    lambda: (1, 2),
    lambda: [1, "a", None],
    lambda: [[1, 2], [3]],
    lambda: len,
    lambda: np.array([]),
    lambda: np.zeros((0, 3)),
    lambda: np.zeros((3, 0)),
    lambda: np.zeros((2, 2, 2)),
    lambda: np.full((N, D), np.nan),
    lambda: np.full(N, np.inf),
    lambda: np.full((N, D), 1e200),
    lambda: np.array(["a"] * N),
    lambda: np.array([None, "a"] * (N // 2), dtype=object),
    lambda: np.array([1, "a"] * (N // 2), dtype=object),
    lambda: np.zeros((N, D), dtype=complex),
    lambda: np.zeros((N, D), dtype="datetime64[s]"),
    lambda: np.array(3.0),
    lambda: np.ma.masked_invalid(rows()),
    lambda: np.arange(N),
    lambda: np.full(N, 2**60 + 1),
    lambda: np.zeros(N, dtype=bool),
    lambda: sp.csr_array((0, 0)),
    lambda: sp.coo_array(rows()),
    lambda: sp.csr_array(np.full((N, D), np.nan)),
    lambda: _broken("csr", "index"),
    lambda: _broken("csr", "negative"),
    lambda: _broken("csr", "indptr"),
    lambda: _broken("csc", "index"),
    lambda: _broken("csc", "indptr"),
    lambda: (row for row in rows()),
    lambda: iter([(rows(), labels()), (None, None)]),
    lambda: penalties.L1,
    lambda: penalties.L1(-1.0),
    lambda: penalties.L1([1.0, 2.0]),
    lambda: penalties.L1("a"),
    lambda: penalties.Box(1.0, -1.0),
    lambda: penalties.SeparableSum([1, 2], [1, 1]),
    lambda: losses.Huber(-1.0),
    lambda: losses.Logistic,
    lambda: operators.GraphDifference([(0, 99)]),
    lambda: operators.GridDifference((3, 5)),
    lambda: operators.Stack(),
    lambda: operators.Difference(99),
    lambda: spdpeg.State("spdpeg", {}, 0),
    lambda: "/nonexistent/directory/file",
    lambda: "/dev/null",
    lambda: "/",
)
