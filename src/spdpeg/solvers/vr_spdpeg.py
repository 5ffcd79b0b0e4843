"""VR-SPDPEG: SPDPEG without its noise, the paper's own future work.

The gradient is corrected by a table of slopes, one per row, so that its variance vanishes at the solution and steps
need not shrink. Following the anchored extragradient of Alacaoglu and Malitsky (COLT 2022) the first half-step takes
the mean of the table, which costs nothing, and a step reads one batch of rows where SPDPEG reads two. Estimators: SAGA
(Defazio, Bach, Lacoste-Julien, NIPS 2014), SVRG (Johnson, Zhang, NIPS 2013), loopless SVRG (Kovalev, Horvath,
Richtarik, ALT 2020).
"""

import math

import numpy as np

from ..data import Block
from ..errors import InputError
from ..kernels.rows import snapshot
from ..penalties import L1
from ..problem import Problem, Terms
from ..state import State
from .base import Solution, Solver, require_smooth
from .primal_dual import Estimator
from .sampling import Independent
from .sgadm import SGADM
from .steps import batch_lipschitz
from .variance_reduced import Steps, condat_vu_steps, extragradient_steps, pd3o_steps

ESTIMATORS = ("saga", "l-svrg", "svrg")
SCHEMES = ("condat-vu", "extragradient", "pd3o")

_CURVATURE = 2.0
"""The primal step is 1 over this many times the batch's Lipschitz constant; theory asks for 8."""

_DUAL_SHARE = 0.25
"""Part of that curvature that the coupling with F adds to it on average."""

_REFRESH = 50
"""Passes after which SAGA's running mean is computed anew, before rounding errors add up."""

_TOSSES = 1 << 40

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


class VRSPDPEG(Solver):
    """A pass of plain stochastic steps (SGADM) to start with, then variance-reduced ones; the last iterate.

    Steps need no tuning: that of a row of F and of a coordinate follows from the sum of |F| along it, that of the loss
    from the Lipschitz constant of a batch. They differ between coordinates where the proxes of r1 and r2 allow it.

    Parameters
    ----------
    estimator : {"saga", "l-svrg", "svrg"}
        Table that follows the rows as they are read, or a snapshot taken at random times or once an epoch.
    scheme : {"condat-vu", "extragradient", "pd3o"}
        Equal per pass; "extragradient" is the paper's step and takes twice the products with F.
    sampling : {"settling", "independent", "reshuffled", "blocks"}
        "settling": independent for five passes, then every row once a pass; block by block on disk.
    """

    name = "vr-spdpeg"
    summary = "variance-reduced SPDPEG, the last iterate"
    update = "x+ = prox1(x - tau (g(x) - g(table) + mean of the table + F^T y)); y+ = prox2*(y + sigma F (2 x+ - x))"
    cost = "1 batch, 1 F, 1 F^T, 1 prox1, 1 prox2*, about 10 d + 8 l flops; extragradient: 2 of each"
    memory = "6 d + 8 l + N"
    rate = "O(1/t); linear if r1 is strongly convex and r2 smooth, and in practice"
    needs = "smooth loss; any r1, r2, F; finite sum"
    finite_sum = True

    def __init__(self, estimator: str = "saga", scheme: str = "condat-vu", sampling: str = "settling") -> None:
        self.estimator = estimator
        self.scheme = scheme
        self.sampling = sampling
        if estimator not in ESTIMATORS:
            raise InputError(f"estimator is {estimator!r}. Choose one of {', '.join(ESTIMATORS)}.")
        if scheme not in SCHEMES:
            raise InputError(f"scheme is {scheme!r}. Choose one of {', '.join(SCHEMES)}.")

    def check(self, problem: Problem) -> None:
        require_smooth(self, problem)

    def default_batch(self, problem: Problem) -> int:
        n, d = problem.block.labels.size, problem.n_features
        entries = max(1.0, problem.block.rows.values.size / n)
        dense = 10.0 * d + 8.0 * problem.F.n_outputs
        # Larger batches than this no longer lengthen the step.
        useful = 2.0 * problem.lipschitz_max / problem.lipschitz if problem.lipschitz > 0.0 else 1.0
        return int(np.clip(min(dense / (4.0 * entries), useful), 1, max(1, n // 20)))

    def start(
        self, problem: Problem, batch_size: int, x0: np.ndarray
    ) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        n = problem.block.labels.size
        numbers, warm = SGADM().start(problem, batch_size, x0)
        vectors = {ours: warm[theirs] for ours, theirs in _SHARED.items()}
        vectors |= {"table": np.zeros(n), "mean": np.zeros(x0.size)}
        vectors["tau"], vectors["sigma"] = _step_sizes(problem, batch_size, self.scheme)
        return numbers | {"warm": 1.0, "done": 0.0, "until": float(-(-n // batch_size)), "epochs": 0.0}, vectors

    def steps_ahead(self, state: State) -> float:
        return state.numbers["until"] - state.numbers["done"]

    def prepare(self, problem: Problem, terms: Terms, state: State) -> int:
        if self.steps_ahead(state) > 0:
            return 0
        numbers, v, block = state.numbers, state.vectors, problem.block
        started = bool(numbers["warm"])
        if started:
            v["x"][:], v["y"][:] = v["spare"], v["y_bar"]
            v["back"][:] = problem.F.adjoint(v["y"])
            numbers["warm"] = 0.0
        snapshot(block.rows, block.labels, block.weights, terms.derivative, v["x"], v["table"], v["mean"])
        if started:
            v["spare"][:] = v["x"] - v["tau"] * (v["mean"] + v["back"])  # where PD3O goes on from
        numbers |= {"done": 0.0, "until": self._epoch(state, block.labels.size), "epochs": numbers["epochs"] + 1.0}
        return block.labels.size

    def advance(
        self, problem: Problem, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int
    ) -> None:
        numbers, v = state.numbers, state.vectors
        batch = order.size // steps
        if numbers["warm"]:
            warm = _warm_part(state)
            warm.iterations = int(numbers["done"])
            SGADM().advance(problem, terms, warm, block, order, steps)
        else:
            r1 = problem.regularizer.scaled(v["tau"])
            even = r1 is None
            prox1 = terms.prox1 if r1 is None else r1.prox_term(problem.n_features)
            size = Steps(v["tau"], v["sigma"], float(v["tau"][0]) if even else 1.0, float(v["sigma"].min(initial=1.0)))
            memory = 1.0 / block.labels.size if self.estimator == "saga" else 0.0
            estimator = Estimator(1.0, memory, v["table"], v["mean"])
            work = [v[name] for name in ("x", "y", "z", "back", "ahead", "spare", "y_ahead")]
            if self.scheme == "extragradient":
                work += [v["y_bar"], v["Fx"]]
            _KERNELS[self.scheme](block, order, batch, terms._replace(prox1=prox1), estimator, size, *work)
        numbers["done"] += steps

    def solution(self, problem: Problem, state: State) -> Solution:
        if state.numbers["warm"]:
            return SGADM().solution(problem, _warm_part(state))
        v = state.vectors
        return Solution(v["x"].copy(), v["x"].copy(), v["z"].copy(), -v["y"])

    def _epoch(self, state: State, n: int) -> float:
        """Steps until the next snapshot."""
        whole = -(-n // int(state.parameters["batch_size"]))
        if self.estimator == "saga":
            return float(_REFRESH * whole)
        if self.estimator == "svrg":
            return float(whole)
        toss = int(Independent(_TOSSES, 1, state.seed + 1).draw(int(state.numbers["epochs"]), 1)[0])
        return float(math.ceil(-whole * math.log((toss + 1.0) / _TOSSES)) or 1)


_KERNELS = {"condat-vu": condat_vu_steps, "pd3o": pd3o_steps, "extragradient": extragradient_steps}


def _warm_part(state: State) -> State:
    """The state of the first pass, in vectors that the later steps use for other things."""
    vectors = {theirs: state.vectors[ours] for ours, theirs in _SHARED.items()}
    return State("sgadm", state.parameters, state.seed, numbers=state.numbers, vectors=vectors)


def _step_sizes(problem: Problem, batch_size: int, scheme: str) -> tuple[np.ndarray, np.ndarray]:
    """tau_j = 1 / (2 L + s |column j of F|_1), sigma_e = s / |row e of F|_1: then |sigma^(1/2) F tau^(1/2)| <= 1.

    Pock, Chambolle: Diagonal preconditioning for first order primal-dual algorithms, ICCV 2011. Uniform where a prox
    does not allow steps that differ.
    """
    absolute = abs(problem.F.matrix())
    columns = np.asarray(absolute.sum(axis=0), dtype=float).reshape(-1)
    rows = np.asarray(absolute.sum(axis=1), dtype=float).reshape(-1)
    curvature = _CURVATURE * batch_lipschitz(problem, batch_size) or problem.strong_convexity or 1.0
    used = columns > 0.0
    share = _DUAL_SHARE * curvature / columns[used].mean() if used.any() else 1.0
    tau = 1.0 / (curvature + share * columns)
    sigma = share / np.where(rows > 0.0, rows, 1.0)
    if scheme == "extragradient":
        sigma *= 0.5
    if problem.regularizer.scaled(tau) is None:
        tau[:] = tau.min()
    if not isinstance(problem.r2, L1):
        sigma[:] = sigma.min(initial=share)
    return tau, sigma
