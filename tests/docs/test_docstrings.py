"""What the reference says of public functions and methods: parameters, what they return, examples, relatives."""

import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from spdpeg.solvers import Solver

validate = pytest.importorskip("numpydoc.validate").validate

PLACES = (
    "spdpeg",
    "spdpeg.data",
    "spdpeg.datasets",
    "spdpeg.graphs",
    "spdpeg.losses",
    "spdpeg.operators",
    "spdpeg.penalties",
    "spdpeg.plots",
    "spdpeg.signals",
    "spdpeg.solvers",
    "spdpeg.theory",
)
PUBLIC = {
    f"{place}.{name}": getattr(importlib.import_module(place), name)
    for place in PLACES
    for name in importlib.import_module(place).__all__
}
FUNCTIONS = [name for name, item in PUBLIC.items() if inspect.isfunction(item)]
CLASSES = [name for name, item in PUBLIC.items() if inspect.isclass(item)]


def faults(name: str) -> set[Any]:
    return {code for code, _ in validate(name)["errors"]}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_say_what_they_return(name: str) -> None:
    assert "RT01" not in faults(name)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if not name.startswith(("spdpeg.theory", "spdpeg.plots"))])
def test_functions_have_examples(name: str) -> None:
    assert "EX01" not in faults(name)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if not name.startswith(("spdpeg.theory", "spdpeg.plots"))])
def test_functions_name_their_relatives(name: str) -> None:
    assert "SA01" not in faults(name)


def methods(cls: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Public methods that the package defines, those of base classes included."""
    for name in dir(cls):
        found = inspect.getattr_static(cls, name)
        found = found.__func__ if isinstance(found, staticmethod | classmethod) else found
        if not name.startswith("_") and inspect.isfunction(found) and found.__module__.startswith("spdpeg"):
            yield name, found


def listed(documentation: str, section: str) -> set[str]:
    """Names in a section of a docstring, one or several to a line."""
    _, found, rest = documentation.partition(f"{section}\n{'-' * len(section)}\n")
    lines = rest.partition("\n\n")[0].splitlines() if found else []
    heads = [line.partition(" : ")[0] for line in lines if not line.startswith(" ")]
    return {name.strip() for head in heads for name in head.split(",")}


def shared(cls: type) -> set[str]:
    """Arguments that all methods of a solver have, which `Solver` explains once."""
    return set(re.findall(r"`(\w+)`", inspect.getdoc(Solver) or "")) if issubclass(cls, Solver) else set()


@pytest.mark.parametrize("name", CLASSES)
def test_methods_list_their_parameters(name: str) -> None:
    for method, function in methods(PUBLIC[name]):
        known = listed(inspect.getdoc(getattr(PUBLIC[name], method)) or "", "Parameters") | shared(PUBLIC[name])
        for parameter in list(inspect.signature(function).parameters.values()):
            stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
            assert parameter.name in ("self", "cls") or stars + parameter.name in known, f"{method}: {parameter}"


@pytest.mark.parametrize("name", CLASSES)
def test_methods_say_what_they_return(name: str) -> None:
    for method, function in methods(PUBLIC[name]):
        documentation = inspect.getdoc(getattr(PUBLIC[name], method)) or ""
        if inspect.signature(function).return_annotation not in (None, "None", inspect.Signature.empty):
            assert "Returns\n-------\n" in documentation or "Yields\n------\n" in documentation, method
