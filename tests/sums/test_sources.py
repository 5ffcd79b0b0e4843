"""The same problems in memory, from memory maps, from Parquet and from Arrow; and through the estimators."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import data, losses, operators, penalties
from spdpeg.data.blocks import data_matrix
from spdpeg.estimators import (
    FusedLasso,
    FusedLassoCV,
    FusedLogisticRegression,
    GraphGuidedLogisticRegression,
    TrendFilter,
)
from spdpeg.sums import blocks

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROWS, COLUMNS = 900, 10


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (blocks, data.tables, data.arrow):
        monkeypatch.setattr(module, "BLOCK_ENTRIES", 1900)


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X, numbers to learn and weights."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, COLUMNS))
    y = X @ np.repeat([1.0, -0.5], 5) + 0.3 + 0.5 * rng.standard_normal(ROWS)
    return X, y, rng.random(ROWS) + 0.1


@pytest.fixture(scope="module")
def directory(rows: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Parquet files with row groups of odd sizes, and memory maps."""
    X, y, _ = rows
    place = tmp_path_factory.mktemp("sources")
    (place / "parquet").mkdir()
    for number, some in enumerate((slice(0, 333), slice(333, ROWS))):
        columns = {f"c{j}": X[some, j] for j in range(COLUMNS)}
        columns |= {"y": y[some], "kind": np.where(y[some] > 0, "up", "down")}
        pq.write_table(pa.table(columns), place / "parquet" / f"part-{number}.parquet", row_group_size=100)
    data.write_dense(place / "dense", [(X, y)])
    data.write_csr(place / "csr", [(sp.csr_array(X), y)])
    return place


def features() -> list[str]:
    return [f"c{j}" for j in range(COLUMNS)]


def parquet(directory: Path, target: str = "y") -> data.Tables:
    return data.open_parquet(directory / "parquet", target=target, columns=features())


def sources(directory: Path) -> dict[str, data.Source]:
    return {
        "dense": data.open_dense(directory / "dense")[0],
        "csr": data.open_csr(directory / "csr")[0],
        "parquet": parquet(directory),
        "arrow": data.from_arrow(pq.read_table(directory / "parquet"), target="y", columns=features()),
    }


TERMS = {
    "chain": {"r1": penalties.L1(0.01), "r2": penalties.L1(0.02), "F": operators.FirstDifference()},
    "graph": {"r1": penalties.L1(0.01), "r2": penalties.L1(0.02), "F": operators.GraphDifference([(0, 5), (2, 7)])},
    "trend": {"r2": penalties.L1(0.02), "F": operators.Difference(2)},
}


@pytest.mark.parametrize(
    ("loss", "terms", "weighted", "intercept"),
    [
        (losses.Logistic(), "chain", True, True),
        (losses.Squared(), "graph", False, True),
        (losses.Huber(0.5), "trend", True, False),
    ],
    ids=["logistic", "squared", "huber"],
)
def test_rows_may_live_anywhere(
    loss: losses.Loss, terms: str, weighted: bool, intercept: bool, rows: Any, directory: Path
) -> None:
    X, y, w = rows
    labels = y > 0 if loss.binary else y
    options = {**TERMS[terms], "loss": loss, "sample_weight": w if weighted else None, "intercept": intercept}
    known = spdpeg.Problem(X, labels, **options)
    here = spdpeg.solve(known, "prox-newton", tol=1e-12)
    for name, source in sources(directory).items():
        problem = spdpeg.Problem(source, labels, **options)
        found = spdpeg.solve(problem, "prox-newton", tol=1e-12)
        assert found.certificate.met is not None, name
        assert found.objective == pytest.approx(here.objective, abs=1e-10), name
        for one, other in zip(problem.split(found.x), known.split(here.x), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-8, err_msg=name)
        two = spdpeg.solve(problem, "prox-newton", tol=1e-12, n_jobs=2)
        assert two.x.tobytes() == found.x.tobytes(), name


def test_estimators_take_sources(rows: Any, directory: Path) -> None:
    X, y, _ = rows
    here = FusedLasso(0.01, 0.02, tol=1e-10).fit(X, y)
    for source in (parquet(directory), *sources(directory).values()):
        there = FusedLasso(0.01, 0.02, tol=1e-10).fit(source, y)
        np.testing.assert_allclose(there.coef_, here.coef_, atol=1e-6)
        np.testing.assert_allclose(there.predict(source), here.predict(X), atol=1e-6)
    assert there.feature_names_in_.tolist() == features()
    brings = FusedLogisticRegression(0.01, 0.02, tol=1e-8).fit(parquet(directory, "kind"))
    assert brings.classes_.tolist() == ["down", "up"]
    memory = FusedLogisticRegression(0.01, 0.02, tol=1e-8).fit(X, np.where(y > 0, "up", "down"))
    np.testing.assert_allclose(brings.coef_, memory.coef_, atol=1e-5)
    assert brings.score(parquet(directory), np.where(y > 0, "up", "down")) > 0.8


def test_weights_of_zero_drop_rows_of_a_source(rows: Any, directory: Path) -> None:
    X, y, w = rows
    w = np.where(np.arange(ROWS) % 3, w, 0.0)
    here = FusedLasso(0.01, 0.02, tol=1e-10).fit(X, y, w)
    there = FusedLasso(0.01, 0.02, tol=1e-10).fit(parquet(directory), sample_weight=w)
    np.testing.assert_allclose(there.coef_, here.coef_, atol=1e-6)


def test_folds_of_a_source_stay_on_disk(rows: Any, directory: Path) -> None:
    X, y, _ = rows
    grids = {"n_lam1": 2, "n_lam2": 2, "cv": 2, "tol": 1e-8}
    here = FusedLassoCV(**grids).fit(X, y)
    for source in (parquet(directory), data.open_dense(directory / "dense")[0]):
        there = FusedLassoCV(**grids).fit(source, y)
        np.testing.assert_allclose(there.scores_, here.scores_, atol=1e-6)


def test_streams_of_sources(rows: Any, directory: Path) -> None:
    _, y, _ = rows
    streamed = spdpeg.solve(
        spdpeg.Problem(parquet(directory), loss=losses.Squared(), **TERMS["chain"]), "spdpeg", max_passes=3
    )
    assert streamed.state.rows == 3 * ROWS
    model = FusedLasso(0.01, 0.02, random_state=0).partial_fit(parquet(directory))
    assert model.score(parquet(directory), y) > 0.5
    classes = FusedLogisticRegression(0.01, 0.02, random_state=0).partial_fit(parquet(directory, "kind"))
    assert classes.classes_.tolist() == ["down", "up"]


def test_lazy_frames(rows: Any, directory: Path) -> None:
    polars = pytest.importorskip("polars")
    X, y, _ = rows
    frame = polars.scan_parquet(directory / "parquet" / "*.parquet")
    here = FusedLasso(0.01, 0.02, tol=1e-10).fit(X, y)
    model = FusedLasso(0.01, 0.02, tol=1e-10).fit(frame.select(features()), y)
    np.testing.assert_allclose(model.coef_, here.coef_, atol=1e-6)
    assert data.from_arrow(frame, target="kind", columns=features()).labels[0] in ("up", "down")


@pytest.mark.parametrize("solver", ["vr-spdpeg", "sdca-admm", "condat-vu", "sampled-newton"])
def test_methods_that_need_rows_name_what_to_use_instead(solver: str, directory: Path) -> None:
    problem = spdpeg.Problem(parquet(directory), loss=losses.Squared(), **TERMS["chain"])
    with pytest.raises(spdpeg.UnsupportedError, match="prox-newton"):
        spdpeg.solve(problem, solver)


def test_what_cannot_be_read_in_blocks_is_refused(rows: Any, directory: Path, tmp_path: Path) -> None:
    source = parquet(directory)
    with pytest.raises(spdpeg.UnsupportedError, match="structure"):
        GraphGuidedLogisticRegression("knn").fit(parquet(directory, "kind"))
    with pytest.raises(spdpeg.UnsupportedError, match="positions"):
        TrendFilter().fit(data.open_parquet(directory / "parquet", target="y", columns=["c0"]))
    with pytest.raises(spdpeg.UnsupportedError, match="read only once"):
        data.from_arrow(pq.read_table(directory / "parquet").to_reader())
    with pytest.raises(spdpeg.InputError, match="column 'kind'"):
        FusedLasso().fit(data.open_parquet(directory / "parquet", target="y"))
    with pytest.raises(spdpeg.InputError, match="no column 'z'"):
        data.open_parquet(directory / "parquet", target="z")
    with pytest.raises(spdpeg.InputError, match="no Parquet file"):
        data.open_parquet(tmp_path / "nothing-*.parquet")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 is no file")
    with pytest.raises(spdpeg.InputError, match="cannot be read"):
        data.open_parquet(tmp_path / "bad.parquet")
    with pytest.raises(spdpeg.InputError, match="3 columns, but FusedLasso"):
        FusedLasso().fit(source).predict(data.open_parquet(directory / "parquet", columns=["c0", "c1", "c2"]))
    with pytest.raises(spdpeg.UnsupportedError, match="block by block"):
        spdpeg.solve(spdpeg.Problem(source, loss=losses.Quantile(0.5), **TERMS["chain"]))


def test_a_sample_has_the_labels_of_its_rows(rows: Any, directory: Path) -> None:
    X, y, w = rows
    for name, source in sources(directory).items():
        sample = spdpeg.Problem(source, y, loss=losses.Squared(), sample_weight=w).view.sums.sample(60)
        if sample is None:
            assert name == "arrow", "a stream of batches has no places to begin at"
            continue
        matrix = data_matrix(sample.block.rows)
        table = matrix.toarray() if sp.issparse(matrix) else matrix
        places = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in table]
        np.testing.assert_array_equal(sample.block.labels, y[places])
        np.testing.assert_allclose(sample.block.weights, w[places] / w.mean())
        assert 40 <= len(set(places)) == len(places) <= sample.read
        assert max(places) > ROWS // 2


def test_a_number_that_is_missing_is_found_with_its_row(rows: Any, tmp_path: Path) -> None:
    X, y, _ = (part.copy() for part in rows)
    X[417, 3] = np.nan
    pq.write_table(pa.table({f"c{j}": X[:, j] for j in range(COLUMNS)} | {"y": y}), tmp_path / "nan.parquet")
    with pytest.raises(spdpeg.InputError, match="row 417"):
        FusedLasso().fit(data.open_parquet(tmp_path / "nan.parquet", target="y"))


def test_files_that_change_are_noticed(rows: Any, tmp_path: Path) -> None:
    X, y, _ = rows
    table = pa.table({f"c{j}": X[:, j] for j in range(COLUMNS)} | {"y": y})
    pq.write_table(table, tmp_path / "part.parquet")
    source = data.open_parquet(tmp_path, target="y")
    pq.write_table(table.slice(0, 500), tmp_path / "part.parquet")
    with pytest.raises(spdpeg.InputError, match=r"other rows than when it was opened|cannot be read"):
        FusedLasso().fit(source)
