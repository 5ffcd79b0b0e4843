"""Penalties made of penalties: blocks side by side, and a penalty on a convex set."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InputError, UnsupportedError
from ..kernels.jit import Term
from ..kernels.vectors import blockwise, in_turn
from .base import Packed, Penalty, join
from .box import Box
from .l1 import L1
from .l2 import L2Squared
from .zero import Zero


class SeparableSum(Penalty):
    """r(v) = r_1(v_1) + ... + r_m(v_m) for consecutive blocks of v: what r2 is when F is a stack.

    Parameters
    ----------
    parts : sequence of Penalty
    sizes : sequence of int
        Lengths of the blocks.
    """

    kernel_prox = blockwise

    def __init__(self, parts: Sequence[Penalty], sizes: Sequence[int]) -> None:
        self.parts = parts
        self.sizes = sizes

    @property
    def separable(self) -> bool:  # type: ignore[override]
        return all(part.separable for part in self.parts)

    @property
    def homogeneous(self) -> bool:  # type: ignore[override]
        return all(part.homogeneous for part in self.parts)

    @property
    def finite(self) -> bool:
        return all(part.finite for part in self.parts)

    @property
    def strong_convexity(self) -> float:
        return min(part.strong_convexity for part in self.parts)

    def value(self, v: np.ndarray) -> float:
        return sum(part.value(block) for part, block in self._blocks(v))

    def conjugate(self, u: np.ndarray) -> float:
        return sum(part.conjugate(block) for part, block in self._blocks(u))

    def pack(self, size: int) -> Packed:
        return self._pack(size, [part.prox_term(n) for part, n in self._checked(size)])

    def dual_prox_term(self, size: int) -> Term:
        return blockwise.term(*self._pack(size, [part.dual_prox_term(n) for part, n in self._checked(size)]))

    def _pack(self, size: int, terms: list[Term]) -> Packed:
        return join(terms, list(self.sizes))

    def _checked(self, size: int) -> list[tuple[Penalty, int]]:
        if len(self.parts) != len(self.sizes) or not self.parts:
            raise InputError(f"SeparableSum has {len(self.parts)} parts and {len(self.sizes)} sizes. Give one size each.")
        if sum(self.sizes) != size:
            raise InputError(
                f"The blocks of SeparableSum add up to {sum(self.sizes)} coordinates but the vector has {size}. "
                "Give the length of each block in `sizes`."
            )
        return list(zip(self.parts, self.sizes, strict=True))

    def _blocks(self, v: np.ndarray) -> list[tuple[Penalty, np.ndarray]]:
        return list(zip(self.parts, np.split(v, np.cumsum(self.sizes)[:-1]), strict=True))


class Constrained(Penalty):
    """r plus the indicator of a convex set, where the projection of prox_r is the exact prox of the sum.

    Use `constrain`, which knows when that is so.
    """

    kernel_prox = in_turn

    def __init__(self, penalty: Penalty, domain: Penalty) -> None:
        self.penalty = penalty
        self.domain = domain

    @property
    def separable(self) -> bool:  # type: ignore[override]
        return self.penalty.separable and self.domain.separable

    @property
    def finite(self) -> bool:
        return False

    @property
    def strong_convexity(self) -> float:
        return self.penalty.strong_convexity

    def value(self, v: np.ndarray) -> float:
        return self.penalty.value(v) + self.domain.value(v)

    def pack(self, size: int) -> Packed:
        return join([self.penalty.prox_term(size), self.domain.prox_term(size)], [size, 0])


def constrain(penalty: Penalty, domain: Any) -> Penalty:
    """The penalty on the set `domain`, or a refusal where no closed form is exact.

    The prox of the sum is the projection of the penalty's prox if (a) the penalty is separable and the set a box, (b)
    the penalty is ridge with one weight, (c) the penalty is a norm and the set a centred Euclidean ball (Yu, 2013), (d)
    both are l1 with one weight; a zero penalty goes with any set.
    """
    from .balls import L1Ball, L2Ball

    if domain is None:
        return penalty
    if not isinstance(domain, Penalty) or not domain.indicator:
        raise InputError(
            f"domain is {domain!r}. Give a set of spdpeg.penalties: Box, NonNegative, L2Ball, L1Ball or Simplex."
        )
    if isinstance(penalty, Zero):
        return domain
    exact = (
        (penalty.separable and isinstance(domain, Box))
        or (isinstance(penalty, L2Squared) and np.size(penalty.weight) == 1)
        or (penalty.homogeneous and isinstance(domain, L2Ball))
        or (isinstance(penalty, L1) and np.size(penalty.weight) == 1 and isinstance(domain, L1Ball))
    )
    if not exact:
        raise UnsupportedError(
            f"The prox of {penalty!r} on {domain!r} has no closed form here. Use a Box (with any separable penalty), an "
            "L2Ball (with any norm) or ridge with one weight, or move the set into r2 with F = Identity."
        )
    return Constrained(penalty, domain)
