"""Solvers by name."""

from typing import Any

from ..errors import InputError
from .base import Solver
from .spdpeg import SPDPEG, SPDPEGSC1, SPDPEGSC2

REGISTRY: dict[str, type[Solver]] = {solver.name: solver for solver in (SPDPEG, SPDPEGSC1, SPDPEGSC2)}


def resolve(name: Any, parameters: dict[str, Any]) -> Solver:
    """The solver called `name` with these parameters."""
    if name not in REGISTRY:
        raise InputError(f"There is no solver called {name!r}. Choose one of {', '.join(REGISTRY)}.")
    solver = REGISTRY[name]
    known = solver.parameter_names()
    for parameter in parameters:
        if parameter not in known:
            raise InputError(f"{name} has no parameter {parameter!r}. It takes: {', '.join(known)}.")
    return solver(**parameters)
