"""Objects whose constructor arguments are their attributes: shown by `repr`, read and changed by name."""

import copy
import inspect
import math
import sys
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Self

import numpy as np

from .errors import InputError

_WORDS = 200
"""Letters of a value that a message shows."""


class Parameterized:
    """Gives losses, penalties, operators and solvers a faithful `repr`, `get_params` and `set_params`.

    The convention is scikit-learn's: every constructor argument is stored unchanged under its own name.
    """

    @classmethod
    def parameter_names(cls) -> list[str]:
        """Names of the constructor's arguments, in order.

        Returns
        -------
        list of str
        """
        return [p.name for p in cls._parameters()]

    @classmethod
    def _parameters(cls) -> list[inspect.Parameter]:
        return _parameters_of(cls.__init__)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Constructor arguments by name.

        Parameters
        ----------
        deep : bool
            Whether to include the arguments of nested terms, as `outer__inner`.

        Returns
        -------
        dict
        """
        params = {name: getattr(self, name) for name in self.parameter_names()}
        if deep:
            for name, value in list(params.items()):
                if isinstance(value, Parameterized):
                    params.update({f"{name}__{k}": v for k, v in value.get_params().items()})
        return params

    def changed_params(self) -> dict[str, Any]:
        """Constructor arguments that differ from their defaults, by name.

        Returns
        -------
        dict
        """
        changed = {}
        for parameter in self._parameters():
            value = getattr(self, parameter.name)
            if not (parameter.default is value or (np.isscalar(value) and parameter.default == value)):
                changed[parameter.name] = value
        return changed

    def set_params(self, **params: Any) -> "Parameterized":
        """Change constructor arguments by name.

        Parameters
        ----------
        **params
            New values; `outer__inner` reaches into nested terms.

        Returns
        -------
        Parameterized
            The object itself.
        """
        known = self.parameter_names()
        for name, value in params.items():
            outer, _, inner = name.partition("__")
            if outer not in known:
                raise InputError(
                    f"{type(self).__name__} has no parameter {outer!r}. It takes: {', '.join(known) or 'none'}."
                )
            if inner:
                getattr(self, outer).set_params(**{inner: value})
            else:
                setattr(self, outer, value)
        return self

    def __sklearn_clone__(self) -> Self:
        """A copy that shares nothing: scikit-learn would rebuild the object from `get_params`, which `*args` forbid."""
        return copy.deepcopy(self)

    def __repr__(self) -> str:
        shown: list[str] = []
        for parameter in self._parameters():
            value = getattr(self, parameter.name)
            if parameter.kind == parameter.VAR_POSITIONAL:
                shown += map(repr, value)
            elif isinstance(value, np.ndarray):
                shown.append(f"{parameter.name}=<array {value.shape}>")
            elif not (parameter.default is value or (np.isscalar(value) and parameter.default == value)):
                shown.append(f"{parameter.name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"


def positive(owner: object, name: str, value: Any) -> float:
    """`value` as a float, refused unless it is a positive finite number."""
    number = as_number(value)
    if not (math.isfinite(number) and number > 0):
        raise InputError(f"{name} of {type(owner).__name__} is {shown(value)}. It must be a positive number.")
    return number


def as_number(value: Any) -> float:
    """`value` as a float, NaN if it is not one real number."""
    if not isinstance(value, int | float | np.bool_ | np.integer | np.floating):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan


@lru_cache(maxsize=256)
def _parameters_of(constructor: Any) -> list[inspect.Parameter]:
    if constructor is object.__init__:
        return []
    return [p for p in inspect.signature(constructor).parameters.values() if p.name != "self"]


def whole_number(name: str, value: Any, least: float = -math.inf) -> int:
    """`value` as an int, refused unless it is a whole number of at least `least`."""
    number = as_number(value)
    if not (math.isfinite(number) and number.is_integer() and number >= least) or isinstance(value, bool | np.bool_):
        bound = f" of at least {least:g}" if math.isfinite(least) else ""
        raise InputError(f"{name} is {shown(value)}. It must be a whole number{bound}.")
    return int(value)


def truth(name: str, value: Any) -> bool:
    """`value` as a bool, refused unless it is one or a number."""
    if not isinstance(value, bool | np.bool_ | int):
        raise InputError(f"{name} is {shown(value)}. Give True or False.")
    return bool(value)


def one_of(name: str, value: Any, choices: Iterable[str]) -> str:
    """`value`, refused unless it is one of these names."""
    names = list(choices)
    if not isinstance(value, str) or value not in names:
        raise InputError(f"{name} is {shown(value)}. Choose one of {', '.join(names)}.")
    return value


def numbers(name: str, value: Any) -> np.ndarray:
    """`value` as a new float64 array of any shape, refused if it is not made of real numbers."""
    refuse_dask(name, value)
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "biufO":
            raise TypeError(f"its type is {array.dtype}")
        if array.dtype.kind == "O":
            # NumPy takes None for NaN.
            return np.array([float(entry) for entry in array.flat]).reshape(array.shape)
        return np.array(array, dtype=np.float64)
    # What a foreign object's __array__ or __float__ raises is up to it.
    except Exception:
        raise InputError(f"{name} is {shown(value)}. It must be made of real numbers.") from None


def is_vector(value: Any) -> bool:
    """Whether compiled code takes `value` as it is for a vector: float64, in one piece, and writable."""
    if type(value) is not np.ndarray or value.ndim != 1 or value.dtype != np.float64:
        return False
    return value.flags.carray


def vector(name: str, value: Any, length: int) -> np.ndarray:
    """`value` as a new float64 vector, refused unless it holds `length` finite numbers."""
    array = numbers(name, value)
    if array.shape != (length,) or not np.all(np.isfinite(array)):
        raise InputError(
            f"{name} has shape {array.shape} or holds NaN or infinite entries. It must be {length} finite numbers."
        )
    return array


def require_parts(term: object, base: type, parts: Iterable[str]) -> None:
    """Refuse a term of a user's own that lacks parts which its base class only promises."""
    missing = [part for part in parts if getattr(type(term), part, None) is getattr(base, part, None)]
    if missing:
        raise InputError(
            f"{type(term).__name__} lacks {', '.join(missing)}. Every {base.__name__.lower()} needs "
            f"{', '.join(parts)}; docs/extending.md shows how."
        )


def shown(value: Any) -> str:
    """A value in a message; its type alone where its own words are too many or fail."""
    try:
        text = repr(value)
    except Exception:
        text = "_" * (_WORDS + 1)
    return text if len(text) <= _WORDS else f"a {type(value).__name__}"


def is_dask(item: Any) -> bool:
    """Whether this is an array, a data frame, a column or anything else of dask, without importing it."""
    if "dask" not in sys.modules:
        return False
    return any(kind.__module__.partition(".")[0] in ("dask", "dask_expr") for kind in type(item).__mro__)


def refuse_dask(name: str, item: Any) -> None:
    """Refuse what would be gathered into the memory of this process without anybody having asked for it."""
    if is_dask(item):
        raise InputError(
            f"{name} is a {type(item).__name__} of dask, which is not gathered here. Call {name}.compute() first if "
            "it fits into memory."
        )
