"""Threads, processes and forks at once: the same bits, whole files, no growth."""

import multiprocessing as mp
import os
import resource
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import spdpeg
from spdpeg import losses, operators, penalties
from spdpeg.errors import SpdpegError

from .files import marked_state
from .fuzz import where
from .outcome import Outcome, Verdict

THREADS = 8
WRITERS, SAVES = 4, 25
_GROWTH = 8 << 20
"""Bytes that many fits may add: a leak of an array for each would be more."""


class Broken(Exception):
    """A promise that was not kept."""


def _problem(rng: np.random.Generator) -> spdpeg.Problem:
    n, d = int(rng.integers(10, 60)), int(rng.integers(3, 12))
    X = rng.standard_normal((n, d))
    loss, y = (losses.Squared(), X[:, 0]) if rng.random() < 0.5 else (losses.Logistic(), X[:, 0] > 0)
    return spdpeg.Problem(
        X, y, loss=loss, r1=penalties.L1(0.01), r2=penalties.L1(0.02), F=operators.FirstDifference(), intercept=True
    )


def _in_threads(functions: list[Callable[[], None]]) -> None:
    """Run all at once; the first exception of any is raised here."""
    failures: list[BaseException] = []

    def guarded(function: Callable[[], None]) -> None:
        try:
            function()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def same_bits(rng: np.random.Generator, solves: int = 12) -> None:
    """Eight threads solve the same problems and find the same bits as one."""
    solver = str(rng.choice(["auto", "spdpeg", "ladmm", "svrg-admm"]))
    problems = [_problem(rng) for _ in range(3)]
    expected = [spdpeg.solve(problem, solver, max_passes=20).x for problem in problems]

    def work() -> None:
        for k in range(solves):
            x = spdpeg.solve(problems[k % 3], solver, max_passes=20).x
            if not np.array_equal(x, expected[k % 3]):
                raise Broken(f"{solver} gave other bits in a thread")

    _in_threads([work] * THREADS)


def _forked(problem: spdpeg.Problem, expected: np.ndarray) -> None:
    os._exit(0 if np.array_equal(spdpeg.solve(problem, max_passes=20).x, expected) else 3)


def fork(rng: np.random.Generator) -> None:
    """A forked child solves what its parent has solved, with the same bits."""
    problem = _problem(rng)
    expected = spdpeg.solve(problem, max_passes=20).x
    child = mp.get_context("fork").Process(target=_forked, args=(problem, expected))
    child.start()
    child.join(30)
    if child.exitcode != 0:
        child.kill()
        raise Broken(f"the forked child ended with {child.exitcode}")


def models_to_one_path(rng: np.random.Generator) -> None:
    """Threads write models to one path while others read it: each read gives one that was written."""
    X = rng.standard_normal((20, 4))
    models = [spdpeg.FusedLasso(lam1=0.01 * (k + 1)).fit(X, X[:, 0]) for k in range(WRITERS)]
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "model")
        spdpeg.save_model(models[0], path)

        def write(model: Any) -> Callable[[], None]:
            return lambda: [spdpeg.save_model(model, path) for _ in range(SAVES)] and None

        def read() -> None:
            for _ in range(SAVES):
                if spdpeg.load_model(path).lam1 not in [model.lam1 for model in models]:
                    raise Broken("a model was read that nobody wrote")

        _in_threads([*map(write, models), read, read])
        _alone(directory, "model")


def _write_states(path: str, seed: int) -> None:
    state = marked_state(seed)
    for _ in range(SAVES):
        state.save(path)


def states_to_one_path(rng: np.random.Generator) -> None:
    """Processes and threads write states to one path; each read gives one of them, whole."""
    with tempfile.TemporaryDirectory() as directory:
        path = str(Path(directory, "state.npz"))
        _write_states(path, 0)
        children = [mp.get_context("fork").Process(target=_write_states, args=(path, k)) for k in (1, 2)]
        for child in children:
            child.start()

        def read() -> None:
            for _ in range(SAVES):
                state = spdpeg.State.load(path)
                if not np.all(state.vectors["mark"] == state.seed):
                    raise Broken("a state was read that is a mixture")

        try:
            _in_threads([read, lambda: _write_states(path, 3), lambda: _write_states(path, 4)])
        finally:
            for child in children:
                child.join(60)
        if any(child.exitcode for child in children):
            raise Broken("a process failed to save")
        _alone(directory, "state.npz")


def _alone(directory: str, name: str) -> None:
    left = sorted(set(os.listdir(directory)) - {name})
    if left:
        raise Broken(f"files are left behind: {left}")


def leaks(rng: np.random.Generator, fits: int = 300) -> None:
    """Many fits do not make the process grow."""
    X = rng.standard_normal((30, 5))

    def work(count: int) -> None:
        for k in range(count):
            model = spdpeg.FusedLasso(lam1=0.01 + 1e-4 * (k % 7)) if k % 2 else spdpeg.FusedLogisticRegression()
            model.fit(X, X[:, 0] if k % 2 else X[:, 0] > 0).predict(X)

    work(50)
    before = _memory()
    work(fits)
    grown = _memory() - before
    if grown > _GROWTH:
        raise Broken(f"{fits} fits added {grown / 2**20:.1f} MB")


def _memory() -> int:
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


SCENARIOS: dict[str, Callable[[np.random.Generator], None]] = {
    "same bits": same_bits,
    "fork": fork,
    "models to one path": models_to_one_path,
    "states to one path": states_to_one_path,
    "leaks": leaks,
}


IN_FULL = {**SCENARIOS, "same bits": partial(same_bits, solves=100), "leaks": partial(leaks, fits=3000)}
"""The same with more work, for seeds from `FULL` on."""
FULL = 10_000


def run(seed: int) -> Outcome:
    """The scenario with this number."""
    name = list(SCENARIOS)[seed % len(SCENARIOS)]
    outcome = Outcome(seed, Verdict.PASSED, case=f"seed {seed}: {name}", kinds={"scenario": name})
    begun = time.perf_counter()
    try:
        (IN_FULL if seed >= FULL else SCENARIOS)[name](np.random.default_rng([6, seed]))
    except Broken as error:
        outcome.verdict, outcome.reason = Verdict.WRONG_VALUE, str(error)
    except (SpdpegError, Exception) as error:
        outcome.verdict, outcome.reason = Verdict.RAW, where(error)
    outcome.seconds = time.perf_counter() - begun
    return outcome
