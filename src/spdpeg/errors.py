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
    """Base class: `except spdpeg.SpdpegError` catches everything this package raises on purpose.

    See Also
    --------
    InputError, UnsupportedError, DivergedError, StateError, ClusterError : What it may be.

    Examples
    --------
    >>> import spdpeg
    >>> try:
    ...     spdpeg.denoise([1.0, 2.0, 3.0], lam2=-1.0)
    ... except spdpeg.SpdpegError as error:
    ...     print(type(error).__name__)
    InputError
    """

    def __init__(self, *parts: object) -> None:
        super().__init__(*(one_line(part) if isinstance(part, str) else part for part in parts))


class InputError(SpdpegError, ValueError):
    """Data, a parameter or a name that cannot be used.

    See Also
    --------
    UnsupportedError : Terms that are fine each by itself.

    Examples
    --------
    >>> import spdpeg
    >>> spdpeg.Problem([[1.0], [float("nan")]], [1.0, 2.0], loss=spdpeg.losses.Squared())  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    spdpeg.errors.InputError: ...
    """


class InputTypeError(InputError, TypeError):
    """Input of a type that cannot be used, where scikit-learn's rules for estimators want a TypeError."""


class UnsupportedError(SpdpegError, NotImplementedError):
    """A combination of terms that a method, a prox or a domain does not cover.

    See Also
    --------
    InputError : Input that no method covers.

    Examples
    --------
    >>> import spdpeg
    >>> problem = spdpeg.Problem([[1.0], [2.0]], [-1, 1], loss=spdpeg.losses.Hinge())
    >>> spdpeg.solve(problem, "pd3o")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    spdpeg.errors.UnsupportedError: pd3o needs a smooth loss and Hinge() is not. ...
    """


class DivergedError(SpdpegError, ArithmeticError):
    """The iterates left the range of finite numbers or grew without bound.

    See Also
    --------
    FarFromOptimalWarning : A run that stayed finite, and ended early.

    Examples
    --------
    >>> import spdpeg
    >>> X, y, truth = spdpeg.datasets.piecewise_constant(200, 10)
    >>> problem = spdpeg.Problem(X, y, loss=spdpeg.losses.Squared())
    >>> spdpeg.solve(problem, "spdpeg", mode="paper", scale=1e6)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    spdpeg.errors.DivergedError: spdpeg diverged at iteration ...
    """


class StateError(SpdpegError, ValueError):
    """A saved state that is damaged or belongs to another problem.

    See Also
    --------
    State : What a run goes on from.

    Examples
    --------
    >>> import spdpeg
    >>> X, y, truth = spdpeg.datasets.piecewise_constant(200, 10)
    >>> problem = spdpeg.Problem(X, y, loss=spdpeg.losses.Logistic(), r1=spdpeg.penalties.L1(1e-3))
    >>> result = spdpeg.solve(problem, "sgadm", max_passes=1)
    >>> spdpeg.solve(problem, "spdpeg", state=result.state)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    spdpeg.errors.StateError: The state was made by sgadm ...
    """


class ClusterError(SpdpegError, RuntimeError):
    """Workers of a cluster that were lost, or that have made no progress for too long.

    See Also
    --------
    SpdpegError : The base of all errors.

    Examples
    --------
    >>> import spdpeg
    >>> issubclass(spdpeg.ClusterError, RuntimeError)
    True
    """


class CacheWarning(UserWarning):
    """Compiled code could not be kept on disk; everything works, each process compiles again.

    See Also
    --------
    OrderWarning, FarFromOptimalWarning, ChoiceWarning : Warnings about results.

    Examples
    --------
    >>> import warnings
    >>> import spdpeg
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", spdpeg.CacheWarning)
    """


class OrderWarning(UserWarning):
    """The rows of a stream come in an order that misleads methods which read each of them once.

    See Also
    --------
    FarFromOptimalWarning : What finite data may end with.

    Examples
    --------
    >>> import warnings
    >>> import spdpeg
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", spdpeg.OrderWarning)  # rather stop than go on with rows in a bad order
    """


class FarFromOptimalWarning(UserWarning):
    """A run ended, by its budget or because it could not go on, with a proved gap of more than 1 % of the objective.

    See Also
    --------
    Certificate : The gap, and how it was proved.

    Examples
    --------
    >>> import warnings
    >>> import spdpeg
    >>> X, y, truth = spdpeg.datasets.piecewise_constant(200, 10)
    >>> problem = spdpeg.Problem(X, y, loss=spdpeg.losses.Logistic(), r1=spdpeg.penalties.L1(1e-3))
    >>> with warnings.catch_warnings(record=True) as heard:
    ...     warnings.simplefilter("always", spdpeg.FarFromOptimalWarning)
    ...     result = spdpeg.solve(problem, "pd3o", max_iterations=1)
    >>> heard[0].category.__name__
    'FarFromOptimalWarning'
    """


class ChoiceWarning(UserWarning):
    """Weights of penalties that may be wrong: the best lie where a grid ends, or all coefficients are 0.

    See Also
    --------
    lam_max, path : To see what other weights give.

    Examples
    --------
    >>> import warnings
    >>> import spdpeg
    >>> X, y, truth = spdpeg.datasets.piecewise_constant(200, 10)
    >>> with warnings.catch_warnings(record=True) as heard:
    ...     warnings.simplefilter("always", spdpeg.ChoiceWarning)
    ...     model = spdpeg.FusedLogisticRegression(lam1=100.0, lam2=1.0).fit(X, y)
    >>> heard[0].category.__name__
    'ChoiceWarning'
    """
