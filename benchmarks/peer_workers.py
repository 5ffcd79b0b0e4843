"""A process for each method: its own memory and packages, one thread, and an end if it takes too long.

Run as a script, this is that process.
"""

import math
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from peer_cases import Case
from peer_runs import BUSY, LEVELS, Budgeted, Found, Traced

REFINED = 2
"""Bisections between the last budget that missed a level and the first that met it, which was twice as large."""
MEMORY = 8 * 2**30
THREADS = ("OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON")
COMPILES, PAUSE = 120.0, 5.0
"""Seconds of patience with a method that is new to a case, and with one that is not, beyond multiples of the cap."""
LOOK = 0.5
TICKS = os.sysconf("SC_CLK_TCK")

Times = dict[float, float]
"""Processor seconds to each level that was reached: one thread takes as many wall seconds where nothing else runs."""


class _EnoughError(Exception):
    """All levels are reached, or time is up."""


class _Watch:
    """Notes when each level is first reached; the clock stands still while it scores."""

    def __init__(self, case: Case, optima: list[float], levels: list[float], cap: float) -> None:
        self.found, self.lowest = Times(), math.inf
        self._case, self._optima, self._levels, self._cap = case, optima, levels, cap
        self._paused, self._start = 0.0, time.process_time()

    def __call__(self, x: np.ndarray) -> None:
        now = time.process_time()
        spent = now - self._start - self._paused
        reached = self._case.suboptimality([x], self._optima)
        self.lowest = min(self.lowest, reached)
        if spent <= self._cap:
            self.found |= {level: spent for level in self._levels if reached <= level and level not in self.found}
        if len(self.found) == len(self._levels) or spent > self._cap:
            raise _EnoughError
        self._paused += time.process_time() - now


@dataclass
class Outcome:
    """What one run told."""

    seconds: Times = field(default_factory=Times)
    reads: dict[float, float] = field(default_factory=dict)
    lowest: float = math.inf
    """Suboptimality of the best x; below 0 if the optimum was none."""


class _Tracer:
    """A method that calls back."""

    def __init__(self, method: Traced, case: Case, optima: list[float], cap: float) -> None:
        self._method, self._case, self._optima, self._cap = method, case, optima, cap

    def explore(self) -> Iterator[Outcome]:
        if self._method.compiles:
            yield self.again(list(LEVELS))
        yield self.again(list(LEVELS))

    def again(self, levels: list[float]) -> Outcome:
        watch = _Watch(self._case, self._optima, levels, self._cap)
        with suppress(_EnoughError):
            self._method.run(watch)
        return Outcome(watch.found, lowest=watch.lowest)


class _Grower:
    """A method with budgets: the first run finds which of them reach a level, later ones time those."""

    def __init__(self, method: Budgeted, case: Case, optima: list[float], cap: float) -> None:
        self._method, self._case, self._optima, self._cap = method, case, optima, cap
        self._budgets: dict[float, Any] = {}
        self._outcome = Outcome()

    def explore(self) -> Iterator[Outcome]:
        """Tolerances from coarse to fine, or iterations doubled and then refined."""
        budgets = self._method.tolerances or tuple(2**k for k in range(40))
        if self._method.compiles:
            self._method.run(budgets[0])
        before: dict[float, Any] = {}
        for budget in budgets:
            spent = self._try(budget)
            if self._method.compiles and spent > self._cap:
                spent = self._try(budget)
            for level in LEVELS:
                if level not in self._budgets:
                    before[level] = budget
            yield self._outcome
            if len(self._budgets) == len(LEVELS) or spent > self._cap / (1 if self._method.tolerances else 2):
                break
        if not self._method.tolerances:
            for level in list(self._budgets):
                yield from self._refine(level, before.get(level, 1))

    def _refine(self, level: float, missed: int) -> Iterator[Outcome]:
        for _ in range(REFINED):
            middle = round(math.sqrt(missed * self._budgets[level]))
            if not missed < middle < self._budgets[level]:
                return
            self._try(middle)
            if self._budgets[level] != middle:
                missed = middle
            yield self._outcome

    def _try(self, budget: Any) -> float:
        """Run, and note the levels that are reached with less than before; the seconds spent."""
        found, spent = self._timed(budget)
        reached = self._case.suboptimality(found.xs, self._optima)
        self._outcome.lowest = min(self._outcome.lowest, reached)
        reached = max(reached, found.proved)
        for level in LEVELS:
            if reached <= level and spent <= min(self._cap, self._outcome.seconds.get(level, math.inf)):
                self._outcome.seconds[level], self._budgets[level] = spent, budget
                if found.reads is not None:
                    self._outcome.reads[level] = found.reads
        return spent

    def again(self, levels: list[float]) -> Outcome:
        times = {budget: self._timed(budget)[1] for budget in {self._budgets[level] for level in levels}}
        return Outcome({level: times[self._budgets[level]] for level in levels})

    def _timed(self, budget: Any) -> tuple[Found, float]:
        start = time.process_time()
        found = self._method.run(budget)
        spent = time.process_time() - start
        return found, spent if found.seconds is None else found.seconds


@dataclass
class Trial:
    """A method on a case: the exploring run, which is not timed unless no other is, and its repeats."""

    name: str
    prepare_seconds: float = math.nan
    note: str = ""
    first: Outcome = field(default_factory=Outcome)
    repeats: list[Times] = field(default_factory=list)

    @property
    def seconds(self) -> Times:
        """Medians of the repeats."""
        runs = self.repeats or [self.first.seconds]
        levels = [level for level in self.first.seconds if all(level in run for run in runs)]
        return {level: statistics.median(run[level] for run in runs) for level in levels}


class Worker:
    """The process of one method; a new one is started where the last has died or was ended."""

    def __init__(self, name: str, source: Path | None = None) -> None:
        """`source` holds another version of this package."""
        self.name, self._source = name, source
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection

    def explore(self, case: Case, optima: list[float], cap: float) -> Trial:
        """Find out which levels are reached within `cap` seconds."""
        trial = Trial(self.name)
        if self._process is None:
            self._start()
        self._connection.send((case, optima, cap))
        if isinstance(prepared := self._receive(trial, 3.0 * cap + COMPILES), float):
            trial.prepare_seconds = prepared
            patience = 3.0 * cap + COMPILES
            while isinstance(outcome := self._receive(trial, patience), Outcome):
                trial.first = outcome
                if outcome.seconds:
                    patience = 3.0 * cap + PAUSE
        return trial

    def again(self, trial: Trial, cap: float) -> None:
        """Time what was reached once more."""
        if trial.first.seconds and not trial.note and self._process is not None:
            self._connection.send(sorted(trial.first.seconds))
            if isinstance(outcome := self._receive(trial, len(LEVELS) * 3.0 * cap + PAUSE), Outcome):
                trial.repeats.append(outcome.seconds)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _start(self) -> None:
        self._connection, theirs = Pipe()
        single = {f"{library}_NUM_THREADS": "1" for library in THREADS}
        path = [str(self._source)] if self._source else []
        path += [os.environ["PYTHONPATH"]] if "PYTHONPATH" in os.environ else []
        self._process = subprocess.Popen(
            [sys.executable, __file__, self.name, str(theirs.fileno())],
            env={**os.environ, **single, "PYTHONPATH": os.pathsep.join(path)},
            pass_fds=[theirs.fileno()],
            stderr=subprocess.DEVNULL,
        )
        theirs.close()

    def _receive(self, trial: Trial, patience: float) -> Any:
        """The next message; None at the end of the exploration, and if the process died or is ended here."""
        assert self._process is not None
        begun, end = self._spent(), time.monotonic() + BUSY * patience
        try:
            while not self._connection.poll(LOOK):
                if self._spent() - begun > patience or time.monotonic() > end:
                    trial.note = f"ended after {patience:.0f} s"
                    self.close()
                    return None
            message = self._connection.recv()
            if not isinstance(message, str):
                return message
            trial.note = message
        except (EOFError, ConnectionError):
            trial.note = "died"
            self.close()
        return None

    def _spent(self) -> float:
        """Processor seconds of the process, as Linux tells them."""
        assert self._process is not None
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        except FileNotFoundError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / TICKS


def serve(connection: Connection, name: str) -> None:
    """Prepare and explore each case that is sent, then repeat as often as asked."""
    from peer_methods import METHODS

    message = connection.recv()
    while True:
        case, optima, cap = message
        try:
            start = time.process_time()
            prepared = METHODS[name].prepare(case, cap)
            connection.send(time.process_time() - start)
            measure = (_Tracer if isinstance(prepared, Traced) else _Grower)(prepared, case, optima, cap)  # type: ignore[arg-type]
            for outcome in measure.explore():
                connection.send(outcome)
            connection.send(None)
        except Exception as error:
            connection.send(f"{type(error).__name__}: {error}".split("\n")[0][:120])
        while isinstance(message := connection.recv(), list):
            connection.send(measure.again(message))


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    from peer_workers import serve as known  # what it sends must have a name that the other side knows

    with suppress(EOFError):
        known(Connection(int(sys.argv[2])), sys.argv[1])
