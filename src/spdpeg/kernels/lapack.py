"""Factorisations of dense matrices inside kernels: BLAS and LAPACK as SciPy brings them, called by address.

Numba's own linear algebra copies its inputs and raises where a matrix is not positive; here kernels work in place and
look at a flag. Matrices are in C order and their lower triangle is used; for Fortran that is the upper one.
"""

import ctypes
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from scipy.linalg import cython_blas, cython_lapack

from .jit import shared


class Routines(NamedTuple):
    """Addresses of the routines, and the small arrays through which they take numbers."""

    factor: int
    solve: int
    rank_update: int
    upper: np.ndarray
    plain: np.ndarray
    numbers: np.ndarray
    factors: np.ndarray


def _address(module: Any, name: str) -> int:
    capsule = module.__pyx_capi__[name]
    ctypes.pythonapi.PyCapsule_GetName.restype = ctypes.c_char_p
    ctypes.pythonapi.PyCapsule_GetName.argtypes = [ctypes.py_object]
    ctypes.pythonapi.PyCapsule_GetPointer.restype = ctypes.c_void_p
    ctypes.pythonapi.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    title = ctypes.pythonapi.PyCapsule_GetName(capsule)
    return int(ctypes.pythonapi.PyCapsule_GetPointer(capsule, title))


@cache
def _addresses() -> tuple[int, int, int]:
    return _address(cython_lapack, "dpotrf"), _address(cython_lapack, "dpotrs"), _address(cython_blas, "dsyrk")


_UPPER, _PLAIN = (np.frombuffer(bytearray(letter), dtype=np.uint8) for letter in (b"U", b"N"))
"""Arguments that routines read and never write."""


def routines() -> Routines:
    """The arguments that a kernel calls them with; each run of a kernel has its own."""
    return Routines(*_addresses(), _UPPER, _PLAIN, np.zeros(4, dtype=np.int32), np.empty(2))


@intrinsic
def _call_pointers(typing_context, address, arrays):  # type: ignore[no-untyped-def]
    """Call a function that takes nothing but pointers, with those of the arrays."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointers = []
        for index, kind in enumerate(signature.args[1].types):
            array = context.make_array(kind)(context, builder, builder.extract_value(args[1], index))
            pointers.append(builder.bitcast(array.data, ir.IntType(8).as_pointer()))
        function = ir.FunctionType(ir.VoidType(), [pointer.type for pointer in pointers])
        builder.call(builder.inttoptr(args[0], function.as_pointer()), pointers)
        return context.get_dummy_value()

    return types.void(types.int64, arrays), generate


@shared
def cholesky(routines: Routines, matrix: np.ndarray) -> bool:
    """Overwrite the lower triangle by the factor; False where the matrix is not positive definite."""
    numbers = routines.numbers
    numbers[0] = matrix.shape[0]
    _call_pointers(routines.factor, (routines.upper, numbers[:1], matrix, numbers[:1], numbers[1:2]))
    return numbers[1] == 0


@shared
def cholesky_solve(routines: Routines, factor: np.ndarray, x: np.ndarray) -> None:
    """Overwrite x by the solution for the right-hand side x."""
    numbers = routines.numbers
    numbers[0], numbers[1] = factor.shape[0], 1
    size, one, flag = numbers[:1], numbers[1:2], numbers[2:3]
    _call_pointers(routines.solve, (routines.upper, size, one, factor, size, x, size, flag))


@shared
def add_gram(routines: Routines, rows: np.ndarray, matrix: np.ndarray) -> None:
    """Add rows^T rows to the lower triangle."""
    numbers, factors = routines.numbers, routines.factors
    numbers[0], numbers[1] = rows.shape[1], rows.shape[0]
    factors[0] = 1.0
    size, count, one = numbers[:1], numbers[1:2], factors[:1]
    _call_pointers(
        routines.rank_update,
        (routines.upper, routines.plain, size, count, one, rows, size, one, matrix, size),
    )
