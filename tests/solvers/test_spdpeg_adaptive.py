"""The default mode of SPDPEG: follows its slow twin, and finds steps on rows of any size, order and cut."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import losses, operators, penalties
from spdpeg.data import Stream
from spdpeg.data.sources import NO_WEIGHTS, Block, Dense
from spdpeg.engine.shuffle import Shuffler
from spdpeg.errors import InputError, OrderWarning
from spdpeg.kernels.jit import frozen
from spdpeg.schemes import adaptive, learned
from spdpeg.schemes.records import gather
from spdpeg.solvers import sampling
from spdpeg.solvers.found_steps import FoundSteps
from support import catalogue
from support.adaptive_twin import AdaptiveTwin

STEPS = 45


@pytest.mark.parametrize("batch", [1, 7])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", ["Logistic", "Squared", "Huber", "SmoothedHinge"])
@pytest.mark.parametrize(
    ("r1", "r2", "operator"),
    [("L1", "L1", "FirstDifference"), ("L2Squared", "L1", "GraphDifference"), ("L1", "L2Squared", "DenseMatrix")],
)
def test_kernel_follows_twin(r1: str, r2: str, operator: str, loss: str, weighted: bool, batch: int) -> None:
    instance = catalogue.instance(loss, r1, r2, operator, weighted)
    problem = instance.problem()
    order = sampling.make("shuffled", catalogue.N, batch, 3, False).draw(0, STEPS).reshape(-1, batch)
    expected = AdaptiveTwin(instance, problem.F.squared_norm, 3.0).run(list(order))
    result = spdpeg.solve(problem, "spdpeg", batch_size=batch, max_iterations=STEPS, max_passes=None, seed=3)
    for name, value in expected.items():
        scale = np.max(np.abs(value), initial=1e-3)
        np.testing.assert_allclose(getattr(result, name), value, rtol=0, atol=1e-9 * scale, err_msg=name)


@pytest.mark.parametrize(("regime", "divisor", "shift", "forgetting"), [("sc1", 2, 1.0, 1.0), ("sc2", 4, 2.0, 3.0)])
def test_strong_convexity_bounds_the_steps(regime: str, divisor: int, shift: float, forgetting: float) -> None:
    instance = catalogue.instance(r1="L2Squared")
    problem, mu = instance.problem(), 0.3
    slope = (mu + instance.r1.strong_convexity) / divisor
    order = sampling.make("shuffled", catalogue.N, 1, 3, False).draw(0, STEPS).reshape(-1, 1)
    expected = AdaptiveTwin(instance, problem.F.squared_norm, forgetting, slope, shift).run(list(order))
    result = spdpeg.solve(problem, f"spdpeg-{regime}", mu_loss=mu, max_iterations=STEPS, batch_size=1, seed=3)
    np.testing.assert_allclose(result.x, expected["x"], atol=1e-9)
    np.testing.assert_allclose(result.x_last, expected["x_last"], atol=1e-9)


def data(rows: int = 1400) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, 10))
    return X, np.sign(X @ np.repeat([1.0, 0.0], 5) + 0.5 * rng.standard_normal(rows))


def cut(X: Any, y: np.ndarray, size: int) -> list[tuple[Any, np.ndarray]]:
    return [(X[k : k + size], y[k : k + size]) for k in range(0, len(y), size)]


def block_of(X: np.ndarray, y: np.ndarray) -> Block:
    return Block(Dense(X).rows, y, NO_WEIGHTS)


def streamed(chunks: Any, **options: Any) -> spdpeg.Result:
    problem = spdpeg.Problem(
        Stream(chunks, classes=(-1.0, 1.0)),
        loss=losses.Logistic(),
        r1=penalties.L1(1e-3),
        r2=penalties.L1(1e-3),
        F=operators.FirstDifference(),
        intercept=1.0,
    )
    return spdpeg.solve(problem, "spdpeg", max_passes=1, **options)


def accuracy(x: np.ndarray, X: np.ndarray, y: np.ndarray) -> float:
    return float(np.mean(np.sign(X @ x[:-1] + x[-1]) == y))


def log_loss(x: np.ndarray, X: np.ndarray, y: np.ndarray) -> float:
    return float(np.mean(np.logaddexp(0.0, -y * (X @ x[:-1] + x[-1]))))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_columns_may_have_other_units(seed: int) -> None:
    X, y = data(4000)
    units = 10.0 ** np.random.default_rng(seed).uniform(-2.0, 2.0, 10)
    inside, outside = slice(3000), slice(3000, None)

    def loss_after_a_pass(unit: Any, **options: Any) -> float:
        stream = Stream(cut(X[inside] * unit, y[inside], 500), classes=(-1.0, 1.0))
        problem = spdpeg.Problem(stream, loss=losses.Logistic(), intercept=1.0)
        x = spdpeg.solve(problem, "spdpeg", max_passes=1, **options).x
        return log_loss(x, X[outside] * unit, y[outside])

    assert loss_after_a_pass(units) < 1.25 * loss_after_a_pass(1.0)
    # With a rho of one's own there is one step for all.
    assert loss_after_a_pass(units, rho=1.0) > 1.5 * loss_after_a_pass(units)


def test_rare_columns_have_longer_steps() -> None:
    rng = np.random.default_rng(0)
    X = (rng.random((3000, 10)) < np.where(np.arange(10) < 5, 0.5, 0.02)).astype(float)
    metric = streamed(cut(X, np.sign(rng.standard_normal(3000)), 500)).state.vectors["metric"]
    assert metric[5:10].min() > 2.0 * metric[:5].max()
    assert metric[10] == 1.0


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("size", [1, 3, 64, 700])
def test_the_cut_into_chunks_changes_nothing(size: int, sparse: bool) -> None:
    X, y = data()
    rows = sp.csr_array(X) if sparse else X
    whole, other = streamed(cut(rows, y, 1400)), streamed(cut(rows, y, size))
    np.testing.assert_array_equal(whole.x, other.x)
    assert whole.state.rows == other.state.rows == 1400
    assert accuracy(whole.x, X, y) > 0.92


@pytest.mark.parametrize("buffer_size", [0, 17, 256])
@pytest.mark.parametrize("at", [1, 300, 701])
def test_a_resumed_stream_drops_no_row(at: int, buffer_size: int) -> None:
    X, y = data()
    whole = streamed([(X, y)], buffer_size=buffer_size)
    first = streamed([(X[:at], y[:at])], buffer_size=buffer_size)
    second = streamed([(X[at:], y[at:])], buffer_size=buffer_size, state=first.state)
    np.testing.assert_array_equal(whole.x, second.x)
    assert second.state.rows == 1400


def test_a_producer_may_fill_the_same_arrays_again() -> None:
    X, y = data(1402)

    def producer(copies: bool) -> Any:
        rows, labels = np.empty((7, 10)), np.empty(7)
        for k in range(0, 1396, 7):
            rows[:], labels[:] = X[k : k + 7], y[k : k + 7]
            yield (rows.copy(), labels.copy()) if copies else (rows, labels)

    np.testing.assert_array_equal(streamed(producer(True)).x, streamed(producer(False)).x)
    copied, refilled = (streamed(producer(copies), mode="paper").x for copies in (True, False))
    np.testing.assert_array_equal(copied, refilled)


@pytest.mark.parametrize("rows", [1, 100, 500])
@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_first_rows_of_another_size(factor: float, rows: int) -> None:
    X, y = data()
    odd = X.copy()
    odd[:rows] *= factor
    x = streamed(cut(odd, y, 100)).x
    assert accuracy(x, X[rows:], y[rows:]) > 0.9


@pytest.mark.parametrize("place", [0, 700, 1399])
def test_one_huge_row(place: int) -> None:
    X, y = data()
    odd = X.copy()
    odd[place] *= 1e12
    assert accuracy(streamed(cut(odd, y, 100)).x, X, y) > 0.9


@pytest.mark.parametrize("run", [1, 20, 100])
def test_classes_that_alternate_in_runs(run: int) -> None:
    X, y = data(2400)
    sides = [np.flatnonzero(y == side)[:1000].reshape(-1, run) for side in (-1.0, 1.0)]
    order = np.hstack(sides).reshape(-1)
    assert accuracy(streamed(cut(X[order], y[order], 100)).x, X, y) > 0.9


def test_longer_runs_than_the_buffer_are_noticed() -> None:
    X, y = data()
    order = np.argsort(y, kind="stable")
    with pytest.warns(OrderWarning, match=r"run of \d+ rows of one class, longer than the shuffle buffer of 256"):
        streamed(cut(X[order], y[order], 100))
    streamed(cut(X[order], y[order], 100), buffer_size=1400)


def test_rare_classes_are_no_runs() -> None:
    X, _ = data(3000)
    rare = np.where(np.arange(3000) % 500 == 77, 1.0, -1.0)
    streamed(cut(X, rare, 100))


def test_a_bad_row_is_named_by_its_chunk() -> None:
    X, y = data()
    X[1530 % 1400, 3] = np.nan
    with pytest.raises(InputError, match=r"Chunk 2 of the stream has a NaN .* in row 30"):
        streamed(cut(X, y, 100))


def test_labels_of_any_unit() -> None:
    X, _ = data()
    target = X @ np.repeat([2.0, 0.0], 5)
    found = [
        spdpeg.solve(
            spdpeg.Problem(X, unit * target, loss=losses.Squared(), r1=penalties.L1(unit * 1e-3)),
            "spdpeg",
            max_passes=3,
        ).x
        / unit
        for unit in (1.0, 1e4, 1e-4)
    ]
    np.testing.assert_allclose(found[0], np.repeat([2.0, 0.0], 5), atol=0.02)
    np.testing.assert_allclose(found[1], found[0], atol=1e-8)
    np.testing.assert_allclose(found[2], found[0], atol=1e-8)


@pytest.mark.parametrize(("name", "value"), [("variant", "three-sample"), ("buffer_size", -1), ("buffer_size", 1.5)])
def test_refusals(name: str, value: Any) -> None:
    X, y = data(10)
    with pytest.raises(InputError, match=f"{name} is "):
        spdpeg.solve(spdpeg.Problem(X, y, loss=losses.Logistic()), "spdpeg", **{name: value})


@pytest.mark.parametrize(("width", "uses"), [(10, 2), (300, 1), (5000, 1)])
def test_rows_come_again_only_where_there_are_far_more_of_them_than_columns(width: int, uses: int) -> None:
    state = spdpeg.state.State("spdpeg", {"batch_size": 1}, seed=0)
    shuffler = Shuffler.resumed(64, state, width, 0.0)
    passage = shuffler.receive(block_of(np.ones((1000, 2)), np.ones(1000)))
    assert passage.order.size == uses * (1000 - 64)


def test_half_of_the_buffer_is_not_used_before_it_has_judged() -> None:
    state = spdpeg.state.State("spdpeg", {"batch_size": 1}, seed=0)
    shuffler = Shuffler.resumed(64, state, 5000, 0.0)
    shuffler.advance(shuffler.receive(block_of(np.ones((1000, 2)), np.ones(1000))), 936)
    first, unused, last = shuffler.rest()
    assert first.size == unused.size == 32
    assert sorted([*first, *unused]) == list(range(64))
    np.testing.assert_array_equal(last, unused)


def test_what_is_shown_has_not_learned_its_rows_by_heart() -> None:
    # Labels by chance and far more columns than rows: nothing can be learned but the rows themselves.
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((1200, 3000)), np.sign(rng.standard_normal(1200))
    problem = spdpeg.Problem(Stream([(X[:600], y[:600])], classes=(-1.0, 1.0)), loss=losses.Logistic(), intercept=1.0)
    x = spdpeg.solve(problem, "spdpeg", max_passes=1, batch_size=4).x
    assert log_loss(x, X[600:], y[600:]) < 0.75


def text(rows: int) -> tuple[Any, np.ndarray]:
    """Documents of 20 words out of 1,000, most of which are commoner in one class; 1 label in 50 is wrong."""
    rng = np.random.default_rng(0)
    y = np.sign(rng.standard_normal(rows))
    chances = np.exp(rng.standard_normal((2, 1000))) / np.arange(3.0, 1003.0)
    chances /= chances.sum(axis=1, keepdims=True)
    counts = np.stack([rng.multinomial(20, chances[int(label > 0.0)]) for label in y])
    X = counts / np.linalg.norm(counts, axis=1, keepdims=True)
    return sp.csr_array(X), np.where(rng.random(rows) < 0.02, -y, y)


def test_what_is_shown_goes_only_as_far_as_new_rows_ask_for(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = text(2500)

    def streamed_text() -> spdpeg.Result:
        stream = Stream(cut(X[:1500], y[:1500], 500), classes=(-1.0, 1.0))
        return spdpeg.solve(spdpeg.Problem(stream, loss=losses.Logistic(), intercept=1.0), "spdpeg", max_passes=1)

    shown = streamed_text()
    monkeypatch.setattr(FoundSteps, "_fraction", lambda *_: 1.0)
    whole = streamed_text()
    for name, vector in whole.state.vectors.items():
        np.testing.assert_array_equal(vector, shown.state.vectors[name])  # the run itself is the same
    assert log_loss(shown.x, X[1500:], y[1500:]) < 0.75 * log_loss(whole.x, X[1500:], y[1500:])


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_mean_losses_by_the_cube(weighted: bool) -> None:
    X, y = data(60)
    rng = np.random.default_rng(1)
    weights = rng.uniform(0.5, 2.0, 60) if weighted else np.ones(60)
    block = Block(Dense(X).rows, frozen(y), frozen(weights) if weighted else NO_WEIGHTS)
    names = adaptive.Work._fields
    vectors = {name: np.zeros(10) for name in names} | {
        "centre": np.empty(0),
        "metric": np.ones(10),
        "learned": np.zeros(learned.LEARNED),
    }
    vectors["start"], vectors["x_average"] = rng.standard_normal((2, 10))
    vectors["learned"][learned.LOG_SQUARE], vectors["learned"][learned.OUTLYING] = 10.0, 9.0  # no row is an outlier
    adaptive.score_rows(block, np.arange(60), losses.Logistic().value_term, gather(adaptive.Work, vectors))
    heaviness = np.array([(k + 1) * (k + 2) * (k + 3) for k in range(60)], dtype=float)
    for fraction, score in zip(learned.FRACTIONS, vectors["learned"][learned.SCORES :], strict=True):
        x = vectors["start"] + fraction * (vectors["x_average"] - vectors["start"])
        expected = np.average(weights * np.logaddexp(0.0, -y * (X @ x)), weights=heaviness)
        np.testing.assert_allclose(score, expected, rtol=1e-12)
    assert vectors["learned"][learned.SCORED] == 60.0


def loss_of_a_stream(X: Any, y: np.ndarray, inside: int, **options: Any) -> float:
    stream = Stream(cut(X[:inside], y[:inside], 500), classes=(-1.0, 1.0))
    problem = spdpeg.Problem(stream, loss=losses.Logistic(), intercept=1.0)
    return log_loss(spdpeg.solve(problem, "spdpeg", max_passes=1, **options).x, X[inside:], y[inside:])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("mean", [10.0, 1000.0])
def test_columns_may_have_means(mean: float, sparse: bool) -> None:
    X, y = data(4000)
    shifted = X + mean * np.random.default_rng(1).uniform(-1.0, 1.0, 10)
    rows = sp.csr_array(shifted) if sparse else shifted
    assert loss_of_a_stream(rows, y, 3000) < 1.1 * loss_of_a_stream(X, y, 3000)


@pytest.mark.parametrize("batch", [1, 5])
def test_dense_and_sparse_rows_have_the_same_centre(batch: int) -> None:
    X, y = data(700)
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.5, X + 3.0, 0.0)
    dense, other = (streamed(cut(rows, y, 100), batch_size=batch) for rows in (X, sp.csr_array(X)))
    np.testing.assert_allclose(dense.x, other.x, rtol=1e-9)
    centre = dense.state.vectors["centre"]
    assert centre[-1] == 0.0
    assert np.abs(centre[:-1]).max() > 1.0


def test_a_column_that_looked_constant_does_no_harm() -> None:
    # Standardized rare features: next to constant at first, then far larger than anything seen before.
    rng = np.random.default_rng(0)
    rare = rng.random((6000, 40)) < np.geomspace(0.001, 0.2, 40)
    X = (rare - rare.mean(axis=0)) / rare.std(axis=0)
    y = np.sign(X @ rng.standard_normal(40) + rng.logistic(size=6000))
    problem = spdpeg.Problem(X[:5000], y[:5000], loss=losses.Logistic(), intercept=1.0)
    assert loss_of_a_stream(X, y, 5000) < 1.15 * log_loss(spdpeg.solve(problem).x, X[5000:], y[5000:])


def test_steps_slow_down_where_iterates_are_noisy() -> None:
    X, y = text(2500)
    usual, long = loss_of_a_stream(X, y, 1500), loss_of_a_stream(X, y, 1500, scale=4.0)
    assert long < 1.3 * usual
    stream = Stream(cut(X, y, 500), classes=(-1.0, 1.0))
    problem = spdpeg.Problem(stream, loss=losses.Logistic(), intercept=1.0)
    found = [spdpeg.solve(problem, "spdpeg", max_passes=1, scale=scale).state for scale in (1.0, 4.0)]
    slow, slower = (state.vectors["learned"][learned.PACE] for state in found)
    assert slower < slow <= 0.0


def test_points_beyond_the_average_are_shown_only_where_it_lags_far_behind() -> None:
    state = spdpeg.state.State("spdpeg", {"batch_size": 1}, seed=0)
    steps = FoundSteps(1.0, None, False, 3.0, 0.0, 1.0)

    def fraction(*scores: float) -> float:
        state.vectors["learned"] = np.zeros(learned.LEARNED)
        state.vectors["learned"][learned.SCORED] = 100.0
        state.vectors["learned"][learned.SCORES :] = [*scores, *[9.0] * (learned.FRACTIONS.size - len(scores))]
        return steps._fraction(state)

    assert fraction(1.0, 1.1, 1.2) == 1.0
    assert fraction(1.0, 1.1, 1.3) == pytest.approx(2.0**0.5)
    assert fraction(1.0, 1.3, 1.6) == 2.0
    assert fraction(1.2, 1.1, 1.05, 1.0) == pytest.approx(0.5**0.5)


@pytest.mark.parametrize("loss", [losses.Squared(), losses.Huber(1.0)])
@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_regression_on_a_raw_table(loss: Any, unit: float) -> None:
    X, _ = data(3000)
    rng = np.random.default_rng(2)
    table = 10.0 ** rng.uniform(-2.0, 2.0, 10) * (X + rng.uniform(-3.0, 3.0, 10))
    target = unit * (X @ np.repeat([2.0, 0.0], 5) + 7.0 + 0.1 * rng.standard_normal(3000))
    problem = spdpeg.Problem(Stream([(table, target)]), loss=loss, intercept=1.0)
    x = spdpeg.solve(problem, "spdpeg", max_passes=1).x
    whole = spdpeg.Problem(table, target, loss=loss, intercept=1.0)
    assert whole.objective(x) < 0.5 * whole.objective(np.zeros(11))
