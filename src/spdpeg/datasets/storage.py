"""Where data files are: a directory of the user's, the cache, or the network."""

import os
import tempfile
import textwrap
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from ..errors import InputError, UnsupportedError

VARIABLE = "SPDPEG_DATA_DIR"
SUFFIXES = ("", ".txt", ".libsvm", ".svm", ".xz", ".bz2", ".gz", ".npz", ".mat", ".csv", ".parquet")


def user_cache() -> Path:
    """Where downloads and graphs are kept: spdpeg in the user's cache directory."""
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".cache"
    return Path(base) / "spdpeg"


def directories(data_dir: str | os.PathLike[str] | None) -> list[Path]:
    """Where to look, in this order: `data_dir`, else SPDPEG_DATA_DIR; then the cache."""
    own = data_dir if data_dir is not None else os.environ.get(VARIABLE)
    if own and not Path(own).is_dir():
        source = "data_dir" if data_dir is not None else VARIABLE
        raise InputError(f"{source} is {os.fspath(own)}, which is no directory. Give the one with the data files.")
    return [*([Path(own)] if own else []), user_cache() / "data"]


def find(name: str, places: list[Path]) -> Path | None:
    """The file called `name`, whatever its format and compression."""
    paths = (place / (name + suffix) for place in places for suffix in SUFFIXES)
    return next((path for path in paths if path.is_file()), None)


def download(name: str, address: str, check: Callable[[Path], object]) -> Path:
    """Fetch the data set into the cache, and keep it only if `check` accepts the file."""
    try:
        import pooch
    except ImportError:
        raise UnsupportedError(
            f"{name} is not on this machine, and pooch, which downloads it, is not installed. "
            f"Run: pip install 'spdpeg[data]', or set {VARIABLE} to a directory that holds the file."
        ) from None
    cache = user_cache() / "data"
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as arrivals:
        try:
            arrived = Path(pooch.retrieve(address, known_hash=None, fname=PurePosixPath(address).name, path=arrivals))
        except (OSError, ValueError) as error:
            raise InputError(
                f"{name} is not on this machine and could not be downloaded from {address} "
                f"({textwrap.shorten(str(error), 100)}). "
                f"Set {VARIABLE} to a directory that holds the file, or try again with a network."
            ) from None
        try:
            if arrived.suffix == ".zip":
                _extract(arrived, name)
            path = find(name, [Path(arrivals)])
            if path is None:
                raise InputError(f"it holds no file called {name}.")
            check(path)
        except InputError as error:
            raise InputError(
                f"What {address} sent is not {name}: {error} Get the file elsewhere and set {VARIABLE}."
            ) from None
        for part in Path(arrivals).glob(f"{name}*"):
            os.replace(part, cache / part.name)
    return cache / path.name


def _extract(archive: Path, name: str) -> None:
    """Write the members that belong to the data set beside the archive, without their folders."""
    try:
        with zipfile.ZipFile(archive) as content:
            for member in content.infolist():
                file = PurePosixPath(member.filename).name
                if file.partition(".")[0] == name and not member.is_dir():
                    (archive.parent / file).write_bytes(content.read(member))
    except zipfile.BadZipFile as error:
        raise InputError(f"it is no zip archive ({error}).") from None
