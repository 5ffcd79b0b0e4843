"""Where data files are: a directory of the user's, the cache, or the network."""

import hashlib
import json
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

import platformdirs

from ..errors import InputError, one_line
from ..files import limits
from ..files.replacing import replacing, sweep, unique
from .fetching import fetch

VARIABLE = "SPDPEG_DATA_DIR"
SUFFIXES = ("", ".txt", ".libsvm", ".svm", ".xz", ".bz2", ".gz", ".npz", ".mat", ".csv", ".parquet")

_CHECKSUMS = "checksums.json"
"""SHA-256 of the files in the cache, by name, as they were when they were first used."""

_BLOCK = 1 << 20


def user_cache() -> Path:
    """Where downloads and graphs are kept: spdpeg in the cache directory that the system has for the user."""
    return platformdirs.user_cache_path("spdpeg", appauthor=False)


def directories(data_dir: str | os.PathLike[str] | None) -> list[Path]:
    """Where to look, in this order: `data_dir`, else SPDPEG_DATA_DIR; then the cache."""
    own = data_dir if data_dir is not None else os.environ.get(VARIABLE)
    source = "data_dir" if data_dir is not None else VARIABLE
    if own and not (isinstance(own, str | os.PathLike) and Path(own).is_dir()):
        raise InputError(f"{source} is {own}, which is no directory. Give the one with the data files.")
    return [*([Path(own)] if own else []), _cache()]


def find(name: str, places: list[Path]) -> Path | None:
    """The file called `name`, whatever its format and compression; one in the cache must be as it was at first."""
    paths = (place / (name + suffix) for place in places for suffix in SUFFIXES)
    found = next((path for path in paths if path.is_file()), None)
    if found is not None and found.parent == _cache():
        _verify(found)
    return found


def download(name: str, address: str, sha256: str | None, check: Callable[[Path], object]) -> Path:
    """Fetch the data set into the cache, and keep it only if its checksum fits and `check` accepts the file."""
    with _arrivals() as directory:
        arrived = directory / PurePosixPath(address).name
        try:
            fetch(address, arrived)
        except (OSError, ValueError) as error:
            raise InputError(
                f"{name} is not on this machine and could not be downloaded from {address} "
                f"({one_line(error)[:200]}). "
                f"Set {VARIABLE} to a directory that holds the file, or try again with a network."
            ) from None
        try:
            if sha256 is not None and _digest(arrived) != sha256:
                raise InputError("its SHA-256 is not the one that is known.")
            if arrived.suffix == ".zip":
                _extract(arrived, name)
            path = find(name, [directory])
            if path is None:
                raise InputError(f"it holds no file called {name}.")
            check(path)
        except InputError as error:
            raise InputError(
                f"What {address} sent is not {name}: {error} Get the file elsewhere and set {VARIABLE}."
            ) from None
        for part in directory.glob(f"{name}*"):
            with part.open("rb") as source, replacing(_cache() / part.name) as file:
                shutil.copyfileobj(source, file)
            _record(_cache() / part.name)
    return _cache() / path.name


def _cache() -> Path:
    return user_cache() / "data"


@contextmanager
def _arrivals() -> Iterator[Path]:
    """A directory in the cache for what comes, which goes in the end, even if this process is killed."""
    cache = _cache()
    cache.mkdir(parents=True, exist_ok=True)
    for left_over in sweep(cache):
        shutil.rmtree(left_over, ignore_errors=True)
    directory = unique(cache / "arrivals")
    directory.mkdir()
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _verify(path: Path) -> None:
    """Refuse a file of the cache that is not what it was when it was first used."""
    known = _checksums(path.parent).get(path.name)
    if known is None:
        _record(path)
    elif _digest(path) != known:
        raise InputError(
            f"{path} has changed since it was first used: its SHA-256 is not that in {_CHECKSUMS}. "
            "Delete the file to download it again."
        )


def _record(path: Path) -> None:
    """Remember the checksum of a file; a cache that cannot be written to remembers none."""
    checksums = {**_checksums(path.parent), path.name: _digest(path)}
    with suppress(OSError), replacing(path.with_name(_CHECKSUMS)) as file:
        file.write((json.dumps(checksums, indent=1) + "\n").encode())


def _checksums(directory: Path) -> dict[str, str]:
    try:
        found = json.loads((directory / _CHECKSUMS).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _extract(archive: Path, name: str) -> None:
    """Write the members that belong to the data set beside the archive, without their folders."""
    allowed = limits.expanded(archive.stat().st_size)
    try:
        with zipfile.ZipFile(archive) as content:
            for member in content.infolist():
                file = PurePosixPath(member.filename).name
                if file.partition(".")[0] != name or member.is_dir():
                    continue
                if member.file_size > allowed:
                    raise InputError(limits.refusal(member.file_size, allowed))
                (archive.parent / file).write_bytes(content.read(member))
    except InputError:
        raise
    # zipfile and the decompressors fail in a dozen ways on what is damaged or encrypted.
    except Exception as error:
        raise InputError(f"it is no zip archive that can be read ({error}).") from None
