"""Operators one below the other: several structures in one r2."""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..kernels.jit import NONE, Term
from ..kernels.terms import join, stacked, stacked_adjoint
from .base import Operator
from .matrix import as_operator


class Stack(Operator):
    """F x = (F_1 x, ..., F_m x), the rows of the operators one after the other.

    Goes with `penalties.SeparableSum`, which gives each operator its own penalty. The parts stay as they are and are
    called by address, so stencils remain stencils and a user's operator needs nothing more. The adjoint adds up vectors
    of length d in working memory that its term carries. The squared norm is bounded by the sum of the parts'.

    Parameters
    ----------
    *operators : Operator, sparse matrix or array

    See Also
    --------
    Repeated : One operator on several parts of x.
    spdpeg.penalties.SeparableSum : A penalty for each part of F x.

    Examples
    --------
    >>> from spdpeg import operators
    >>> stack = operators.Stack(operators.Identity(), operators.FirstDifference())
    >>> (stack.bind(3) @ [1.0, 1.0, 4.0]).tolist()
    [1.0, 1.0, 4.0, 0.0, 3.0]
    """

    kernel_forward = stacked
    kernel_adjoint = stacked_adjoint

    def __init__(self, *operators: Any) -> None:
        self.operators = operators

    def bind(self, n_inputs: int) -> Self:
        if not self.operators:
            raise InputError("Stack() holds no operator. Give at least one.")
        bound = super().bind(n_inputs)
        bound.operators = tuple(as_operator(part).bind(n_inputs) for part in self.operators)
        return bound

    def _own_inputs(self) -> int | None:
        known = (as_operator(part)._own_inputs() for part in self.operators)
        return next((d for d in known if d is not None), None)

    @property
    def parts(self) -> tuple[Operator, ...]:
        """The operators, bound."""
        return (self if self._n_inputs is not None else self.bind(self.n_inputs)).operators

    @property
    def n_outputs(self) -> int:
        return sum(part.n_outputs for part in self.parts)

    @property
    def squared_norm(self) -> float:
        return sum(part.squared_norm for part in self.parts)

    @property
    def forward_term(self) -> Term:
        parts = self.parts
        return stacked.term(*join([part.forward_term for part in parts], [part.n_outputs for part in parts]))

    @property
    def adjoint_term(self) -> Term:
        parts = self.parts
        scratch = Term(0, np.zeros(self.n_inputs), NONE)
        terms = [*(part.adjoint_term for part in parts), scratch]
        return stacked_adjoint.term(*join(terms, [*(part.n_outputs for part in parts), 0]))

    def matrix(self) -> sp.csr_array:
        return sp.csr_array(sp.vstack([part.matrix() for part in self.parts]))

    def __repr__(self) -> str:
        return f"Stack({', '.join(map(repr, self.operators))})"
