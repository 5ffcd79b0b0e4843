"""Every solver with untuned defaults: how far from the optimum after 1, 5, 20 and 50 passes.

The synthetic problems have 500 rows and 40 columns: A-unit and A-raw are fused logistic regressions on rows of norm 1
and on rows as drawn, ggr a graph-guided one. Their optimum is that of PD3O run to a relative residual of 1e-13, and
CVXPY has to agree. The real ones are the paper's FLR; their optimum is that of the conic solver, see suboptimality.py.

"average" and "last" are the average of the iterates and the last one. Which of them `result.x` is, the column "x" says;
the other one is `result.x_last`, or what averaging="uniform" returns. ADMM-Newton has its own `result.x`, the block of
z that holds exact zeros. Where the problem is comparable, the last two columns hold the worst ratio to the figures of
the design study (design_study.py), for its figures of at least 1e-4 and for those below.
"""

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import design_study
import spdpeg
from common import FLR, Verdicts, fused_logistic, load, modelling, show, show_setting
from spdpeg import losses, operators, penalties
from spdpeg.certificate import kkt_residual
from spdpeg.engine.registry import REGISTRY
from suboptimality import optimum

REAL = ("splice", "svmguide3", "mushrooms", "a9a")
PASSES = (1, 5, 20, 50)
SEEDS = {"mushrooms": 1, "a9a": 1}
MOST_SEEDS = 3
VARIANTS: dict[str, tuple[dict[str, str], ...]] = {
    "sag-admm": ({"variant": "inexact"}, {"variant": "exact"}),
    "egadm": ({"variant": "original"},),
    **{name: ({"regime": "strongly-convex"},) for name in ("sgadm", "sadmm", "optimal-sadmm", "opg-admm", "spdhg")},
}
MOST_SECONDS = 300.0
"""For all passes of one run; what it does not reach is shown as nan."""

FACTOR = 3.0
LINEAR_REGIME = 1e-4
"""Below this the study's methods converge linearly: a slightly other rate changes the error by orders of magnitude."""

SHARP = ("svrg-admm", "sag-admm", "sdca-admm", "spdhg-cers")
SHARP_TARGET = 1e-5
SHARP_PROBLEM = "a9a"


class Case(NamedTuple):
    """A problem whose optimum is known."""

    name: str
    problem: spdpeg.Problem
    best: float


def correlated_rows(seed: int, levels: tuple[float, float, float]) -> tuple[np.ndarray, np.ndarray]:
    """500 Gaussian rows whose neighbouring columns have correlation 1/2, labels from three stretches."""
    n, d, correlation = 500, 40, 0.5
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, d))
    for j in range(1, d):
        rows[:, j] = correlation * rows[:, j - 1] + np.sqrt(1.0 - correlation**2) * rows[:, j]
    truth = np.zeros(d)
    truth[5:12], truth[20:25], truth[32:38] = levels
    return rows, np.where(rows @ truth + rng.logistic(size=n) > 0, 1.0, -1.0)


def unit_fused() -> Case:
    """A-unit. L, L_max and the distance of the optimum from the start are those of the design study, here and below."""
    rows, labels = correlated_rows(0, (1.0, -1.0, 0.5))
    return certified("A-unit", fused_logistic(normalized(rows), labels), FLR)


def raw_fused() -> Case:
    """A-raw."""
    return certified("A-raw", fused_logistic(*correlated_rows(0, (1.0, -1.0, 0.5))), FLR)


def graph_guided() -> Case:
    """Ggr: 64 edges."""
    rows, labels = correlated_rows(1, (2.0, -2.0, 1.0))
    ridge, lam2 = 1e-2, 1e-3
    problem = spdpeg.Problem(
        normalized(rows),
        labels,
        loss=losses.Logistic(),
        r1=penalties.L2Squared(ridge),
        r2=penalties.L1(lam2),
        F=operators.GraphDifference([(j, j + 1) for j in range(39)] + [(j, j + 2) for j in range(25)]),
    )
    return certified("ggr", problem, (ridge, lam2))


SYNTHETIC = {"A-unit": unit_fused, "A-raw": raw_fused, "ggr": graph_guided}


def normalized(rows: np.ndarray) -> np.ndarray:
    """Rows of norm 1."""
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def certified(name: str, problem: spdpeg.Problem, weights: tuple[float, float]) -> Case:
    """With the optimum of PD3O, unless CVXPY disagrees."""
    result = spdpeg.solve(problem, "pd3o", max_passes=20_000, record_every=20_000)
    residual = kkt_residual(problem.view, result.x, result.dual)
    cp = modelling()
    x = cp.Variable(problem.n_features)
    bounds, block = problem.view.bounds, problem.view.rows.block
    rows = block.rows.values.reshape(-1, problem.n_features)
    r1 = weights[0] / 2 * cp.sum_squares(x) if problem.view.penalty.strong_convexity else weights[0] * cp.norm1(x)
    r2 = weights[1] * cp.norm1(sp.csr_matrix(problem.F.matrix()) @ x)
    loss = cp.sum(cp.logistic(cp.multiply(-block.labels, rows @ x))) / block.labels.size
    conic = cp.Problem(cp.Minimize(loss + r1 + r2))
    conic.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    difference = result.objective - problem.objective(x.value)
    if residual > 1e-13 or abs(difference) > 1e-9:
        raise RuntimeError(f"{name}: PD3O has residual {residual:.1e} and differs from CVXPY by {difference:.1e}.")
    start = problem.objective(np.zeros(problem.n_features))
    print(
        f"{name}: L = {bounds.lipschitz:.3g}, L_max = {bounds.lipschitz_max:.3g}, "
        f"|F|^2 = {problem.F.squared_norm:.3g}, "
        f"P(0) - P* = {start - result.objective:.3f}, PD3O - CVXPY = {difference:.0e}",
        flush=True,
    )
    return Case(name, problem, result.objective)


def real(name: str) -> Case:
    """The paper's FLR on a data set."""
    data = load(name)
    chain = operators.FirstDifference().bind(data.X.shape[1]).matrix()
    return Case(name, fused_logistic(data.X, data.y), optimum(data, chain, "flr"))


def runs() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every solver and variant."""
    for name in REGISTRY:
        yield name, {}
        yield from ((name, dict(variant)) for variant in VARIANTS.get(name, ()))


def title(name: str, parameters: dict[str, Any]) -> str:
    """A solver and its variant."""
    return "/".join([name, *parameters.values()])


class Errors(NamedTuple):
    """Suboptimality after each number of passes."""

    output: str
    """Which of the two `result.x` is."""
    average: np.ndarray
    last: np.ndarray


def errors(case: Case, name: str, parameters: dict[str, Any]) -> Errors:
    """Mean over the seeds."""
    rule = REGISTRY[name](**parameters)
    default = getattr(rule, "averaging", None)
    if default == "last":
        # The same iterates; only what is reported beside them changes.
        parameters = {**parameters, "averaging": "uniform"}
    seeds = 1 if rule.about.deterministic else SEEDS.get(case.name, MOST_SEEDS)
    average, last = np.full((2, seeds, len(PASSES)), np.nan)
    for seed in range(seeds):
        state = None
        for i, passes in enumerate(np.diff(PASSES, prepend=0)):
            result = spdpeg.solve(
                case.problem,
                name,
                max_passes=float(passes),
                max_seconds=MOST_SECONDS - (state.seconds if state else 0.0),
                record_every=PASSES[i],
                seed=seed,
                state=state,
                **parameters,
            )
            if result.status is spdpeg.Status.MAX_SECONDS:
                break
            state = result.state
            average[seed, i] = case.problem.objective(result.x) - case.best
            last[seed, i] = case.problem.objective(result.x_last) - case.best
    output = "last" if default == "last" or np.array_equal(average, last) else "average"
    return Errors(output, average.mean(axis=0), last.mean(axis=0))


def compare(case: Case, verdicts: Verdicts) -> None:
    """One table: every solver on one problem."""
    rows = []
    study = design_study.figures()
    for name, parameters in runs():
        run = title(name, parameters)
        try:
            found = errors(case, name, parameters)
        except spdpeg.errors.UnsupportedError:
            continue
        measured = {("average", p): e for p, e in zip(PASSES, found.average, strict=True)}
        measured |= {("last", p): e for p, e in zip(PASSES, found.last, strict=True)}
        known = {key: study[case.name, run, *key] for key in measured if (case.name, run, *key) in study}
        early = [measured[key] / figure for key, figure in known.items() if figure >= LINEAR_REGIME]
        late = [measured[key] / figure for key, figure in known.items() if figure < LINEAR_REGIME]
        cells = [f"{error:.1e}" for error in (*found.average, *found.last)]
        rows.append((run, found.output, *cells, *(f"{max(part):.2g}" if part else "-" for part in (early, late))))
        if early:
            verdicts.at_most(f"{case.name}, {run}: worst ratio to the design study", FACTOR, max(early))
        if case.name == SHARP_PROBLEM and run in SHARP:
            verdicts.at_most(f"{case.name}, {run}: last iterate at 50 passes", SHARP_TARGET, found.last[-1])
    show(
        f"{case.name}: suboptimality after {', '.join(map(str, PASSES))} passes",
        ("solver", "x", *(f"avg {p}" for p in PASSES), *(f"last {p}" for p in PASSES), "/ study", "below 1e-4"),
        rows,
    )


def main() -> None:
    """Problem by problem; names on the command line choose among them."""
    chosen = sys.argv[1:] or [*SYNTHETIC, *REAL]
    show_setting()
    verdicts = Verdicts()
    for name in chosen:
        compare(SYNTHETIC[name]() if name in SYNTHETIC else real(name), verdicts)
    verdicts.show()


if __name__ == "__main__":
    main()
