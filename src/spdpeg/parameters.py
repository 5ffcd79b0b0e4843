"""Objects whose constructor arguments are their attributes: shown by `repr`, read and changed by name."""

import copy
import inspect
import math
from typing import Any, Self

import numpy as np

from .errors import InputError


class Parameterized:
    """Gives losses, penalties, operators and solvers a faithful `repr`, `get_params` and `set_params`.

    The convention is scikit-learn's: every constructor argument is stored unchanged under its own name.
    """

    @classmethod
    def parameter_names(cls) -> list[str]:
        """Names of the constructor's arguments, in order."""
        return [p.name for p in cls._parameters()]

    @classmethod
    def _parameters(cls) -> list[inspect.Parameter]:
        if cls.__init__ is object.__init__:
            return []
        return [p for p in inspect.signature(cls.__init__).parameters.values() if p.name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Constructor arguments by name; with `deep`, also those of nested terms as `outer__inner`."""
        params = {name: getattr(self, name) for name in self.parameter_names()}
        if deep:
            for name, value in list(params.items()):
                if isinstance(value, Parameterized):
                    params.update({f"{name}__{k}": v for k, v in value.get_params().items()})
        return params

    def changed_params(self) -> dict[str, Any]:
        """Constructor arguments that differ from their defaults, by name."""
        changed = {}
        for parameter in self._parameters():
            value = getattr(self, parameter.name)
            if not (parameter.default is value or (np.isscalar(value) and parameter.default == value)):
                changed[parameter.name] = value
        return changed

    def set_params(self, **params: Any) -> "Parameterized":
        """Change constructor arguments by name and return the object itself."""
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
        raise InputError(f"{name} of {type(owner).__name__} is {value!r}. It must be a positive number.")
    return number


def as_number(value: Any) -> float:
    """`value` as a float, NaN if it is not a real number."""
    if isinstance(value, str | bytes | complex | np.complexfloating):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def whole_number(name: str, value: Any, least: float = -math.inf) -> int:
    """`value` as an int, refused unless it is a whole number of at least `least`."""
    number = as_number(value)
    if not (math.isfinite(number) and number.is_integer() and number >= least) or isinstance(value, bool | np.bool_):
        bound = f" of at least {least:g}" if math.isfinite(least) else ""
        raise InputError(f"{name} is {value!r}. It must be a whole number{bound}.")
    return int(value)


def vector(name: str, value: Any, length: int) -> np.ndarray:
    """`value` as a new float64 vector, refused unless it holds `length` finite numbers."""
    try:
        array = np.array(value)
        if array.dtype.kind not in "biufO":
            raise TypeError
        numbers = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} is a {type(value).__name__} that holds no numbers. Give {length} of them.") from None
    if numbers.shape != (length,) or not np.all(np.isfinite(numbers)):
        raise InputError(
            f"{name} has shape {numbers.shape} or holds NaN or infinite entries. It must be {length} finite numbers."
        )
    return numbers
