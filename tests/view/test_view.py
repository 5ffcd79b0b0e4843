"""What a method sees of a problem is small, and problems on the same rows share what is known of them."""

import numpy as np

import spdpeg
from spdpeg import losses, operators, penalties
from spdpeg.view import View

MEMBERS = {
    *("loss", "regularizer", "r2", "F", "n_coordinates"),
    *("rows", "sums", "moments", "bounds", "penalty"),
    *("terms", "objective", "mean_loss", "gradient", "with_penalty", "streamed"),
}
CALLED_BY_USERS = {
    *("loss", "r1", "r2", "F", "domain", "n_samples", "n_features", "n_coordinates", "bias", "classes", "view"),
    *("objective", "penalty_value", "gradient", "certificate", "split", "join", "with_penalties"),
}


def public(item: object) -> set[str]:
    return {name for name in dir(item) if not name.startswith("_")}


def posed() -> spdpeg.Problem:
    X = np.random.default_rng(0).standard_normal((30, 4))
    F = operators.FirstDifference()
    return spdpeg.Problem(X, X[:, 0] > 0, losses.Logistic(), penalties.L1(0.1), penalties.L1(0.2), F, intercept=True)


def test_the_view_is_small() -> None:
    assert public(posed().view) == MEMBERS


def test_problems_show_what_users_call() -> None:
    problem = posed()
    assert public(problem) == CALLED_BY_USERS
    assert problem.view.bounds.lipschitz > 0.0
    assert public(problem) == CALLED_BY_USERS  # what is kept for later is kept elsewhere


def test_the_view_is_the_problem() -> None:
    problem, x = posed(), np.linspace(-1.0, 1.0, 5)
    view = problem.view
    assert view.objective(x) == problem.objective(x)
    assert view.objective(x) == view.mean_loss(x) + view.regularizer.value(x) + view.r2.value(view.F.forward(x))
    np.testing.assert_array_equal(view.gradient(x), problem.gradient(x))


def test_other_penalties_share_what_is_known_of_the_rows() -> None:
    view = posed().view
    other = posed().view.penalty
    known = view.bounds.lipschitz
    changed = view.with_penalty(other)
    assert isinstance(changed, View)
    assert changed.bounds is view.bounds
    assert vars(changed.bounds)["lipschitz"] == known
    assert changed.moments is view.moments
    assert changed.sums is view.sums
    assert changed.penalty is other


def test_a_chain_of_some_features_is_no_chain_of_all() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 5)), rng.standard_normal(30)
    F = operators.Repeated(operators.FirstDifference(), skip=2)
    problem = spdpeg.Problem(X, y, losses.Squared(), penalties.L1(0.01), penalties.L1(0.1), F)
    assert problem.view.penalty.fused is None
    same = spdpeg.Problem(X, y, losses.Squared(), penalties.L1(0.01), penalties.L1(0.1), problem.F.matrix())
    found, other = (spdpeg.solve(given, tol=1e-9) for given in (problem, same))
    assert found.certificate.rel_gap <= 1e-9
    np.testing.assert_allclose(found.objective, other.objective, rtol=2e-9)


def test_a_set_of_F_x_is_not_missed_by_the_rounding_of_F_x() -> None:
    """Ten terms of size 1 that cancel leave 1e-16 on either side of 0."""
    rng = np.random.default_rng(0)
    F = rng.standard_normal((5, 10))
    x = np.linalg.svd(F)[2][-1]
    assert np.any(F @ x < 0.0)
    problem = spdpeg.Problem(np.eye(10), np.ones(10), losses.Squared(), None, penalties.NonNegative(), F)
    assert problem.penalty_value(x) == 0.0
    assert problem.penalty_value(x - 1e-9 * F[0]) == np.inf
