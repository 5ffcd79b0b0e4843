"""The group models: what their groups and factors mean."""

from typing import Any

import numpy as np
import pytest

from spdpeg import GroupLasso, GroupLassoClassifier, SparseGroupLasso
from spdpeg.errors import InputError

RNG = np.random.default_rng(0)
X = RNG.standard_normal((100, 6))
Y = X @ [1.0, -1.0, 0.5, 0.0, 0.0, 0.0] + 0.1 * RNG.standard_normal(100)
EXACT: dict[str, Any] = {"tol": 1e-8, "random_state": 0}


def test_all_ways_to_name_groups_are_the_same() -> None:
    forms = [3, [0, 0, 0, 1, 1, 1], [[0, 1, 2], [3, 4, 5]]]
    models = [GroupLasso(groups, 0.05, **EXACT).fit(X, Y) for groups in forms]
    for model in models:
        np.testing.assert_allclose(model.coef_, models[0].coef_, atol=1e-7)
        assert [group.tolist() for group in model.active_groups_] == [[0, 1, 2]]
        np.testing.assert_allclose(model.coef_[3:], 0.0, atol=1e-12)


def test_factors_of_groups() -> None:
    by_size = GroupLasso([0, 0, 0, 0, 1, 1], 0.05, **EXACT).fit(X, Y)
    given = GroupLasso([0, 0, 0, 0, 1, 1], 0.05, group_weights=[2.0, np.sqrt(2.0)], **EXACT).fit(X, Y)
    np.testing.assert_allclose(by_size.coef_, given.coef_, atol=1e-9)
    free = GroupLasso([-1, -1, -1, 0, 0, 0], 1.0, **EXACT).fit(X, Y)
    assert free.active_groups_ == []
    assert np.all(free.coef_[:3] != 0.0)


def test_groups_of_one_are_the_lasso() -> None:
    both = SparseGroupLasso(1, 0.03, 0.02, **EXACT).fit(X, Y)
    lasso = GroupLasso(1, 0.05, **EXACT).fit(X, Y)
    np.testing.assert_allclose(both.coef_, lasso.coef_, atol=1e-6)
    np.testing.assert_allclose(GroupLasso(None, 0.05, **EXACT).fit(X, Y).coef_, lasso.coef_, atol=1e-9)
    factors = np.arange(1.0, 7.0)
    labels = GroupLasso(np.arange(6)[::-1], 0.05, group_weights=factors[::-1], **EXACT).fit(X, Y)
    straight = GroupLasso(1, 0.05, group_weights=factors, **EXACT).fit(X, Y)
    np.testing.assert_allclose(labels.coef_, straight.coef_, atol=1e-9)


def test_several_classes() -> None:
    labels = np.digitize(Y, [-0.5, 0.5])
    model = GroupLassoClassifier(3, 0.02, random_state=0).fit(X, labels)
    assert model.coef_.shape == (3, 6)
    assert 0 in model.active_groups_[0]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"groups": 4}, "does not divide"),
        ({"groups": 3, "group_weights": [1.0]}, "2 groups"),
        ({"lam2": [1.0, 2.0]}, "lam2"),
    ],
)
def test_what_makes_no_sense_is_refused(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        GroupLasso(**parameters).fit(X, Y)
