"""MATLAB's .mat up to version 7: rows under X or A, labels under y or labels.

SciPy's reader trusts a file and can bring the process down with a damaged one, so it runs in a process of its own.
"""

import io
import os
import subprocess
import sys
from pathlib import Path

from ..errors import InputError, UnsupportedError
from . import limits
from .archive import Archive
from .columns import Columns
from .matlab_child import DAMAGED, NEWER, NO_ROWS
from .numpy_archive import sparse
from .source import Source
from .table import Table, checked

_CHILD = Path(__file__).with_name("matlab_child.py")


def read(source: Source, n_features: int | None, requested: Columns) -> Table:
    """The whole file."""
    content = source.content()
    allowed = limits.expanded(source.size)
    answer = _asked(source.name, content, allowed)
    output = answer.stderr.decode("utf-8", "replace").strip()
    if answer.returncode == NEWER:
        raise UnsupportedError(
            f"{source.name} is a .mat file of version 7.3, which is HDF5. Save it in MATLAB with the option -v7."
        )
    if answer.returncode == NO_ROWS:
        raise InputError(
            f"{source.name} holds {output or 'nothing'}, but neither X nor A. Save the rows as X, one each."
        )
    if answer.returncode != 0:
        reason = output if answer.returncode == DAMAGED else "reading it crashed"
        raise InputError(f"{source.name} is no .mat file or is damaged ({reason}). Write it again.")
    with Archive(io.BytesIO(answer.stdout)) as archive:
        X = archive.array("X") if "X" in archive.arrays else sparse(archive)
        y = archive.array("y") if "y" in archive.arrays else None
    return checked(source.name, X, y, n_features, limit=allowed)


def _asked(name: str, content: bytes, allowed: int) -> "subprocess.CompletedProcess[bytes]":
    """The answer of the child process, which finds its libraries where this process does."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    try:
        return subprocess.run(
            [sys.executable or "python3", "-P", str(_CHILD), str(allowed)],
            input=content,
            capture_output=True,
            env=environment,
            check=False,
        )
    except OSError as error:
        raise UnsupportedError(
            f"{name} is a .mat file, which is read in a process of its own, and none could be started "
            f"({error.strerror}). Convert it to .npz."
        ) from None
