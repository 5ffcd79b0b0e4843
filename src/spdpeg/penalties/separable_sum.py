"""Penalties on consecutive blocks of a vector, side by side."""

import itertools
from collections.abc import Sequence
from numbers import Integral

import numpy as np
from scipy.linalg import block_diag

from ..errors import InputError
from ..kernels.jit import Hook, Term
from ..kernels.terms import blockwise, blockwise_linear, join
from .base import Packed, Penalty
from .conic import ConicForm, stack


class SeparableSum(Penalty):
    """r(v) = r_1(v_1) + ... + r_m(v_m) for consecutive blocks of v: what r2 is when F is a stack.

    Parameters
    ----------
    parts : sequence of Penalty
    sizes : sequence of int
        Lengths of the blocks.

    See Also
    --------
    spdpeg.operators.Stack : An operator for each part.

    Examples
    --------
    >>> from spdpeg import penalties
    >>> both = penalties.SeparableSum([penalties.L1(1.0), penalties.NonNegative()], sizes=[2, 1])
    >>> both.prox([3.0, -3.0, -3.0]).tolist()
    [2.0, -2.0, 0.0]
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
    def indicator(self) -> bool:  # type: ignore[override]
        return all(part.indicator for part in self.parts)

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

    def maximizer(self, u: np.ndarray) -> np.ndarray:
        return np.concatenate([part.maximizer(block) for part, block in self._blocks(u)])

    def dual_ends(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        parts = [part.dual_ends(n) for part, n in zip(self.parts, self.sizes, strict=True)]
        return np.concatenate([low for low, _ in parts]), np.concatenate([high for _, high in parts])

    def nearest_dual(self, u: np.ndarray) -> np.ndarray:
        return np.concatenate([part.nearest_dual(block) for part, block in self._blocks(u)])

    def dual_scale(self, u: np.ndarray) -> float:
        return min(part.dual_scale(block) for part, block in self._blocks(u))

    def free(self, size: int) -> np.ndarray:
        return np.concatenate([part.free(n) for part, n in zip(self.parts, self.sizes, strict=True)])

    def l1_weights(self, size: int) -> np.ndarray | None:
        parts = [part.l1_weights(n) for part, n in zip(self.parts, self.sizes, strict=True)]
        known = [part for part in parts if part is not None]
        return np.concatenate(known) if len(known) == len(parts) else None

    def prox_jacobian(self, point: np.ndarray, step: float) -> np.ndarray:
        pieces = np.split(point, np.cumsum(self.sizes)[:-1])
        blocks = [part.prox_jacobian(piece, step) for part, piece in zip(self.parts, pieces, strict=True)]
        return np.asarray(block_diag(*blocks))

    def scaled(self, factors: np.ndarray) -> Penalty | None:
        parts = [scaled for part, block in self._blocks(factors) if (scaled := part.scaled(block)) is not None]
        return SeparableSum(parts, self.sizes) if len(parts) == len(self.parts) else None

    @property
    def kernel_subgradient(self) -> Hook | None:  # type: ignore[override]
        """The subgradients of the parts, if each has one."""
        return blockwise_linear if all(part.kernel_subgradient is not None for part in self.parts) else None

    def subgradient_term(self, size: int) -> Term:
        self._check(size)
        terms = [part.subgradient_term(n) for part, n in zip(self.parts, self.sizes, strict=True)]
        return blockwise_linear.term(*join(terms, list(self.sizes)))

    def conic_form(self, size: int) -> ConicForm | None:
        self._check(size)
        forms = [part.conic_form(n) for part, n in zip(self.parts, self.sizes, strict=True)]
        known = [form for form in forms if form is not None]
        return stack(known) if len(known) == len(forms) else None

    def pack(self, size: int) -> Packed:
        self._check(size)
        terms = [part.prox_term(n) for part, n in zip(self.parts, self.sizes, strict=True)]
        return Packed(*join(terms, list(self.sizes)))

    def dual_prox_term(self, size: int) -> Term:
        self._check(size)
        terms = [part.dual_prox_term(n) for part, n in zip(self.parts, self.sizes, strict=True)]
        return blockwise.term(*join(terms, list(self.sizes)))

    def _check(self, size: int) -> None:
        if not all(isinstance(each, list | tuple) for each in (self.parts, self.sizes)):
            raise InputError("parts and sizes of SeparableSum must be lists. Give one size for each part.")
        if len(self.parts) != len(self.sizes) or not len(self.parts):
            raise InputError(
                f"SeparableSum has {len(self.parts)} parts and {len(self.sizes)} sizes. Give one size each."
            )
        for part in self.parts:
            if not isinstance(part, Penalty):
                raise InputError(f"A part of SeparableSum is {part!r}. Give penalties, such as penalties.L1(0.01).")
        if not all(isinstance(n, Integral) and n >= 0 for n in self.sizes) or sum(self.sizes) != size:
            raise InputError(
                f"The blocks of SeparableSum have sizes {list(self.sizes)} but the vector has {size} coordinates. "
                "Give the length of each block in `sizes`; together they make up the vector."
            )

    def _blocks(self, v: np.ndarray) -> list[tuple[Penalty, np.ndarray]]:
        ends = list(itertools.accumulate(self.sizes))
        return [(part, v[end - n : end]) for part, n, end in zip(self.parts, self.sizes, ends, strict=True)]
