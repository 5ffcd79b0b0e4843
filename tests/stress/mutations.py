"""Damage: to bytes, to numbers in text, to the arrays and headers inside archives."""

import io
import json
import re
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

Generator = np.random.Generator
Mutation = Callable[[Generator, bytes], bytes]

_NUMBERS = (b"nan", b"inf", b"-inf", b"1e400", b"-1", b"0", b"99999999999999999999", b"1_000", b"", b"0x10", b"1e-400")
_MORE = (
    b"4294967296",
    b"2147483648",
    b"9223372036854775807",
    b"1.5",
    b"--1",
    b"abc",
    b"\xff\xfe",
    b"1e308",
    b"1 2",
    b";",
)
_JSON: tuple[Any, ...] = (
    None,
    -1,
    0,
    1.5,
    1e308,
    10**30,
    "",
    "x",
    "\x1b[31m",
    [],
    {},
    [[1, 2], [3]],
    True,
    "1e999",
    [None],
)


BLOWN_UP = 1 << 20
"""Numbers in an array that takes next to nothing in its archive."""


def truncated(rng: Generator, content: bytes) -> bytes:
    """Cut off somewhere."""
    return content[: int(rng.integers(len(content) + 1))]


def flipped(rng: Generator, content: bytes) -> bytes:
    """A few bits changed."""
    out = bytearray(content)
    for _ in range(int(rng.integers(1, 9))):
        if out:
            out[int(rng.integers(len(out)))] ^= 1 << int(rng.integers(8))
    return bytes(out)


def overwritten(rng: Generator, content: bytes) -> bytes:
    """A stretch of random bytes."""
    start = int(rng.integers(len(content) + 1))
    return content[:start] + rng.bytes(int(rng.integers(1, 40))) + content[start + int(rng.integers(0, 40)) :]


def shuffled(rng: Generator, content: bytes) -> bytes:
    """A stretch left out, or repeated elsewhere."""
    a, b = sorted(int(i) for i in rng.integers(len(content) + 1, size=2))
    if rng.random() < 0.5:
        return content[:a] + content[b:]
    at = int(rng.integers(len(content) + 1))
    return content[:at] + content[a:b] + content[at:]


def renumbered(rng: Generator, content: bytes) -> bytes:
    """Some of the numbers in a text replaced."""
    places = list(re.finditer(rb"[-+.0-9eE]+", content))
    for _ in range(int(rng.integers(1, 4))):
        if places:
            place = places.pop(int(rng.integers(len(places))))
            other = (*_NUMBERS, *_MORE)[int(rng.integers(len(_NUMBERS) + len(_MORE)))]
            content = content[: place.start()] + other + content[place.end() :]
            places = [match for match in places if match.end() <= place.start()]
    return content


def relined(rng: Generator, content: bytes) -> bytes:
    """Lines dropped, repeated, swapped, or with other ends."""
    lines = content.split(b"\n")
    i, j = (int(k) for k in rng.integers(len(lines), size=2))
    match int(rng.integers(9)):
        case 0:
            del lines[i]
        case 1:
            lines.insert(j, lines[i])
        case 2:
            lines[i], lines[j] = lines[j], lines[i]
        case 3:
            return content.replace(b"\n", b"\r\n")
        case 4:
            return content.replace(b"\n", b"\r")
        case 5:
            return b"\xef\xbb\xbf" + content
        case 6:
            lines[i] += b"\x00"
        case 7:
            lines[i] = lines[i] * 50
        case 8:
            lines[i] = b'"' + lines[i]
    return b"\n".join(lines)


BYTES: tuple[Mutation, ...] = (truncated, flipped, overwritten, shuffled)
TEXT: tuple[Mutation, ...] = (*BYTES, renumbered, renumbered, relined)


def members(content: bytes) -> dict[str, bytes]:
    """The files in a zip archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive(parts: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip archive of these files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as file:
        for name, part in parts.items():
            file.writestr(zipfile.ZipInfo(name), part, method)
    return out.getvalue()


def npy(array: np.ndarray) -> bytes:
    """An array as NumPy stores it."""
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asarray(array), allow_pickle=True)
    return out.getvalue()


def claimed(header: dict[str, Any], content: bytes) -> bytes:
    """Bytes with a NumPy header that says anything."""
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, header)
    return out.getvalue() + content


def changed_array(rng: Generator, content: bytes) -> bytes:
    """Another array, or another header, in the place of a .npy file."""
    try:
        array = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    except ValueError:
        return flipped(rng, content)
    kind = int(rng.integers(12))
    match kind:
        case 0:
            return claimed({"descr": "<f8", "fortran_order": False, "shape": (10**9, 4)}, b"")
        case 1:
            return claimed({"descr": "<f8", "fortran_order": False, "shape": (10**30,)}, b"")
        case 2:
            return npy(array.astype(complex)) if array.dtype.kind in "biuf" else npy(np.array([1j]))
        case 3:
            return npy(array.astype(str))
        case 4:
            return npy(np.array([None, {}], dtype=object))
        case 5:
            return npy(array.reshape(-1)[: max(0, array.size - int(rng.integers(1, 5)))])
        case 6:
            return npy(np.zeros((0, 3)))
        case 7:
            return npy(array.reshape(1, -1, 1))
        case 8:
            return flipped(rng, content)
    out = np.array(array)
    if out.size and out.dtype.kind in "biuf":
        at = int(rng.integers(out.size))
        values: tuple[Any, ...] = (
            (np.nan, np.inf, 1e308) if out.dtype.kind == "f" else (-1, 25, 10**8, -(2**31), 2**31 - 1)
        )
        value = values[int(rng.integers(len(values)))]
        out.reshape(-1)[at] = value if out.dtype.kind == "f" else np.int64(value).astype(out.dtype)
    return npy(out)


def rearchived(rng: Generator, content: bytes) -> bytes:
    """An archive with one of its files changed, dropped, renamed or blown up."""
    parts = members(content)
    name = str(rng.choice(sorted(parts)))
    match int(rng.integers(9)):
        case 0:
            del parts[name]
        case 1:
            parts["other.npy"] = parts.pop(name)
        case 2:
            parts[name] = npy(np.zeros(BLOWN_UP))
        case 3:
            return archive(parts, zipfile.ZIP_STORED) + rng.bytes(20)
        case _:
            parts[name] = changed_array(rng, parts[name])
    return archive(parts)


def changed_json(rng: Generator, value: Any) -> Any:
    """A JSON value with something in it replaced."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = list(value)[int(rng.integers(len(value)))]
        if rng.random() < 0.1:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: changed_json(rng, value[key])}
    if isinstance(value, list) and value and rng.random() < 0.7:
        at = int(rng.integers(len(value)))
        return [*value[:at], changed_json(rng, value[at]), *value[at + 1 :]]
    if rng.random() < 0.1:
        deep: Any = 1
        for _ in range(int(rng.choice([50, 900, 5000]))):
            deep = [deep]
        return deep
    return _JSON[int(rng.integers(len(_JSON)))]


def dumps(value: Any) -> bytes:
    """As JSON; nested too deep for Python's own writer, by hand."""
    try:
        return json.dumps(value).encode()
    except RecursionError:
        return b"[" * 5000 + b"]" * 5000
