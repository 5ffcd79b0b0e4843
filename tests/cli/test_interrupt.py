"""Ctrl-C at any moment: one line, exit code 130, no traceback."""

import signal
import subprocess
import sys

import pytest

SCRIPT = """
import runpy, signal, sys

class Pressing:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, signal.{handler})
sys.meta_path.insert(0, Pressing())
sys.argv = ["spdpeg", "solvers"]
runpy.run_module("spdpeg", run_name="__main__")
"""


def run(module, handler="default_int_handler"):
    """The command, with Ctrl-C pressed when it is about to import a module."""
    code = SCRIPT.format(module=module, handler=handler)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)


@pytest.mark.parametrize(
    "module", ["spdpeg.cli", "numpy", "scipy.sparse", "numba", "sklearn.base", "rich.console", "spdpeg.cli.fit"]
)
def test_during_imports(module):
    ended = run(module)
    assert ended.returncode == 130
    assert ended.stderr == "spdpeg: interrupted\n"
    assert ended.stdout == ""


def test_a_process_told_to_ignore_it_does():
    ended = run("numpy", "SIG_IGN")
    assert ended.returncode == 0
    assert ended.stderr == ""
    assert "spdhg" in ended.stdout


def test_during_the_parsing_of_arguments(tmp_path, monkeypatch):
    from spdpeg import cli

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_parser", interrupted)
    assert cli.main([]) == 130


def test_in_a_finalizer_it_is_not_lost():
    code = """
import runpy, signal, sys
import spdpeg.cli

class Ending:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

def command(argv=None):
    made = Ending()
    del made
    for _ in range(10**7):
        pass
    print("it went on")

spdpeg.cli.main = command
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("spdpeg", run_name="__main__")
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


def test_this_process_is_left_as_it_was():
    assert signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
