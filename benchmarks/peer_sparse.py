"""Packages for penalties on x alone: r2 = 0."""

import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from peer_cases import LOGISTIC, NONE, Case
from peer_runs import Budgeted, Found, Method, columns, tolerances, warm

ENOUGH = 100_000
"""Iterations of methods that end by their tolerance."""


def fitted(
    model: Callable[[Case, float], Any], X_of: Callable[[Any], Any] = columns
) -> Callable[[Case, float], Budgeted]:
    """An estimator with `warm_start`, told its tolerance."""

    def prepare(case: Case, cap: float) -> Budgeted:
        X = X_of(case.X)

        def solve(point: Case, tolerance: float, start: np.ndarray) -> np.ndarray:
            estimator = model(point, tolerance)
            if np.any(start):
                estimator.coef_ = start.copy() if case.loss != LOGISTIC else start[None].copy()
                estimator.intercept_, estimator.classes_ = np.zeros(1), np.array([-1.0, 1.0])
            with warnings.catch_warnings(action="ignore"):
                return np.array(estimator.fit(X, case.y).coef_, dtype=float).reshape(-1)

        return Budgeted(warm(case, solve), tolerances(12), compiles=model is skglm)

    return prepare


def skglm(case: Case, tolerance: float) -> Any:
    """Working sets; coordinate descent for the squared loss, proximal Newton for the logistic one."""
    package, options = import_module("skglm"), {"tol": tolerance, "fit_intercept": False, "warm_start": True}
    if case.group > 0.0:
        return _skglm_group(case, tolerance)
    if case.ridge > 0.0 or case.loss == LOGISTIC:
        lam, ratio = case.l1 + case.ridge, case.l1 / (case.l1 + case.ridge)
        kind = package.SparseLogisticRegression if case.loss == LOGISTIC else package.ElasticNet
        return kind(lam, l1_ratio=ratio, **options)
    return package.Lasso(case.l1, **options)


def _skglm_group(case: Case, tolerance: float) -> Any:
    package = import_module("skglm")
    d = case.X.shape[1]
    pointers = np.arange(0, d + 1, case.size, dtype=np.int32)
    groups = {"grp_ptr": pointers, "grp_indices": np.arange(d, dtype=np.int32)}
    penalty = package.penalties.WeightedGroupL2(case.group, np.ones(d // case.size), **groups)
    if case.loss == LOGISTIC:
        datafit = package.datafits.LogisticGroup(**groups)
        solver = package.solvers.GroupProxNewton(tol=tolerance, warm_start=True, max_iter=100)
    else:
        datafit = package.datafits.QuadraticGroup(**groups)
        solver = package.solvers.GroupBCD(tol=tolerance, warm_start=True)
    return package.GeneralizedLinearEstimator(datafit, penalty, solver)


def celer(case: Case, tolerance: float) -> Any:
    """Working sets with extrapolated dual points."""
    package, options = import_module("celer"), {"tol": tolerance, "fit_intercept": False, "warm_start": True}
    if case.loss == LOGISTIC:
        return package.LogisticRegression(C=1.0 / (case.l1 * case.y.size), **options)
    if case.group > 0.0:
        # Its group norms are weighted by one, and its estimator asks for Fortran order.
        return package.GroupLasso(case.size, case.group, **options)
    if case.ridge > 0.0:
        return package.ElasticNet(case.l1 + case.ridge, l1_ratio=case.l1 / (case.l1 + case.ridge), **options)
    return package.Lasso(case.l1, **options)


def coordinate_descent(case: Case, tolerance: float) -> Any:
    """scikit-learn's lasso and elastic net."""
    linear = import_module("sklearn.linear_model")
    options = {"tol": tolerance, "fit_intercept": False, "warm_start": True, "max_iter": ENOUGH}
    if case.ridge > 0.0:
        return linear.ElasticNet(case.l1 + case.ridge, l1_ratio=case.l1 / (case.l1 + case.ridge), **options)
    return linear.Lasso(case.l1, **options)


def logistic_regression(solver: str) -> Callable[[Case, float], Any]:
    """scikit-learn's, by SAGA or LIBLINEAR."""

    def model(case: Case, tolerance: float) -> Any:
        return import_module("sklearn.linear_model").LogisticRegression(
            C=1.0 / ((case.l1 + case.ridge) * case.y.size), l1_ratio=case.l1 / (case.l1 + case.ridge), solver=solver,
            tol=tolerance, fit_intercept=False, warm_start=solver == "saga", max_iter=ENOUGH, random_state=0,
        )  # fmt: skip

    return model


R_SERVER = """
suppressMessages({library(glmnet); library(Matrix)})
setwd(commandArgs(TRUE)[1])
read <- function(name, what) readBin(name, what, file.size(name) / ifelse(what == "integer", 4, 8))
size <- read("size", "integer")
X <- new("dgCMatrix", i = read("i", "integer"), p = read("p", "integer"), x = read("x", "double"), Dim = size)
if (length(X@x) > 0.5 * prod(size)) X <- as.matrix(X)
y <- read("y", "double"); lambda <- read("lambda", "double")
family <- if (all(abs(y) == 1) && file.exists("logistic")) "binomial" else "gaussian"
input <- file("stdin", "r")
cat("ready\\n"); flush(stdout())
while (length(line <- readLines(input, n = 1)) > 0) {
  start <- sum(proc.time()[1:2])
  fit <- glmnet(X, y, family = family, lambda = lambda, standardize = FALSE, intercept = FALSE,
                thresh = as.numeric(line), maxit = 1e7)
  spent <- sum(proc.time()[1:2]) - start
  writeBin(as.vector(as.matrix(fit$beta)), "beta")
  cat(spent, ncol(fit$beta), "\\n"); flush(stdout())
}
"""


def glmnet(case: Case, cap: float) -> Budgeted:
    """R's, in a process that keeps the data; its own clock, which counts milliseconds."""
    directory = tempfile.TemporaryDirectory()  # removed with the run that refers to it
    place = Path(directory.name)
    X = sp.csc_array(case.X)
    lambdas = np.array([point.l1 for point in case.points()])
    arrays = {"size": np.array(X.shape, dtype=np.int32), "i": X.indices.astype(np.int32),
              "p": X.indptr.astype(np.int32), "x": X.data, "y": case.y, "lambda": lambdas}  # fmt: skip
    for name, values in arrays.items():
        (place / name).write_bytes(values.tobytes())
    if case.loss == LOGISTIC:
        (place / "logistic").touch()
    (place / "server.R").write_text(R_SERVER)
    server = subprocess.Popen(
        ["Rscript", "server.R", str(place)], cwd=place, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert server.stdin is not None
    assert server.stdout is not None
    stdin, stdout = server.stdin, server.stdout
    assert stdout.readline() == "ready\n"

    def run(tolerance: float) -> Found:
        print(tolerance, file=stdin, flush=True)
        spent, count = stdout.readline().split()
        beta = np.fromfile(Path(directory.name) / "beta").reshape(int(count), X.shape[1])
        return Found([*beta, *[beta[-1]] * (len(case.scales) - int(count))], seconds=float(spent))

    return Budgeted(run, tolerances(14))


def glmnet_version() -> str | None:
    """None where R or its glmnet is not installed."""
    if shutil.which("Rscript") is None:
        return None
    asked = subprocess.run(
        ["Rscript", "-e", "cat(as.character(packageVersion('glmnet')))"], capture_output=True, text=True, check=False
    )
    return asked.stdout if asked.returncode == 0 else None


def _takes(*kinds: str, logistic: bool = True, squared: bool = True, paths: bool = True) -> Callable[[Case], bool]:
    """Cases of these kinds: "l1", "elastic net", "group"."""

    def takes(case: Case) -> bool:
        kind = "group" if case.group > 0.0 else "elastic net" if case.ridge > 0.0 else "l1"
        loss = logistic if case.loss == LOGISTIC else squared
        return case.structure == NONE and kind in kinds and loss and (paths or not case.is_path)

    return takes


def _celer_takes(case: Case) -> bool:
    return _takes("l1", "elastic net", "group", logistic=False)(case) or _takes("l1", squared=False)(case)


def _skglm_takes(case: Case) -> bool:
    """It has no groups for the logistic loss with sparse rows."""
    kinds = ("l1", "elastic net") if case.loss == LOGISTIC and sp.issparse(case.X) else ("l1", "elastic net", "group")
    return _takes(*kinds)(case)


METHODS = {
    "skglm": Method(fitted(skglm), _skglm_takes, "skglm"),
    "celer": Method(fitted(celer), _celer_takes, "celer"),
    "scikit-learn": Method(fitted(coordinate_descent), _takes("l1", "elastic net", logistic=False), "scikit-learn"),
    "saga": Method(
        fitted(logistic_regression("saga"), sp.csr_matrix), _takes("l1", "elastic net", squared=False), "scikit-learn"
    ),
    "liblinear": Method(
        fitted(logistic_regression("liblinear")), _takes("l1", squared=False, paths=False), "scikit-learn"
    ),
    "glmnet": Method(glmnet, _takes("l1"), "glmnet"),
}
