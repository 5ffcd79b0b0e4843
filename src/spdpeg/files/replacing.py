"""Files that are complete or not there."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of `path` once it is complete and on the disk.

    If anything goes wrong before, interruption included, `path` stays as it was. A device or a pipe cannot be replaced
    and is written to.
    """
    target = Path(os.path.realpath(path))
    in_place = target.exists() and not target.is_file()
    try:
        with target.open("wb") if in_place else _beside(target) as file:
            yield file
    except OSError as error:
        # Users know the file by the name they gave; a full disk tells none at all.
        error.filename = os.fspath(path)
        raise


@contextmanager
def _beside(target: Path) -> Iterator[IO[bytes]]:
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
