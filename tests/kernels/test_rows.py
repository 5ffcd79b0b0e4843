"""Sums over rows."""

import math

import numpy as np

import spdpeg
from spdpeg import losses, penalties


def test_slopes_of_an_intercept_add_up_to_all_digits() -> None:
    """Equal slopes, added one by one, would round the same way 30,000 times."""
    y = np.where(np.arange(32_561) < 7_841, 1.0, -1.0)
    problem = spdpeg.Problem(np.zeros((y.size, 1)), y, loss=losses.Logistic(), r1=penalties.L1(1.0), intercept=True)
    x = problem.join([0.0], -1.1)
    evaluation = problem.view.sums.evaluate(x)
    slopes = losses.Logistic().derivative(np.full(y.size, -1.1), y)
    for found, some in (
        (evaluation.gradient - evaluation.positive_part, slopes < 0),
        (evaluation.positive_part, slopes > 0),
    ):
        assert math.isclose(found[-1], problem.bias * math.fsum(slopes[some]) / y.size, rel_tol=1e-14)
