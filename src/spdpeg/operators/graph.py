"""Differences across the edges of a graph: graph-guided fusion and total variation on graphs."""

from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..kernels import jit
from ..kernels.jit import as_ints, as_reals
from ..parameters import whole_number
from ..sparse import sound
from .base import Operator, factors_of


class GraphDifference(Operator):
    """(Fx)_e = w_e (x_i - x_j) for each edge e = (i, j), read from the list of edges.

    The squared norm is bounded by the largest, over the edges, of the sum of both ends' degrees, a degree being the sum
    of w^2 over the edges of a node (Anderson and Morley, 1985). At most twice the truth; exact for a bipartite graph
    with all degrees equal.

    Parameters
    ----------
    edges : array of shape (m, 2)
        Nodes that each edge joins, counted from 0.
    weights : array of m numbers, optional
        1 by default.
    n_nodes : int, optional
        d; taken from the problem by default.

    See Also
    --------
    FirstDifference : Along a chain.
    spdpeg.graphs.sics, spdpeg.graphs.knn : Where edges come from.

    Examples
    --------
    >>> from spdpeg import operators
    >>> (operators.GraphDifference([(0, 1), (2, 0)], weights=[1.0, 2.0]).bind(3) @ [5.0, 3.0, 6.0]).tolist()
    [2.0, 2.0]
    """

    def __init__(self, edges: Any, weights: Any = None, n_nodes: int | None = None) -> None:
        self.edges = edges
        self.weights = weights
        self.n_nodes = n_nodes

    @classmethod
    def from_adjacency(cls, adjacency: Any) -> Self:
        """One edge for each non-zero entry above the diagonal of a symmetric matrix, the entry being its weight.

        Edges are in the order of the rows. The diagonal is left out, since x_i - x_i is 0.

        Parameters
        ----------
        adjacency : array-like or sparse matrix
            Symmetric.

        Returns
        -------
        GraphDifference
        """
        try:
            matrix = sp.csr_array(sound(adjacency, "The adjacency matrix"))
        except (TypeError, ValueError) as error:
            raise InputError(f"The adjacency matrix is no table of numbers ({error}). Rebuild it.") from None
        if matrix.dtype.kind not in "biuf":
            raise InputError(f"The adjacency matrix has entries of type {matrix.dtype}. They must be real numbers.")
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise InputError(
                f"The adjacency matrix has shape {matrix.shape}. It must have one row and column per node."
            )
        if (abs(matrix - matrix.T) > 0).nnz:
            raise InputError("The adjacency matrix is not symmetric. Symmetrise it first, as in (A + A.T) / 2.")
        upper = sp.coo_array(sp.triu(matrix, k=1))
        upper.sum_duplicates()
        upper.eliminate_zeros()
        order = np.lexsort((upper.col, upper.row))
        edges = np.column_stack([upper.row, upper.col])[order]
        return cls(edges, upper.data[order].astype(float), n_nodes=matrix.shape[0])

    @cached_property
    def _ends(self) -> np.ndarray:
        try:
            ends = np.asarray(self.edges)
        # What a foreign object's __array__ raises is up to it.
        except Exception:
            ends = np.zeros(1, dtype=object)
        if ends.size == 0:
            return np.empty((0, 2), dtype=np.int64)
        if ends.ndim != 2 or ends.shape[1] != 2 or ends.dtype.kind not in "iu":
            raise InputError(
                f"edges of GraphDifference has shape {ends.shape} and type {ends.dtype}. "
                "Give one row (i, j) of whole numbers per edge."
            )
        loops = np.flatnonzero(ends[:, 0] == ends[:, 1])
        if loops.size:
            raise InputError(f"Edge {loops[0]} joins node {ends[loops[0], 0]} with itself. Drop such edges.")
        if ends.min() < 0:
            raise InputError(f"edges of GraphDifference holds the node {ends.min()}. Nodes are counted from 0.")
        return ends.astype(np.int64, copy=False)

    @cached_property
    def _factors(self) -> np.ndarray:
        return factors_of(self, self.weights, len(self._ends), "edges")

    def _own_inputs(self) -> int | None:
        if self.n_nodes is None:
            return None
        n_nodes = whole_number("n_nodes of GraphDifference", self.n_nodes, least=0)
        self._check_nodes(n_nodes)
        return n_nodes

    def bind(self, n_inputs: int) -> Self:
        self._check_nodes(whole_number("The number of coordinates", n_inputs, least=0))
        return super().bind(n_inputs)

    def _check_nodes(self, n_nodes: int) -> None:
        largest = int(self._ends.max(initial=-1))
        if largest >= n_nodes:
            raise InputError(
                f"edges of GraphDifference holds the node {largest} but there are {n_nodes}, counted from 0. "
                "Number the nodes as the columns of X."
            )

    @property
    def n_outputs(self) -> int:
        return len(self._ends)

    @property
    def squared_norm(self) -> float:
        i, j = self._ends.T
        squares = np.square(self._factors) if self._factors.size else np.ones(i.size)
        degrees = np.bincount(i, squares, self.n_inputs) + np.bincount(j, squares, self.n_inputs)
        # An edge of weight 0 joins nothing, whatever its ends' other edges weigh.
        return float(np.max(degrees[i] + degrees[j], initial=0.0, where=squares > 0.0))

    def pack(self) -> tuple[np.ndarray, np.ndarray]:
        return as_reals(self._factors), as_ints(self._ends)

    def matrix(self) -> sp.csr_array:
        m = self.n_outputs
        factors = self._factors if self._factors.size else np.ones(m)
        rows, columns = np.repeat(np.arange(m), 2), self._ends.reshape(-1)
        values = np.column_stack([factors, -factors]).reshape(-1)
        return sp.csr_array(sp.coo_array((values, (rows, columns)), shape=(m, self.n_inputs)))

    @jit.linear
    @staticmethod
    def kernel_forward(vector: np.ndarray, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        # Unsigned numbers spare the test for indices counted from the end.
        for e in range(out.size):
            out[e] = vector[np.uint64(ints[2 * e])] - vector[np.uint64(ints[2 * e + 1])]
        for e in range(reals.size):
            out[e] *= reals[e]

    @jit.linear
    @staticmethod
    def kernel_adjoint(vector: np.ndarray, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        out[:] = 0.0
        for e in range(vector.size):
            flow = vector[e] * reals[e] if reals.size else vector[e]
            out[np.uint64(ints[2 * e])] += flow
            out[np.uint64(ints[2 * e + 1])] -= flow
