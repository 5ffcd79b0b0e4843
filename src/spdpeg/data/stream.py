"""Rows that come in chunks, finite or endless, each read once per traversal: the paper's expectation, literally."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..parameters import numbers, whole_number
from ..sparse import first_not_finite
from .sources import as_table, values_of

Chunk = tuple[Any, np.ndarray, np.ndarray | None]


class Stream:
    """An iterable of (X chunk, y chunk) or (X chunk, y chunk, weights).

    Parameters
    ----------
    chunks : iterable or callable
        A generator is read once. A list, an object whose `__iter__` starts afresh, or a callable that returns a new
        iterator can be read again, one traversal being one pass.
    n_features : int, optional
        Number of columns; taken from the first chunk by default.
    classes : pair, optional
        The two class labels, the second being the positive one. Needed only if the first chunk does not show both.

    Weights of a stream multiply the losses as they are: the sum of all weights is not known in advance. Rows are taken
    in order of arrival; SPDPEG mixes them in a buffer first (its parameter `buffer_size`), other methods want them in
    random order. Rows that have to wait for others are copied, so that a producer may fill the same arrays again.

    See Also
    --------
    Tables : Finite data that are read in blocks.
    solve : With "spdpeg" it reads a stream once.

    Examples
    --------
    >>> import numpy as np, spdpeg
    >>> rng = np.random.default_rng(0)
    >>> def chunks():
    ...     for _ in range(10):
    ...         X = rng.standard_normal((100, 3))
    ...         yield X, X[:, 0] > 0.0
    >>> stream = spdpeg.data.Stream(chunks())
    >>> problem = spdpeg.Problem(stream, loss=spdpeg.losses.Logistic(), r1=spdpeg.penalties.L1(0.01))
    >>> spdpeg.solve(problem, max_passes=1).state.rows
    1000
    """

    def __init__(
        self,
        chunks: Iterable[Any] | Callable[[], Iterable[Any]],
        n_features: int | None = None,
        classes: tuple[Any, Any] | None = None,
    ) -> None:
        if not callable(chunks) and not isinstance(chunks, Iterable):
            raise InputError(
                f"chunks is a {type(chunks).__name__}. Give an iterable of (X, y) or a callable that makes one."
            )
        if n_features is not None:
            n_features = whole_number("n_features of the stream", n_features, least=1)
        self.chunks = chunks
        self.classes = classes
        self._held: list[Chunk] = []
        self._iterator: Iterator[Any] | None = None
        self._chunk_number = 0
        self._n_features = n_features
        self.rows_per_traversal: int | None = None
        self._rows_this_traversal = 0

    @property
    def restartable(self) -> bool:
        """Whether a new traversal can be started."""
        return callable(self.chunks) or not isinstance(self.chunks, Iterator)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        if self._n_features is None:
            self.peek()
        assert self._n_features is not None
        return self._n_features

    def peek(self) -> Chunk:
        """The next chunk, kept for the next reader.

        Returns
        -------
        tuple
            X, y and sample weights or None.
        """
        if not self._held:
            chunk = self._next()
            if chunk is None and self.restartable:
                self.restart()
                chunk = self._next()
            if chunk is None:
                raise InputError("The stream has no rows left. Check what feeds it; a generator can be read only once.")
            self._held.append(chunk)
        return self._held[0]

    def take(self, multiple: int) -> Chunk | None:
        """The next rows, a multiple of `multiple` of them; None at the end of the traversal.

        Chunks smaller than that are put together; rows left over wait for the next chunk. What is left at the end of a
        traversal is dropped.

        Parameters
        ----------
        multiple : int

        Returns
        -------
        tuple or None
            X, y and sample weights or None.
        """
        parts: list[Chunk] = self._held
        self._held = []
        rows = sum(len(part[1]) for part in parts)
        while rows < multiple:
            parts = [_copied(part) for part in parts]  # a producer may fill the same arrays again
            chunk = self._next()
            if chunk is None:
                if self.rows_per_traversal is not None and self.rows_per_traversal < multiple:
                    raise InputError(
                        f"The stream ended after {self.rows_per_traversal} rows and one step takes {multiple}. "
                        "Lower batch_size or feed more rows."
                    )
                return None
            parts.append(chunk)
            rows += len(chunk[1])
        whole = parts[0] if len(parts) == 1 else _concatenate(parts)
        used = rows - rows % multiple
        if used < rows:
            self._held = [_copied(_slice(whole, used, rows))]
            whole = _slice(whole, 0, used)
        return whole

    def give_back(self, chunk: Chunk, used: int) -> None:
        """Put the rows of `chunk` from number `used` on back, to be taken again next.

        Parameters
        ----------
        chunk : tuple
            The chunk that `take` returned last.
        used : int
            Number of its rows that were used.
        """
        if used < len(chunk[1]):
            self._held.insert(0, _copied(_slice(chunk, used, len(chunk[1]))))

    def restart(self) -> None:
        """Begin a new traversal."""
        self._held, self._iterator, self._chunk_number, self._rows_this_traversal = [], None, 0, 0

    def _next(self) -> Chunk | None:
        if self._iterator is None:
            try:
                made = self.chunks() if callable(self.chunks) else self.chunks
            except TypeError as error:
                raise InputError(f"The callable of the stream failed ({error}). It takes no arguments.") from None
            if not isinstance(made, Iterable):
                raise InputError(
                    f"The callable of the stream returned a {type(made).__name__}. It must return an iterator."
                )
            try:
                self._iterator = iter(made)
            except TypeError as error:
                raise InputError(f"The chunks of the stream cannot be read ({error}). Give an iterable.") from None
        for item in self._iterator:
            self._chunk_number += 1
            chunk = self._checked(item)
            if len(chunk[1]):
                self._rows_this_traversal += len(chunk[1])
                return chunk
        if self._rows_this_traversal:
            self.rows_per_traversal = self._rows_this_traversal
        return None

    def _checked(self, item: Any) -> Chunk:
        where = f"Chunk {self._chunk_number} of the stream"
        if not isinstance(item, tuple | list) or len(item) not in (2, 3):
            raise InputError(f"{where} is not a pair. Yield (X, y) or (X, y, weights).")
        try:
            X = as_table(item[0])
            X = X.tocsr() if sp.issparse(X) else np.atleast_2d(values_of(X))
        except InputError as error:
            raise InputError(f"{where} cannot be used. {error}") from None
        y = np.atleast_1d(_array(item[1], where))
        if y.size == 0 and 0 in X.shape:
            return X, y, None
        weights = None if len(item) == 2 or item[2] is None else np.atleast_1d(_numbers(item[2], where))
        if X.ndim != 2 or y.shape != (X.shape[0],) or (weights is not None and weights.shape != y.shape):
            raise InputError(
                f"{where} has X of shape {X.shape}, y of shape {y.shape}"
                + (f" and weights of shape {weights.shape}" if weights is not None else "")
                + ". Each row of X needs one label and, if given, one weight."
            )
        row = first_not_finite(X)
        if row is not None:
            raise InputError(f"{where} has a NaN or infinite entry in row {row}. Impute it or drop the row.")
        if self._n_features is None:
            self._n_features = int(X.shape[1])
        if X.shape[1] != self._n_features:
            raise InputError(
                f"{where} has {X.shape[1]} columns where {self._n_features} were expected. "
                "All chunks must have the same columns."
            )
        return X, y, weights


def _numbers(weights: Any, where: str) -> np.ndarray:
    try:
        return numbers("weights", weights)
    except InputError:
        raise InputError(f"{where} has weights that are not numbers. Give one number per row.") from None


def _array(labels: Any, where: str) -> np.ndarray:
    try:
        return np.asarray(labels)
    # What a foreign object's __array__ raises is up to it.
    except Exception as error:
        raise InputError(f"{where} has labels that are no vector ({error}). Give one label per row.") from None


def _slice(chunk: Chunk, start: int, stop: int) -> Chunk:
    X, y, weights = chunk
    return X[start:stop], y[start:stop], None if weights is None else weights[start:stop]


def _copied(chunk: Chunk) -> Chunk:
    X, y, weights = chunk
    return X.copy(), y.copy(), None if weights is None else weights.copy()


def _concatenate(chunks: list[Chunk]) -> Chunk:
    matrices = [chunk[0] for chunk in chunks]
    if any(sp.issparse(X) for X in matrices):
        X: Any = sp.vstack([sp.csr_array(X) for X in matrices], format="csr")
    else:
        X = np.concatenate(matrices)
    y = np.concatenate([chunk[1] for chunk in chunks])
    if all(chunk[2] is None for chunk in chunks):
        return X, y, None
    weights = [np.ones(len(chunk[1])) if chunk[2] is None else chunk[2] for chunk in chunks]
    return X, y, np.concatenate(weights)
