"""What scikit-learn refuses, told in the errors of this package."""

from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import InputError, InputTypeError, SpdpegError


@contextmanager
def told() -> Iterator[None]:
    """Turn what scikit-learn's checks and scores raise at input that cannot be used into an InputError on one line."""
    try:
        yield
    except (SpdpegError, Warning, MemoryError, OSError):
        raise
    except TypeError as error:
        raise InputTypeError(_sentence(error)) from None
    # What a foreign object's __array__ or __float__ raises is up to it.
    except Exception as error:
        raise InputError(_sentence(error)) from None


def _sentence(error: Exception) -> str:
    """The first line, or first and last where the first only announces; the input itself is not repeated."""
    first, *others = str(error).splitlines() or [type(error).__name__]
    return f"{first.rstrip(':')}. {others[-1]}" if first.endswith(":") and others else first
