"""Data that are read in blocks: several Parquet files, directories, what `spdpeg convert` wrote."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from spdpeg import cli, data, files, load_model

FIT = ["--model", "fused-logistic", "--lam1", "1e-3", "--lam2", "1e-2", "--seed", "0", "--json"]
NAMES = [f"c{j}" for j in range(6)]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same rows as text and as Parquet in two files."""
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((300, 6)) * (rng.random((300, 6)) < 0.7), 6)
    y = np.where(X @ [1.0, 1.0, 1.0, 0.0, 0.0, 0.0] + rng.standard_normal(300) > 0, 1.0, -1.0)
    place = tmp_path_factory.mktemp("data")
    lines = [",".join(map(repr, row)) for row in np.column_stack([X, y]).tolist()]
    (place / "rows.csv").write_text("\n".join([",".join([*NAMES, "y"]), *lines]))
    dump_svmlight_file(X, y, str(place / "rows.libsvm"), zero_based=False)
    (place / "parts").mkdir()
    for number, some in enumerate((slice(0, 120), slice(120, 300))):
        columns = {**dict(zip(NAMES, X[some].T, strict=True)), "y": y[some]}
        pq.write_table(pa.table(columns), place / "parts" / f"{number}.parquet")
    return place


def told(capsys: Any, *arguments: Any) -> Any:
    assert cli.main([*map(str, arguments)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return json.loads(out)


def test_fit_and_predict_in_blocks(directory: Path, tmp_path: Path, capsys: Any) -> None:
    whole = told(capsys, "fit", directory / "rows.csv", *FIT)
    parts = sorted((directory / "parts").iterdir())
    for given in ([directory / "parts"], parts):
        found = told(capsys, "fit", *given, "--target", "y", *FIT, "-o", tmp_path / "model")
        assert found["rows"] == 300
        assert found["objective"] == pytest.approx(whole["objective"], rel=1e-4)
    scores = told(capsys, "predict", tmp_path / "model", directory / "parts", "--target", "y", "--json")
    assert scores["score"] > 0.7
    streamed = told(capsys, "fit", directory / "parts", "--target", "y", "--stream", *FIT)
    assert streamed["rows"] == 300
    lam = ["--n-lam1", "2", "--n-lam2", "2"]
    assert told(capsys, "path", directory / "parts", "--model", "fused-logistic", *lam, "--json")["rows"] == 300


@pytest.mark.parametrize("name", ["rows.csv", "rows.libsvm", "parts"])
def test_convert_and_fit(name: str, directory: Path, tmp_path: Path, capsys: Any) -> None:
    whole = told(capsys, "fit", directory / "rows.csv", *FIT)
    made = told(capsys, "convert", directory / name, tmp_path / "rows.spdpeg", "--json")
    assert (made["rows"], made["columns"]) == (300, 6)
    assert made["kind"] == ("csr" if name == "rows.libsvm" else "dense")
    found = told(capsys, "fit", tmp_path / "rows.spdpeg", *FIT)
    assert found["objective"] == pytest.approx(whole["objective"], rel=1e-4)
    rows = data.open_rows(tmp_path / "rows.spdpeg")
    assert rows.labels is not None
    assert rows.shape == (300, 6)


def test_what_convert_refuses(directory: Path, tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "bad.csv").write_text("a,b,y\n1,2,0\n1,x,1\n")
    for arguments, message in [
        (["convert", tmp_path / "bad.csv", tmp_path / "out"], "bad.csv"),
        (["convert", directory / "rows.csv", directory / "rows.csv"], "is a file"),
        (["info", directory / "rows.csv", directory / "rows.csv"], "cannot be read"),
    ]:
        assert cli.main([*map(str, arguments)]) == 1
        assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_labels_choose_a_model_that_nobody_names(directory: Path, tmp_path: Path, capsys: Any) -> None:
    X = np.random.default_rng(0).standard_normal((60, 2))
    texts = {
        "text": np.where(X[:, 0] > 0.0, "yes", "no").tolist(),
        "two": np.where(X[:, 0] > 0.0, 1, 0).tolist(),
        "numbers": np.round(X[:, 0], 3).tolist(),
    }
    for name, labels in texts.items():
        lines = [f"{a},{b},{label}" for (a, b), label in zip(X.tolist(), labels, strict=True)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["a,b,y", *lines]))
        model = "FusedLasso" if name == "numbers" else "FusedLogisticRegression"
        assert told(capsys, "fit", tmp_path / f"{name}.csv", "--json")["model"] == model
        assert told(capsys, "path", tmp_path / f"{name}.csv", "--n-lam1", 1, "--n-lam2", 1, "--json")["model"] == model
    # Labels of text are kept by `convert`, and `info` shows them.
    told(capsys, "convert", tmp_path / "text.csv", tmp_path / "text.spdpeg", "--json")
    known = told(capsys, "fit", tmp_path / "text.csv", "--json")
    found = told(capsys, "fit", tmp_path / "text.spdpeg", "--json")
    assert found["classes"] == known["classes"] == ["no", "yes"]
    assert found["objective"] == pytest.approx(known["objective"], rel=1e-4)
    shown = told(capsys, "info", tmp_path / "text.spdpeg", "--json")
    assert (shown["rows"], shown["features"]) == (60, 2)
    assert shown["labels"] == {name: texts["text"].count(name) for name in ("no", "yes")}
    assert told(capsys, "info", directory / "parts", "--target", "y", "--json")["names"] == NAMES
    assert cli.main(["fit", str(tmp_path / "text.csv"), "--stream"]) == 1
    assert "Name the model with --model" in capsys.readouterr().err


def test_parquet_in_chunks(directory: Path) -> None:
    chunks = list(files.stream(directory / "parts" / "1.parquet", 50))
    assert [chunk.X.shape for chunk in chunks] == [(50, 6)] * 3 + [(30, 6)]
    whole = files.read(directory / "parts" / "1.parquet")
    np.testing.assert_array_equal(np.concatenate([chunk.X for chunk in chunks]), whole.X)
    assert not sp.issparse(whole.X)


def test_text_in_blocks(tmp_path: Path, capsys: Any) -> None:
    rng = np.random.default_rng(0)
    for place, cities in (("train", ["Oslo", "Rome", "Bern"]), ("test", ["Rome"])):
        (tmp_path / place).mkdir()
        for number, some in enumerate((cities[:2], cities)):
            city, size = rng.choice(some, 80), rng.standard_normal(80)
            texts = {"city": pa.array(city.tolist()).dictionary_encode(), "land": pa.array(["x", "y"] * 40)}
            price = 2.0 * size + 3.0 * (city == "Rome") + 0.1 * rng.standard_normal(80)
            pq.write_table(pa.table({**texts, "size": size, "price": price}), tmp_path / place / f"{number}.parquet")
    fit = ["--model", "fused-lasso", "--lam1", "1e-3", "--lam2", "0", "--json", "-o", tmp_path / "model"]
    told(capsys, "fit", tmp_path / "train", *fit, "--categorical", "land")
    names = ["city=Bern", "city=Oslo", "city=Rome", "land=x", "land=y", "size"]
    assert load_model(tmp_path / "model").feature_names_in_.tolist() == names
    assert told(capsys, "predict", tmp_path / "model", tmp_path / "test", "--json")["score"] > 0.9
    one = told(capsys, "predict", tmp_path / "model", tmp_path / "test" / "0.parquet", "--json")
    assert one["score"] > 0.9
    # Without labels, and in another order.
    bare = pq.read_table(tmp_path / "test" / "0.parquet").select(["size", "land", "city"])
    (tmp_path / "bare").mkdir()
    pq.write_table(bare, tmp_path / "bare" / "0.parquet")
    found = told(capsys, "predict", tmp_path / "model", tmp_path / "bare", "--json")
    assert found["predictions"] == pytest.approx(one["predictions"])
    made = told(capsys, "convert", tmp_path / "train" / "1.parquet", tmp_path / "rows", "--drop", "land", "--json")
    assert made["columns"] == 4


def test_text_of_a_converted_table(tmp_path: Path, capsys: Any) -> None:
    rng = np.random.default_rng(0)
    city, size = rng.choice(["Oslo", "Rome", "Bern"], 90), rng.standard_normal(90)
    price = 2.0 * size + 3.0 * (city == "Rome")
    rows = [",".join(map(str, row)) for row in zip(city, size, price, strict=True)]
    (tmp_path / "train.csv").write_text("\n".join(["city,size,price", *rows[:60]]))
    (tmp_path / "test.csv").write_text("\n".join(["city,size,price", *rows[60:]]))
    fit = ["--model", "fused-lasso", "--lam1", "1e-3", "--lam2", "0", "--json", "-o", tmp_path / "model"]
    made = told(capsys, "convert", tmp_path / "train.csv", tmp_path / "rows", "--categorical", "city", "--json")
    assert (made["rows"], made["columns"]) == (60, 4)
    names = ["city=Bern", "city=Oslo", "city=Rome", "size"]
    assert told(capsys, "info", tmp_path / "rows", "--json")["names"] == names
    told(capsys, "fit", tmp_path / "rows", *fit)
    assert load_model(tmp_path / "model").feature_names_in_.tolist() == names
    # The model knows the columns by name, so that it predicts for the text as it stands.
    assert told(capsys, "predict", tmp_path / "model", tmp_path / "test.csv", "--json")["score"] > 0.9
    assert told(capsys, "predict", tmp_path / "model", tmp_path / "rows", "--json")["score"] > 0.9
    stream = ["--stream", "--categorical", "city"]
    assert told(capsys, "fit", tmp_path / "train.csv", *fit, *stream)["rows"] == 60
