"""How each package is told to solve a case.

Every method is prepared first: data in the form it likes, imports, a model compiled to a cone program. What it does
after that is timed. Methods that call back after each step are `Traced`; those that do not are `Budgeted` and run from
the start with growing budgets, which count iterations or digits of the tolerance.
"""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import expit

import spdpeg
from common import modelling
from peer_cases import Case
from spdpeg.engine import auto
from spdpeg.engine.registry import resolve

LEVELS = (1e-2, 1e-3, 1e-4, 1e-6)
TOLERANCE = 1e-6
RECORDS_PER_PASS = 4
ENDLESS = 10**9
_NITER = 10**6
"""Endless for PyProximal, which keeps an array of that length."""


class Watch(Protocol):
    """Takes an x and, where its own clock would be wrong, the seconds spent; raises once it has seen enough."""

    cap: float

    def __call__(self, x: np.ndarray, spent: float | None = None) -> None:
        """Score x."""


@dataclass(frozen=True)
class Traced:
    """Shows a watch where it is, step by step."""

    run: Callable[[Watch], Any]


@dataclass(frozen=True)
class Budgeted:
    """Returns x after a budget of 1, 2, ... `largest`."""

    run: Callable[[int], np.ndarray]
    largest: int = ENDLESS


@dataclass(frozen=True)
class Method:
    """What a case needs to be, and how it is prepared."""

    prepare: Callable[[Case], Traced | Budgeted]
    tasks: tuple[str, ...]
    package: str
    levels: tuple[float, ...] = LEVELS


# This package


def ours(solver: str) -> Callable[[Case], Traced]:
    """`spdpeg.solve`. Its clock leaves out what comes before the first step, so that is timed here and added."""

    def prepare(case: Case) -> Traced:
        def run(watch: Watch) -> None:
            start = time.perf_counter()
            problem = case.problem()
            rule = auto.plan(problem, TOLERANCE)[0].method if solver == OURS else resolve(solver, {})
            rule.start(problem, rule.default_batch(problem), np.zeros(problem.n_coordinates))
            setup = time.perf_counter() - start
            spdpeg.solve(
                problem,
                solver,
                tol=TOLERANCE if rule.about.converges else None,
                max_seconds=watch.cap,
                record_every=1.0 / RECORDS_PER_PASS,
                callback=lambda progress: watch(progress.x, setup + progress.seconds),
            )

        return Traced(run)

    return prepare


def certified(case: Case) -> Budgeted:
    """The whole call as a user writes it, until the certificate meets the tolerance."""
    return Budgeted(lambda _: spdpeg.solve(case.problem(), tol=TOLERANCE).x, largest=1)


# Packages that know the chain or need no F


def spams(linesearch: int) -> Callable[[Case], Budgeted]:
    """FISTA with the exact prox. Line search 0 is the default, 2 is usually faster and need not descend."""

    def prepare(case: Case) -> Budgeted:
        fista = import_module("spams").fistaFlat
        n, d = case.data.X.shape
        # Wants 32-bit indices: 64-bit ones are accepted and give wrong results.
        dense = case.data.X.nnz > 0.5 * n * d
        X = np.asfortranarray(case.data.X.toarray()) if dense else sp.csc_matrix(case.data.X)
        y, start = np.asfortranarray(case.data.y[:, None]), np.zeros((d, 1), order="F")

        def run(budget: int) -> np.ndarray:
            solution = fista(
                y, X, start, numThreads=1, max_it=budget, it0=budget + 1, tol=1e-16, loss="logistic",
                regul="fused-lasso", lambda1=case.lam2, lambda2=case.l1, lambda3=0.0, linesearch_mode=linesearch,
            )  # fmt: skip
            return np.array(solution[:, 0])

        return Budgeted(run)

    return prepare


def saga(case: Case) -> Budgeted:
    """scikit-learn's SAGA."""
    from sklearn.linear_model import LogisticRegression

    X, y = case.data.X, case.data.y

    def run(budget: int) -> np.ndarray:
        model = LogisticRegression(
            l1_ratio=1.0, C=1.0 / (y.size * case.l1), solver="saga", fit_intercept=False, tol=1e-14, max_iter=budget,
            random_state=0,
        )  # fmt: skip
        with warnings.catch_warnings(action="ignore"):
            return np.array(model.fit(X, y).coef_[0])

    return Budgeted(run)


def working_sets(case: Case) -> Budgeted:
    """Proximal Newton steps on working sets."""
    skglm = import_module("skglm")
    X, y = sp.csc_matrix(case.data.X), case.data.y

    def run(digits: int) -> np.ndarray:
        model = skglm.SparseLogisticRegression(alpha=case.l1, tol=10.0**-digits, fit_intercept=False)
        with warnings.catch_warnings(action="ignore"):
            return np.array(model.fit(X, y).coef_).reshape(-1)

    return Budgeted(run, largest=12)


def copt_three_split(case: Case) -> Traced:
    """Davis-Yin splitting with the exact prox of the chain and steps that may grow again."""
    copt, penalty = import_module("copt"), import_module("copt.penalty")
    loss, d = _copt_loss(case), case.data.X.shape[1]
    fused, l1 = penalty.FusedLasso(case.lam2), penalty.L1Norm(case.l1)
    fused.prox(np.zeros(d), 1.0)  # compiles

    def run(watch: Watch) -> None:
        copt.minimize_three_split(
            loss.f_grad, np.zeros(d), fused.prox, l1.prox, tol=0.0, max_iter=ENDLESS,
            h_Lipschitz=case.l1 * np.sqrt(d), callback=lambda names: watch(names["x"]),
        )  # fmt: skip

    return Traced(run)


# Packages that take any F


def copt_primal_dual(line_search: bool) -> Callable[[Case], Traced]:
    """Condat-Vu: with its line search, or with the longest steps that theory allows."""

    def prepare(case: Case) -> Traced:
        copt, l1 = import_module("copt"), import_module("copt.penalty").L1Norm
        loss, d = _copt_loss(case), case.data.X.shape[1]
        L, square = case.problem().lipschitz + case.ridge, _norm_square(case.F)
        steps = {} if line_search else {"step_size": 1.0 / L, "step_size2": 0.5 * L / square}

        def run(watch: Watch) -> None:
            copt.minimize_primal_dual(
                loss.f_grad, np.zeros(d), l1(case.l1).prox, l1(case.lam2).prox, L=case.F, tol=0.0,
                max_iter=ENDLESS, line_search=line_search, callback=lambda names: watch(names["x"]), **steps,
            )  # fmt: skip

        return Traced(run)

    return prepare


def _copt_loss(case: Case) -> Any:
    return import_module("copt.loss").LogLoss(
        sp.csr_matrix(case.data.X), (case.data.y > 0).astype(float), alpha=case.ridge
    )


def clarabel(case: Case) -> Budgeted:
    """CVXPY's model, compiled before the clock starts; only the interior-point method is timed."""
    cp = modelling()
    x = cp.Variable(case.data.X.shape[1])
    margins = sp.csr_matrix(sp.diags_array(-case.data.y) @ case.data.X) @ x
    r1 = case.l1 * cp.norm1(x) + 0.5 * case.ridge * cp.sum_squares(x)
    model = cp.Problem(
        cp.Minimize(cp.sum(cp.logistic(margins)) / case.data.y.size + r1 + case.lam2 * cp.norm1(case.F @ x))
    )
    model.get_problem_data(cp.CLARABEL)

    def run(digits: int) -> np.ndarray:
        tolerance = 10.0**-digits
        with warnings.catch_warnings(action="ignore"):
            model.solve(
                solver=cp.CLARABEL, tol_gap_abs=tolerance, tol_gap_rel=tolerance, tol_feas=tolerance, max_threads=1
            )
        return np.asarray(x.value)

    return Budgeted(run, largest=10)


def regreg(case: Case) -> Budgeted:
    """FISTA whose prox is solved by FISTA in the dual."""
    rr = import_module("regreg.api")
    n, d = case.data.X.shape
    quadratic = rr.identity_quadratic(case.ridge, 0, 0, 0)
    control = {"dual_reference_lipschitz": 1.05 * (_norm_square(case.F) + (case.l1 > 0.0))}

    def run(budget: int) -> np.ndarray:
        loss = rr.glm.logistic(sp.csr_matrix(case.data.X), (case.data.y > 0).astype(float), coef=1.0 / n)
        atoms = [rr.l1norm.linear(case.F, lagrange=case.lam2)]
        if case.l1 > 0.0:
            atoms.append(rr.l1norm(d, lagrange=case.l1))
        model = rr.container(loss, *atoms)
        return np.array(
            model.solve(quadratic=quadratic, max_its=budget, min_its=budget, tol=1e-16, prox_control=control)
        )

    return Budgeted(run)


def pyproximal(case: Case) -> Traced:
    """Chambolle-Pock; the prox of the loss is left to L-BFGS, as PyProximal asks of its users."""
    pylops, px = import_module("pylops"), import_module("pyproximal")
    X, y = case.data.X, case.data.y
    n, d = X.shape

    class Loss(px.Nonlinear):  # type: ignore[name-defined]
        def fun(self, x: np.ndarray) -> float:
            return float(np.logaddexp(0.0, -y * (X @ x)).mean()) + 0.5 * case.ridge * float(x @ x)

        def grad(self, x: np.ndarray) -> np.ndarray:
            return np.asarray(X.T @ (-y * expit(-y * (X @ x)))) / n + case.ridge * x

        def optimize(self) -> np.ndarray:
            found = minimize(
                self._fungradprox, self.x0, args=(self.tau,), jac=True, method="L-BFGS-B",
                options={"maxiter": self.niter},
            )  # fmt: skip
            return np.asarray(found.x)

    F, square = pylops.MatrixMult(case.F), _norm_square(case.F)
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


def _norm_square(F: sp.csr_matrix) -> float:
    return spdpeg.operators.Matrix(F).bind(F.shape[1]).norm ** 2


OURS = "auto"
ITSELF = "spdpeg"
CERTIFIED = "auto, certified"
METHODS = {
    OURS: Method(ours(OURS), ("flr", "ggrlr", "lasso"), "spdpeg"),
    CERTIFIED: Method(certified, ("flr", "ggrlr", "lasso"), "spdpeg"),
    ITSELF: Method(ours("spdpeg"), ("flr", "ggrlr", "lasso"), "spdpeg", levels=(1e-2, 1e-3)),
    "spams": Method(spams(0), ("flr",), "spams-bin"),
    "spams, line search 2": Method(spams(2), ("flr",), "spams-bin"),
    "clarabel": Method(clarabel, ("flr", "ggrlr"), "clarabel"),
    "copt three-split": Method(copt_three_split, ("flr",), "copt"),
    "copt": Method(copt_primal_dual(False), ("ggrlr",), "copt"),
    "copt, line search": Method(copt_primal_dual(True), ("ggrlr",), "copt"),
    "regreg": Method(regreg, ("flr", "ggrlr"), "regreg"),
    "pyproximal": Method(pyproximal, ("flr", "ggrlr"), "pyproximal"),
    "saga": Method(saga, ("lasso",), "scikit-learn"),
    "skglm": Method(working_sets, ("lasso",), "skglm"),
}
"""By the name in tables; `spdpeg` itself is asked for the levels that it can reach."""
PEERS = tuple(name for name, method in METHODS.items() if method.package != "spdpeg")
