"""scikit-learn's own checks of the models that choose their weights, with no expected failure."""

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from spdpeg import paths

MODELS = (paths.FusedLassoCV, paths.FusedLogisticRegressionCV, paths.GraphGuidedLogisticRegressionCV)


@parametrize_with_checks([model(lam1=[0.01], n_lam2=2, cv=2) for model in MODELS])
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    """On a small grid and two folds; everything else is as by default."""
    if check.func.__name__ == "check_array_api_input":
        pytest.skip("Arrays other than NumPy's are converted; scikit-learn checks them only if SCIPY_ARRAY_API is set.")
    check(estimator)
