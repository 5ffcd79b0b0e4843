"""scikit-learn's own checks, with no expected failure."""

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from spdpeg import estimators, penalties

TIGHT = {"tol": 3e-9, "random_state": 0}
"""scikit-learn compares fits with weights and repeated rows to seven digits."""

SETTINGS = {"CompositeClassifier": {"r1": penalties.L2Squared(0.01)}}
"""Without any penalty, classes that can be told apart have no best coefficients."""


@parametrize_with_checks([getattr(estimators, name)(**TIGHT, **SETTINGS.get(name, {})) for name in estimators.__all__])
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    if check.func.__name__ == "check_array_api_input":
        pytest.skip("Arrays other than NumPy's are converted; scikit-learn checks them only if SCIPY_ARRAY_API is set.")
    check(estimator)
