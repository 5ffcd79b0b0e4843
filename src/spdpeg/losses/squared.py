"""Squared loss."""

from ..kernels import jit
from .base import Loss


class Squared(Loss):
    """(t - b)^2 / 2 for labels b that are numbers: least squares.

    Examples
    --------
    >>> from spdpeg import losses
    >>> losses.Squared().value([0.0, 3.0], 1.0).tolist()
    [0.5, 2.0]
    """

    @property
    def curvature(self) -> float:
        return 1.0

    @jit.scalar
    def kernel_value(t, b, reals, ints):  # type: ignore[no-untyped-def]
        return 0.5 * (t - b) * (t - b)

    @jit.scalar
    def kernel_derivative(t, b, reals, ints):  # type: ignore[no-untyped-def]
        return t - b

    @jit.scalar
    def kernel_conjugate(u, b, reals, ints):  # type: ignore[no-untyped-def]
        return u * (0.5 * u + b)
