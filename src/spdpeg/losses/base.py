"""The interface of losses: phi(t, b) at the margin t = <a, x> of a row and its label b."""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..errors import InputError, UnsupportedError
from ..kernels import jit
from ..kernels.jit import Hook, Term, as_reals
from ..kernels.losses import (
    curvature_of_each,
    difference_quotient,
    implicit_prox,
    map_scalar,
    map_scalar_prox,
    plain_sum,
    sum_and_slopes,
    sum_chunks,
)
from ..parameters import Parameterized, numbers, positive
from ..penalties import Penalty


class TwoLines(NamedTuple):
    """phi(t, b) = short * max(offset - sign * t, 0) + over * max(sign * t - offset, 0), an entry for each label.

    A `smoothing` above 0 rounds the kink: the slope is (sign * t - offset) / smoothing, cut off at -short and over,
    which may then be infinite.
    """

    sign: np.ndarray
    offset: np.ndarray
    short: np.ndarray
    over: np.ndarray
    smoothing: float = 0.0


class Shifted(NamedTuple):
    """A loss at margins moved by an offset, as the same loss at other labels."""

    labels: np.ndarray
    weights: np.ndarray | None
    """Factors on the weights of the rows; None stands for 1."""


class Loss(Parameterized):
    """A smooth convex loss of one margin.

    A subclass gives three hooks, each `f(t, b, reals, ints) -> float` (`t` is the dual variable u for the conjugate),
    and says what it knows about itself. `pack` hands the hooks their numbers.

    See Also
    --------
    spdpeg.penalties.Penalty, spdpeg.operators.Operator : The bases of the other terms.

    Examples
    --------
    >>> from spdpeg import losses
    >>> loss = losses.Squared()
    >>> isinstance(loss, losses.Loss), loss.curvature
    (True, 1.0)

    docs/extending.md writes one.
    """

    kernel_value: ClassVar[Hook]
    kernel_derivative: ClassVar[Hook]
    kernel_prox: ClassVar[Hook | None] = None
    """`f(point, step, b, reals, ints) -> float`, where a closed form exists; found from the derivative otherwise."""

    kernel_read: ClassVar[Hook | None] = None
    """`f(margins, labels, weights, reals, ints, slopes) -> float`: sum of w phi, and phi' of all rows. Found from value
    and derivative otherwise; a loss with exponentials can do better."""
    kernel_conjugates: ClassVar[Hook | None] = None
    """`f(u, labels, weights, reals, ints, spare) -> float`: sum of w phi*; found from the conjugate otherwise."""

    kernel_curvature: ClassVar[Hook | None] = None
    """`f(t, b, reals, ints) -> float`: phi''; differences of the derivative otherwise. At a kink of phi' the larger of
    the two one-sided values."""
    kernel_curvatures: ClassVar[Hook | None] = None
    """`f(margins, labels, weights, reals, ints, out) -> float`: phi'' of all rows, returns 0; row by row otherwise."""

    binary: ClassVar[bool] = False
    """Labels are two classes, seen by the hooks as -1 and +1."""

    attained: ClassVar[bool] = True
    """The infimum over margins is reached at some margin, whatever the label."""

    bounded_slope: ClassVar[bool] = False
    """|phi'| is bounded, so a single noisy gradient cannot run away (algorithmic steps may then rely on the mean)."""

    curvature_jumps: ClassVar[bool] = False
    """phi'' jumps somewhere, so that Newton's steps meet rows whose curvature they could not foresee."""

    quadratic: ClassVar[bool] = False
    """phi(t, b) is (t - b)^2 / 2, so that the second moments of the rows are all that the mean loss depends on."""

    log_odds: ClassVar[bool] = False
    """t is the log odds of two classes; for several classes, the softmax loss is of the same form."""

    variance_power: ClassVar[int] = 0
    """The variance of a label is proportional to this power of its mean (Tweedie): 1 for counts, 2 for gamma."""

    log_link: ClassVar[bool] = False
    """The mean of a label is exp(t); t itself otherwise."""

    @jit.scalar
    @staticmethod
    def kernel_conjugate(u: float, b: float, reals: np.ndarray, ints: np.ndarray) -> float:
        """phi*(u, b). Infinite here: a loss that does not know it has no lower bound, and `tol` means the residual."""
        return np.inf

    @property
    def quantile(self) -> float | None:
        """The quantile of the labels that t estimates; None where it estimates their mean."""
        return None

    @property
    def curvature(self) -> float:
        """An upper bound on phi''."""
        raise NotImplementedError

    @property
    def smooth(self) -> bool:
        """Whether phi has no kinks; phi'' may still be unbounded, if `curvature` is infinite."""
        return math.isfinite(self.curvature)

    def check_labels(self, labels: np.ndarray, name: str) -> None:
        """Refuse numbers that cannot be labels; all of them can, unless a loss says otherwise.

        Parameters
        ----------
        labels : array
        name : str
            The argument that error messages name.
        """

    def shifted(self, labels: np.ndarray, offset: np.ndarray) -> Shifted:
        """Labels and factors on weights for which phi(t, .) is phi(t + offset, labels).

        Parameters
        ----------
        labels, offset : array
            One number for each row.

        Returns
        -------
        Shifted

        Raises
        ------
        UnsupportedError
            If no such labels exist.
        """
        raise UnsupportedError(
            f"{type(self).__name__} takes no offset. Squared, Huber, Quantile, Poisson and Gamma losses do."
        )

    def pack(self) -> np.ndarray:
        """Parameters as the hooks read them.

        Returns
        -------
        array
        """
        return jit.NO_REALS

    @property
    def value_term(self) -> Term:
        """phi, as kernels take it."""
        return self.kernel_value.term(self.pack(), jit.NONE)

    @property
    def derivative_term(self) -> Term:
        """phi', as kernels take it."""
        return self.kernel_derivative.term(self.pack(), jit.NONE)

    @property
    def curvature_term(self) -> Term:
        """phi'', as kernels take it."""
        if self.kernel_curvature is not None:
            return self.kernel_curvature.term(self.pack(), jit.NONE)
        return difference_quotient.term(self.pack(), np.array([self.kernel_derivative.address]))

    @property
    def curvatures_term(self) -> Term:
        """All phi'' of a chunk of rows, as kernels take it."""
        if self.kernel_curvatures is not None:
            return self.kernel_curvatures.term(self.pack(), jit.NONE)
        one = self.curvature_term
        return curvature_of_each.term(one.reals, np.concatenate([[one.address], one.ints]))

    @property
    def read_term(self) -> Term:
        """Sum of phi and all phi' of a chunk of rows, as kernels take it."""
        if self.kernel_read is not None:
            return self.kernel_read.term(self.pack(), jit.NONE)
        return sum_and_slopes.term(self.pack(), np.array([self.kernel_value.address, self.kernel_derivative.address]))

    @property
    def conjugates_term(self) -> Term:
        """Sum of phi* over a chunk of rows, as kernels take it."""
        if self.kernel_conjugates is not None:
            return self.kernel_conjugates.term(self.pack(), jit.NONE)
        return plain_sum.term(self.pack(), np.array([self.kernel_conjugate.address]))

    @property
    def prox_term(self) -> Term:
        """prox of phi, as kernels take it."""
        if self.kernel_prox is not None:
            return self.kernel_prox.term(self.pack(), jit.NONE)
        derivative = self.derivative_term
        return implicit_prox.term(derivative.reals, np.concatenate([[derivative.address], derivative.ints]))

    def value(self, t: Any, b: Any) -> np.ndarray:
        """phi(t, b), elementwise.

        Parameters
        ----------
        t : array-like
            Margins.
        b : array-like
            Labels; they broadcast against t.

        Returns
        -------
        array
        """
        return self._map(self.value_term, t, b)

    def derivative(self, t: Any, b: Any) -> np.ndarray:
        """The derivative of phi(., b) at t, elementwise.

        Parameters
        ----------
        t : array-like
            Margins.
        b : array-like
            Labels; they broadcast against t.

        Returns
        -------
        array
        """
        return self._map(self.derivative_term, t, b)

    def second_derivative(self, t: Any, b: Any) -> np.ndarray:
        """The second derivative of phi(., b) at t, elementwise.

        Parameters
        ----------
        t : array-like
            Margins.
        b : array-like
            Labels; they broadcast against t.

        Returns
        -------
        array
            At a kink of the derivative, the larger of the two one-sided values.
        """
        return self._map(self.curvature_term, t, b)

    def conjugate(self, u: Any, b: Any) -> np.ndarray:
        """sup over t of u t - phi(t, b), elementwise.

        Parameters
        ----------
        u : array-like
            Dual variables, one for each row.
        b : array-like
            Labels; they broadcast against u.

        Returns
        -------
        array
            Infinite outside the domain of the conjugate.
        """
        return self._map(self.kernel_conjugate.term(self.pack(), jit.NONE), u, b)

    def conjugate_sum(self, u: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> float:
        """Sum of w phi*(u, b) over all rows.

        Parameters
        ----------
        u, labels : array
            One number for each row.
        weights : array
            Weights of the rows; empty if all of them are 1.

        Returns
        -------
        float
        """
        total = float(sum_chunks(self.conjugates_term, u, labels, weights, np.empty(jit.CHUNK)))
        return math.inf if math.isnan(total) else total  # weight 0 times infinity

    def slope_range(self, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The ends of the interval that phi' stays in, for each label: the domain of the conjugate.

        Parameters
        ----------
        labels : array

        Returns
        -------
        pair of arrays
            Lower and upper ends.
        """
        return np.full(labels.size, -np.inf), np.full(labels.size, np.inf)

    def lines(self, labels: np.ndarray) -> TwoLines | None:
        """The loss as two straight lines for each label, with a sharp or a rounded kink between them.

        Parameters
        ----------
        labels : array

        Returns
        -------
        TwoLines or None
            None for any other loss.
        """
        return None

    def as_penalty(self, labels: np.ndarray, weights: np.ndarray) -> Penalty | None:
        """The sum of w phi(t, b) over all rows, as a penalty of the margins t.

        Parameters
        ----------
        labels : array
            One for each row.
        weights : array
            Weights of the rows; empty if all of them are 1.

        Returns
        -------
        Penalty or None
            None if there is no such penalty.
        """
        return None

    def prox(self, t: Any, b: Any, step: float = 1.0) -> np.ndarray:
        """argmin over s of step * phi(s, b) + (s - t)^2 / 2, elementwise.

        Parameters
        ----------
        t : array-like
            Margins.
        b : array-like
            Labels; they broadcast against t.
        step : float
            Positive.

        Returns
        -------
        array
        """
        t, b = _together(t, b)
        out = np.empty(t.shape)
        map_scalar_prox(self.prox_term, as_reals(t), positive(self, "step", step), as_reals(b), out.reshape(-1))
        return out

    @staticmethod
    def _map(term: Term, a: Any, b: Any) -> np.ndarray:
        a, b = _together(a, b)
        out = np.empty(a.shape)
        map_scalar(term, as_reals(a), as_reals(b), out.reshape(-1))
        return out


def _together(points: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    """Points and labels as arrays of one shape."""
    one, other = numbers("The point", points), numbers("The label", labels)
    try:
        one, other = np.broadcast_arrays(one, other)
    except ValueError:
        raise InputError(
            f"Points of shape {one.shape} and labels of shape {other.shape} do not fit together."
        ) from None
    return one, other
