"""The exceptions and warnings users meet. Each message says what happened, then what to do."""


class SpdpegError(Exception):
    """Base class: `except spdpeg.SpdpegError` catches everything this package raises on purpose."""


class InputError(SpdpegError, ValueError):
    """Data, a parameter or a name that cannot be used."""


class UnsupportedError(SpdpegError, NotImplementedError):
    """A combination of terms that a method, a prox or a domain does not cover."""


class DivergedError(SpdpegError, ArithmeticError):
    """The iterates left the range of finite numbers or grew without bound."""


class StateError(SpdpegError, ValueError):
    """A saved state that is damaged or belongs to another problem."""


class CacheWarning(UserWarning):
    """Compiled code could not be kept on disk; everything works, each process compiles anew."""
