"""Penalties r1 and r2: one file per term. `docs/extending.md` shows how to add one."""

from .balls import L1Ball, L2Ball
from .base import Penalty
from .box import Box, NonNegative
from .composite import SeparableSum, constrain
from .l1 import L1
from .l2 import L2Squared
from .zero import Zero

__all__ = ["L1", "Box", "L1Ball", "L2Ball", "L2Squared", "NonNegative", "Penalty", "SeparableSum", "Zero", "constrain"]
