"""The three rates, measured: how the error falls with the number of iterations t.

Generated logistic problems with ridge in r1 and a fused penalty, which all three regimes can solve; the optimum comes
from an independent conic solver. The mean error over the seeds is fitted by a straight line in log-log scale over the
last decade and a half. Three errors are shown:

objective   P(x~) - P*, the objective at the output;
theorem     |mean of l(x~) + r1(x~) + r2(z~) - P*| + (|dual*| + 1) |F mean x~ - mean z~|, what the theorems bound, with
            the mean over the seeds in the place of the expectation;
distance    |x~ - x*|^2.

The theorems promise t^-0.5 for spdpeg, log(t)/t for sc1 and 1/t for sc2. They are upper bounds and far above what is
seen here (at t = 1e6 the bound for spdpeg is 0.16, some eighty times the heavy problem's error), so a measured line may
be steeper or, for a while, flatter. Two weights of the fused penalty show both. "light" has the paper's proportion to
the ridge (1e-5 to 1e-2): the problem behaves like a smooth one, where averaging gives 1/t in all regimes. "heavy" ties
neighbours together: at a constant step c the average settles at an error that falls like c^0.5 for large c and like
c^0.7 and faster for small c, because the noise blurs the kink of |Fx|; with c_k ~ 1/sqrt(k) that is t^-0.25 at first.
That t^-0.5 follows in the end is what theory says; within 1e6 iterations it was not seen.

The slope of error * t / log(t) tells whether the logarithm is there: 0 if the error falls like log(t)/t, about -0.08 in
this range if it falls like 1/t.
"""

from typing import Any, NamedTuple

import numpy as np

import spdpeg
from common import Verdicts, modelling, show, show_setting, slope
from spdpeg import losses, operators, penalties

SHAPE = (2_000, 40)
RIDGE = 0.1
FUSED = {"light": 1e-4, "heavy": 5e-2}
SEEDS = 10
TIMES = tuple(int(t) for t in np.round(np.geomspace(1e3, 1e6, 13)))
FITTED = 7


class Setting(NamedTuple):
    """The problem with its optimal value, point and size of the multiplier."""

    problem: spdpeg.Problem
    value: float
    x: np.ndarray
    dual_norm: float


def setting(fused: float) -> Setting:
    """Generate the problem and solve it with CVXPY and Clarabel."""
    cp = modelling()
    n, d = SHAPE
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    truth = np.repeat(rng.standard_normal(d // 5), 5)
    y = np.where(X @ truth + rng.logistic(size=n) > 0, 1.0, -1.0)
    x = cp.Variable(d)
    z = cp.Variable(d - 1)
    coupling = cp.diff(x) == z
    objective = cp.sum(cp.logistic(-cp.multiply(y, X @ x))) / n + RIDGE / 2 * cp.sum_squares(x) + fused * cp.norm1(z)
    conic = cp.Problem(cp.Minimize(objective), [coupling])
    conic.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    problem = spdpeg.Problem(
        X,
        y,
        loss=losses.Logistic(),
        r1=penalties.L2Squared(RIDGE),
        r2=penalties.L1(fused),
        F=operators.FirstDifference(),
    )
    return Setting(problem, float(conic.value), x.value, float(np.linalg.norm(coupling.dual_value)))


def outputs(problem: spdpeg.Problem, solver: str, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """(x~, z~) after each number of iterations."""
    state: spdpeg.State | None = None
    found, done = [], 0
    for t in TIMES:
        result = spdpeg.solve(
            problem, solver, mode="tight", max_iterations=t - done, record_every=1e6, seed=seed, state=state
        )
        state, done = result.state, t
        found.append((result.x, result.z))
    return found


def errors(at: Setting, solver: str) -> dict[str, np.ndarray]:
    """The three errors after each number of iterations."""
    problem = at.problem
    runs = [outputs(problem, solver, seed) for seed in range(SEEDS)]
    table: dict[str, list[float]] = {"objective": [], "theorem": [], "distance": []}
    for i in range(len(TIMES)):
        points = [run[i] for run in runs]
        split = [problem.loss_value(x) + problem.r1.value(x) + problem.r2.value(z) for x, z in points]
        apart = problem.F.forward(np.mean([x for x, _ in points], axis=0)) - np.mean([z for _, z in points], axis=0)
        theorem = abs(np.mean(split) - at.value) + (at.dual_norm + 1) * np.linalg.norm(apart)
        table["objective"].append(float(np.mean([problem.objective(x) - at.value for x, _ in points])))
        table["theorem"].append(float(theorem))
        table["distance"].append(float(np.mean([np.sum((x - at.x) ** 2) for x, _ in points])))
    return {name: np.array(values) for name, values in table.items()}


def main() -> None:
    """Measure the three regimes on both problems."""
    show_setting()
    print(f"generated data, {SHAPE[0]} x {SHAPE[1]}, ridge {RIDGE}, mode tight, means of {SEEDS} seeds")
    verdicts = Verdicts()
    fits: list[tuple[Any, ...]] = []
    late = np.array(TIMES[-FITTED:], dtype=float)
    for weight, fused in FUSED.items():
        at = setting(fused)
        for solver in ("spdpeg", "spdpeg-sc1", "spdpeg-sc2"):
            measured = errors(at, solver)
            rows = [(t, *(f"{values[i]:.2e}" for values in measured.values())) for i, t in enumerate(TIMES)]
            show(f"{solver}, {weight} fused penalty {fused:g}, optimum {at.value:.8f}", ("t", *measured), rows)
            slopes = {name: slope(late, values[-FITTED:]) for name, values in measured.items()}
            fits += [
                (weight, solver, name, slopes[name], slope(late, values[-FITTED:] * late / np.log(late)))
                for name, values in measured.items()
            ]
            what = f"{solver}, {weight}: slope of the objective error"
            if solver == "spdpeg":
                verdicts.at_most(what, -0.45, slopes["objective"])
            else:
                verdicts.between(what, -1.15, -0.85, slopes["objective"])
    show(
        f"Slopes fitted from t = {TIMES[-FITTED]} to {TIMES[-1]}",
        ("fused penalty", "solver", "error", "slope of error", "slope of error * t / log(t)"),
        fits,
    )
    verdicts.show()


if __name__ == "__main__":
    main()
