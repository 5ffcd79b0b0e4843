"""Models without curvature, solved by the simplex method where interior points lose their digits.

Lines alone make a linear program: with K w - t = p - q it is the least -b^T w + up^T p + down^T q over p, q >= 0. Its
solution is a vertex, found from a system of equations and not as a limit, so that columns that almost depend on each
other cost it no more than the rounding of that system.
"""

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from ..kernels import deadline
from .central_path import Point, Terms
from .model import Model
from .stopping import Outcome

_MOST_LINES = 2000
"""Lines up to which this is tried."""
_TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
"""The smallest tolerances that HiGHS takes."""


def fits(model: Model) -> bool:
    """Whether a model is a linear program of moderate size."""
    form = model.form
    straight = isinstance(model.H, np.ndarray) and not model.H.any() and not form.curved and not form.rounded
    return straight and not form.weight.size and form.n_lines <= _MOST_LINES


def run(b: np.ndarray, terms: Terms) -> Outcome | None:
    """A vertex that solves a model in scaled variables, and its multipliers; None if none was found."""
    lines, width = terms.up.size, b.size
    K = sp.csr_array((terms.values, terms.columns, terms.pointers), shape=(lines, width))
    over, short = np.flatnonzero(terms.above), np.flatnonzero(terms.below)
    every = sp.eye_array(lines, format="csc")
    costs = np.concatenate([-b, terms.up[over], terms.down[short]])
    bounds = np.zeros((costs.size, 2))
    bounds[:width, 0], bounds[:, 1] = -np.inf, np.inf
    equations = sp.hstack([K, -every[:, over], every[:, short]], format="csc")
    left = deadline.seconds_left()
    options = _TIGHT if left == np.inf else {**_TIGHT, "time_limit": max(left, 0.0)}
    found = linprog(costs, A_eq=equations, b_eq=terms.offset, bounds=bounds, method="highs-ds", options=options)
    deadline.check()
    if not found.success:
        return None
    w, y = found.x[:width], -found.eqlin.marginals
    p, q = np.zeros(lines), np.zeros(lines)
    p[over], q[short] = found.x[width : width + over.size], found.x[width + over.size :]
    u = np.maximum(np.where(terms.above > 0.0, terms.up - y, 1.0), 0.0)
    v = np.maximum(np.where(terms.below > 0.0, terms.down + y, 1.0), 0.0)
    none = np.zeros(0)
    point = Point(w, y, p, q, u, v, np.zeros(lines), none, none)
    return Outcome(point, 0.0, 1.0, int(found.nit), point)
