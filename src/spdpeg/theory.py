"""The theorems' bounds as functions, with the constants corrected (docs/spdpeg.md says what and why).

Each bounds |E[l(x~) + r1(x~) + r2(z~)] - P*| and (|dual*| + 1)-fold |F E x~ - E z~| after iterations 0, ..., t.
"""

import math


def convex(
    t: int, *, base: float, diameter: float, sigma: float, rho: float, dual_norm: float, kappa: float = 1.0
) -> float:
    """Theorem 1, `spdpeg`: O(1/sqrt(t)).

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
    """
    n = t + 1
    drift = base * diameter**2 / (2 * n)
    noise = (kappa * diameter**2 / 2 + 16 * sigma**2 / kappa) / math.sqrt(n)
    return drift + noise + (dual_norm + 1) ** 2 / (rho * n)


def strongly_convex(
    t: int, *, base: float, mu: float, distance: float, sigma: float, rho: float, dual_norm: float
) -> float:
    """Theorem 2, `spdpeg-sc1`: O(log(t)/t). `distance` is |x* - x0|, `mu` the modulus in the step rule."""
    n = t + 1
    drift = (mu + 2 * base) * distance**2 / (4 * n)
    noise = 16 * sigma**2 * (1 + math.log(n)) / (mu * n)
    return drift + noise + (dual_norm + 1) ** 2 / (rho * n)


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
    """Theorem 3, `spdpeg-sc2`: O(1/t), if the multipliers of all iterations stay within `dual_bound`."""
    n = t + 1
    drift = base * diameter**2 / (t + 6) + (3 * mu + 6 * base) * distance**2 / (2 * n * (t + 6))
    noise = 96 * sigma**2 / (mu * (t + 6))
    return drift + noise + 2 * ((dual_norm + 1) ** 2 + dual_bound**2) / (rho * n)
