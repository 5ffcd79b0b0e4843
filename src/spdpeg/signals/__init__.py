"""Signals, images and values on graphs without their noise, in one call."""

from ..operators.pieces import Region, Segment
from .choose import Choice
from .denoise import denoise
from .denoised import Denoised

__all__ = ["Choice", "Denoised", "Region", "Segment", "denoise"]
