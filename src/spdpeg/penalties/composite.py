"""Penalties made of others: blocks of a vector side by side, and a penalty on a convex set."""

import itertools
from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from ..errors import InputError, UnsupportedError
from ..kernels.jit import Hook, Term
from ..kernels.terms import blockwise, blockwise_linear, in_turn, join
from ..parameters import shown
from .balls import L1Ball, L2Ball
from .base import Packed, Penalty
from .box import Box
from .conic import ConicForm, stack
from .elastic_net import ElasticNet
from .l1 import L1
from .l2 import L2Squared
from .linf import LInf
from .zero import Zero


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
        total, start = 0.0, 0
        for part, n in zip(self.parts, self.sizes, strict=True):
            total += part.value(v[start : start + n])
            start += n
        return total

    def conjugate(self, u: np.ndarray) -> float:
        return sum(part.conjugate(block) for part, block in self._blocks(u))

    def maximizer(self, u: np.ndarray) -> np.ndarray:
        return np.concatenate([part.maximizer(block) for part, block in self._blocks(u)])

    def dual_ends(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        parts = [part.dual_ends(n) for part, n in zip(self.parts, self.sizes, strict=True)]
        return np.concatenate([low for low, _ in parts]), np.concatenate([high for _, high in parts])

    def nearest_dual(self, u: np.ndarray) -> np.ndarray:
        return np.concatenate([part.nearest_dual(block) for part, block in self._blocks(u)])

    def nearest_dual_by(self, u: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        blocks = zip(self._blocks(u), self._blocks(sizes), strict=True)
        return np.concatenate([part.nearest_dual_by(block, own) for (part, block), (_, own) in blocks])

    def dual_scale(self, u: np.ndarray) -> float:
        return min(part.dual_scale(block) for part, block in self._blocks(u))

    def free(self, size: int) -> np.ndarray:
        return np.concatenate([part.free(n) for part, n in zip(self.parts, self.sizes, strict=True)])

    def l1_weights(self, size: int) -> np.ndarray | None:
        parts = [part.l1_weights(n) for part, n in zip(self.parts, self.sizes, strict=True)]
        known = [part for part in parts if part is not None]
        return np.concatenate(known) if len(known) == len(parts) else None

    def entry_weights(self, size: int) -> tuple[np.ndarray, np.ndarray] | None:
        parts = [part.entry_weights(n) for part, n in zip(self.parts, self.sizes, strict=True)]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        return np.concatenate([weight for weight, _ in known]), np.concatenate([square for _, square in known])

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
    def homogeneous(self) -> bool:  # type: ignore[override]
        return self.penalty.homogeneous and self.domain.homogeneous

    @property
    def indicator(self) -> bool:  # type: ignore[override]
        return self.penalty.indicator

    @property
    def finite(self) -> bool:
        return False

    @property
    def strong_convexity(self) -> float:
        return self.penalty.strong_convexity

    def value(self, v: np.ndarray) -> float:
        return self.penalty.value(v) + self.domain.value(v)

    def dual_ends(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        (low, high), (below, above) = self.penalty.dual_ends(size), self.domain.dual_ends(size)
        return low + below, high + above

    def nearest_dual(self, u: np.ndarray) -> np.ndarray:
        if self.penalty.separable:
            inside = self.penalty.nearest_dual(u)
            return inside + self.domain.nearest_dual(u - inside)
        return u

    def dual_scale(self, u: np.ndarray) -> float:
        if not self.penalty.separable:
            return super().dual_scale(u)
        if not self.penalty.homogeneous:
            if not isinstance(self.domain, Box):
                return super().dual_scale(u)
            best = np.clip(self.penalty.maximizer(u), self.domain.lower, self.domain.upper)
            return self.penalty.dual_scale(np.where(np.isfinite(best), 0.0, u))
        # What lies outside the norm's own ball counts only where the set does not take it up.
        outside = self.penalty.prox(u)
        return self.penalty.dual_scale(np.where(self.domain.nearest_dual(outside) == outside, 0.0, u))

    @property
    def unbounded(self) -> Penalty:
        return self.penalty

    def inwards(self, direction: np.ndarray) -> np.ndarray:
        return self.domain.inwards(self.penalty.inwards(direction))

    def free(self, size: int) -> np.ndarray:
        return self.penalty.free(size) & self.domain.free(size)

    def conjugate(self, u: np.ndarray) -> float:
        if self.penalty.homogeneous and self.domain.value(np.zeros_like(u)) == 0.0:
            # The distance, in the gauge of the set, from u to the subgradients at 0; prox is what lies outside of them.
            return self.domain.conjugate(self.penalty.prox(u))
        if isinstance(self.penalty, L2Squared) and not np.any(self.penalty.weight):
            return self.domain.conjugate(u)
        if self.penalty.separable and isinstance(self.domain, Box):
            return self._conjugate_on_box(u, self.domain)
        # What l1 takes off u is gone whatever v is, as v has the signs of u on a ball; and a parabola with one weight
        # is largest at the point nearest to its top.
        if isinstance(self.penalty, L2Squared | ElasticNet):
            best = self.domain.prox(self.penalty.maximizer(u))
            return float(u @ best) - self.penalty.value(best)
        raise UnsupportedError(
            f"The conjugate of {self.penalty!r} on {self.domain!r} has no closed form here. "
            "Use a norm with a set around 0, or ridge, or leave the set out."
        )

    def conic_form(self, size: int) -> ConicForm | None:
        form, domain = self.penalty.conic_form(size), self.domain.conic_form(size)
        return None if form is None or domain is None else form + domain

    def _conjugate_on_box(self, u: np.ndarray, box: Box) -> float:
        """A concave function of one coordinate is largest, on an interval, at the point nearest to its maximiser."""
        best = np.clip(self.penalty.maximizer(u), box.lower, box.upper)
        if not np.all(np.isfinite(best)):
            return np.inf
        return float(u @ best) - self.penalty.value(best)

    def pack(self, size: int) -> Packed:
        if not self.penalty.finite and np.isinf(self.value(self.domain.prox(self.penalty.prox(np.zeros(size))))):
            raise InputError(
                f"{self.penalty!r} and {self.domain!r} have no point in common. Widen one of them: x must satisfy both."
            )
        return Packed(*join([self.penalty.prox_term(size), self.domain.prox_term(size)], [size, 0]))


def constrain(penalty: Penalty, domain: Any) -> Penalty:
    """The penalty on the set `domain`, or a refusal where no closed form is exact.

    The prox of the sum is the projection of the penalty's prox if (a) the penalty and the set are separable, (b) the
    penalty is ridge with one weight, (c) the penalty is a norm and the set a centred Euclidean ball (Yu, 2013), (d) the
    penalty is the l1 or the max norm and the set an l1 ball. A ridge with one weight on top, as in the elastic net,
    changes nothing in (c) and (d). A zero penalty goes with any set.

    Parameters
    ----------
    penalty : Penalty
    domain : Penalty or None
        A set: the indicator of a convex set. None leaves the penalty as it is.

    Returns
    -------
    Penalty

    See Also
    --------
    Problem : Does this with r1 and `domain`.

    Examples
    --------
    >>> from spdpeg import penalties
    >>> penalties.constrain(penalties.L1(1.0), penalties.NonNegative()).prox([3.0, -3.0]).tolist()
    [2.0, 0.0]
    """
    if not isinstance(penalty, Penalty):
        raise InputError(f"The penalty is {shown(penalty)}. Give one of spdpeg.penalties.")
    if domain is None:
        return penalty
    if not isinstance(domain, Penalty) or not domain.indicator:
        raise InputError(
            f"domain is {shown(domain)}. Give a set of spdpeg.penalties: Box, NonNegative, L2Ball, L1Ball or Simplex."
        )
    if isinstance(penalty, Zero):
        return domain
    if not _projects_exactly(penalty, domain):
        raise UnsupportedError(
            f"The prox of {penalty!r} on {domain!r} has no closed form here. Use a Box (with any separable penalty), "
            "an L2Ball (with any norm), an L1Ball (with L1 or LInf) or ridge with one weight, or move the set into r2 "
            "with F = Identity."
        )
    return Constrained(penalty, domain)


def _projects_exactly(penalty: Penalty, domain: Penalty) -> bool:
    if penalty.separable and domain.separable:
        return True
    if isinstance(penalty, L2Squared):
        return np.size(penalty.weight) == 1
    if isinstance(penalty, ElasticNet):
        return np.size(penalty.l2) == 1 and _projects_exactly(L1(penalty.l1), domain)
    if isinstance(domain, L2Ball):
        return penalty.homogeneous
    return isinstance(domain, L1Ball) and isinstance(penalty, L1 | LInf)
