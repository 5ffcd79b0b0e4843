"""A penalty on a set: exact where accepted, refused elsewhere."""

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from spdpeg import penalties as pen
from spdpeg.errors import InputError, UnsupportedError


@pytest.mark.parametrize("term", [None, "l1", pen.L1, np.eye(2)], ids=str)
def test_what_is_no_penalty(term: Any) -> None:
    with pytest.raises(InputError, match=r"The penalty is .*\. Give one of spdpeg\.penalties\."):
        pen.constrain(term, pen.NonNegative())


WEIGHTS = np.array([0.5, 1.0, 0.2, 2.0])

PENALTIES: dict[str, tuple[pen.Penalty, Any]] = {
    "l1": (pen.L1(0.5), lambda w: 0.5 * cp.norm1(w)),
    "l1-weights": (pen.L1(WEIGHTS), lambda w: cp.sum(cp.multiply(WEIGHTS, cp.abs(w)))),
    "ridge": (pen.L2Squared(0.5), lambda w: 0.25 * cp.sum_squares(w)),
    "ridge-weights": (pen.L2Squared(WEIGHTS), lambda w: cp.sum(cp.multiply(WEIGHTS, cp.square(w))) / 2),
    "net": (pen.ElasticNet(0.3, 0.8), lambda w: 0.3 * cp.norm1(w) + 0.4 * cp.sum_squares(w)),
    "net-l1-weights": (
        pen.ElasticNet(WEIGHTS, 0.8),
        lambda w: cp.sum(cp.multiply(WEIGHTS, cp.abs(w))) + 0.4 * cp.sum_squares(w),
    ),
    "net-l2-weights": (
        pen.ElasticNet(0.3, WEIGHTS),
        lambda w: 0.3 * cp.norm1(w) + cp.sum(cp.multiply(WEIGHTS, cp.square(w))) / 2,
    ),
    "group": (pen.GroupL2(0.5, 2), lambda w: 0.5 * (cp.norm2(w[:2]) + cp.norm2(w[2:]))),
    "nuclear": (pen.Nuclear(0.5, (2, 2)), lambda w: 0.5 * cp.normNuc(cp.reshape(w, (2, 2), order="C"))),
    "linf": (pen.LInf(0.5), lambda w: 0.5 * cp.norm_inf(w)),
    "huber": (pen.HuberL1(0.5, 0.4), lambda w: cp.sum(cp.huber(w, 0.4)) * 0.5 / 0.8),
    "hinge": (pen.Hinge([1, -1, 1, 1], 0.5), lambda w: 0.5 * cp.sum(cp.pos(1 - cp.multiply([1, -1, 1, 1], w)))),
    "blocks": (
        pen.SeparableSum([pen.L1(0.5), pen.GroupL2(0.7)], [2, 2]),
        lambda w: 0.5 * cp.norm1(w[:2]) + 0.7 * cp.norm2(w[2:]),
    ),
}
SETS: dict[str, tuple[pen.Penalty, Any]] = {
    "box": (pen.Box(-0.4, [0.5, 1.0, 0.2, np.inf]), lambda w: [w >= -0.4, w[:3] <= np.array([0.5, 1.0, 0.2])]),
    "box-off-zero": (pen.Box(0.3, 1.0), lambda w: [w >= 0.3, w <= 1.0]),
    "positive": (pen.NonNegative(), lambda w: [w >= 0]),
    "ball-l2": (pen.L2Ball(0.8), lambda w: [cp.norm2(w) <= 0.8]),
    "ball-l1": (pen.L1Ball(0.8), lambda w: [cp.norm1(w) <= 0.8]),
    "simplex": (pen.Simplex(0.8), lambda w: [w >= 0, cp.sum(w) == 0.8]),
    "boxes": (
        pen.SeparableSum([pen.Box(-0.1, 0.1), pen.NonNegative()], [2, 2]),
        lambda w: [cp.abs(w[:2]) <= 0.1, w[2:] >= 0],
    ),
}
SEPARABLE = {"box", "box-off-zero", "positive", "boxes"}
ACCEPTED = {
    "l1": SEPARABLE | {"ball-l2", "ball-l1"},
    "l1-weights": SEPARABLE | {"ball-l2", "ball-l1"},
    "ridge": set(SETS),
    "ridge-weights": SEPARABLE,
    "net": SEPARABLE | {"ball-l2", "ball-l1"},
    "net-l1-weights": SEPARABLE | {"ball-l2", "ball-l1"},
    "net-l2-weights": SEPARABLE,
    "group": {"ball-l2"},
    "nuclear": {"ball-l2"},
    "linf": {"ball-l2", "ball-l1"},
    "huber": SEPARABLE,
    "hinge": SEPARABLE,
    "blocks": {"ball-l2"},
}
PAIRS = [(r, s) for r in PENALTIES for s in SETS]


@pytest.mark.parametrize(("r", "s"), PAIRS)
def test_exact_or_refused(r: str, s: str) -> None:
    penalty, finite = PENALTIES[r]
    domain, inside = SETS[s]
    if s not in ACCEPTED[r]:
        with pytest.raises(UnsupportedError, match=f"{type(penalty).__name__}.* no closed form"):
            pen.constrain(penalty, domain)
        return
    total = pen.constrain(penalty, domain)
    w, v, step = cp.Variable(4), cp.Parameter(4), cp.Parameter(nonneg=True)
    problem = cp.Problem(cp.Minimize(step * finite(w) + cp.sum_squares(w - v) / 2), inside(w))
    rng = np.random.default_rng(11)
    for v.value, step.value in [(size * rng.standard_normal(4), size) for size in (0.5, 1.0, 2.0)]:
        problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
        found = total.prox(v.value, step.value)
        reached = step.value * total.value(found) + 0.5 * np.sum((found - v.value) ** 2)
        # The objective is 1-strongly convex, so this places the prox within 2e-4 of the minimiser.
        assert reached == pytest.approx(problem.value, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize(
    ("r", "s"), [(r, s) for r in ("ridge", "net", "net-l1-weights") for s in ("ball-l2", "ball-l1")]
)
def test_the_conjugate_of_a_parabola_on_a_ball(r: str, s: str) -> None:
    penalty, finite = PENALTIES[r]
    domain, inside = SETS[s]
    w, u = cp.Variable(4), cp.Parameter(4)
    problem = cp.Problem(cp.Maximize(u @ w - finite(w)), inside(w))
    rng = np.random.default_rng(13)
    for u.value in [size * rng.standard_normal(4) for size in (0.3, 1.0, 4.0)]:
        problem.solve(solver=cp.CLARABEL)
        assert pen.constrain(penalty, domain).conjugate(u.value) == pytest.approx(problem.value, rel=1e-6, abs=1e-7)


def test_no_ridge_at_all_on_a_set() -> None:
    u = np.array([1.0, -2.0, 0.5])
    for domain in (pen.L2Ball(0.8), pen.L1Ball(0.8), pen.Simplex(0.8)):
        assert pen.constrain(pen.L2Squared(0.0), domain).conjugate(u) == domain.conjugate(u)


@pytest.mark.parametrize(("r", "s"), [(r, s) for r, s in PAIRS if s not in ACCEPTED[r]])
def test_refusals_are_not_overcautious(r: str, s: str) -> None:
    """Projecting the prox would have been wrong for some point, so the refusal is needed."""
    penalty, finite = PENALTIES[r]
    domain, inside = SETS[s]
    w, v = cp.Variable(4), cp.Parameter(4)
    problem = cp.Problem(cp.Minimize(finite(w) + cp.sum_squares(w - v) / 2), inside(w))
    rng = np.random.default_rng(12)
    worst = 0.0
    for _ in range(10):
        v.value = 2.0 * rng.standard_normal(4)
        problem.solve(solver=cp.CLARABEL)
        worst = max(worst, float(np.abs(domain.prox(penalty.prox(v.value)) - w.value).max()))
    assert worst > 1e-3


@pytest.mark.parametrize("s", SETS)
def test_zero_goes_with_any_set(s: str) -> None:
    domain, _ = SETS[s]
    assert pen.constrain(pen.Zero(), domain) is domain


def test_no_set_changes_nothing() -> None:
    penalty = pen.L1()
    assert pen.constrain(penalty, None) is penalty


@pytest.mark.parametrize("domain", [pen.L1(), 3.0, "ball", pen.SeparableSum([pen.L1(), pen.L2Ball()], [2, 2])])
def test_a_domain_that_is_not_a_set_is_refused(domain: Any) -> None:
    with pytest.raises(InputError, match="Give a set"):
        pen.constrain(pen.L1(), domain)


def test_sets_without_a_common_point_are_refused() -> None:
    total = pen.constrain(pen.Box(0.0, 1.0), pen.Box(2.0, 3.0))
    with pytest.raises(InputError, match="no point in common"):
        total.pack(4)


def test_the_modulus_of_the_penalty_remains() -> None:
    assert pen.constrain(pen.L2Squared(0.3), pen.Simplex()).strong_convexity == 0.3
