"""SPDPEG: the Stochastic Primal-Dual Proximal ExtraGradient method, in its three regimes.

Lin, Qiao, Zhang, Feng, Zhang: Stochastic primal-dual proximal extragradient descent for compositely regularized
optimization, Neurocomputing 273 (2018). docs/spdpeg.md lists where the printed formulas had to be corrected.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

import numpy as np

from ..data import Block
from ..errors import InputError, StateError, UnsupportedError
from ..kernels.terms import Terms
from ..parameters import as_number, one_of, shown, whole_number
from ..schemes import adaptive
from ..schemes.records import gather
from ..state import State
from ..sums.local import LocalSums
from ..view import View
from . import averaging, sharpening
from .base import LARGEST, About, Solution, require_positive, require_smooth
from .column_metric import column_metric, dual_factors
from .extragradient import Extragradient
from .sampling import CHOICES, Sampler
from .sampling import make as make_sampler
from .steps import StepRule, batch_lipschitz, dual_radius, extragradient_limit, noise_scale

MODES = ("default", "tight", "paper")
VARIANTS = ("one-sample", "two-sample")

BUFFER = 256
"""Rows of a stream that are mixed before they are used, unless told otherwise."""

_FROM_ZERO, _FROM_A_FIT = 2.0, 0.02
"""How far the first step goes, in safe steps: a start that somebody chose is not to be thrown away."""

_ENOUGH_ROWS = 32
"""Rows that are enough to say which of two points is better."""

_ENOUGH_TO_SCORE = 64
"""Rows that an average has to be made of, and scored on, before it is said to have gone too far."""

_FIRST_METRIC = 256
"""Rows after which steps of coordinates may differ; how they do is found again whenever there are twice as many."""

_LARGEST_BATCH = 8
_WORK_PER_ROW = 128.0
"""A batch of b rows pays if a step's work on vectors is about the square of b times this many flops."""


class SPDPEG(Extragradient):
    """SPDPEG for convex problems: finds its steps by itself, or takes those of the paper.

    The paper's iteration reads two independent batches, one for the gradient at x, one for the gradient at x_bar. What
    the authors published as code draws one row and takes both gradients at x, which needs half the reads.

    Parameters
    ----------
    mode : {"default", "tight", "paper"}
        "default": steps from what the rows show as they come (distance over weighted gradients, longer along columns
        that are rare or small), rho with them, later iterates heavier in the average. "tight": c_k = 1 / (kappa
        sqrt(k+1) + L~) with L of the mean (of single batches if the loss has unbounded slope), L~ = max(4 s, 2 L + s),
        s = rho |F|^2, kappa and rho from the data, every step within the stability limit. "paper": the printed steps,
        kappa = 1, L of the worst row, L~ = max(8 s, sqrt(8 L^2 + s)) + mu, and rho = 1, which is printed nowhere: it is
        what the authors' script sets.
    variant : {"one-sample", "two-sample"}, optional
        One batch a step, both gradients at x: what the authors' published code runs, and the default mode. Or two
        batches: Algorithm 1 as printed, and what the other modes do by default.
    rho : float, optional
        Overrides what the mode chooses.
    kappa, lipschitz : float, optional
        The same, for steps of a fixed rule: with either of them the default mode is "tight".
    mu_loss : float
        Strong convexity of l itself, if known; that of r1 is found by itself.
    scale : float
        Multiplies the steps, within what limits the mode has.
    buffer_size : int, optional
        Rows of a stream that are mixed before they are used, so that rows which alternate between classes or come in
        runs shorter than this do no harm; longer runs are noticed with an `OrderWarning`. 256 in the default mode, 0
        (order of arrival) in the others.
    sampling : {"auto", "independent", "reshuffled", "blocks"}
        "auto" is every row once a pass in the default mode, independent draws in the others; block by block on disk.
    """

    about = About(
        name="spdpeg",
        summary="stochastic primal-dual proximal extragradient, convex regime",
        update=(
            "y' = prox2*(y + rho F x); x' = prox1(x - c (g(x) + F^T y)); x+ = prox1(x - c (g'(x') + F^T y')); "
            "y+ = y' + rho F (x' - x)"
        ),
        cost="1 batch or 2, 2 F, 2 F^T, 2 prox1, 1 prox2*, 18 d + 16 l flops",
        memory="11 d + 7 l",
        rate="O(1/sqrt(t))",
        needs="smooth loss; any r1, r2, F; finite sum or stream",
        batches_per_step=2,
        assumptions=(
            "l convex with Lipschitz gradient, x in a bounded set, unbiased gradients of bounded variance; in "
            "expectation, for the uniform average of two-sample steps 1 / (kappa sqrt(k+1) + L~) (Theorem 1); "
            "the default mode is measured, not proved (docs/theory.md)"
        ),
    )

    _forgetting: ClassVar[float] = 3.0

    def __init__(
        self,
        mode: str = "default",
        variant: str | None = None,
        rho: float | None = None,
        kappa: float | None = None,
        lipschitz: float | None = None,
        mu_loss: float = 0.0,
        scale: float = 1.0,
        buffer_size: int | None = None,
        sampling: str = "auto",
    ) -> None:
        self.mode = mode
        self.variant = variant
        self.rho = rho
        self.kappa = kappa
        self.lipschitz = lipschitz
        self.mu_loss = mu_loss
        self.scale = scale
        self.buffer_size = buffer_size
        self.sampling = sampling
        one_of("mode", mode, MODES)
        if variant is not None:
            one_of("variant", variant, VARIANTS)
        require_positive(rho=rho, lipschitz=lipschitz)
        if not 0.0 < as_number(scale) < 1.0 / np.finfo(float).tiny:
            raise InputError(f"scale is {shown(scale)}. It must be a positive number, and its inverse too.")
        for name, value in (("kappa", 0.0 if kappa is None else kappa), ("mu_loss", mu_loss)):
            if not 0.0 <= as_number(value) <= LARGEST:
                raise InputError(f"{name} is {shown(value)}. It must be a number of at least 0.")
        if buffer_size is not None:
            whole_number("buffer_size", buffer_size, least=0)

    @property
    def _rule(self) -> str:
        """The mode, given what else is given."""
        fixed = self.kappa is not None or self.lipschitz is not None
        return "tight" if self.mode == "default" and fixed else self.mode

    @property
    def _two_samples(self) -> bool:
        return self.variant == "two-sample" or (self.variant is None and self._rule != "default")

    @property
    def batches_per_step(self) -> int:
        return 2 if self._two_samples else 1

    @property
    def buffer_rows(self) -> int:
        if self.buffer_size is not None:
            return int(self.buffer_size)
        return BUFFER if self._rule == "default" else 0

    def sampler(self, problem: View, state: State) -> Sampler:
        order = one_of("sampling", self.sampling, CHOICES)
        order = "shuffled" if self._rule == "default" and order == "auto" else order
        return make_sampler(order, problem.rows.block.labels.size, state.batch_size, state.seed, problem.rows.on_disk)

    def check(self, problem: View) -> None:
        require_smooth(self, problem)

    def check_state(self, problem: View, state: State) -> None:
        learned = state.vectors.get("learned")
        if learned is not None and learned[adaptive.BIAS] != 0.0 and problem.rows.bias == 0.0:
            raise StateError("The state has an intercept and the problem has none. Resume with the same problem.")

    def default_batch(self, problem: View) -> int:
        # Enough rows to balance a step's work on vectors; depends on d and F alone, not on the rows.
        if self._rule != "default":
            return 1
        d, outputs = problem.n_coordinates, problem.F.n_outputs
        read = 0.0 if problem.rows.block.rows.indptr.size else 6.0 * d  # a dense row costs as much as a few vectors
        work = 11.0 * d + 22.0 * outputs - read
        batch = int(min(max(1.0, math.sqrt(work) / _WORK_PER_ROW), _LARGEST_BATCH))
        return batch if problem.rows.n_samples is None else min(batch, problem.rows.n_samples)

    # ------------------------------------------------------------------------------------- steps that adapt

    def _adapts(self, problem: View) -> bool:
        """Whether there are gradients to adapt the steps to."""
        return self._rule == "default" and problem.loss.curvature > 0.0

    def start(self, problem: View, batch_size: int, x0: np.ndarray) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        if not self._adapts(problem):
            return super().start(problem, batch_size, x0)
        return {}, self.vectors(problem, batch_size, x0)

    def vectors(self, problem: View, batch_size: int, x0: np.ndarray) -> dict[str, np.ndarray]:
        vectors = super().vectors(problem, batch_size, x0)
        if self._adapts(problem):
            learned = np.zeros(adaptive.LEARNED)
            learned[adaptive.BRAKE], learned[adaptive.BIAS] = 1.0, problem.rows.bias
            vectors |= {"start": x0.copy(), "learned": learned}
            vectors |= {name: np.zeros_like(x0) for name in ("gradient", "gradient_average")}
            vectors |= {name: np.zeros(problem.rows.n_features) for name in ("column_squares", "column_counts")}
            vectors["metric"] = np.ones_like(x0)
            square = problem.F.squared_norm
            vectors["dual_factors"] = np.full(problem.F.n_outputs, 1.0 / square if square > 0.0 else 1.0)
        return vectors

    def advance(self, problem: View, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int) -> None:
        if not self._adapts(problem):
            super().advance(problem, terms, state, block, order, steps)
            return
        per_step, done = order.size // steps, 0
        while done < steps:
            first = state.steps + done
            due = self._metric_due(state, first)
            if due == first:
                self._measure_columns(problem, state)
                due = self._metric_due(state, first + 1)
            many = min(steps - done, due - first)
            adaptive.adaptive_extragradient(
                block,
                order[done * per_step : (done + many) * per_step],
                per_step // self.batches_per_step,
                first,
                many,
                self._course(problem, state.vectors["start"]),
                self._in_metric(problem, terms, state),
                problem.loss.value_term,
                gather(adaptive.Work, state.vectors),
            )
            done += many

    def _metric_due(self, state: State, step: int) -> int:
        """The first step from this one on before which the metric is found again; told from the number of rows."""
        per_step = state.batch_size * self.batches_per_step
        rows = _FIRST_METRIC
        while -(-rows // per_step) < step:
            rows *= 2
        return -(-rows // per_step)

    def _measure_columns(self, problem: View, state: State) -> None:
        """Let steps follow the columns, if the prox of r1 allows it and rho is free."""
        v = state.vectors
        metric = np.ones_like(v["x"])
        metric[: problem.rows.n_features] = column_metric(
            v["column_squares"], v["column_counts"], v["learned"][adaptive.MEASURED]
        )
        if self.rho is not None or problem.regularizer.scaled(metric) is None:
            return
        moved = (v["x"] - v["start"]) ** 2
        before, after = np.sum(moved / v["metric"]), np.sum(moved / metric)
        if before > 0.0:
            v["learned"][adaptive.RADIUS] *= math.sqrt(after / before)
            v["learned"][adaptive.WEIGHT] *= after / before
        v["metric"], v["dual_factors"] = metric, dual_factors(problem, metric)

    def _in_metric(self, problem: View, terms: Terms, state: State) -> Terms:
        """The terms, r1 with a step for each coordinate."""
        metric = state.vectors["metric"]
        if np.ptp(metric) == 0.0:
            return terms
        scaled = problem.regularizer.scaled(metric)
        assert scaled is not None
        return terms._replace(prox1=scaled.prox_term(problem.n_coordinates))

    def _course(self, problem: View, start: np.ndarray) -> adaptive.Course:
        slope, shift = self._steepest(problem)
        return adaptive.Course(
            problem.loss.curvature,
            problem.loss.bounded_slope,
            float(self.scale),
            float(self.rho or 0.0),
            problem.F.squared_norm,
            slope,
            shift,
            self._forgetting,
            self._two_samples,
            problem.rows.n_samples is None,
            _FROM_ZERO if not start.any() else _FROM_A_FIT,
        )

    def _steepest(self, problem: View) -> tuple[float, float]:
        """Slope and shift of the bound 1 / (slope (k + shift)) on the steps; none where only convexity is known."""
        return 0.0, 1.0

    def solution(self, problem: View, state: State) -> Solution:
        found = super().solution(problem, state)
        if "learned" not in state.vectors:
            return found
        x, x_last = (self._outside(problem, state, point) for point in (found.x, found.x_last))
        return found._replace(x=x, x_last=x_last)

    def weigh(self, problem: View, state: State, rows: Block) -> None:
        # Find out on other rows how far to go at most in what is shown: rows that were used may ask for too much.
        v = state.vectors
        if "learned" in v:
            if v["learned"][adaptive.SCORED] >= _ENOUGH_TO_SCORE:
                every = np.arange(rows.labels.size)
                adaptive.score_rows(rows, every, problem.loss.value_term, gather(adaptive.Work, v))
            v["learned"][adaptive.FRACTION] = self._fraction(state)
        if self._can_judge(state, rows, 2 * _ENOUGH_ROWS):
            length, _ = self._sharpened(problem, state, rows, sharpening.LENGTHS)
            v["learned"][adaptive.LENGTH] = length

    def _fraction(self, state: State) -> float:
        """The part of the way from the start to the average that was best on rows before they were used."""
        learned = state.vectors["learned"]
        if learned[adaptive.SCORED] < _ENOUGH_TO_SCORE:
            return 1.0
        return float(adaptive.FRACTIONS[int(np.argmin(learned[adaptive.SCORES :]))])

    def polish(self, problem: View, state: State, rows: Block | None) -> None:
        # Show a point that is sparse and fused where the penalties make it so, and no worse than the start.
        v = state.vectors
        if "learned" not in v or v["learned"][adaptive.COUNT] == 0.0:
            return
        fraction = v["learned"][adaptive.FRACTION] or self._fraction(state)
        v["x_average"] = v["start"] + fraction * (v["x_average"] - v["start"])
        if rows is not None and self._can_judge(state, rows, _ENOUGH_ROWS):
            most = v["learned"][adaptive.LENGTH] or math.inf
            lengths = sharpening.LENGTHS
            _, shown = self._sharpened(problem, state, rows, lengths[lengths <= most])
            objective = self._objective(problem, state, rows)
            v["x_average"] = v["start"].copy() if objective(v["start"]) < objective(shown) else shown
        else:
            # Too few rows to choose a step by: one as long as the method's own does no harm.
            step = float(v["learned"][adaptive.STEP])
            v["x_average"] = sharpening.sharpened(problem, v["x_average"], v["gradient_average"], step)
        v["z_average"] = problem.F.forward(v["x_average"])

    def _can_judge(self, state: State, rows: Block, enough: int) -> bool:
        """Whether there are steps to judge, and rows enough to do so."""
        v = state.vectors
        return "learned" in v and v["learned"][adaptive.COUNT] > 0.0 and rows.labels.size >= enough

    def _objective(self, problem: View, state: State, rows: Block) -> Callable[[np.ndarray], float]:
        """On these rows, in the method's unit of the intercept."""
        bias = float(state.vectors["learned"][adaptive.BIAS])
        loss = LocalSums.of(rows._replace(rows=rows.rows._replace(bias=bias)), problem.loss).loss
        return lambda x: loss(x) + problem.penalty.value(x)

    def _sharpened(self, problem: View, state: State, rows: Block, lengths: np.ndarray) -> tuple[float, np.ndarray]:
        v, step = state.vectors, self._safe_step(problem, state)
        objective = self._objective(problem, state, rows)
        return sharpening.best_length(problem, v["x_average"], v["gradient_average"], step, lengths, objective)

    def _safe_step(self, problem: View, state: State) -> float:
        """1 / L of the usual row."""
        learned = state.vectors["learned"]
        square = math.exp(learned[adaptive.LOG_SQUARE]) + learned[adaptive.BIAS] ** 2
        return 1.0 / (problem.loss.curvature * math.exp(learned[adaptive.LOG_WEIGHT]) * square)

    def fallback(self, problem: View, state: State) -> Solution | None:
        # The start, so that no objective is reported above that.
        if "learned" not in state.vectors:
            return None
        start = self._outside(problem, state, state.vectors["start"])
        return Solution(start, start.copy(), problem.F.forward(start), np.zeros(problem.F.n_outputs))

    def _outside(self, problem: View, state: State, x: np.ndarray) -> np.ndarray:
        """A copy of x in the problem's units: inside, the intercept's column has the size of the rows."""
        outside = x.copy()
        if problem.rows.bias:
            outside[-1] *= state.vectors["learned"][adaptive.BIAS] / problem.rows.bias
        return outside

    def step_rule(self, state: State) -> StepRule:
        if "learned" not in state.vectors:
            return super().step_rule(state)
        step = float(state.vectors["learned"][adaptive.STEP]) or 1.0
        return StepRule(base=1.0 / step, stable=step)

    # -------------------------------------------------------------------------------- steps of a fixed rule

    def _steps(self, problem: View, batch_size: int) -> tuple[StepRule, float]:
        L = self._lipschitz(problem, batch_size)
        square = problem.F.squared_norm
        rho = self._rho(problem, L, square)
        s = rho * square
        base = self._base(problem, L, s)
        limit = extragradient_limit(L, s)
        regime = self._regime(problem, batch_size)
        if base == 0.0 and not any(regime.values()):
            base = 1.0  # nothing to descend on: r1 alone, whose prox takes any step
        cut = math.inf if self.mode == "paper" else limit
        return StepRule(base=base, scale=self.scale, limit=cut, stable=limit, **regime), rho

    def _lipschitz(self, problem: View, batch_size: int) -> float:
        if self.lipschitz is not None:
            return self.lipschitz
        if self.mode == "paper":
            return problem.bounds.lipschitz_max
        return problem.bounds.lipschitz if problem.loss.bounded_slope else batch_lipschitz(problem, batch_size)

    def _rho(self, problem: View, L: float, square: float) -> float:
        if self.rho is not None:
            return self.rho
        if self.mode == "paper" or square == 0.0:
            return 1.0
        if L > 0.0:
            return 2.0 * L / (3.0 * square)  # the largest rho that does not shorten the tight step
        if problem.penalty.strong_convexity > 0.0:
            return (
                problem.penalty.strong_convexity / square
            )  # then the dual takes projected gradient steps of its own length
        return dual_radius(problem) / math.sqrt(square)  # x being of the order of 1

    def _base(self, problem: View, L: float, s: float) -> float:
        """L~ (section "L-tilde" of docs/spdpeg.md)."""
        if self.mode == "paper":
            return max(8.0 * s, math.sqrt(8.0 * L * L + s)) + self._printed_mu(problem)
        if self.mu_loss > 0.0:
            return max(8.0 * s, math.sqrt(8.0) * L + s) + self.mu_loss
        return max(4.0 * s, 2.0 * L + s)

    def _printed_mu(self, problem: View) -> float:
        """mu in the printed L~, which is 0 where l is merely convex."""
        return 0.0

    def _regime(self, problem: View, batch_size: int) -> dict[str, float]:
        if self.kappa is not None:
            kappa = self.kappa
        elif self.mode == "paper":
            kappa = 1.0
        else:
            kappa = noise_scale(problem, batch_size)
        return {"kappa": kappa}

    def _modulus(self, problem: View) -> float:
        """Effective strong convexity: in r1 it counts twice in the analysis, in l once; the paper has one mu."""
        in_r1 = problem.penalty.strong_convexity
        mu = self.mu_loss + (2.0 * in_r1 if self._rule == "tight" else in_r1)
        if mu <= 0.0:
            raise UnsupportedError(
                f"{self.about.name} needs strong convexity and neither r1 nor mu_loss brings any. "
                'Add ridge to r1 (penalties.L2Squared, penalties.ElasticNet), pass mu_loss, or use "spdpeg".'
            )
        return mu


class SPDPEGSC1(SPDPEG):
    """SPDPEG for strongly convex problems: c_k = 2 / (mu (k+1) + 2 L~), uniform average, O(log(t)/t).

    mu is mu_loss plus the modulus of r1 (in the mode "tight" plus twice that). In the default mode 2 / (mu (k+1))
    bounds the steps, and iterate k weighs like k.
    """

    about = replace(
        SPDPEG.about,
        name="spdpeg-sc1",
        summary="SPDPEG, strongly convex regime, uniform average",
        rate="O(log(t)/t)",
        needs="smooth loss; strong convexity in r1 (ridge) or in the loss (mu_loss); finite sum or stream",
        assumptions=(
            "those of spdpeg, and l + r1 strongly convex with modulus mu; in expectation, for the uniform average "
            "(Theorem 2)"
        ),
        example="loss=losses.Logistic(), r1=penalties.L2Squared(1e-2)",
    )

    _forgetting = 1.0

    def check(self, problem: View) -> None:
        super().check(problem)
        self._modulus(problem)
        if self.kappa is not None:
            raise InputError(f"kappa is a parameter of spdpeg; {self.about.name} has no sqrt(k) term. Leave it out.")

    def _printed_mu(self, problem: View) -> float:
        return self.mu_loss + problem.penalty.strong_convexity

    def _steepest(self, problem: View) -> tuple[float, float]:
        regime = self._regime(problem, 1)
        return regime["slope"], regime["shift"]

    def _regime(self, problem: View, batch_size: int) -> dict[str, float]:
        return {"slope": self._modulus(problem) / 2.0, "shift": 1.0}


class SPDPEGSC2(SPDPEGSC1):
    """SPDPEG for strongly convex problems: c_k = 4 / (mu (k+2) + 4 L~), later iterates weigh more, O(1/t).

    In the default mode 4 / (mu (k+2)) bounds the steps, and iterate k weighs like k^3.
    """

    about = replace(
        SPDPEGSC1.about,
        name="spdpeg-sc2",
        summary="SPDPEG, strongly convex regime, increasing weights",
        rate="O(1/t)",
        assumptions=(
            "those of spdpeg-sc1, and bounded dual iterates; in expectation, for the weighted average (Theorem 3)"
        ),
    )

    _forgetting = 3.0

    def _thetas(self, k: np.ndarray) -> np.ndarray:
        return averaging.increasing(k)

    def _regime(self, problem: View, batch_size: int) -> dict[str, float]:
        return {"slope": self._modulus(problem) / 4.0, "shift": 2.0}
