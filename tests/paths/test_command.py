"""`spdpeg path`: what it prints, writes, draws and refuses."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spdpeg import cli, datasets, estimators, paths

OPTIONS = ["--model", "fused-logistic", "--n-lam1", "3", "--n-lam2", "2", "--seed", "0"]
X, Y, _ = datasets.piecewise_constant(200, 10, n_pieces=4, seed=0)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("data") / "rows.npz"
    np.savez(file, X=X, y=Y)
    return str(file)


def run(capsys: Any, *arguments: str) -> str:
    """Standard output of a command that succeeds and says nothing else."""
    assert cli.main(["path", *arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return str(out)


def test_writes_what_the_library_finds(data: str, tmp_path: Path, capsys: Any) -> None:
    facts = json.loads(run(capsys, data, *OPTIONS, "--json", "-o", str(tmp_path / "path.npz")))
    found = paths.path(estimators.FusedLogisticRegression(random_state=0), X, Y, n_lam1=3, n_lam2=2)
    assert facts["rows"] == 200
    assert facts["lam1"] == found.lam1.tolist()
    assert facts["objective"] == found.objective.tolist()
    assert facts["nonzero"] == found.nonzero.tolist()
    with np.load(tmp_path / "path.npz") as saved:
        np.testing.assert_array_equal(saved["coef"], found.coef)


def test_a_table_and_a_picture(data: str, tmp_path: Path, capsys: Any) -> None:
    out = run(capsys, data, *OPTIONS, "--plot", str(tmp_path / "path.png"))
    assert "largest relative gap" in out
    assert (tmp_path / "path.png").read_bytes().startswith(b"\x89PNG")


def test_a_weight_that_stays(data: str, capsys: Any) -> None:
    facts = json.loads(run(capsys, data, *OPTIONS, "--lam2", "0.05", "--json"))
    assert facts["lam2"] == [0.05]
    assert len(facts["lam1"]) == 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--n-lam1", "0"], "n_lam1 is 0"),
        (["--eps", "2"], "eps is 2"),
        (["--plot", "picture.gif"], "does not end in .png"),
        (["-o", "nowhere/path.npz"], "no directory"),
        (["--shape", "2x5"], "no option --shape"),
    ],
)
def test_refusals(data: str, options: list[str], words: str, tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["path", data, *OPTIONS, *options]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err
    assert list(tmp_path.iterdir()) == []
