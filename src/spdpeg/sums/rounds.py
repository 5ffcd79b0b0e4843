"""Rounds of tasks on a cluster: one task for each partition, then a tree that adds up what they return.

Partitions are added up in groups of eight, groups of groups and so on, in an order that depends on their number alone:
the same bits for any number of workers. Tasks are plain ones, on no worker in particular and with keys that occur once,
so that whatever a lost worker held is computed again from where it came.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from ..errors import ClusterError, InputError, SpdpegError
from .tasks import Summand, add

_FAN_IN = 8
"""Summands that one task adds up."""

_POLL, _MOMENT = 1.0, 5.0
"""Seconds after which a round is asked again whether it is done, and seconds that others may take to fail too, so that
the first can be named."""

_TIME_LIMIT = "10 minutes"
"""Time without progress after which a round is given up, unless dask's setting spdpeg.time-limit says otherwise."""


def active_client(name: str) -> Any:
    """The client of dask that is in use here; refused if there is none."""
    try:
        from distributed import get_client
    except ImportError:
        raise InputError(
            f"{name} is a collection of dask, which needs the package distributed. Install spdpeg[dask], or call "
            f"{name}.compute() first if it fits into memory."
        ) from None
    try:
        client = get_client()
    except ValueError:
        raise InputError(
            f"{name} is a collection of dask and no client is active. Start one with dask.distributed.Client(), or "
            f"call {name}.compute() first if it fits into memory."
        ) from None
    if client.asynchronous:
        raise InputError("The active client of dask is asynchronous. Make one with Client(..., asynchronous=False).")
    return client


class Rounds:
    """Tasks over partitions.

    Parameters
    ----------
    client : distributed.Client
    numbers : sequence of int
        The user's numbers of the partitions, for messages.

    Attributes
    ----------
    done : int
        Rounds so far: how often the driver has waited for the workers.
    """

    def __init__(self, client: Any, numbers: Sequence[int]) -> None:
        self.client, self.numbers, self.done = client, numbers, 0

    def each(self, function: Callable[..., Any], *items: Sequence[Any], **shared: Any) -> list[Any]:
        """Futures of what a function makes of each partition; items are futures or values, one for each."""
        return list(self.client.map(function, *items, pure=False, **shared))

    def common(self, function: Callable[..., Any], *values: Any) -> Any:
        """A future that all tasks of a round may share."""
        return self.client.submit(function, *values, pure=False)

    def total(self, leaves: Sequence[Any]) -> Summand:
        """Summands added up; waits for it."""
        found: Summand = self._result(self._tree(leaves), leaves)
        return found

    def gathered(self, leaves: Sequence[Any]) -> list[Any]:
        """The results of the tasks, which must be small; waits for them."""
        found: list[Any] = self._result(self.client.submit(list, list(leaves), pure=False), leaves)
        return found

    def gathered_with(self, leaves: Sequence[Any], others: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The results of `gathered`, together with those of tasks that depend on all of them."""
        found: tuple[list[Any], list[Any]] = self._result(
            self.client.submit(_both, list(leaves), list(others), pure=False), leaves
        )
        return found

    def _tree(self, leaves: Sequence[Any]) -> Any:
        """A future of the sum."""
        level = list(leaves)
        while True:
            groups = [level[start : start + _FAN_IN] for start in range(0, len(level), _FAN_IN)]
            level = list(self.client.map(add, groups, pure=False))
            if len(level) == 1:
                return level[0]

    def _result(self, root: Any, leaves: Sequence[Any]) -> Any:
        from distributed import wait

        self.done += 1
        limit = _time_limit()
        known, moved = ("", 0), time.monotonic()
        while True:
            with suppress(Exception):  # not done yet, or failed; its status tells
                wait([root], timeout=min(_POLL, limit))
            if root.status == "finished":
                try:
                    return root.result(timeout=limit)
                except Exception:
                    time.sleep(min(_POLL, limit))  # lost with a worker on its way here: it is computed again
            if root.status in ("error", "cancelled"):
                self._explain(root, leaves)
            now, status = time.monotonic(), (root.status, sum(leaf.status == "finished" for leaf in leaves))
            if status != known:
                known, moved = status, now
            elif now - moved > limit:
                self._give_up(limit, leaves)

    def _explain(self, root: Any, leaves: Sequence[Any]) -> None:
        """Raise what the first of the partitions that failed ended with, as a sentence that names it."""
        from distributed import wait
        from distributed.scheduler import KilledWorker

        with suppress(Exception):  # cancelled, or some are still running: those that failed are known
            wait(list(leaves), timeout=min(_MOMENT, _time_limit()))
        failed = [place for place, leaf in enumerate(leaves) if leaf.status == "error"]
        if not failed:
            raise ClusterError(
                f"The cluster lost the work of this round (status {root.status!r}). Check that scheduler and client "
                "are still running, and fit again."
            )
        number, error = self.numbers[failed[0]], leaves[failed[0]].exception()
        if isinstance(error, SpdpegError):
            raise type(error)(f"Partition {number} cannot be used. {error}") from None
        if isinstance(error, KilledWorker):
            raise ClusterError(
                f"Partition {number} was given up after several workers died with it, probably for want of memory. "
                "Make the partitions smaller, or give the workers more memory."
            ) from None
        raise InputError(
            f"Partition {number} could not be computed ({type(error).__name__}: {error}). Check where it comes from; "
            f"X.partitions[{number}].compute() shows all of the error."
        ) from None

    def _give_up(self, limit: float, leaves: Sequence[Any]) -> None:
        waiting = [number for number, leaf in zip(self.numbers, leaves, strict=True) if leaf.status != "finished"]
        some = ", ".join(map(str, waiting[:5])) + (", ..." if len(waiting) > 5 else "")
        workers = len(self.client.scheduler_info()["workers"]) if self.client.status == "running" else 0
        what = f"partition(s) {some} not done" if waiting else "the sums not added up"
        raise ClusterError(
            f"No progress for {limit:g} seconds, {what}, {workers} worker(s) there. Look after the cluster, or raise "
            "the limit with dask.config.set({'spdpeg.time-limit': '1 hour'})."
        )


def _both(first: Any, second: Any) -> tuple[Any, Any]:
    return first, second


def _time_limit() -> float:
    """Seconds without progress after which a round is given up."""
    import dask.config
    from dask.utils import parse_timedelta

    setting = dask.config.get("spdpeg.time-limit", _TIME_LIMIT)
    try:
        limit = float(parse_timedelta(setting))
    except (TypeError, ValueError, KeyError, AttributeError):
        limit = 0.0
    if not limit > 0.0:
        raise InputError(f"dask's setting spdpeg.time-limit is {setting!r}. Give a time such as '10 minutes'.")
    return limit
