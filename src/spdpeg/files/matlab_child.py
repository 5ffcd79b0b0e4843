"""Run as a script by matlab.py: a .mat file from standard input, its arrays to standard output as numpy.savez has them.

It imports nothing of the package, so that it starts fast and lives alone.
"""

import io
import sys
from contextlib import suppress
from typing import Any

DAMAGED, NEWER, NO_ROWS = 3, 4, 5
"""Exit codes; messages go to standard error."""

_OVERHEAD = 2 << 30
"""Bytes of address space for the interpreter and its libraries."""


def main(content: bytes, allowed: int) -> int:
    """Read, write, and say how it went."""
    import numpy as np
    import scipy.io
    import scipy.sparse as sp

    with suppress(ImportError, ValueError, OSError):
        import resource

        most = _OVERHEAD + 4 * (allowed + len(content))
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))
    try:
        variables = scipy.io.loadmat(io.BytesIO(content), variable_names=["X", "A", "y", "labels"])
        X, y = _first(variables, "X", "A"), _first(variables, "y", "labels")
        if X is None:
            names = [name for name, _, _ in scipy.io.whosmat(io.BytesIO(content))]
            sys.stderr.write(", ".join(names))
            return NO_ROWS
        arrays = {} if y is None else {"y": _plain(y, "the labels")}
        if sp.issparse(X):
            X = X.tocsc()  # some versions of SciPy return lists of entries
            parts = {part: _plain(getattr(X, part), "X") for part in ("data", "indices", "indptr")}
            arrays |= {"format": np.array(X.format.encode()), "shape": np.array(X.shape), **parts}
        else:
            arrays["X"] = _plain(X, "X")
    except NotImplementedError:
        return NEWER
    # SciPy's reader fails in many ways on what is not a .mat file, and each of them means just that.
    except Exception as error:
        sys.stderr.write(str(error) or type(error).__name__)
        return DAMAGED
    np.savez(sys.stdout.buffer, **arrays)
    return 0


def _first(variables: dict[str, Any], *names: str) -> Any:
    return next((variables[name] for name in names if name in variables), None)


def _plain(array: Any, name: str) -> Any:
    if array.dtype.kind not in "biufcSU":
        raise ValueError(f"{name} holds values of type {array.dtype}, not numbers")
    return array


if __name__ == "__main__":
    sys.exit(main(sys.stdin.buffer.read(), int(sys.argv[1])))
