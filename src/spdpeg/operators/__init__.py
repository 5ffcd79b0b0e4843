"""Linear maps F: one file per family. `docs/extending.md` shows how to add one."""

from .base import Operator
from .difference import FirstDifference
from .identity import Empty, Identity
from .matrix import Matrix, as_operator

__all__ = ["Empty", "FirstDifference", "Identity", "Matrix", "Operator", "as_operator"]
