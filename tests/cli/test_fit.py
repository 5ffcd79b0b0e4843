"""From a data file to a model, what it says about itself, and predictions; and every way in which that can fail."""

import errno
import json
import lzma
import os
import subprocess
import sys
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

import spdpeg
from spdpeg import cli, files
from spdpeg.model_file import load_model

FIT = ["--model", "fused-logistic", "--lam1", "1e-3", "--lam2", "1e-2", "--seed", "0"]
NAMES = [f"gene {j}" for j in range(15)]


@pytest.fixture(scope="module")
def rows():
    X, y, _ = spdpeg.datasets.piecewise_constant(400, 15, n_pieces=4, seed=0)
    return np.round(X, 6), y


@pytest.fixture(scope="module")
def data(rows, tmp_path_factory):
    """The same rows in every format."""
    directory = tmp_path_factory.mktemp("data")
    X, y = rows
    dump_svmlight_file(X, y, str(directory / "plain"), zero_based=False)
    (directory / "libsvm.xz").write_bytes(lzma.compress((directory / "plain").read_bytes()))
    table = "\n".join(",".join(map(repr, row)) for row in np.column_stack([X, y]).tolist())
    (directory / "headed.csv").write_text(",".join([*NAMES, "ill"]) + "\n" + table)
    (directory / "bare.csv").write_text(table)
    np.savez(directory / "dense.npz", X=X, y=y)
    pq.write_table(pa.table({**dict(zip(NAMES, X.T, strict=True)), "ill": y}), directory / "table.parquet")
    return directory


@pytest.fixture(scope="module")
def model(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "fused.model"
    assert cli.main(["fit", str(data / "headed.csv"), *FIT, "-o", str(path)]) == 0
    return path


def run(capsys, *arguments):
    """Standard output of a command that succeeds and says nothing else."""
    assert cli.main([*map(str, arguments)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def refused(capsys, *arguments):
    """The one line of a command that fails."""
    assert cli.main([*map(str, arguments)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("spdpeg: ")
    assert err.count("\n") == 1
    return err


def test_round_trip(rows, data, tmp_path, capsys):
    X, y = rows
    path = tmp_path / "fused.model"
    out = run(capsys, "fit", data / "libsvm.xz", *FIT, "-o", path)
    for text in ("400", "15", "FusedLogisticRegression", "relative gap", str(path)[:20]):
        assert text in out
    estimator = spdpeg.estimators.FusedLogisticRegression(lam1=1e-3, lam2=1e-2, random_state=0)
    estimator.fit(sp.csr_array(X), y)
    loaded = load_model(path)
    np.testing.assert_allclose(loaded.coef_, estimator.coef_, rtol=1e-8)
    assert loaded.get_params() == estimator.get_params()

    out = run(capsys, "info", path)
    for text in ("FusedLogisticRegression", "lam2: 0.01", "relative gap", f"spdpeg {spdpeg.__version__}"):
        assert text in out

    predictions = np.array(run(capsys, "predict", path, data / "plain").split(), dtype=float)
    np.testing.assert_array_equal(predictions, estimator.predict(X))


@pytest.mark.parametrize("file", ["headed.csv", "bare.csv", "dense.npz", "table.parquet"])
def test_every_format_gives_the_same_model(file, data, model, tmp_path, capsys):
    run(capsys, "fit", data / file, *FIT, "-o", tmp_path / "m")
    np.testing.assert_allclose(load_model(tmp_path / "m").coef_, load_model(model).coef_, rtol=1e-8)


def test_fit_as_json(data, tmp_path, capsys):
    out = json.loads(run(capsys, "fit", data / "bare.csv", *FIT, "-o", tmp_path / "m", "--json"))
    loaded = load_model(tmp_path / "m")
    assert out["rows"] == 400
    assert out["features"] == 15
    assert out["classes"] == loaded.classes_.tolist()
    assert out["objective"] == loaded.objective_
    assert out["relative_gap"] == loaded.certificate_.rel_gap <= 1e-4
    assert out["tolerance_met"] is True
    assert out["nonzero_coefficients"] == np.count_nonzero(loaded.coef_)
    assert out["written_to"] == str(tmp_path / "m")


def test_fit_without_a_file_to_write_only_tells(data, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert "written to" not in run(capsys, "fit", data / "bare.csv", *FIT)
    assert os.listdir(tmp_path) == []


def test_a_budget_that_is_too_small_is_a_warning(data, tmp_path, capsys):
    arguments = ["fit", str(data / "bare.csv"), *FIT, "--passes", "1", "--tol", "1e-12", "-o", str(tmp_path / "m")]
    assert cli.main([*arguments, "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["tolerance_met"] is False
    assert err.startswith("spdpeg: warning: FusedLogisticRegression ended after")
    assert ".py" not in err


def test_info_on_data(data, capsys):
    out = json.loads(run(capsys, "info", data / "headed.csv", "--json"))
    assert (out["rows"], out["features"], out["names"]) == (400, 15, NAMES)
    assert sum(out["labels"].values()) == 400
    assert "array" in run(capsys, "info", data / "dense.npz")
    assert "sparse matrix" in run(capsys, "info", data / "libsvm.xz")


def test_info_on_a_model_names_the_largest_coefficients(model, capsys):
    out = json.loads(run(capsys, "info", model, "--json"))
    coef = load_model(model).coef_[0]
    assert set(out["largest_coefficients"]) <= set(NAMES)
    assert max(map(abs, out["largest_coefficients"].values())) == np.abs(coef).max()


def test_predict_to_a_file_tells_the_score(rows, data, model, tmp_path, capsys):
    out = json.loads(run(capsys, "predict", model, data / "headed.csv", "-o", tmp_path / "p", "--json"))
    predictions = np.array((tmp_path / "p").read_text().split(), dtype=float)
    assert out["rows"] == 400
    assert out["score"] == np.mean(predictions == rows[1]) > 0.8


def test_predict_probabilities(model, data, capsys):
    lines = run(capsys, "predict", model, data / "headed.csv", "--proba").splitlines()
    assert lines[0] == ",".join(f"{label:g}" for label in load_model(model).classes_)
    probabilities = np.array([line.split(",") for line in lines[1:]], dtype=float)
    assert probabilities.shape == (400, 2)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


def test_predict_without_labels(rows, model, tmp_path, capsys):
    np.savez(tmp_path / "new.npz", X=rows[0])
    np.savetxt(tmp_path / "new.csv", rows[0], delimiter=",", fmt="%.17g")
    from_array = json.loads(run(capsys, "predict", model, tmp_path / "new.npz", "--json"))
    from_text = json.loads(run(capsys, "predict", model, tmp_path / "new.csv", "--json"))
    assert from_array == from_text
    assert from_array["score"] is None


def test_predict_finds_columns_by_name(rows, model, data, tmp_path, capsys):
    shuffled = np.random.default_rng(0).permutation(15)
    lines = [",".join(NAMES[j] for j in shuffled), *(",".join(map(repr, row)) for row in rows[0][:, shuffled].tolist())]
    (tmp_path / "shuffled.csv").write_text("\n".join(lines))
    assert run(capsys, "predict", model, tmp_path / "shuffled.csv") == run(
        capsys, "predict", model, data / "headed.csv"
    )
    (tmp_path / "other.csv").write_text("\n".join([lines[0].replace("gene 3", "gene x"), *lines[1:]]))
    assert "no column 'gene 3'" in refused(capsys, "predict", model, tmp_path / "other.csv")


def test_text_labels(rows, tmp_path, capsys):
    X, y = rows
    lines = [
        ",".join([*map(repr, row), "ill" if label > 0 else "well"]) for row, label in zip(X.tolist(), y, strict=True)
    ]
    (tmp_path / "data.csv").write_text("\n".join(lines))
    run(capsys, "fit", tmp_path / "data.csv", *FIT, "-o", tmp_path / "m")
    assert set(run(capsys, "predict", tmp_path / "m", tmp_path / "data.csv").split()) == {"ill", "well"}


def test_regression_and_options_of_models(rows, data, tmp_path, capsys):
    X, _ = rows
    np.savez(tmp_path / "numbers.npz", X=X, y=X @ np.linspace(-1, 1, 15))
    sp.save_npz(tmp_path / "F.npz", sp.csr_array(np.eye(15)[:3]))
    sp.save_npz(tmp_path / "graph.npz", sp.csr_array(np.ones((15, 15)) - np.eye(15)))
    for options in (
        ["fused-lasso"],
        ["fused-lasso", "--no-intercept", "--solver", "prox-newton", "--tol", "1e-6"],
        ["generalized-lasso", "--F", tmp_path / "F.npz"],
        ["graph-guided", "--structure", "chain", "--r1", "l1"],
        ["graph-guided", "--structure", "3x5"],
        ["graph-guided", "--structure", tmp_path / "graph.npz"],
        ["total-variation", "--shape", "3x5"],
        ["low-rank", "--shape", "3x5"],
    ):
        run(capsys, "fit", tmp_path / "numbers.npz", "--seed", "0", "--model", *options, "-o", tmp_path / "m")
        assert "lam" in run(capsys, "info", tmp_path / "m")
        assert json.loads(run(capsys, "predict", tmp_path / "m", tmp_path / "numbers.npz", "--json"))["score"] > 0.8


def test_all_classes_at_once(rows, tmp_path, capsys):
    X, _ = rows
    np.savez(tmp_path / "thirds.npz", X=X, y=np.digitize(X[:, :4].sum(axis=1), [-1.0, 1.0]))
    out = json.loads(
        run(
            capsys, "fit", tmp_path / "thirds.npz", *FIT, "--multi-class", "multinomial", "-o", tmp_path / "m", "--json"
        )
    )
    assert out["classes"] == [0, 1, 2]
    assert out["relative_gap"] <= 1e-4
    predicted = json.loads(run(capsys, "predict", tmp_path / "m", tmp_path / "thirds.npz", "--proba", "--json"))
    np.testing.assert_allclose(np.sum(predicted["predictions"], axis=1), 1.0)
    assert predicted["score"] > 0.8
    assert "cannot learn from a stream" in refused(
        capsys, "fit", tmp_path / "thirds.npz", *FIT, "--multi-class", "multinomial", "--stream"
    )


def test_an_option_that_the_model_does_not_have(data, capsys):
    message = refused(capsys, "fit", data / "bare.csv", *FIT, "--shape", "3x5")
    assert "fused-logistic has no option --shape. It has: --lam1, --lam2" in message


@pytest.mark.parametrize(
    "arguments",
    [["--model", "magic"], [*FIT, "--shape", "3y5"], [*FIT, "--F", "/no/such/file"], [*FIT, "--format", "xls"]],
)
def test_wrong_usage(arguments, data, capsys):
    with pytest.raises(SystemExit) as exit:
        cli.main(["fit", str(data / "bare.csv"), *arguments])
    assert exit.value.code == 2
    assert "usage" in capsys.readouterr().err


def damaged(data, directory, how):
    """A file made of the good one, and what is to be said about it."""
    text = (data / "headed.csv").read_text().splitlines()
    if how == "truncated":
        content = (data / "libsvm.xz").read_bytes()
        return written(directory / "data.xz", content[: len(content) // 2]), "truncated or damaged"
    if how == "nan":
        text[100] = "nan," + text[100].partition(",")[2]
        return written(directory / "data.csv", "\n".join(text).encode()), "NaN or infinite entry in line 101"
    if how == "columns":
        text[100] += ",1.0"
        return written(directory / "data.csv", "\n".join(text).encode()), "line 101: 17 columns where 16 are expected"
    if how == "malformed":
        text[100] = "x" + text[100]
        return written(directory / "data.csv", "\n".join(text).encode()), "line 101: column 1 (gene 0) holds 'x"
    if how == "page":
        return written(directory / "data.xz", b"<!DOCTYPE html>"), "web page"
    if how == "labels":
        np.savez(directory / "data.npz", X=np.eye(3))
        return directory / "data.npz", "has no labels"
    return directory / "nothing", "No such file or directory"


def written(path, content):
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("how", ["truncated", "nan", "columns", "malformed", "page", "labels", "missing"])
def test_bad_data_write_nothing(how, data, tmp_path, capsys):
    path, message = damaged(data, tmp_path, how)
    (tmp_path / "models").mkdir()
    assert message in refused(capsys, "fit", path, *FIT, "-o", tmp_path / "models" / "m")
    assert os.listdir(tmp_path / "models") == []


def test_predict_and_info_refuse_what_is_no_model(data, model, tmp_path, capsys):
    assert "is not a model of spdpeg or is damaged" in refused(capsys, "predict", data / "bare.csv", data / "bare.csv")
    content = bytearray(model.read_bytes())
    content[len(content) // 3] ^= 0xFF
    (tmp_path / "m").write_bytes(content)
    assert "is not a model of spdpeg or is damaged" in refused(capsys, "info", tmp_path / "m")
    assert "is not a model of spdpeg or is damaged" in refused(capsys, "predict", tmp_path / "m", data / "bare.csv")


def test_predict_refuses_other_columns(model, tmp_path, capsys):
    np.savez(tmp_path / "narrow.npz", X=np.ones((2, 3)))
    assert "3 columns beside the labels where 15 are expected" in refused(
        capsys, "predict", model, tmp_path / "narrow.npz"
    )


def test_no_probabilities_without_classes(rows, tmp_path, capsys):
    np.savez(tmp_path / "numbers.npz", X=rows[0], y=rows[0][:, 0])
    run(capsys, "fit", tmp_path / "numbers.npz", "--model", "fused-lasso", "-o", tmp_path / "m")
    message = refused(capsys, "predict", tmp_path / "m", tmp_path / "numbers.npz", "--proba")
    assert "FusedLasso has no probabilities" in message


def test_a_directory_that_is_not_there_is_told_before_the_work(capsys, tmp_path):
    message = refused(capsys, "fit", tmp_path / "nothing", *FIT, "-o", tmp_path / "no" / "m")
    assert "There is no directory for" in message


def test_a_full_disk(data, tmp_path, monkeypatch, capsys):
    def fail(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "m"
    path.write_bytes(b"an older model")
    assert refused(capsys, "fit", data / "bare.csv", *FIT, "-o", "/dev/full").endswith("No space left on device.\n")
    monkeypatch.setattr(os, "fsync", fail)
    message = refused(capsys, "fit", data / "bare.csv", *FIT, "-o", path)
    assert message == f"spdpeg: {path}: No space left on device.\n"
    assert os.listdir(tmp_path) == ["m"]
    assert path.read_bytes() == b"an older model"


def test_standard_output_that_is_full():
    with open("/dev/full", "wb") as full:
        ended = subprocess.run([sys.executable, "-m", "spdpeg", "solvers"], stdout=full, stderr=subprocess.PIPE)
    assert ended.returncode == 1
    assert ended.stderr == b"spdpeg: No space left on device.\n"


def test_a_stream_is_what_partial_fit_makes_of_its_chunks(rows, data, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(cli.data_options, "_CHUNK", 150)
    out = json.loads(run(capsys, "fit", data / "libsvm.xz", "--stream", *FIT, "-o", tmp_path / "m", "--json"))
    assert out["rows"] == 400
    assert out["relative_gap"] is out["tolerance_met"] is None
    estimator = spdpeg.estimators.FusedLogisticRegression(lam1=1e-3, lam2=1e-2, random_state=0)
    rng = np.random.default_rng(0)
    for chunk in files.stream(data / "plain", 150):
        order = rng.permutation(len(chunk.y))
        estimator.partial_fit(chunk.X[order], chunk.y[order], classes=np.unique(rows[1]))
    np.testing.assert_array_equal(load_model(tmp_path / "m").coef_, estimator.coef_)


@pytest.mark.parametrize("file", ["plain", "headed.csv"])
def test_standard_input_is_a_stream(file, data, tmp_path, capsys):
    arguments = [sys.executable, "-m", "spdpeg", "fit", "-", *FIT, "-o", str(tmp_path / "piped")]
    with open(data / file, "rb") as content:
        ended = subprocess.run(arguments, stdin=content, capture_output=True)
    assert ended.stderr == b""
    assert ended.returncode == 0
    run(capsys, "fit", data / file, "--stream", *FIT, "-o", tmp_path / "read")
    np.testing.assert_array_equal(load_model(tmp_path / "piped").coef_, load_model(tmp_path / "read").coef_)


@pytest.mark.parametrize(
    "text", ["1 1:1\n-1 1:1\n" * 500, "1 1:1\n" * 500 + "-1 1:1\n" * 500], ids=["alternating", "sorted"]
)
def test_the_order_of_rows_in_a_stream_does_not_matter(text, tmp_path, capsys):
    (tmp_path / "data").write_text(text)
    out = json.loads(run(capsys, "fit", tmp_path / "data", "--stream", *FIT, "--json"))
    assert out["objective"] < 1.2 * np.log(2)  # what guessing costs, and there is nothing to learn


def test_labels_of_a_stream_that_come_late(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(cli.data_options, "_CHUNK", 10)
    (tmp_path / "data").write_text("1 1:1\n2 1:2\n" * 10 + "3 1:0.5\n" * 10)
    assert "3.0" in refused(capsys, "fit", tmp_path / "data", "--stream", *FIT)
    assert "features" in run(capsys, "fit", tmp_path / "data", "--stream", *FIT, "--classes", "1,2,3")
    assert "--classes is for" in refused(capsys, "fit", tmp_path / "data", *FIT, "--classes", "1,2,3")


def test_columns_of_a_stream_that_come_late(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(cli.data_options, "_CHUNK", 10)
    (tmp_path / "data").write_text("1 1:1\n2 2:2\n" * 10 + "1 1:1 4:0.5\n" * 10)
    message = refused(capsys, "fit", tmp_path / "data", "--stream", *FIT, "-o", tmp_path / "m")
    assert "line 21: more than 2 features" in message
    assert not (tmp_path / "m").exists()
    assert "features" in run(capsys, "fit", tmp_path / "data", "--stream", *FIT, "--features", "4")


def test_a_model_that_cannot_learn_from_a_stream(data, capsys):
    assert "cannot learn from a stream" in refused(capsys, "fit", data / "plain", "--stream", "--model", "fused-svc")


def endless(pipe):
    """Write rows that teach nothing, so that the objective stays at log 2, until nobody reads them any more."""
    lines = b"1 1:0.5 2:1\n-1 1:0.5 2:1\n" * 1000
    try:
        while True:
            pipe.write(lines)
    except (BrokenPipeError, ValueError):
        pass


@pytest.mark.parametrize("source", ["file", "stream"])
def test_ctrl_c_writes_nothing(source, terminal, tmp_path):
    (tmp_path / "models").mkdir()
    options = [*FIT, "--tol", "1e-14", "--passes", "3000", "-o", tmp_path / "models" / "m"]
    if source == "file":
        X, y, _ = spdpeg.datasets.piecewise_constant(20_000, 200, seed=0)
        np.savez(tmp_path / "data.npz", X=X, y=y)
        fit = terminal("fit", tmp_path / "data.npz", *options, "--solver", "spdpeg")
    else:
        fit = terminal("fit", "-", *options, stdin=subprocess.PIPE)
        threading.Thread(target=endless, args=[fit.process.stdin], daemon=True).start()
    fit.wait_for(b"objective 0.")  # the bar knows it once the method itself is running
    assert fit.interrupt() == 130
    assert b"spdpeg: interrupted" in fit.shown
    assert b"Traceback" not in fit.shown
    assert os.listdir(tmp_path / "models") == []
