"""Some numbers side by side in one register of the processor: they are added and multiplied all at once.

LLVM finds such registers by itself for sums over neighbouring entries, but not for the same sum at several points, or
for a recurrence that could run at several places at once. `Lanes` is that register as a type of compiled code, for use
inside kernels: it never leaves them. Each lane is rounded as a number of its own would be.
"""

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

LANES = 4
"""Numbers in a register."""


class _LanesType(types.Type):
    def __init__(self) -> None:
        super().__init__(name=f"{LANES} lanes")


_LANES = _LanesType()
_REGISTER = ir.VectorType(ir.DoubleType(), LANES)
_NUMBERS = ir.IntType(32)
_BYTES = 8
"""Alignment of what is loaded and stored: that of a number."""


@register_model(_LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _REGISTER)


def _place(context: Any, builder: Any, kind: Any, array: Any, indices: list[Any]) -> Any:
    """The address of an entry of an array."""
    found = context.make_array(kind)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, kind, found, indices, wraparound=False)


def _filled(builder: Any, number: Any) -> Any:
    """A register with the same number in each lane."""
    first = builder.insert_element(ir.Constant(_REGISTER, ir.Undefined), number, _NUMBERS(0))
    return builder.shuffle_vector(
        first, ir.Constant(_REGISTER, ir.Undefined), ir.Constant(ir.VectorType(_NUMBERS, LANES), [0] * LANES)
    )


@intrinsic
def filled(typing_context, number):  # type: ignore[no-untyped-def]
    """The same number in each lane."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _filled(builder, args[0])

    return _LANES(types.float64), generate


@intrinsic
def load(typing_context, vector, first):  # type: ignore[no-untyped-def]
    """Neighbouring entries of a vector."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _place(context, builder, signature.args[0], args[0], [args[1]])
        return builder.load(builder.bitcast(place, _REGISTER.as_pointer()), align=_BYTES)

    return _LANES(vector, types.uint64), generate


@intrinsic
def store(typing_context, lanes, vector, first):  # type: ignore[no-untyped-def]
    """Overwrite neighbouring entries of a vector."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _place(context, builder, signature.args[1], args[1], [args[2]])
        builder.store(args[0], builder.bitcast(place, _REGISTER.as_pointer()), align=_BYTES)
        return context.get_dummy_value()

    return types.void(_LANES, vector, types.uint64), generate


@intrinsic
def lane(typing_context, lanes, k):  # type: ignore[no-untyped-def]
    """The k-th number."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.extract_element(args[0], args[1])

    return types.float64(_LANES, types.uint64), generate


@intrinsic
def column(typing_context, matrix, j):  # type: ignore[no-untyped-def]
    """The first entries of the j-th column of a matrix."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lanes = ir.Constant(_REGISTER, ir.Undefined)
        for k in range(LANES):
            row = context.get_constant(types.uint64, k)
            place = _place(context, builder, signature.args[0], args[0], [row, args[1]])
            lanes = builder.insert_element(lanes, builder.load(place), _NUMBERS(k))
        return lanes

    return _LANES(matrix, types.uint64), generate


@intrinsic
def set_column(typing_context, lanes, matrix, j):  # type: ignore[no-untyped-def]
    """Overwrite the first entries of the j-th column of a matrix."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        for k in range(LANES):
            row = context.get_constant(types.uint64, k)
            place = _place(context, builder, signature.args[1], args[1], [row, args[2]])
            builder.store(builder.extract_element(args[0], _NUMBERS(k)), place)
        return context.get_dummy_value()

    return types.void(_LANES, matrix, types.uint64), generate


def _define(operation: Any, instruction: str) -> None:
    """Lanes with lanes, or with a number on the left for each of them."""

    @type_callable(operation)
    def typed(context: Any) -> Callable[[Any, Any], Any]:
        def result(left: Any, right: Any) -> Any:
            return _LANES if right == _LANES and left in (_LANES, types.float64) else None

        return result

    @lower_builtin(operation, _LanesType, _LanesType)
    def both(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return getattr(builder, instruction)(*args, flags=("contract",))

    @lower_builtin(operation, types.Float, _LanesType)
    def each(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return getattr(builder, instruction)(_filled(builder, args[0]), args[1], flags=("contract",))


for _operation, _instruction in ((operator.add, "fadd"), (operator.mul, "fmul")):
    _define(_operation, _instruction)
_define(operator.iadd, "fadd")
