"""Second-order methods: proximal Newton steps on quadratic models, and what is built on them."""

from .sampled_newton import SampledNewton

__all__ = ["SampledNewton"]
