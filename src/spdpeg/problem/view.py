"""What a method sees of a problem."""

import math
from functools import cached_property
from typing import Any

import numpy as np

from ..certificate.slopes import best_constant
from ..kernels.terms import Terms
from .expected_loss import ExpectedLoss
from .regularization import Regularization


class View(ExpectedLoss, Regularization):
    """An expected loss and its regularization: all that a method may use. `Problem` is one that users can make."""

    def objective(self, x: Any) -> float:
        """E[l] + r1(x) + r2(Fx); infinite outside the domain."""
        point = self._point(x)
        return self.loss_value(point) + self.penalty_value(point)

    @cached_property
    def loss_size(self) -> float:
        """What an objective is small beside: that at x = 0, where a hinge as a penalty counts like one as the loss.

        Under a log link it is the loss of the best constant times e.
        """
        if not self.loss.log_link:
            penalty = self.penalty_value(np.zeros(self.n_coordinates))
            return self.loss_at_zero + (penalty if math.isfinite(penalty) else 0.0)
        return self.loss_of_constant(best_constant(self) + 1.0)

    def terms(self) -> Terms:
        """The problem as kernels take it."""
        return Terms(
            self.loss.derivative_term,
            self.regularizer.prox_term(self.n_coordinates),
            self.r2.dual_prox_term(self.F.n_outputs),
            self.F.forward_term,
            self.F.adjoint_term,
        )
