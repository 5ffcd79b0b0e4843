"""A process for each method: its own memory, one thread, and an end if it takes too long."""

import multiprocessing
import os
import resource
import statistics
import time
from contextlib import suppress
from multiprocessing.connection import Connection

import numpy as np

from peer_cases import Case
from peer_methods import METHODS, Budgeted, Traced

GROWTH = 1.25
"""From one budget to the next: a time to reach a level is too long by at most this factor."""

MEMORY = 8 * 2**30
THREADS = ("OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON")

Times = dict[float, float]
"""Seconds to each level that was reached."""


class _EnoughError(Exception):
    """All levels are reached, or time is up."""


class _Watch:
    """Notes when each level is first reached; the clock stands still while it scores."""

    def __init__(self, case: Case, goals: dict[float, float], cap: float) -> None:
        self.cap, self.found = cap, Times()
        self._case, self._goals = case, goals
        self._paused, self._start = 0.0, time.perf_counter()

    def __call__(self, x: np.ndarray, spent: float | None = None) -> None:
        now = time.perf_counter()
        spent = now - self._start - self._paused if spent is None else spent
        value = self._case.objective(x)
        for level, goal in self._goals.items():
            if value <= goal and spent <= self.cap:
                self.found.setdefault(level, spent)
        if len(self.found) == len(self._goals) or spent > self.cap:
            raise _EnoughError
        self._paused += time.perf_counter() - now


class _Tracer:
    """Times of a method that calls back."""

    def __init__(self, method: Traced, case: Case) -> None:
        self._method, self._case = method, case

    def explore(self, goals: dict[float, float], cap: float, connection: Connection) -> None:
        connection.send(self._times(goals, cap))

    def again(self, goals: dict[float, float], cap: float) -> Times:
        return self._times(goals, cap)

    def _times(self, goals: dict[float, float], cap: float) -> Times:
        watch = _Watch(self._case, goals, cap)
        with suppress(_EnoughError):
            self._method.run(watch)
        return watch.found


class _Grower:
    """Times of a method with budgets: the first run finds which budget reaches a level, later ones time those."""

    def __init__(self, method: Budgeted, case: Case) -> None:
        self._method, self._case = method, case
        self._budgets: dict[float, int] = {}

    def explore(self, goals: dict[float, float], cap: float, connection: Connection) -> None:
        found, budget = Times(), 1
        while True:
            start = time.perf_counter()
            x = self._method.run(budget)
            spent = time.perf_counter() - start
            value = self._case.objective(x)
            for level, goal in goals.items():
                if value <= goal and spent <= cap and level not in found:
                    found[level], self._budgets[level] = spent, budget
            connection.send(found)
            if len(found) == len(goals) or spent > cap / GROWTH or budget == self._method.largest:
                return
            budget = min(max(budget + 1, round(GROWTH * budget)), self._method.largest)

    def again(self, goals: dict[float, float], cap: float) -> Times:
        times = {}
        for budget in set(self._budgets.values()):
            start = time.perf_counter()
            self._method.run(budget)
            times[budget] = time.perf_counter() - start
        return {level: times[budget] for level, budget in self._budgets.items()}


def _serve(connection: Connection, name: str, case: Case, best: float, cap: float) -> None:
    """Prepare, explore, then repeat as often as asked."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    start = time.perf_counter()
    method = METHODS[name]
    prepared = method.prepare(case)
    connection.send(time.perf_counter() - start)
    goals = {level: best + level * abs(best) for level in method.levels}
    measure = _Tracer(prepared, case) if isinstance(prepared, Traced) else _Grower(prepared, case)
    measure.explore(goals, cap, connection)
    connection.send(None)
    while (reached := connection.recv()) is not None:
        connection.send(measure.again({level: goals[level] for level in reached}, cap))


class Worker:
    """One method on one case, in a process of its own."""

    def __init__(self, name: str, case: Case, best: float, cap: float) -> None:
        self.name, self.prepare_seconds, self.note = name, float("nan"), ""
        self._first, self._repeats = Times(), list[Times]()
        self._patience = 3.0 * cap + 60.0
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, name, case, best, cap), daemon=True)
        self._process.start()
        theirs.close()

    def explore(self) -> None:
        """Wait for the first, discarded run."""
        prepared = self._receive()
        if isinstance(prepared, float):
            self.prepare_seconds = prepared
            while isinstance(found := self._receive(), dict):
                self._first = found

    def again(self) -> None:
        """Time what the first run reached once more."""
        if self._first and self._process.is_alive():
            self._connection.send(sorted(self._first))
            if isinstance(times := self._receive(), dict):
                self._repeats.append(times)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()

    @property
    def seconds(self) -> Times:
        """Medians of the repeats; of a method that did not live to repeat, the first run."""
        runs = self._repeats or [self._first]
        levels = [level for level in self._first if all(level in run for run in runs)]
        return {level: statistics.median(run[level] for run in runs) for level in levels}

    def _receive(self) -> Times | float | None:
        """The next message; None at the end of the exploration, and if the process died or is ended here."""
        try:
            if self._connection.poll(self._patience):
                message: Times | float | None = self._connection.recv()
                return message
            self.note = f"ended after {self._patience:.0f} s"
        except (EOFError, ConnectionError):
            self._process.join()
            self.note = f"died with exit code {self._process.exitcode}"
        self.close()
        return None


def one_thread() -> None:
    """For the processes started from now on."""
    for library in THREADS:
        os.environ[f"{library}_NUM_THREADS"] = "1"
