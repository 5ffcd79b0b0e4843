"""Docstrings of the methods: what is common to all is written once, what `about` says is not written twice."""

import inspect
import sys
from typing import Any

_PARAMETERS = "Parameters\n----------\n"

_RELATED = """spdpeg.solve : Runs it, by name or as an object.
spdpeg.list_solvers : All methods side by side."""

_EXAMPLE = """>>> import numpy as np, spdpeg
>>> from spdpeg import datasets, losses, operators, penalties
>>> from {module} import {name}
>>> X, y, _ = datasets.piecewise_constant(200, 10, seed=0)
>>> problem = spdpeg.Problem(X, y, {terms},
...                          r2=penalties.L1(1e-2), F=operators.FirstDifference())
>>> result = spdpeg.solve(problem, {name}(), max_passes=40)
>>> bool(result.objective < problem.objective(np.zeros(10)))
True"""


def complete(cls: Any) -> None:
    """Add the problem, the step, costs, rate, paper and an example to the docstring of a method.

    A class without a section on parameters takes that of the class whose constructor it shares. The paper is the one
    that the docstring of its file names: a file is a paper.
    """
    about = cls.about
    text, parameters = _split(cls)
    for base in cls.__mro__[1:-1]:
        parameters = parameters or _split(base)[1]
    paper = inspect.cleandoc(getattr(sys.modules.get(cls.__module__), "__doc__", None) or "")
    module = ".".join(cls.__module__.split(".")[:2])
    rate = f"{about.rate}. Assumptions: {about.assumptions}." if about.assumptions else f"{about.rate}."
    sections = {
        "Parameters": parameters,
        "See Also": _RELATED,
        "Notes": f"Needs: {about.needs}.\n\nCost of a step: {about.cost}.\n\n"
        f"Memory, in numbers beside the data: {about.memory}; N rows, d coordinates, l rows of F.\n\nRate: {rate}",
        "References": paper,
        "Examples": _EXAMPLE.format(module=module, name=cls.__name__, terms=about.example),
    }
    cls.__doc__ = "\n\n".join(
        [
            text,
            f'Solves min over x of l(x) + r1(x) + r2(F x); "{about.name}" in `spdpeg.solve`. One step:',
            "\n".join(f"    {line}" for line in about.update.split("; ")),
            *(f"{title}\n{'-' * len(title)}\n{body}" for title, body in sections.items() if body),
        ]
    )


def _split(cls: Any) -> tuple[str, str]:
    """The docstring of a class without its section on parameters, and that section."""
    text, _, rest = inspect.cleandoc(vars(cls).get("__doc__") or "").partition(_PARAMETERS)
    return text.rstrip(), rest.partition("\n\nSee Also\n")[0].rstrip()
