"""The squared loss, of which one read tells everything.

Second moments of the rows (`sums.moments`) are all that the loss depends on. With them the whole problem is one
quadratic model, minimised by interior points; where X is diagonal, by the exact prox of a chain or by minimum cuts on a
graph.
Every further problem on the same rows (other weights, other penalties) reads nothing at all.
"""

import math

import numpy as np

from ..data import Block
from ..errors import UnsupportedError
from ..kernels.terms import Terms
from ..quadratic import Model, minimum
from ..result import Status
from ..solvers.base import About, Periodic, Solution, Watcher
from ..state import State
from ..sums import Evaluation
from ..sums.moments import Quadratic
from ..view import View
from .newton_models import models_of
from .penalty_form import PenaltyForm
from .prox_newton import MOST_COORDINATES
from .quadratic_bound import lower_bound
from .signal import SURE, ChainLoss, along_chain, along_edges, chain_loss, differences, is_chain

_BELOW = 1e-14
"""Part of the objective by which rounding may leave it below the bound."""


class OneRead(Periodic, Watcher):
    """x <- the solution: the second moments of all rows and labels, and a quadratic model that is exact.

    A lower bound comes with it, rounding errors of the moments included. Where these are too large, as for labels that
    are fitted to eight digits, a second read makes the certificate.
    """

    about = About(
        name="one-read",
        summary="squared loss from its second moments, solved exactly without further reads; deterministic",
        update="x+ = argmin of v' M v / 2 + r1(x) + r2(F x), v = (x, -1), M the second moments",
        cost="1 pass with outer products of rows, for all problems on the same rows; some 15 factorisations",
        memory="d + l; d^2 for the moments and 2 d^2 more for the step; 20 d if X is diagonal",
        rate="ends after one step",
        needs="squared loss; r1 and r2 with a conic form; finite sum; d at most 3000, or X diagonal",
        assumptions="a point strictly inside all constraints",
        example="loss=losses.Squared(), r1=penalties.L1(1e-3)",
        deterministic=True,
        finite_sum=True,
        converges=True,
    )

    on_sums = True

    def check(self, problem: View) -> None:
        if not problem.loss.quadratic:
            raise UnsupportedError(
                f'one-read takes the squared loss alone; here {problem.loss!r}. Use "prox-newton" or "working-set".'
            )
        if is_chain(problem):
            return
        form = PenaltyForm.of(problem)
        if form is None:
            raise UnsupportedError(
                f"one-read takes penalties made of broken lines, squares and Euclidean norms; here "
                f'r1={problem.penalty.r1!r}, r2={problem.r2!r}. Use "vr-spdpeg".'
            )
        if form.form.width > MOST_COORDINATES and not problem.moments.is_signal:
            raise UnsupportedError(
                f"one-read factorises a matrix of order {form.form.width}; it takes up to {MOST_COORDINATES}. "
                'Use "working-set" or "vr-spdpeg".'
            )

    def steps_ahead(self, state: State) -> float:
        return 1.0

    def start(self, problem: View, batch_size: int, x0: np.ndarray) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        vectors = {"x": x0.copy(), "y": np.zeros(problem.F.n_outputs), "gradient": np.zeros(x0.size)}
        numbers = {"loss": math.nan, "lower": -math.inf, "exhausted": False, "infeasible": False}
        if problem.moments.known and np.any(x0):
            numbers["loss"] = problem.moments.loss.value(x0)
        return numbers, vectors

    def advance(self, problem: View, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int) -> int:
        numbers = state.numbers
        loss: ChainLoss | Quadratic
        if is_chain(problem):
            loss = chain_loss(problem)
            self._take(loss, state, *along_chain(problem))
        elif (lines := differences(problem)) is not None:
            loss = problem.moments.loss
            self._take(loss, state, *along_edges(problem, lines))
        else:
            loss = problem.moments.loss
            self._among_all(problem, loss, state)
        x, value = state.vectors["x"], numbers["loss"] + problem.penalty.value(state.vectors["x"])
        enough = max(SURE, 0.5 * (state.loop.planned_for or 0.0)) * abs(value)
        # A point that is outside a set by the last digits may lie below the bound; its certificate is of the rows.
        proved = -_BELOW * abs(value) <= value - numbers["lower"] <= enough
        if not (proved and loss.error(x) <= SURE * abs(value)):
            numbers["loss"], numbers["lower"] = math.nan, -math.inf
        numbers["exhausted"] = True
        return problem.moments.uncounted_rows()

    def solution(self, problem: View, state: State) -> Solution:
        v = state.vectors
        x = v["x"].copy()
        return Solution(x, x.copy(), None, -v["y"], lower=state.numbers["lower"])

    def evaluation(self, state: State) -> Evaluation | None:
        if math.isnan(state.numbers["loss"]):
            return None
        return Evaluation(state.numbers["loss"], None, state.vectors["gradient"], None)

    def may_be_optimal(self, state: State, tol: float) -> bool:
        return bool(state.numbers["exhausted"])

    def ended(self, state: State) -> Status | None:
        if state.numbers["infeasible"]:
            return Status.INFEASIBLE
        return Status.EXHAUSTED if state.numbers["exhausted"] else None

    def _among_all(self, problem: View, loss: Quadratic, state: State) -> None:
        form = PenaltyForm.of(problem)
        assert form is not None
        model = Model(loss.H, loss.b, form.form)
        if isinstance(loss.H, np.ndarray):
            found = models_of(problem, form).minimum(loss.H, loss.b, state.vectors["x"])
        else:
            found = minimum(model)
        if found.status == "infeasible" or not np.all(np.isfinite(found.w)):
            state.numbers["infeasible"] = found.status == "infeasible"
            return
        x = loss.decoded(found.point[: problem.n_coordinates])
        value = loss.value(x) + problem.penalty.value(x)
        lower = lower_bound(model, loss, found.w, found.y, value)
        self._take(loss, state, x, form.multiplier(found.w, found.y), lower)

    @staticmethod
    def _take(loss: ChainLoss | Quadratic, state: State, x: np.ndarray, y: np.ndarray, lower: float) -> None:
        v, numbers = state.vectors, state.numbers
        v["x"][:], v["y"][:], v["gradient"][:] = x, y, loss.gradient(x)
        numbers["loss"], numbers["lower"] = loss.value(x), lower
