"""Records of arrays and numbers that compiled steps take instead of long lists of arguments.

A record named `Work` lists the vectors that a scheme moves or writes to. Their names are those of the state's vectors.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np

W = TypeVar("W", bound=tuple[Any, ...])


class Pace(NamedTuple):
    """Step sizes of the next iterations: primal steps c_k, weights theta_k of the new point in averages, dual step."""

    steps: np.ndarray
    thetas: np.ndarray
    rho: float


class Steps(NamedTuple):
    """Primal steps tau and dual steps sigma, one for all or one for each coordinate and each row of F.

    Steps that differ go into the weights of r1, whose prox is then called with `prox` = 1; one for all is `prox`.
    """

    tau: np.ndarray
    sigma: np.ndarray
    prox: float
    dual_prox: float
    probabilities: np.ndarray
    """How often each row is drawn, relative to the mean; empty if all are drawn alike."""


def uniform(tau: float, sigma: float) -> Steps:
    """One primal and one dual step for all."""
    return Steps(np.array([tau]), np.array([sigma]), tau, sigma, np.empty(0))


def gather(kind: type[W], vectors: Mapping[str, np.ndarray]) -> W:
    """The record of this kind, from the vectors of a state by their names."""
    names: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
    return kind._make(vectors[name] for name in names)  # type: ignore[attr-defined]
