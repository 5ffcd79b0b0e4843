"""Models solved by interior points: the optimum of an independent conic solver, multipliers in their sets."""

import numpy as np
import pytest

from spdpeg.penalties.conic import group_norms
from spdpeg.quadratic import Model, ModelSolution, minimize
from support.quadratic import by_clarabel, random_model


def assert_multipliers_fit(model: Model, found: ModelSolution) -> None:
    form = model.form
    own = found.y[: form.n_lines]
    assert np.all(own <= form.up)
    assert np.all(own >= -form.down)
    assert np.all(group_norms(found.y, form.starts) <= form.weight)
    residual = model.times(found.w) - model.right() + form.K.T @ found.y
    assert found.residual == pytest.approx(residual, abs=1e-12)


@pytest.mark.parametrize("block", range(40))
def test_random_models(block: int) -> None:
    for seed in range(25 * block, 25 * block + 25):
        model = random_model(seed)
        found = minimize(model)
        status, value, _ = by_clarabel(model)
        if "Infeasible" in status:
            assert found.status == "infeasible", seed
            continue
        scale = abs(value) + 1e-2 + float(np.abs(model.right()) @ np.abs(found.w))
        assert found.status in ("optimal", "inaccurate"), seed
        # From below it is the gap that proves the value; the other solver is not always as accurate as it says.
        assert value - 1e-6 * scale <= found.value <= value + 1e-7 * scale, seed
        assert found.violation <= 1e-8, seed
        assert -1e-12 * scale <= found.gap <= 1e-7 * scale, seed
        assert_multipliers_fit(model, found)
