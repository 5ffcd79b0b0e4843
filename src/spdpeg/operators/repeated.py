"""One operator on several segments of x: a structure for each class, and coordinates that it leaves alone."""

from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..kernels.jit import NO_REALS, Term, as_ints
from ..kernels.terms import join, repeated, repeated_adjoint
from ..parameters import is_vector, whole_number
from .base import Operator
from .matrix import as_operator


class Repeated(Operator):
    """F x = (G x_1, ..., G x_k), where x is made of k copies of what G acts on, each followed by `skip` others.

    With one copy and skip = 1 this is G beside an intercept; with k copies it is the same structure for each of k
    classes. The norm is that of G.

    Parameters
    ----------
    operator : Operator, sparse matrix or array
        G; it must know its number of inputs.
    copies : int
    skip : int
        Coordinates after each copy that F does not see.

    See Also
    --------
    Stack : Different operators on the same x.

    Examples
    --------
    >>> from spdpeg import operators
    >>> F = operators.Repeated(operators.FirstDifference().bind(2), copies=2, skip=1)
    >>> (F @ [1.0, 4.0, 9.0, 2.0, 7.0, 9.0]).tolist()
    [3.0, 5.0]
    """

    kernel_forward = repeated
    kernel_adjoint = repeated_adjoint

    def __init__(self, operator: Any, copies: int = 1, skip: int = 0) -> None:
        self.operator = operator
        self.copies = copies
        self.skip = skip

    def bind(self, n_inputs: int) -> Self:
        whole_number("copies", self.copies, least=1)
        whole_number("skip", self.skip, least=0)
        bound = super().bind(n_inputs)
        if n_inputs % self.copies or n_inputs // self.copies <= self.skip:
            raise InputError(
                f"{n_inputs} entries cannot be {self.copies} equal parts of more than {self.skip}, the skipped ones. "
                "Check copies, skip and the length of x."
            )
        bound.operator = as_operator(self.operator).bind(n_inputs // self.copies - self.skip)
        return bound

    def _own_inputs(self) -> int | None:
        known = as_operator(self.operator).known_inputs
        return None if known is None else self.copies * (known + self.skip)

    @property
    def part(self) -> Operator:
        """G, bound."""
        bound: Operator = (self if self._n_inputs is not None else self.bind(self.n_inputs)).operator
        return bound

    @property
    def core(self) -> Operator:
        return self.part if self.copies == 1 else self

    @property
    def n_outputs(self) -> int:
        return self.copies * self.part.n_outputs

    @property
    def squared_norm(self) -> float:
        return self.part.squared_norm

    def forward(self, x: Any) -> np.ndarray:
        # Beside an intercept it is G itself, without the memory of a joint term.
        if self.copies == 1 and is_vector(x) and x.size == self.n_inputs:
            part = self.part
            return part.forward(x[: part.n_inputs])
        return super().forward(x)

    @cached_property
    def column_sizes(self) -> np.ndarray:
        return np.tile(np.append(self.part.column_sizes, np.zeros(self.skip)), self.copies)

    @property
    def forward_term(self) -> Term:
        return repeated.term(*join([self.part.forward_term, self._shape()], [0, 0]))

    @property
    def adjoint_term(self) -> Term:
        return repeated_adjoint.term(*join([self.part.adjoint_term, self._shape()], [0, 0]))

    def null_space(self, inputs: np.ndarray) -> sp.csc_array | None:
        # That of the operator in each copy, and all inputs that are skipped.
        part, columns = self.part, []
        width = part.n_inputs + self.skip
        for copy in range(self.copies):
            places = np.flatnonzero(inputs // width == copy)
            of_part = places[inputs[places] - copy * width < part.n_inputs]
            skipped = np.setdiff1d(places, of_part)
            units = (np.ones(skipped.size), (skipped, np.arange(skipped.size)))
            columns.append(sp.csc_array(units, shape=(inputs.size, skipped.size)))
            if of_part.size == 0:  # an intercept alone, at every weight of a path
                continue
            basis = part.null_space(inputs[of_part] - copy * width)
            if basis is None:
                return None
            lift = sp.csc_array(
                (np.ones(of_part.size), (of_part, np.arange(of_part.size))), (inputs.size, of_part.size)
            )
            columns.append(lift @ basis)
        return columns[0] if len(columns) == 1 else sp.csc_array(sp.hstack(columns))

    def matrix(self) -> sp.csr_array:
        G = self.part.matrix()
        padded = sp.hstack([G, sp.csr_array((G.shape[0], self.skip))]) if self.skip else G
        return sp.csr_array(sp.block_diag([padded] * self.copies))

    def _shape(self) -> Term:
        part = self.part
        return Term(0, NO_REALS, as_ints([self.copies, part.n_inputs, part.n_outputs, part.n_inputs + self.skip]))
