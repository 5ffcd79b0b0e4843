"""The way of one fit: a plan decides and solves nothing, its solutions are kept in one place."""

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spdpeg
from spdpeg import datasets, operators, penalties
from spdpeg.estimators import FusedLasso, FusedLassoCV, FusedLogisticRegression, GraphGuidedRegressor, fitting

ROOT = Path(spdpeg.__file__).parent
NUMBERS = datasets.piecewise_constant(100, 12, task="regression", seed=1)
THREE = np.argmax(NUMBERS.X[:, :3], axis=1)


@dataclass(eq=False, repr=False)
class Counted(FusedLasso):
    """A model that tells more of its coefficients.

    Attributes
    ----------
    n_levels_ : int
    """

    def _derive(self) -> None:
        self.n_levels_ = 1 + np.count_nonzero(np.diff(self.coef_))


def test_three_steps_are_a_fit() -> None:
    model = FusedLasso(0.01, 0.01, random_state=0)
    plan = fitting.plan(model, NUMBERS.X, NUMBERS.y)
    assert not hasattr(model, "coef_")
    solutions = fitting.fit(plan)
    assert not hasattr(model, "coef_")
    fitting.keep(model, plan, solutions)
    whole = FusedLasso(0.01, 0.01, random_state=0).fit(NUMBERS.X, NUMBERS.y)
    np.testing.assert_array_equal(model.coef_, whole.coef_)
    assert {name for name in vars(model) if name.endswith("_")} == {name for name in vars(whole) if name.endswith("_")}


@pytest.mark.parametrize(("multi_class", "problems"), [("ovr", 3), ("multinomial", 0)])
def test_several_classes_are_several_problems_or_one(multi_class: str, problems: int) -> None:
    plan = fitting.plan(FusedLogisticRegression(multi_class=multi_class), NUMBERS.X, THREE)
    assert len(plan.problems) == problems
    assert (plan.joint is None) == (problems == 3)
    assert len(plan.starts) == len(plan.data.targets) == 3


@pytest.mark.parametrize("multi_class", ["ovr", "multinomial"])
def test_other_penalties_on_the_same_data(multi_class: str) -> None:
    """As a plan made at those weights."""
    options: dict[str, Any] = {"multi_class": multi_class, "tol": 1e-7, "random_state": 0}
    plan = fitting.plan(FusedLogisticRegression(1.0, 1.0, **options), NUMBERS.X, THREE)
    moved = plan.under(penalties.L1(0.02), penalties.L1(0.03))
    assert moved.data is plan.data
    assert moved.terms.F is plan.terms.F
    anew = fitting.plan(FusedLogisticRegression(0.02, 0.03, **options), NUMBERS.X, THREE)
    for one, other in zip(fitting.fit(moved), fitting.fit(anew), strict=True):
        assert one.result.objective == pytest.approx(other.result.objective, rel=1e-6)
    assert plan.under(penalties.L1(0.02), None).terms.F is None


def test_a_plan_begins_at_the_last_fit_if_asked_to() -> None:
    model = FusedLasso(random_state=0, warm_start=True).fit(NUMBERS.X, NUMBERS.y)
    [start] = fitting.plan(model, NUMBERS.X, NUMBERS.y).starts
    np.testing.assert_array_equal(start.coef, model.coef_)
    np.testing.assert_array_equal(start.dual, model.dual_)
    [fresh] = fitting.plan(model.set_params(warm_start=False), NUMBERS.X, NUMBERS.y).starts
    assert not fresh.coef.any()


def test_what_a_model_derives_follows_every_fit() -> None:
    X, y, _ = NUMBERS
    model = Counted(0.01, 0.3, random_state=0, tol=1e-8).fit(X, y)
    assert model.n_levels_ == 1 + np.count_nonzero(np.diff(model.coef_)) < 12
    model.partial_fit(X, y)
    assert model.n_levels_ == 1 + np.count_nonzero(np.diff(model.coef_))
    walked = fitting.walk(model, np.array([0.1, 0.01]), np.array([10.0, 0.01]), X, y)
    for _, here in walked:
        assert here.n_levels_ == 1 + np.count_nonzero(np.diff(here.coef_))


@pytest.mark.parametrize("shape", [(1, 1), (1, 6), (5, 1), (3, 5), (6, 4)])
def test_a_walk_visits_all_pairs_once_and_each_after_its_neighbours(shape: tuple[int, int]) -> None:
    X, y, _ = datasets.piecewise_constant(400, 8, seed=1)
    lam1, lam2 = (np.geomspace(0.1, 0.01, count) for count in shape)
    seen: set[tuple[int, int]] = set()
    for (i, j), model in fitting.walk(FusedLogisticRegression(tol=1e-6), lam1, lam2, X, y):
        beside = j - 1 if i // 4 % 2 == 0 else j + 1  # to and fro, four values of lam1 at a time
        assert all(place in seen for place in ((i - 1, j), (i, beside)) if place[0] >= 0 and 0 <= place[1] < lam2.size)
        assert (i, j) not in seen
        seen.add((i, j))
        assert (model.lam1, model.lam2) == (lam1[i], lam2[j])
        assert model.certificate_.met is not None
        assert model.objective_ <= FusedLogisticRegression(lam1[i], lam2[j], tol=1e-6).fit(X, y).objective_ * (1 + 1e-6)
    assert len(seen) == lam1.size * lam2.size


def test_a_graph_is_learned_once_on_a_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    learned = []

    def operator(self: Any, X: Any, weights: Any) -> operators.Operator:
        learned.append(X.shape)
        return operators.FirstDifference()

    monkeypatch.setattr(GraphGuidedRegressor, "_operator", operator)
    for _ in fitting.walk(GraphGuidedRegressor(), np.array([0.1, 0.01]), np.array([0.1, 0.0]), NUMBERS.X, NUMBERS.y):
        pass
    assert learned == [(100, 12)]


def test_models_are_reached_by_their_plans_alone() -> None:
    """Paths and cross-validation use no private names of a model."""
    for path in [*(ROOT / "paths").glob("*.py"), ROOT / "estimators" / "cross_validation.py"]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
                assert ast.unparse(node.value) in ("self", "cls"), f"{path.name}: {ast.unparse(node)}"


def test_bars_belong_to_the_command_line_and_to_progress() -> None:
    users = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "rich"
    }
    assert {path for path in users if not path.startswith("cli/")} == {"engine/progress.py"}


def test_cross_validation_fits_by_the_same_way() -> None:
    model = FusedLassoCV(lam1=[0.05], lam2=[0.1], cv=2, random_state=0).fit(NUMBERS.X, NUMBERS.y)
    plain = FusedLasso(0.05, 0.1, random_state=0).fit(NUMBERS.X, NUMBERS.y)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
