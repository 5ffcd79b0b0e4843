"""The exceptions and warnings users meet. Each message says what happened, then what to do, on one line.

Only the operating system is quoted as it is: a missing file is a FileNotFoundError, a full disk an OSError.
"""

import re

_LONGEST = 1200
"""Characters of a message; the middle of a longer one is left out."""

_LINE_END = re.compile(r"\s*[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]\s*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that steer a terminal, reorder a line or cannot be printed at all."""


def printable(text: str) -> str:
    """The text with characters that steer terminals written out, as \\x1b; line ends and tabs stay."""
    return _CONTROL.sub(
        lambda found: found[0] if found[0] in "\n\t" else found[0].encode("unicode_escape").decode(), text
    )


def one_line(text: object) -> str:
    """The text on one line, printable and not longer than a paragraph."""
    line = printable(_LINE_END.sub(" ", str(text)).replace("\t", " ")).strip()
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST // 2]} ... {line[-_LONGEST // 2 :]}"


class SpdpegError(Exception):
    """Base class: `except spdpeg.SpdpegError` catches everything this package raises on purpose."""

    def __init__(self, *parts: object) -> None:
        super().__init__(*(one_line(part) if isinstance(part, str) else part for part in parts))


class InputError(SpdpegError, ValueError):
    """Data, a parameter or a name that cannot be used."""


class InputTypeError(InputError, TypeError):
    """Input of a type that cannot be used, where scikit-learn's rules for estimators want a TypeError."""


class UnsupportedError(SpdpegError, NotImplementedError):
    """A combination of terms that a method, a prox or a domain does not cover."""


class DivergedError(SpdpegError, ArithmeticError):
    """The iterates left the range of finite numbers or grew without bound."""


class StateError(SpdpegError, ValueError):
    """A saved state that is damaged or belongs to another problem."""


class ClusterError(SpdpegError, RuntimeError):
    """Workers of a cluster that were lost, or that have not got on for too long."""


class CacheWarning(UserWarning):
    """Compiled code could not be kept on disk; everything works, each process compiles anew."""


class OrderWarning(UserWarning):
    """The rows of a stream come in an order that misleads methods which read each of them once."""


class FarFromOptimalWarning(UserWarning):
    """A run ended, by its budget or because it could not go on, with a proved gap of more than 1 % of the objective."""


class ChoiceWarning(UserWarning):
    """Weights of penalties that may be wrong: the best lie where a grid ends, or all coefficients are 0."""
