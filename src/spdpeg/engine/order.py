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
