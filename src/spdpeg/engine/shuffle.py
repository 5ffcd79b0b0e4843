"""Rows on their way from a stream to the steps: mixed in a buffer, kept from run to run, none of them dropped."""

import math
import warnings
from functools import lru_cache
from typing import Any, NamedTuple, Self

import numpy as np

from ..data import Block
from ..data.blocks import from_arrays, join, pick, to_arrays
from ..errors import OrderWarning
from ..kernels.mixing import exchange
from ..solvers.sampling import generator
from ..state import State

_CHUNK = 1 << 12
"""Rows whose draws come from one generator before the next one, seeded by its number, takes over."""

_PLACE = (1, 2, 3, 4)
"""Sets these generators apart from those that choose rows of finite data."""

_REPEATED = 1 << 14
_BY_HEART = 4
"""Up to _REPEATED rows, each that comes lets a random one of the buffer be used once more: short streams have fewer
rows than a method needs steps. Later rows are used once, and so are the first ones, _BY_HEART times as many as there
are columns: so few can be learned by heart."""

_CHANCE = 1e-9
"""A run of one class is noticed if rows in random order would show one as long this rarely."""


class Passage(NamedTuple):
    """Rows at hand: those kept and those that came, and the places of the ones to use next, in order."""

    pool: Block
    came: int
    order: np.ndarray
    buffered: np.ndarray
    """Places of the rows that are in the buffer after that."""


class Shuffler:
    """A buffer of rows: when it is full, each row that comes in takes the place of a random one, which goes out.

    Which one goes depends on the seed and on the number of the row that comes, so that the outcome is the same however
    the rows are cut into chunks. With `size` 0 rows go out as they come in.
    """

    def __init__(self, size: int, seed: int, width: int) -> None:
        self.size, self.seed, self._width = size, seed, width
        self.kept: Block | None = None
        self._out = 0
        """The first rows of `kept` are out of the buffer and wait for a whole step."""
        self._received = 0

    @classmethod
    def resumed(cls, size: int, state: State, width: int, bias: float) -> Self:
        """A shuffler that begins with the rows that wait in the state."""
        shuffler = cls(size, state.seed, width)
        if state.held:
            shuffler.kept = from_arrays(state.held, width, bias)
            shuffler._out, shuffler._received = (int(count) for count in state.held["counts"])
        return shuffler

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that `resumed` restores."""
        if self.kept is None:
            return {}
        return to_arrays(self.kept) | {"counts": np.array([self._out, self._received])}

    def receive(self, block: Block) -> Passage:
        """Which rows to use as those of the block come in."""
        return self._passage(block if self.kept is None else join([self.kept, block]), block.labels.size, math.inf)

    def advance(self, passage: Passage, used: int) -> None:
        """Keep all rows but those that were used and are out of the buffer."""
        places = np.concatenate([passage.order[used:], passage.buffered])
        self._out = passage.order.size - used
        self._received += passage.came
        self.kept = pick(passage.pool, places) if places.size else None

    def stop(self, passage: Passage, used: int) -> int:
        """Keep what is needed to go on after the rows used; returns how many of those that came were let in for it."""
        needed = self._passage(passage.pool, passage.came, used)
        self.advance(needed, used)
        return needed.came

    def rest(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Places of the rows kept, as if no other came: those to use, some that are not among them, what to use then.

        Half of the buffer is left out at first. Where a stream has hardly begun, its rows are used more often.
        """
        if self.kept is None:
            return (np.empty(0, dtype=np.int64),) * 3
        rng = generator(self.seed, *_PLACE, self._received, 0)
        inside = np.arange(self._out, self.kept.labels.size)
        again = 2 if self._received < 2 * self.size else int(self.size > 0 and _repeats(self._width, self._received))
        first, unused = np.array_split(rng.permutation(inside), 2)
        more = [rng.permutation(inside) for _ in range(again)]
        return np.concatenate([np.arange(self._out), first]), unused, np.concatenate([unused, *more])

    def _passage(self, pool: Block, came: int, enough: float) -> Passage:
        """The rows that may be used as new ones come in, at most `enough` of them."""
        kept = pool.labels.size - came
        waiting = np.arange(self._out)
        if self.size == 0:
            let_in = int(min(came, max(0.0, enough - self._out)))
            return Passage(pool, let_in, np.concatenate([waiting, kept + np.arange(let_in)]), np.arange(kept, kept))
        filled = min(came, max(0, self.size - (kept - self._out))) if self._out < enough else 0
        buffered = np.arange(self._out, kept + filled)
        slots = self._slots(self._received + filled, self._received + came if buffered.size == self.size else 0)
        uses = np.where(slots[:, 1] < 0, 1, 2)
        order = np.concatenate([waiting, np.empty(int(uses.sum()), dtype=np.int64)])
        most = int(min(enough, order.size))
        number, out = exchange(slots, uses, kept + filled, most, buffered, order, waiting.size)
        return Passage(pool, filled + number, order[:out], buffered)

    def _slots(self, start: int, stop: int) -> np.ndarray:
        """For rows of these numbers: the place in the buffer that each takes, and that of one to use again or -1."""
        found = [np.empty((0, 2), dtype=np.int64)]
        while start < stop:
            chunk, offset = divmod(start, _CHUNK)
            drawn = _draw(self.size, self.seed, self._width, chunk)
            found.append(drawn[offset : offset + stop - start])
            start += len(found[-1])
        return np.concatenate(found)


@lru_cache(maxsize=8)
def _draw(size: int, seed: int, width: int, chunk: int) -> np.ndarray:
    """The draws of a chunk, kept: streams that come in small pieces ask for the same ones again and again."""
    slots = generator(seed, *_PLACE, chunk).integers(size, size=(_CHUNK, 2))
    slots[~_repeats(width, chunk * _CHUNK + np.arange(_CHUNK)), 1] = -1
    slots.flags.writeable = False
    return slots


def _repeats(width: int, numbers: Any) -> Any:
    """Whether a row of the buffer is used again when the rows with these numbers come; rows have so many columns."""
    return (numbers >= _BY_HEART * width) & (numbers < _REPEATED)


class OrderWatch:
    """Watches the labels of a stream for runs of one class that are longer than the buffer.

    The counts live in the state, so that chunks and resumed runs make no difference.
    """

    def __init__(self, state: State, buffer: int) -> None:
        self._counts, self._buffer = state.numbers, buffer

    def watch(self, labels: np.ndarray) -> None:
        """Take note of the labels that came, -1 or +1, and warn once if they come in long runs."""
        if not labels.size:
            return
        counts = self._counts
        stops = np.append(np.flatnonzero(np.diff(labels)) + 1, labels.size)
        classes, lengths = labels[stops - 1], np.diff(stops, prepend=0).astype(float)
        before = np.array([counts.get("order_positive", 0.0), counts.get("order_negative", 0.0)])
        seen = before + np.stack([np.cumsum(lengths * (classes > 0.0)), np.cumsum(lengths * (classes <= 0.0))], axis=1)
        if counts.get("order_class") == classes[0]:
            lengths[0] += counts["order_run"]
        # Only runs that may be worth a warning are looked at one by one, and the last, which may go on.
        for number in np.append(np.flatnonzero(lengths[:-1] > self._buffer), lengths.size - 1):
            counts["order_class"], counts["order_run"] = float(classes[number]), float(lengths[number])
            counts["order_positive"], counts["order_negative"] = map(float, seen[number])
            self._judge()

    def _judge(self) -> None:
        """Warn once, if the run that just came is longer than the buffer and than chance would have it."""
        counts = self._counts
        if counts["order_run"] > self._buffer and not counts.get("order_warned") and self._is_odd():
            counts["order_warned"] = 1.0
            warnings.warn(
                f"The stream has a run of {int(counts['order_run'])} rows of one class, longer than the shuffle buffer "
                f"of {self._buffer}. Raise buffer_size, or feed the rows in random order.",
                OrderWarning,
                stacklevel=2,
            )

    def _is_odd(self) -> bool:
        """Whether rows in random order, with the classes as frequent as outside this run, would hardly show it."""
        counts = self._counts
        positive, negative = counts["order_positive"], counts["order_negative"]
        run = counts["order_run"]
        others = positive + negative - run
        if others == 0.0:
            return False  # so far there is only one class, and no telling how rare the other is
        own = (positive if counts["order_class"] > 0.0 else negative) - run
        chance = run * math.log((own + 1.0) / (others + 2.0)) + math.log(positive + negative)
        return chance < math.log(_CHANCE)
