"""Whether the rows of a stream come in an order that no shuffle buffer can undo."""

import math
import warnings

import numpy as np

from ..errors import OrderWarning
from ..state import State

_CHANCE = 1e-9
"""A run of one class is noticed if rows in random order would show one as long this rarely."""


class Order:
    """Watches the labels of a stream for runs of one class that are longer than the buffer.

    The counts live in the state, so that chunks and resumed runs make no difference.
    """

    def __init__(self, state: State, buffer: int) -> None:
        self._counts, self._buffer = state.numbers, buffer

    def watch(self, labels: np.ndarray) -> None:
        """Take note of the labels that came, -1 or +1, and warn once if they come in long runs."""
        stops = np.append(np.flatnonzero(np.diff(labels)) + 1, labels.size)
        for start, stop in zip(np.append(0, stops[:-1]), stops, strict=True):
            self._run(float(labels[start]), int(stop - start))

    def _run(self, label: float, length: int) -> None:
        counts = self._counts
        same = counts.get("order_class") == label
        counts["order_run"] = length + (counts.get("order_run", 0.0) if same else 0.0)
        counts["order_class"] = label
        name = "order_positive" if label > 0.0 else "order_negative"
        counts[name] = counts.get(name, 0.0) + length
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
        positive, negative = counts.get("order_positive", 0.0), counts.get("order_negative", 0.0)
        run = counts["order_run"]
        others = positive + negative - run
        if others == 0.0:
            return False  # so far there is only one class, and no telling how rare the other is
        own = (positive if counts["order_class"] > 0.0 else negative) - run
        chance = run * math.log((own + 1.0) / (others + 2.0)) + math.log(positive + negative)
        return chance < math.log(_CHANCE)
