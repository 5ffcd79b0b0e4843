"""How far from the optimum SPDPEG is after 1, 5 and 20 passes, with the paper's weights, in all modes.

The optimum comes from an independent conic solver (CVXPY with Clarabel) and is kept in optima.json beside this file,
together with how it was computed; a missing one is computed now, which takes minutes for a9a and w8a.

GGRLR needs a graph. For splice it is the matrix that the authors published (graphs/F_splice.npz in the data directory).
Elsewhere the columns are standardised, the identity is mixed into their correlation matrix with weight 0.1, and the
edges are the pairs whose partial correlation (from the inverse) exceeds 0.05 in size; F takes differences over them.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import spdpeg
from common import (
    FLR,
    GGRLR,
    DataSet,
    Verdicts,
    data_directory,
    fused_logistic,
    graph_guided_logistic,
    load,
    modelling,
    seconds,
    show,
    show_setting,
)

NAMES = ("splice", "svmguide3", "mushrooms", "a9a", "w8a")
PASSES = (1, 5, 20)
SEEDS = 3
SHRINKAGE = 0.1
PARTIAL_CORRELATION = 0.05
STORE = Path(__file__).with_name("optima.json")
METHOD = "CVXPY + Clarabel, tolerances 1e-9; objective is the value at the solver's x, computed with NumPy"


def graph(data: DataSet) -> sp.csr_array:
    """F of GGRLR for a data set."""
    directory = data_directory()
    if data.name == "splice" and data.origin == "real" and directory is not None:
        return sp.csr_array(sp.load_npz(directory / "graphs" / "F_splice.npz"))
    return precision_edges(data.X.toarray())


def precision_edges(X: np.ndarray) -> sp.csr_array:
    """One row x_i - x_j for each pair of columns with a sizeable partial correlation."""
    spread = X.std(axis=0)
    standard = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    d = X.shape[1]
    correlation = standard.T @ standard / X.shape[0]
    precision = np.linalg.inv((1.0 - SHRINKAGE) * correlation + SHRINKAGE * np.eye(d))
    scale = np.sqrt(np.diag(precision))
    first, second = np.nonzero(np.triu(np.abs(precision / np.outer(scale, scale)) > PARTIAL_CORRELATION, 1))
    rows = np.arange(first.size)
    entries = np.concatenate([np.ones(first.size), -np.ones(first.size)])
    return sp.csr_array((entries, (np.tile(rows, 2), np.concatenate([first, second]))), shape=(first.size, d))


def conic_optimum(data: DataSet, F: sp.csr_array, kind: str) -> dict[str, Any]:
    """Solve the problem `kind` with an interior-point method that shares no code with spdpeg."""
    cp = modelling()
    x = cp.Variable(data.X.shape[1])
    signed = sp.csr_matrix(sp.diags_array(-data.y) @ data.X)
    structure = sp.csr_matrix(F)
    w1, w2 = FLR if kind == "flr" else GGRLR
    r1 = w1 * cp.norm1(x) if kind == "flr" else w1 / 2 * cp.sum_squares(x)
    objective = cp.sum(cp.logistic(signed @ x)) / data.y.size + r1 + w2 * cp.norm1(structure @ x)
    conic = cp.Problem(cp.Minimize(objective))
    spent = seconds(lambda: conic.solve(solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9))
    at = np.asarray(x.value)
    ridge_or_l1 = w1 * np.abs(at).sum() if kind == "flr" else w1 / 2 * float(at @ at)
    value = np.logaddexp(0.0, signed @ at).mean() + ridge_or_l1 + w2 * np.abs(structure @ at).sum()
    return {
        "objective": float(value),
        "status": conic.status,
        "rows_of_F": int(F.shape[0]),
        "seconds": round(spent, 1),
    }


def optimum(data: DataSet, F: sp.csr_array, kind: str) -> float:
    """From the store, or computed and stored."""
    store: dict[str, Any] = json.loads(STORE.read_text()) if STORE.exists() else {"method": METHOD, "optima": {}}
    key = f"{data.name}/{kind}/{data.origin}"
    if key not in store["optima"]:
        print(f"computing the optimum of {key}", flush=True)
        store["optima"][key] = conic_optimum(data, F, kind)
        STORE.write_text(json.dumps(store, indent=1, sort_keys=True) + "\n")
    return float(store["optima"][key]["objective"])


def reference(key: str) -> float | None:
    """The optimal value that comes with the data, if any."""
    directory = data_directory()
    if directory is None or not (directory / "optima.json").exists():
        return None
    known = json.loads((directory / "optima.json").read_text())["optima"]
    return float(known[key]["objective"]) if key in known else None


def gaps(problem: spdpeg.Problem, solver: str, mode: str, best: float) -> list[float]:
    """Mean suboptimality of the output over the seeds, after each number of passes."""
    errors = np.zeros(len(PASSES))
    for seed in range(SEEDS):
        state, done = None, 0
        for i, passes in enumerate(PASSES):
            result = spdpeg.solve(
                problem, solver, max_passes=passes - done, record_every=passes, seed=seed, mode=mode, state=state
            )
            state, done = result.state, passes
            errors[i] += (problem.objective(result.x) - best) / SEEDS
    return [float(error) for error in errors]


def main() -> None:
    """Compare with the optimum, data set by data set."""
    sets = [load(name) for name in NAMES]
    show_setting(sets)
    verdicts = Verdicts()
    rows: list[tuple[Any, ...]] = []
    optima: list[tuple[Any, ...]] = []
    for data in sets:
        for kind, solvers in (("flr", ("spdpeg",)), ("ggrlr", ("spdpeg", "spdpeg-sc1", "spdpeg-sc2"))):
            F = spdpeg.operators.FirstDifference().bind(data.X.shape[1]).matrix() if kind == "flr" else graph(data)
            problem = fused_logistic(data.X, data.y) if kind == "flr" else graph_guided_logistic(data.X, data.y, F)
            best = optimum(data, F, kind)
            known = reference(f"{data.name}/{kind}") if data.origin == "real" else None
            if known is not None:
                verdicts.at_most(
                    f"{data.name}/{kind}: distance of the optimum from the reference", 1e-8, abs(best - known)
                )
            optima.append(
                (data.name, kind, F.shape[0], f"{best:.10f}", "-" if known is None else f"{best - known:.1e}")
            )
            rows += [
                (data.name, kind, solver, mode, *(f"{gap:.1e}" for gap in gaps(problem, solver, mode, best)))
                for solver in solvers
                for mode in ("paper", "tight", "default")
            ]
    show("Optima", ("data", "problem", "rows of F", "optimum", "minus reference"), optima)
    headers = ("data", "problem", "solver", "mode", *(f"passes: {passes}" for passes in PASSES))
    show(f"Suboptimality of the output, mean of {SEEDS} seeds", headers, rows)
    verdicts.show()


if __name__ == "__main__":
    main()
