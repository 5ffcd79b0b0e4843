"""The theorems as functions: what is proved of SPDPEG, with proofs in docs/theory.md.

Averages are those of the method, over the iterations 0, ..., t; the multiplier starts at 0. `violation`,
`weighted_violation` and the `objective_...` functions bound what users read, |F x~ - z~| and P(x~) - P*. The others are
the paper's theorems with their constants corrected (docs/spdpeg.md): B bounds E[l(x~) + r1(x~) + r2(z~)] - P* from
above, and a multiple of |F E x~ - E z~| that each of them names.
"""

import math
from collections.abc import Callable
from functools import wraps

from .errors import InputError
from .parameters import as_number, shown, whole_number

__all__ = [
    "convex",
    "objective_convex",
    "objective_one_sample",
    "objective_strongly_convex",
    "objective_strongly_convex_weighted",
    "strongly_convex",
    "strongly_convex_weighted",
    "violation",
    "weighted_violation",
]

_LARGEST = 1e60
"""Numbers whose squares and products are finite."""

_MOST = 1e155
"""Iterations."""

_DIVISORS = ("rho", "mu", "kappa")


def _checked(bound: Callable[..., float]) -> Callable[..., float]:
    """The bound, with constants that are no numbers refused by name."""

    @wraps(bound)
    def call(t: int, **constants: float) -> float:
        if whole_number("t", t, least=0) > _MOST:
            raise InputError(f"t is {shown(t)}. Give a number of iterations.")
        for name, value in constants.items():
            number = as_number(value)
            if not (0.0 <= number < _LARGEST or number == math.inf) or (name in _DIVISORS and number <= 1.0 / _LARGEST):
                raise InputError(
                    f"{name} is {shown(value)}. Give a number of at least 0; {', '.join(_DIVISORS)} divide."
                )
        return bound(t, **constants)

    return call


@_checked
def violation(t: int, *, rho: float, dual_radius: float, norm_F: float, diameter: float) -> float:
    """|F x~ - z~| for the uniform average: surely, not only in expectation. O(1/t).

    Parameters
    ----------
    t : int
        Last iteration.
    rho : float
        The same in all iterations.
    dual_radius : float
        R, the largest norm of a subgradient of r2: its weight, if r2 is a weighted Euclidean norm.
    norm_F : float
    diameter : float
        Of the set that x lives in.

    Returns
    -------
    float

    Examples
    --------
    >>> from spdpeg import theory
    >>> theory.violation(99, rho=1.0, dual_radius=1.0, norm_F=2.0, diameter=1.0)
    0.03
    """
    return (dual_radius / rho + norm_F * diameter) / (t + 1)


@_checked
def weighted_violation(t: int, *, rho: float, dual_radius: float, norm_F: float, diameter: float) -> float:
    """|F x~ - z~| for the weights of `spdpeg-sc2`: surely. O(1/t).

    Returns
    -------
    float
    """
    largest = dual_radius + rho * norm_F * diameter
    return 2 * (2 * t + 3) * largest / (rho * (t + 1) * (t + 6))


@_checked
def objective_convex(
    t: int, *, base: float, diameter: float, sigma: float, rho: float, dual_radius: float, kappa: float = 1.0
) -> float:
    """E[P(x~)] - P* of `spdpeg` with two samples: O(1/sqrt(t)).

    Parameters
    ----------
    t : int
        Last iteration.
    base : float
        L~ of the step 1 / (kappa sqrt(k+1) + L~), with 4 s <= L~ and L~^2 >= s L~ + 4 L^2, s being rho |F|^2.
    diameter : float
        Of the set that x lives in.
    sigma : float
        sigma^2 bounds the variance of one stochastic gradient.
    rho : float
    dual_radius : float
        R, the largest norm of a subgradient of r2.
    kappa : float

    Returns
    -------
    float
    """
    n = t + 1
    noise = (kappa * diameter**2 / 2 + 8 * sigma**2 / kappa) / math.sqrt(n)
    return base * diameter**2 / (2 * n) + noise + dual_radius**2 / (2 * rho * n)


@_checked
def objective_one_sample(
    t: int, *, base: float, diameter: float, sigma: float, rho: float, dual_radius: float, kappa: float = 1.0
) -> float:
    """E[P(x~)] - P* of `spdpeg` with one sample, both gradients at x: O(1/sqrt(t)), with L~ >= L + s.

    Returns
    -------
    float
    """
    n = t + 1
    noise = (kappa * diameter**2 / 2 + sigma**2 / kappa) / math.sqrt(n)
    return base * diameter**2 / (2 * n) + noise + dual_radius**2 / (2 * rho * n)


@_checked
def objective_strongly_convex(
    t: int, *, base: float, mu: float, distance: float, sigma: float, rho: float, dual_radius: float
) -> float:
    """E[P(x~)] - P* of `spdpeg-sc1` with two samples: O(log(t)/t), without a bounded set.

    `mu` is twice the modulus of r1, `distance` is |x* - x0|, L~ as for `objective_convex`; steps 2 / (mu (k+1) + 2 L~).

    Returns
    -------
    float
    """
    n = t + 1
    drift = (mu + 2 * base) * distance**2 / (4 * n)
    noise = 8 * sigma**2 * (1 + math.log(n)) / (mu * n)
    return drift + noise + dual_radius**2 / (2 * rho * n)


@_checked
def objective_strongly_convex_weighted(
    t: int,
    *,
    base: float,
    mu: float,
    diameter: float,
    distance: float,
    sigma: float,
    rho: float,
    dual_radius: float,
    norm_F: float,
) -> float:
    """E[P(x~)] - P* of `spdpeg-sc2` with two samples: O(1/t), with no assumption on the multipliers.

    Parameters as before; steps 4 / (mu (k+2) + 4 L~).

    Returns
    -------
    float
    """
    n = t + 1
    drift = base * t * diameter**2 / 2 + 3 * (mu + 2 * base) * distance**2 / 4
    noise = 24 * sigma**2 * n / mu
    dual = (t + 3) * (2 * dual_radius + rho * norm_F * diameter) ** 2 / (2 * rho)
    return 2 * (drift + noise + dual) / (n * (t + 6))


@_checked
def convex(
    t: int, *, base: float, diameter: float, sigma: float, rho: float, dual_norm: float, kappa: float = 1.0
) -> float:
    """B of Theorem 1, `spdpeg`: O(1/sqrt(t)).

    sqrt(2) (|dual*| + 1) - |dual*| times |F E x~ - E z~| is at most B.

    Parameters
    ----------
    t : int
        Last iteration.
    base : float
        L~ of the step rule.
    diameter : float
        Diameter of the set that x lives in.
    sigma : float
        sigma^2 bounds the variance of one stochastic gradient.
    rho : float
    dual_norm : float
        |dual*|, the start being dual = 0.
    kappa : float
        Of the step 1 / (kappa sqrt(k+1) + L~); 1 in the paper.

    Returns
    -------
    float
    """
    n = t + 1
    drift = base * diameter**2 / (2 * n)
    noise = (kappa * diameter**2 / 2 + 16 * sigma**2 / kappa) / math.sqrt(n)
    return drift + noise + (dual_norm + 1) ** 2 / (rho * n)


@_checked
def strongly_convex(
    t: int, *, base: float, mu: float, distance: float, sigma: float, rho: float, dual_norm: float
) -> float:
    """B of Theorem 2, `spdpeg-sc1`: O(log(t)/t). `distance` is |x* - x0|, `mu` the modulus in the step rule.

    sqrt(2) (|dual*| + 1) - |dual*| times |F E x~ - E z~| is at most B.

    Returns
    -------
    float
    """
    n = t + 1
    drift = (mu + 2 * base) * distance**2 / (4 * n)
    noise = 16 * sigma**2 * (1 + math.log(n)) / (mu * n)
    return drift + noise + (dual_norm + 1) ** 2 / (rho * n)


@_checked
def strongly_convex_weighted(
    t: int,
    *,
    base: float,
    mu: float,
    diameter: float,
    distance: float,
    sigma: float,
    rho: float,
    dual_norm: float,
    dual_bound: float,
) -> float:
    """B of Theorem 3, `spdpeg-sc2`: O(1/t), if the multipliers of all iterations stay within `dual_bound`.

    |F E x~ - E z~| is at most B.

    Returns
    -------
    float
    """
    n = t + 1
    drift = base * diameter**2 / (t + 6) + (3 * mu + 6 * base) * distance**2 / (2 * n * (t + 6))
    noise = 96 * sigma**2 / (mu * (t + 6))
    return drift + noise + 2 * ((dual_norm + 1) ** 2 + dual_bound**2) / (rho * n)
