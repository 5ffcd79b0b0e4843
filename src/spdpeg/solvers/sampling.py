"""Which rows a step reads: a pure function of the seed and of how many batches were drawn before.

Nothing but two integers has to be saved to resume a run with the same bits, and the way a run is cut into chunks
changes nothing.
"""

import numpy as np

from ..parameters import one_of

_CHUNK = 1 << 14
"""Rows drawn from one generator before the next one, seeded by its number, takes over."""

_EARLY_PASSES = 5
"""Passes of independent draws before rows are reshuffled."""

_CROWDED = 4
"""Square of the batch over N from which on hardly a batch is free of repetitions by chance."""

_REDRAWS = 20
"""How often batches that hold a row twice are redrawn before uniform sampling takes over."""

_DISK_ROWS = 4096
"""Rows that are read together from disk."""


def generator(seed: int, *place: int) -> np.random.Generator:
    """A generator of its own for each place; places of different lengths do not collide."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=place))


class Independent:
    """Uniform batches, independent of each other; no row twice within a batch."""

    def __init__(self, n_samples: int, batch_size: int, seed: int) -> None:
        self.n_samples, self.batch_size, self.seed = n_samples, batch_size, seed
        self._per_chunk = max(1, _CHUNK // batch_size)
        self._number = -1
        self._drawn = np.empty(0, dtype=np.int64)

    def draw(self, first: int, count: int) -> np.ndarray:
        """Rows of the batches first, ..., first + count - 1, one after the other."""
        b = self.batch_size
        out = np.empty(count * b, dtype=np.int64)
        done = 0
        while done < count:
            number, offset = divmod(first + done, self._per_chunk)
            if number != self._number:
                self._number, self._drawn = number, self._chunk(number)
            take = min(count - done, self._per_chunk - offset)
            out[done * b : (done + take) * b] = self._drawn[offset * b : (offset + take) * b]
            done += take
        return out

    def _chunk(self, number: int) -> np.ndarray:
        rng = generator(self.seed, number)
        n, b, m = self.n_samples, self.batch_size, self._per_chunk
        if b == 1:
            return rng.integers(n, size=m)
        if b * b > _CROWDED * n:
            return np.concatenate([rng.choice(n, b, replace=False) for _ in range(m)])
        batches = rng.integers(n, size=(m, b))
        while (repeated := np.flatnonzero((np.diff(np.sort(batches, axis=1), axis=1) == 0).any(axis=1))).size:
            batches[repeated] = rng.integers(n, size=(repeated.size, b))
        return batches.reshape(-1)


class Importance(Independent):
    """Uniform batches to start with, then ones that hold a row with its probability; no row twice in one.

    Redrawing a batch because of a repetition changes the proportions slightly, the less the larger N is.
    """

    def __init__(self, probabilities: np.ndarray, batch_size: int, seed: int, uniform: int) -> None:
        super().__init__(probabilities.size, batch_size, seed)
        self._uniform = Independent(probabilities.size, batch_size, seed)
        self._turn = uniform
        self._below = np.cumsum(probabilities)

    def draw(self, first: int, count: int) -> np.ndarray:
        early = min(max(self._turn - first, 0), count)
        parts = [self._uniform.draw(first, early)] if early else []
        return np.concatenate([*parts, super().draw(first + early, count - early)])

    def _chunk(self, number: int) -> np.ndarray:
        rng = generator(self.seed, number)
        m, b = self._per_chunk, self.batch_size
        batches = self._rows(rng, (m, b))
        for _ in range(_REDRAWS):
            repeated = np.flatnonzero((np.diff(np.sort(batches, axis=1), axis=1) == 0).any(axis=1))
            if not repeated.size:
                return batches.reshape(-1)
            batches[repeated] = self._rows(rng, (repeated.size, b))
        repeated = np.flatnonzero((np.diff(np.sort(batches, axis=1), axis=1) == 0).any(axis=1))
        for k in repeated:
            batches[k] = rng.choice(self.n_samples, b, replace=False)
        return batches.reshape(-1)

    def _rows(self, rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
        return np.searchsorted(self._below, rng.random(shape) * self._below[-1], side="right")


class Reshuffled:
    """Every row once per pass, in a new random order for each pass.

    With `rows_together`, blocks of that many neighbouring rows are visited in random order and shuffled inside:
    what a disk can deliver.
    """

    def __init__(self, n_samples: int, batch_size: int, seed: int, rows_together: int | None = None) -> None:
        self.n_samples, self.batch_size, self.seed = n_samples, batch_size, seed
        self.rows_together = n_samples if rows_together is None else min(rows_together, n_samples)
        self._key = (-1, -1)
        self._rows = np.empty(0, dtype=np.int64)
        self._order = np.empty(0, dtype=np.int64)
        self._pass = -1

    def draw(self, first: int, count: int) -> np.ndarray:
        """Rows of the batches first, ..., first + count - 1, one after the other."""
        out = np.empty(count * self.batch_size, dtype=np.int64)
        position, done = first * self.batch_size, 0
        while done < out.size:
            rows, offset = self._at(position + done)
            take = min(out.size - done, rows.size - offset)
            out[done : done + take] = rows[offset : offset + take]
            done += take
        return out

    def _at(self, position: int) -> tuple[np.ndarray, int]:
        """The block that holds this position of the endless sequence of passes, and where in it."""
        number, place = divmod(position, self.n_samples)
        size = self.rows_together
        if number != self._pass:
            self._pass = number
            full = self.n_samples // size
            # The short last block keeps its place, so that positions need no table.
            self._order = generator(self.seed, number).permutation(full)
        slot, offset = divmod(place, size)
        if self._key != (number, slot):
            self._key = (number, slot)
            start = (int(self._order[slot]) if slot < self._order.size else slot) * size
            stop = min(start + size, self.n_samples)
            rng = generator(self.seed, number, slot)
            self._rows = start + rng.permutation(stop - start)
        return self._rows, offset


class Hybrid:
    """Independent batches for the first passes, then every row once a pass.

    Independent draws make the faster start; later, rows that happen not to be drawn for long would hold back a method
    that remembers what each row said last.
    """

    def __init__(self, n_samples: int, batch_size: int, seed: int) -> None:
        self._early = Independent(n_samples, batch_size, seed)
        self._late = Reshuffled(n_samples, batch_size, seed)
        self._turn = -(-_EARLY_PASSES * n_samples // batch_size)

    def draw(self, first: int, count: int) -> np.ndarray:
        """Rows of the batches first, ..., first + count - 1, one after the other."""
        early = min(max(self._turn - first, 0), count)
        parts = [self._early.draw(first, early)] if early else []
        return np.concatenate([*parts, self._late.draw(first + early, count - early)])


class InOrder:
    """Every row once, in order: the batches of deterministic methods."""

    def __init__(self, n_samples: int) -> None:
        self.n_samples = n_samples
        self._rows = np.arange(n_samples)

    def draw(self, first: int, count: int) -> np.ndarray:
        """`count` times all rows."""
        if self._rows.size != count * self.n_samples:
            self._rows = np.tile(np.arange(self.n_samples), count)
        return self._rows


Sampler = Independent | Importance | Reshuffled | Hybrid | InOrder

CHOICES = ("auto", "independent", "reshuffled", "shuffled", "hybrid", "blocks")


def make(
    sampling: str,
    n_samples: int,
    batch_size: int,
    seed: int,
    on_disk: bool,
) -> Sampler:
    """The sampler called `sampling`; "auto" is independent in memory, "shuffled" reshuffled, both by blocks on disk."""
    one_of("sampling", sampling, CHOICES)
    if sampling == "independent" or (sampling == "auto" and not on_disk):
        return Independent(n_samples, batch_size, seed)
    if sampling == "hybrid" and not on_disk:
        return Hybrid(n_samples, batch_size, seed)
    blocks = sampling == "blocks" or (on_disk and sampling != "reshuffled")
    return Reshuffled(n_samples, batch_size, seed, _DISK_ROWS if blocks else None)
