"""scikit-learn's own checks at the default parameters, with no expected failure."""

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from spdpeg import estimators, penalties

SETTINGS = {name: {"r1": penalties.L1(0.01)} for name in ("CompositeClassifier", "CompositeRegressor")}
"""Without any penalty, classes that can be told apart have no best coefficients."""

EXACT: dict[str, dict[str, Any]] = {
    "FusedSVC": {"tol": 3e-9, "max_passes": 20_000},
    "GraphGuidedLogisticRegression": {"tol": 1e-11},
    "LowRankClassifier": {"tol": 3e-9, "lam1": 0.02},
    "LowRankRegressor": {"tol": 3e-9, "lam1": 0.02},
    "TrendFilter": {"tol": 3e-9, "lam2": 0.1},
}
"""For the checks that compare weights with repeated rows to seven digits, on 15 rows of 30 columns."""


@parametrize_with_checks([getattr(estimators, name)(**SETTINGS.get(name, {})) for name in estimators.__all__])
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    name = check.func.__name__
    if name == "check_array_api_input":
        pytest.skip("Arrays other than NumPy's are converted; scikit-learn checks them only if SCIPY_ARRAY_API is set.")
    if name.startswith("check_sample_weight_equivalence"):
        estimator.set_params(**EXACT.get(type(estimator).__name__, {"tol": 3e-9}))
    check(estimator)
