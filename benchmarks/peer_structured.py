"""Packages that know the chain, or take any F."""

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import expit

from peer_cases import CHAIN, GRID, LOGISTIC, NONE, Case
from peer_runs import (
    BUSY,
    ENDLESS,
    Budgeted,
    Found,
    Method,
    Traced,
    Watch,
    columns,
    norm_square,
    rows,
    tolerances,
    warm,
)

_NITER = 10**6
"""Endless for PyProximal, which keeps an array of that length."""
MOST_ENTRIES = 1_000_000
"""Of X and F, up to which a case is written as a cone program."""

Prepare = Callable[[Case, float], Traced | Budgeted]


def spams(line_search: int, accelerated: bool) -> Prepare:
    """Proximal gradient steps, FISTA's or plain; line search 2 is that of Barzilai and Borwein."""

    def prepare(case: Case, cap: float) -> Budgeted:
        fista = import_module("spams").fistaFlat
        X, y = columns(case.X), np.asfortranarray(case.y[:, None])
        factor = (
            1.0 if case.loss == LOGISTIC else float(case.y.size)
        )  # it takes the sum of squares, but the mean of this

        def solve(point: Case, budget: int, start: np.ndarray) -> np.ndarray:
            regul, weights = _spams_penalty(point)
            scaled = {name: factor * weight for name, weight in weights.items()}
            found = fista(
                y, X, np.asfortranarray(start[:, None]), numThreads=1, max_it=budget, it0=budget + 1, tol=1e-16,
                loss="logistic" if case.loss == LOGISTIC else "square", regul=regul, size_group=case.size,
                linesearch_mode=line_search, ista=not accelerated, **scaled,
            )  # fmt: skip
            return np.array(found[:, 0])

        return Budgeted(warm(case, solve))

    return prepare


def _spams_penalty(case: Case) -> tuple[str, dict[str, float]]:
    if case.structure == CHAIN:
        return "fused-lasso", {"lambda1": case.lam2, "lambda2": case.l1, "lambda3": case.ridge}
    if case.group > 0.0:
        return "group-lasso-l2", {"lambda1": case.group}
    return (
        ("elastic-net", {"lambda1": case.l1, "lambda2": case.ridge})
        if case.ridge > 0.0
        else ("l1", {"lambda1": case.l1})
    )


def copt_three_split(case: Case, cap: float) -> Traced:
    """Davis-Yin splitting with the exact prox of the chain and steps that may grow again."""
    copt, penalty = import_module("copt"), import_module("copt.penalty")
    loss, d = _copt_loss(case), case.X.shape[1]
    fused, l1 = penalty.FusedLasso(case.lam2), penalty.L1Norm(case.l1)
    fused.prox(np.zeros(d), 1.0)  # compiles

    def run(watch: Watch) -> None:
        copt.minimize_three_split(
            loss.f_grad, np.zeros(d), fused.prox, l1.prox, tol=0.0, max_iter=ENDLESS,
            h_Lipschitz=case.l1 * np.sqrt(d), callback=lambda names: watch(names["x"]),
        )  # fmt: skip

    return Traced(run)


def copt_primal_dual(line_search: bool) -> Prepare:
    """Condat-Vu: with its line search, or with the longest steps that theory allows."""

    def prepare(case: Case, cap: float) -> Traced:
        copt, l1 = import_module("copt"), import_module("copt.penalty").L1Norm
        loss, d = _copt_loss(case), case.X.shape[1]
        curvature = 0.25 if case.loss == LOGISTIC else 1.0
        L, square = curvature * norm_square(case.X) / case.y.size + case.ridge, norm_square(case.F)
        steps = {} if line_search else {"step_size": 1.0 / L, "step_size2": 0.5 * L / square}

        def run(watch: Watch) -> None:
            copt.minimize_primal_dual(
                loss.f_grad, np.zeros(d), l1(case.l1).prox, l1(case.lam2).prox, L=case.F, tol=0.0,
                max_iter=ENDLESS, line_search=line_search, callback=lambda names: watch(names["x"]), **steps,
            )  # fmt: skip

        return Traced(run)

    return prepare


def copt_image(case: Case, cap: float) -> Budgeted:
    """An image is one proximal step of its total variation, by Douglas-Rachford splitting into rows and columns."""
    prox = import_module("copt.tv_prox").prox_tv2d
    image = case.y.astype(float)
    prox(image, 0.0, case.side, case.side, max_iter=1)  # compiles
    return Budgeted(
        lambda budget: Found([prox(image, case.lam2 * image.size, case.side, case.side, max_iter=budget, tol=0.0)])
    )


def _copt_loss(case: Case) -> Any:
    loss = import_module("copt.loss")
    if case.loss == LOGISTIC:
        return loss.LogLoss(rows(case.X), (case.y > 0).astype(float), alpha=case.ridge)
    return loss.SquareLoss(rows(case.X), case.y, alpha=case.ridge)


def clarabel(case: Case, cap: float) -> Budgeted:
    """CVXPY's model, compiled before the clock starts; only the interior-point method is timed."""
    cp = import_module("cvxpy")
    x, scale = cp.Variable(case.X.shape[1]), cp.Parameter(nonneg=True)
    if case.loss == LOGISTIC:
        loss = cp.sum(cp.logistic(rows(sp.diags_array(-case.y) @ case.X) @ x))
    else:
        loss = 0.5 * cp.sum_squares(rows(case.X) @ x - case.y)
    fixed, scaled = 0.5 * case.ridge * cp.sum_squares(x), case.lam2 * cp.norm1(case.F @ x)
    if case.structure == NONE:
        groups = cp.reshape(x, (case.X.shape[1] // case.size, case.size), order="C")
        scaled = case.l1 * cp.norm1(x) + (case.group * cp.sum(cp.norm2(groups, axis=1)) if case.group > 0.0 else 0.0)
    else:
        fixed += case.l1 * cp.norm1(x)
    model = cp.Problem(cp.Minimize(loss / case.y.size + fixed + scale * scaled))
    scale.value = 1.0
    model.get_problem_data(cp.CLARABEL)

    def run(tolerance: float) -> Found:
        xs = []
        for scale.value in case.scales:
            with warnings.catch_warnings(action="ignore"):
                model.solve(
                    solver=cp.CLARABEL, tol_gap_abs=tolerance, tol_gap_rel=tolerance, tol_feas=tolerance,
                    max_threads=1, time_limit=BUSY * cap,
                )  # fmt: skip
            xs.append(np.asarray(x.value, dtype=float))
        return Found(xs)

    return Budgeted(run, tolerances())


def regreg(case: Case, cap: float) -> Budgeted:
    """FISTA whose prox is solved by FISTA in the dual."""
    rr = import_module("regreg.api")
    n, d = case.X.shape
    quadratic = rr.identity_quadratic(case.ridge, 0, 0, 0)
    control = {"dual_reference_lipschitz": 1.05 * (norm_square(case.F) + (case.l1 > 0.0))}
    family, y = (rr.glm.logistic, (case.y > 0).astype(float)) if case.loss == LOGISTIC else (rr.glm.gaussian, case.y)

    def run(budget: int) -> Found:
        atoms = [rr.l1norm.linear(case.F, lagrange=case.lam2)]
        if case.l1 > 0.0:
            atoms.append(rr.l1norm(d, lagrange=case.l1))
        model = rr.container(family(rows(case.X), y, coef=1.0 / n), *atoms)
        found = model.solve(quadratic=quadratic, max_its=budget, min_its=budget, tol=1e-16, prox_control=control)
        return Found([np.array(found)])

    return Budgeted(run)


def pyproximal(case: Case, cap: float) -> Traced:
    """Chambolle-Pock; the prox of the loss is left to L-BFGS, as PyProximal asks of its users."""
    pylops, px = import_module("pylops"), import_module("pyproximal")
    X, y = case.X, case.y
    n, d = X.shape

    class Loss(px.Nonlinear):  # type: ignore[name-defined]
        def fun(self, x: np.ndarray) -> float:
            t = X @ x
            loss = np.logaddexp(0.0, -y * t) if case.loss == LOGISTIC else 0.5 * (t - y) ** 2
            return float(loss.mean()) + 0.5 * case.ridge * float(x @ x)

        def grad(self, x: np.ndarray) -> np.ndarray:
            t = X @ x
            slopes = -y * expit(-y * t) if case.loss == LOGISTIC else t - y
            return np.asarray(X.T @ slopes) / n + case.ridge * x

        def optimize(self) -> np.ndarray:
            found = minimize(
                self._fungradprox, self.x0, args=(self.tau,), jac=True, method="L-BFGS-B",
                options={"maxiter": self.niter},
            )  # fmt: skip
            return np.asarray(found.x)

    F, square = pylops.MatrixMult(case.F), norm_square(case.F)
    penalty = px.L1(case.lam2)
    if case.l1 > 0.0:
        F, square = pylops.VStack([pylops.Identity(d), F]), square + 1.0
        penalty = px.VStack([px.L1(case.l1), penalty], nn=[d, case.F.shape[0]])
    # Steps in the proportion of x, about 1, to the dual, at most lam2 in each entry.
    balance = 1.0 / (case.lam2 * np.sqrt(case.F.shape[0]))
    steps = {"tau": balance / np.sqrt(square), "mu": 1.0 / (balance * np.sqrt(square))}

    def run(watch: Watch) -> None:
        solve = px.optimization.primaldual.PrimalDual
        solve(Loss(np.zeros(d)), penalty, F, np.zeros(d), **steps, niter=_NITER, callback=watch)

    return Traced(run)


def _spams_takes(case: Case) -> bool:
    return case.structure in (CHAIN, NONE)


def _any_F(case: Case) -> bool:
    return case.structure != NONE and not case.is_path


def _is_image(case: Case) -> bool:
    return case.structure == GRID and case.l1 == 0.0 and case.set == "image"


METHODS = {
    "spams fista": Method(spams(0, True), _spams_takes, "spams-bin"),
    "spams fista 2": Method(spams(2, True), _spams_takes, "spams-bin"),
    **{f"spams ista {mode}": Method(spams(mode, False), _spams_takes, "spams-bin") for mode in range(4)},
    "clarabel": Method(clarabel, lambda case: case.entries + case.F.nnz <= MOST_ENTRIES, "clarabel"),
    "copt three-split": Method(copt_three_split, lambda case: _any_F(case) and case.structure == CHAIN, "copt"),
    "copt": Method(copt_primal_dual(False), _any_F, "copt"),
    "copt, line search": Method(copt_primal_dual(True), _any_F, "copt"),
    "copt image": Method(copt_image, _is_image, "copt"),
    "regreg": Method(regreg, _any_F, "regreg"),
    "pyproximal": Method(pyproximal, _any_F, "pyproximal"),
}
"""By the name in tables. FISTA's line searches 1 and 3 of SPAMS are its 0."""
