"""The command line: one module per command, and here what all of them share."""

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from sklearn.exceptions import ConvergenceWarning

from .. import CacheWarning, SpdpegError, __version__
from ..errors import one_line
from . import compare, convert, demo, denoise, doctor, fit, info, path, predict, reproduce, solvers

OK, FAILED, _USAGE, INTERRUPTED = 0, 1, 2, 130
"""Exit codes; argparse itself exits with 2 on wrong usage, too."""

_COMMANDS = (demo, denoise, fit, path, predict, convert, info, compare, reproduce, solvers, doctor)
"""In the order of the help. Each has `add(commands)`, which registers a parser whose `command` is a function of the
arguments and the console for standard output; progress goes to standard error, and only where that is a terminal."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        _run(_parsed(argv))
    except BrokenPipeError:
        _abandon_output()
    except SpdpegError as error:
        return _failed(str(error))
    except MemoryError as error:
        return _failed(f"The memory does not suffice ({one_line(error)}). Take fewer rows or columns.")
    except OSError as error:
        _abandon_output()
        where = "" if error.filename is None else f"{error.filename}: "
        return _failed(f"{where}{error.strerror or error}.")
    except KeyboardInterrupt:
        print("spdpeg: interrupted", file=sys.stderr)
        return INTERRUPTED
    return OK


def _run(args: argparse.Namespace) -> None:
    """Run the command; what it prints is gathered and written once, so that a closed pipe is met in one place."""
    console = Console()
    with warnings.catch_warnings(), console.capture() as captured:
        warnings.showwarning = _tell
        for category in (ConvergenceWarning, CacheWarning):
            warnings.simplefilter("always", category)
        args.command(args, console)
    _write(captured.get())


def _write(text: str) -> None:
    """To standard output, letters that its encoding lacks written out."""
    try:
        sys.stdout.write(text)
    except UnicodeEncodeError:
        encoding = sys.stdout.encoding
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
    sys.stdout.flush()


def _tell(message: Warning | str, category: type[Warning], *place: Any, **options: Any) -> None:
    """A warning without the line of source, of which users of a command have no use."""
    print(f"spdpeg: warning: {one_line(message)}", file=sys.stderr)


def _failed(message: str) -> int:
    print(f"spdpeg: {one_line(message)}", file=sys.stderr)
    return FAILED


def _abandon_output() -> None:
    """The interpreter flushes standard output once more on exit; give it a place where that works."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    """The arguments; an option that a command does not know is answered with its usage, not that of the program.

    Without a command all of them are listed.
    """
    parser = _parser()
    args, unknown = parser.parse_known_args(argv)
    if not hasattr(args, "command"):
        parser.print_help(sys.stderr)
        parser.exit(_USAGE)
    if unknown:
        args.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    return args


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="spdpeg",
        description="Signals, images and linear models in which neighbouring, connected or grouped values should be "
        "equal: min E[l(x, xi)] + r1(x) + r2(F x), with a proof of how far each fit is from the optimum.",
        epilog="`spdpeg demo` shows what that is, in under a minute; `spdpeg COMMAND --help` lists the options.",
    )
    parser.add_argument("--version", action="version", version=f"spdpeg {__version__}")
    commands = parser.add_subparsers(metavar="command")
    for command in _COMMANDS:
        command.add(commands)
    for added in commands.choices.values():
        added.set_defaults(parser=added)
    return parser
