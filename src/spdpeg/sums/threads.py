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
    """Let the sums of this thread, and of no other, be made by so many threads."""
    token = _workers.set(n_jobs)
    try:
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


class _OneBlasThread:
    """Keeps linear algebra to one thread while anybody wants that; the setting belongs to the whole process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wanted = 0
        self._libraries: ThreadpoolController | None = None
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            self._wanted += 1
            if self._wanted == 1:
                self._libraries = self._libraries or ThreadpoolController()
                self._limit = self._libraries.limit(limits=1, user_api="blas")
                _release()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._wanted -= 1
            if self._wanted == 0:
                self._limit.restore_original_limits()
                _release()


def _release() -> None:
    """Let any thread change the setting again: threadpoolctl 3.8 and newer reserves it for the one that did so last."""
    release = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", None)
    if release is not None:
        release(force=True)


one_blas_thread = _OneBlasThread()
"""For a `with` statement: blocks share the processors already, and rounding must not depend on their number."""
