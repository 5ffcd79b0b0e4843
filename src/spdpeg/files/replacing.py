"""Files that are complete or not there: the one place of the package where files are written."""

import os
import re
import secrets
import socket
import stat
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from ..errors import InputError
from ..parameters import shown

_PART = re.compile(r"\..+\.([0-9a-f]{8})-(\d+)-[0-9a-f]{8}\.part")
"""Name of a file under way: what it will be called, then machine, process and a random number."""

_OLD = 24 * 3600.0
"""Seconds after which an unfinished file counts as left over, where running processes cannot be listed."""


def as_path(path: Any) -> Path:
    """The name of a file, refused if it is none."""
    if not isinstance(path, str | os.PathLike) or "\0" in os.fsdecode(path) or not os.fspath(path):
        raise InputError(f"The path is {shown(path)}. Give the name of a file.")
    return Path(os.fsdecode(path))


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of `path` once it is complete and on the disk.

    If anything goes wrong before, interruption included, `path` stays as it was. Permissions of a file that is there
    are kept. Threads and processes may write to one path at a time; the last to finish wins. A device or a pipe cannot
    be replaced and is written to.
    """
    target = Path(os.path.realpath(as_path(path)))
    in_place = target.exists() and not target.is_file()
    try:
        if in_place:
            with target.open("wb") as device:
                yield device
            return
        part = Part(target)
        try:
            yield part.file
            part.finish()
        except BaseException:
            part.discard()
            raise
    except OSError as error:
        # Users know the file by the name they gave; a full disk names none at all.
        error.filename = os.fspath(path)
        raise


class Part:
    """A file under way beside the one whose place it will take; for writers of several files at a time.

    Attributes
    ----------
    path : Path
        Under which it is written.
    target : Path
    file : binary file
    """

    def __init__(self, target: Path) -> None:
        sweep(target.parent)
        self.target = target
        self.path = unique(target)
        # Nobody else may read what replaces a private file, not even while it is written.
        kept = target.stat() if target.exists() else None
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        self.file: IO[bytes] = os.fdopen(os.open(self.path, flags, 0o666 if kept is None else 0o600), "wb")
        if kept is not None:
            _resemble(self.file.fileno(), kept)

    def finish(self) -> None:
        """Bring the file to the disk and give it its name."""
        self.flush()
        self.publish()

    def flush(self) -> None:
        """Bring the file to the disk and close it."""
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()

    def publish(self) -> None:
        """Give the file its name."""
        self.path.replace(self.target)
        sync(self.target.parent)

    def discard(self) -> None:
        """Close and remove the file."""
        with suppress(OSError):
            self.file.close()
        self.path.unlink(missing_ok=True)


def unique(target: Path) -> Path:
    """A name beside `target` that no other thread, process or machine uses."""
    return target.with_name(f".{target.name[:100]}.{_machine()}-{os.getpid()}-{secrets.token_hex(4)}.part")


def sweep(directory: Path) -> list[Path]:
    """Remove what processes that were killed left in the directory; the folders among it are returned."""
    folders = []
    with suppress(OSError):
        for entry in os.scandir(directory):
            if entry.name.endswith(".part") and _left_over(entry):
                if entry.is_dir(follow_symlinks=False):
                    folders.append(Path(entry.path))
                else:
                    with suppress(OSError):
                        os.unlink(entry.path)
    return folders


def sync(directory: Path) -> None:
    """Bring the names in a directory to the disk, on systems that can."""
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _left_over(entry: os.DirEntry[str]) -> bool:
    """Whether the process that wrote the file is gone; unknown for processes of other machines."""
    name = _PART.fullmatch(entry.name)
    if name is None or name[1] != _machine():
        return False
    if os.name != "posix":
        return time.time() - entry.stat().st_mtime > _OLD
    try:
        os.kill(int(name[2]), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        pass
    return False


def _machine() -> str:
    return f"{zlib.crc32(socket.gethostname().encode()):08x}"


def _resemble(descriptor: int, kept: os.stat_result) -> None:
    """Give a file the owner and the permissions of another, as far as the system lets."""
    if not hasattr(os, "fchmod"):
        return
    made = os.fstat(descriptor)
    if (made.st_uid, made.st_gid) != (kept.st_uid, kept.st_gid):
        with suppress(OSError):
            os.fchown(descriptor, kept.st_uid, kept.st_gid)
    with suppress(OSError):
        os.fchmod(descriptor, stat.S_IMODE(kept.st_mode))
