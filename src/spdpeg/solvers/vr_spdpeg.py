"""VR-SPDPEG: SPDPEG without its noise, the paper's own future work.

The gradient is corrected by a table of slopes, one per row, so that its variance vanishes at the solution and steps
need not shrink. Following the anchored extragradient of Alacaoglu and Malitsky (COLT 2022) the first half-step takes
the mean of the table, which costs nothing, and a step reads one batch of rows where SPDPEG reads two. Estimators: SAGA
(Defazio, Bach, Lacoste-Julien, NIPS 2014), SVRG (Johnson, Zhang, NIPS 2013), loopless SVRG (Kovalev, Horvath,
Richtarik, ALT 2020).
"""

import math

import numpy as np

from ..certificate import Certificate, Evaluation
from ..data import Block
from ..errors import InputError, UnsupportedError
from ..kernels.rows import scaled_squares, snapshot
from ..kernels.terms import Terms
from ..newton.model import splitting
from ..newton.prox_newton import ProxNewton, fits, newton_flops
from ..operators import Empty
from ..problem import Problem
from ..schemes.primal_dual import Estimator
from ..schemes.variance_reduced import Steps, condat_vu_steps, extragradient_steps, pd3o_steps
from ..state import State
from .base import Solution, Solver, require_positive, require_smooth
from .sampling import Independent
from .sgadm import SGADM
from .vr_choices import batch_curvature, data_metric, dense_flops, merged_flops, row_flops, step_sizes

ESTIMATORS = ("saga", "l-svrg", "svrg")
SCHEMES = ("auto", "condat-vu", "extragradient", "pd3o", "chain-prox")

SAMPLINGS = ("auto", "importance", "settling", "independent", "reshuffled", "blocks")
FINISHES = ("auto", "newton", "none")

_WARM, _REDUCED, _NEWTON = 0.0, 1.0, 2.0
"""Stages of a run: plain stochastic steps, variance-reduced ones, Newton's."""

_NEWTON_STEPS, _REDUCED_PASSES = 6.0, 60.0
"""What either needs for six digits on a problem that suits it; the cheaper one is taken."""

_SMALL = 2e8
"""Flops, some tenths of a second, below which Newton's steps are taken whatever the rest would cost."""

_FEWER_PASSES = 0.5
"""Part of the passes that remains if there is no dual variable to wait for."""

_UNEVEN = 1.3
"""Ratio of the longest to the mean row, in squares, from which on rows are drawn by length."""

_FAR = 16.0
"""Times that the dual lags behind before its steps are made longer, and"""
_MOST_BALANCE = 64.0
"""how much longer they get at most."""

_NOTHING = np.zeros(0)

_REFRESH = 50
"""Passes after which SAGA's running mean is computed anew, before rounding errors add up."""

_TOSSES = 1 << 40

_AIM = 1e-6
"""The relative gap that the choice of steps aims at if no tolerance is given."""

_SHARED = {
    "x": "x",
    "y": "y",
    "z": "z_average",
    "spare": "x_average",
    "y_bar": "y_average",
    "ahead": "ahead",
    "back": "back",
    "Fx": "Fx",
    "Fx_before": "Fx_before",
    "y_ahead": "Fx_ahead",
    "y_next": "y_next",
}
"""Our vectors, and what SGADM calls them during the first pass."""


_NEWTON_VECTORS = {
    "x": "x",
    "y": "newton_y",
    "z": "newton_z",
    "margins": "table",
    "gradient": "mean",
    "rising": "rising",
}
"""What Newton's steps call them, and our vectors: the table of slopes makes room for the margins."""


_NEWTON_NUMBERS = ("stride", "accuracy", "floor", "stiffness", "loss", "value", "drop")


class VRSPDPEG(Solver):
    """A pass of plain stochastic steps (SGADM) to start with, then variance-reduced ones; the last iterate.

    Steps need no tuning: that of a row of F and of a coordinate follows from the sum of |F| along it, that of the loss
    from the Lipschitz constant of a batch. They differ between coordinates where the proxes of r1 and r2 allow it.

    Problems with few coordinates or few rows are solved by proximal Newton steps (`ProxNewton`) if the cost model says
    that these are cheaper; others turn to them if certificates show that the run stalls.

    Parameters
    ----------
    estimator : {"saga", "l-svrg", "svrg"}
        Table that follows the rows as they are read, or a snapshot taken at random times or once an epoch.
    scheme : {"auto", "condat-vu", "extragradient", "pd3o", "chain-prox"}
        The first three are equal per pass; "extragradient" is the paper's step and takes twice the products with F.
        "chain-prox" needs no dual variable and fewer passes, at the price of a slower prox: for l1 norms along a chain,
        and for r2 = 0. "auto" takes it where that pays, and Condat-Vu elsewhere.
    finish : {"auto", "newton", "none"}
        Newton's steps where they pay, from the start, or never.
    sampling : {"auto", "importance", "settling", "independent", "reshuffled", "blocks"}
        "importance": a row is drawn in proportion to its Lipschitz constant. "settling": independent for five passes,
        then every row once a pass; block by block on disk. "auto" is the former where rows differ much in length.
    dual_every : int, optional
        Primal steps for each step of the dual; more than 1 where products with F would cost more than all the rest.
    """

    name = "vr-spdpeg"
    summary = "variance-reduced SPDPEG, the last iterate"
    update = "x+ = prox1(x - tau (g(x) - g(table) + mean of the table + F^T y)); y+ = prox2*(y + sigma F (2 x+ - x))"
    cost = "1 batch, 1 F, 1 F^T, 1 prox1, 1 prox2*, about 10 d + 8 l flops; extragradient: 2 of each"
    memory = "10 d + 10 l + N, 3 d + 2 l of it for Newton's steps where they fit; N more with importance sampling"
    rate = "O(1/t); linear if r1 is strongly convex and r2 smooth, and in practice; superlinear in Newton's steps"
    needs = "smooth loss; any r1, r2, F; finite sum"
    finite_sum = True
    converges = True

    def __init__(
        self,
        estimator: str = "saga",
        scheme: str = "auto",
        sampling: str = "auto",
        finish: str = "auto",
        dual_every: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.scheme = scheme
        self.sampling = sampling
        self.finish = finish
        self.dual_every = dual_every
        self._newton = ProxNewton()
        if estimator not in ESTIMATORS:
            raise InputError(f"estimator is {estimator!r}. Choose one of {', '.join(ESTIMATORS)}.")
        if scheme not in SCHEMES:
            raise InputError(f"scheme is {scheme!r}. Choose one of {', '.join(SCHEMES)}.")
        if finish not in FINISHES:
            raise InputError(f"finish is {finish!r}. Choose one of {', '.join(FINISHES)}.")
        if sampling not in SAMPLINGS:
            raise InputError(f"sampling is {sampling!r}. Choose one of {', '.join(SAMPLINGS)}.")
        require_positive(dual_every=dual_every)
        if dual_every not in (None, 1) and scheme in ("extragradient", "pd3o"):
            raise InputError(
                f"dual_every is {dual_every}, which scheme {scheme!r} does not know. Leave one of them out."
            )

    @property
    def order(self) -> str:
        return "settling" if self.sampling == "auto" else self.sampling

    def check(self, problem: Problem) -> None:
        require_smooth(self, problem)
        if self.scheme == "chain-prox" and problem.merged is None:
            raise UnsupportedError(
                f"chain-prox needs r1 = L1 with one weight, r2 = L1 and F = FirstDifference, or no r2; here "
                f"r1={problem.r1!r}, r2={problem.r2!r}, F={problem.F!r}. Leave scheme out."
            )
        if self.finish == "newton":
            self._newton.check(problem)

    def default_batch(self, problem: Problem) -> int:
        n = problem.block.labels.size
        if self.begins_with_newton(problem):
            return 1
        wanted = dense_flops(problem) / row_flops(problem)
        most = n // 20
        if wanted > 1.0:
            # Larger batches than this no longer lengthen the step,
            L, mu = problem.loss.curvature * problem.rough_gram_norm, problem.strong_convexity
            enough = 2.0 * problem.lipschitz_max / L if L > 0.0 else 1.0
            # but if steps gain so much that the table cannot follow, fewer and larger ones do.
            slow = 0.25 * n * mu / L if L > 0.0 else 0.0
            wanted, most = min(wanted, max(enough, slow)), max(most, int(min(slow, n // 4)))
        return int(np.clip(wanted, 1, max(1, most)))

    def start(
        self, problem: Problem, batch_size: int, x0: np.ndarray
    ) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        if self.begins_with_newton(problem):
            # A stochastic pass before would gain nothing, and make the outcome depend on an order of the rows.
            numbers, newton = self._newton.start(problem, 1, x0)
            vectors = {ours: newton[theirs] for theirs, ours in _NEWTON_VECTORS.items()}
            return numbers | {"stage": _NEWTON}, vectors | {"y": np.zeros(problem.F.n_outputs)}
        n = problem.block.labels.size
        numbers, warm = SGADM().start(problem, batch_size, x0)
        vectors = {ours: warm[theirs] for ours, theirs in _SHARED.items()}
        vectors |= {"table": np.zeros(n), "mean": np.zeros(x0.size)}
        scheme = self._scheme(problem, batch_size)
        importance = self._importance(problem)
        every = 1 if scheme in ("extragradient", "pd3o") else self._dual_every(problem, batch_size)
        metric = data_metric(problem, scheme)
        vectors["curvature"] = batch_curvature(problem, metric, batch_size, importance) / metric
        vectors["tau"], vectors["sigma"] = step_sizes(problem, vectors["curvature"], scheme, 1.0)
        vectors["sigma"] /= every
        if importance:
            squares = np.empty(n)
            scaled_squares(problem.block.rows, problem.block.weights, metric, squares)
            vectors["shares"] = squares / squares.mean()
        vectors["anchor"] = x0.copy() if every > 1 else np.zeros(0)
        # The noise of the first pass would spoil a start that somebody chose.
        first = 0 if np.any(x0) else -(-n // batch_size)
        numbers |= {"stage": _WARM, "done": 0.0, "until": float(first), "uniform": float(first), "epochs": 0.0}
        numbers |= {"merged": float(scheme == "chain-prox"), "dual_every": float(every)}
        numbers |= {"waiting": 0.0, "balance": 1.0, "last_gap": math.inf, "gap_at": 0.0}
        lengths = np.asarray(abs(problem.F.matrix()).sum(axis=1))
        numbers["reach"] = float(np.median(lengths)) if lengths.size else 0.0
        if fits(problem) and self.finish != "none":
            constants, newton = self._newton.start(problem, 1, x0)
            numbers |= {name: constants[name] for name in _NEWTON_NUMBERS}
            vectors |= {ours: newton[theirs] for theirs, ours in _NEWTON_VECTORS.items() if ours not in vectors}
        return numbers, vectors

    def set_dual(self, problem: Problem, vectors: dict[str, np.ndarray], y: np.ndarray) -> None:
        for name in {"y", "y_bar"} & vectors.keys():
            vectors[name][:] = y
        if "newton_y" in vectors:
            self._newton.set_dual(problem, {"y": vectors["newton_y"]}, y)

    def steps_ahead(self, state: State) -> float:
        return 1.0 if state.numbers["stage"] == _NEWTON else state.numbers["until"] - state.numbers["done"]

    def prepare(self, problem: Problem, terms: Terms, state: State) -> int:
        numbers, v, block = state.numbers, state.vectors, problem.block
        if numbers["stage"] == _NEWTON:
            return self._newton.prepare(problem, terms, _newton_part(state))
        if self.steps_ahead(state) > 0:
            return 0
        started = numbers["stage"] == _WARM
        if started:
            v["x"][:], v["y"][:] = v["spare"], v["y_bar"]
            numbers["stage"] = _REDUCED
            v["anchor"][:] = v["x"][: v["anchor"].size]
            v["back"][:] = 0.0 if numbers["merged"] else problem.F.adjoint(v["y"])
        snapshot(block.rows, block.labels, block.weights, terms.derivative, v["x"], v["table"], v["mean"])
        if started:
            v["spare"][:] = v["x"] - v["tau"] * (v["mean"] + v["back"])  # where PD3O goes on from
        numbers |= {"done": 0.0, "until": self._epoch(state, block.labels.size), "epochs": numbers["epochs"] + 1.0}
        return block.labels.size

    def advance(
        self, problem: Problem, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int
    ) -> int | None:
        numbers = state.numbers
        if numbers["stage"] == _NEWTON:
            return self._newton.advance(problem, terms, _newton_part(state), block, order, steps)
        if numbers["stage"] == _WARM:
            warm = _warm_part(state)
            warm.iterations = int(numbers["done"])
            SGADM().advance(problem, terms, warm, block, order, steps)
        else:
            self._reduced_steps(problem, terms, state, block, order, order.size // steps)
        numbers["done"] += steps
        return None

    def _reduced_steps(
        self, problem: Problem, terms: Terms, state: State, block: Block, order: np.ndarray, batch: int
    ) -> None:
        v = state.vectors
        penalty = problem.regularizer
        work = [v[name] for name in ("x", "y", "z", "back", "ahead", "spare", "y_ahead")]
        if state.numbers["merged"]:
            assert problem.merged is not None
            penalty = problem.merged
            empty, none = Empty().bind(problem.n_coordinates), v["y"][:0]
            terms = terms._replace(forward=empty.forward_term, adjoint=empty.adjoint_term)
            work[1], work[2], work[6] = none, none, none
        scaled = penalty.scaled(v["tau"])
        assert scaled is not None
        terms = terms._replace(prox1=scaled.prox_term(problem.n_coordinates))
        size = Steps(
            v["tau"],
            v["sigma"],
            float(v["sigma"].min(initial=1.0)),
            v.get("shares", _NOTHING),
            int(state.numbers["dual_every"]),
            int(state.numbers["waiting"]),
            v["anchor"],
        )
        memory = 1.0 / block.labels.size if self.estimator == "saga" else 0.0
        estimator = Estimator(1.0, memory, v["table"], v["mean"])
        if self.scheme == "extragradient":
            work += [v["y_bar"], v["Fx"]]
        if self.scheme in _KERNELS:
            _KERNELS[self.scheme](block, order, batch, terms, estimator, size, *work)
        else:
            state.numbers["waiting"] = float(condat_vu_steps(block, order, batch, terms, estimator, size, *work))

    def solution(self, problem: Problem, state: State) -> Solution:
        numbers, v = state.numbers, state.vectors
        if numbers["stage"] == _NEWTON:
            return self._newton.solution(problem, _newton_part(state))
        if numbers["stage"] == _WARM:
            return SGADM().solution(problem, _warm_part(state))
        if numbers["merged"]:
            y = problem.chain_dual(v["x"], -v["mean"])
            return Solution(v["x"].copy(), v["x"].copy(), problem.F.forward(v["x"]), -y)
        return Solution(v["x"].copy(), v["x"].copy(), v["z"].copy(), -v["y"])

    def seen(self, state: State) -> Evaluation | None:
        return self._newton.seen(_newton_part(state)) if state.numbers["stage"] == _NEWTON else None

    def promising(self, state: State, tol: float) -> bool:
        return state.numbers["stage"] != _NEWTON or self._newton.promising(_newton_part(state), tol)

    def watches(self, state: State) -> bool:
        return "newton_y" in state.vectors and state.numbers["stage"] == _REDUCED

    def adapt(
        self, problem: Problem, state: State, certificate: Certificate, seen: Evaluation, tol: float | None
    ) -> None:
        """Turn to Newton's steps if, at the pace between the last two certificates, they end sooner; else balance."""
        numbers = state.numbers
        if numbers["stage"] == _NEWTON:
            self._newton.adapt(problem, _newton_part(state), certificate, seen, tol)
        if numbers["stage"] == _REDUCED and not numbers["merged"]:
            self._rebalance(problem, state)
        if not self.watches(state):
            return
        gap = certificate.rel_gap if math.isfinite(certificate.rel_gap) else certificate.residual
        passes = (state.rows - numbers["gap_at"]) / problem.block.labels.size
        if 0.0 < gap < math.inf and math.isfinite(numbers["last_gap"]) and passes > 0.0:
            pace = math.log(max(numbers["last_gap"] / gap, 1.0)) / passes
            left = math.log(max(gap / (tol or _AIM), 1.0))
            if left > 0.0 and self._newton_pays(problem, state, left / pace if pace > 0.0 else math.inf):
                self._go_newton(problem, state)
                self._newton.adapt(problem, _newton_part(state), certificate, seen, tol)
        numbers["last_gap"], numbers["gap_at"] = gap, float(state.rows)

    def _rebalance(self, problem: Problem, state: State) -> None:
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

    def _newton_pays(self, problem: Problem, state: State, passes: float) -> bool:
        """Whether a handful of Newton steps costs less than this many passes."""
        batch = int(state.parameters["batch_size"])
        dense = merged_flops(problem) if state.numbers["merged"] else dense_flops(problem)
        one_pass = problem.block.labels.size * (row_flops(problem) + dense / batch)
        return _NEWTON_STEPS * newton_flops(problem) < passes * one_pass

    def begins_with_newton(self, problem: Problem) -> bool:
        """Whether to begin with Newton's steps, by what either way is likely to cost.

        Batches of the default size make the dense part of a pass as expensive as the rows.
        """
        if self.finish != "auto" or not fits(problem):
            return self.finish == "newton"
        one_pass = 2.0 * problem.block.labels.size * row_flops(problem)
        return _NEWTON_STEPS * newton_flops(problem) < max(_REDUCED_PASSES * one_pass, _SMALL)

    def _importance(self, problem: Problem) -> bool:
        if self.sampling != "auto":
            return self.sampling == "importance"
        longest, mean = problem.statistics.max_square, problem.statistics.mean_square
        return not problem.on_disk and longest > _UNEVEN * mean

    def _dual_every(self, problem: Problem, batch: int) -> int:
        """So many primal steps that their cost exceeds that of the products with F."""
        if self.dual_every is not None:
            return self.dual_every
        primal = batch * row_flops(problem) + 10.0 * problem.n_coordinates
        most = max(1, problem.block.labels.size // (20 * batch))
        return int(np.clip(4.0 * problem.F.matrix().nnz / primal, 1, most))

    def _go_newton(self, problem: Problem, state: State) -> None:
        v = state.vectors
        state.numbers["stage"] = _NEWTON
        v["newton_z"][:] = splitting(problem).K.forward(v["x"])
        if problem.merged is None:
            self._newton.set_dual(problem, {"y": v["newton_y"]}, v["y"])

    def _scheme(self, problem: Problem, batch: int) -> str:
        if self.scheme != "auto":
            return self.scheme
        if problem.merged is None:
            return "condat-vu"
        rows = row_flops(problem)
        with_dual, without = rows + dense_flops(problem) / batch, rows + merged_flops(problem) / batch
        return "chain-prox" if problem.F.n_outputs == 0 or _FEWER_PASSES * without < with_dual else "condat-vu"

    def _epoch(self, state: State, n: int) -> float:
        """Steps until the next snapshot."""
        whole = -(-n // int(state.parameters["batch_size"]))
        if self.estimator == "saga":
            return float(_REFRESH * whole)
        if self.estimator == "svrg":
            return float(whole)
        toss = int(Independent(_TOSSES, 1, state.seed + 1).draw(int(state.numbers["epochs"]), 1)[0])
        return float(math.ceil(-whole * math.log((toss + 1.0) / _TOSSES)) or 1)


_KERNELS = {"pd3o": pd3o_steps, "extragradient": extragradient_steps}
"""Schemes other than Condat-Vu, which without a dual is the proximal gradient method."""


def _warm_part(state: State) -> State:
    """The state of the first pass, in vectors that the later steps use for other things."""
    vectors = {theirs: state.vectors[ours] for ours, theirs in _SHARED.items()}
    return State("sgadm", state.parameters, state.seed, numbers=state.numbers, vectors=vectors)


def _newton_part(state: State) -> State:
    """The state of Newton's steps, in our vectors."""
    vectors = {theirs: state.vectors[ours] for theirs, ours in _NEWTON_VECTORS.items()}
    return State("prox-newton", {}, state.seed, iterations=state.iterations, numbers=state.numbers, vectors=vectors)
