"""SPDPEG: the Stochastic Primal-Dual Proximal ExtraGradient method, in its three regimes.

Lin, Qiao, Zhang, Feng, Zhang: Stochastic primal-dual proximal extragradient descent for compositely regularized
optimization, Neurocomputing 273 (2018). docs/spdpeg.md lists where the printed formulas had to be corrected.
"""

import math
from dataclasses import replace

import numpy as np

from ..errors import InputError, UnsupportedError
from ..problem import Problem
from . import averaging
from .base import About, require_smooth
from .extragradient import Extragradient
from .steps import StepRule, batch_lipschitz, dual_radius, extragradient_limit, noise_scale

MODES = ("default", "paper")


class SPDPEG(Extragradient):
    """SPDPEG for convex problems: c_k = 1 / (kappa sqrt(k+1) + L~), uniform average, O(1/sqrt(t)).

    Each iteration reads two independent batches: one for the gradient at x, one for the gradient at x_bar. The authors'
    published code draws one row, takes both gradients at x, repeats one permutation and multiplies the steps by a scale
    tuned for each data set.

    Parameters
    ----------
    mode : {"default", "paper"}
        "paper": rho = 1, kappa = 1, L of the worst row, L~ = max(8 s, sqrt(8 L^2 + s)) + mu with s = rho |F|^2, as
        printed. "default": L of the mean (of single batches if the loss has unbounded slope), the tight
        L~ = max(4 s, 2 L + s), kappa and rho from the data, and every step within the stability limit.
    rho, kappa, lipschitz : float, optional
        Override what the mode chooses.
    mu_loss : float
        Strong convexity of l itself, if known; that of r1 is found by itself.
    scale : float
        Multiplies the steps; clipped to the stability limit in the default mode, not in the paper's.
    sampling : {"auto", "independent", "reshuffled", "blocks"}
    """

    about = About(
        name="spdpeg",
        summary="stochastic primal-dual proximal extragradient, convex regime",
        update=(
            "y' = prox2*(y + rho F x); x' = prox1(x - c (g(x) + F^T y)); x+ = prox1(x - c (g'(x') + F^T y')); "
            "y+ = y' + rho F (x' - x)"
        ),
        cost="2 batches, 2 F, 2 F^T, 2 prox1, 1 prox2*, 7 d + 14 l flops",
        memory="5 d + 6 l",
        rate="O(1/sqrt(t))",
        needs="smooth loss; any r1, r2, F; finite sum or stream",
        batches_per_step=2,
        assumptions=(
            "l convex with Lipschitz gradient, x in a bounded set, unbiased gradients of bounded variance; in "
            "expectation, for the uniform average (Theorem 1)"
        ),
    )

    def __init__(
        self,
        mode: str = "default",
        rho: float | None = None,
        kappa: float | None = None,
        lipschitz: float | None = None,
        mu_loss: float = 0.0,
        scale: float = 1.0,
        sampling: str = "auto",
    ) -> None:
        self.mode = mode
        self.rho = rho
        self.kappa = kappa
        self.lipschitz = lipschitz
        self.mu_loss = mu_loss
        self.scale = scale
        self.sampling = sampling
        if mode not in MODES:
            raise InputError(f"mode is {mode!r}. Choose one of {', '.join(MODES)}.")
        for name, value in (("rho", rho), ("lipschitz", lipschitz), ("scale", scale)):
            if value is not None and not (math.isfinite(value) and value > 0):
                raise InputError(f"{name} is {value}. It must be a positive number, or None to have it chosen.")
        for name, value in (("kappa", kappa), ("mu_loss", mu_loss)):
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise InputError(f"{name} is {value}. It must be a number of at least 0.")

    def check(self, problem: Problem) -> None:
        require_smooth(self, problem)

    def _steps(self, problem: Problem, batch_size: int) -> tuple[StepRule, float]:
        L = self._lipschitz(problem, batch_size)
        square = problem.F.squared_norm
        rho = self._rho(problem, L, square)
        s = rho * square
        base = self._base(problem, L, s)
        limit = extragradient_limit(L, s)
        regime = self._regime(problem, batch_size)
        if base == 0.0 and not any(regime.values()):
            base = 1.0  # nothing to descend on: r1 alone, whose prox takes any step
        cut = limit if self.mode == "default" else math.inf
        return StepRule(base=base, scale=self.scale, limit=cut, stable=limit, **regime), rho

    def _lipschitz(self, problem: Problem, batch_size: int) -> float:
        if self.lipschitz is not None:
            return self.lipschitz
        if self.mode == "paper":
            return problem.lipschitz_max
        return problem.lipschitz if problem.loss.bounded_slope else batch_lipschitz(problem, batch_size)

    def _rho(self, problem: Problem, L: float, square: float) -> float:
        if self.rho is not None:
            return self.rho
        if self.mode == "paper" or square == 0.0:
            return 1.0
        if L > 0.0:
            return 2.0 * L / (3.0 * square)  # the largest rho that does not shorten the tight step
        if problem.strong_convexity > 0.0:
            return problem.strong_convexity / square  # then the dual takes projected gradient steps of its own length
        return dual_radius(problem) / math.sqrt(square)  # x being of the order of 1

    def _base(self, problem: Problem, L: float, s: float) -> float:
        """L~ (section "L-tilde" of docs/spdpeg.md)."""
        if self.mode == "paper":
            return max(8.0 * s, math.sqrt(8.0 * L * L + s)) + self._printed_mu(problem)
        if self.mu_loss > 0.0:
            return max(8.0 * s, math.sqrt(8.0) * L + s) + self.mu_loss
        return max(4.0 * s, 2.0 * L + s)

    def _printed_mu(self, problem: Problem) -> float:
        """mu in the printed L~, which is 0 where l is merely convex."""
        return 0.0

    def _regime(self, problem: Problem, batch_size: int) -> dict[str, float]:
        if self.kappa is not None:
            kappa = self.kappa
        elif self.mode == "paper":
            kappa = 1.0
        else:
            kappa = noise_scale(problem, batch_size)
        return {"kappa": kappa}

    def _modulus(self, problem: Problem) -> float:
        """Effective strong convexity: in r1 it counts twice in the analysis, in l once; the paper has one mu."""
        in_r1 = problem.strong_convexity
        mu = self.mu_loss + (in_r1 if self.mode == "paper" else 2.0 * in_r1)
        if mu <= 0.0:
            raise UnsupportedError(
                f"{self.about.name} needs strong convexity and neither r1 nor mu_loss brings any. "
                'Add ridge to r1 (penalties.L2Squared, penalties.ElasticNet), pass mu_loss, or use "spdpeg".'
            )
        return mu


class SPDPEGSC1(SPDPEG):
    """SPDPEG for strongly convex problems: c_k = 2 / (mu (k+1) + 2 L~), uniform average, O(log(t)/t).

    mu is mu_loss plus twice the modulus of r1 ("paper": plus once).
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

    def check(self, problem: Problem) -> None:
        super().check(problem)
        self._modulus(problem)
        if self.kappa is not None:
            raise InputError(f"kappa is a parameter of spdpeg; {self.about.name} has no sqrt(k) term. Leave it out.")

    def _printed_mu(self, problem: Problem) -> float:
        return self.mu_loss + problem.strong_convexity

    def _regime(self, problem: Problem, batch_size: int) -> dict[str, float]:
        return {"slope": self._modulus(problem) / 2.0, "shift": 1.0}


class SPDPEGSC2(SPDPEGSC1):
    """SPDPEG for strongly convex problems: c_k = 4 / (mu (k+2) + 4 L~), later iterates weigh more, O(1/t)."""

    about = replace(
        SPDPEGSC1.about,
        name="spdpeg-sc2",
        summary="SPDPEG, strongly convex regime, increasing weights",
        rate="O(1/t)",
        assumptions=(
            "those of spdpeg-sc1, and bounded dual iterates; in expectation, for the weighted average (Theorem 3)"
        ),
    )

    def _thetas(self, k: np.ndarray) -> np.ndarray:
        return averaging.increasing(k)

    def _regime(self, problem: Problem, batch_size: int) -> dict[str, float]:
        return {"slope": self._modulus(problem) / 4.0, "shift": 2.0}
