"""scikit-learn's own checks, with no expected failure."""

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from spdpeg import estimators, penalties

TIGHT = {"tol": 3e-9, "random_state": 0}
"""scikit-learn compares fits with weights and repeated rows to seven digits."""

SETTINGS = {
    "CompositeClassifier": {"r1": penalties.L1(0.01)},
    "CompositeRegressor": {"r1": penalties.L1(0.01)},
    "FusedSVC": {"max_passes": 20_000},
    "LowRankClassifier": {"lam1": 0.02},
    "LowRankRegressor": {"lam1": 0.02},
    "TrendFilter": {"lam2": 0.1},
}
"""Enough of a penalty for one best solution: scikit-learn's data have more columns than rows."""


@parametrize_with_checks([getattr(estimators, name)(**TIGHT, **SETTINGS.get(name, {})) for name in estimators.__all__])
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    if check.func.__name__ == "check_array_api_input":
        pytest.skip("Arrays other than NumPy's are converted; scikit-learn checks them only if SCIPY_ARRAY_API is set.")
    check(estimator)
