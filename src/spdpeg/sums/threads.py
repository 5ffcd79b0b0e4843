"""Blocks of rows worked on by several threads, with the same outcome for any number of them."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np
import threadpoolctl
from joblib import cpu_count
from threadpoolctl import ThreadpoolController

from ..errors import InputError
from ..parameters import shown

_Item = TypeVar("_Item")
_Out = TypeVar("_Out")

_workers: ContextVar[int] = ContextVar("workers", default=1)

_watcher: ContextVar[Callable[[int, int, int], None] | None] = ContextVar("watcher", default=None)

_END = object()

_AHEAD = 2
"""Blocks that wait for each thread: enough to keep it busy, few enough to keep what is in memory small."""


def checked_jobs(n_jobs: Any) -> int:
    """The number of threads that `n_jobs` means: None is 1, -1 all processors, -2 all but one."""
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0:
        raise InputError(f"n_jobs is {shown(n_jobs)}. Give a number of threads, -1 for all processors, or None for 1.")
    jobs = int(n_jobs)
    if jobs > 0:
        return jobs
    return max(1, cpu_count() + 1 + jobs)


@contextmanager
def using(n_jobs: int) -> Iterator[None]:
    """Let the sums of this thread, and of no other, be made by so many threads, and linear algebra by no more."""
    token = _workers.set(n_jobs)
    try:
        with blas_threads(n_jobs):
            yield
    finally:
        _workers.reset(token)


def allowed() -> int:
    """Threads that `using` allows here; 1 by default."""
    return _workers.get()


@contextmanager
def watched(told: Callable[[int, int, int], None]) -> Iterator[None]:
    """Let `told(read, block, blocks)` hear of each block that is done in reads of rows that are far away."""
    token = _watcher.set(told)
    try:
        yield
    finally:
        _watcher.reset(token)


def tell(read: int, block: int, blocks: int) -> None:
    """A block of a read is done."""
    told = _watcher.get()
    if told is not None:
        told(read, block, blocks)


def in_order(work: Callable[[_Item], _Out], items: Iterable[_Item]) -> Iterator[_Out]:
    """The outcomes of `work`, in the order of the items, made by the threads that `using` allows."""
    jobs = allowed()
    if jobs == 1:
        yield from map(work, items)
        return
    waiting: deque[Future[_Out]] = deque()
    with ThreadPoolExecutor(jobs, thread_name_prefix="spdpeg") as pool:
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) > _AHEAD * jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def ahead(items: Iterator[_Item]) -> Iterator[_Item]:
    """The same items, the next one made by another thread while one is worked on."""
    with ThreadPoolExecutor(1, thread_name_prefix="spdpeg-read") as pool:
        following = pool.submit(next, items, _END)
        while (item := following.result()) is not _END:
            following = pool.submit(next, items, _END)
            yield item  # type: ignore[misc]


class _BlasThreads:
    """How many threads linear algebra may take. The setting belongs to the whole process: the least that anybody wants.

    It is never raised above what the process had, and given back when nobody wants anything any more.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wanted: list[int] = []
        self._before: list[tuple[Any, int]] = []
        self._controller: ThreadpoolController | None = None

    def take(self, n_threads: int) -> None:
        """Ask for so many at most, until `leave` is called with the same number."""
        with self._lock:
            if not self._wanted:
                # Finding the libraries takes milliseconds, asking them less than one of a thousand.
                self._controller = self._controller or ThreadpoolController()
                libraries = [one for one in self._controller.lib_controllers if one.user_api == "blas"]
                self._before = [(library, library.get_num_threads() or 1) for library in libraries]
            self._change(self._wanted, [*self._wanted, n_threads])

    def leave(self, n_threads: int) -> None:
        """Ask no longer."""
        with self._lock:
            remaining = list(self._wanted)
            remaining.remove(n_threads)
            self._change(self._wanted, remaining)

    def _change(self, old: list[int], new: list[int]) -> None:
        self._wanted = new
        changed = False
        for library, before in self._before:
            number = min(before, *new) if new else before
            if number != (min(before, *old) if old else before):
                library.set_num_threads(number)
                changed = True
        if changed:
            _release()


def _release() -> None:
    """Let any thread change the setting again: threadpoolctl 3.8 and newer reserves it for the one that did so last."""
    release = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", None)
    if release is not None:
        release(force=True)


_blas = _BlasThreads()


@contextmanager
def blas_threads(n_threads: int) -> Iterator[None]:
    """Let linear algebra take so many threads at most, in all of the process."""
    _blas.take(n_threads)
    try:
        yield
    finally:
        _blas.leave(n_threads)
