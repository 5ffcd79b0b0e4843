"""Newton's models in twice the digits, with each row as a parabola of its own.

The matrix of second moments keeps of columns that almost depend on each other what 16 digits keep of a square. Rows
themselves keep all of it, and interior points on them have 32 digits: for small problems that Newton's steps leave
short of their tolerance.
"""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from ..data.blocks import data_matrix
from ..penalties.conic import broken_lines
from ..quadratic import Minimum, Model, extended, minimize, to_face
from ..view import View
from .penalty_form import PenaltyForm
from .split_program import mean_weights

_LEAST = 1e-14
"""Part of the largest curvature that all rows have at least, so that the vertex of a parabola is a number."""


class RowModels:
    """For penalties in conic form and rows in memory."""

    def __init__(self, problem: View, penalties: PenaltyForm) -> None:
        self._problem, self._form = problem, penalties.form

    @staticmethod
    def take(problem: View) -> bool:
        """Whether a problem is small enough, and its penalties are of this kind."""
        penalties = PenaltyForm.of(problem)
        if penalties is None or not problem.rows.in_memory:
            return False
        return extended.affordable(penalties.width, penalties.n_rows + problem.sums.n_rows)

    def minimum(self, H: np.ndarray, b: np.ndarray, x: np.ndarray) -> Minimum:
        """The minimum of the model at x plus the penalties; H and b tell the same with fewer digits."""
        problem, own = self._problem, self._form
        rows, labels, _ = problem.rows.block
        weights = mean_weights(problem)
        A = sp.csr_array(data_matrix(rows))
        margins = A @ x
        curvature = problem.loss.second_derivative(margins, labels)
        kept = np.flatnonzero(weights)
        curvature = np.maximum(curvature, _LEAST * float(curvature[kept].max(initial=0.0)))[kept]
        if not np.all(np.isfinite(curvature)) or not np.all(curvature > 0.0):
            return Minimum(x, x, np.zeros(own.K.shape[0]), "inaccurate", np.inf)
        vertex = margins[kept] - problem.loss.derivative(margins, labels)[kept] / curvature
        ends = np.full(kept.size, np.inf)
        parabolas = broken_lines(A[kept], vertex, ends, ends, size=x.size, smoothing=1.0 / (weights[kept] * curvature))
        form = own + parabolas
        found = minimize(Model(np.zeros((x.size, x.size)), np.zeros(x.size), form), digits=32)
        lines = own.n_lines
        y = np.concatenate([found.y[:lines], found.y[form.n_lines :]])
        slopes = np.zeros(labels.size)
        slopes[kept] = found.y[lines : form.n_lines] / weights[kept]
        slopes = np.clip(slopes, *problem.loss.slope_range(labels))
        face = to_face(Model(H, b, own), replace(found, y=y, active=found.active[:lines]))
        point = (found.w if face is None else face)[: x.size].copy()
        return Minimum(point, found.w, y, found.status, found.gap, slopes)

    @property
    def rough(self) -> "RowModels":
        """Itself."""
        return self
