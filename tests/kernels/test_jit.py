"""Kernels and hooks: how they are compiled, and what they promise."""

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pytest

import spdpeg
from spdpeg.kernels import jit
from spdpeg.kernels.jit import Hook, Kernel


def modules() -> Iterator[ModuleType]:
    for info in pkgutil.walk_packages(spdpeg.__path__, "spdpeg."):
        if not info.name.endswith("__main__"):
            yield importlib.import_module(info.name)


def compiled_functions() -> dict[str, Kernel]:
    """Every kernel and hook of the package, by module and name."""
    found: dict[str, Kernel] = {}
    for module in modules():
        owners = [module, *(item for item in vars(module).values() if isinstance(item, type))]
        for owner in owners:
            for item in vars(owner).values():
                if isinstance(item, Kernel):
                    found[f"{item.py_func.__module__}.{item.py_func.__qualname__}"] = item
    return found


FUNCTIONS = compiled_functions()

FACTORISING = {
    "spdpeg.penalties.nuclear.Nuclear.kernel_prox",
    "spdpeg.penalties.nuclear.Nuclear.kernel_dual_prox",
    "spdpeg.solvers.adaptive_sadmm._full_metric_steps",
}
"""Singular values and matrix roots come from LAPACK, which needs room to work in."""

WHOLE = {
    "spdpeg.exact.block_models.minimize_dense",
    "spdpeg.exact.block_newton._minimized",
    "spdpeg.exact.gram_descent._descended",
    "spdpeg.quadratic.absolute._minimized",
    "spdpeg.quadratic.along_chain._minimized",
    "spdpeg.quadratic.from_guess._minimized",
    "spdpeg.quadratic.refinement._refine",
    "spdpeg.quadratic.simple_face._pieces",
    "spdpeg.quadratic.simple_face._among_pieces",
    "spdpeg.quadratic.simple_face._collapsed",
}
"""Models that are solved in one call, which makes its own arrays."""


def test_there_are_many() -> None:
    assert len(FUNCTIONS) > 30
    assert "spdpeg.kernels.row_sums.loss_sum" in FUNCTIONS
    assert "spdpeg.penalties.l1.L1.kernel_prox" in FUNCTIONS


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in FACTORISING | WHOLE])
def test_nothing_allocates(name: str) -> None:
    """Compiled without a memory manager, a function that makes an array does not even compile."""
    assert not FUNCTIONS[name].allocates


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_lock_is_released(name: str) -> None:
    options = FUNCTIONS[name].dispatcher.targetoptions
    assert options["nogil"]
    assert not options.get("parallel", False)


@pytest.mark.parametrize("name", [name for name, item in FUNCTIONS.items() if isinstance(item, Hook)])
def test_every_hook_compiles(name: str) -> None:
    hook = FUNCTIONS[name]
    assert isinstance(hook, Hook)
    assert hook.address > 0


def test_frozen_views_share_memory() -> None:
    array = np.arange(3.0)
    view = jit.frozen(array)
    assert np.shares_memory(array, view)
    assert not view.flags.writeable
    assert array.flags.writeable


def test_parameters_are_read_only_vectors() -> None:
    reals, ints = jit.as_reals([[1, 2], [3, 4]]), jit.as_ints([1.0, 2.0])
    assert (str(reals.dtype), reals.shape, reals.flags.writeable) == ("float64", (4,), False)
    assert (str(ints.dtype), ints.shape, ints.flags.writeable) == ("int64", (2,), False)


def test_read_only_vectors_are_taken_as_they_are() -> None:
    reals, ints = jit.as_reals([1.0]), jit.as_ints([1])
    assert jit.as_reals(reals) is reals
    assert jit.as_ints(ints) is ints
    assert not jit.as_reals(np.ones(2)).flags.writeable
    assert jit.as_reals(ints).dtype == np.float64
    table = np.ones((2, 2))
    table.flags.writeable = False
    assert jit.as_reals(table).shape == (4,)


def test_a_user_function_without_a_source_file_compiles() -> None:
    namespace: dict[str, object] = {}
    exec("def double(t, b, reals, ints):\n    return 2.0 * t", namespace)
    hook = jit.scalar(namespace["double"])  # type: ignore[arg-type]
    assert hook.address > 0
    assert hook(1.5, 0.0, jit.NO_REALS, jit.NONE) == 3.0


def test_compile_seconds_grow() -> None:
    before = jit.compile_seconds()

    @jit.scalar
    def fresh(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return t + 0.125

    assert fresh.address > 0
    assert jit.compile_seconds() > before


def _loss_of(scale: float | None = None) -> Hook:
    """A hook defined anew at each call."""

    @jit.scalar
    def value(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return 2.0 * t - b

    @jit.scalar
    def scaled(t: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        return scale * t - b

    return value if scale is None else scaled


def test_a_hook_defined_again_is_not_compiled_again() -> None:
    first = _loss_of()
    assert first.address == first.address
    spent = jit.compile_seconds()
    assert all(_loss_of().address == first.address for _ in range(20))
    assert jit.compile_seconds() == spent


def test_a_hook_with_other_numbers_inside_is_compiled_for_them() -> None:
    for scale in (3.0, 5.0):
        assert float(_loss_of(scale).dispatcher(2.0, 1.0, jit.NO_REALS, jit.NONE)) == 2.0 * scale - 1.0
