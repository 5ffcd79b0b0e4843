"""VR-SPDPEG: SPDPEG without its noise, the paper's own future work.

The gradient is corrected by a table of slopes, one per row, so that its variance vanishes at the solution and steps
need not shrink. Following the anchored extragradient of Alacaoglu and Malitsky (COLT 2022) the first half-step takes
the mean of the table, which costs nothing, and a step reads one batch of rows where SPDPEG reads two. Estimators: SAGA
(Defazio, Bach, Lacoste-Julien, NIPS 2014), SVRG (Johnson, Zhang, NIPS 2013), loopless SVRG (Kovalev, Horvath,
Richtarik, ALT 2020).
"""

import math
from dataclasses import dataclass

import numpy as np

from ..certificate import Certificate
from ..data import Block
from ..errors import InputError, UnsupportedError
from ..kernels.row_sums import scaled_squares, snapshot
from ..kernels.terms import Terms
from ..operators import Empty
from ..parameters import one_of
from ..schemes import condat_vu, extragradient, linearized, pd3o
from ..schemes.primal_dual import Estimator, plain
from ..schemes.records import Pace, Steps, gather
from ..state import State
from ..sums import Evaluation
from ..view import View
from . import averaging, sampling
from .base import About, Periodic, Solution, Watcher, require_positive, require_smooth
from .sampling import Importance, Independent, Sampler
from .sgadm import SGADM
from .vr_choices import batch_curvature, data_metric, dense_flops, joint_flops, row_flops, step_sizes

ESTIMATORS = ("saga", "l-svrg", "svrg")
SCHEMES = ("auto", "condat-vu", "extragradient", "pd3o", "joint-prox")
SAMPLINGS = ("auto", "importance", "hybrid", "independent", "reshuffled", "blocks")

JOINT_PROX = "joint-prox"
"""The scheme without a dual variable, for penalties that have one prox together."""

_FEWER_PASSES = 0.5
"""Fraction of the passes that remains if there is no dual variable to wait for."""

_UNEVEN = 1.3
"""Ratio of the longest to the mean row, in squares, from which on rows are drawn by length."""

_FAR = 16.0
"""Factor by which the dual lags behind before its steps are made longer."""

_MOST_BALANCE = 64.0
"""Factor by which the dual steps are made longer at most."""

_NOTHING = np.zeros(0)

_REFRESH = 50
"""Passes after which SAGA's running mean is recomputed, before rounding errors add up."""

_TOSSES = 1 << 40


@dataclass(eq=False, repr=False)
class VRSPDPEG(Periodic, Watcher):
    """A pass of plain stochastic steps (SGADM) to start with, then variance-reduced ones; the last iterate.

    Steps need no tuning: that of a row of F and of a coordinate follows from the sum of |F| along it, that of the loss
    from the Lipschitz constant of a batch. They differ between coordinates where the proxes of r1 and r2 allow it.

    Parameters
    ----------
    estimator : {"saga", "l-svrg", "svrg"}
        Table that follows the rows as they are read, or a snapshot taken at random times or once an epoch.
    scheme : {"auto", "condat-vu", "extragradient", "pd3o", "joint-prox"}
        The first three are equal per pass; "extragradient" is the paper's step and takes twice the products with F.
        "joint-prox" needs no dual variable and fewer passes, at the price of a slower prox: for l1 norms along a chain,
        and for r2 = 0. "auto" takes it where that pays, and Condat-Vu elsewhere.
    sampling : {"auto", "importance", "hybrid", "independent", "reshuffled", "blocks"}
        "importance": a row is drawn in proportion to its Lipschitz constant. "hybrid": independent for five passes,
        then every row once a pass; block by block on disk. "auto" is the former where rows differ much in length.
    dual_every : int, optional
        Primal steps for each step of the dual; more than 1 where products with F would cost more than all the rest.
    """

    about = About(
        name="vr-spdpeg",
        summary="variance-reduced SPDPEG, the last iterate",
        update="x+ = prox1(x - tau (g(x) - g(table) + mean of the table + F^T y)); y+ = prox2*(y + sigma F (2 x+ - x))",
        cost="1 batch, 1 F, 1 F^T, 1 prox1, 1 prox2*, about 10 d + 8 l flops; extragradient: 2 of each",
        memory="7 d + 8 l + N; N more with importance sampling, d more with dual_every > 1",
        rate="O(1/t); linear if r1 is strongly convex and r2 smooth, and in practice",
        needs="smooth loss; any r1, r2, F; finite sum",
        finite_sum=True,
        converges=True,
        assumptions=(
            "scheme extragradient, tau at most 1 / (8 L_max), tau sigma |F|^2 at most 1/2; in expectation, for the "
            "average. The default steps are four times as long: what they gain is observed, not proved"
        ),
    )

    estimator: str = "saga"
    scheme: str = "auto"
    sampling: str = "auto"
    dual_every: int | None = None

    def __post_init__(self) -> None:
        one_of("estimator", self.estimator, ESTIMATORS)
        one_of("scheme", self.scheme, SCHEMES)
        one_of("sampling", self.sampling, SAMPLINGS)
        require_positive(dual_every=self.dual_every)
        if self.dual_every not in (None, 1) and self.scheme in ("extragradient", "pd3o"):
            raise InputError(
                f"dual_every is {self.dual_every}, which scheme {self.scheme!r} does not know. Leave one of them out."
            )

    def check(self, problem: View) -> None:
        require_smooth(self, problem)
        if self.scheme == JOINT_PROX and problem.penalty.joint is None:
            raise UnsupportedError(
                f"joint-prox needs r1 = L1 with one weight, r2 = L1 and F = FirstDifference, or no r2; here "
                f"r1={problem.penalty.r1!r}, r2={problem.r2!r}, F={problem.F!r}. Leave scheme out."
            )

    def default_batch(self, problem: View) -> int:
        n = problem.rows.block.labels.size
        wanted = dense_flops(problem) / row_flops(problem)
        most = n // 20
        if wanted > 1.0:
            # Larger batches than this no longer lengthen the step,
            L, mu = problem.loss.curvature * problem.bounds.rough_gram_norm, problem.penalty.strong_convexity
            enough = 2.0 * problem.bounds.lipschitz_max / L if L > 0.0 else 1.0
            # but if steps gain so much that the table cannot follow, fewer and larger ones do.
            slow = 0.25 * n * mu / L if L > 0.0 else 0.0
            wanted, most = min(wanted, max(enough, slow)), max(most, int(min(slow, n // 4)))
        return int(np.clip(wanted, 1, max(1, most)))

    def start(self, problem: View, batch_size: int, x0: np.ndarray) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        n = problem.rows.block.labels.size
        d, m = problem.n_coordinates, problem.F.n_outputs
        Fx = problem.F.forward(x0)
        vectors = {"x": x0.copy(), "spare": x0.copy(), "z": Fx.copy(), "Fx_before": Fx}
        vectors |= {name: np.zeros(d) for name in ("ahead", "back", "mean")}
        vectors |= {name: np.zeros(m) for name in ("y", "y_bar", "y_ahead", "y_next", "Fx")}
        vectors["table"] = np.zeros(n)
        scheme = self.scheme_for(problem, batch_size)
        importance = self._importance(problem)
        every = 1 if scheme in ("extragradient", "pd3o") else self._dual_every(problem, batch_size)
        metric = data_metric(problem, scheme)
        vectors["curvature"] = batch_curvature(problem, metric, batch_size, importance) / metric
        vectors["tau"], vectors["sigma"] = step_sizes(problem, vectors["curvature"], scheme, 1.0)
        vectors["sigma"] /= every
        if importance:
            squares = np.empty(n)
            scaled_squares(problem.rows.block.rows, problem.rows.block.weights, metric, squares)
            vectors["probabilities"] = squares / squares.mean()
        vectors["anchor"] = x0.copy() if every > 1 else np.zeros(0)
        # The noise of the first pass would spoil a start that somebody chose.
        first = 0 if np.any(x0) else -(-n // batch_size)
        lengths = np.asarray(abs(problem.F.matrix()).sum(axis=1))
        numbers = {
            "reduced": False,
            "joint": scheme == JOINT_PROX,
            "done": 0,
            "until": first,
            "uniform": first,
            "epochs": 0,
            "dual_every": every,
            "waiting": 0,
            "balance": 1.0,
            "reach": float(np.median(lengths)) if lengths.size else 0.0,
        }
        return numbers | SGADM().constants(problem, batch_size), vectors

    def sampler(self, problem: View, state: State) -> Sampler:
        probabilities = state.vectors.get("probabilities")
        if probabilities is not None:
            return Importance(probabilities, state.batch_size, state.seed, int(state.numbers["uniform"]))
        choice = "hybrid" if self.sampling == "auto" else self.sampling
        return sampling.make(choice, problem.rows.block.labels.size, state.batch_size, state.seed, problem.rows.on_disk)

    def set_dual(self, problem: View, vectors: dict[str, np.ndarray], y: np.ndarray) -> None:
        vectors["y"][:] = y
        vectors["y_bar"][:] = y

    def steps_ahead(self, state: State) -> float:
        return state.numbers["until"] - state.numbers["done"]

    def prepare(self, problem: View, terms: Terms, state: State) -> int:
        numbers, v, block = state.numbers, state.vectors, problem.rows.block
        if self.steps_ahead(state) > 0:
            return 0
        started = not numbers["reduced"]
        if started:
            v["x"][:], v["y"][:] = v["spare"], v["y_bar"]
            numbers["reduced"] = True
            v["anchor"][:] = v["x"][: v["anchor"].size]
            v["back"][:] = 0.0 if numbers["joint"] else problem.F.adjoint(v["y"])
        snapshot(block.rows, block.labels, block.weights, terms.derivative, v["x"], v["table"], v["mean"])
        if started:
            v["spare"][:] = v["x"] - v["tau"] * (v["mean"] + v["back"])  # where PD3O goes on from
        numbers |= {"done": 0, "until": self._epoch(state, block.labels.size), "epochs": numbers["epochs"] + 1}
        return block.labels.size

    def advance(self, problem: View, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int) -> None:
        if state.numbers["reduced"]:
            self._reduced_steps(problem, terms, state, block, order, order.size // steps)
        else:
            self._warm_steps(terms, state, block, order, steps)
        state.numbers["done"] += steps

    def _warm_steps(self, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int) -> None:
        """Steps of SGADM; its averages are stored in vectors that are needed only later."""
        v, done = state.vectors, int(state.numbers["done"])
        k = np.arange(done, done + steps, dtype=float)
        pace = Pace(self.step_rule(state)(k), averaging.rule("uniform")(k), state.numbers["rho"])
        room = {"x_average": v["spare"], "z_average": v["z"], "y_average": v["y_bar"], "Fx_ahead": v["y_ahead"]}
        work = gather(linearized.Work, {**v, **room, "x_mean": _NOTHING})
        linearized.linearized(
            block, order, order.size // steps, pace, SGADM.lead_x, SGADM.lead_y, 0, terms, plain(), work
        )

    def _reduced_steps(
        self, problem: View, terms: Terms, state: State, block: Block, order: np.ndarray, batch: int
    ) -> None:
        v, numbers = state.vectors, state.numbers
        penalty = problem.regularizer
        if numbers["joint"]:
            assert problem.penalty.joint is not None
            penalty = problem.penalty.joint
            empty, none = Empty().bind(problem.n_coordinates), v["y"][:0]
            terms = terms._replace(forward=empty.forward_term, adjoint=empty.adjoint_term)
            v = {**v, "y": none, "z": none, "y_next": none, "y_ahead": none}
        scaled = penalty.scaled(v["tau"])
        assert scaled is not None
        terms = terms._replace(prox1=scaled.prox_term(problem.n_coordinates))
        steps = Steps(v["tau"], v["sigma"], 1.0, float(v["sigma"].min(initial=1.0)), v.get("probabilities", _NOTHING))
        memory = 1.0 / block.labels.size if self.estimator == "saga" else 0.0
        estimator = Estimator(1.0, memory, v["table"], v["mean"])
        common = block, order, batch
        if self.scheme == "extragradient":
            ones = np.ones(order.size // batch)
            room = {"x_average": _NOTHING, "z_average": v["z"], "y_average": _NOTHING}
            room |= {"x_bar": v["spare"], "Fx_bar": v["y_ahead"]}
            work = gather(extragradient.Work, {**v, **room})
            pace = Pace(ones, ones, 1.0)
            extragradient.extragradient(*common, False, True, pace, terms, estimator, steps, work)
        elif self.scheme == "pd3o":
            pd3o.pd3o(*common, terms, estimator, steps, gather(pd3o.Work, {**v, "q": v["spare"]}))
        else:
            every, waiting = int(numbers["dual_every"]), int(numbers["waiting"])
            relayed = gather(condat_vu.Work, {**v, "x_next": v["spare"]})
            numbers["waiting"] = condat_vu.condat_vu(*common, terms, estimator, steps, 1.0, every, waiting, relayed)

    def solution(self, problem: View, state: State) -> Solution:
        numbers, v = state.numbers, state.vectors
        if not numbers["reduced"]:
            return Solution(v["spare"].copy(), v["x"].copy(), v["z"].copy(), -v["y_bar"])
        if numbers["joint"]:
            y = problem.penalty.chain_dual(v["x"], -v["mean"])
            return Solution(v["x"].copy(), v["x"].copy(), None, -y)
        return Solution(v["x"].copy(), v["x"].copy(), v["z"].copy(), -v["y"])

    def on_certificate(
        self, problem: View, state: State, certificate: Certificate, evaluation: Evaluation, tol: float | None
    ) -> None:
        if state.numbers["reduced"] and not state.numbers["joint"]:
            self._rebalance(problem, state)

    def _rebalance(self, problem: View, state: State) -> None:
        """Longer dual steps, at the price of shorter primal ones, where y has far to go and x has not.

        Per step y moves s times as far as x, in units of the rows of F; the sizes of y and x tell what s should be
        (PDLP: Applegate et al., 2021). The loss pins the primal steps, so s never falls below its start, at which most
        problems do best.
        """
        numbers, v = state.numbers, state.vectors
        x, y = float(np.linalg.norm(v["x"])), float(np.linalg.norm(v["y"]))
        reach = numbers["reach"]
        s = float(np.median(v["sigma"])) * reach * numbers["dual_every"] if reach > 0.0 else math.inf
        if y > _FAR * s * x > 0.0 and numbers["balance"] < _MOST_BALANCE:
            numbers["balance"] *= 2.0
            scheme = "condat-vu" if self.scheme == "auto" else self.scheme
            v["tau"][:], v["sigma"][:] = step_sizes(problem, v["curvature"], scheme, numbers["balance"])
            v["sigma"] /= numbers["dual_every"]

    def _importance(self, problem: View) -> bool:
        if self.sampling != "auto":
            return self.sampling == "importance"
        longest, mean = problem.rows.statistics.max_square, problem.rows.statistics.mean_square
        return not problem.rows.on_disk and longest > _UNEVEN * mean

    def _dual_every(self, problem: View, batch: int) -> int:
        """Number of primal steps per dual step, so that they cost more than the products with F."""
        if self.dual_every is not None:
            return self.dual_every
        primal = batch * row_flops(problem) + 10.0 * problem.n_coordinates
        most = max(1, problem.rows.block.labels.size // (20 * batch))
        return int(np.clip(4.0 * problem.F.matrix().nnz / primal, 1, most))

    def scheme_for(self, problem: View, batch: int) -> str:
        """The scheme that steps with batches of this size take.

        Parameters
        ----------
        batch : int

        Returns
        -------
        str
        """
        if self.scheme != "auto":
            return self.scheme
        if problem.penalty.joint is None:
            return "condat-vu"
        rows = row_flops(problem)
        with_dual, without = rows + dense_flops(problem) / batch, rows + joint_flops(problem) / batch
        return JOINT_PROX if problem.F.n_outputs == 0 or _FEWER_PASSES * without < with_dual else "condat-vu"

    def _epoch(self, state: State, n: int) -> int:
        """Steps until the next snapshot."""
        whole = -(-n // state.batch_size)
        if self.estimator == "saga":
            return _REFRESH * whole
        if self.estimator == "svrg":
            return whole
        toss = int(Independent(_TOSSES, 1, state.seed + 1).draw(int(state.numbers["epochs"]), 1)[0])
        return math.ceil(-whole * math.log((toss + 1.0) / _TOSSES)) or 1
