"""Writes the tables of larger_than_memory.md by trying every solver and estimator: python docs/source_tables.py."""

import inspect
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import spdpeg
from spdpeg import data, estimators, losses, operators, penalties
from spdpeg.engine.registry import REGISTRY

PAGE = Path(__file__).with_name("larger_than_memory.md")

_ROWS, _COLUMNS = 60, 6

_SETTINGS: dict[str, Any] = {
    "F": np.eye(_COLUMNS),
    "structure": "chain",
    "shape": (2, 3),
    "groups": np.repeat([0, 1, 2], 2),
    "n_lam1": 1,
    "n_lam2": 2,
    "cv": 2,
    "tol": 0.1,
}
"""Of the estimators that have such a parameter."""


def _made(name: str) -> Any:
    kind = getattr(estimators, name)
    known = {} if name.startswith("Composite") else inspect.signature(kind).parameters
    return kind(**{key: value for key, value in _SETTINGS.items() if key in known})


def _rows() -> data.Tables:
    X = np.random.default_rng(0).standard_normal((_ROWS, _COLUMNS))
    labels = (X[:, 0] + 0.3 * X[:, 1] > 0).astype(float)

    def read() -> Iterator[np.ndarray]:
        yield from np.array_split(X, 3)

    return data.Tables("A table", read, _ROWS, _COLUMNS, labels)


def solvers() -> str:
    """What each solver makes of rows that are read in blocks, and of a stream."""
    lines = ["| solver | blocks | stream |", "|---|---|---|"]
    groups: dict[tuple[str, str], list[str]] = {}
    for name, solver in REGISTRY.items():
        once = not solver.about.finite_sum and not solver.about.deterministic
        blocks = "yes" if solver.on_sums else "as a stream" if once else "no"
        if blocks != "no":
            _try(name)
        groups.setdefault((blocks, "yes" if once else "no"), []).append(f"`{name}`")
    for (blocks, stream), names in sorted(groups.items()):
        lines.append(f"| {', '.join(names)} | {blocks} | {stream} |")
    return "\n".join(lines)


def _try(name: str) -> None:
    terms: dict[str, Any] = {"loss": losses.Squared(), "r1": penalties.L2Squared(0.1), "r2": penalties.L1(0.1)}
    problem = spdpeg.Problem(_rows(), F=operators.FirstDifference(), **terms)
    try:
        spdpeg.solve(problem, name, max_passes=1)
    except spdpeg.UnsupportedError as error:
        if "block by block" in str(error):
            raise


def models() -> str:
    """Whether each estimator fits rows that are read in blocks, and learns from them in one pass."""
    groups: dict[tuple[str, str], list[str]] = {}
    for name in estimators.__all__:
        if name.endswith("CV") and name != "FusedLassoCV":
            continue  # all of them choose their weights in the same way
        model = _made(name)
        fits = "yes" if _works(model.fit) else "no"
        learns = "yes" if hasattr(model, "partial_fit") and _works(model.partial_fit) else "no"
        shown = f"`{name}` and all others that end so" if name.endswith("CV") else f"`{name}`"
        groups.setdefault((fits, learns), []).append(shown)
    lines = ["| estimator | fit to blocks | partial_fit |", "|---|---|---|"]
    for (fits, learns), names in sorted(groups.items(), reverse=True):
        lines.append(f"| {', '.join(names)} | {fits} | {learns} |")
    return "\n".join(lines)


def _works(fit: Callable[[Any], Any]) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit(_rows())
    except spdpeg.UnsupportedError:
        return False
    return True


def page(text: str) -> str:
    """The page with its tables made anew."""
    parts: dict[str, Callable[[], str]] = {"solvers": solvers, "estimators": models}
    for name, make in parts.items():
        block = re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- end -->)", re.DOTALL)
        if len(block.findall(text)) != 1:
            raise ValueError(f"The page needs exactly one place for {name!r}.")
        before, after = block.split(text)
        text = f"{before}{make()}\n{after}"
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
