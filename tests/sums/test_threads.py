"""The same bits for any number of threads, and what `n_jobs` means."""

import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_info

import spdpeg
from spdpeg import datasets, losses, operators, penalties
from spdpeg.estimators import FusedLogisticRegression, FusedLogisticRegressionCV
from spdpeg.sums import LocalSums, ModelMinimum, blocks, threads


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that little data make several blocks."""
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 600)


def problem(loss: losses.Loss, sparse: bool = False, **options: object) -> spdpeg.Problem:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((700, 12)) * (rng.random((700, 12)) < (0.4 if sparse else 1.0))
    y = X @ np.repeat([1.0, -0.5, 0.0], 4) + 0.5 * rng.standard_normal(700)
    parts = {"r1": penalties.L1(0.01), "r2": penalties.L1(0.02), "F": operators.FirstDifference(), **options}
    return spdpeg.Problem(
        sp.csr_array(X) if sparse else X,
        y > 0 if loss.binary else y,
        loss=loss,
        sample_weight=rng.random(700),
        intercept=True,
        **parts,
    )


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("loss", [losses.Logistic(), losses.Squared(), losses.Huber(0.5)], ids=repr)
def test_the_number_of_threads_changes_no_bit(loss: losses.Loss, sparse: bool) -> None:
    posed = problem(loss, sparse)
    assert len(posed.view.sums._row_blocks.starts) > 4
    one, two, three = (spdpeg.solve(posed, tol=1e-9, n_jobs=n) for n in (None, 2, 3))
    assert one.x.tobytes() == two.x.tobytes() == three.x.tobytes()
    assert one.certificate == two.certificate == three.certificate
    assert one.certificate.met is not None


def test_the_number_of_threads_changes_no_bit_of_a_path() -> None:
    X, y, _ = datasets.piecewise_constant(700, 12)
    one, two = (spdpeg.path(FusedLogisticRegression(n_jobs=n), X, y, n_lam1=4, n_lam2=4) for n in (None, 2))
    assert one.coef.tobytes() == two.coef.tobytes()
    assert one.gap.tobytes() == two.gap.tobytes()


@pytest.mark.parametrize("sparse", [False, True])
def test_blocks_add_up_to_the_whole(sparse: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    posed = problem(losses.Logistic(), sparse)
    cut = posed.view.sums
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 1 << 22)
    whole = LocalSums.of(posed.view.rows.block, posed.loss)
    x = np.random.default_rng(1).standard_normal(posed.n_coordinates)
    here, there = cut.at(x, curvature=True), whole.at(x, curvature=True)
    assert here.loss == pytest.approx(there.loss, rel=1e-14)
    np.testing.assert_allclose(here.gradient, there.gradient, atol=1e-14)
    np.testing.assert_allclose(here.curvature, there.curvature, atol=1e-14)
    ahead, predicted = (sums.at(0.9 * x, model=at, ahead=x) for sums, at in ((cut, here), (whole, there)))
    np.testing.assert_allclose(ahead.predicted_gradient, predicted.predicted_gradient, atol=1e-14)
    raised = [sums.at_margins(at.margins, curvature=True, floor=0.2) for sums, at in ((cut, here), (whole, there))]
    assert all(sweep.curvature_range[0] >= 0.2 for sweep in raised)
    np.testing.assert_allclose(raised[0].curvature, raised[1].curvature, atol=1e-14)
    np.testing.assert_array_equal(raised[0].gradient, here.gradient)  # of the loss as it is
    np.testing.assert_allclose(cut.column_squares(), whole.column_squares(), rtol=1e-13)
    np.testing.assert_allclose(cut.statistics(), whole.statistics(), rtol=1e-13)
    np.testing.assert_allclose(cut.adjoint(ahead.predicted), whole.adjoint(ahead.predicted), atol=1e-14)
    assert cut.loss(x) == pytest.approx(whole.loss(x), rel=1e-14)
    labels, weights = posed.view.rows.block[1:]
    slopes = tuple(np.random.default_rng(k).uniform(-0.2, 0.2, labels.size) for k in range(3))
    curvatures = np.random.default_rng(3).uniform(0.0, 0.2, labels.size)
    points = [x, 0.5 * x, -x, np.zeros(x.size), 2.0 * x, x + 0.1, x - 0.1]
    models = [ModelMinimum(point, 0.01 * k * x, slopes, 0.5) for k, point in enumerate(points)]
    for sums in (cut, whole):
        before = sums.reads
        at_points = sums.at_minima(models, curvatures)
        assert sums.reads == before + 2  # of four points, then of three
        for model, found in zip(models, at_points, strict=True):
            alone = whole.at(model.point)
            assert found.loss == pytest.approx(alone.loss, rel=1e-14)
            np.testing.assert_allclose(found.gradient, alone.gradient, atol=1e-14)
            np.testing.assert_allclose(found.slopes, alone.at_rows.slopes, atol=1e-14)
            u = slopes[0] + slopes[1] - slopes[2] + curvatures * whole.at(model.move).margins
            assert found.square == pytest.approx(np.mean(weights * u * u), rel=1e-13)
            own = -labels * np.abs(u)  # within the domain of the conjugate
            assert found.conjugate == np.inf or np.all(labels * u <= 0.0)
            inside = model._replace(slopes=(own, own, own), move=0.0 * x)
            [again] = sums.at_minima([inside], curvatures)
            assert again.conjugate == pytest.approx(whole.conjugate(own, 0.5), rel=1e-13)
    labels = np.array([0] * 6 + [1] * 6 + [2])
    pieces = [sums.collapse(labels, 3).at(x[:3], curvature=True) for sums in (cut, whole)]
    np.testing.assert_allclose(pieces[0].curvature, pieces[1].curvature, atol=1e-14)


def test_estimators_share_threads_without_changing_anything() -> None:
    X, _, _ = datasets.piecewise_constant(300, 12)
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    one, two = (FusedLogisticRegression(0.01, 0.01, n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    grids = {"n_lam1": 2, "n_lam2": 2, "cv": 2, "random_state": 0}
    alone, both = (FusedLogisticRegressionCV(**grids, n_jobs=n).fit(X, y > 0) for n in (1, -1))
    np.testing.assert_array_equal(alone.scores_, both.scores_)


@pytest.mark.parametrize("n_jobs", [0, "two", 1.5, True])
def test_what_is_no_number_of_threads_is_refused(n_jobs: object) -> None:
    with pytest.raises(spdpeg.InputError, match="n_jobs is"):
        spdpeg.solve(problem(losses.Squared()), n_jobs=n_jobs)
    with pytest.raises(spdpeg.InputError, match="n_jobs is"):
        FusedLogisticRegression(n_jobs=n_jobs).fit(np.eye(4), [0, 1, 0, 1])


def test_a_failure_in_a_thread_is_told_and_ends_the_others() -> None:
    begun: list[int] = []

    def work(item: int) -> int:
        begun.append(item)
        if item == 2:
            raise spdpeg.InputError("item 2 is bad. Leave it out.")
        return item

    with threads.using(2), pytest.raises(spdpeg.InputError, match="item 2"):
        list(threads.in_order(work, range(1000)))
    assert len(begun) < 20
    assert threads.allowed() == 1


def test_threads_that_are_given_up_have_ended() -> None:
    ended: list[int] = []

    def work(item: int) -> int:
        time.sleep(0.02 * item)
        ended.append(item)
        return item

    with threads.using(2):
        some = threads.in_order(work, range(6))
        assert next(some) == 0
        some.close()
        before = len(ended)
        time.sleep(0.1)
        assert len(ended) == before
        assert list(threads.in_order(work, range(3))) == [0, 1, 2]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("spdpeg")]


def test_the_caller_works_too_and_each_item_has_one_thread() -> None:
    both = threading.Barrier(2)

    def work(item: int) -> tuple[str, int]:
        both.wait(10)  # each of the two threads has one of the two items
        return threading.current_thread().name, threads.allowed()

    with threads.using(2):
        found = list(threads.in_order(work, range(2)))
        assert threads.allowed() == 2
    assert len({name for name, _ in found}) == 2
    assert threading.current_thread().name in {name for name, _ in found}
    assert {there for _, there in found} == {1}


def limits() -> list[int]:
    """Threads that linear algebra may take now."""
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_linear_algebra_takes_one_thread(n_jobs: int) -> None:
    before, seen = limits(), []
    told = {"callback": lambda _: seen.append(limits()), "n_jobs": n_jobs}
    spdpeg.solve(problem(losses.Logistic()), tol=0.0, max_passes=3, **told)
    assert seen
    assert all(set(now) <= {1} for now in seen)
    assert limits() == before


def test_linear_algebra_gets_its_threads_back() -> None:
    before = limits()
    first, second = threading.Event(), threading.Event()

    def other() -> None:
        with threads.one_blas_thread():
            first.set()
            second.wait(10)

    thread = threading.Thread(target=other)
    with threads.one_blas_thread():
        thread.start()
        first.wait(10)
        assert set(limits()) <= {1}
    assert set(limits()) <= {1}
    second.set()
    thread.join()
    assert limits() == before
