"""What scikit-learn refuses, told in the errors of this package; a call that fails leaves the model as it was."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..errors import InputError, InputTypeError, SpdpegError

_MISSING = (
    "Fill in what is missing first, as scikit-learn's SimpleImputer does, or drop those rows. spdpeg.denoise takes a "
    "signal with gaps."
)
_TEXT = "Make numbers of it first, as scikit-learn's OneHotEncoder does within a ColumnTransformer, or drop it."
_NO_NUMBER = ("could not convert string to float", "could not convert object to float")


@contextmanager
def told(X: Any = None) -> Iterator[None]:
    """Turn what scikit-learn's checks and scores raise at input that cannot be used into an InputError on one line.

    X is the table that is checked, if there is one, so that columns of text can be named.
    """
    try:
        yield
    except (SpdpegError, Warning, MemoryError, OSError):
        raise
    except TypeError as error:
        raise InputTypeError(_sentence(error, X)) from None
    # What a foreign object's __array__ or __float__ raises is up to it.
    except Exception as error:
        raise InputError(_sentence(error, X)) from None


def unmasked(name: str, value: Any) -> Any:
    """The value itself, refused if it hides some of its entries, which everybody else would take for numbers."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise InputError(f"{name} is a masked array with entries that are hidden. {_MISSING}")
    return value


def _sentence(error: Exception, X: Any) -> str:
    """What is wrong and what to do; the input itself is not repeated."""
    first, *others = str(error).splitlines() or [type(error).__name__]
    if first.startswith(_NO_NUMBER):
        names = _columns_of_text(X)
        where = f"Column {names[0]!r} of X" if len(names) == 1 else "A column of X"
        where = f"Columns {', '.join(map(repr, names[:5]))} of X" if len(names) > 1 else where
        return f"{where} {'hold' if len(names) > 1 else 'holds'} text ({first}). {_TEXT}"
    if "contains NaN" in first:
        return f"{first} {_MISSING}"
    if first.startswith("The feature names should match"):
        return " ".join([first, *others])
    return f"{first.rstrip(':')}. {others[-1]}" if first.endswith(":") and others else first


def _columns_of_text(X: Any) -> list[Any]:
    """The names of the columns of a data frame that hold neither numbers nor truth values."""
    names, kinds = getattr(X, "columns", None), getattr(X, "dtypes", None)
    if names is None or kinds is None:
        return []
    return [name for name, kind in zip(names, kinds, strict=True) if getattr(kind, "kind", "O") in "OSUT"]


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
