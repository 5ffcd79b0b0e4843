"""How much a file may expand to in memory."""

import os

from ..errors import InputError

VARIABLE = "SPDPEG_MAX_EXPANDED"
"""Environment variable: bytes that any file may expand to."""

_ANYWAY = 256 << 20
_TIMES = 100


def expanded(stored: int) -> int:
    """Bytes that a file of `stored` bytes may expand to: 256 MiB or 100 times its size, unless the user set it."""
    given = os.environ.get(VARIABLE)
    if not given:
        return max(_ANYWAY, _TIMES * stored)
    try:
        return int(given)
    except ValueError:
        raise InputError(f"{VARIABLE} is {given!r}. Set it to a number of bytes, or unset it.") from None


def refusal(claimed: int, allowed: int) -> str:
    """The error message for a file that would take more, without its name."""
    return (
        f"it expands to {_shown(claimed)} where {_shown(allowed)} are allowed for a file of its size. "
        f"If you trust it, set {VARIABLE} to {claimed} or more."
    )


def _shown(count: int) -> str:
    return f"{count / 2**20:,.0f} MiB" if count < 1 << 40 else f"{float(count):.1e} bytes"
