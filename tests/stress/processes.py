"""Programs that are killed, interrupted or run out of disk: old files or new ones, never half; and no traceback."""

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import spdpeg
from spdpeg.errors import SpdpegError

from .concurrency import Broken
from .files import marked_state, original
from .fuzz import where
from .outcome import Outcome, Verdict

_PYTHON = sys.executable
_STARTED = 3.0
"""Seconds in which a command begins, works and ends; kills and interrupts fall anywhere in them."""
_PATIENCE = 150.0

_SAVE = """
import sys, numpy as np, spdpeg
from spdpeg import losses
state = spdpeg.solve(spdpeg.Problem(np.eye(3), np.ones(3), loss=losses.Squared()), "spdpeg", max_passes=1).state
print("ready", flush=True)
for k in range(10_000):
    state.seed, state.vectors["mark"] = k, np.full(20_000, float(k))
    state.save(sys.argv[1])
"""

_SAVE_MODEL = """
import sys, numpy as np, spdpeg
X = np.random.default_rng(0).standard_normal((200, 500))
model = spdpeg.FusedLasso(max_passes=1)
import warnings; warnings.simplefilter("ignore")
model.fit(X, X[:, 0])
print("ready", flush=True)
for k in range(10_000):
    spdpeg.save_model(model, sys.argv[1])
"""

_SOLVE = """
import sys, numpy as np, spdpeg
from spdpeg import losses, operators, penalties
rng = np.random.default_rng(0)
X = rng.standard_normal((2000, 50))
p = spdpeg.Problem(X, X[:, 0] > 0, loss=losses.Logistic(), r1=penalties.L1(1e-6), r2=penalties.L1(1e-6),
                   F=operators.FirstDifference())
spdpeg.solve(p, "spdpeg", max_passes=1)
print("ready", flush=True)
result = spdpeg.solve(p, "spdpeg", max_seconds=30)
print(result.status.name, np.all(np.isfinite(result.x)), flush=True)
"""

_HANDLED = (
    """
import signal, sys
calls = []
signal.signal(signal.SIGINT, lambda *a: calls.append(1))
"""
    + _SOLVE.replace("max_seconds=30", "max_seconds=2")
    + """
print("called", len(calls), flush=True)
"""
)


def _default_interrupt() -> None:
    """A child of a program that ignores Ctrl-C would ignore it too."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _start(code: str, *arguments: str) -> subprocess.Popen[str]:
    """A program in Python that has said that it is ready."""
    child = subprocess.Popen(
        [_PYTHON, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_default_interrupt,
    )
    assert child.stdout is not None
    if child.stdout.readline().strip() != "ready":
        raise Broken(f"the program did not begin: {child.communicate()[1][-300:]}")
    return child


def _command(*arguments: str, **options: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [_PYTHON, "-m", "spdpeg", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,  # type: ignore[call-overload]
    )


def kill_state(rng: np.random.Generator) -> None:
    """Killed while it saves states: the file is a whole state, and the next save leaves nothing else behind."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "state.npz")
        child = _start(_SAVE, str(path))
        time.sleep(float(rng.uniform(0.005, 0.3)))
        child.kill()
        child.communicate()
        if path.exists():
            state = spdpeg.State.load(path)
            if not np.all(state.vectors["mark"] == state.seed):
                raise Broken("the state is a mixture")
        marked_state(0).save(path)
        _only(directory, "state.npz")


def kill_model(rng: np.random.Generator) -> None:
    """The same with models."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "m.model")
        child = _start(_SAVE_MODEL, str(path))
        time.sleep(float(rng.uniform(0.005, 0.3)))
        child.kill()
        child.communicate()
        if path.exists():
            spdpeg.load_model(path)
        spdpeg.save_model(_small(), path)
        _only(directory, "m.model")


def _small() -> object:
    X = np.eye(4)
    return spdpeg.FusedLasso(fit_intercept=False).fit(X, X[:, 0])


def _only(directory: str, *names: str) -> None:
    left = sorted(set(os.listdir(directory)) - set(names))
    if left:
        raise Broken(f"files are left behind: {left}")


def _prepared(directory: str) -> tuple[str, str]:
    data, model = Path(directory, "data.csv"), Path(directory, "m.model")
    data.write_bytes(original("csv"))
    model.write_bytes(original("model"))
    return str(data), str(model)


def kill_fit(rng: np.random.Generator) -> None:
    """`spdpeg fit -o` killed at any moment: the old model or the new one."""
    with tempfile.TemporaryDirectory() as directory:
        data, model = _prepared(directory)
        child = _command("fit", data, "--model", "fused-lasso", "-o", model)
        time.sleep(float(rng.uniform(0.0, _STARTED)))
        child.kill()
        child.communicate()
        spdpeg.load_model(model)


def kill_reproduce(rng: np.random.Generator) -> None:
    """`spdpeg reproduce` killed at any moment goes on when it is started again, and ends well."""
    options = ("--rounds", "1", "--passes", "2", "--seconds", "0.05", "--jobs", "1", "--tasks", "flr")
    with tempfile.TemporaryDirectory() as directory:
        out = ("--output", str(Path(directory, "out")), "--methods", "spdpeg", "sgadm")
        child = _command("reproduce", *options, *out)
        time.sleep(float(rng.uniform(0.5, 4 * _STARTED)))
        child.kill()
        child.communicate()
        again = _command("reproduce", *options, *out)
        told = again.communicate(timeout=_PATIENCE)[1]
        if again.returncode != 0:
            raise Broken(f"started again it ends with {again.returncode}: {told[-300:]}")
        if not Path(directory, "out", "curves.csv").read_text().count("\n") > 1:
            raise Broken("there are no curves")


def interrupt_command(rng: np.random.Generator) -> None:
    """Ctrl-C at any moment of a command, its imports included: code 130 and no traceback."""
    with tempfile.TemporaryDirectory() as directory:
        data, model = _prepared(directory)
        choices = (
            ("info", data),
            ("predict", model, data),
            ("fit", data, "--model", "fused-lasso", "-o", model),
            ("path", data, "--model", "fused-lasso", "-o", str(Path(directory, "p.npz"))),
            ("solvers",),
            ("demo",),
        )
        arguments = choices[int(rng.integers(len(choices)))]
        child = _command(*arguments, cwd=directory, preexec_fn=_default_interrupt)
        time.sleep(float(rng.uniform(0.15, _STARTED)))
        child.send_signal(signal.SIGINT)
        _, told = child.communicate(timeout=_PATIENCE)
        # An interrupt before the package's first line is Python's own affair.
        ours = "spdpeg" in told or child.returncode != -signal.SIGINT
        if ours and (child.returncode not in (0, 130) or "Traceback" in told):
            raise Broken(f"{arguments[0]} ends with {child.returncode}: {told.strip()[-200:]}")
        spdpeg.load_model(model)


def interrupt_solve(rng: np.random.Generator) -> None:
    """Ctrl-C while `solve` runs: a result that is finite and says so."""
    child = _start(_SOLVE)
    time.sleep(float(rng.uniform(0.02, 0.5)))
    child.send_signal(signal.SIGINT)
    output, told = child.communicate(timeout=_PATIENCE)
    if output.split() != ["INTERRUPTED", "True"]:
        raise Broken(f"{output.strip()} {told.strip()[-200:]}")


def interrupt_handled(rng: np.random.Generator) -> None:
    """A program's own handler of Ctrl-C is called while `solve` runs."""
    child = _start(_HANDLED)
    time.sleep(float(rng.uniform(0.1, 1.0)))
    child.send_signal(signal.SIGINT)
    output, told = child.communicate(timeout=_PATIENCE)
    if "called 1" not in output:
        raise Broken(f"{output.strip()} {told.strip()[-200:]}")


def full_disk(rng: np.random.Generator) -> None:
    """No room for the file: code 1, one line, the old file, nothing left behind."""
    limit = int(rng.integers(0, 2000))
    with tempfile.TemporaryDirectory() as directory:
        data, model = _prepared(directory)
        before = Path(model).read_bytes()
        output = str(Path(directory, "out"))
        choices = (
            ("fit", data, "--model", "fused-lasso", "-o", model),
            ("predict", model, data, "-o", output),
            ("path", data, "--model", "fused-lasso", "--n-lam1", "2", "--n-lam2", "2", "-o", output + ".npz"),
        )
        arguments = choices[int(rng.integers(len(choices)))]
        child = _command(*arguments, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        _, told = child.communicate(timeout=_PATIENCE)
        lines = [line for line in told.splitlines() if "warning" not in line]
        if child.returncode == 0:
            return  # it fitted
        if child.returncode != 1 or len(lines) != 1 or "Traceback" in told:
            raise Broken(f"{arguments[0]} ends with {child.returncode}: {told.strip()[-300:]}")
        if Path(model).read_bytes() != before:
            raise Broken("the old model is gone")
        _only(directory, "data.csv", "m.model")


SCENARIOS: dict[str, Callable[[np.random.Generator], None]] = {
    "kill State.save": kill_state,
    "kill save_model": kill_model,
    "kill fit": kill_fit,
    "kill reproduce": kill_reproduce,
    "interrupt a command": interrupt_command,
    "interrupt solve": interrupt_solve,
    "own handler": interrupt_handled,
    "full disk": full_disk,
}


def run(seed: int) -> Outcome:
    """The scenario with this number."""
    name = list(SCENARIOS)[seed % len(SCENARIOS)]
    outcome = Outcome(seed, Verdict.PASSED, case=f"seed {seed}: {name}", kinds={"scenario": name})
    begun = time.perf_counter()
    try:
        SCENARIOS[name](np.random.default_rng([7, seed]))
    except Broken as error:
        outcome.verdict, outcome.reason = Verdict.WRONG_VALUE, str(error)
    except (SpdpegError, Exception) as error:
        outcome.verdict, outcome.reason = Verdict.RAW, where(error)
    outcome.seconds = time.perf_counter() - begun
    return outcome
