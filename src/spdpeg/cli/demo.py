"""`spdpeg demo`: the first minute. A signal without its noise, a fit that is proved, and the same rows as a stream."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.text import Text

from .. import Problem, Result, datasets, denoise, losses, operators, penalties, solve
from ..data import Stream
from ..kernels import jit
from ..pages import document
from ..pages.document import Block
from ..result import uninterrupted
from .commands import Commands
from .output import add_json, check_output

_LAM1, _LAM2 = 5e-4, 5e-3
"""Weights of the paper's fused logistic regression."""

_LAM2_SIGNAL = 1000.0
"""Weight for the signal, of the size of its values."""

_CHUNK = 1000
"""Rows of the stream that are there at a time."""


class Story(NamedTuple):
    """One thing that the demo shows."""

    title: str
    sentence: str
    curves: dict[str, np.ndarray]
    """Curves of equal length, for the terminal."""
    blocks: list[Block]
    """For the page."""
    facts: dict[str, Any]
    """For programs."""


def add(commands: Commands) -> None:
    """Register the command."""
    parser = commands.add_parser("demo", help="see it work in a minute: a signal, a fit with proof, a stream")
    parser.add_argument("--samples", type=int, default=20_000, help="rows of the fit (default %(default)s)")
    parser.add_argument("--features", type=int, default=120, help="columns of the fit (default %(default)s)")
    parser.add_argument("--passes", type=float, default=1.0, help="reads of the stream (default %(default)g)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the rows and of the method (default %(default)s)")
    parser.add_argument(
        "--output", default="spdpeg-demo.html", metavar="FILE", help="page to write (default: ./%(default)s)"
    )
    add_json(parser)
    parser.set_defaults(command=_demo)


def _demo(args: argparse.Namespace, console: Console) -> None:
    check_output(args.output, [])
    sample = datasets.piecewise_constant(args.samples, args.features, n_pieces=min(8, args.features), seed=args.seed)
    fit, optimum = _fit(sample)
    stories = {"signal": _signal(), "fit": fit, "stream": _stream(sample, optimum, args.passes, args.seed)}
    compiling = jit.compile_seconds()
    summary = "What spdpeg does, on data that need no download. Nothing in this page asks the network for anything."
    sections = {story.title: [document.text(story.sentence), *story.blocks] for story in stories.values()}
    document.publish(args.output, "spdpeg: a first look", summary, sections)
    if args.json:
        facts = {name: story.facts for name, story in stories.items()}
        console.out(json.dumps({**facts, "compile_seconds": compiling, "page": args.output}), highlight=False)
        return
    for number, story in enumerate(stories.values(), start=1):
        console.print(Text(f"{number}. {story.title}", style="bold"))
        console.print(Text(story.sentence))
        console.print()
        for line in _pictures(story.curves, width=console.width - 1, ascii_only=console.options.ascii_only):
            console.out(line, highlight=False)
    console.print(f"Compiling or loading compiled code took {compiling:.1f} s of the time; later runs load it.")
    console.print(Text(f"To look at: {Path(args.output).resolve()}"), soft_wrap=True)


def _signal() -> Story:
    """The flow of the Nile as a few levels."""
    years, flow = datasets.nile()
    found = denoise(flow, _LAM2_SIGNAL)
    levels = " and ".join(
        f"about {value:,.0f} from {years[start]} to {years[stop - 1]}" for start, stop, value in found.segments
    )
    sentence = (
        f"The flow of the Nile at Aswan is noisy from year to year. Denoised it has {found.n_pieces} levels: {levels} "
        f"(10^8 cubic metres). The solution is {found.certificate}."
    )
    marks = [
        document.mark("points", years, flow, "grey", "measured"),
        document.mark("steps", years, found.x, "blue", "denoised"),
    ]
    caption = f"Annual flow and its {found.n_pieces} levels. Where a level ends is found, not given."
    return Story(
        "A signal without its noise",
        sentence,
        {"measured": flow, "denoised": found.x},
        [document.chart(marks, "year", "flow", caption)],
        {"segments": [list(segment) for segment in found.segments], "objective": found.objective},
    )


def _problem(X: Any, y: Any) -> Problem:
    r1, r2 = penalties.L1(_LAM1), penalties.L1(_LAM2)
    return Problem(X, y, loss=losses.Logistic(), r1=r1, r2=r2, F=operators.FirstDifference())


def _fit(sample: datasets.Sample) -> tuple[Story, Result]:
    """A fused logistic regression to its optimum."""
    X, y, truth = sample
    result = uninterrupted(solve(_problem(X, y), progress=True))
    pieces = 1 + np.count_nonzero(np.diff(result.x))
    sentence = (
        f"Logistic regression on {len(y):,} rows, with {truth.size} coefficients of which neighbours should be equal, "
        f"was solved in {result.passes:.3g} passes over the rows. The solution has {pieces} pieces and is "
        f"{result.certificate}."
    )
    marks = [
        document.mark("steps", np.arange(truth.size), truth, "grey", "truth", dash=True),
        document.mark("steps", np.arange(truth.size), result.x, "blue", "fitted"),
    ]
    caption = "The coefficients that the rows were drawn from, and those that were found, which penalties shrink."
    assert result.certificate is not None  # rows in memory have one
    facts = {"x": result.x.tolist(), "objective": result.objective, "rel_gap": result.certificate.rel_gap}
    return (
        Story(
            "A fit that is proved to be optimal",
            sentence,
            {"truth": truth, "fitted": result.x},
            [document.chart(marks, "feature", "coefficient", caption)],
            {**facts, "truth": truth.tolist()},
        ),
        result,
    )


def _stream(sample: datasets.Sample, optimum: Result, passes: float, seed: int) -> Story:
    """The same rows, read by SPDPEG as they come."""
    X, y, truth = sample

    def chunks() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        return ((X[k : k + _CHUNK], y[k : k + _CHUNK]) for k in range(0, len(y), _CHUNK))

    classes = (-1.0, 1.0)
    problem = _problem(Stream(chunks, n_features=truth.size, classes=classes), None)
    result = uninterrupted(solve(problem, "spdpeg", max_passes=passes, seed=seed, progress=True))
    objective = _problem(X, y).objective(result.x)
    above = 100.0 * (objective / optimum.objective - 1.0)
    times = "once" if passes == 1.0 else f"{passes:g} times"
    sentence = (
        f"SPDPEG, the method that the package is named after, read the same rows {times}, {_CHUNK:,} at a time, and "
        f"kept none of them. It ended {above:.2g} % above the optimum: a stream of any length takes no more memory."
    )
    marks = [
        document.mark("steps", np.arange(truth.size), optimum.x, "blue", "optimum", dash=True),
        document.mark("steps", np.arange(truth.size), result.x, "orange", "after the stream"),
    ]
    caption = "The optimum of part 2, and what a stream of the same rows left behind."
    return Story(
        "The same rows as a stream",
        sentence,
        {"optimum": optimum.x, "after the stream": result.x},
        [document.chart(marks, "feature", "coefficient", caption)],
        {"x": result.x.tolist(), "objective": objective, "status": result.status.name, "passes": result.passes},
    )


def _pictures(curves: dict[str, np.ndarray], width: int, ascii_only: bool, height: int = 4) -> list[str]:
    """Bar charts of vectors on one scale, neighbours averaged where the terminal is too narrow."""
    bars = " .:-=+*%#" if ascii_only else " ▁▂▃▄▅▆▇█"
    columns = {
        name: np.array([part.mean() for part in np.array_split(curve, min(width, curve.size))])
        for name, curve in curves.items()
    }
    low = min(column.min() for column in columns.values())
    high = max(column.max() for column in columns.values())
    lines = []
    for name, column in columns.items():
        filled = 8 * height * (column - low) / (high - low or 1.0)
        lines.append(f"{name}  [{column.min():+.2f} .. {column.max():+.2f}]")
        for row in reversed(range(height)):
            cells = np.clip(np.rint(filled - 8 * row), 0, 8).astype(int)
            lines.append("".join(bars[cell] for cell in cells).rstrip())
        lines.append("")
    return lines
