"""The problem as a linear program, solved by HiGHS: for non-smooth losses beside l1 norms.

A loss of two straight lines, an l1 norm and an l1 norm of F x are sums of parts of variables. HiGHS (Huangfu, Hall,
Mathematical Programming Computation 10, 2018) solves such programs exactly where first-order methods crawl.
"""

import math

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from ..data import Block, Stream
from ..data.blocks import data_matrix
from ..errors import DivergedError, UnsupportedError
from ..kernels.terms import Terms
from ..state import State
from ..view import View
from .base import About, Solution, Solver

_FEASIBLE = 1e-10
"""The smallest tolerance that HiGHS takes, for constraints and for slopes."""


def is_linear(problem: View) -> bool:
    """Whether the problem is a linear program."""
    return (
        not isinstance(problem.rows.source, Stream)
        and not math.isfinite(problem.loss.curvature)
        and problem.loss.lines(problem.rows.block.labels) is not None
        and problem.regularizer.l1_weights(problem.n_coordinates) is not None
        and problem.r2.l1_weights(problem.F.n_outputs) is not None
    )


class LinearProgram(Solver):
    """The solution, in one step."""

    about = About(
        name="lp",
        summary="linear program by HiGHS, deterministic, exact",
        update="x = the solution",
        cost="that of a linear program with N + l equations in 2 (N + d + l) variables",
        memory="d + l + N; at work the program and a factorisation of it",
        rate="exact in one step",
        needs="hinge or quantile loss; r1 and r2 l1 norms or 0; any F; finite sum",
        deterministic=True,
        finite_sum=True,
        converges=True,
        assumptions="none beside those under Needs",
        example="loss=losses.Hinge(), r1=penalties.L1(1e-3)",
    )

    def check(self, problem: View) -> None:
        if not is_linear(problem):
            raise UnsupportedError(
                f"lp takes losses of two straight lines and l1 norms; here loss={problem.loss!r}, "
                f'r1={problem.penalty.r1!r}, r2={problem.r2!r}, domain={problem.penalty.domain!r}. Use "auto".'
            )

    def start(self, problem: View, batch_size: int, x0: np.ndarray) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        m = problem.F.n_outputs
        vectors = {"x": x0.copy(), "u": np.zeros(problem.rows.block.labels.size), "y": np.zeros(m)}
        return {"solved": False}, vectors

    def advance(self, problem: View, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int) -> None:
        if state.numbers["solved"]:
            return
        v = state.vectors
        v["x"][:], v["u"][:], v["y"][:] = _solve(problem)
        if problem.penalty.joint is not None:
            # The gradient is minus a subgradient of the penalty at x; the prox makes zeros and pieces of x exact.
            gradient = data_matrix(block.rows).T @ (v["u"] * (block.weights if block.weights.size else 1.0))
            v["x"][:] = problem.penalty.joint.prox(v["x"] - gradient / v["u"].size)
        state.numbers["solved"] = True

    def solution(self, problem: View, state: State) -> Solution:
        v = state.vectors
        return Solution(v["x"].copy(), v["x"].copy(), None, -v["y"], v["u"].copy())


def _solve(problem: View) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, the slopes of the loss and the multipliers of F x.

    With x = p - q the equations are sign_i <a_i, x> + short_i - over_i = offset_i and F x - up + down = 0; all these
    parts are at least 0 and each has its price.
    """
    rows, labels, weights = problem.rows.block
    n, d, m = labels.size, problem.n_coordinates, problem.F.n_outputs
    lines = problem.loss.lines(labels)
    assert lines is not None
    sign, offset, short, over, _ = lines
    mean_weights = (weights if weights.size else np.ones(n)) / n
    A, F = sp.csr_array(data_matrix(rows)).multiply(sign[:, None]).tocsr(), problem.F.matrix()
    each, edge = sp.eye_array(n), sp.eye_array(m)
    equations = [[A, -A, each, -each, None, None], [F, -F, None, None, -edge, edge]][: 2 if m else 1]
    l1, l2 = problem.regularizer.l1_weights(d), problem.r2.l1_weights(m)
    assert l1 is not None
    assert l2 is not None
    found = linprog(
        np.concatenate([l1, l1, mean_weights * short, mean_weights * over, l2, l2]),
        A_eq=sp.block_array(equations, format="csc"),
        b_eq=np.concatenate([offset, np.zeros(m)]),
        method="highs",
        options={"primal_feasibility_tolerance": _FEASIBLE, "dual_feasibility_tolerance": _FEASIBLE},
    )
    if found.x is None:
        raise DivergedError(f'HiGHS did not solve the linear program: {found.message} Use "spdhg-cers".')
    prices = found.eqlin.marginals
    slopes = np.divide(-sign * prices[:n], mean_weights, out=np.zeros(n), where=mean_weights > 0.0)
    return found.x[:d] - found.x[d : 2 * d], slopes, -prices[n:]
