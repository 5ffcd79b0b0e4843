"""Progress bars for terminals: of one run, fed by the loop's callback, and of many."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, track

if TYPE_CHECKING:
    from ..result import Result
    from . import recorder

Item = TypeVar("Item")

_COLUMNS = (
    TextColumn("passes {task.fields[passes]:.3g}"),
    BarColumn(),
    TextColumn("objective {task.fields[objective]:.6g}  gap {task.fields[gap]:.1e}"),
    TimeElapsedColumn(),
)


def with_bar(work: "Callable[[Callable[[recorder.Progress], None]], Result]") -> "Result":
    """Run `work(show)` under a bar on standard error; `show` takes the records of the loop.

    Where standard error is not a terminal there is no bar.
    """
    console = Console(stderr=True)
    with Progress(*_COLUMNS, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=1.0, passes=0.0, objective=float("nan"), gap=float("nan"))

        def show(record: "recorder.Progress") -> None:
            bar.update(
                task,
                completed=record.share,
                passes=record.passes,
                objective=record.objective,
                gap=record.gap,
            )

        return work(show)


def counted(items: Iterable[Item], name: str, total: int) -> Iterator[Item]:
    """The items, with a bar on standard error that counts them; no bar where that is not a terminal."""
    console = Console(stderr=True)
    yield from track(items, name, total, console=console, transient=True, disable=not console.is_terminal)
