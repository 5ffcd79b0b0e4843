"""Smooth losses l: one file per family. `docs/extending.md` shows how to add one."""

from .base import Loss
from .logistic import Logistic
from .zero import Zero

__all__ = ["Logistic", "Loss", "Zero"]
