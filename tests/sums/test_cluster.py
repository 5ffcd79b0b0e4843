"""Rows on the workers of a dask cluster: the same answers as in memory, and sentences where there are none."""

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import losses, operators, penalties
from spdpeg.estimators import (
    FusedLasso,
    FusedLassoCV,
    FusedLogisticRegression,
    FusedLogisticRegressionCV,
    GraphGuidedLogisticRegression,
)
from spdpeg.parameters import is_dask
from spdpeg.sums import rounds
from spdpeg.view.partition_tasks import folds_of

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
pd = pytest.importorskip("pandas")

ROWS, COLUMNS, CHUNK = 240, 6, 60
GRAPH = operators.GraphDifference([(0, 2), (1, 3), (2, 5), (0, 4)])


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with cluster_of(2) as found:
        yield found


def cluster_of(n_workers: int) -> Any:
    """A client of a cluster in the threads of this process, closed with it."""
    return distributed.Client(
        n_workers=n_workers, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50
    )


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X, numbers to learn and weights, a few of them 0."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, COLUMNS))
    y = X @ np.repeat([1.0, -0.5], 3) + 0.3 + 0.5 * rng.standard_normal(ROWS)
    return X, y, np.round(3.0 * rng.random(ROWS))


def cut(*arrays: np.ndarray) -> list[Any]:
    return [da.from_array(array, chunks=(CHUNK, *array.shape[1:])) for array in arrays]


def terms(loss: losses.Loss, F: Any, intercept: bool = True) -> dict[str, Any]:
    return {"loss": loss, "r1": penalties.L1(0.01), "r2": penalties.L1(0.02), "F": F, "intercept": intercept}


def assert_same(there: spdpeg.Problem, here: spdpeg.Problem, tol: float = 1e-12) -> spdpeg.Result:
    found, known = spdpeg.solve(there, tol=tol), spdpeg.solve(here, tol=tol)
    assert found.certificate is not None
    assert found.certificate.met is not None
    assert found.objective == pytest.approx(known.objective, rel=1e-10)
    for a, b in zip(there.split(found.x), here.split(known.x), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-10)
    return found


CASES = {
    "logistic-chain": (terms(losses.Logistic(), operators.FirstDifference()), True, True),
    "squared-graph": (terms(losses.Squared(), GRAPH), False, True),
    "huber-chain": (terms(losses.Huber(0.5), operators.FirstDifference(), False), False, False),
}


def test_without_a_client_nothing_is_gathered(rows: Any) -> None:
    """The first test here: no other has started a client yet."""
    X, y, _ = rows
    dX, dy = cut(X, y)
    with pytest.raises(spdpeg.InputError, match=r"no client is active. Start one with dask.distributed.Client"):
        spdpeg.Problem(dX, dy, loss=losses.Squared())
    with pytest.raises(spdpeg.InputError, match="no client is active"):
        FusedLasso().fit(dX, dy)
    for call in (
        lambda: spdpeg.Problem(X, dy, loss=losses.Squared()),
        lambda: FusedLasso().fit(X, dy),
        lambda: FusedLasso().fit(X, y, sample_weight=dy),
        lambda: spdpeg.data.as_source(dX),
    ):
        with pytest.raises(spdpeg.InputError, match="is not gathered here"):
            call()


@pytest.mark.parametrize("case", CASES)
def test_a_cluster_finds_what_memory_does(client: Any, rows: Any, case: str) -> None:
    X, y, weights = rows
    arguments, binary, weighted = CASES[case]
    labels = np.where(y > 0.0, "yes", "no") if binary else y
    w = weights if weighted else None
    dX, dy, dw = cut(X, labels, weights)
    there = spdpeg.Problem(dX.rechunk((CHUNK, 4)), dy, sample_weight=dw if weighted else None, **arguments)
    result = assert_same(there, spdpeg.Problem(X, labels, sample_weight=w, **arguments))
    assert there.view.sums.rounds <= 3.0 * result.passes + 8
    assert all(vector.size < ROWS for vector in result.state.vectors.values())


@pytest.mark.parametrize("case", CASES)
def test_a_solve_waits_as_often_as_it_reads(client: Any, case: str) -> None:
    rng = np.random.default_rng(2)
    X = rng.standard_normal((4000, 6))
    y, w = X @ np.repeat([1.0, -0.5], 3) + rng.standard_normal(4000), rng.random(4000)
    arguments, binary, weighted = CASES[case]
    labels = y > 0.0 if binary else y
    parts = [da.from_array(array, chunks=(1000, *array.shape[1:])) for array in (X, labels, w)]
    there = spdpeg.Problem(parts[0], parts[1], sample_weight=parts[2] if weighted else None, **arguments)
    here = spdpeg.Problem(X, labels, sample_weight=w if weighted else None, **arguments)
    known = spdpeg.solve(here, tol=1e-6)
    assert there.objective(np.zeros(there.n_coordinates)) == pytest.approx(
        here.objective(np.zeros(here.n_coordinates)), rel=1e-12
    )
    assert spdpeg.solve(there, tol=1e-6).certificate.met is not None
    assert there.view.sums.reads == there.view.sums.rounds <= 1.1 * known.passes


def test_the_bits_do_not_depend_on_the_workers(rows: Any) -> None:
    X, y, _ = rows
    found = []
    for n_workers in (1, 2, 3):
        with cluster_of(n_workers):
            problem = spdpeg.Problem(*cut(X, y), **terms(losses.Squared(), operators.FirstDifference()))
            found.append(spdpeg.solve(problem, tol=1e-6).x)
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_many_columns_go_through_a_working_set(client: Any) -> None:
    rng = np.random.default_rng(1)
    X = sp.random_array((120, 400), density=0.1, rng=rng, format="csr")
    y = X @ np.repeat([0.0, 2.0, 0.0, -1.0], 100) + 0.1 * rng.standard_normal(120)
    arguments = terms(losses.Squared(), operators.FirstDifference())
    dX = da.from_array(X.toarray(), chunks=(40, 400)).map_blocks(sp.csr_array)
    there = spdpeg.Problem(dX, da.from_array(y, chunks=40), **arguments)
    result = assert_same(there, spdpeg.Problem(X, y, **arguments))
    assert result.stages[0].method == "working-set"
    assert there.view.sums.is_sparse


def test_partitions_of_unknown_length_without_rows_and_of_one_class(client: Any, rows: Any) -> None:
    X, y, _ = rows
    order = np.argsort(y)  # the first partition has one class only
    X, labels = X[order], y[order] > 0.0
    used = np.arange(ROWS) % 3 > 0
    used[CHUNK : 2 * CHUNK] = False  # and the second no rows at all
    dX, dy, mask = cut(X, labels, used)
    arguments = terms(losses.Logistic(), operators.FirstDifference())
    there = spdpeg.Problem(dX[mask], dy[mask], **arguments)
    assert there.n_samples == used.sum()
    assert_same(there, spdpeg.Problem(X[used], labels[used], **arguments))


def test_what_is_wrong_with_a_partition_is_said(client: Any, rows: Any) -> None:
    X, y, weights = rows
    dX, dy = cut(X, y)

    def refused(match: str, X: Any, y: Any = dy, **arguments: Any) -> None:
        with pytest.raises(spdpeg.InputError, match=match):
            spdpeg.Problem(X, y, loss=losses.Squared(), **arguments)

    damaged, unlabelled = X.copy(), y.copy()
    damaged[2 * CHUNK + 5, 1] = unlabelled[3 * CHUNK] = np.nan
    refused(r"Partition 2 cannot be used. X has a NaN or infinite entry in row 5", cut(damaged)[0])
    refused(r"Partition 3 cannot be used. y holds NaN", dX, cut(unlabelled)[0])
    refused("Partition 0 cannot be used. sample_weight", dX, sample_weight=cut(weights - 1.0)[0])
    refused(r"Partition 1 could not be computed \(OSError: no such bucket\)", dX.map_blocks(failing, dtype=float))
    refused("y has 2 partitions where X has 4", dX[dX[:, 0] < 9.0], dy.rechunk(120))
    refused("y has 100 entries where X has 240", dX, dy[:100])
    refused("y is missing", dX, None)
    refused("no vector", dX, dX)
    refused("is no table", dy)
    refused("unknown lengths", dX[dX[:, 0] < 9.0], y)


def failing(block: np.ndarray, block_info: Any = None) -> np.ndarray:
    if block_info and block_info[0]["chunk-location"][0] == 1:
        raise OSError("no such bucket")
    return block


RELEASE = threading.Event()


def waiting(block: np.ndarray, block_info: Any = None) -> np.ndarray:
    if block_info and block_info[0]["chunk-location"][0] == 3:
        RELEASE.wait(20.0)
    return block


def test_a_round_without_progress_ends(client: Any, rows: Any) -> None:
    X, y, _ = rows
    dX, dy = cut(X, y)
    try:
        with (
            dask.config.set({"spdpeg.time-limit": "400ms"}),
            pytest.raises(spdpeg.ClusterError, match=r"No progress for 0.4 seconds, partition\(s\) .*3 not done, 2 w"),
        ):
            spdpeg.Problem(dX.map_blocks(waiting, dtype=float), dy, loss=losses.Squared())
    finally:
        RELEASE.set()
    with dask.config.set({"spdpeg.time-limit": "soon"}), pytest.raises(spdpeg.InputError, match="'10 minutes'"):
        spdpeg.Problem(dX, dy, loss=losses.Squared())


def test_classes_of_a_data_frame(client: Any, rows: Any) -> None:
    X, y, weights = rows
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(COLUMNS)])
    frame["kind"] = np.digitize(y, [-1.0, 1.0])
    frame["w"] = weights
    table = dd.from_pandas(frame, npartitions=3)
    names = [f"c{j}" for j in range(COLUMNS)]
    arguments = {"class_weight": "balanced", "tol": 1e-12, "lam1": 0.01, "lam2": 0.02}
    here = FusedLogisticRegression(**arguments).fit(frame[names], frame["kind"], frame["w"])
    there = FusedLogisticRegression(**arguments).fit(table[names], table["kind"], table["w"])
    np.testing.assert_allclose(there.coef_, here.coef_, atol=1e-10)
    np.testing.assert_allclose(there.intercept_, here.intercept_, atol=1e-10)
    assert there.classes_.tolist() == [0, 1, 2]
    assert there.feature_names_in_.tolist() == names
    for method in ("predict", "predict_proba", "decision_function"):
        found, known = getattr(there, method)(table[names]), getattr(here, method)(frame[names])
        assert is_dask(found)
        assert found.dtype == known.dtype
        np.testing.assert_allclose(found.compute(), known, atol=1e-9)
    assert there.score(table[names], table["kind"], table["w"]) == pytest.approx(
        here.score(frame[names], frame["kind"], frame["w"])
    )
    with pytest.raises(spdpeg.InputError, match="other names"):
        there.predict(table[names[::-1]])
    with pytest.raises(spdpeg.InputError, match="one class only, 0"):
        FusedLogisticRegression().fit(table[names], table["kind"] * 0)


def test_a_path_and_a_score_of_numbers(client: Any, rows: Any) -> None:
    X, y, _ = rows
    dX, dy = cut(X, y)
    model = FusedLasso(tol=1e-8)
    there, here = (spdpeg.path(model, *data, n_lam1=2, n_lam2=1) for data in ((dX, dy), (X, y)))
    np.testing.assert_allclose(there.coef, here.coef, atol=1e-10)
    model.fit(dX, dy)
    assert model.score(dX, dy) == pytest.approx(model.score(X, y), rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_folds_are_rows_of_weight_0(client: Any, rows: Any, weighted: bool) -> None:
    X, y, weights = rows
    kinds = np.digitize(y, [-1.0, 1.0] if weighted else [0.0])
    dX, dy, dk, dw = cut(X, y, kinds, weights)
    used = weights > 0.0 if weighted else np.ones(ROWS, dtype=bool)  # numbers count the rows that are left
    folds = folds_of(np.arange(used.sum()), 3)
    assert np.bincount(folds.astype(int)).min() > 40
    split = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(3)]
    squared, logistic = {"n_lam2": 2}, {"n_lam2": 1, "class_weight": "balanced"}
    for kind, more, there_y, here_y in (
        (FusedLassoCV, squared, dy, y),
        (FusedLogisticRegressionCV, logistic, dk, kinds),
    ):
        settings = {"n_lam1": 2, "tol": 1e-10, **more}
        there = kind(**settings, cv=3).fit(dX, there_y, dw if weighted else None)
        here = kind(**settings, cv=split).fit(X[used], here_y[used], weights[used] if weighted else None)
        np.testing.assert_allclose(there.scores_, here.scores_, rtol=1e-7)
        assert (there.lam1_, there.lam2_) == pytest.approx((here.lam1_, here.lam2_))
        np.testing.assert_allclose(there.coef_, here.coef_, atol=1e-6)


def test_fits_of_a_cross_validation_take_few_rounds(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((4000, 6))
    y = X @ np.repeat([1.0, -0.5], 3) + rng.logistic(size=4000) > 0.0
    waits, honest = [], rounds.Rounds._result
    monkeypatch.setattr(rounds.Rounds, "_result", lambda *arguments: waits.append(0) or honest(*arguments))
    model = FusedLogisticRegressionCV(n_lam1=3, n_lam2=3, cv=3, tol=1e-5)
    model.fit(da.from_array(X, chunks=(1000, 6)), da.from_array(y, chunks=1000))
    assert model.certificate_.met is not None
    assert len(waits) <= 5 * (3 * 3 * 3 + 1)


def test_partitions_are_a_stream_for_spdpeg(client: Any, rows: Any) -> None:
    X, y, _ = rows
    dX, dy = cut(X, y > 0.0)
    arguments = terms(losses.Logistic(), operators.FirstDifference())
    chunks = [(X[i : i + CHUNK], (y > 0.0)[i : i + CHUNK]) for i in range(0, ROWS, CHUNK)]
    there = spdpeg.solve(spdpeg.Problem(dX, dy, **{**arguments, "intercept": 1.0}), "spdpeg", max_passes=1)
    stream = spdpeg.Problem(spdpeg.data.Stream(lambda: iter(chunks)), **{**arguments, "intercept": 1.0})
    assert np.array_equal(there.x, spdpeg.solve(stream, "spdpeg", max_passes=1).x)
    learner, known = FusedLogisticRegression(random_state=0), FusedLogisticRegression(random_state=0)
    learner.partial_fit(dX, dy, classes=[False, True])
    for chunk in chunks:
        known.partial_fit(*chunk, classes=[False, True])
    assert np.array_equal(learner.coef_, known.coef_)
    # One pass through `fit`, too; what is seen once proves nothing.
    once = FusedLogisticRegression(solver="spdpeg", max_passes=1, random_state=0).fit(dX, dy)
    assert once.certificate_ is None
    assert once.score(dX, dy) > 0.8


def test_what_needs_single_rows_is_refused(client: Any, rows: Any) -> None:
    X, y, _ = rows
    dX, dy = cut(X, y)
    smooth = spdpeg.Problem(dX, dy, **terms(losses.Squared(), operators.FirstDifference()))
    with pytest.raises(spdpeg.UnsupportedError, match=r'reads single rows.*Use "auto"'):
        spdpeg.solve(smooth, "vr-spdpeg")
    with pytest.raises(spdpeg.UnsupportedError, match="Use a smooth loss"):
        spdpeg.solve(spdpeg.Problem(dX, dy > 0.0, loss=losses.Hinge(), r1=penalties.L1(0.1)))
    with pytest.raises(spdpeg.UnsupportedError, match="Give cv a number"):
        FusedLassoCV(cv=[(np.arange(5), np.arange(5, 9))]).fit(dX, dy)
    with pytest.raises(spdpeg.UnsupportedError, match="Choose 'cv'"):
        FusedLassoCV(criterion="bic").fit(dX, dy)
    with pytest.raises(spdpeg.UnsupportedError, match="Learn it from a sample"):
        GraphGuidedLogisticRegression().fit(dX, dy > 0.0)
    with pytest.raises(spdpeg.UnsupportedError, match="Choose multi_class='ovr'"):
        FusedLogisticRegression(multi_class="multinomial").fit(dX, da.digitize(dy, np.array([-1.0, 1.0])))
    with pytest.raises(spdpeg.UnsupportedError, match="offset"):
        spdpeg.Problem(dX, dy, loss=losses.Squared(), offset=y)


def test_what_is_slow_to_arrive_or_lost_on_its_way_is_waited_for(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    honest, tries = distributed.Future.result, []

    def over_a_bad_line(self: Any, timeout: float) -> Any:
        tries.append(timeout)
        if len(tries) == 1:
            raise OSError("the worker died")
        if timeout < 2.0:
            raise TimeoutError("two seconds are what it takes")
        return honest(self, timeout)

    monkeypatch.setattr(distributed.Future, "result", over_a_bad_line)
    monkeypatch.setattr(rounds, "_POLL", 0.05)
    with dask.config.set({"spdpeg.time-limit": "3s"}):
        found = rounds.Rounds(client, range(2)).gathered(client.map(abs, [-1, -2], pure=False))
    assert found == [1, 2]
    assert len(tries) == 2
