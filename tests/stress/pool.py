"""Cases in child processes: several at a time, each with a time limit, none able to take the others along."""

import contextlib
import multiprocessing as mp
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from .outcome import Outcome, Verdict

LIMIT = 20.0
"""Seconds of the processor for the package; what the reference needs comes on top."""
_REFERENCE = 40.0
_WAITING = 10.0
"""Times that, on the clock: on a busy machine a process waits, and one that waits for ever ends too."""

Job = Callable[..., Outcome]


def _work(connection: Connection, job: Job, arguments: dict[str, Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(EOFError, BrokenPipeError):  # the parent has gone
        while True:
            connection.send(job(connection.recv(), **arguments))


class _Worker:
    def __init__(self, context: Any, job: Job, arguments: dict[str, Any]) -> None:
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, job, arguments))
        self.process.start()
        theirs.close()
        self.seed: int | None = None
        self.since = self.worked = 0.0

    def give(self, seed: int) -> None:
        self.seed, self.since, self.worked = seed, time.monotonic(), self._processor_seconds()
        self.connection.send(seed)

    def is_late(self, limit: float) -> bool:
        """Whether a case has taken too long."""
        whole = limit + _REFERENCE
        return self._processor_seconds() - self.worked > whole or time.monotonic() - self.since > _WAITING * whole

    def _processor_seconds(self) -> float:
        with contextlib.suppress(OSError, IndexError, ValueError):
            # The name may hold blanks; the 12th and 13th numbers after it are ticks for the program and the system.
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return time.monotonic()  # where there is no such account, the clock has to do

    def take(self, limit: float) -> Outcome:
        """The outcome that has arrived; the verdict on a process that ended without one."""
        assert self.seed is not None
        try:
            outcome = self.connection.recv()
        except EOFError:
            self.process.join()
            return Outcome(self.seed, Verdict.CRASH, f"the process ended with {self.process.exitcode}")
        self.seed = None
        if outcome.seconds > limit and outcome.verdict in (Verdict.PASSED, Verdict.UNFINISHED):
            outcome.verdict, outcome.reason = Verdict.UNFINISHED, f"{outcome.seconds:.0f} s. {outcome.reason}"
        return outcome

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


def run(job: Job, seeds: Iterable[int], jobs: int = 1, limit: float = LIMIT, **arguments: Any) -> Iterator[Outcome]:
    """Outcomes of `job(seed, **arguments)`, as they come."""
    context = mp.get_context("forkserver")
    context.set_forkserver_preload([job.__module__])
    waiting = iter(seeds)
    workers: list[_Worker] = []
    try:
        while True:
            for worker in [w for w in workers if w.seed is None]:
                _next(worker, waiting, workers)
            while len(workers) < jobs and (seed := next(waiting, None)) is not None:
                workers.append(_Worker(context, job, arguments))
                workers[-1].give(seed)
            if not workers:
                return
            yield from _finished(workers, limit)
    finally:
        for worker in workers:
            worker.end()


def _next(worker: _Worker, waiting: Iterator[int], workers: list[_Worker]) -> None:
    seed = next(waiting, None)
    if seed is None:
        worker.end()
        workers.remove(worker)
    else:
        worker.give(seed)


def _finished(workers: list[_Worker], limit: float) -> Iterator[Outcome]:
    ready = wait([worker.connection for worker in workers], timeout=1.0)
    for worker in list(workers):
        late = worker.is_late(limit)
        if worker.connection in ready:
            yield worker.take(limit)
        elif late:
            yield Outcome(worker.seed or 0, Verdict.UNFINISHED, f"no answer in {limit + _REFERENCE:.0f} s")
        if worker.seed is not None and (late or not worker.process.is_alive()):
            worker.end()
            workers.remove(worker)
