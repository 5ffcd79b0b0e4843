"""The interface of penalties: a convex r(v) with a closed-form prox, usable as r1 or as r2."""

import math
from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..errors import InputError, SpdpegError
from ..kernels import jit
from ..kernels.jit import Hook, Term
from ..kernels.terms import apply_prox, join, moreau, rescaled
from ..parameters import Parameterized, numbers, positive
from .conic import ConicForm

_PROBE = 1e-6
"""Relative length of differences that stand in for the Jacobian of a prox."""


class Packed(NamedTuple):
    """Numbers and integers that the hooks of a term read."""

    reals: np.ndarray
    ints: np.ndarray


class Groups(NamedTuple):
    """Groups of coordinates, with the weight of their Euclidean lengths."""

    labels: np.ndarray
    """The group of each coordinate, in the order of the weights; -1 for none."""
    weight: np.ndarray
    """One number, or one for each group."""


class Penalty(Parameterized):
    """A proximable convex function.

    A subclass gives `value`, `conjugate`, `pack` and the hook `kernel_prox(point, step, reals, ints, out)`, in which
    `out` may be `point`. The prox of the conjugate follows from Moreau's identity unless a cheaper hook
    `kernel_dual_prox` is given; there `out` is never `point`.

    See Also
    --------
    spdpeg.losses.Loss, spdpeg.operators.Operator : The bases of the other terms.

    Examples
    --------
    >>> from spdpeg import penalties
    >>> r = penalties.L1(2.0)
    >>> isinstance(r, penalties.Penalty), r.separable, r.prox([3.0, -1.0]).tolist()
    (True, True, [1.0, 0.0])

    docs/extending.md writes one.
    """

    kernel_prox: ClassVar[Hook]
    kernel_dual_prox: ClassVar[Hook | None] = None
    kernel_subgradient: ClassVar[Hook | None] = None
    """A linear hook `f(point, reals, ints, out)` that writes some subgradient; None where only a prox exists."""

    separable: ClassVar[bool] = False
    """A sum of functions of single coordinates."""

    homogeneous: ClassVar[bool] = False
    """r(s v) = s r(v) for s > 0: norms and cones."""

    indicator: ClassVar[bool] = False
    """Zero on a convex set and infinite outside."""

    vanishes: ClassVar[bool] = False
    """Zero everywhere: there is no penalty."""

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        for name in ("value", "conjugate"):
            if name in vars(cls):
                setattr(cls, name, _explained(vars(cls)[name]))

    @property
    def finite(self) -> bool:
        """Never infinite."""
        return not self.indicator

    @property
    def strong_convexity(self) -> float:
        """The largest known mu such that r - (mu/2)|.|^2 is convex."""
        return 0.0

    def value(self, v: np.ndarray) -> float:
        """r(v).

        Parameters
        ----------
        v : array

        Returns
        -------
        float
            Infinite outside the domain.
        """
        raise NotImplementedError

    def conjugate(self, u: np.ndarray) -> float:
        """sup over v of <u, v> - r(v).

        Parameters
        ----------
        u : array

        Returns
        -------
        float
            Infinite outside the domain of r*; infinite everywhere if a subclass leaves it out, and then no lower
            bound exists.
        """
        return math.inf

    def nearest_dual(self, u: np.ndarray) -> np.ndarray:
        """u, moved into the domain of r* where no scaling brings it there.

        That is to 0 in directions in which r does not grow at all, and to the sign it must have where r grows one way
        only. The difference is what a lower bound has to pay for.

        Parameters
        ----------
        u : array

        Returns
        -------
        array
        """
        return u

    def nearest_dual_by(self, u: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """`nearest_dual`, where several entries share what they have to give off in proportion to sizes.

        Parameters
        ----------
        u, sizes : array

        Returns
        -------
        array
        """
        return self.nearest_dual(u)

    def dual_ends(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        """The least interval known, for each entry, that holds the domain of r*: all of it where r is separable.

        Parameters
        ----------
        size : int
            Length of v.

        Returns
        -------
        pair of arrays
            Lower and upper ends.
        """
        free = self.free(size)
        return np.where(free, 0.0, -np.inf), np.where(free, 0.0, np.inf)

    def maximizer(self, u: np.ndarray) -> np.ndarray:
        """The v that maximises <u, v> - r(v), entry by entry, for a separable r.

        Parameters
        ----------
        u : array

        Returns
        -------
        array
            Infinite where there is no maximiser.
        """
        raise NotImplementedError

    def dual_scale(self, u: np.ndarray) -> float:
        """A scale s <= 1 for which s u lies in the domain of r*.

        Parameters
        ----------
        u : array

        Returns
        -------
        float
            The largest such scale where it is known; 0 if there is none.
        """
        return 1.0 if np.isfinite(self.conjugate(u)) else 0.0

    def pack(self, size: int) -> Packed:
        """Parameters as the hooks read them; refuses parameters that do not fit.

        Parameters
        ----------
        size : int
            Length of v.

        Returns
        -------
        Packed
        """
        raise NotImplementedError

    @property
    def unbounded(self) -> "Penalty":
        """The penalty without the set that it keeps v in, if it has one beside its value."""
        return self

    def inwards(self, direction: np.ndarray) -> np.ndarray:
        """The part of a direction, entry by entry, that leads from 0 to where the penalty is finite.

        Parameters
        ----------
        direction : array

        Returns
        -------
        array
        """
        return direction

    def free(self, size: int) -> np.ndarray:
        """Which coordinates r does not depend on.

        Parameters
        ----------
        size : int
            Length of v.

        Returns
        -------
        array of bool
        """
        return np.zeros(size, dtype=bool)

    def l1_weights(self, size: int) -> np.ndarray | None:
        """The c for which r(v) = sum c_j |v_j|.

        Parameters
        ----------
        size : int
            Length of v.

        Returns
        -------
        array or None
            None if r is no such sum.
        """
        return None

    def entry_weights(self, size: int) -> tuple[np.ndarray, np.ndarray] | None:
        """The c and q for which r(v) = sum c_j |v_j| + q_j v_j^2 / 2.

        Parameters
        ----------
        size : int
            Length of v.

        Returns
        -------
        pair of arrays, or None
            None if r is no such sum.
        """
        weights = self.l1_weights(size)
        return None if weights is None else (weights, np.zeros(size))

    def group_lengths(self, size: int) -> Groups | None:
        """The groups of a penalty that is a weighted sum of their Euclidean lengths.

        Parameters
        ----------
        size : int
            Length of v.

        Returns
        -------
        Groups or None
            None for any other penalty.
        """
        return None

    def scaled(self, factors: np.ndarray) -> "Penalty | None":
        """A penalty whose prox is that of r with step factors_j in coordinate j.

        Parameters
        ----------
        factors : array
            Positive.

        Returns
        -------
        Penalty or None
            None if there is no closed form.
        """
        if factors.size == 0:
            return self
        return Rescaled(self, float(factors[0])) if np.ptp(factors) == 0.0 else None

    def prox_jacobian(self, point: np.ndarray, step: float) -> np.ndarray:
        """An element of the generalised Jacobian of the prox, by differences unless overridden.

        Parameters
        ----------
        point : array
        step : float

        Returns
        -------
        array
            A symmetric matrix.
        """
        largest = float(np.abs(point).max(initial=0.0)) or 1.0
        reach = _PROBE * np.maximum(np.abs(point), 1e-3 * largest)
        if self.separable:
            return np.diag((self.prox(point + reach, step) - self.prox(point - reach, step)) / (2.0 * reach))
        out = np.empty((point.size, point.size))
        for j, aside in enumerate(np.diag(reach)):
            out[:, j] = (self.prox(point + aside, step) - self.prox(point - aside, step)) / (2.0 * reach[j])
        return 0.5 * (out + out.T)

    def conic_form(self, size: int) -> ConicForm | None:
        """r as squares, broken lines and norms, for interior points.

        Parameters
        ----------
        size : int
            Length of v.

        Returns
        -------
        ConicForm or None
            None if r has no such form.
        """
        return None

    def prox_term(self, size: int) -> Term:
        """prox of r, as kernels take it.

        Parameters
        ----------
        size : int
            Length of v.

        Returns
        -------
        Term
        """
        return self.kernel_prox.term(*self.pack(size))

    def dual_prox_term(self, size: int) -> Term:
        """prox of the conjugate r*, as kernels take it.

        Parameters
        ----------
        size : int
            Length of v.

        Returns
        -------
        Term
        """
        if self.kernel_dual_prox is not None:
            return self.kernel_dual_prox.term(*self.pack(size))
        return moreau.term(*join([self.prox_term(size)], [size]))

    def subgradient_term(self, size: int) -> Term:
        """A subgradient of r, as kernels take it; only if `kernel_subgradient` is given.

        Parameters
        ----------
        size : int
            Length of v.

        Returns
        -------
        Term
        """
        assert self.kernel_subgradient is not None
        return self.kernel_subgradient.term(*self.pack(size))

    def prox(self, v: Any, step: float = 1.0) -> np.ndarray:
        """argmin over w of step * r(w) + |w - v|^2 / 2.

        Parameters
        ----------
        v : array-like
            Any shape; it is taken as one vector.
        step : float
            Positive.

        Returns
        -------
        array
            In the shape of v.
        """
        return self._apply(self.prox_term, v, step)

    def dual_prox(self, v: Any, step: float = 1.0) -> np.ndarray:
        """argmin over w of step * r*(w) + |w - v|^2 / 2.

        Parameters
        ----------
        v : array-like
            Any shape; it is taken as one vector.
        step : float
            Positive.

        Returns
        -------
        array
            In the shape of v.
        """
        return self._apply(self.dual_prox_term, v, step)

    def _apply(self, make_term: Any, v: Any, step: float) -> np.ndarray:
        point = numbers("The point", v)
        out = np.empty_like(point)
        apply_prox(make_term(point.size), point.reshape(-1), positive(self, "step", step), out.reshape(-1))
        return out


def _explained(method: Callable[[Any, np.ndarray], float]) -> Callable[[Any, np.ndarray], float]:
    """The method, with an error that names the parameters or the point where these make no sense."""

    @wraps(method)
    def call(self: Penalty, v: np.ndarray) -> float:
        try:
            return method(self, v)
        except (SpdpegError, NotImplementedError):
            raise
        # Parameters and points are whatever users gave, and fail in their own ways.
        except Exception as error:
            self.pack(numbers("The point", v).size)
            if not type(self).__module__.startswith("spdpeg."):
                raise
            raise InputError(f"{type(self).__name__} has no value with these parameters ({error}).") from error

    return call


class Rescaled(Penalty):
    """factor * r, as far as the prox goes: r with steps that many times as long."""

    kernel_prox = rescaled

    def __init__(self, penalty: Penalty, factor: float) -> None:
        self.penalty = penalty
        self.factor = factor

    def value(self, v: np.ndarray) -> float:
        return self.factor * self.penalty.value(v)

    def conjugate(self, u: np.ndarray) -> float:
        return self.factor * self.penalty.conjugate(u / self.factor)

    def conic_form(self, size: int) -> ConicForm | None:
        form = self.penalty.conic_form(size)
        return None if form is None else form.scaled(self.factor)

    def pack(self, size: int) -> Packed:
        factor = Term(0, jit.as_reals([self.factor]), jit.NONE)
        return Packed(*join([self.penalty.prox_term(size), factor], [0, 0]))
