"""The process of the command line, `spdpeg` or `python -m spdpeg`: Ctrl-C ends it quietly, from the first import on."""

import os
import signal
import sys
import threading

_SOON = 0.01

INTERRUPTED = 130
"""Exit code of a process that Ctrl-C ended."""


def main() -> int:
    """Run the command that the process was started with and return its exit code."""
    # A process that was told to ignore Ctrl-C, as by nohup, goes on ignoring it.
    heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heeded:
        signal.signal(signal.SIGINT, _leave)
    # joblib would try whether it can start processes, for which nobody asks here, and warn where that fails.
    os.environ.setdefault("JOBLIB_MULTIPROCESSING", "0")
    from .cli import main as run

    try:
        if heeded:
            sys.unraisablehook = _raise_again
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return run()
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        # What is left is to end the process.
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _leave(signum: int, frame: object) -> None:
    """End a process that has only imported things so far; an exception might end in the midst of a foreign import."""
    os.write(2, b"spdpeg: interrupted\n")
    os._exit(INTERRUPTED)


def _raise_again(unraisable: "sys.UnraisableHookArgs") -> None:
    """Ctrl-C that fell into a finalizer, where exceptions are printed and lost, comes once more when that is over."""
    if isinstance(unraisable.exc_value, KeyboardInterrupt):
        again = threading.Timer(_SOON, os.kill, (os.getpid(), signal.SIGINT))
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(unraisable)


if __name__ == "__main__":
    sys.exit(main())
