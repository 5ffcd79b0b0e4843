"""Compiling, caching and calling compiled code: the only file but `lanes` that knows Numba's ways.

Two kinds of compiled function exist.

A *kernel* (`@kernel`) is a hot loop. It receives plain data only, so Numba's disk cache serves it in every process.

A *hook* (`@scalar`, `@chunk`, `@scalar_prox`, `@prox`, `@linear`) is the part of a term that a kernel calls: a loss
derivative, a prox, a product with F. Hooks have a fixed signature and reach a kernel as a `Term`: the address of the
compiled hook and the arrays of its parameters. An address is data, so a kernel is compiled once whatever the terms are,
a user's term costs only its own compilation, and a term may hold the addresses of other terms (a sum of blocks, a
Moreau conjugate).
"""

import hashlib
import time
import warnings
from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, typeof, types
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    InTreeCacheLocator,
    IPythonCacheLocator,
    UserProvidedCacheLocator,
    UserWideCacheLocator,
)
from numba.extending import intrinsic

from ..errors import CacheWarning

# Reassociation lets LLVM vectorise sums; NaN and infinity keep their meaning. Code that allocates nothing is compiled
# without Numba's reference counts (_nrt), whose atomic operations cost as much as a short row.
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "nsz"},
}

_VECTOR = types.float64[::1]
_REALS = types.Array(types.float64, 1, "C", readonly=True)
_INTS = types.Array(types.int64, 1, "C", readonly=True)
_SCALAR = types.float64(types.float64, types.float64, _REALS, _INTS)
_CHUNK = types.float64(_VECTOR, _REALS, _REALS, _REALS, _INTS, _VECTOR)
_SCALAR_PROX = types.float64(types.float64, types.float64, types.float64, _REALS, _INTS)
_PROX = types.void(_VECTOR, types.float64, _REALS, _INTS, _VECTOR)
_LINEAR = types.void(_VECTOR, _REALS, _INTS, _VECTOR)


CHUNK = 256
"""Rows that a hook for many of them gets at most at a time."""


class Term(NamedTuple):
    """A loss, a penalty or an operator as a kernel sees it."""

    address: int
    reals: np.ndarray
    ints: np.ndarray


# ---------------------------------------------------------------------------------------------- calls by address


def _call_address(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    address, *values = args
    result = context.get_value_type(signature.return_type)
    function = ir.FunctionType(result, [value.type for value in values])
    returned = builder.call(builder.inttoptr(address, function.as_pointer()), values)
    return context.get_dummy_value() if signature.return_type == types.void else returned


@intrinsic
def _scalar_at(typing_context, address, a, b, reals, ints):  # type: ignore[no-untyped-def]
    return _SCALAR.return_type(types.int64, *_SCALAR.args), _call_address


@intrinsic
def _chunk_at(typing_context, address, a, b, weights, reals, ints, out):  # type: ignore[no-untyped-def]
    return _CHUNK.return_type(types.int64, *_CHUNK.args), _call_address


@intrinsic
def _scalar_prox_at(typing_context, address, a, step, b, reals, ints):  # type: ignore[no-untyped-def]
    return _SCALAR_PROX.return_type(types.int64, *_SCALAR_PROX.args), _call_address


@intrinsic
def _prox_at(typing_context, address, point, step, reals, ints, out):  # type: ignore[no-untyped-def]
    return _PROX.return_type(types.int64, *_PROX.args), _call_address


@intrinsic
def _linear_at(typing_context, address, vector, reals, ints, out):  # type: ignore[no-untyped-def]
    return _LINEAR.return_type(types.int64, *_LINEAR.args), _call_address


@intrinsic
def prefetch(typing_context, array, index):  # type: ignore[no-untyped-def]
    """Ask the processor to bring array[index] near, without waiting for it."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        place = builder.bitcast(builder.gep(data, [args[1]]), ir.IntType(8).as_pointer())
        flag = ir.IntType(32)
        function = builder.module.declare_intrinsic(
            "llvm.prefetch", [place.type], ir.FunctionType(ir.VoidType(), [place.type, flag, flag, flag])
        )
        builder.call(function, [place, flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


inner = njit(**_OPTIONS, _nrt=False, forceinline=True)
"""Decorator of the small functions that kernels and hooks call; compiled into their caller, which LLVM would not always
do by itself: a call that hands over a record of arrays costs as much as a short row.

A function marked so must live in `kernels/`, in `schemes/` or in the folder of its caller: the cache watches those.
"""


shared = njit(**_OPTIONS, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""The same for longer functions: compiled once and called, which keeps large kernels quick to compile."""


allocating = njit(**_OPTIONS, no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""The same for functions that make arrays of their own: parts of a `Kernel` that allocates, outside its loops."""


strict = njit(nogil=True, error_model="numpy", fastmath={"contract"}, _nrt=False, forceinline=True)
"""The same for formulas whose roundings must happen in the order in which they are written."""


exact = njit(nogil=True, error_model="numpy", fastmath=False, _nrt=False, forceinline=True)
"""The same where each operation must be rounded by itself: for numbers that carry their rounding errors along."""


@inner
def call_scalar(term: Term, a: float, b: float) -> float:
    """term(a, b): a loss value, derivative or conjugate."""
    return _scalar_at(term.address, a, b, term.reals, term.ints)


@inner
def call_chunk(term: Term, a: np.ndarray, b: np.ndarray, weights: np.ndarray, out: np.ndarray) -> float:
    """Weighted sum of term(a_i, b_i); what `out` holds afterwards is up to the term."""
    return _chunk_at(term.address, a, b, weights, term.reals, term.ints, out)


@inner
def call_scalar_prox(term: Term, a: float, step: float, b: float) -> float:
    """argmin over t of step * phi(t, b) + (t - a)^2 / 2."""
    return _scalar_prox_at(term.address, a, step, b, term.reals, term.ints)


@inner
def call_prox(term: Term, point: np.ndarray, step: float, out: np.ndarray) -> None:
    """out = prox of step * r at `point`; `out` may be `point`."""
    _prox_at(term.address, point, step, term.reals, term.ints, out)


@inner
def call_linear(term: Term, vector: np.ndarray, out: np.ndarray) -> None:
    """out = F vector, or F^T vector for an adjoint term; `out` must not be `vector`."""
    _linear_at(term.address, vector, term.reals, term.ints, out)


# ------------------------------------------------------------------------------------------------------ the cache


_PACKAGE = Path(__file__).parents[1]


@cache
def _digest(folder: Path) -> str:
    """Digest of all sources in a folder of the package."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(folder.glob("*.py")))).hexdigest()


class _Fresh:
    """Source stamp of everything a function may call: its own folder of the package, kernels/, and schemes/ above them.

    Numba looks at the function's own file only and would keep serving old code after an edit of a callee.
    """

    def get_source_stamp(self) -> Any:
        folder = Path(getattr(self, "_py_file", "")).parent
        watched = {folder, _PACKAGE / "kernels"} if folder.parent == _PACKAGE else {_PACKAGE / "kernels"}
        if folder.name == "solvers":
            watched.add(_PACKAGE / "schemes")
        return super().get_source_stamp(), *map(_digest, sorted(watched))  # type: ignore[misc]


class _Provided(_Fresh, UserProvidedCacheLocator):
    pass


class _InTree(_Fresh, InTreeCacheLocator):
    pass


class _UserWide(_Fresh, UserWideCacheLocator):
    pass


class _Notebook(_Fresh, IPythonCacheLocator):
    pass


class _CacheFiles(CompileResultCacheImpl):
    _locator_classes = (_Provided, _InTree, _UserWide, _Notebook)


class _DiskCache(FunctionCache):
    """Numba's disk cache that never stands in the way: what cannot be read is compiled, what cannot be kept is lost."""

    _impl_class = _CacheFiles

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        # A damaged file raises whatever its bytes happen to spell; one of another version may name a class that moved.
        except Exception as error:
            try:
                self._cache_file.flush()  # the code that is compiled now takes its place
            except OSError:
                _warn_uncached(f"a file in {self.cache_path} cannot be read ({error})")
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _warn_uncached(f"{self.cache_path} cannot be written ({error})")


_warned = False


def _warn_uncached(reason: str) -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"Compiled code is not kept on disk: {reason}. Results are unaffected, but every process compiles again; "
            "set NUMBA_CACHE_DIR to a writable directory to avoid it.",
            CacheWarning,
            stacklevel=3,
        )


# --------------------------------------------------------------------------------------------- kernels and hooks

_spent = 0.0


def compile_seconds() -> float:
    """Seconds this process has spent compiling or loading compiled code so far."""
    return _spent


_dispatchers: dict[tuple[Any, ...], tuple[tuple[Any, ...], Any]] = {}
"""By what decides on the compiled code; with what was captured of it, so that nothing else takes its identity."""


def _identity(function: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The key of a function's compiled code: its own code, and the objects that its names refer to now."""
    code = function.__code__
    outside = [function.__globals__.get(name) for name in code.co_names]
    inside = [cell.cell_contents for cell in function.__closure__ or ()]
    captured = (*outside, *inside, *(function.__defaults__ or ()))
    if any(isinstance(constant, type(code)) for constant in code.co_consts):
        captured = (*captured, function)  # a function inside it has names of its own
    return (code, *map(id, captured)), captured


class Kernel:
    """A lazily compiled, disk-cached function; compiled once for each combination of argument types."""

    def __init__(self, function: Callable[..., Any], allocates: bool = False) -> None:
        self.py_func = getattr(function, "__func__", function)  # hooks are written as static methods of their term
        self.allocates = allocates
        self.__doc__ = function.__doc__

    @cached_property
    def dispatcher(self) -> Any:
        """Numba's object for the function; a function that was defined before, to the letter, shares that of then.

        Compiled code is never freed, so classes defined in a loop or in cells of a notebook would pile up.
        """
        key, captured = _identity(self.py_func)
        key = (*key, self.allocates)
        if key not in _dispatchers:
            _dispatchers[key] = captured, self._new_dispatcher()
        return _dispatchers[key][1]

    def _new_dispatcher(self) -> Any:
        dispatcher = njit(**_OPTIONS, _nrt=self.allocates)(self.py_func)
        try:
            dispatcher._cache = _DiskCache(self.py_func)
        except (RuntimeError, OSError, TypeError) as error:
            # No writable place, or a function typed at a prompt, which has no source file to watch.
            if str(self.py_func.__module__).startswith("spdpeg."):
                _warn_uncached(str(error))
        return dispatcher

    def compiled_for(self, signature: tuple[Any, ...]) -> Any:
        """The compile result for these argument types, made or loaded now if need be."""
        global _spent
        dispatcher = self.dispatcher
        if signature not in dispatcher.overloads:
            start = time.perf_counter()
            dispatcher.compile(signature)
            _spent += time.perf_counter() - start
        return dispatcher.overloads[signature]

    @cached_property
    def _entries(self) -> dict[Any, Any]:
        """Entry points of compiled versions, by the kinds of arguments they take."""
        return {}

    def __call__(self, *args: Any) -> Any:
        # Numba's own dispatch takes a tenth of a millisecond for records of arrays, more than many a kernel runs.
        kinds = _kinds(args)
        entry = self._entries.get(kinds)
        if entry is None:
            entry = self._entries[kinds] = self.compiled_for(tuple(typeof(arg) for arg in args)).entry_point
        return entry(*args)


def _kinds(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The key of a compiled version: types, and for arrays also layout and whether they are writable."""
    kinds: list[Any] = []
    left = list(args)
    for arg in left:  # to which records add their entries: a call for each of them would cost more than the walk
        kind = type(arg)
        if kind is np.ndarray or isinstance(arg, np.ndarray):  # records hold dozens: the first test is for speed
            kinds += (arg.dtype, arg.ndim, arg.flags.num & _LAYOUT)
        elif kind is not Term and isinstance(arg, tuple):  # terms are all made of the same types
            kinds += (kind, len(arg))
            left += arg
        else:
            kinds.append(kind)
    return tuple(kinds)


_LAYOUT = ~0x4
"""All flags of an array but the one that says who owns its memory."""


class Hook(Kernel):
    """A function of fixed signature that kernels call by address."""

    def __init__(self, function: Callable[..., Any], signature: Any, allocates: bool = False) -> None:
        super().__init__(function, allocates)
        self.signature = signature

    @cached_property
    def address(self) -> int:
        """Where the compiled function starts, in this process."""
        result = self.compiled_for(self.signature.args)
        return int(result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name))

    def term(self, reals: np.ndarray, ints: np.ndarray) -> Term:
        """The hook together with its parameters, as kernels take it."""
        # Most hooks have no parameters, or only numbers.
        return Term(
            self.address,
            reals if reals is NO_REALS else as_reals(reals),
            ints if ints is NONE else as_ints(ints),
        )


kernel = Kernel
"""Decorator: compile a hot loop that takes plain data and `Term` records."""


def allocating_kernel(function: Callable[..., Any]) -> Kernel:
    """Decorator of a kernel that makes arrays of its own, once a call."""
    return Kernel(function, allocates=True)


def scalar(function: Callable[[float, float, np.ndarray, np.ndarray], float]) -> Hook:
    """Decorator of a loss hook `f(margin, label, reals, ints) -> float`."""
    return Hook(function, _SCALAR)


def chunk(
    function: Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray], float],
) -> Hook:
    """Decorator of a loss hook `f(margins, labels, weights, reals, ints, out) -> float` for up to `CHUNK` rows.

    It returns a weighted sum. No weights at all stand for weight 1 everywhere.
    """
    return Hook(function, _CHUNK)


def scalar_prox(function: Callable[[float, float, float, np.ndarray, np.ndarray], float]) -> Hook:
    """Decorator of a loss's prox hook `f(point, step, label, reals, ints) -> float`."""
    return Hook(function, _SCALAR_PROX)


def prox(function: Callable[[np.ndarray, float, np.ndarray, np.ndarray, np.ndarray], None]) -> Hook:
    """Decorator of a prox hook `f(point, step, reals, ints, out)`; must allow `out` to be `point`."""
    return Hook(function, _PROX)


def allocating_prox(function: Callable[[np.ndarray, float, np.ndarray, np.ndarray, np.ndarray], None]) -> Hook:
    """Like `prox`, for a hook that makes arrays of its own, as one that calls a matrix factorisation must."""
    return Hook(function, _PROX, allocates=True)


def linear(function: Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], None]) -> Hook:
    """Decorator of an operator hook `f(vector, reals, ints, out)` that overwrites `out`."""
    return Hook(function, _LINEAR)


def frozen(array: np.ndarray) -> np.ndarray:
    """A read-only view: kernels are compiled for read-only inputs, so memory-mapped data needs no second version."""
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view


def as_reals(values: Any) -> np.ndarray:
    """Read-only contiguous float64 vector; the same object where it is one already."""
    return values if _is_frozen(values, np.float64) else frozen(np.ascontiguousarray(values, np.float64).reshape(-1))


def as_ints(values: Any) -> np.ndarray:
    """Read-only contiguous int64 vector; the same object where it is one already."""
    return values if _is_frozen(values, np.int64) else frozen(np.ascontiguousarray(values, np.int64).reshape(-1))


def _is_frozen(values: Any, kind: type) -> bool:
    """Whether these are a vector as `frozen` makes them: packed terms, which go from hand to hand."""
    if type(values) is not np.ndarray or values.ndim != 1 or values.dtype != kind:
        return False
    return values.flags.c_contiguous and not values.flags.writeable


NONE = as_ints(())
"""The parameters of a hook that has none."""
NO_REALS = as_reals(())
