"""Differences along a chain: the fused lasso's F and, at higher orders, trend filtering's."""

import math
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..kernels import jit
from ..kernels.jit import as_reals
from ..parameters import as_number, shown, whole_number
from .base import Operator

_HIGHEST_ORDER = 30
"""The coefficients of higher orders exceed 1e8, and what they leave of a vector is rounding error."""


def checked_order(name: str, order: Any) -> int:
    """The order of differences along a line; refused unless it is a whole number of at least 1."""
    if as_number(order) == 0.0:
        raise InputError(
            f"{name} is {shown(order)}. Here 1 is for piecewise constant and 2 for piecewise linear curves; packages "
            "that count the degree of the polynomials call these 0 and 1. Add 1."
        )
    return whole_number(name, order, least=1)


def chain_squared_norm(d: int) -> float:
    """Largest eigenvalue of the Laplacian of a chain of d nodes, (2 cos(pi / 2d))^2."""
    return 0.0 if d == 1 else 4.0 * math.cos(math.pi / (2 * d)) ** 2


class FirstDifference(Operator):
    """(Fx)_j = x_{j+1} - x_j, a stencil that reads x once.

    The paper prints the opposite sign; no penalty of this package that is even, such as the l1 norm, sees the
    difference. The norm is exact: 2 cos(pi / 2d).

    See Also
    --------
    Difference : Higher orders.
    GraphDifference : Along the edges of a graph.

    Examples
    --------
    >>> from spdpeg import operators
    >>> (operators.FirstDifference().bind(4) @ [1.0, 1.0, 4.0, 2.0]).tolist()
    [0.0, 3.0, -2.0]
    """

    chain = True

    @property
    def line_order(self) -> int:
        return 1

    @property
    def n_outputs(self) -> int:
        return self.n_inputs - 1

    @property
    def squared_norm(self) -> float:
        return chain_squared_norm(self.n_inputs)

    def pack(self) -> tuple[np.ndarray, np.ndarray]:
        return jit.NO_REALS, jit.NONE

    def matrix(self) -> sp.csr_array:
        return difference_matrix(self.n_inputs)

    @jit.linear
    @staticmethod
    def kernel_forward(vector: np.ndarray, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        for j in range(out.size):
            out[j] = vector[j + 1] - vector[j]

    @jit.linear
    @staticmethod
    def kernel_adjoint(vector: np.ndarray, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        last = vector.size
        if last == 0:
            out[0] = 0.0
            return
        out[0] = -vector[0]
        for j in range(1, last):
            out[j] = vector[j - 1] - vector[j]
        out[last] = vector[last - 1]


class Difference(Operator):
    """Differences of differences, `order` times, as np.diff(x, order): trend filtering.

    The l1 norm of second differences favours piecewise linear x, that of third differences piecewise quadratic x. The
    norm is bounded by the product of those of `order` chains, one node shorter each time: exact for one row and tight
    within a few per cent for long chains.

    Parameters
    ----------
    order : int
        1 to 30, and at most d. Order 1 is `FirstDifference`.

    See Also
    --------
    FirstDifference : Order 1, the chain.
    GridDifference : Along the axes of an image.

    Examples
    --------
    >>> from spdpeg import operators
    >>> (operators.Difference(order=2).bind(5) @ [0.0, 1.0, 2.0, 2.0, 2.0]).tolist()
    [0.0, -1.0, 0.0]
    """

    def __init__(self, order: int = 2) -> None:
        self.order = order

    @property
    def line_order(self) -> int:
        return self.order

    def bind(self, n_inputs: int) -> Self:
        if not isinstance(self.order, int | np.integer) or not 1 <= self.order <= _HIGHEST_ORDER:
            raise InputError(
                f"order of Difference is {shown(self.order)}. Give a whole number from 1 to {_HIGHEST_ORDER}."
            )
        if self.order > whole_number("The number of coordinates", n_inputs, least=0):
            raise InputError(
                f"Differences of order {self.order} need at least {self.order} coordinates and x has {n_inputs}. "
                "Lower the order."
            )
        return super().bind(n_inputs)

    @property
    def n_outputs(self) -> int:
        return self.n_inputs - self.order

    @property
    def squared_norm(self) -> float:
        return math.prod(chain_squared_norm(self.n_inputs - k) for k in range(self.order))

    def pack(self) -> tuple[np.ndarray, np.ndarray]:
        k = self.order
        return as_reals([(-1.0) ** (k - i) * math.comb(k, i) for i in range(k + 1)]), jit.NONE

    def null_space(self, inputs: np.ndarray) -> sp.csc_array | None:
        # Polynomials of lower degree, if all inputs may be used.
        if inputs.size < self.n_inputs:
            return super().null_space(inputs)
        places = np.linspace(-1.0, 1.0, self.n_inputs)
        return sp.csc_array(np.polynomial.legendre.legvander(places, self.order - 1))

    def matrix(self) -> sp.csr_array:
        product = difference_matrix(self.n_inputs)
        for k in range(1, self.order):
            product = difference_matrix(self.n_inputs - k) @ product
        return product

    @jit.linear
    @staticmethod
    def kernel_forward(vector: np.ndarray, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        # One loop over the vector for each further coefficient vectorises; a loop over coefficients inside does not.
        for j in range(out.size):
            out[j] = reals[0] * vector[j] + reals[1] * vector[j + 1]
        for i in range(2, reals.size):
            for j in range(out.size):
                out[j] += reals[i] * vector[j + i]

    @jit.linear
    @staticmethod
    def kernel_adjoint(vector: np.ndarray, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        out[:] = 0.0
        for i in range(reals.size):
            for j in range(vector.size):
                out[j + i] += reals[i] * vector[j]


def difference_matrix(d: int) -> sp.csr_array:
    """First differences of d entries, written out."""
    columns = np.arange(2 * (d - 1)) // 2
    columns[1::2] += 1
    return sp.csr_array((np.tile([-1.0, 1.0], d - 1), columns, 2 * np.arange(d)), shape=(d - 1, d))
