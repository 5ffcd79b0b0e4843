"""Progress bars for terminals: of one run, fed by the loop's callback, and of many."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn, track
from rich.text import Text

from ..sums.threads import watched

if TYPE_CHECKING:
    from ..result import Result
    from . import recorder

Item = TypeVar("Item")


class _Time(ProgressColumn):
    """Elapsed for a run, whose end is not known; left for a read of all rows, whose end is."""

    def render(self, task: Task) -> Text:
        """The text of a line."""
        if task.total == 1.0 or task.time_remaining is None:
            return TimeElapsedColumn().render(task)
        minutes, seconds = divmod(round(task.time_remaining), 60)
        return Text(f"{minutes}:{seconds:02d} left", style="progress.remaining")


_COLUMNS = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[facts]}"), _Time())


def with_bar(work: "Callable[[Callable[[recorder.Progress], None]], Result]") -> "Result":
    """Run `work(show)` under a bar on standard error; `show` takes the records of the loop.

    Where rows are read from a disk, a second bar shows how far the read has come. Where standard error is not a
    terminal there is no bar.
    """
    console = Console(stderr=True)
    with Progress(*_COLUMNS, console=console, transient=True, disable=not console.is_terminal) as bar:
        run = bar.add_task("passes 0", total=1.0, facts="")
        read = bar.add_task("", visible=False, facts="")

        def show(record: "recorder.Progress") -> None:
            facts = f"objective {record.objective:.6g}  gap {record.gap:.1e}"
            bar.update(run, completed=record.fraction, description=f"passes {record.passes:.3g}", facts=facts)

        def on_block(number: int, block: int, blocks: int) -> None:
            if block == 1:
                bar.reset(read, total=blocks, description=f"read {number}", visible=True)
            bar.update(read, completed=block)

        with watched(on_block):
            return work(show)


def counted(items: Iterable[Item], name: str, total: int) -> Iterator[Item]:
    """The items, with a bar on standard error that counts them; no bar where that is not a terminal."""
    console = Console(stderr=True)
    yield from track(items, name, total, console=console, transient=True, disable=not console.is_terminal)
