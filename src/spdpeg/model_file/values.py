"""Parameters and attributes of estimators as JSON and plain arrays, and back: no pickle, nothing of which is run.

Numbers, text, None and lists are themselves in JSON. Everything else is an object whose "is" says what it is.
"""

import inspect
import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import losses, operators, penalties
from ..certificate import Certificate
from ..errors import InputError, UnsupportedError
from ..operators import Operator
from ..parameters import Parameterized
from ..result import History
from ..sparse import sound

Arrays = dict[str, np.ndarray]

_RECORDS = {cls.__name__: cls for cls in (Certificate, History)}
_TERMS = {"losses": losses, "penalties": penalties, "operators": operators}
_DEEPEST = 40
"""Levels of things inside things; those of this package have a handful."""

_KINDS = "biufU"
"""Types of arrays that need no pickle: truth values, whole and real numbers, text."""


def encode(value: Any, name: str, arrays: Arrays) -> Any:
    """`value` as JSON; arrays go to `arrays`, under names that begin with `name`, which errors mention too."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"is": "float", "text": repr(value)}
    if isinstance(value, list):
        return _items(value, name, arrays)
    if isinstance(value, tuple):
        return {"is": "tuple", "items": _items(value, name, arrays)}
    if isinstance(value, dict):
        pairs = [[encode(key, name, arrays), encode(item, f"{name}.{key}", arrays)] for key, item in value.items()]
        return {"is": "dict", "items": pairs}
    if isinstance(value, np.ndarray) and value.dtype.kind == "O" and all(isinstance(item, str) for item in value.flat):
        return {"is": "texts", "items": value.tolist()}
    if isinstance(value, np.ndarray) and value.dtype.kind in _KINDS:
        arrays[name] = value
        return {"is": "array", "name": name}
    if sp.issparse(value) and value.dtype.kind in _KINDS:
        matrix = sp.csr_array(sound(value, name))
        parts = {
            part: encode(getattr(matrix, part), f"{name}.{part}", arrays) for part in ("data", "indices", "indptr")
        }
        return {"is": "csr", "shape": list(matrix.shape), **parts}
    if type(value) in _RECORDS.values():
        return {"is": type(value).__name__, "fields": _fields(vars(value), name, arrays)}
    if isinstance(value, Parameterized) and _home(value) is not None:
        term = {"is": _home(value), "fields": _fields(value.get_params(deep=False), name, arrays)}
        return {**term, "inputs": value.known_inputs} if isinstance(value, Operator) else term
    raise UnsupportedError(
        f"{name} is a {type(value).__name__}, which a model file cannot hold. "
        "Use numbers, text, arrays, sparse matrices or the terms of spdpeg."
    )


def decode(value: Any, arrays: Arrays, depth: int = 0) -> Any:
    """The inverse of `encode`; nesting deeper than `_DEEPEST` is refused."""
    if depth > _DEEPEST:
        raise InputError(f"values are nested more than {_DEEPEST} deep")

    def inner(item: Any) -> Any:
        return decode(item, arrays, depth + 1)

    if isinstance(value, list):
        return list(map(inner, value))
    if not isinstance(value, dict):
        return value
    kind = value["is"]
    if kind == "float":
        return float(value["text"])
    if kind == "tuple":
        return tuple(inner(value["items"]))
    if kind == "dict":
        return {inner(key): inner(item) for key, item in value["items"]}
    if kind == "texts":
        return _texts(value["items"])
    if kind == "array":
        return arrays[value["name"]]
    if kind == "csr":
        parts = tuple(inner(value[part]) for part in ("data", "indices", "indptr"))
        rows, columns = map(int, value["shape"])
        return sound(sp.csr_array(parts, shape=(rows, columns)), "a sparse matrix")
    fields = {name: inner(item) for name, item in value["fields"].items()}
    if kind in _RECORDS:
        return _RECORDS[kind](**fields)
    return _term(kind, fields, value.get("inputs"))


def _texts(items: Any) -> np.ndarray:
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise InputError("a list of texts holds something else")
    return np.array(items, dtype=object)


def _items(values: Any, name: str, arrays: Arrays) -> list[Any]:
    return [encode(item, f"{name}.{number}", arrays) for number, item in enumerate(values)]


def _fields(values: dict[str, Any], name: str, arrays: Arrays) -> dict[str, Any]:
    return {field: encode(value, f"{name}.{field}", arrays) for field, value in values.items()}


def _home(term: Parameterized) -> str | None:
    """Such as "penalties.L1"; None for a class that is not of this package."""
    name = type(term).__name__
    return next((f"{part}.{name}" for part, module in _TERMS.items() if vars(module).get(name) is type(term)), None)


def _term(kind: str, fields: dict[str, Any], inputs: int | None) -> Any:
    part, _, name = kind.partition(".")
    cls = vars(_TERMS[part]).get(name) if part in _TERMS else None
    if not (isinstance(cls, type) and issubclass(cls, Parameterized)):
        raise InputError(f"It holds a {kind}, which this version of spdpeg does not know.")
    parameters = inspect.signature(cls).parameters.values()
    several = [item for p in parameters if p.kind is p.VAR_POSITIONAL for item in fields.pop(p.name)]
    term = cls(*several, **fields)
    return term.bind(inputs) if isinstance(term, Operator) and inputs is not None else term
