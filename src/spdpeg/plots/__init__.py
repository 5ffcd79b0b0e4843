"""Pictures of runs, coefficients, paths and scores; they need matplotlib (`pip install matplotlib`)."""

from .coefficients import coefficients
from .grids import path, scores
from .runs import run
from .signals import denoised

__all__ = ["coefficients", "denoised", "path", "run", "scores"]
