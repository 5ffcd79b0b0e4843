"""Base of losses with the log link, whose means are exponentials of margins."""

from typing import ClassVar

import numpy as np

from ..errors import InputError
from .base import Loss


class Exponential(Loss):
    """A loss that compares the label with exp(t)."""

    log_link = True
    attained = False

    _least: ClassVar[float]
    _labels: ClassVar[str]
    """The smallest label, and how to say so."""

    @property
    def curvature(self) -> float:
        return np.inf

    @property
    def smooth(self) -> bool:
        return True

    def check_labels(self, labels: np.ndarray, name: str) -> None:
        smallest = float(np.min(labels, initial=np.inf))
        if smallest < self._least:
            raise InputError(
                f"{name} holds {smallest:g} and {type(self).__name__} takes {self._labels}. Drop or repair those rows."
            )
