"""r1(x) + r2(F x): both penalties, the operator, and their sum as one penalty."""

from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import penalties
from ..operators import Empty, Identity, Operator, Repeated, as_operator
from ..parameters import require_parts
from ..penalties import Penalty, SeparableSum, constrain

_ROUNDING = 16.0 * np.finfo(float).eps
"""Fraction of the terms of a row of F x that their sum may be off by."""
_NO_STEP = 1e-300
"""A prox with hardly any step is the projection onto the set."""
MOST_FREE = 1000
"""Most free directions that are treated; more make a bound too expensive."""


class Regularization:
    """The penalised part of a problem; no part of it sees the intercept.

    Parameters
    ----------
    r1, r2 : Penalty
    F : Operator, sparse matrix, array or None
        None is the identity.
    domain : Penalty or None
        The convex set that x stays in.
    n_features : int
    intercept : bool
        Whether x has one more coordinate, the last.
    bound : Operator, optional
        What F is made into for these coordinates, if that is known.

    Attributes
    ----------
    regularizer : Penalty
        r1 plus the domain.
    F : Operator
        Without rows where r2 is zero.
    n_coordinates : int
        Length of x.
    """

    def __init__(
        self,
        r1: Penalty,
        r2: Penalty,
        F: Any,
        domain: Penalty | None,
        n_features: int,
        intercept: bool,
        bound: Operator | None = None,
    ) -> None:
        self.domain = domain
        self._n_features, self._intercept = n_features, intercept
        self.n_coordinates = n_features + int(intercept)
        inside = constrain(r1, domain)
        inside.pack(n_features)  # refuses parameters that do not fit
        self._r1_of_features = r1
        self.r1, self.regularizer = self._beside_intercept(r1), self._beside_intercept(inside)
        self.r2, self._given_F = r2, F
        self.F = self._make_operator(F) if bound is None else bound
        self.r2.pack(self.F.n_outputs)

    def with_terms(self, r1: Penalty, r2: Penalty, F: Any) -> "Regularization":
        """Other penalties on the same coordinates, inside the same set."""
        # A path has the same F at all of its weights, and what is known of it is kept.
        same = F is self._given_F and isinstance(F, Operator) and F.known_inputs is not None
        bound = self.F if same and not r2.vanishes and not self.r2.vanishes else None
        return Regularization(r1, r2, F, self.domain, self._n_features, self._intercept, bound)

    def value(self, x: np.ndarray) -> float:
        """r1(x) + r2(F x); infinite outside the domain."""
        return self._value(x) if x.any() else self.at_zero

    @cached_property
    def at_zero(self) -> float:
        """The value at x = 0, where most runs start and which the size of an objective is measured by."""
        return self._value(np.zeros(self.n_coordinates))

    def _value(self, x: np.ndarray) -> float:
        if self.joint is not None:
            return self.joint.value(x)
        return self.regularizer.value(x) + self.value_of_r2(x, self.F.forward(x))

    def value_of_r2(self, x: np.ndarray, Fx: np.ndarray) -> float:
        """r2(F x) with F x as computed, which may lie outside a set by its own rounding, where terms cancel."""
        value = self.r2.value(Fx)
        if value < np.inf or not np.all(np.isfinite(Fx)):
            return value
        inside = self.r2.prox(Fx, _NO_STEP)
        near = np.abs(inside - Fx) <= _ROUNDING * (abs(self.F.matrix()) @ np.abs(x))
        return self.r2.value(inside) if np.all(near) else value

    @property
    def strong_convexity(self) -> float:
        """Modulus that r1 brings."""
        return self.r1.strong_convexity

    @cached_property
    def fused(self) -> penalties.FusedL1 | None:
        """r1 + r2(F .) of the features as one proximable penalty, for l1 norms along a chain; None otherwise."""
        if self.domain is not None or not self.F.core.chain or self.F.n_outputs != self._n_features - 1:
            return None  # a chain may be there for some of the features only, or for none
        l1, l2 = self._r1_of_features.l1_weights(self._n_features), self.r2.l1_weights(self.F.n_outputs)
        if l1 is None or l2 is None or np.any(l1 != l1[0]):
            return None
        return penalties.FusedL1(float(l1[0]), l2)

    @cached_property
    def joint(self) -> Penalty | None:
        """r1 + r2(F .) as one proximable penalty: where there is no r2, and for two l1 norms along a chain."""
        if self.r2.vanishes:
            return self.regularizer
        return None if self.fused is None else self._beside_intercept(self.fused)

    def chain_dual(self, x: np.ndarray, subgradient: np.ndarray) -> np.ndarray:
        """The y in the subdifferential of r2 at F x that a subgradient of the joint penalty at x contains.

        x is the prox at x + subgradient, which is total variation first and the threshold after it: y is the flow along
        the chain that the first takes.
        """
        if self.F.n_outputs == 0:
            return np.zeros(0)
        point = (x + subgradient)[: self._n_features]
        assert self.fused is not None
        flat = penalties.FusedL1(0.0, self.fused.l2).prox(point)
        return -np.cumsum(point - flat)[:-1]

    @cached_property
    def free_directions(self) -> sp.csc_array | None:
        """Columns that span the directions in which no penalty grows; None if there are too many to find."""
        free = np.flatnonzero(self.regularizer.free(self.n_coordinates))
        if free.size == 0:
            return _no_direction(self.n_coordinates)
        if free.size == 1 and self._intercept:
            return _last_direction(self.n_coordinates)
        if self.r2.vanishes:
            basis = sp.eye_array(free.size, format="csc") if free.size <= MOST_FREE else None
        else:
            basis = self.F.null_space(free)
        if basis is None:
            return None
        lift = sp.csc_array((np.ones(free.size), (free, np.arange(free.size))), shape=(self.n_coordinates, free.size))
        return sp.csc_array(lift @ basis)

    def _make_operator(self, F: Any) -> Operator:
        if self.r2.vanishes:
            return Empty().bind(self.n_coordinates)
        operator = Identity() if F is None else as_operator(F)
        require_parts(operator, Operator, ("n_outputs", "squared_norm", "kernel_forward", "kernel_adjoint"))
        operator = operator.bind(self._n_features)
        return Repeated(operator, skip=1).bind(self.n_coordinates) if self._intercept else operator

    def _beside_intercept(self, penalty: Penalty) -> Penalty:
        return SeparableSum([penalty, penalties.Zero()], [self._n_features, 1]) if self._intercept else penalty


@lru_cache(maxsize=16)
def _no_direction(size: int) -> sp.csc_array:
    """No direction at all; cached for the same reason as the next."""
    return sp.csc_array((size, 0))


@lru_cache(maxsize=16)
def _last_direction(size: int) -> sp.csc_array:
    """The direction of the intercept; cached, since paths ask for it repeatedly."""
    return sp.csc_array((np.ones(1), (np.array([size - 1]), np.zeros(1, dtype=np.int64))), shape=(size, 1))
