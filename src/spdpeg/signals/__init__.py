"""Signals, images and values on graphs without their noise, in one call."""

from .choose import Choice
from .denoise import denoise
from .denoised import Denoised, Region, Segment

__all__ = ["Choice", "Denoised", "Region", "Segment", "denoise"]
