"""scikit-learn's own checks of the models that choose their weights, with no expected failure."""

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from spdpeg import paths

SETTINGS = {"cv": 3, "tol": 3e-9, "random_state": 0}
"""scikit-learn compares fits with weights and repeated rows to seven digits."""

SUGGESTED = {"n_lam1": 2, "eps": 0.1, "lam2": [0.01]}

MODELS = [
    paths.FusedLassoCV(**SUGGESTED, **SETTINGS),
    paths.FusedLogisticRegressionCV(lam1=[0.01, 0.02], lam2=[0.01], **SETTINGS),
    paths.GraphGuidedLogisticRegressionCV(structure="chain", **SUGGESTED, **SETTINGS),
]


@parametrize_with_checks(MODELS)
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    if check.func.__name__ == "check_array_api_input":
        pytest.skip("Arrays other than NumPy's are converted; scikit-learn checks them only if SCIPY_ARRAY_API is set.")
    check(estimator)
