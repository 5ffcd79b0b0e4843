"""The precision matrix that sparse inverse covariance selection finds, as a graph and as F."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..operators import GraphDifference, Matrix, Operator
from ..parameters import as_number, one_of
from ..sparse import sound

FORMS = ("difference", "signed")


@dataclass(frozen=True, eq=False)
class SparsePrecision:
    """A sparse inverse covariance T, solved component by component.

    Attributes
    ----------
    precision : CSR matrix of shape (d, d)
        T, symmetric, with exact zeros left out. The rows of constant columns are empty where the diagonal is not
        penalised, since nothing bounds T there.
    weight : float
        Weight of |T|_1.
    objective : float
        -log det T + <S, T> + weight |T|_1 over the columns that are not constant.
    sizes, gaps : array
        For each component with two columns or more, the largest first, its columns and its duality gap: the objective
        of the component exceeds the smallest possible by no more. Single columns are solved in closed form.
    constant : array of int
        Columns without variance.

    See Also
    --------
    sics : Returns one.

    Examples
    --------
    >>> import numpy as np
    >>> from spdpeg import graphs
    >>> found = graphs.sics(None, weight=0.1, covariance=np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    >>> found.sizes.tolist(), found.edges.tolist()
    ([2], [[0, 1]])
    """

    precision: sp.csr_array
    weight: float
    objective: float
    sizes: np.ndarray
    gaps: np.ndarray
    constant: np.ndarray

    @property
    def gap(self) -> float:
        """Bound on how far `objective` is above the smallest possible."""
        return float(self.gaps.sum())

    @property
    def edges(self) -> np.ndarray:
        """Pairs i < j with T_ij not 0, in the order of the rows; shape (m, 2)."""
        return self._edges(0.0)

    def _edges(self, threshold: float) -> np.ndarray:
        upper = sp.coo_array(sp.triu(self.precision, k=1))
        keep = np.abs(upper.data) > threshold
        pairs = np.column_stack([upper.row[keep], upper.col[keep]]).astype(np.int64)
        return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]

    def operator(self, form: str = "difference", threshold: float = 0.0) -> Operator:
        """F from the pairs with |T_ij| > threshold.

        "difference" has a row x_i - x_j for each pair. "signed" is the form in the code of the authors: a square matrix
        with 1 above the diagonal and -1 below at each pair, so its rows are signed sums. They set threshold to 0.0025.

        Parameters
        ----------
        form : {"difference", "signed"}
        threshold : float

        Returns
        -------
        Operator
        """
        one_of("form", form, FORMS)
        if not as_number(threshold) >= 0.0:
            raise InputError(f"threshold is {threshold!r}. It must be a number of at least 0.")
        pairs, d = self._edges(threshold), self.precision.shape[0]
        if form == "difference":
            return GraphDifference(pairs, n_nodes=d)
        upper = sp.csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(d, d))
        return Matrix(upper - upper.T)

    def __repr__(self) -> str:
        return (
            f"SparsePrecision({self.precision.shape[0]} columns, {len(self.edges)} edges, "
            f"{self.sizes.size} components of at most {self.sizes.max(initial=1)} columns, "
            f"weight={self.weight:.3g}, gap={self.gap:.1e})"
        )

    def arrays(self) -> dict[str, Any]:
        """The object as plain arrays; `from_arrays` is the inverse.

        Returns
        -------
        dict
        """
        plain = {name: np.asarray(value) for name, value in vars(self).items() if name != "precision"}
        T = self.precision
        return plain | {"data": T.data, "indices": T.indices, "indptr": T.indptr}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any] | None, n_columns: int) -> "SparsePrecision | None":
        """The inverse of `arrays`.

        Parameters
        ----------
        arrays : dict or None
        n_columns : int

        Returns
        -------
        SparsePrecision or None
            None if the arrays are not those of a graph of this size.
        """
        try:
            plain = dict(arrays or {})
            parts = plain.pop("data"), plain.pop("indices"), plain.pop("indptr")
            T = sound(sp.csr_array(parts, shape=(n_columns, n_columns)))
            return cls(T, float(plain.pop("weight")), float(plain.pop("objective")), **plain)
        except (KeyError, TypeError, ValueError):
            return None
