"""What a certificate sees of a problem."""

from typing import Protocol

import numpy as np
import scipy.sparse as sp

from ..kernels.terms import Terms
from ..losses import Loss
from ..operators import Operator
from ..penalties import Penalty
from ..sums import Sums


class ProblemView(Protocol):
    """min (1/N) sum w_i phi(<a_i, x>, b_i) + regularizer(x) + r2(F x); `Problem` is one."""

    loss: Loss
    regularizer: Penalty
    r2: Penalty
    F: Operator
    bias: float
    n_coordinates: int

    @property
    def sums(self) -> Sums:
        """The data, as sums over rows."""

    @property
    def joint_penalty(self) -> Penalty | None:
        """r1 + r2(F .) as one proximable penalty, if it is one."""

    @property
    def free_directions(self) -> sp.csc_array | None:
        """Columns that span the directions in which no penalty grows; None if there are too many to find."""

    @property
    def column_sizes(self) -> np.ndarray:
        """Root of the mean of w a_ij^2, for each column."""

    @property
    def lipschitz(self) -> float:
        """Upper bound on the Lipschitz constant of the gradient of the mean loss."""

    def terms(self) -> Terms:
        """The problem as kernels take it."""

    def penalty_value(self, x: np.ndarray) -> float:
        """r1(x) + r2(F x); infinite outside the domain."""
