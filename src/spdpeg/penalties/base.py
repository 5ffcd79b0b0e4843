"""What a penalty is: a convex r(v) with a closed-form prox, usable as r1 or as r2."""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..errors import InputError
from ..kernels import jit
from ..kernels.jit import Hook, Term, as_ints, as_reals
from ..kernels.vectors import apply_prox, moreau
from ..parameters import Parameterized

FEASIBLE = 1e-9
"""Relative slack within which a point counts as inside a set: a projection lands on the border only up to rounding."""


class Packed(NamedTuple):
    """Numbers and integers that the hooks of a term read."""

    reals: np.ndarray
    ints: np.ndarray


class Penalty(Parameterized):
    """A proximable convex function.

    A subclass gives `value`, `conjugate`, `pack` and the hook `kernel_prox(point, step, reals, ints, out)`, in which
    `out` may be `point`. The prox of the conjugate follows from Moreau's identity unless a cheaper hook
    `kernel_dual_prox` is given; there `out` is never `point`.
    """

    kernel_prox: ClassVar[Hook]
    kernel_dual_prox: ClassVar[Hook | None] = None

    separable: ClassVar[bool] = False
    """A sum of functions of single coordinates."""

    homogeneous: ClassVar[bool] = False
    """r(s v) = s r(v) for s > 0: norms."""

    indicator: ClassVar[bool] = False
    """Zero on a convex set and infinite outside."""

    @property
    def finite(self) -> bool:
        """Never infinite."""
        return not self.indicator

    @property
    def strong_convexity(self) -> float:
        """The largest known mu such that r - (mu/2)|.|^2 is convex."""
        return 0.0

    def value(self, v: np.ndarray) -> float:
        """r(v); infinite outside the domain."""
        raise NotImplementedError

    def conjugate(self, u: np.ndarray) -> float:
        """sup over v of <u, v> - r(v)."""
        raise NotImplementedError

    def pack(self, size: int) -> Packed:
        """Parameters for vectors of `size` entries; refuses parameters that do not fit."""
        raise NotImplementedError

    def prox_term(self, size: int) -> Term:
        """prox of r, as kernels take it."""
        return self.kernel_prox.term(*self.pack(size))

    def dual_prox_term(self, size: int) -> Term:
        """prox of the conjugate r*, as kernels take it."""
        if self.kernel_dual_prox is not None:
            return self.kernel_dual_prox.term(*self.pack(size))
        return moreau.term(*join([self.prox_term(size)], [size]))

    def prox(self, v: Any, step: float = 1.0) -> np.ndarray:
        """argmin over w of step * r(w) + |w - v|^2 / 2."""
        return self._apply(self.prox_term, v, step)

    def dual_prox(self, v: Any, step: float = 1.0) -> np.ndarray:
        """argmin over w of step * r*(w) + |w - v|^2 / 2."""
        return self._apply(self.dual_prox_term, v, step)

    def _apply(self, make_term: Any, v: Any, step: float) -> np.ndarray:
        point = np.array(v, dtype=float)
        out = np.empty_like(point)
        apply_prox(make_term(point.size), point.reshape(-1), float(step), out.reshape(-1))
        return out


def join(terms: list[Term], sizes: list[int]) -> Packed:
    """Parameters of a hook that calls other terms, each on its own stretch of the vector (see kernels/vectors.py)."""
    header = [len(terms)]
    start = real = 0
    whole = 1 + 6 * len(terms)
    for term, size in zip(terms, sizes, strict=True):
        header += [term.address, start, start + size, real, whole, term.ints.size]
        start += size
        real += term.reals.size
        whole += term.ints.size
    reals = np.concatenate([term.reals for term in terms])
    return Packed(as_reals(reals), as_ints(np.concatenate([np.array(header), *(term.ints for term in terms)])))


def weights_of(owner: Penalty, name: str, value: Any, size: int) -> np.ndarray:
    """A non-negative weight, as one number for all coordinates or one number for each of `size` coordinates."""
    weight = np.asarray(value, dtype=float)
    if weight.ndim > 1 or (weight.ndim == 1 and weight.size not in (1, size)):
        raise InputError(
            f"{name} of {type(owner).__name__} has shape {weight.shape} but acts on {size} coordinates. "
            f"Give one number or a vector of {size}."
        )
    if not np.all(np.isfinite(weight)) or np.any(weight < 0):
        raise InputError(f"{name} of {type(owner).__name__} must be finite and non-negative; 0 leaves a coordinate free.")
    return weight.reshape(-1)


def radius_of(owner: Penalty, value: Any) -> float:
    """A positive finite radius."""
    radius = float(value)
    if not (math.isfinite(radius) and radius > 0):
        raise InputError(f"radius of {type(owner).__name__} is {value}. It must be a positive number.")
    return radius


def no_parameters() -> Packed:
    """For hooks that need nothing."""
    return Packed(jit.NO_REALS, jit.NONE)
