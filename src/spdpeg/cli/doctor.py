"""`spdpeg doctor`: versions, the cache of compiled code and processors."""

import argparse
import os
import platform
import tempfile
import warnings
from importlib.metadata import PackageNotFoundError, version

from rich.console import Console

from .. import __version__
from ..kernels import row_sums
from .commands import Commands
from .output import add_json, show

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "llvmlite", "rich", "pandas", "pyarrow", "matplotlib")


def add(commands: Commands) -> None:
    """Register the command."""
    parser = commands.add_parser("doctor", help="show versions, the cache of compiled code and processors")
    add_json(parser)
    parser.set_defaults(command=_doctor)


def _doctor(args: argparse.Namespace, console: Console) -> None:
    facts = {
        "spdpeg": __version__,
        "python": f"{platform.python_version()} on {platform.platform()}",
        **{library: _version(library) for library in _LIBRARIES},
        "compiled_code": _cache(),
        "processors": f"{_processors()} usable; one solve uses one",
    }
    show(facts, console, args.json)


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "not installed (optional)"


def _cache() -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the warning would say is this function's answer
        directory = row_sums.loss_sum.dispatcher.stats.cache_path
    advice = "every process compiles again; set NUMBA_CACHE_DIR to a writable directory"
    if directory is None:
        return f"no writable directory: {advice}"
    try:
        with tempfile.TemporaryFile(dir=directory):
            return f"{directory} (writable)"
    except OSError as error:
        return f"{directory} ({error.strerror}): {advice}"


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
