"""The three rates, measured: how the error falls with the number of iterations t, beside what is proved.

    python benchmarks/rates.py                                  # up to 1e6 iterations, 20 seeds
    python benchmarks/rates.py --most 1e7 --figure rates.png    # ten times the time

A generated problem on which the noise dominates: Huber loss, skewed rows and skewed noise, neighbours tied
together by |Fx|_1, in a ball; spdpeg without ridge, spdpeg-sc1 and spdpeg-sc2 with it. Steps and averages are those of
the theorems (mode "tight", two samples). The optimum is certified to 1e-10. Shown for each t:

error       P(x~) - P*: mean over the seeds, and the band that holds four fifths of them;
bound       on its expectation, T2 of docs/theory.md;
slope       of the mean error in log-log scale, from one t to the next; theory promises -0.5 to spdpeg in the end;
error * t   for the strongly convex regimes: level if the error falls like 1/t, rising with log t if like log(t)/t;
violation   |F x~ - z~|, beside |lambda_0 - lambda_{t+1}| / (rho t), which T1 says is the same on every path.

Judged is what is proved: no mean error above its bound, the violation equal to its formula. Slopes are only shown.
"""

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import spdpeg
from common import Verdicts, show, show_setting
from spdpeg import losses, operators, penalties, theory

SHAPE = (400, 10)
DELTA, FUSED, RIDGE = 1.0, 0.5, 0.05
PER_DECADE = 4
SOLVERS = ("spdpeg", "spdpeg-sc1", "spdpeg-sc2")


class Setting(NamedTuple):
    """A problem, its optimum, and the constants of the theorems."""

    problem: spdpeg.Problem
    value: float
    distance: float
    """From the start, 0, to the minimiser."""
    diameter: float
    sigma: float
    dual_radius: float


class Measured(NamedTuple):
    """By seed and time."""

    error: np.ndarray
    violation: np.ndarray
    formula: np.ndarray
    numbers: dict[str, float]
    """Of the method: rho and its steps."""


def setting(solver: str) -> Setting:
    """The problem that a regime is shown on."""
    rows, columns = SHAPE
    rng = np.random.default_rng(0)
    X = rng.lognormal(0.0, 1.0, SHAPE)
    X -= X.mean(axis=0)
    y = X @ np.repeat(rng.standard_normal(columns // 5), 5) + 2.0 * (rng.exponential(1.0, rows) - 1.0)
    r1 = penalties.Zero() if solver == "spdpeg" else penalties.L2Squared(RIDGE)
    parts: dict[str, Any] = {"loss": losses.Huber(DELTA), "r1": r1, "r2": penalties.L1(FUSED)}
    free = spdpeg.Problem(X, y, F=operators.FirstDifference(), **parts)
    best = spdpeg.solve(free, tol=1e-11, max_passes=None, max_seconds=60.0)
    assert best.certificate is not None
    if best.certificate.rel_gap > 1e-10:
        raise RuntimeError(f"The optimum is only known to {best.certificate.rel_gap:.1e}.")
    distance = float(np.linalg.norm(best.x))
    # A ball that the minimiser is well inside of: the problem is the same, and T2 applies.
    ball = penalties.L2Ball(2.0 * distance)
    problem = spdpeg.Problem(X, y, F=operators.FirstDifference(), domain=ball, **parts)
    sigma = DELTA * float(np.sqrt(np.mean(np.sum(X**2, axis=1))))
    radius = FUSED * float(np.sqrt(columns - 1))
    return Setting(problem, best.certificate.dual, distance, 4.0 * distance, sigma, radius)


def measure(at: Setting, solver: str, times: list[int], seeds: int) -> Measured:
    """Runs that pause at the given numbers of iterations."""
    found = np.empty((3, seeds, len(times)))
    numbers: dict[str, float] = {}
    for seed in range(seeds):
        state, done = None, 0
        for i, t in enumerate(times):
            result = spdpeg.solve(
                at.problem, solver, mode="tight", max_iterations=t - done, record_every=1e9, seed=seed, state=state
            )
            state, done, numbers = result.state, t, result.state.numbers
            apart = np.linalg.norm(at.problem.F.forward(result.x) - result.z)
            multiplier = np.linalg.norm(state.vectors["y"]) / (numbers["rho"] * t)
            found[:, seed, i] = at.problem.objective(result.x) - at.value, apart, multiplier
    return Measured(*found, numbers)


def bound(at: Setting, solver: str, numbers: dict[str, float], t: int) -> float:
    """T2, for t iterations."""
    common = {"base": numbers["step_base"], "sigma": at.sigma, "rho": numbers["rho"], "dual_radius": at.dual_radius}
    if solver == "spdpeg":
        return theory.objective_convex(t - 1, diameter=at.diameter, kappa=numbers["step_kappa"], **common)
    common |= {"mu": 2.0 * RIDGE, "distance": at.distance}
    if solver == "spdpeg-sc1":
        return theory.objective_strongly_convex(t - 1, **common)
    norm = at.problem.norm_F
    return theory.objective_strongly_convex_weighted(t - 1, diameter=at.diameter, norm_F=norm, **common)


def draw(path: Path, times: list[int], measured: dict[str, Measured], bounds: dict[str, np.ndarray]) -> None:
    """Error and bound, local slope, error times t, and violation."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 7), layout="constrained")
    panels = figure.subplots(2, 3)
    colors = dict(zip(SOLVERS, ("#822167", "#dd7b00", "#009ab2"), strict=True))
    middles = np.sqrt(np.array(times[:-1]) * np.array(times[1:]))
    for solver, found in measured.items():
        color, mean = colors[solver], found.error.mean(axis=0)
        low, high = np.quantile(found.error, (0.1, 0.9), axis=0)
        panels[0, 0].loglog(times, mean, color=color, label=solver)
        panels[0, 0].fill_between(times, low, high, color=color, alpha=0.2, linewidth=0)
        panels[0, 1].loglog(times, bounds[solver] / mean, color=color, label=solver)
        slopes = np.diff(np.log(mean)) / np.diff(np.log(times))
        panels[0, 2].semilogx(middles, slopes, color=color, marker=".", label=solver)
        if solver != "spdpeg":
            panels[1, 0].semilogx(times, mean * times, color=color, label=solver)
            panels[1, 0].fill_between(times, low * times, high * times, color=color, alpha=0.2, linewidth=0)
        if solver != "spdpeg-sc2":
            panels[1, 1].loglog(times, found.violation.mean(axis=0), color=color, label=solver)
            panels[1, 1].loglog(times, found.formula.mean(axis=0), "k.", label=f"formula of T1, {solver}")
            panels[1, 2].semilogx(times, (found.violation * times).mean(axis=0), color=color, label=solver)
    titles = ("P(x~) - P*, with four fifths of the seeds", "bound of T2 / mean error", "local slope of the error")
    more = ("error * t", "|F x~ - z~|", "|F x~ - z~| * t")
    for panel, title in zip(panels.flat, (*titles, *more), strict=True):
        panel.set_title(title, fontsize=10)
        panel.set_xlabel("iterations t")
        panel.grid(alpha=0.25)
        panel.legend(fontsize=8)
    for promised in (-0.5, -1.0):
        panels[0, 2].axhline(promised, color="black", linewidth=0.8, linestyle=":")
    figure.savefig(path, dpi=100)


def main() -> None:
    """Measure the three regimes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=float, default=1e6, help="iterations")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--figure", type=Path, help="a PNG to draw")
    args = parser.parse_args()
    show_setting()
    decades = np.log10(args.most) - 2
    times = [int(t) for t in np.round(np.geomspace(1e2, args.most, round(PER_DECADE * decades) + 1))]
    verdicts = Verdicts()
    measured, bounds = {}, {}
    for solver in SOLVERS:
        at = setting(solver)
        found = measured[solver] = measure(at, solver, times, args.seeds)
        bounds[solver] = np.array([bound(at, solver, found.numbers, t) for t in times])
        mean = found.error.mean(axis=0)
        low, high = np.quantile(found.error, (0.1, 0.9), axis=0)
        slopes = [np.nan, *(np.diff(np.log(mean)) / np.diff(np.log(times)))]
        columns = (mean, low, high, bounds[solver], slopes, mean * times, found.violation.mean(axis=0))
        rows = [(f"{t:,}", *(f"{column[i]:.3g}" for column in columns)) for i, t in enumerate(times)]
        header = ("t", "error", "10 %", "90 %", "bound", "slope", "error * t", "violation")
        far = at.problem.objective(np.zeros(SHAPE[1])) - at.value
        show(f"{solver}: {args.seeds} seeds, P* = {at.value:.6f}, P(0) - P* = {far:.3g}", header, rows)
        verdicts.at_most(f"{solver}: largest mean error / bound", 1.0, float(np.max(mean / bounds[solver])))
        if solver != "spdpeg-sc2":  # its weights are not uniform
            scale = at.problem.norm_F * at.distance
            apart = float(np.max(np.abs(found.violation - found.formula))) / scale
            verdicts.at_most(f"{solver}: violation and its formula apart, relative to |F||x*|", 1e-12, apart)
    verdicts.show()
    if args.figure:
        draw(args.figure, times, measured, bounds)


if __name__ == "__main__":
    main()
