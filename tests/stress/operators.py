"""F written out as a matrix, from an operator's parameters."""

from typing import Any

import numpy as np
import scipy.sparse as sp


def matrix_of(F: Any, d: int) -> np.ndarray:
    """The dense matrix of F for x of length d; None is the identity."""
    match type(F).__name__:
        case "NoneType" | "Identity":
            return np.eye(d)
        case "FirstDifference":
            return np.diff(np.eye(d), axis=0)
        case "Difference":
            return np.diff(np.eye(d), n=F.order, axis=0)
        case "GraphDifference":
            return _edges(F, d)
        case "GridDifference":
            return _grid(F, d)
        case "Matrix":
            return matrix_of(F.F, d)
        case "Stack":
            return np.vstack([matrix_of(part, d) for part in F.operators])
        case "Repeated":
            return _repeated(F, d)
    return np.asarray(F.toarray() if sp.issparse(F) else F, dtype=float)


def _edges(F: Any, d: int) -> np.ndarray:
    edges = np.asarray(F.edges, dtype=int).reshape(-1, 2)
    factors = np.ones(len(edges)) if F.weights is None else np.asarray(F.weights, dtype=float)
    out = np.zeros((len(edges), d))
    for row, (i, j), factor in zip(out, edges, factors, strict=True):
        row[i], row[j] = factor, -factor
    return out


def _grid(F: Any, d: int) -> np.ndarray:
    factors = np.ones(len(F.shape)) if F.weights is None else F.weights
    cells = np.eye(d).reshape(d, *F.shape)
    blocks = [factor * np.diff(cells, axis=axis + 1).reshape(d, -1).T for axis, factor in enumerate(factors)]
    return np.vstack(blocks)


def _repeated(F: Any, d: int) -> np.ndarray:
    width = d // F.copies
    part = matrix_of(F.operator, width - F.skip)
    out = np.zeros((F.copies * len(part), d))
    for k in range(F.copies):
        out[k * len(part) : (k + 1) * len(part), k * width : (k + 1) * width - F.skip] = part
    return out
