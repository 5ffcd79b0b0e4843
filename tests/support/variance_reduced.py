"""VR-SPDPEG slowly: gradients stored whole, one function per scheme, F as a matrix, r1 and r2 by their formulas."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from spdpeg import Problem, penalties
from spdpeg.penalties import FusedL1
from spdpeg.solvers import sampling
from support import admm, formulas
from support.comparators import Output, Run
from support.instances import Instance

Vector = np.ndarray
SEPARABLE = ("Zero", "L1", "L2Squared", "ElasticNet", "HuberL1", "Box", "NonNegative")


@dataclass
class Point:
    """Where the method is: iterates, the gradients that the table stands for, and their mean."""

    x: Vector
    y: Vector
    z: Vector
    q: Vector
    """What PD3O goes on from."""
    table: Vector
    mean: Vector

    def copy(self) -> "Point":
        """An independent copy."""
        return Point(*(vector.copy() for vector in vars(self).values()))


@dataclass(frozen=True)
class Method:
    """An instance with steps tau of the coordinates and sigma of the rows of F."""

    instance: Instance
    tau: Vector
    sigma: Vector
    saga: bool = True

    def prox(self, v: Vector) -> Vector:
        """Of r1 with steps tau; equal ones where r1 ties coordinates together."""
        uniform = type(self.instance.r1).__name__ not in SEPARABLE
        return admm.prox(self.instance.r1, v, self.tau[0] if uniform else self.tau)  # type: ignore[arg-type]

    def dual_prox(self, v: Vector) -> Vector:
        """Of r2* with steps sigma."""
        if not v.size:
            return v
        uniform = not isinstance(self.instance.r2, penalties.L1)
        return admm.conjugate_prox(self.instance.r2, v, self.sigma[0] if uniform else self.sigma)  # type: ignore[arg-type]

    def estimate(self, at: Vector, rows: Vector, state: Point) -> Vector:
        """The corrected gradient of a batch; SAGA remembers each row as it is read, so one read twice changes once."""
        gradient = state.mean.copy()
        for i in rows:
            change = admm.row_gradients(self.instance, at, np.array([i]))[0] - state.table[i]
            gradient += change / len(rows)
            if self.saga:
                state.table[i] += change
                state.mean = state.mean + change / len(state.table)
        return gradient

    def remember(self, state: Point, at: Vector) -> None:
        """A snapshot."""
        state.table = admm.row_gradients(self.instance, at, np.arange(len(self.instance.X)))
        state.mean = state.table.mean(axis=0)

    def condat_vu(self, state: Point, rows: Vector) -> None:
        """x+ = prox(x - tau (g + F^T y)),  y+ = prox*(y + sigma F (2 x+ - x))."""
        F, before = self.instance.F, state.x
        state.x = self.prox(before - self.tau * (self.estimate(before, rows, state) + F.T @ state.y))
        self._dual_step(state, F @ (2.0 * state.x - before))

    def pd3o(self, state: Point, rows: Vector) -> None:
        """Yan's three-operator step with the gradient estimated at x = prox(q)."""
        F = self.instance.F
        state.x = self.prox(state.q)
        descended = state.x - self.tau * self.estimate(state.x, rows, state)
        self._dual_step(state, F @ (state.x + descended - state.q - self.tau * (F.T @ state.y)))
        state.q = descended - self.tau * (F.T @ state.y)

    def chain_prox(self, state: Point, rows: Vector) -> None:
        """Proximal SAGA: x+ = prox(x - tau g), r1 and r2(F .) in one prox; z = F x, y read off the chain."""
        point = state.x - self.tau * self.estimate(state.x, rows, state)
        state.x = admm.prox(self._together, point, float(self.tau[0]))
        state.z = self.instance.F @ state.x
        if state.y.size:
            ahead = state.x - state.mean
            state.y = -np.cumsum(ahead - formulas.prox(FusedL1(0.0, self._limits), ahead, 1.0))[:-1]

    @property
    def _limits(self) -> Vector:
        """Weights of the edges of the chain."""
        return np.broadcast_to(self.instance.r2.weight, (len(self.instance.F),))

    @property
    def _together(self) -> Any:
        """r1 + r2(F .) along a chain, or r1 alone."""
        if not len(self.instance.F):
            return self.instance.r1
        return FusedL1(0.0 if self.instance.r1 is None else self.instance.r1.weight, self._limits)

    def extragradient(self, state: Point, rows: Vector) -> tuple[Vector, Vector]:
        """Section 16.2 of the design: the mean of the table first, then a batch at x_bar; (x_bar, y_bar)."""
        F, x, y = self.instance.F, state.x, state.y
        y_bar = self.dual_prox(y + self.sigma * (F @ x))
        x_bar = self.prox(x - self.tau * (state.mean + F.T @ y))
        state.x = self.prox(x - self.tau * (self.estimate(x_bar, rows, state) + F.T @ y_bar))
        state.y = y_bar + self.sigma * (F @ x_bar - F @ x)
        state.z = F @ x + (y - y_bar) / self.sigma
        return x_bar, y_bar

    def _dual_step(self, state: Point, ahead: Vector) -> None:
        y = self.dual_prox(state.y + self.sigma * ahead)
        state.z = ahead + (state.y - y) / self.sigma
        state.y = y


@dataclass(frozen=True)
class Twin:
    """A whole run: a pass of SGADM, then the scheme from its averages."""

    instance: Instance
    problem: Problem
    scheme: str
    estimator: str
    batch: int
    seed: int
    x0: Vector
    count: int
    sampling: str = "settling"

    @cached_property
    def method(self) -> Method:
        """With the default steps."""
        warm = self._sgadm
        n, b, F = len(self.instance.X), self.batch, np.abs(self.instance.F)
        share = n * (b - 1) / (b * (n - 1))
        curvature = 2.0 * (share * warm.known.lipschitz + (1.0 - share) * warm.known.lipschitz_max)
        columns, rows = F.sum(axis=0) * (self.scheme != "chain-prox"), F.sum(axis=1)
        weight = 0.25 * curvature / columns[columns > 0].mean() if columns.any() else 1.0
        tau = 1.0 / (curvature + weight * columns)
        sigma = weight / rows * (0.5 if self.scheme == "extragradient" else 1.0)
        if self.instance.r1 is not None and type(self.instance.r1).__name__ not in SEPARABLE:
            tau = np.full_like(tau, tau.min())
        if sigma.size and not isinstance(self.instance.r2, penalties.L1):
            sigma = np.full_like(sigma, sigma.min())
        return Method(self.instance, tau, sigma, self.estimator == "saga")

    @property
    def _sgadm(self) -> Run:
        return Run("sgadm", self.instance, self.problem, self.count, self.batch, self.seed, self.x0)

    def outputs(self) -> list[Output]:
        """What the solver must report after 1, 2, ..., count iterations."""
        n = len(self.instance.X)
        whole = -(-n // self.batch)
        batches = sampling.make(self.sampling, n, self.batch, self.seed, on_disk=False)
        drawn = batches.draw(0, self.count).reshape(self.count, self.batch)
        warm = self._sgadm
        step = warm.decreasing(warm.known.lipschitz_max + warm.coupling)
        gradient = admm.Sampled(self.instance, drawn)
        trace = admm.z_first(self.instance, gradient, step, warm.rho, self.x0, min(whole, self.count))
        done = [
            Output(
                admm.average(trace.x[:t], "uniform"),
                trace.last[t - 1] if t < whole else admm.average(trace.x[:t], "uniform"),
                admm.average(trace.z[:t], "uniform"),
                admm.average(trace.dual[:t], "uniform"),
            )
            for t in range(1, len(trace.x) + 1)
        ]
        start, F = done[-1], self.instance.F
        state = Point(start.x, -start.dual, start.z, start.x, np.zeros(self.instance.X.shape), np.zeros(start.x.size))
        take: Callable[[Point, Vector], object] = {
            "condat-vu": self.method.condat_vu,
            "pd3o": self.method.pd3o,
            "extragradient": self.method.extragradient,
            "chain-prox": self.method.chain_prox,
        }[self.scheme]
        left, epochs = 0, 0
        for rows in drawn[whole:]:
            if left == 0:
                self.method.remember(state, state.x)
                if epochs == 0:
                    state.q = state.x - self.method.tau * (state.mean + F.T @ state.y)
                left, epochs = self._epoch(epochs, whole), epochs + 1
            take(state, rows)
            left -= 1
            done.append(Output(state.x, state.x, state.z, -state.y))
        return done

    def _epoch(self, epochs: int, whole: int) -> int:
        if self.estimator == "saga":
            return 50 * whole
        if self.estimator == "svrg":
            return whole
        toss = (int(sampling.Independent(1 << 40, 1, self.seed + 1).draw(epochs, 1)[0]) + 1.0) / 2.0**40
        return max(1, math.ceil(-whole * math.log(toss)))
