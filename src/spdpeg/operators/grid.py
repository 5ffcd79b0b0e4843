"""Differences between neighbours of a grid: total variation of images and volumes."""

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..kernels import jit
from ..kernels.jit import as_ints, as_reals
from ..parameters import shown
from .base import Operator, factors_of
from .difference import chain_squared_norm, difference_matrix


class GridDifference(Operator):
    """Forward differences along each axis of a grid, all those along the first axis first.

    x holds the grid in C order, as grid.reshape(-1) gives it; the differences along axis k are those of
    np.diff(grid, axis=k), in C order too. A stencil, no matrix; the norm is exact.

    Parameters
    ----------
    shape : sequence of int
        Length of each axis, any number of axes; their product is d.
    weights : sequence of float, optional
        A factor for each axis, such as one over the spacing; 1 by default.

    See Also
    --------
    FirstDifference : Along a line.
    GraphDifference : Along any edges.

    Examples
    --------
    >>> from spdpeg import operators
    >>> (operators.GridDifference((2, 3)) @ [0.0, 1.0, 2.0, 5.0, 5.0, 5.0]).tolist()
    [5.0, 4.0, 3.0, 1.0, 1.0, 0.0, 0.0]
    """

    def __init__(self, shape: Sequence[int], weights: Sequence[float] | None = None) -> None:
        self.shape = shape
        self.weights = weights

    @cached_property
    def _lengths(self) -> list[int]:
        try:
            lengths = np.asarray(self.shape)
        # What a foreign object's __array__ raises is up to it.
        except Exception:
            lengths = np.empty(0)
        if lengths.ndim != 1 or lengths.size == 0 or lengths.dtype.kind not in "iu" or np.any(lengths < 1):
            raise InputError(
                f"shape of GridDifference is {shown(self.shape)}. Give the length of each axis, "
                "a whole number from 1 on."
            )
        return [int(n) for n in lengths]

    @cached_property
    def _factors(self) -> np.ndarray:
        factors = factors_of(self, self.weights, len(self._lengths), "axes")
        return factors if factors.size else np.ones(len(self._lengths))

    @property
    def grid(self) -> tuple[int, ...]:
        return tuple(self._lengths)

    def _own_inputs(self) -> int | None:
        return math.prod(self._lengths)

    @property
    def n_outputs(self) -> int:
        return sum(self.n_inputs // n * (n - 1) for n in self._lengths)

    @property
    def squared_norm(self) -> float:
        return sum(float(w) ** 2 * chain_squared_norm(n) for w, n in zip(self._factors, self._lengths, strict=True))

    def pack(self) -> tuple[np.ndarray, np.ndarray]:
        # Neighbours along an axis are `stride` entries apart and in the same slab of n * stride entries.
        layout = []
        slab = self.n_inputs
        for n in self._lengths:
            layout += [slab, slab // n]
            slab //= n
        return as_reals(self._factors), as_ints(layout)

    def matrix(self) -> sp.csr_array:
        blocks = []
        for axis, (w, n) in enumerate(zip(self._factors, self._lengths, strict=True)):
            before, after = math.prod(self._lengths[:axis]), math.prod(self._lengths[axis + 1 :])
            along = sp.kron(difference_matrix(n), sp.eye_array(after))
            blocks.append(w * sp.kron(sp.eye_array(before), along))
        return sp.csr_array(sp.vstack(blocks))

    @jit.linear
    @staticmethod
    def kernel_forward(vector: np.ndarray, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        row = 0
        for axis in range(reals.size):
            slab, stride, weight = ints[2 * axis], ints[2 * axis + 1], reals[axis]
            rows = slab - stride
            for start in range(0, vector.size, slab):
                here, ahead = vector[start : start + rows], vector[start + stride : start + slab]
                differences = out[row : row + rows]
                for j in range(rows):
                    differences[j] = weight * (ahead[j] - here[j])
                row += rows

    @jit.linear
    @staticmethod
    def kernel_adjoint(vector: np.ndarray, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        out[:] = 0.0
        row = 0
        for axis in range(reals.size):
            slab, stride, weight = ints[2 * axis], ints[2 * axis + 1], reals[axis]
            rows = slab - stride
            for start in range(0, out.size, slab):
                here, ahead = out[start : start + rows], out[start + stride : start + slab]
                differences = vector[row : row + rows]
                for j in range(rows):
                    here[j] -= weight * differences[j]
                for j in range(rows):
                    ahead[j] += weight * differences[j]
                row += rows


def neighbours(mask: np.ndarray) -> np.ndarray:
    """Pairs of neighbouring places of a grid that are both inside the mask, those along the first axis first.

    Places are numbered in C order among those inside. For a mask of ones these are the rows of `GridDifference`, in the
    same order; the first place of a pair is the one from which the difference points ahead.
    """
    number = np.cumsum(mask).reshape(mask.shape) - 1
    pairs = []
    for axis in range(mask.ndim):
        here, ahead = np.delete(number, -1, axis=axis), np.delete(number, 0, axis=axis)
        inside = np.delete(mask, -1, axis=axis) & np.delete(mask, 0, axis=axis)
        pairs.append(np.column_stack([here[inside], ahead[inside]]))
    return np.concatenate(pairs)
