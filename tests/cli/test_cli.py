"""The commands: what they print, how they exit, in a terminal, in a pipe and when interrupted."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import spdpeg
from spdpeg import cli
from spdpeg.cli import doctor

SMALL = ["demo", "--samples", "300", "--features", "20"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty directory to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_demo_tells_three_stories_and_writes_a_page(here, capsys):
    assert cli.main(SMALL) == 0
    out, err = capsys.readouterr()
    words = " ".join(out.split())
    for said in (
        "2 levels",
        "from 1871 to 1898",
        "300 rows",
        "proved by a duality gap",
        "once, 1,000 at a time",
        "% above",
    ):
        assert said in words
    assert "█" in out
    assert err == ""
    page = (here / "spdpeg-demo.html").read_text(encoding="utf-8")
    assert page.count('"kind":"chart"') == 3
    assert "https://" not in page


def test_demo_as_json_is_the_runs_themselves(here, capsys):
    assert cli.main([*SMALL, "--json", "--seed", "7", "--output", "other.html"]) == 0
    out = json.loads(capsys.readouterr().out)
    X, y, truth = spdpeg.datasets.piecewise_constant(300, 20, seed=7)
    problem = spdpeg.Problem(
        X,
        y,
        loss=spdpeg.losses.Logistic(),
        r1=spdpeg.penalties.L1(5e-4),
        r2=spdpeg.penalties.L1(5e-3),
        F=spdpeg.operators.FirstDifference(),
    )
    assert out["fit"]["truth"] == truth.tolist()
    assert out["fit"]["x"] == spdpeg.solve(problem).x.tolist()
    assert out["fit"]["rel_gap"] <= 1e-6
    assert out["stream"]["objective"] == problem.objective(np.array(out["stream"]["x"]))
    assert out["fit"]["objective"] < out["stream"]["objective"]
    assert [segment[:2] for segment in out["signal"]["segments"]] == [[0, 28], [28, 100]]
    assert out["page"] == "other.html"
    assert (here / "other.html").exists()


@pytest.mark.parametrize("extra", [["--features", "1"], ["--passes", "0"]])
def test_demo_at_the_edges(extra, here, capsys):
    assert cli.main([*SMALL, *extra]) == 0
    assert "truth" in capsys.readouterr().out


def test_solvers_lists_the_registry(capsys):
    assert cli.main(["solvers"]) == 0
    out = capsys.readouterr().out
    for solver in spdpeg.list_solvers():
        assert solver["name"] in out


@pytest.mark.parametrize("columns", [80, 120])
def test_solvers_fit_the_terminal(columns, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(columns))
    assert cli.main(["solvers"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line) for line in lines) <= columns
    assert ("needs" in lines[1].split()) == (columns == 120)
    for solver in spdpeg.list_solvers():
        assert sum(line.split()[:1] == [solver["name"]] for line in lines) == 1


@pytest.mark.parametrize("name", [solver["name"] for solver in spdpeg.list_solvers()])
def test_solvers_tells_all_about_one(name, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    assert cli.main(["solvers", name]) == 0
    out = capsys.readouterr().out
    assert max(len(line) for line in out.splitlines()) <= 80
    words = " ".join(out.split())
    solver = next(solver for solver in spdpeg.list_solvers() if solver["name"] == name)
    for column in ("summary", "update", "cost", "memory", "rate", "needs"):
        assert solver[column] in words
    for parameter in solver["parameters"]:
        assert re.search(rf"\b{parameter}\b[\w, ]* : ", words), f"{parameter} of {name} is not explained"


def test_solvers_knows_the_name_or_says_which_there_are(capsys):
    assert cli.main(["solvers", "sgd"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("spdpeg: There is no solver called 'sgd'.")
    assert "spdpeg-sc1" in err


def test_solvers_as_json(capsys):
    assert cli.main(["solvers", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == spdpeg.list_solvers()
    assert cli.main(["solvers", "spdpeg", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) in spdpeg.list_solvers()


def test_doctor_as_json(capsys):
    assert cli.main(["doctor", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["numpy"] == np.__version__


def test_doctor_tells_versions_cache_and_processors(capsys):
    assert cli.main(["doctor"]) == 0
    out = capsys.readouterr().out
    for word in (spdpeg.__version__, np.__version__, "compiled code", "processors"):
        assert word in out


def test_doctor_sees_a_cache_directory_that_cannot_be_written(monkeypatch):
    def refuse(dir):
        raise PermissionError(13, "Permission denied")

    assert doctor._cache().endswith("(writable)")
    monkeypatch.setattr(doctor.tempfile, "TemporaryFile", refuse)
    assert "Permission denied" in doctor._cache()
    assert "NUMBA_CACHE_DIR" in doctor._cache()


def test_doctor_says_when_an_optional_library_is_missing():
    assert doctor._version("no-such-library-anywhere") == "not installed (optional)"


def test_version(capsys):
    with pytest.raises(SystemExit) as exit:
        cli.main(["--version"])
    assert exit.value.code == 0
    assert capsys.readouterr().out == f"spdpeg {spdpeg.__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["demo", "--samples", "many"], ["demo", "--what"]])
def test_wrong_usage_exits_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as exit:
        cli.main(arguments)
    assert exit.value.code == 2
    assert "usage" in capsys.readouterr().err


def test_what_a_command_does_not_know_is_told_with_its_own_usage(capsys):
    with pytest.raises(SystemExit):
        cli.main(["fit", "x.csv", "--model", "fused-lasso", "--lambda", "3"])
    err = capsys.readouterr().err
    assert err.startswith("usage: spdpeg fit ")
    assert "unrecognized arguments: --lambda 3" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--samples", "0"], "n_samples is 0"),
        (["--samples", "1"], "needs two"),
        (["--seed", "-1"], "seed is -1"),
        (["--passes", "-1"], "max_passes is -1"),
        (["--passes", "nan"], "max_passes is nan"),
        (["--samples", "10000000000000"], "do not fit into memory"),
    ],
)
def test_our_errors_exit_with_1_and_one_line(arguments, message, here, capsys):
    assert cli.main(["demo", *arguments]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("spdpeg: ")
    assert message in err
    assert err.count("\n") == 1


def test_in_a_pipe_there_is_no_bar_and_no_colour(here):
    run = subprocess.run([sys.executable, "-m", "spdpeg", *SMALL], capture_output=True, check=True)
    assert b"\x1b" not in run.stdout
    assert run.stderr == b""


def test_plain_text_where_the_output_knows_no_blocks(here):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    run = subprocess.run([sys.executable, "-m", "spdpeg", *SMALL], capture_output=True, check=True, env=environment)
    assert "#" in run.stdout.decode("ascii")


def test_a_pipe_closed_early_is_no_error():
    read, write = os.pipe()
    os.close(read)
    process = subprocess.Popen([sys.executable, "-m", "spdpeg", "solvers"], stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    _, err = process.communicate(timeout=60)
    assert err == b""
    assert process.returncode == 0


def test_ctrl_c_exits_with_130_and_no_traceback(terminal, here):
    demo = terminal("demo", "--passes", "1000000")
    demo.wait_for(b"objective")  # the bar names it once the method itself is running
    assert demo.interrupt() == 130
    assert b"spdpeg: interrupted" in demo.shown
    assert b"Traceback" not in demo.shown


def test_importing_the_library_does_not_import_the_command_line():
    code = "import sys, spdpeg; sys.exit('rich' in sys.modules or 'spdpeg.cli' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_without_a_command_all_are_listed(capsys):
    with pytest.raises(SystemExit) as end:
        cli.main([])
    out, err = capsys.readouterr()
    assert end.value.code == 2
    assert not out
    for command in ("demo", "denoise", "fit", "predict", "compare", "reproduce", "spdpeg COMMAND --help"):
        assert command in err
