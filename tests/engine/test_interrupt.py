"""Ctrl-C during a run belongs to the program that calls it: only Python's own handler is stood in for."""

import signal
import threading

import numpy as np
import pytest

import spdpeg
from spdpeg import Status, losses, penalties


@pytest.fixture
def problem():
    X = np.random.default_rng(0).standard_normal((200, 5))
    return spdpeg.Problem(X, X[:, 0] > 0, loss=losses.Logistic(), r1=penalties.L1(1e-3))


@pytest.fixture
def handler():
    """A function that sets the handler of the program for the time of a test."""
    before = signal.getsignal(signal.SIGINT)
    yield lambda wanted: signal.signal(signal.SIGINT, wanted)
    signal.signal(signal.SIGINT, before)


def run(problem, callback):
    return spdpeg.solve(problem, "spdpeg", max_passes=4, record_every=1, callback=callback)


def press(progress):
    if progress.passes == 2:
        signal.raise_signal(signal.SIGINT)


def test_the_handler_of_the_program_is_called_and_kept(problem, handler):
    pressed = []

    def own(signum, frame):
        pressed.append(signum)

    handler(own)
    result = run(problem, press)
    assert pressed == [signal.SIGINT]
    assert result.status is Status.MAX_PASSES
    assert signal.getsignal(signal.SIGINT) is own


def test_a_program_that_ignores_it_is_not_interrupted(problem, handler):
    handler(signal.SIG_IGN)
    assert run(problem, press).status is Status.MAX_PASSES
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_a_handler_that_raises_ends_the_run(problem, handler):
    class Enough(Exception):
        pass

    def own(signum, frame):
        raise Enough

    handler(own)
    with pytest.raises(Enough):
        run(problem, press)


def test_pythons_own_handler_gives_way_to_a_result(problem, handler):
    handler(signal.default_int_handler)
    result = run(problem, press)
    assert result.status is Status.INTERRUPTED
    assert result.passes < 4
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_have_no_say(problem, handler):
    handler(signal.default_int_handler)
    found = []
    thread = threading.Thread(target=lambda: found.append(run(problem, None)))
    thread.start()
    thread.join()
    assert found[0].status is Status.MAX_PASSES
