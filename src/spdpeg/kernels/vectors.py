"""Hooks made of other hooks, and Python's way to call a hook.

A composite carries its parts in its own parameters: ints = [parts, (address, start, stop, first real, first int,
number of ints) for each part, ints of part 1, ints of part 2, ...]; reals are those of the parts one after the other.
`penalties.base.join` writes this layout, `part` reads it.
"""

import numpy as np

from . import jit
from .jit import Term, call_linear, call_prox, inner, kernel


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
    """Each part on its own stretch of the vector."""
    for k in range(ints[0]):
        start, stop = ints[2 + 6 * k], ints[3 + 6 * k]
        call_prox(part(k, reals, ints), point[start:stop], step, out[start:stop])


@jit.prox
def in_turn(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
    """The parts one after the other on the whole vector."""
    call_prox(part(0, reals, ints), point, step, out)
    for k in range(1, ints[0]):
        call_prox(part(k, reals, ints), out, step, out)


@kernel
def apply_prox(term: Term, point: np.ndarray, step: float, out: np.ndarray) -> None:
    """Call a prox hook from Python."""
    call_prox(term, point, step, out)


@kernel
def apply_linear(term: Term, vector: np.ndarray, out: np.ndarray) -> None:
    """Call an operator hook from Python."""
    call_linear(term, vector, out)
