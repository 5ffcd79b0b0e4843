"""The comparators as their papers print them: z and lambda kept, gradients stored whole, systems solved densely."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import brentq

from spdpeg import penalties
from support import formulas
from support.instances import Instance

Vector = np.ndarray
Gradient = Callable[[int, Vector], Vector]
Step = Callable[[int], float]


@dataclass
class Trace:
    """What iterations 0, 1, 2, ... hand to the averages, and x after each."""

    last: list[Vector] = field(default_factory=list)
    x: list[Vector] = field(default_factory=list)
    z: list[Vector] = field(default_factory=list)
    dual: list[Vector] = field(default_factory=list)

    def add(self, last: Vector, z: Vector, dual: Vector, x: Vector | None = None) -> None:
        """Iteration done; x is `last` unless the method averages something else."""
        for kept, new in ((self.last, last), (self.x, last if x is None else x), (self.z, z), (self.dual, dual)):
            kept.append(new.copy())


def average(iterates: Sequence[Vector], rule: str) -> Vector:
    """Weighted mean of the iterates, as a plain sum."""
    k = np.arange(len(iterates))
    weights = {"uniform": k * 0.0 + 1.0, "linear": k + 1.0, "increasing": k + 3.0, "last": (k == k[-1]) * 1.0}[rule]
    return np.asarray(np.tensordot(weights / weights.sum(), np.array(iterates), axes=1))


def prox(penalty: Any, v: Vector, c: float) -> Vector:
    """argmin of c r(w) + |w - v|^2 / 2; no penalty is the zero function."""
    return v if penalty is None else formulas.prox(penalty, v, c)


def conjugate_prox(penalty: Any, v: Vector, c: float) -> Vector:
    """The same for the conjugate of r."""
    return v - c * prox(penalty, v / c, 1.0 / c)


def stacked(instance: Instance) -> Instance:
    """r1 carried by [F; I]."""
    F, d = instance.F, instance.X.shape[1]
    parts = [penalties.Zero() if part is None else part for part in (instance.r2, instance.r1)]
    return instance.with_(
        r1=None,
        r2=penalties.SeparableSum(parts, [F.shape[0], d]),
        operator=np.vstack([F, np.eye(d)]),
        matrix=np.vstack([F, np.eye(d)]),
    )


def slope(loss: Any, t: Vector, b: Vector) -> Vector:
    """phi'(t, b), or some subgradient."""
    match type(loss).__name__:
        case "Hinge":
            return np.asarray(np.where(b * t < 1.0, -b, 0.0))
        case "Quantile":
            return np.asarray(np.where(t < b, -loss.level, 1.0 - loss.level))
    return formulas.loss_derivative(loss, t, b)


def loss_prox(loss: Any, t: float, b: float, c: float) -> float:
    """argmin over s of c phi(s, b) + (s - t)^2 / 2."""
    if c == 0.0:
        return t
    match type(loss).__name__:
        case "Hinge":
            return t + b * float(np.clip(1.0 - b * t, 0.0, c))
        case "Quantile":
            return t + float(np.clip(b - t, c * (loss.level - 1.0), c * loss.level))
        case "Squared":
            return (t + c * b) / (1.0 + c)

    def residual(s: float) -> float:
        return s + c * float(slope(loss, np.array(s), np.array(b))) - t

    ends = sorted((t, t - c * float(slope(loss, np.array(t), np.array(b)))))
    return ends[0] if ends[0] == ends[1] else float(brentq(residual, *ends, xtol=1e-16, rtol=1e-15))


def row_gradients(instance: Instance, x: Vector, rows: Vector) -> Vector:
    """One gradient per row, as rows of a matrix."""
    A, b, w = instance.X[rows], instance.labels[rows], instance.scaled_weights[rows]
    return np.asarray((w * slope(instance.loss, A @ x, b))[:, None] * A)


def subgradient(penalty: Any, x: Vector) -> Vector:
    """Some subgradient of r1."""
    match type(penalty).__name__:
        case "NoneType" | "Zero":
            return np.zeros_like(x)
        case "L1":
            return np.asarray(penalty.weight * np.sign(x))
        case "L2Squared":
            return np.asarray(penalty.weight * x)
        case "ElasticNet":
            return np.asarray(penalty.l1 * np.sign(x) + penalty.l2 * x)
        case "HuberL1":
            return np.asarray(penalty.weight * np.clip(x / penalty.delta, -1.0, 1.0))
        case "GroupL2":
            blocks = x.reshape(-1, penalty.groups)
            lengths = np.linalg.norm(blocks, axis=1, keepdims=True)
            return np.asarray(penalty.weight * blocks / np.where(lengths > 0.0, lengths, 1.0)).reshape(-1)
    raise NotImplementedError(type(penalty).__name__)


class Sampled:
    """The mean gradient of batch k."""

    def __init__(self, instance: Instance, batches: Vector) -> None:
        self.instance, self.batches = instance, batches

    def __call__(self, k: int, x: Vector) -> Vector:
        return np.asarray(row_gradients(self.instance, x, self.batches[k]).mean(axis=0))


class Averaged:
    """SAG: the mean of the gradients last seen, each kept whole, and of the points at which they were seen."""

    def __init__(self, instance: Instance, batches: Vector, x0: Vector) -> None:
        self.instance, self.batches = instance, batches
        self.table = np.zeros(instance.X.shape)
        self.points = np.tile(x0, (len(instance.X), 1))

    def __call__(self, k: int, x: Vector) -> Vector:
        for i in self.batches[k]:
            self.table[i] = row_gradients(self.instance, x, np.array([i]))[0]
            self.points[i] = x
        return np.asarray(self.table.mean(axis=0))


class Corrected:
    """SVRG: batch k corrected by a snapshot, retaken at the mean of the points visited since the one before."""

    def __init__(self, instance: Instance, batches: Vector, epoch: int) -> None:
        self.instance, self.batches, self.epoch = instance, batches, epoch
        self.visited: list[Vector] = []

    def __call__(self, k: int, x: Vector) -> Vector:
        if k == 0 or len(self.visited) == self.epoch - 1:
            self.snapshot = np.mean([*self.visited, x], axis=0) if k else x
            self.visited = []
        else:
            self.visited.append(x)
        rows = self.batches[k]
        change = row_gradients(self.instance, x, rows) - row_gradients(self.instance, self.snapshot, rows)
        return np.asarray(change.mean(axis=0) + self.instance.gradient(self.snapshot))


def z_first(instance: Instance, gradient: Gradient, step: Step, rho: float, x: Vector, count: int) -> Trace:
    """LADMM, SGADM and SVRG-ADMM: z, x, lambda. The dual handed out is lambda - rho (F x - z), which is feasible."""
    F, dual, trace = instance.F, np.zeros(instance.F.shape[0]), Trace()
    for k in range(count):
        c = step(k)
        z = prox(instance.r2, F @ x - dual / rho, 1.0 / rho)
        feasible = dual - rho * (F @ x - z)
        x = prox(instance.r1, x - c * (gradient(k, x) - F.T @ (dual - rho * (F @ x - z))), c)
        dual = dual - rho * (F @ x - z)
        trace.add(x, z, feasible)
    return trace


def x_first(instance: Instance, gradient: Gradient, step: Step, rho: float, x: Vector, count: int) -> Trace:
    """OPG-ADMM and SAG-ADMM: x, z, lambda, started by a z- and a lambda-step; z and lambda lag one step behind x."""
    F = instance.F
    z, dual = z_and_dual(instance, rho, x, np.zeros(F.shape[0]))
    trace = Trace()
    for k in range(count):
        c = step(k)
        x = prox(instance.r1, x - c * (gradient(k, x) - F.T @ (dual - rho * (F @ x - z))), c)
        trace.add(x, z, dual)
        z, dual = z_and_dual(instance, rho, x, dual)
    return trace


def z_and_dual(instance: Instance, rho: float, x: Vector, dual: Vector) -> tuple[Vector, Vector]:
    """The z-step and the lambda-step that follow x."""
    Fx = instance.F @ x
    z = prox(instance.r2, Fx - dual / rho, 1.0 / rho)
    return z, dual - rho * (Fx - z)


def arrow_hurwicz(instance: Instance, gradient: Gradient, step: Step, rho: float, x: Vector, count: int) -> Trace:
    """SPDHG of Qiao and others: no extrapolation; z is that of the dual step."""
    F, y, trace = instance.F, np.zeros(instance.F.shape[0]), Trace()
    for k in range(count):
        c = step(k)
        z = prox(instance.r2, y / rho + F @ x, 1.0 / rho)
        y = y + rho * (F @ x - z)
        x = prox(instance.r1, x - c * (gradient(k, x) + F.T @ y), c)
        trace.add(x, z, -y)
    return trace


def dual_averaging(instance: Instance, gradient: Gradient, step: Step, rho: float, x: Vector, count: int) -> Trace:
    """RDA-ADMM from lists of everything seen; `step` is eta_t / gamma_t. Hands out x before the step."""
    F, start = instance.F, x
    z, dual = F @ x, np.zeros(F.shape[0])
    gradients, trace = [], Trace()
    for k in range(count):
        c = step(k)
        gradients.append(gradient(k, x))
        xs, zs, duals = [*trace.x, x], [*trace.z, z], [*trace.dual, dual]
        means = [np.mean(seen, axis=0) for seen in (gradients, xs, zs, duals)]
        direction = means[0] - F.T @ (means[3] - rho * (F @ means[1] - means[2]))
        after = prox(instance.r1, start - c * direction, c)
        trace.add(after, z, dual, x)
        x = after
        z, dual = z_and_dual(instance, rho, x, dual)
    return trace


def stochastic_admm(
    instance: Instance, gradient: Gradient, metric: Callable[[int, Vector], Vector], rho: float, x: Vector, count: int
) -> Trace:
    """SADMM and its relatives; `metric` gives H_k as a matrix, from k and the subgradient of l + r1 seen at step k."""
    F = instance.F
    z, dual = F @ x, np.zeros(F.shape[0])
    trace = Trace()
    for k in range(count):
        g = gradient(k, x) + subgradient(instance.r1, x)
        H = metric(k, g)
        x = np.linalg.solve(rho * F.T @ F + H, H @ x - g + F.T @ (dual + rho * z))
        z, dual = z_and_dual(instance, rho, x, dual)
        trace.add(x, z, dual)
    return trace


class DiagonalMetric:
    """(I + diag of the root of the summed squares) / eta."""

    def __init__(self, d: int, eta: float) -> None:
        self.sum, self.eta = np.zeros(d), eta

    def __call__(self, k: int, g: Vector) -> Vector:
        self.sum += g * g
        return np.diag(1.0 + np.sqrt(self.sum)) / self.eta


class FullMetric:
    """(I + root of the sum of g g^T) / eta, refreshed every tenth step."""

    def __init__(self, d: int, eta: float) -> None:
        self.sum, self.eta = np.zeros((d, d)), eta

    def __call__(self, k: int, g: Vector) -> Vector:
        self.sum += np.outer(g, g)
        if k % 10 == 0:
            left, values, _ = np.linalg.svd(self.sum, hermitian=True)
            self.metric = np.asarray(np.eye(len(g)) + (left * np.sqrt(values)) @ left.T) / self.eta
        return np.asarray(self.metric)


def online_admm(instance: Instance, rows: Vector, eta: Step, rho: float, x: Vector, count: int) -> Trace:
    """Online ADMM of the stacked problem: the sampled loss itself in the x-step."""
    K = instance.F
    z, dual = K @ x, np.zeros(K.shape[0])
    trace = Trace()
    for k in range(count):
        i = rows[k]
        a, b, w = instance.X[i], instance.labels[i], instance.scaled_weights[i]
        M = rho * K.T @ K + eta(k) * np.eye(x.size)
        q = K.T @ (dual + rho * z) + eta(k) * x
        h, s0 = a @ np.linalg.solve(M, a), a @ np.linalg.solve(M, q)
        s = loss_prox(instance.loss, s0, b, w * h)
        x = np.linalg.solve(M, q - ((s0 - s) / h if h > 0.0 else 0.0) * a)
        z, dual = z_and_dual(instance, rho, x, dual)
        trace.add(x, z, dual)
    return trace


def stored_points(
    instance: Instance,
    exact: bool,
    seen: Averaged,
    lipschitz: float,
    rho: float,
    coupling: float,
    x: Vector,
    count: int,
) -> Trace:
    """SA-ADMM (of the stacked problem) and SA-IU-ADMM, which differ in the x-step."""
    K, L = instance.F, lipschitz
    z, dual = K @ x, np.zeros(K.shape[0])
    trace = Trace()
    for k in range(count):
        g = seen(k, x)
        center = seen.points.mean(axis=0)
        if exact:
            x = np.linalg.solve(rho * K.T @ K + L * np.eye(x.size), L * center - g + K.T @ (dual + rho * z))
        else:
            total = coupling + L
            pull = g - K.T @ (dual - rho * (K @ x - z))
            x = prox(instance.r1, (coupling * x + L * center - pull) / total, 1.0 / total)
        z, dual = z_and_dual(instance, rho, x, dual)
        trace.add(x, z, dual)
    return trace


def sdca_admm(
    instance: Instance, batches: Vector, rho: float, gamma: float, norm: float, x: Vector, above: float
) -> Trace:
    """SDCA-ADMM of the stacked problem in the paper's scaling: sum of phi_i*(u_i) + N psi*(y / N), A^T u + B y = 0.

    `gamma` is the paper's (1/N times ours), `norm` bounds |B|^2 and `above` times |A_I|^2 bounds that of a block.
    """
    A, K, n = instance.X, instance.F, len(instance.X)
    u, y, w = np.zeros(n), np.zeros(K.shape[0]), x
    trace = Trace()
    for rows in batches:
        r = A.T @ u + K.T @ y
        # prox of t -> N psi*(t / N) / s is N times the prox of psi* / (N s) at a point N times smaller.
        s = rho * norm
        point = y + K @ (w - rho * r) / s
        y = n * conjugate_prox(instance.r2, point / n, 1.0 / (n * s))
        eta = above * np.sum(A[rows] ** 2)
        ahead = w - rho * (A.T @ u + K.T @ y)
        for i in rows if eta > 0.0 else ():
            v = u[i] + A[i] @ ahead / (rho * eta)
            scale = rho * eta
            u[i] = (
                v - loss_prox(instance.loss, scale * v, instance.labels[i], scale * instance.scaled_weights[i]) / scale
            )
        w = w - gamma * rho * (n * (A.T @ u + K.T @ y) - (n - len(rows)) * r)
        trace.add(w, s * (point - y), -y / n)
    return trace


def dual_coordinates(
    instance: Instance, rows: Vector, updates_of_F: Sequence[int], gamma: float, p: float, norm_F: float, x: Vector
) -> Trace:
    """SPDHG of Chambolle and others on K = [A / N; F], the dual in one vector; a trace entry per row update."""
    n, m = len(instance.X), instance.F.shape[0]
    K = np.vstack([instance.X / n, instance.F])
    dual = np.zeros(n + m)
    lengths = np.linalg.norm(instance.X, axis=1)
    tau = 0.99 * min([(1.0 - p) / lengths.max()] + ([p / norm_F] if m else [])) / gamma
    sigma_F = 0.99 * gamma / norm_F if m else 1.0
    pull = extrapolated = K.T @ dual
    z, trace = instance.F @ x, Trace()
    for i, updates in zip(rows, updates_of_F, strict=True):
        for block in [*["F"] * updates, "row"]:
            x = prox(instance.r1, x - tau * extrapolated, tau)
            before = dual.copy()
            if block == "F":
                point = dual[n:] + sigma_F * (instance.F @ x)
                dual[n:] = conjugate_prox(instance.r2, point, sigma_F)
                z, probability = (point - dual[n:]) / sigma_F, p
            else:
                probability = (1.0 - p) / n
                if lengths[i] > 0.0:
                    sigma = 0.99 * gamma / (lengths[i] / n)
                    # prox of (sigma / N) phi*, by Moreau's identity.
                    c = sigma / n
                    v = dual[i] + sigma * (K[i] @ x)
                    w = instance.scaled_weights[i]
                    dual[i] = v - c * loss_prox(instance.loss, v / c, instance.labels[i], w / c)
            change = K.T @ (dual - before)
            pull = pull + change
            extrapolated = pull + change / probability
        trace.add(x, z, -dual[n:])
    return trace


def condat_vu(instance: Instance, c: float, rho: float, relaxation: float, x: Vector, count: int, y: Vector) -> Trace:
    """Condat-Vu with relaxation."""
    F, trace = instance.F, Trace()
    for _ in range(count):
        x_plus = prox(instance.r1, x - c * (instance.gradient(x) + F.T @ y), c)
        point = y + rho * F @ (2 * x_plus - x)
        y_plus = conjugate_prox(instance.r2, point, rho)
        z = (point - y_plus) / rho
        x, y = x + relaxation * (x_plus - x), y + relaxation * (y_plus - y)
        trace.add(x, z, -y)
    return trace


def pd3o(instance: Instance, c: float, rho: float, q: Vector, count: int) -> Trace:
    """PD3O of Yan."""
    F, y, trace = instance.F, np.zeros(instance.F.shape[0]), Trace()
    for _ in range(count):
        x = prox(instance.r1, q, c)
        h = x - c * instance.gradient(x)
        point = y + rho * F @ (x + h - q - c * F.T @ y)
        y = conjugate_prox(instance.r2, point, rho)
        q = h - c * F.T @ y
        trace.add(x, (point - y) / rho, -y)
    return trace


def admm_newton(instance: Instance, rho: float, x: Vector, count: int) -> Trace:
    """ADMM of the stacked problem, scaled dual u, x by Newton to rounding. Hands out the z of the identity block."""
    K, A, d = instance.F, instance.X, x.size
    m = K.shape[0] - d
    z, u = K @ x, np.zeros(K.shape[0])
    trace = Trace()
    for _ in range(count):
        for _ in range(20):
            t = A @ x
            bend = {"Squared": np.ones_like(t), "Logistic": 1.0 / (2.0 + np.exp(t) + np.exp(-t))}
            D = instance.scaled_weights * bend[type(instance.loss).__name__] / len(A)
            slope_here = instance.gradient(x) + rho * K.T @ (K @ x - z + u)
            x = x - np.linalg.solve(A.T @ (D[:, None] * A) + rho * K.T @ K, slope_here)
        z = prox(instance.r2, K @ x + u, 1.0 / rho)
        u = u + K @ x - z
        trace.add(x, z, -rho * u, z[m:])
    return trace
