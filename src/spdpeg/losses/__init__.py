"""Smooth losses l: one file per family. `docs/extending.md` shows how to add one."""

from .base import Loss
from .corners import Hinge, Quantile
from .gamma import Gamma
from .hinge import SmoothedHinge, SquaredHinge
from .huber import Huber
from .logistic import Logistic
from .poisson import Poisson
from .squared import Squared
from .zero import Zero

__all__ = [
    "Gamma",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "Poisson",
    "Quantile",
    "SmoothedHinge",
    "Squared",
    "SquaredHinge",
    "Zero",
]
