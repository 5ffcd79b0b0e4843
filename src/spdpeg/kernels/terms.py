"""The terms of a problem as kernels take them, terms made of other terms, and calls from Python.

A composite carries its parts in its own parameters: ints = [parts, (address, start, stop, first real, first int,
number of ints) for each part, ints of part 1, ints of part 2, ...]; reals are those of the parts one after the other.
`join` writes this layout, `part` reads it.
"""

from typing import Any, NamedTuple

import numpy as np
from numba.extending import intrinsic

from . import jit
from .jit import Term, as_ints, as_reals, call_linear, call_prox, inner, kernel


class Terms(NamedTuple):
    """Everything a kernel calls. Addresses are valid in this process only, so they are made for each run."""

    derivative: Term
    prox1: Term
    dual_prox2: Term
    forward: Term
    adjoint: Term


def join(terms: list[Term], sizes: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Reals and ints of a hook that calls other terms, each on its own segment of the vector."""
    header = [len(terms)]
    start = real = 0
    whole = 1 + 6 * len(terms)
    for term, size in zip(terms, sizes, strict=True):
        header += [term.address, start, start + size, real, whole, term.ints.size]
        start += size
        real += term.reals.size
        whole += term.ints.size
    reals = np.concatenate([term.reals for term in terms])
    return as_reals(reals), as_ints(np.concatenate([np.array(header), *(term.ints for term in terms)]))


@inner
def part(k: int, reals: np.ndarray, ints: np.ndarray) -> Term:
    """Part k of a composite, as a term of its own."""
    base = 1 + 6 * k
    last = reals.size if k + 1 == ints[0] else ints[base + 6 + 3]
    first_int = ints[base + 4]
    return Term(ints[base], reals[ints[base + 3] : last], ints[first_int : first_int + ints[base + 5]])


@jit.prox
def moreau(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
    """prox of step * r* from that of r: v - step * prox_{r/step}(v/step). Here `out` must not be `point`."""
    for j in range(point.size):
        out[j] = point[j] / step
    call_prox(part(0, reals, ints), out, 1.0 / step, out)
    for j in range(point.size):
        out[j] = point[j] - step * out[j]


@jit.prox
def blockwise(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
    """Each part on its own segment of the vector."""
    for k in range(ints[0]):
        start, stop = ints[2 + 6 * k], ints[3 + 6 * k]
        call_prox(part(k, reals, ints), point[start:stop], step, out[start:stop])


@jit.prox
def in_turn(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
    """The parts one after the other on the whole vector."""
    call_prox(part(0, reals, ints), point, step, out)
    for k in range(1, ints[0]):
        call_prox(part(k, reals, ints), out, step, out)


@jit.linear
def stacked(vector: np.ndarray, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
    """Each part on the whole vector, the results one after the other."""
    for k in range(ints[0]):
        call_linear(part(k, reals, ints), vector, out[ints[2 + 6 * k] : ints[3 + 6 * k]])


@intrinsic
def writable(typing_context, array):  # type: ignore[no-untyped-def]
    """The same numbers, seen as a vector that may be written."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return args[0]

    return array.copy(readonly=False)(array), generate


@jit.linear
def stacked_adjoint(vector: np.ndarray, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
    """Sum of the parts, each on its own segment of the vector.

    An operator hook overwrites its result, so a sum needs a second vector. The last entry of the layout is no term but
    that vector: numbers of the composite itself, as many as `out` has.
    """
    last = ints[0] - 1
    scratch: np.ndarray = writable(part(last, reals, ints).reals)
    call_linear(part(0, reals, ints), vector[ints[2] : ints[3]], out)
    for k in range(1, last):
        call_linear(part(k, reals, ints), vector[ints[2 + 6 * k] : ints[3 + 6 * k]], scratch)
        for j in range(out.size):
            out[j] += scratch[j]


@jit.linear
def blockwise_linear(vector: np.ndarray, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
    """Each part on its own segment of the vector, the result in the same place."""
    for k in range(ints[0]):
        start, stop = ints[2 + 6 * k], ints[3 + 6 * k]
        call_linear(part(k, reals, ints), vector[start:stop], out[start:stop])


@jit.linear
def repeated(vector: np.ndarray, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
    """Part 0 on each of several segments of the vector, the results one after the other.

    The last entry of the layout is no term but the ints (copies, inputs, outputs, inputs from one copy to the next).
    """
    shape = part(1, reals, ints).ints
    copies, inputs, outputs, stride = shape[0], shape[1], shape[2], shape[3]
    for k in range(copies):
        call_linear(
            part(0, reals, ints), vector[k * stride : k * stride + inputs], out[k * outputs : (k + 1) * outputs]
        )


@jit.linear
def repeated_adjoint(vector: np.ndarray, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
    """The adjoint of `repeated`; coordinates between the segments get 0."""
    shape = part(1, reals, ints).ints
    copies, inputs, outputs, stride = shape[0], shape[1], shape[2], shape[3]
    for k in range(copies):
        call_linear(
            part(0, reals, ints), vector[k * outputs : (k + 1) * outputs], out[k * stride : k * stride + inputs]
        )
        for j in range(k * stride + inputs, (k + 1) * stride):
            out[j] = 0.0


@jit.prox
def rescaled(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
    """Part 0 with a step larger by a factor, the one number of the last entry of the layout."""
    call_prox(part(0, reals, ints), point, step * part(1, reals, ints).reals[0], out)


@kernel
def apply_prox(term: Term, point: np.ndarray, step: float, out: np.ndarray) -> None:
    """Call a prox hook from Python."""
    call_prox(term, point, step, out)


@kernel
def apply_linear(term: Term, vector: np.ndarray, out: np.ndarray) -> None:
    """Call an operator hook from Python."""
    call_linear(term, vector, out)
