"""Running a study: every piece of work in its own file, so that what is finished is never done again."""

import concurrent.futures as futures
import hashlib
import json
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from .. import SpdpegError, __version__
from ..files.replacing import replacing, sweep
from . import measure
from .protocol import Study

Report = Callable[[str, int, int], None]
"""Called with the name of a stage, how many of its pieces are finished, and how many there are."""


class Job(NamedTuple):
    """A piece of work; `seed` tells the runs of a curve apart."""

    kind: str
    task: str
    data: str
    method: str
    fold: int
    seed: int = 0


_CONTENT = 4
"""Version of the format of pieces; those of another version are computed again."""


class Parts:
    """The files of finished pieces. A name holds a digest of all that decides the content."""

    def __init__(self, study: Study, directory: Path) -> None:
        self._study = study
        self._directory = directory
        self._problems = {(task, data): _digest(study, task, data) for task in study.tasks for data in study.data}
        directory.mkdir(parents=True, exist_ok=True)

    def path(self, job: Job) -> Path:
        """Where the piece is, or will be."""
        study, method = self._study, self._study.methods[job.task].get(job.method)
        decisive = [
            __version__,
            _CONTENT,
            job,
            self._problems[job.task, job.data],
            method and repr((method.solver, method.setting, method.parameters, method.lattices)),
            study.reference(job.task).name,
            study.passes,
            study.seconds,
            study.seed,
        ]
        digest = hashlib.sha256(json.dumps(decisive).encode()).hexdigest()[:12]
        place = f"{job.task}_{job.data}_{job.method}_{job.fold}-{job.seed}"
        return self._directory / f"{job.kind}_{place}_{digest}.json"

    def read(self, job: Job) -> dict[str, Any]:
        """A finished piece."""
        part: dict[str, Any] = json.loads(self.path(job).read_text(encoding="utf-8"))
        return part

    def missing(self, jobs: list[Job]) -> list[Job]:
        """The jobs that are not finished yet."""
        return [job for job in jobs if not self.path(job).exists()]


def _digest(study: Study, task: str, data: str) -> str:
    """Digest of the numbers that define a problem; of an operator its matrix, as objects change when used."""
    import joblib

    form, source = study.tasks[task], study.data[data]
    F = form.operator(source).bind(source.X.shape[1]).matrix().tocsr()
    terms = [(type(term).__name__, term.get_params()) for term in (form.loss, form.r1, form.r2)]
    digest: str = joblib.hash([source.X, source.y, F.shape, F.data, F.indices, F.indptr, terms])
    return digest


def preparations(study: Study) -> list[Job]:
    """The jobs that curves depend on: the pace of each task and set, optima, and choices of parameters."""
    cells = [(task, data) for task in study.tasks for data in study.data if study.methods[task]]
    paces = [Job("pace", task, data, study.reference(task).name, 0) for task, data in cells]
    optima = [Job("optimum", task, data, "", fold) for fold in range(study.rounds) for task, data in cells]
    choices = [
        Job("choice", task, data, method.name, fold)
        for fold in range(study.rounds)
        for task, data in cells
        for method in study.methods[task].values()
        if method.lattices
    ]
    return [*paces, *choices, *optima]


def curves(study: Study) -> list[Job]:
    """Round after round, so that the time left can be estimated from the first."""
    found = [
        Job("curve", task, data, method, fold, seed)
        for task in study.tasks
        for data in study.data
        for method in study.methods[task]
        for fold, seed in study.runs(task, method)
    ]
    return sorted(found, key=lambda job: (job.fold, job.seed))


def run(study: Study, directory: Path, jobs: int, report: Report | None = None) -> Parts:
    """Do what is missing in `jobs` processes of one thread each."""
    parts = Parts(study, directory)
    sweep(directory)
    context = multiprocessing.get_context("spawn")
    end_to_watch, end_to_hold = context.Pipe(duplex=False)
    with futures.ProcessPoolExecutor(jobs, context, _begin, (study, parts, end_to_watch)) as pool:
        try:
            _stage(pool, parts, "preparing", preparations(study), {}, report)
            extra = {job: _given(study, parts, job) for job in parts.missing(curves(study))}
            _stage(pool, parts, "curves", curves(study), extra, report)
        except futures.process.BrokenProcessPool:
            raise SpdpegError(
                "A worker process ended unexpectedly, perhaps for want of memory. "
                "Start the command again, with fewer --jobs if it happens twice: finished curves are kept."
            ) from None
        except BaseException:
            end_to_hold.close()
            raise
    return parts


def processors() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def chosen(study: Study, parts: Parts, job: Job) -> dict[str, Any]:
    """The parameters that tuning chose for a curve; empty for a method that is not tuned."""
    if not study.methods[job.task][job.method].lattices:
        return {}
    return parts.read(Job("choice", job.task, job.data, job.method, job.fold))


def _given(study: Study, parts: Parts, job: Job) -> tuple[dict[str, Any], float]:
    """The inputs of a curve from its preparations: a choice of parameters, and the least time."""
    pace = parts.read(Job("pace", job.task, job.data, study.reference(job.task).name, 0))
    return chosen(study, parts, job), pace["seconds"]


def _stage(
    pool: futures.Executor,
    parts: Parts,
    name: str,
    jobs: list[Job],
    extra: dict[Job, tuple[Any, ...]],
    report: Report | None,
) -> None:
    missing = parts.missing(jobs)
    done = len(jobs) - len(missing)
    with _workers_deaf_to_the_keyboard():
        pending = [pool.submit(_work, job, *extra.get(job, ())) for job in missing]
    if report:
        report(name, done, len(jobs))
    for finished in futures.as_completed(pending):
        finished.result()
        done += 1
        if report:
            report(name, done, len(jobs))


@contextmanager
def _workers_deaf_to_the_keyboard() -> Iterator[None]:
    """Processes started in here never see Ctrl-C, which they would answer with a traceback while they import.

    They inherit what this thread blocks; a Ctrl-C that comes meanwhile waits for the end.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_here: tuple[Study, Parts]
"""The arguments of `_begin`, in a worker."""


def _begin(study: Study, parts: Parts, end_to_watch: Connection) -> None:
    """Start a worker: of one thread, deaf to the keyboard, and ending at once when the parent lets go of its end."""
    global _here
    _here = study, parts
    import scipy.linalg  # noqa: F401  (its BLAS is the one that compiled code calls)
    import threadpoolctl

    threadpoolctl.threadpool_limits(1)
    if hasattr(os, "setsid"):
        os.setsid()

    def follow() -> None:
        end_to_watch.poll(None)
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def _work(job: Job, choice: dict[str, Any] | None = None, least_seconds: float = 0.0) -> None:
    study, parts = _here
    place = study, job.task, job.data
    match job.kind:
        case "pace":
            part = measure.pace(*place)
        case "optimum":
            part = measure.optimum(*place, job.fold)
        case "choice":
            part = measure.tune(*place, study.methods[job.task][job.method], job.fold)
        case _:
            method = study.methods[job.task][job.method]
            part = measure.curve(*place, method, (job.fold, job.seed), choice or {}, least_seconds)
    with replacing(parts.path(job)) as file:
        file.write(json.dumps(part).encode())
