"""The whole round trip on a real data set: from xz LIBSVM text, from CSV, and from standard input."""

import json
import lzma
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from spdpeg import cli, files
from spdpeg.model_file import load_model

DIRECTORY = os.environ.get("SPDPEG_DATA_DIR")
pytestmark = pytest.mark.skipif(
    DIRECTORY is None, reason="SPDPEG_DATA_DIR does not name a directory with the data sets"
)

TRAIN, TEST = (Path(DIRECTORY or "", name) for name in ("a9a.xz", "a9a.t.xz"))
FIT = ["--model", "fused-logistic", "--lam1", "5e-4", "--lam2", "5e-3", "--seed", "0", "--json"]


def run(capsys, *arguments):
    assert cli.main([*map(str, arguments)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return json.loads(out)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("a9a") / "libsvm.model"
    assert cli.main(["fit", str(TRAIN), *FIT, "-o", str(path)]) == 0
    return path


def test_from_libsvm_text(model, tmp_path, capsys):
    info = run(capsys, "info", model, "--json")
    assert info["features"] == 123
    assert info["tolerance_met"]
    assert info["relative_gap"] <= 1e-4
    predicted = run(capsys, "predict", model, TEST, "-o", tmp_path / "predictions", "--json")
    assert predicted["rows"] == 16_281
    assert predicted["score"] > 0.83
    assert len((tmp_path / "predictions").read_text().split()) == 16_281


def test_from_csv(model, tmp_path, capsys):
    X, y = files.read(TRAIN)
    header = ",".join([*(f"x{j}" for j in range(123)), "income"])
    np.savetxt(tmp_path / "a9a.csv", np.column_stack([X.toarray(), y]), "%g", ",", header=header, comments="")
    fitted = run(capsys, "fit", tmp_path / "a9a.csv", *FIT, "--target", "income", "-o", tmp_path / "csv.model")
    reference = load_model(model)
    # The order of additions differs between dense and sparse rows.
    assert abs(fitted["objective"] - reference.objective_) <= 1e-4 * reference.objective_
    assert (
        run(capsys, "predict", tmp_path / "csv.model", tmp_path / "a9a.csv", "--json", "-o", tmp_path / "p")["score"]
        > 0.83
    )


def test_from_standard_input(model, tmp_path, capsys):
    arguments = [sys.executable, "-m", "spdpeg", "fit", "-", *FIT, "-o", str(tmp_path / "stream.model")]
    with lzma.open(TRAIN) as text:
        ended = subprocess.run(arguments, input=text.read(), capture_output=True)
    assert ended.stderr == b""
    assert json.loads(ended.stdout)["rows"] == 32_561
    batch = run(capsys, "predict", model, TEST, "--json", "-o", tmp_path / "batch")["score"]
    stream = run(capsys, "predict", tmp_path / "stream.model", TEST, "--json", "-o", tmp_path / "stream")["score"]
    assert stream > batch - 0.01
