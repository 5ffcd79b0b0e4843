"""Factorisations of dense matrices inside kernels: BLAS and LAPACK as SciPy brings them, called by address.

Numba's own linear algebra copies its inputs and raises where a matrix is not positive; here kernels work in place and
look at a flag. Matrices are in C order and their lower triangle is used; for Fortran that is the upper one.
"""

import ctypes
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from scipy.linalg import cython_blas, cython_lapack

from .jit import shared


class Routines(NamedTuple):
    """Addresses of the routines, and the letters that they are called with."""

    factor: int
    solve: int
    rank_update: int
    upper: np.ndarray
    plain: np.ndarray


def _address(module: Any, name: str) -> int:
    capsule = module.__pyx_capi__[name]
    ctypes.pythonapi.PyCapsule_GetName.restype = ctypes.c_char_p
    ctypes.pythonapi.PyCapsule_GetName.argtypes = [ctypes.py_object]
    ctypes.pythonapi.PyCapsule_GetPointer.restype = ctypes.c_void_p
    ctypes.pythonapi.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    title = ctypes.pythonapi.PyCapsule_GetName(capsule)
    return int(ctypes.pythonapi.PyCapsule_GetPointer(capsule, title))


ROUTINES = Routines(
    _address(cython_lapack, "dpotrf"),
    _address(cython_lapack, "dpotrs"),
    _address(cython_blas, "dsyrk"),
    np.frombuffer(bytearray(b"U"), dtype=np.uint8),
    np.frombuffer(bytearray(b"N"), dtype=np.uint8),
)
"""What kernels are given to call them: addresses differ from process to process, so that no kernel may hold them."""


@intrinsic
def _call(typing_context, address, arguments):  # type: ignore[no-untyped-def]
    """Call a routine of Fortran with pointers to arrays and numbers; returns what it leaves in the last argument."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointers = []
        for index, kind in enumerate(signature.args[1].types):
            value = builder.extract_value(args[1], index)
            if isinstance(kind, types.Array):
                data = context.make_array(kind)(context, builder, value).data
                pointers.append(builder.bitcast(data, ir.IntType(8).as_pointer()))
            else:
                passed = types.float64 if isinstance(kind, types.Float) else types.int32
                pointers.append(cgutils.alloca_once_value(builder, context.cast(builder, value, kind, passed)))
        function = ir.FunctionType(ir.VoidType(), [pointer.type for pointer in pointers])
        builder.call(builder.inttoptr(args[0], function.as_pointer()), pointers)
        return builder.load(pointers[-1])

    return types.int32(types.int64, arguments), generate


@shared
def cholesky(routines: Routines, matrix: np.ndarray) -> bool:
    """Overwrite the lower triangle by the factor; False where the matrix is not positive definite."""
    n = matrix.shape[0]
    return _call(routines.factor, (routines.upper, n, matrix, n, 0)) == 0


@shared
def cholesky_solve(routines: Routines, factor: np.ndarray, x: np.ndarray) -> None:
    """Overwrite x by the solution for the right-hand side x."""
    n = factor.shape[0]
    _call(routines.solve, (routines.upper, n, 1, factor, n, x, n, 0))


@shared
def add_gram(routines: Routines, rows: np.ndarray, matrix: np.ndarray) -> None:
    """Add rows^T rows to the lower triangle."""
    n = rows.shape[1]
    _call(routines.rank_update, (routines.upper, routines.plain, n, rows.shape[0], 1.0, rows, n, 1.0, matrix, n))
