"""Solving (rho F^T F + diag(shift)) x = b inside a step: what an ADMM without linearization needs.

A chain gives a tridiagonal system, solved in O(d). A small or dense F is diagonalised once, which serves any scalar
shift in O(d^2). Everything else is left to conjugate gradients, which start from the previous x and, because the shift
is at least of the size of rho |F|^2, need few iterations.
"""

from typing import NamedTuple

import numpy as np

from ..kernels.jit import call_linear, inner
from ..kernels.terms import Terms
from ..operators import Operator

TRIDIAGONAL, EIGEN, GRADIENTS = 0, 1, 2

_SMALL = 200
"""Up to this d a diagonalisation is cheap to make, to keep and to apply."""

_ACCURACY = 1e-11
_MOST_ITERATIONS = 1000
"""Relative residual that conjugate gradients end at, and the most of their iterations."""


class Normal(NamedTuple):
    """A solver for systems with F^T F, prepared once."""

    kind: int
    diagonal: np.ndarray
    """The diagonal of F^T F."""
    vectors: np.ndarray
    """Eigenvectors of F^T F as columns, d x d; empty unless they are used."""
    values: np.ndarray
    scratch: np.ndarray
    """Three vectors of length d, one after the other."""
    image: np.ndarray
    """A vector of length l."""


def prepare(F: Operator, scalar_shift: bool) -> Normal:
    """Choose the way that suits F; a shift that differs between coordinates rules out the diagonalisation."""
    d = F.n_inputs
    none = np.empty((0, 0))
    scratch, image = np.empty(3 * d), np.empty(F.n_outputs)
    matrix = F.matrix()
    diagonal = np.asarray(matrix.multiply(matrix).sum(axis=0), dtype=float).reshape(-1)
    if F.chain:
        return Normal(TRIDIAGONAL, diagonal, none, np.empty(0), scratch, image)
    if scalar_shift and d <= _SMALL:
        dense = matrix.toarray()
        values, vectors = np.linalg.eigh(dense.T @ dense)
        return Normal(EIGEN, diagonal, np.ascontiguousarray(vectors), values, scratch, image)
    return Normal(GRADIENTS, diagonal, none, np.empty(0), scratch, image)


@inner
def solve_normal(normal: Normal, terms: Terms, rho: float, shift: np.ndarray, right: np.ndarray, x: np.ndarray) -> None:
    """x <- (rho F^T F + diag(shift))^{-1} right; conjugate gradients start from the x they find."""
    if normal.kind == TRIDIAGONAL:
        _tridiagonal(normal, rho, shift, right, x)
    elif normal.kind == EIGEN:
        _eigen(normal, rho, shift, right, x)
    else:
        _gradients(normal, terms, rho, shift, right, x)


@inner
def _tridiagonal(normal: Normal, rho: float, shift: np.ndarray, right: np.ndarray, x: np.ndarray) -> None:
    d = x.size
    ratio = normal.scratch
    pivot = rho * normal.diagonal[0] + shift[0]
    x[0] = right[0] / pivot
    for j in range(1, d):
        ratio[j] = -rho / pivot
        pivot = rho * normal.diagonal[j] + shift[j] + rho * ratio[j]
        x[j] = (right[j] + rho * x[j - 1]) / pivot
    for k in range(1, d):
        j = d - 1 - k
        x[j] -= ratio[j + 1] * x[j + 1]


@inner
def _eigen(normal: Normal, rho: float, shift: np.ndarray, right: np.ndarray, x: np.ndarray) -> None:
    d = x.size
    rotated = normal.scratch
    for i in range(d):
        rotated[i] = 0.0
    for j in range(d):
        for i in range(d):
            rotated[i] += right[j] * normal.vectors[j, i]
    for i in range(d):
        rotated[i] /= rho * normal.values[i] + shift[0]
    for j in range(d):
        total = 0.0
        for i in range(d):
            total += normal.vectors[j, i] * rotated[i]
        x[j] = total


@inner
def _gradients(normal: Normal, terms: Terms, rho: float, shift: np.ndarray, right: np.ndarray, x: np.ndarray) -> None:
    d = x.size
    residual, direction, product = normal.scratch[:d], normal.scratch[d : 2 * d], normal.scratch[2 * d :]
    _product(normal, terms, rho, shift, x, product)
    size = 0.0
    descent = 0.0
    for j in range(d):
        residual[j] = right[j] - product[j]
        direction[j] = residual[j] / (rho * normal.diagonal[j] + shift[j])
        descent += residual[j] * direction[j]
        size += right[j] * right[j] / (rho * normal.diagonal[j] + shift[j])
    for _ in range(_MOST_ITERATIONS):
        if descent <= _ACCURACY * _ACCURACY * size:
            return
        _product(normal, terms, rho, shift, direction, product)
        curvature = 0.0
        for j in range(d):
            curvature += direction[j] * product[j]
        step = descent / curvature
        for j in range(d):
            x[j] += step * direction[j]
        for j in range(d):
            residual[j] -= step * product[j]
        previous, descent = descent, 0.0
        for j in range(d):
            descent += residual[j] * residual[j] / (rho * normal.diagonal[j] + shift[j])
        turn = descent / previous
        for j in range(d):
            direction[j] = residual[j] / (rho * normal.diagonal[j] + shift[j]) + turn * direction[j]


@inner
def _product(normal: Normal, terms: Terms, rho: float, shift: np.ndarray, v: np.ndarray, out: np.ndarray) -> None:
    """out = (rho F^T F + diag(shift)) v."""
    call_linear(terms.forward, v, normal.image)
    call_linear(terms.adjoint, normal.image, out)
    for j in range(v.size):
        out[j] = rho * out[j] + shift[j] * v[j]
