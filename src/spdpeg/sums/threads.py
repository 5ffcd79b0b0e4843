"""Blocks of rows worked on by several threads, with the same outcome for any number of them."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Generic, TypeVar

import numpy as np
import threadpoolctl
from joblib import cpu_count
from threadpoolctl import ThreadpoolController

from ..errors import InputError
from ..parameters import shown

_Item = TypeVar("_Item")
_Out = TypeVar("_Out")

_watcher: ContextVar[Callable[[int, int, int], None] | None] = ContextVar("watcher", default=None)

_END = object()

_AHEAD = 2
"""Blocks that wait for each thread: enough to keep it busy, few enough to keep what is in memory small."""


class _Crew:
    """The calling thread and others, which are there as long as `using` is.

    Starting threads for every read would take longer than small reads. The caller works too: if it slept instead, the
    system would often wake two threads on one processor and leave the other idle.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._pool: ThreadPoolExecutor | None = None

    @property
    def others(self) -> ThreadPoolExecutor:
        """The threads beside the caller; made when they are first needed."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.size - 1, thread_name_prefix="spdpeg")
        return self._pool

    def dismiss(self) -> None:
        """Shut the threads down."""
        if self._pool is not None:
            self._pool.shutdown()


_crew: ContextVar[_Crew | None] = ContextVar("crew", default=None)


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
    """Let the sums of this thread alone use so many threads, each with its own linear algebra."""
    crew = _Crew(n_jobs)
    token = _crew.set(crew)
    try:
        with one_blas_thread():
            yield
    finally:
        _crew.reset(token)
        crew.dismiss()


def allowed() -> int:
    """Threads that `using` allows here; 1 by default."""
    crew = _crew.get()
    return 1 if crew is None else crew.size


@contextmanager
def watched(on_block: Callable[[int, int, int], None]) -> Iterator[None]:
    """Call `on_block(read, block, blocks)` after each block, in reads of rows that are not in memory."""
    token = _watcher.set(on_block)
    try:
        yield
    finally:
        _watcher.reset(token)


def tell(read: int, block: int, blocks: int) -> None:
    """A block of a read is done."""
    on_block = _watcher.get()
    if on_block is not None:
        on_block(read, block, blocks)


def in_order(work: Callable[[_Item], _Out], items: Iterable[_Item]) -> Iterator[_Out]:
    """The outcomes of `work`, in the order of the items, made by the threads that `using` allows."""
    crew = _crew.get()
    if crew is None or crew.size == 1:
        yield from map(work, items)
        return
    waiting: deque[_Task[_Item, _Out]] = deque()
    try:
        for item in items:
            waiting.append(_Task(crew.others, work, item))
            if len(waiting) > _AHEAD * crew.size:
                yield _first(waiting)
        while waiting:
            yield _first(waiting)
    finally:
        # Nobody may still write to vectors that the caller uses again.
        wait([task.future for task in waiting if not task.future.cancel()])


class _Task(Generic[_Item, _Out]):
    """Work on an item, by a thread of the pool or by the caller, whoever comes first."""

    def __init__(self, pool: ThreadPoolExecutor, work: Callable[[_Item], _Out], item: _Item) -> None:
        self._work, self._item = work, item
        self.future: Future[_Out] = pool.submit(work, item)
        self._own: list[_Out] = []
        """The outcome, where the caller made it."""

    @property
    def done(self) -> bool:
        """Whether the outcome is there."""
        return self.future.done()

    def taken(self) -> bool:
        """Do the work here, unless it is done or another thread is at it."""
        if not self.future.cancel() or self._own:
            return False
        token = _crew.set(None)  # all threads are busy with items: inside of one there is one thread, as in the pool
        try:
            self._own.append(self._work(self._item))
        finally:
            _crew.reset(token)
        return True

    def outcome(self) -> _Out:
        """What the work returned; waits for the thread that is at it."""
        return self._own[0] if self._own else self.future.result()


def _first(waiting: deque[_Task[_Item, _Out]]) -> _Out:
    """Take the first task's outcome off the queue; while another thread is at it, work on those behind."""
    first = waiting[0]
    while not first.done and any(task.taken() for task in waiting):
        pass
    return waiting.popleft().outcome()


def ahead(items: Iterator[_Item]) -> Iterator[_Item]:
    """Iterate over the items while another thread makes the next one."""
    with ThreadPoolExecutor(1, thread_name_prefix="spdpeg-read") as pool:
        following = pool.submit(next, items, _END)
        while (item := following.result()) is not _END:
            following = pool.submit(next, items, _END)
            yield item  # type: ignore[misc]


class _Blas:
    """Linear algebra by one thread, in the whole process, as long as anybody wants that.

    Threads of its own would wait by spinning, and so take the processors from ours.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wanted = 0
        self._before: list[tuple[Any, int]] = []
        self._controller: ThreadpoolController | None = None

    def take(self) -> None:
        """Ask for it, until `leave` is called."""
        with self._lock:
            self._wanted += 1
            if self._wanted == 1:
                # Finding the libraries takes milliseconds, asking them less than one of a thousand.
                self._controller = self._controller or ThreadpoolController()
                libraries = [one for one in self._controller.lib_controllers if one.user_api == "blas"]
                found = [(library, library.get_num_threads() or 1) for library in libraries]
                self._before = [(library, number) for library, number in found if number > 1]
                self._set((library, 1) for library, _ in self._before)

    def leave(self) -> None:
        """Ask no longer. The last one gives back what was there before."""
        with self._lock:
            self._wanted -= 1
            if self._wanted == 0:
                self._set(self._before)

    def _set(self, numbers: Iterable[tuple[Any, int]]) -> None:
        for library, number in numbers:
            library.set_num_threads(number)
            _release()


def _release() -> None:
    """Allow any thread to change the setting: threadpoolctl 3.8 and newer reserves it for the last one that did."""
    release = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", None)
    if release is not None:
        release(force=True)


_blas = _Blas()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit linear algebra to one thread, in the whole process."""
    _blas.take()
    try:
        yield
    finally:
        _blas.leave()
