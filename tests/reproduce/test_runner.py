"""Runs in processes: the same whatever their number, and after whatever interruption."""

import dataclasses
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from spdpeg import InputError, SpdpegError, penalties
from spdpeg.reproduce import methods, paper_study, publish, runner
from support.study import assert_same_curves, make_study

COMMAND = ["reproduce", "--sets", "clustered_graph", "--methods", "spdpeg", "spdpeg-sc1", "sgadm", "vr-spdpeg"]
BUDGET = ["--rounds", "2", "--seeds", "1", "--passes", "10", "--seconds", "5", "--jobs", "1"]


def start(directory: Path) -> subprocess.Popen:
    """The command as a terminal starts it: in a process group of its own, and listening to Ctrl-C."""
    return subprocess.Popen(
        [sys.executable, "-m", "spdpeg", *COMMAND, *BUDGET, "--output", str(directory)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def finish(process: subprocess.Popen) -> None:
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors.decode()


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def finished_curves(directory: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in (directory / "parts").glob("curve_*.json")}


def wait_for(condition, seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_one_process_gives_the_curves_of_two(study, output, tmp_path):
    reports = []
    publish(study, tmp_path, jobs=1, report=lambda *arguments: reports.append(arguments))
    assert_same_curves(output, tmp_path)
    assert [stage for stage, done, total in reports if done == total] == ["preparing", "curves"]
    assert [done for stage, done, _ in reports if stage == "curves"] == list(range(len(runner.curves(study)) + 1))


def test_what_is_finished_is_not_done_again(study, output):
    before = {path: path.stat().st_mtime_ns for path in (output / "parts").iterdir()}
    reports = []
    publish(study, output, jobs=1, report=lambda *arguments: reports.append(arguments))
    assert {path: path.stat().st_mtime_ns for path in (output / "parts").iterdir()} == before
    assert all(done == total for _, done, total in reports)


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({"passes": 6.0}, False),
        ({"seconds": 3.0}, False),
        ({"seed": 1}, False),
        ({"rounds": 3}, True),
        ({"seeds": 3}, True),
        ({"methods": methods.choose(["flr", "ggrlr"], ["spdpeg"])}, True),
    ],
)
def test_only_curves_of_the_same_settings_are_kept(study, tmp_path, changes, same):
    job = runner.Job("curve", "flr", "clusters", "spdpeg", 0)
    old, new = runner.Parts(study, tmp_path), runner.Parts(make_study(**changes), tmp_path)
    assert (old.path(job) == new.path(job)) == same


def test_another_matrix_makes_another_curve(study, tmp_path):
    job = runner.Job("curve", "flr", "clusters", "spdpeg", 0)
    paths = set()
    for F in (np.eye(24), 2 * np.eye(24)):
        task = dataclasses.replace(study.tasks["flr"], F=F)
        paths.add(runner.Parts(make_study(tasks={"flr": task}), tmp_path).path(job))
    assert len(paths) == 2


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_killed_and_started_again(tmp_path):
    broken, whole = tmp_path / "broken", tmp_path / "whole"
    process = start(broken)
    wait_for(lambda: (broken / "parts").is_dir() and len(finished_curves(broken)) >= 2)
    workers = children(process.pid)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    # Without their parent the workers end by themselves.
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))
    kept = finished_curves(broken)
    assert 2 <= len(kept) < 12
    assert not (broken / "report.html").exists()

    finish(start(broken))
    after = finished_curves(broken)
    assert len(after) == 12
    assert kept.items() <= after.items()
    assert not [path for path in (broken / "parts").iterdir() if path.suffix != ".json"]
    names = ["spdpeg", "spdpeg-sc1", "sgadm", "vr-spdpeg"]
    publish(paper_study(["clustered_graph"], names=names, rounds=2, seeds=1, passes=10.0, seconds=5.0), whole, jobs=1)
    assert_same_curves(broken, whole)


def test_interrupted_from_the_keyboard(tmp_path):
    process = start(tmp_path)
    wait_for(lambda: (tmp_path / "parts").is_dir() and len(list((tmp_path / "parts").glob("*.json"))) >= 3)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors.decode()
    assert errors.decode() == "spdpeg: interrupted\n"
    assert len(finished_curves(tmp_path)) < 12


class Deadly:
    """Ends the process that reads it."""

    def __reduce__(self):
        return os._exit, (1,)


def test_a_worker_that_dies_is_reported(study, tmp_path):
    data = dataclasses.replace(study.data["clusters"], description=Deadly())
    with pytest.raises(SpdpegError, match="A worker process ended unexpectedly"):
        runner.run(dataclasses.replace(study, data={"clusters": data}), tmp_path, jobs=1)


def test_what_a_worker_refuses_is_told(study, tmp_path):
    task = dataclasses.replace(study.tasks["flr"], r1=penalties.L1(-1.0))
    with pytest.raises(InputError, match="weight"):
        runner.run(dataclasses.replace(study, tasks={"flr": task}), tmp_path, jobs=1)
