"""The signal to denoise, after checks: values, weights, F and the norms."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import InputError, UnsupportedError
from ..graphs import structure as structures
from ..operators import Difference, FirstDifference, GridDifference, Operator
from ..operators.difference import checked_order
from ..operators.grid import neighbours
from ..parameters import as_number, numbers, shown, truth
from ..penalties import L1, GroupL2, Penalty

_ROUNDING = 1e-16
"""Fraction of a sum of squares that counts as nothing."""


@dataclass(frozen=True, eq=False)
class Signal:
    """Values with weights, and how they hang together.

    Attributes
    ----------
    y : array
        The values in C order; 0 where they are missing.
    weights : array
        At least 0, and 0 where a value is missing.
    shape : tuple of int
    F : Operator
    l1 : float
    groups : array or None
        Entries of F x with the same label are penalised by their length; None penalises each on its own.
    order : int or None
        Of the differences along a line; None for grids and graphs.
    """

    y: np.ndarray
    weights: np.ndarray
    shape: tuple[int, ...]
    F: Operator
    l1: float
    groups: np.ndarray | None
    order: int | None

    @property
    def observed(self) -> np.ndarray:
        """Which values count."""
        return self.weights > 0.0

    @property
    def even(self) -> bool:
        """Whether all of them count the same."""
        return bool(self.weights.min() == self.weights.max())

    @property
    def complete(self) -> bool:
        """Whether all of them do."""
        return bool(self.weights.min() > 0.0)

    @cached_property
    def size(self) -> float:
        """An objective beside which one may be as good as 0: that of the best constant, or of 0 under l1.

        Rounding of large values is added.
        """
        total = float(self.weights.sum())
        level = float(self.weights @ self.y) / total if self.l1 == 0.0 else 0.0
        return 0.5 * float(self.weights @ (np.square(self.y - level) + _ROUNDING * np.square(self.y)))

    def without(self, held_out: np.ndarray) -> "Signal":
        """The signal with some more values missing."""
        return replace(self, weights=np.where(held_out, 0.0, self.weights))

    def norm(self, lam2: Any) -> Penalty:
        """r2 with this weight."""
        return L1(lam2) if self.groups is None else GroupL2(lam2, self.groups)

    def penalty(self, image: np.ndarray, lam2: Any) -> float:
        """r2 at F x."""
        sizes = np.abs(image) if self.groups is None else np.sqrt(np.bincount(self.groups, np.square(image)))
        return float(np.sum(lam2 * sizes))

    def objective(self, x: np.ndarray, lam2: Any) -> float:
        """1/2 sum w (x - y)^2 + l1 |x|_1 + r2(F x)."""
        residual = x - self.y
        value = 0.5 * float(self.weights @ (residual * residual)) + self.penalty(self.F.forward(x), lam2)
        return value + self.l1 * float(np.sum(np.abs(x))) if self.l1 > 0.0 else value


def as_signal(y: Any, lam1: Any, order: Any, structure: Any, weights: Any, isotropic: Any) -> Signal:
    """The arguments of `denoise`, checked."""
    values = numbers("y", y)
    if isinstance(y, np.ma.MaskedArray):  # what is masked is missing
        values[np.ma.getmaskarray(y)] = np.nan
    if values.size == 0 or values.ndim == 0:
        raise InputError(f"y has shape {values.shape}. Give at least one value.")
    w = _weights(weights, values)
    if not np.all(np.isfinite(values)):
        if np.any(np.isinf(values)):
            raise InputError("y holds infinite values. Repair them, or make them NaN, which means missing.")
        missing = np.isnan(values)
        w[missing.ravel()] = 0.0
        values[missing] = 0.0
    if not w.any():
        raise InputError("All values of y are missing or have weight 0. Give at least one that counts.")
    l1 = as_number(lam1)
    if not 0.0 <= l1 < np.inf:
        raise InputError(f"lam1 is {shown(lam1)}. Give a finite number of at least 0.")
    order = checked_order("order", order)
    grid = structure is None and values.ndim > 1
    if (grid or structure is not None) and order > 1:
        raise UnsupportedError(
            f"order is {order}, which needs a signal along a line. Leave it out for images and graphs, or give F as "
            "structure=operators.Matrix(...)."
        )
    F = _operator(values, order, structure)
    if truth("isotropic", isotropic):
        if F.grid is None:
            raise UnsupportedError(
                "isotropic is True and y is no image or volume: only a grid has directions. Leave isotropic out."
            )
        groups = neighbours(np.ones(F.grid, dtype=bool))[:, 0]
    else:
        groups = None
    line = order if F.chain or (F.line_order is not None and structure is None) else None
    return Signal(values.ravel(), w, values.shape, F, l1, groups, line)


def _weights(weights: Any, values: np.ndarray) -> np.ndarray:
    if weights is None:
        return np.ones(values.size)
    found = numbers("weights", weights)
    if found.shape != values.shape or not np.all(np.isfinite(found)) or np.any(found < 0.0):
        raise InputError(
            f"weights has shape {found.shape} or holds entries that are not finite numbers of at least 0. "
            f"Give one for each value of y, which has shape {values.shape}."
        )
    return found.ravel()


def _operator(values: np.ndarray, order: int, structure: Any) -> Operator:
    F: Operator
    if structure is not None:
        if isinstance(structure, str) and structure != "chain":
            raise InputError(
                f"structure is {structure!r}, which learns a graph from rows of data. Give denoise the graph itself."
            )
        F = structures.resolve(structure, values.reshape(1, -1), None)
    elif values.ndim > 1:
        F = GridDifference(values.shape)
    else:
        F = FirstDifference() if order == 1 else Difference(order)
    return F.bind(values.size)
