"""Penalties in other units: r(s v) and k r(v) as penalties of the same kind."""

from typing import Any

import numpy as np

from spdpeg import penalties


def stretched(r: Any, s: float) -> Any:
    """v -> r(s v), or NotImplemented where the kind has no parameter for it."""
    match type(r).__name__:
        case "NoneType" | "Zero" | "NonNegative":
            return r
        case "L1":
            return penalties.L1(_times(r.weight, s))
        case "L2Squared":
            return penalties.L2Squared(_times(r.weight, s * s))
        case "ElasticNet":
            return penalties.ElasticNet(_times(r.l1, s), _times(r.l2, s * s))
        case "FusedL1":
            return penalties.FusedL1(r.l1 * s, _times(r.l2, s))
        case "GroupL2":
            return penalties.GroupL2(_times(r.weight, s), r.groups)
        case "Nuclear":
            return penalties.Nuclear(r.weight * s, r.shape)
        case "LInf":
            return penalties.LInf(r.weight * s)
        case "HuberL1":
            return penalties.HuberL1(_times(r.weight, s), r.delta / s)
        case "Quantile":
            return penalties.Quantile(np.asarray(r.labels) / s, r.level, _times(r.weight, s))
        case "Box":
            return penalties.Box(_times(r.lower, 1 / s), _times(r.upper, 1 / s))
        case "L2Ball" | "L1Ball":
            return type(r)(r.radius / s)
        case "Simplex":
            return penalties.Simplex(r.total / s)
        case "SeparableSum":
            parts = [stretched(part, s) for part in r.parts]
            return NotImplemented if NotImplemented in parts else penalties.SeparableSum(parts, r.sizes)
    return NotImplemented


def multiplied(r: Any, k: float) -> Any:
    """v -> k r(v)."""
    name = type(r).__name__
    if name in ("NoneType", "Zero", "NonNegative", "Box", "L2Ball", "L1Ball", "Simplex"):
        return r
    if name == "SeparableSum":
        return penalties.SeparableSum([multiplied(part, k) for part in r.parts], r.sizes)
    if name in ("ElasticNet", "FusedL1"):
        return type(r)(_times(r.l1, k), _times(r.l2, k))
    parameters = r.get_params(deep=False)
    return type(r)(**{**parameters, "weight": _times(r.weight, k)})


def by_column(r: Any, factors: np.ndarray) -> Any:
    """v -> r(factors * v), where r treats each coordinate by itself."""
    match type(r).__name__:
        case "NoneType" | "Zero" | "NonNegative":
            return r
        case "L1":
            return penalties.L1(np.asarray(r.weight) * factors)
        case "L2Squared":
            return penalties.L2Squared(np.asarray(r.weight) * factors**2)
        case "ElasticNet":
            return penalties.ElasticNet(np.asarray(r.l1) * factors, np.asarray(r.l2) * factors**2)
        case "Box":
            return penalties.Box(np.asarray(r.lower) / factors, np.asarray(r.upper) / factors)
    return NotImplemented


def reordered(r: Any, order: np.ndarray) -> Any:
    """The penalty of v[order] that r is of v, where r treats all coordinates alike or each by itself."""
    match type(r).__name__:
        case "NoneType" | "Zero" | "NonNegative" | "LInf" | "L2Ball" | "L1Ball" | "Simplex":
            return r
        case "L1" | "L2Squared" | "HuberL1" | "Hinge" | "Quantile" | "ElasticNet" | "Box":
            size = len(order)
            parameters = r.get_params(deep=False)
            changed = {name: value[order] for name, value in parameters.items() if np.shape(value) == (size,)}
            return type(r)(**{**parameters, **changed})
        case "GroupL2" if r.groups is None:
            return r
    return NotImplemented


def _times(value: Any, s: float) -> Any:
    return value * s if np.ndim(value) == 0 else np.asarray(value) * s
