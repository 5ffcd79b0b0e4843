"""What a loss is: phi(t, b) at the margin t = <a, x> of a row and its label b."""

from typing import Any, ClassVar

import numpy as np

from ..errors import InputError
from ..kernels import jit
from ..kernels.jit import Hook, Term, as_reals
from ..kernels.rows import map_scalar
from ..parameters import Parameterized


class Loss(Parameterized):
    """A smooth convex loss of one margin.

    A subclass gives three hooks, each `f(t, b, reals, ints) -> float` (`t` is the dual variable u for the conjugate),
    and says what it knows about itself. `pack` hands the hooks their numbers.
    """

    kernel_value: ClassVar[Hook]
    kernel_derivative: ClassVar[Hook]
    kernel_conjugate: ClassVar[Hook]

    binary: ClassVar[bool] = False
    """Labels are two classes, seen by the hooks as -1 and +1."""

    bounded_slope: ClassVar[bool] = False
    """|phi'| is bounded, so a single noisy gradient cannot run away (algorithmic steps may then rely on the mean)."""

    @property
    def curvature(self) -> float:
        """An upper bound on phi''."""
        raise NotImplementedError

    def pack(self) -> np.ndarray:
        """Numbers for the hooks."""
        return jit.NO_REALS

    @property
    def value_term(self) -> Term:
        """phi, as kernels take it."""
        return self.kernel_value.term(self.pack(), jit.NONE)

    @property
    def derivative_term(self) -> Term:
        """phi', as kernels take it."""
        return self.kernel_derivative.term(self.pack(), jit.NONE)

    def value(self, t: Any, b: Any) -> np.ndarray:
        """phi(t, b), elementwise."""
        return self._map(self.value_term, t, b)

    def derivative(self, t: Any, b: Any) -> np.ndarray:
        """The derivative of phi(., b) at t, elementwise."""
        return self._map(self.derivative_term, t, b)

    def conjugate(self, u: Any, b: Any) -> np.ndarray:
        """sup over t of u t - phi(t, b), elementwise; infinite outside its domain."""
        return self._map(self.kernel_conjugate.term(self.pack(), jit.NONE), u, b)

    @staticmethod
    def _map(term: Term, a: Any, b: Any) -> np.ndarray:
        a, b = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(b, dtype=float))
        out = np.empty(a.shape)
        map_scalar(term, as_reals(a), as_reals(b), out.reshape(-1))
        return out


def positive(name: str, owner: object, value: Any) -> float:
    """`value` as a float, refused unless it is a positive number."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not (np.isfinite(number) and number > 0):
        raise InputError(f"{name} of {type(owner).__name__} is {value!r}. It must be a positive number.")
    return number
