"""The certificate: bounds on the optimum, and what they prove."""

import math
from dataclasses import dataclass, replace

from ..pages import notebook

_ROUNDING = 1e-13
"""Relative error of objectives and bounds. A gap below minus that, and what sums lose that cancel, is a defect."""

_NO_GAP = 1e-12
"""Gap, relative to the objective at x = 0, that counts as 0 where the optimum is 0."""


_AS_GOOD_AS_0 = 1e-3
"""Optimum, relative to the objective at x = 0, above which the gap is judged relative to the optimum itself."""


@dataclass(frozen=True)
class Certificate:
    """A bound on the distance from the optimal value.

    Attributes
    ----------
    primal : float
        Objective at x.
    dual : float
        A lower bound on the optimal value; minus infinity where none could be had.
    residual : float
        Relative residual of the optimality conditions, for problems without a finite dual value; NaN elsewhere.
    met : str or None
        What met the tolerance: "relative gap", "residual", "gap" where the optimum is 0 (a gap of 1e-12 times the
        objective at x = 0), or None.
    obstacle : str
        Why there is no lower bound, in words; empty where there is one.
    """

    primal: float
    dual: float
    residual: float
    met: str | None = None
    obstacle: str = ""

    @property
    def gap(self) -> float:
        """primal - dual: at least the suboptimality of x, up to rounding."""
        return self.primal - self.dual

    @property
    def rel_gap(self) -> float:
        """The gap over the primal value."""
        if self.gap == 0.0:
            return 0.0
        return self.gap / abs(self.primal) if 0.0 < abs(self.primal) < math.inf else math.inf

    @property
    def defective(self) -> bool:
        """Whether the bound lies above the objective by more than rounding, which no bound should."""
        return self.gap < -_ROUNDING * max(abs(self.primal), abs(self.dual))

    def judged(self, tol: float, loss_size: float = 0.0) -> "Certificate":
        """The same, with what meets `tol`: the relative gap if it is finite, the residual otherwise.

        `loss_size` is an objective, that at x = 0 mostly, beside which an optimum may be as good as 0.
        """
        met = None
        if self.gap < 0.0 and max(abs(self.primal), abs(self.dual)) <= _ROUNDING * loss_size:
            # Both are 0 but for what rounding leaves of terms of the size of the loss at 0.
            return replace(self, dual=self.primal).judged(tol, loss_size)
        if not math.isfinite(self.primal) or self.defective or tol <= 0.0:
            met = None
        elif math.isfinite(self.rel_gap):
            # What rounding may hide is no part of the proof: a tolerance below it is never met.
            if self.gap + _ROUNDING * abs(self.primal) <= tol * abs(self.primal):
                met = "relative gap"
            elif self.gap <= _NO_GAP * loss_size and abs(self.primal) <= _AS_GOOD_AS_0 * loss_size:
                met = "gap"
        elif self.gap == 0.0:
            met = "gap"
        elif self.residual <= tol:
            met = "residual"
        return replace(self, met=met)

    def __str__(self) -> str:
        if self.defective:
            return (
                f"no proof: the bound {self.dual:.10g} lies above the objective {self.primal:.10g}, which is a defect"
            )
        if self.met == "gap":
            return f"within {max(self.gap, 0.0):.2g} of the optimum, next to nothing beside that of x = 0; proved"
        if math.isfinite(self.rel_gap) and self.gap <= 0.0:
            return "at the optimum, up to rounding; proved by a duality gap"
        if math.isfinite(self.rel_gap):
            return f"within {100.0 * self.rel_gap:.2g} % of the optimum, proved by a duality gap"
        if self.gap <= 0.0:
            return "optimal, proved by a duality gap of 0"
        if math.isfinite(self.residual):
            lacking = f"no bound is available because {self.obstacle}" if self.obstacle else "no bound is available"
            known = f"the optimum is at least {self.dual:.2g}" if math.isfinite(self.dual) else lacking
            return f"optimality conditions hold to {self.residual:.2g}; {known}"
        return "nothing is known about the distance to the optimum"

    def _repr_html_(self) -> str:
        facts = {"objective": self.primal, "lower bound": self.dual, "gap": self.gap, "relative gap": self.rel_gap}
        if math.isfinite(self.residual):
            facts["residual"] = self.residual
        return notebook.card(str(self), facts)
