"""Second-order methods: proximal Newton steps on quadratic models, and what is built on them."""

from .prox_newton import ProxNewton

__all__ = ["ProxNewton"]
