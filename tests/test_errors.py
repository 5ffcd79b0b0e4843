"""Messages are one line that any terminal can show."""

import pickle

import pytest

from spdpeg import errors


@pytest.mark.parametrize("kind", [errors.InputError, errors.UnsupportedError, errors.DivergedError, errors.StateError])
def test_messages_are_one_line(kind):
    error = kind("a\n  b\r\nc\u2028d\x1b[31m\x9b\tred")
    assert str(error) == "a b c d\\x1b[31m\\x9b red"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_long_message_loses_its_middle():
    told = str(errors.InputError("x is " + "9" * 10**6 + ". Give less."))
    assert len(told) < 1300
    assert told.startswith("x is 99")
    assert told.endswith("99. Give less.")


def test_printable_keeps_lines_and_letters():
    assert errors.printable("Straße\tñ\n\u202eabc\x07") == "Straße\tñ\n\\u202eabc\\x07"
