"""A call that fails leaves the model as it was."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def intact(model: Any) -> Iterator[None]:
    """Undo what was set on the model if what is done inside fails, so that a corrected call finds no traces of it."""
    before = dict(vars(model))
    learners = [copy.copy(learner) for learner in before.get("_learners", [])]
    try:
        yield
    except BaseException:
        vars(model).clear()
        vars(model).update(before)
        if "_learners" in before:
            model._learners = learners
        raise
