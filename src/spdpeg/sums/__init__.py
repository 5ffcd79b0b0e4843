"""Sums over rows: all that the exact methods see of the data.

A method asks for a `Sweep` at a point and gets the mean loss, its gradient and its curvature, made in one read; what
belongs to single rows (margins, slopes, bends) stays with the rows. `local` has rows in memory or on a memory map.
"""

from .local import LocalSums, Sweep

__all__ = ["LocalSums", "Sweep"]
