"""Penalties r1 and r2: one file per term. `docs/extending.md` shows how to add one."""

from .balls import L1Ball, L2Ball, Simplex
from .base import Penalty
from .box import Box, NonNegative
from .composite import SeparableSum, constrain
from .elastic_net import ElasticNet
from .fused import FusedL1
from .group import GroupL2
from .huber import HuberL1
from .l1 import L1
from .l2 import L2Squared
from .linf import LInf
from .margin_losses import Hinge, Quantile
from .nuclear import Nuclear
from .zero import Zero

__all__ = [
    "L1",
    "Box",
    "ElasticNet",
    "FusedL1",
    "GroupL2",
    "Hinge",
    "HuberL1",
    "L1Ball",
    "L2Ball",
    "L2Squared",
    "LInf",
    "NonNegative",
    "Nuclear",
    "Penalty",
    "Quantile",
    "SeparableSum",
    "Simplex",
    "Zero",
    "constrain",
]
