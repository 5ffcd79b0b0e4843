"""Commands in a process of their own, with a terminal to write to."""

import contextlib
import os
import pty
import signal
import subprocess
import sys
import threading
import time

import pytest

LIMIT = 100
"""Seconds after which a command is taken to hang."""


class Terminal:
    """A command whose standard error is a terminal."""

    def __init__(self, arguments, **options):
        self._screen, side = pty.openpty()
        # A shell that runs the tests in the background has told them, and whom they start, to ignore Ctrl-C.
        options["preexec_fn"] = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
        self.process = subprocess.Popen([sys.executable, "-m", "spdpeg", *arguments], stderr=side, **options)
        os.close(side)
        self.shown = b""
        self._watchdog = threading.Timer(LIMIT, self.process.kill)
        self._watchdog.start()

    def wait_for(self, text):
        """Read until `text` was shown."""
        while text not in self.shown:
            self.shown += os.read(self._screen, 1024)

    def interrupt(self):
        """Press Ctrl-C in the midst of the work; the exit code."""
        time.sleep(0.2)
        self.process.send_signal(signal.SIGINT)
        try:
            while part := os.read(self._screen, 65536):
                self.shown += part
        except OSError:  # how Linux says that nobody holds the other end any more
            pass
        return self.process.wait(timeout=LIMIT)

    def close(self):
        """End what is left."""
        self._watchdog.cancel()
        self.process.kill()
        self.process.wait()
        if self.process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):  # what was to be written has nowhere to go
                self.process.stdin.close()
        os.close(self._screen)


@pytest.fixture
def terminal():
    """A function that starts a command in a terminal."""
    opened = []

    def start(*arguments, **options):
        opened.append(Terminal(map(str, arguments), stdout=subprocess.DEVNULL, **options))
        return opened[-1]

    yield start
    for each in opened:
        each.close()
