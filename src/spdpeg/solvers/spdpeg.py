"""SPDPEG: the Stochastic Primal-Dual Proximal ExtraGradient method, in its three regimes.

Lin, Qiao, Zhang, Feng, Zhang: Stochastic primal-dual proximal extragradient descent for compositely regularized
optimization, Neurocomputing 273 (2018). docs/spdpeg.md lists where the printed formulas had to be corrected.
"""

import math
from dataclasses import replace
from typing import ClassVar

import numpy as np

from ..data import Block
from ..errors import InputError, StateError, UnsupportedError
from ..kernels.terms import Terms
from ..parameters import as_number, one_of, shown, whole_number
from ..schemes import learned as places
from ..state import State
from ..view import View
from . import averaging
from .base import LARGEST, About, Solution, require_positive, require_smooth
from .extragradient import Extragradient
from .found_steps import FoundSteps
from .sampling import CHOICES, Sampler
from .sampling import make as make_sampler
from .steps import StepRule, batch_lipschitz, dual_radius, extragradient_limit, noise_scale

MODES = ("default", "tight", "paper")
VARIANTS = ("one-sample", "two-sample")

BUFFER = 256
"""Rows of a stream that are mixed before they are used, unless told otherwise."""

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
        memory="13 d + 7 l; 2 d more beside an intercept",
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
        if learned is not None and learned[places.BIAS] != 0.0 and problem.rows.bias == 0.0:
            raise StateError("The state has an intercept and the problem has none. Resume with the same problem.")

    def default_batch(self, problem: View) -> int:
        # Enough rows to balance a step\'s work on vectors; depends on d and F alone, not on the rows.
        if self._rule != "default":
            return 1
        d, outputs = problem.n_coordinates, problem.F.n_outputs
        read = 0.0 if problem.rows.block.rows.indptr.size else 6.0 * d  # a dense row costs as much as a few vectors
        work = 11.0 * d + 22.0 * outputs - read
        batch = int(min(max(1.0, math.sqrt(work) / _WORK_PER_ROW), _LARGEST_BATCH))
        return batch if problem.rows.n_samples is None else min(batch, problem.rows.n_samples)

    # ------------------------------------------------------------------------- the default: steps that are found

    def _found(self, problem: View) -> FoundSteps | None:
        """The default mode, where there are gradients to find steps from; None for steps of a fixed rule."""
        if self._rule != "default" or problem.loss.curvature == 0.0:
            return None
        slope, shift = self._steepest(problem)
        return FoundSteps(self.scale, self.rho, self._two_samples, self._forgetting, slope, shift)

    def _steepest(self, problem: View) -> tuple[float, float]:
        """Slope and shift of the bound 1 / (slope (k + shift)) on the steps; none where only convexity is known."""
        return 0.0, 1.0

    def start(self, problem: View, batch_size: int, x0: np.ndarray) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        if self._found(problem) is None:
            return super().start(problem, batch_size, x0)
        return {}, self.vectors(problem, batch_size, x0)

    def vectors(self, problem: View, batch_size: int, x0: np.ndarray) -> dict[str, np.ndarray]:
        vectors, found = super().vectors(problem, batch_size, x0), self._found(problem)
        return vectors if found is None else vectors | found.vectors(problem, x0)

    def advance(self, problem: View, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int) -> None:
        found = self._found(problem)
        if found is None:
            super().advance(problem, terms, state, block, order, steps)
        else:
            found.advance(problem, terms, state, block, order, steps)

    def solution(self, problem: View, state: State) -> Solution:
        solution, found = super().solution(problem, state), self._found(problem)
        if found is None:
            return solution
        x, x_last = (found.outside(problem, state, point) for point in (solution.x, solution.x_last))
        return solution._replace(x=x, x_last=x_last)

    def weigh(self, problem: View, state: State, rows: Block) -> None:
        found = self._found(problem)
        if found is not None:
            found.weigh(problem, state, rows)

    def polish(self, problem: View, state: State, rows: Block | None) -> None:
        found = self._found(problem)
        if found is not None:
            found.polish(problem, state, rows)

    def fallback(self, problem: View, state: State) -> Solution | None:
        # The start, so that no objective is reported above that.
        found = self._found(problem)
        if found is None:
            return None
        start = found.outside(problem, state, state.vectors["start"])
        return Solution(start, start.copy(), None, np.zeros(problem.F.n_outputs))

    def step_rule(self, state: State) -> StepRule:
        if "learned" not in state.vectors:
            return super().step_rule(state)
        step = float(state.vectors["learned"][places.STEP]) or 1.0
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
