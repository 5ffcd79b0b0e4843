"""VR-SPDPEG slowly: gradients stored whole, one function per scheme, F as a matrix, r1 and r2 by their formulas."""

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spdpeg import Problem, penalties
from spdpeg.solvers import sampling
from support import admm, formulas
from support.comparators import Output, Run
from support.instances import Instance

Vector = np.ndarray
SEPARABLE = ("NoneType", "Zero", "L1", "L2Squared", "ElasticNet", "HuberL1", "Box", "NonNegative")


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
    anchor: Vector
    """x at the last step of the dual, and"""
    waiting: int = 0
    """steps since then."""

    def copy(self) -> "Point":
        """An independent copy."""
        return copy.deepcopy(self)


@dataclass(frozen=True)
class Method:
    """An instance with steps tau of the coordinates and sigma of the rows of F, and how often rows are drawn."""

    instance: Instance
    tau: Vector
    sigma: Vector
    saga: bool = True
    probabilities: Vector | None = None
    dual_every: int = 1

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
            gradient += change / (len(rows) * (1.0 if self.probabilities is None else self.probabilities[i]))
            if self.saga:
                state.table[i] += change
                state.mean = state.mean + change / len(state.table)
        return gradient

    def remember(self, state: Point, at: Vector) -> None:
        """A snapshot."""
        state.table = admm.row_gradients(self.instance, at, np.arange(len(self.instance.X)))
        state.mean = state.table.mean(axis=0)

    def condat_vu(self, state: Point, rows: Vector) -> None:
        """x+ = prox(x - tau (g + F^T y)); then, unless it is too early, y+ = prox*(y + sigma F (2 x+ - x))."""
        F = self.instance.F
        state.x = self.prox(state.x - self.tau * (self.estimate(state.x, rows, state) + F.T @ state.y))
        state.waiting += 1
        if state.waiting == self.dual_every:
            self._dual_step(state, F @ (2.0 * state.x - state.anchor))
            state.anchor, state.waiting = state.x, 0

    def pd3o(self, state: Point, rows: Vector) -> None:
        """Yan's three-operator step with the gradient estimated at x = prox(q)."""
        F = self.instance.F
        state.x = self.prox(state.q)
        descended = state.x - self.tau * self.estimate(state.x, rows, state)
        self._dual_step(state, F @ (state.x + descended - state.q - self.tau * (F.T @ state.y)))
        state.q = descended - self.tau * (F.T @ state.y)

    def extragradient(self, state: Point, rows: Vector) -> tuple[Vector, Vector]:
        """Section 16.2 of the design: the mean of the table first, then a batch at x_bar; (x_bar, y_bar)."""
        F, x, y = self.instance.F, state.x, state.y
        y_bar = self.dual_prox(y + self.sigma * (F @ x))
        x_bar = self.prox(x - self.tau * (state.mean + F.T @ y))
        state.x = self.prox(x - self.tau * (self.estimate(x_bar, rows, state) + F.T @ y_bar))
        state.y = y_bar + self.sigma * (F @ x_bar - F @ x)
        state.z = F @ x + (y - y_bar) / self.sigma
        return x_bar, y_bar

    def joint_prox(self, state: Point, rows: Vector) -> None:
        """Proximal SAGA: x+ = prox(x - tau g), r1 and r2(F .) in one prox."""
        point = state.x - self.tau * self.estimate(state.x, rows, state)
        if len(self.instance.F):
            l1 = 0.0 if self.instance.r1 is None else self.instance.r1.weight
            state.x = formulas.prox(penalties.FusedL1(l1, self._limits), point, float(self.tau[0]))
        else:
            state.x = self.prox(point)

    def read_off(self, state: Point) -> None:
        """z = F x, and the y that x - mean gradient leaves on the edges of the chain."""
        state.z = self.instance.F @ state.x
        if len(self.instance.F):
            ahead = state.x - state.mean
            state.y = -np.cumsum(ahead - formulas.prox(penalties.FusedL1(0.0, self._limits), ahead, 1.0))[:-1]

    @property
    def _limits(self) -> Vector:
        return np.broadcast_to(self.instance.r2.weight, (len(self.instance.F),))

    def _dual_step(self, state: Point, ahead: Vector) -> None:
        y = self.dual_prox(state.y + self.sigma * ahead)
        state.z = ahead + (state.y - y) / self.sigma
        state.y = y


@dataclass(frozen=True)
class Twin:
    """A whole run: a pass of SGADM unless the start was chosen, then the scheme from its averages."""

    instance: Instance
    problem: Problem
    scheme: str
    estimator: str
    batch: int
    seed: int
    x0: Vector
    count: int
    sampling: str = "auto"
    dual_every: int | None = None

    @property
    def warm_steps(self) -> int:
        """Of the first pass."""
        return 0 if np.any(self.x0) else self._pass

    @property
    def _pass(self) -> int:
        return -(-len(self.instance.X) // self.batch)

    @cached_property
    def metric(self) -> Vector:
        """1 / (mean square of a column), or its root, where columns differ and rows do not stand out for it."""
        X2, w = self.instance.X**2, self.instance.scaled_weights
        means = (w[:, None] * X2).mean(axis=0)
        tied = self.scheme == "joint-prox" and len(self.instance.F) > 0
        if means.max() <= 4.0 * means[means > 0].min() or tied or type(self.instance.r1).__name__ not in SEPARABLE:
            return np.ones(means.size)
        unevenness = np.max(w * X2.sum(axis=1)) / np.mean(w * X2.sum(axis=1))
        for power in (1.0, 0.5):
            metric = np.where(means > 0, means, 1.0) ** -power
            squares = w * (X2 @ metric)
            if squares.max() / squares.mean() <= 2.0 * unevenness:
                return metric
        return np.ones(means.size)

    @cached_property
    def method(self) -> Method:
        """With the default steps."""
        n, b, F, w = len(self.instance.X), self.batch, np.abs(self.instance.F), self.instance.scaled_weights
        lengths, squares = w * (self.instance.X**2).sum(axis=1), w * (self.instance.X**2 @ self.metric)
        important = self.sampling == "importance" or (self.sampling == "auto" and lengths.max() > 1.3 * lengths.mean())
        share = n * (b - 1) / (b * (n - 1))
        mean = min(self.problem.view.bounds.rough_norm(self.metric), squares.mean())
        largest = share * mean + (1.0 - share) * (squares.mean() if important else squares.max())
        curvature = 2.0 * self.instance.loss.curvature * largest / self.metric
        columns = F.sum(axis=0) * (self.scheme != "joint-prox")
        weight = 0.25 * curvature / columns[columns > 0].mean() if columns.any() else np.ones(columns.size)
        tau = 1.0 / (curvature + weight * columns)
        every = self._every
        sigma = 1.0 / (F @ (1.0 / weight)) * (0.5 if self.scheme == "extragradient" else 1.0)
        if self.instance.r1 is not None and type(self.instance.r1).__name__ not in SEPARABLE:
            tau = np.full_like(tau, tau.min())
        if sigma.size and not isinstance(self.instance.r2, penalties.L1):
            sigma = np.full_like(sigma, sigma.min())
        probabilities = squares / squares.mean() if important else None
        return Method(self.instance, tau, sigma / every, self.estimator == "saga", probabilities, every)

    @property
    def _every(self) -> int:
        if self.scheme in ("pd3o", "extragradient"):
            return 1
        if self.dual_every is not None:
            return self.dual_every
        n, d = self.instance.X.shape
        row = 4.0 * max(1.0, self.problem.view.rows.block.rows.values.size / n)
        wanted = 4.0 * np.count_nonzero(self.instance.F) / (self.batch * row + 10.0 * d)
        return int(np.clip(wanted, 1, max(1, n // (20 * self.batch))))

    @property
    def _batches(self) -> Vector:
        n = len(self.instance.X)
        sampler: sampling.Sampler
        if self.method.probabilities is not None:
            sampler = sampling.Importance(self.method.probabilities, self.batch, self.seed, self.warm_steps)
        else:
            order = "hybrid" if self.sampling in ("auto", "importance") else self.sampling
            sampler = sampling.make(order, n, self.batch, self.seed, False)
        return np.asarray(sampler.draw(0, self.count).reshape(self.count, self.batch))

    def _warm(self, batches: Vector) -> list[Output]:
        run = Run("sgadm", self.instance, self.problem, self.count, self.batch, self.seed, self.x0)
        step = run.decreasing(run.known.lipschitz_max + run.coupling)
        gradient = admm.Sampled(self.instance, batches)
        trace = admm.z_first(self.instance, gradient, step, run.rho, self.x0, min(self.warm_steps, self.count))
        return [
            Output(
                admm.average(trace.x[:t], "uniform"),
                trace.last[t - 1] if t < self.warm_steps else admm.average(trace.x[:t], "uniform"),
                admm.average(trace.z[:t], "uniform"),
                admm.average(trace.dual[:t], "uniform"),
            )
            for t in range(1, len(trace.x) + 1)
        ]

    def outputs(self) -> list[Output]:
        """What the solver must report after 1, 2, ..., count iterations."""
        F, batches = self.instance.F, self._batches
        done = self._warm(batches)
        start = done[-1] if done else Output(self.x0, self.x0, F @ self.x0, np.zeros(len(F)))
        nothing = np.zeros(self.instance.X.shape)
        state = Point(start.x, -start.dual, start.z, start.x, nothing, nothing[0], start.x)
        take: Callable[[Point, Vector], object] = {
            "condat-vu": self.method.condat_vu,
            "pd3o": self.method.pd3o,
            "extragradient": self.method.extragradient,
            "joint-prox": self.method.joint_prox,
        }[self.scheme]
        self.method.remember(state, state.x)
        state.q = state.x - self.method.tau * (state.mean + F.T @ state.y)
        if done:
            done[-1] = self._output(state)
        left, epochs = self._epoch(0), 1
        for rows in batches[self.warm_steps :]:
            take(state, rows)
            left -= 1
            if left == 0:
                self.method.remember(state, state.x)
                left, epochs = self._epoch(epochs), epochs + 1
            done.append(self._output(state))
        return done

    def _output(self, state: Point) -> Output:
        if self.scheme == "joint-prox":
            self.method.read_off(state)
        return Output(state.x, state.x, state.z, -state.y)

    def _epoch(self, epochs: int) -> int:
        if self.estimator == "saga":
            return 50 * self._pass
        if self.estimator == "svrg":
            return self._pass
        toss = (int(sampling.Independent(1 << 40, 1, self.seed + 1).draw(epochs, 1)[0]) + 1.0) / 2.0**40
        return max(1, math.ceil(-self._pass * math.log(toss)))
