"""Writes the tables of larger_than_memory.md by trying every solver and estimator: python docs/source_tables.py.

Needs dask: rows on a cluster are tried on one in the threads of this process.
"""

import inspect
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client

import spdpeg
from spdpeg import data, estimators, losses, operators, penalties
from spdpeg.engine.registry import REGISTRY

PAGE = Path(__file__).with_name("larger_than_memory.md")

_ROWS, _COLUMNS = 60, 6

_NEEDS_ROWS = re.compile("single rows|block by block")
"""What a refusal says if it is for where the rows are."""

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


def _numbers() -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).standard_normal((_ROWS, _COLUMNS))
    return X, (X[:, 0] + 0.3 * X[:, 1] > 0).astype(float)


def _blocks() -> tuple[Any, ...]:
    """Rows that are read block by block; they bring their labels."""
    X, labels = _numbers()

    def read() -> Iterator[np.ndarray]:
        yield from np.array_split(X, 3)

    return (data.Tables("A table", read, _ROWS, _COLUMNS, labels),)


def _dask() -> tuple[Any, ...]:
    """Rows and labels on the active cluster."""
    X, labels = _numbers()
    return da.from_array(X, chunks=(_ROWS // 3, _COLUMNS)), da.from_array(labels, chunks=_ROWS // 3)


_SOURCES: dict[str, Callable[[], tuple[Any, ...]]] = {"blocks": _blocks, "dask": _dask}


def solvers() -> str:
    """What each solver makes of rows in blocks, on a cluster and in a stream."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, solver in REGISTRY.items():
        once = not solver.about.finite_sum and not solver.about.deterministic
        how = "yes" if solver.on_sums else "as a stream"
        found = [how if _solves(name, make) else "no" for make in _SOURCES.values()]
        groups.setdefault((*found, "yes" if once else "no"), []).append(f"`{name}`")
    return _table("solver", [*_SOURCES, "stream"], groups)


def _solves(name: str, make: Callable[[], tuple[Any, ...]]) -> bool:
    terms: dict[str, Any] = {"loss": losses.Squared(), "r1": penalties.L2Squared(0.1), "r2": penalties.L1(0.1)}
    try:
        spdpeg.solve(spdpeg.Problem(*make(), F=operators.FirstDifference(), **terms), name, max_passes=1)
    except spdpeg.UnsupportedError as error:
        return not _NEEDS_ROWS.search(str(error))  # another problem may do
    return True


def models() -> str:
    """Whether each estimator fits rows in blocks and on a cluster, and learns from them in one pass."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for name in estimators.__all__:
        if name.endswith("CV") and name != "FusedLassoCV":
            continue  # all of them choose their weights in the same way
        model = _made(name)
        found = [_works(model.fit, make) for make in _SOURCES.values()]
        found += [hasattr(model, "partial_fit") and _works(model.partial_fit, make) for make in _SOURCES.values()]
        others = " and the others that end so, if the model without CV does" if name.endswith("CV") else ""
        shown = f"`{name}`{others}"
        groups.setdefault(tuple("yes" if one else "no" for one in found), []).append(shown)
    header = [f"{call} {name}" for call in ("fit to", "partial_fit of") for name in _SOURCES]
    return _table("estimator", header, groups)


def _works(fit: Callable[..., Any], make: Callable[[], tuple[Any, ...]]) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit(*make())
    except spdpeg.UnsupportedError:
        return False
    return True


def _table(first: str, header: list[str], groups: dict[tuple[str, ...], list[str]]) -> str:
    lines = [f"| {' | '.join([first, *header])} |", "|---" * (len(header) + 1) + "|"]
    lines += [f"| {', '.join(names)} | {' | '.join(found)} |" for found, names in sorted(groups.items(), reverse=True)]
    return "\n".join(lines)


def page(text: str) -> str:
    """The page with its tables rebuilt."""
    parts: dict[str, Callable[[], str]] = {"solvers": solvers, "estimators": models}
    with Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50):
        for name, make in parts.items():
            block = re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- end -->)", re.DOTALL)
            if len(block.findall(text)) != 1:
                raise ValueError(f"The page needs exactly one place for {name!r}.")
            before, after = block.split(text)
            text = f"{before}{make()}\n{after}"
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
