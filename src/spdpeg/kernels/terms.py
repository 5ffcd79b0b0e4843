"""The terms of a problem, as kernels take them together."""

from typing import NamedTuple

from .jit import Term


class Terms(NamedTuple):
    """Everything a kernel calls. Addresses are valid in this process only, so they are made anew for each run."""

    derivative: Term
    prox1: Term
    dual_prox2: Term
    forward: Term
    adjoint: Term
