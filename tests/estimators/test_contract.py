"""scikit-learn's own checks at the default parameters, or a small grid of weights, with no expected failure."""

from typing import Any

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from spdpeg import estimators, penalties


def small(name: str) -> Any:
    """The model with its defaults, unless these take long or have no best coefficients."""
    if name.endswith("CV"):
        return getattr(estimators, name)(n_lam2=2, cv=2, **({} if name == "TrendFilterCV" else {"lam1": [0.01]}))
    # Without any penalty, classes that can be told apart have no best coefficients.
    return getattr(estimators, name)(**({"r1": penalties.L1(0.01)} if name.startswith("Composite") else {}))


CHOOSING = ("FusedCoxRegressionCV", "FusedLassoCV", "FusedLogisticRegressionCV", "TrendFilterCV")
"""The others are made by the same two classes."""
EVERY = [small(name) for name in estimators.__all__ if not name.endswith("CV") or name in CHOOSING]
JOINT = estimators.FusedLogisticRegression(multi_class="multinomial")


def called(value: Any) -> str:
    """An estimator with its parameters, or a check by its name."""
    return value.func.__name__ if hasattr(value, "func") else repr(value)


# A list: scikit-learn's own decorator hands pytest a generator in some versions, which newer ones refuse.
@pytest.mark.parametrize(
    ("estimator", "check"),
    [case for model in [*EVERY, JOINT] for case in estimator_checks_generator(model)],
    ids=called,
)
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    if check.func.__name__ == "check_array_api_input":
        pytest.skip("Arrays other than NumPy's are converted; scikit-learn checks them only if SCIPY_ARRAY_API is set.")
    check(estimator)
