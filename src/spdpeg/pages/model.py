"""The document of a fitted model: coefficients, segments, certificate, run and settings."""

from contextlib import suppress
from importlib.metadata import version
from typing import Any

import numpy as np

from ..errors import UnsupportedError
from ..plots.form import mark_of, names_of, places_of, shape_of, titles_of
from . import document
from .document import Block
from .frame import numbers

_MOST_ROWS = 200
"""Segments that a table lists."""

_DIGITS = 6
"""Digits of counts and criteria."""

_MOST_SLICES = 12
"""Slices of a volume that are shown."""

_COUNTS = {
    "n_pieces_": "pieces",
    "df_": "degrees of freedom",
    "aic_": "Akaike's information criterion",
    "bic_": "Bayesian information criterion",
}

_LIBRARIES = ("spdpeg", "numpy", "scipy", "scikit-learn", "numba")


def publish(model: Any, path: Any) -> None:
    """Write the page of a fitted estimator.

    Parameters
    ----------
    model : estimator
    path : str or path
    """
    rows = np.atleast_2d(model.coef_)
    sections = {
        "How good the fit is": [*_proofs(model), *_made_of(model)],
        "Coefficients": _coefficients(model, rows),
        "Segments": _segments(model, rows),
        "The run": _runs(model),
        "Settings": [
            document.facts("parameters", {name: short(value) for name, value in model.get_params().items()}),
            document.facts("versions", {name: version(name) for name in _LIBRARIES}),
        ],
    }
    several = f" for each of {len(rows)} {'classes' if hasattr(model, 'classes_') else 'outputs'}"
    curve = getattr(model, "knots_", None) is not None
    summary = (
        f"{rows.shape[1]:,} {'values along a curve' if curve else 'coefficients'}{several if len(rows) > 1 else ''}"
    )
    reads = "1 pass" if model.n_iter_ == 1 else f"{model.n_iter_:,} passes"
    summary += f"{'' if curve else f', of which {np.count_nonzero(rows):,} are not 0'}; {reads} over the data."
    found = {name: blocks for name, blocks in sections.items() if blocks}
    document.publish(path, type(model).__name__, summary, found)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _proofs(model: Any) -> list[Block]:
    """The certificates in words, one for each problem that was solved."""
    certificates = _listed(model.certificate_)
    blocks = []
    for title, certificate in zip(_problems(model, len(certificates)), certificates, strict=True):
        if certificate is None:
            said, proved = "learned from a stream, so that nothing is known about the distance to the optimum", False
        else:
            said, proved = str(certificate), certificate.met is not None
        blocks.append(document.proof(_sentence(f"{title}{said}."), proved))
    return blocks


def _problems(model: Any, count: int) -> list[str]:
    return [""] if count == 1 else [f"{title}: " for title in titles_of(model, np.atleast_2d(model.coef_))][:count]


def _coefficients(model: Any, rows: np.ndarray) -> list[Block]:
    shape = shape_of(model)
    if shape is not None:
        return [document.images(_pictures(titles_of(model, rows), rows, shape))]
    places, names = places_of(model), names_of(model)
    axis = "feature" if getattr(model, "knots_", None) is None else "position"
    return [
        document.chart([document.mark(mark_of(model), places, row, "blue")], axis, "coefficient", title, names=names)
        for title, row in zip(titles_of(model, rows), rows, strict=True)
    ]


def _pictures(titles: list[str], rows: np.ndarray, shape: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Images by their titles; of a volume some slices."""
    if len(shape) == 2:
        return {title: row.reshape(shape) for title, row in zip(titles, rows, strict=True)}
    slices = np.unique(np.linspace(0, shape[0] - 1, min(_MOST_SLICES, shape[0])).round().astype(int))
    return {
        f"{title}, slice {k}": row.reshape(shape)[k] for title, row in zip(titles, rows, strict=True) for k in slices
    }


def _made_of(model: Any) -> list[Block]:
    """Pieces, degrees of freedom and information criteria, as far as the model has them."""
    found = {}
    for name, title in _COUNTS.items():
        with suppress(UnsupportedError, AttributeError):
            found[title] = numbers(getattr(model, name), _DIGITS)
    return [document.facts("Pieces and criteria", found, shown=True)] if found else []


def _segments(model: Any, rows: np.ndarray) -> list[Block]:
    """Where neighbours along a chain are equal; nothing where they form no chain, or more than one."""
    if mark_of(model) != "steps" or shape_of(model) is not None or len(rows) > 1 or not hasattr(model, "segments_"):
        return []
    names = names_of(model)
    shown = names if names is not None else [f"{place:g}" for place in places_of(model)]
    return segments([(shown[a], shown[b - 1], b - a, value) for a, b, value in model.segments_])


def segments(cells: list[tuple[Any, Any, int, float]]) -> list[Block]:
    """A table of segments: first and last place, length and value."""
    note = f"The first {_MOST_ROWS} of {len(cells)}." if len(cells) > _MOST_ROWS else None
    said = f"{len(cells)} segments." if len(cells) > 1 else "One segment."
    return [document.text(said), document.table(("from", "to", "length", "value"), cells[:_MOST_ROWS], note)]


def _runs(model: Any) -> list[Block]:
    histories, certificates = _listed(model.history_), _listed(model.certificate_)
    blocks: list[Block] = []
    for title, history, certificate in zip(_problems(model, len(histories)), histories, certificates, strict=True):
        if history is None or len(history) < 2:
            continue
        blocks.append(_run(title, history, -np.inf if certificate is None else certificate.dual))
    return blocks


def _run(title: str, history: Any, bound: float) -> Block:
    """The objective above its lower bound, or as it is where there is none."""
    if np.isfinite(bound):
        above = history.objective - bound
        marks = [document.mark("line", history.passes, np.where(above > 0.0, above, np.nan), "purple")]
        caption = _sentence(f"{title}objective minus the bound that the certificate proves, after so many passes.")
        return document.chart(marks, "passes", "objective above the bound", caption, log=True)
    marks = [document.mark("line", history.passes, history.objective, "blue")]
    return document.chart(marks, "passes", "objective", _sentence(f"{title}objective after so many passes."))


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:]


def short(value: Any) -> Any:
    """A parameter in a line; of an array its shape."""
    if value is None or isinstance(value, bool | int | float | str):
        return value if not isinstance(value, float) or np.isfinite(value) else str(value)
    return f"{type(value).__name__} of shape {value.shape}" if hasattr(value, "shape") else str(value)
