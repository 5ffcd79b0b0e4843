"""Penalties written down by their weights are those of the conic form."""

import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import losses, penalties
from spdpeg.exact.penalty_form import PenaltyForm
from spdpeg.exact.pieces import AbsolutePenalties

rng = np.random.default_rng(4)
d = 12
ROWS = sp.csr_array(
    np.vstack([
        *(sign * (np.eye(d)[i] - np.eye(d)[j]) for sign, i, j in ((1.0, 0, 1), (-2.0, 1, 0), (1.0, 2, 5))),
        3.0 * np.eye(d)[4], -np.eye(d)[4], np.zeros(d), np.where(np.arange(d) > 6, 1.0, 0.0),
    ])
)  # fmt: skip


def form_of(r1: penalties.Penalty, intercept: bool = False) -> PenaltyForm:
    X, y = rng.standard_normal((5, d)), rng.standard_normal(5)
    r2 = penalties.L1(np.linspace(0.1, 0.7, 7))
    problem = spdpeg.Problem(X, y, loss=losses.Squared(), r1=r1, r2=r2, F=ROWS, intercept=intercept)
    form = PenaltyForm.of(problem.view)
    assert form is not None
    return form


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("r1", [penalties.L1(0.2), penalties.L2Squared(0.3), penalties.ElasticNet(0.1, 0.2)])
def test_lines_are_those_of_the_conic_form(r1: penalties.Penalty, intercept: bool) -> None:
    form = form_of(r1, intercept)
    lines, known = form.lines, AbsolutePenalties.of(form.form)
    assert lines is not None
    assert known is not None
    for name in ("weight", "ridge", "cost", "pairs"):
        np.testing.assert_allclose(getattr(lines, name), getattr(known, name), rtol=1e-14)
    np.testing.assert_allclose(lines.K.toarray(), known.K.toarray())
    assert (form.width, form.n_rows) == (form.form.width, form.form.K.shape[0])
    assert not form.holds_groups
    # Multipliers of r2 at F x: those of the weights and rows, shared by the rows that these were made of.
    slopes = rng.uniform(-1.0, 1.0, lines.weight.size) * lines.weight
    multipliers = rng.uniform(-1.0, 1.0, lines.cost.size) * lines.cost
    x = rng.standard_normal(lines.weight.size)
    y = form.multiplier_of_lines(x, slopes, multipliers)
    np.testing.assert_allclose(y, form.multiplier(x, known.restored(slopes, multipliers)), rtol=1e-12, atol=1e-15)


def test_without_F_single_coordinates_are_groups() -> None:
    X, y = rng.standard_normal((5, d)), rng.standard_normal(5)
    problem = spdpeg.Problem(X, y, loss=losses.Squared(), r1=penalties.ElasticNet(0.1, 0.2), intercept=True)
    form = PenaltyForm.of(problem.view)
    assert form is not None
    groups = form.groups
    assert groups is not None
    np.testing.assert_array_equal(groups.weight, [*[0.1] * d, 0.0])
    np.testing.assert_array_equal(groups.ridge, [*[0.2] * d, 0.0])
    assert groups.cost.size == groups.members.size == 0
    assert form.form.n_lines == form.n_rows == d
