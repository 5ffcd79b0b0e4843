"""Smooth losses l: one file per family. `docs/extending.md` shows how to add one."""

from .base import Loss
from .gamma import Gamma
from .huber import Huber
from .logistic import Logistic
from .nonsmooth import Hinge, Quantile
from .poisson import Poisson
from .smooth_hinge import SmoothedHinge, SquaredHinge
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
