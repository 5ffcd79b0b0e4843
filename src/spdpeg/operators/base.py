"""The interface of operators: linear maps F from R^d to R^l that kernels apply without forming a matrix."""

import copy
import math
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..kernels.jit import Hook, Term
from ..kernels.terms import apply_linear
from ..parameters import Parameterized, is_vector, numbers, whole_number
from .null_space import null_space


class Operator(Parameterized):
    """A linear map.

    A subclass gives `n_outputs`, `pack`, `squared_norm`, `matrix` and the hooks `kernel_forward`, `kernel_adjoint`,
    both `f(vector, reals, ints, out)`. An operator learns its number of inputs either from its own parameters or from
    the problem that binds it.

    See Also
    --------
    as_operator : Makes one of a matrix.
    spdpeg.losses.Loss, spdpeg.penalties.Penalty : The bases of the other terms.

    Examples
    --------
    >>> from spdpeg import operators
    >>> F = operators.FirstDifference().bind(3)
    >>> isinstance(F, operators.Operator), F.forward([1.0, 2.0, 4.0]).tolist()
    (True, [1.0, 2.0])

    docs/extending.md writes one.
    """

    kernel_forward: ClassVar[Hook]
    kernel_adjoint: ClassVar[Hook]

    chain: ClassVar[bool] = False
    """(F x)_j = x_{j+1} - x_j for all neighbours; the l1 norm of F x then has an exact prox."""

    is_identity: ClassVar[bool] = False
    """F x = x."""

    edges: Any = None
    """Pairs of coordinates whose differences F takes, where it belongs to a graph."""

    @property
    def line_order(self) -> int | None:
        """F takes differences of this order along a line; None if it does not."""
        return None

    @property
    def grid(self) -> tuple[int, ...] | None:
        """Shape of the grid whose neighbours F takes differences of; None if there is none."""
        return None

    @property
    def core(self) -> "Operator":
        """F as it acts on the coordinates that it does not skip."""
        return self

    _n_inputs: int | None = None

    @property
    def n_inputs(self) -> int:
        """d, the length of x."""
        if self._n_inputs is not None:
            return self._n_inputs
        known = self._own_inputs()
        if known is None:
            raise InputError(
                f"{type(self).__name__} does not know the length of x yet. Pass it to a Problem or call bind(d) first."
            )
        return known

    @property
    def known_inputs(self) -> int | None:
        """d, or None as long as it is not known."""
        return self._own_inputs() if self._n_inputs is None else self._n_inputs

    @property
    def n_outputs(self) -> int:
        """l, the length of Fx."""
        raise NotImplementedError

    def bind(self, n_inputs: int) -> Self:
        """A copy for vectors of `n_inputs` entries; refuses a length that does not fit.

        Parameters
        ----------
        n_inputs : int
            Length of x.

        Returns
        -------
        Operator
        """
        n_inputs = whole_number("The number of coordinates", n_inputs, least=0)
        known = self._own_inputs()
        if known is not None and known != n_inputs:
            raise InputError(
                f"{type(self).__name__} acts on vectors of length {known} but x has {n_inputs} coordinates. "
                "Build F for the columns of X."
            )
        bound = copy.copy(self)
        if n_inputs != self._n_inputs and known is None:
            bound._forget()
        bound._n_inputs = n_inputs
        return bound

    def set_params(self, **params: Any) -> Self:
        """Change constructor arguments by name; the operator must then be bound again.

        Parameters
        ----------
        **params
            New values.

        Returns
        -------
        Operator
            The operator itself.
        """
        super().set_params(**params)
        self._forget()
        self._n_inputs = None
        return self

    def _own_inputs(self) -> int | None:
        """d where the operator's own parameters fix it."""
        return None

    def _forget(self) -> None:
        """Drop what was computed for other parameters or another length of x."""
        for name in list(vars(self)):
            if isinstance(getattr(type(self), name, None), cached_property):
                delattr(self, name)

    def pack(self) -> tuple[np.ndarray, np.ndarray]:
        """Parameters as the hooks read them.

        Returns
        -------
        pair of arrays
            Numbers and integers.
        """
        raise NotImplementedError

    @property
    def squared_norm(self) -> float:
        """An upper bound on the largest eigenvalue of F^T F, exact or nearly so."""
        raise NotImplementedError

    @property
    def norm(self) -> float:
        """An upper bound on the largest singular value of F."""
        return math.sqrt(self.squared_norm)

    @property
    def forward_term(self) -> Term:
        """F, as kernels take it."""
        return self.kernel_forward.term(*self.pack())

    @property
    def adjoint_term(self) -> Term:
        """F^T, as kernels take it. It may hold working memory: make one for each thread."""
        return self.kernel_adjoint.term(*self.pack())

    def forward(self, x: Any) -> np.ndarray:
        """F x.

        Parameters
        ----------
        x : array-like
            `n_inputs` numbers.

        Returns
        -------
        array
            `n_outputs` numbers.
        """
        return self._apply(self.forward_term, x, self.n_inputs, self.n_outputs)

    def adjoint(self, y: Any) -> np.ndarray:
        """F^T y.

        Parameters
        ----------
        y : array-like
            `n_outputs` numbers.

        Returns
        -------
        array
            `n_inputs` numbers.
        """
        return self._apply(self.adjoint_term, y, self.n_outputs, self.n_inputs)

    def __matmul__(self, x: Any) -> np.ndarray:
        return self.forward(x)

    def matrix(self) -> sp.csr_array:
        """F as a sparse matrix; by d products with unit vectors unless overridden.

        Returns
        -------
        csr_array
            `n_outputs` rows, `n_inputs` columns.
        """
        term, unit, image = self.forward_term, np.zeros(self.n_inputs), np.empty(self.n_outputs)
        rows, values, starts = [], [], [0]
        for j in range(self.n_inputs):
            unit[j] = 1.0
            apply_linear(term, unit, image)
            unit[j] = 0.0
            used = np.flatnonzero(image)
            rows.append(used)
            values.append(image[used])
            starts.append(starts[-1] + used.size)
        columns = (np.concatenate(values), np.concatenate(rows), np.array(starts))
        return sp.csr_array(sp.csc_array(columns, shape=(self.n_outputs, self.n_inputs)))

    @cached_property
    def column_sizes(self) -> np.ndarray:
        """Lengths of the columns of F."""
        entries = self.matrix()
        return np.sqrt(np.bincount(entries.indices, np.square(entries.data), minlength=self.n_inputs))

    def null_space(self, inputs: np.ndarray) -> sp.csc_array | None:
        """A basis of the v with F v = 0 that vanish outside the given inputs.

        Parameters
        ----------
        inputs : array of int
            Coordinates of x, in increasing order.

        Returns
        -------
        csc_array or None
            A row for each input, a column for each basis vector; None if that is too expensive.
        """
        return null_space(self.matrix()[:, inputs])

    def _apply(self, term: Term, vector: Any, inputs: int, outputs: int) -> np.ndarray:
        flat = vector if is_vector(vector) else numbers("The vector", vector).reshape(-1)
        if flat.size != inputs:
            raise InputError(
                f"{type(self).__name__} takes a vector of {inputs} entries here and got {flat.size}. "
                f"It maps {self.n_inputs} coordinates to {self.n_outputs}."
            )
        out = np.empty(outputs)
        apply_linear(term, flat, out)
        return out


def factors_of(owner: Operator, weights: Any, count: int, what: str) -> np.ndarray:
    """A finite number for each of `count` edges or axes (`what`); an empty vector, for no weights, stands for ones."""
    if weights is None:
        return np.empty(0)
    factors = numbers(f"weights of {type(owner).__name__}", weights)
    if factors.shape != (count,):
        raise InputError(
            f"weights of {type(owner).__name__} has shape {factors.shape}. Give one number for each of {count} {what}."
        )
    if not np.all(np.isfinite(factors)):
        raise InputError(f"weights of {type(owner).__name__} holds entries that are not finite numbers. Repair them.")
    return factors
