"""Carrying r1 through the operator: min l(x) + r2(Fx) + r1(x) as min l(x) + (r2, r1)([F; I] x).

Methods without a prox of r1 take it this way. The dual grows by d entries, and exact zeros appear in z only.
"""

from typing import NamedTuple

from ..kernels.terms import Terms
from ..operators import Identity, Operator, Stack
from ..penalties import Penalty, SeparableSum, Zero
from ..view import View


class Stacked(NamedTuple):
    """The operator K = [F; I] and the penalty on K x."""

    K: Operator
    penalty: Penalty

    def terms(self, problem: View) -> Terms:
        """The problem in its stacked form, as kernels take it."""
        return Terms(
            problem.loss.derivative_term,
            Zero().prox_term(problem.n_coordinates),
            self.penalty.dual_prox_term(self.K.n_outputs),
            self.K.forward_term,
            self.K.adjoint_term,
        )


def stacked(problem: View) -> Stacked:
    """The stacked form of a problem."""
    K = Stack(problem.F, Identity()).bind(problem.n_coordinates)
    return Stacked(K, SeparableSum([problem.r2, problem.regularizer], [problem.F.n_outputs, problem.n_coordinates]))
