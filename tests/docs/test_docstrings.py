"""What the reference says of public functions: parameters, what they return, and an example for most of them."""

import importlib
import inspect
from typing import Any

import pytest

validate = pytest.importorskip("numpydoc.validate").validate

PLACES = (
    "spdpeg",
    "spdpeg.data",
    "spdpeg.datasets",
    "spdpeg.graphs",
    "spdpeg.operators",
    "spdpeg.penalties",
    "spdpeg.plots",
    "spdpeg.signals",
    "spdpeg.theory",
)
FUNCTIONS = [
    f"{place}.{name}"
    for place in PLACES
    for name in importlib.import_module(place).__all__
    if inspect.isfunction(getattr(importlib.import_module(place), name))
]


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
