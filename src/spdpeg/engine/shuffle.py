"""Rows on their way from a stream to the steps: mixed in a buffer, kept from run to run, none of them dropped."""

import math
from typing import NamedTuple, Self

import numpy as np

from ..data import Block
from ..data.blocks import from_arrays, join, pick, to_arrays
from ..solvers.sampling import generator
from ..state import State

_STRETCH = 1 << 12
"""Rows whose draws come from one generator before the next one, seeded by its number, takes over."""

_PLACE = (1, 2, 3, 4)
"""Sets these generators apart from those that choose rows of finite data."""

_REPEATED = 1 << 14
"""Up to so many rows, each that comes lets a random one of the buffer be used once more: short streams have fewer rows
than a method needs steps. Later rows are used once."""


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

    def __init__(self, size: int, seed: int) -> None:
        self.size, self.seed = size, seed
        self.kept: Block | None = None
        self._out = 0
        """The first rows of `kept` are out of the buffer and wait for a whole step."""
        self._received = 0
        self._number = -1
        self._drawn: list[list[int]] = []

    @classmethod
    def resumed(cls, size: int, state: State, width: int, bias: float) -> Self:
        """With the rows that wait in the state."""
        shuffler = cls(size, state.seed)
        if state.held:
            shuffler.kept = from_arrays(state.held, width, bias)
            shuffler._out, shuffler._received = (int(count) for count in state.held["counts"])
        return shuffler

    def arrays(self) -> dict[str, np.ndarray]:
        """What `resumed` needs."""
        if self.kept is None:
            return {}
        return to_arrays(self.kept) | {"counts": np.array([self._out, self._received])}

    def receive(self, block: Block) -> Passage:
        """Which rows to use as those of the block come in."""
        return self._passage(block if self.kept is None else join([self.kept, block]), block.labels.size, math.inf)

    def settle(self, passage: Passage, used: int) -> None:
        """Keep all rows but those that were used and are out of the buffer."""
        places = np.concatenate([passage.order[used:], passage.buffered])
        self._out = passage.order.size - used
        self._received += passage.came
        self.kept = pick(passage.pool, places) if places.size else None

    def stop(self, passage: Passage, used: int) -> int:
        """Keep what is needed to go on after the rows used; returns how many of those that came were let in for it."""
        needed = self._passage(passage.pool, passage.came, used)
        self.settle(needed, used)
        return needed.came

    def rest(self) -> np.ndarray:
        """Places of the rows kept, in an order to use them in if no other came."""
        if self.kept is None:
            return np.empty(0, dtype=np.int64)
        rng = generator(self.seed, *_PLACE, self._received, 0)
        inside = np.arange(self._out, self.kept.labels.size)
        times = 1 + (self._repeats(self._received) if self.size else 0)
        return np.concatenate([np.arange(self._out), *(rng.permutation(inside) for _ in range(times))])

    def _passage(self, pool: Block, came: int, enough: float) -> Passage:
        """As rows come in, until there are enough to use."""
        kept = pool.labels.size - came
        order, buffered = list(range(self._out)), list(range(self._out, kept))
        number = 0
        while number < came and len(order) < enough:
            place = kept + number
            if self.size == 0:
                order.append(place)
            elif len(buffered) < self.size:
                buffered.append(place)
            else:
                slots = self._slots(self._received + number)
                order.append(buffered[slots[0]])
                buffered[slots[0]] = place
                for slot in slots[1:]:
                    order.append(buffered[slot])
            number += 1
        return Passage(pool, number, np.array(order, dtype=np.int64), np.array(buffered, dtype=np.int64))

    def _slots(self, number: int) -> list[int]:
        """The place in the buffer that the row of this number takes, and those of rows to use once more."""
        stretch, offset = divmod(number, _STRETCH)
        if stretch != self._number:
            self._number = stretch
            rng = generator(self.seed, *_PLACE, stretch)
            self._drawn = rng.integers(self.size, size=(_STRETCH, 1 + self._repeats(stretch * _STRETCH))).tolist()
        return self._drawn[offset]

    def _repeats(self, number: int) -> int:
        return 1 if number < _REPEATED else 0
