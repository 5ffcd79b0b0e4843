"""Smooth losses l: one file per family. `docs/extending.md` shows how to add one."""

from .base import Loss
from .corners import Hinge, Quantile
from .hinge import SmoothedHinge, SquaredHinge
from .huber import Huber
from .logistic import Logistic
from .squared import Squared
from .zero import Zero

__all__ = ["Hinge", "Huber", "Logistic", "Loss", "Quantile", "SmoothedHinge", "Squared", "SquaredHinge", "Zero"]
