"""Files from the network: over https alone, and never more than a data set can be."""

import http.client
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import IO, Any

_SCHEMES = ("https",)
"""What an address, and any address that it is forwarded to, begins with; tests have a server without certificates."""

_MOST = 1 << 30
"""Bytes."""

_PATIENCE = 30.0
"""Seconds without an answer."""

_BLOCK = 1 << 16


def fetch(address: str, path: Path) -> None:
    """Download an address into a file; an OSError if it is not available, or incomplete."""
    _check(address)
    try:
        with urllib.request.build_opener(_Forwarding()).open(address, timeout=_PATIENCE) as answer:
            claimed = answer.headers.get("Content-Length", "")
            if claimed.isdecimal() and int(claimed) > _MOST:
                raise OSError(f"it has {claimed} bytes, more than any data set here")
            with path.open("wb") as file:
                _copy(answer, file)
            if claimed.isdecimal() and path.stat().st_size != int(claimed):
                raise OSError(f"the connection ended after {path.stat().st_size} of {claimed} bytes")
    except http.client.HTTPException as error:
        raise OSError(f"the server does not speak HTTP: {type(error).__name__}") from None


class _Forwarding(urllib.request.HTTPRedirectHandler):
    """Follows an answer that points elsewhere only to where the first request might have gone."""

    def redirect_request(self, request: Any, file: Any, code: Any, message: Any, headers: Any, new: str) -> Any:
        _check(new)
        return super().redirect_request(request, file, code, message, headers, new)


def _check(address: str) -> None:
    scheme = urllib.parse.urlsplit(address).scheme
    if scheme not in _SCHEMES:
        raise OSError(f"{scheme or 'no scheme'} is not https, and anybody on the way could change what it sends")


def _copy(answer: IO[bytes], file: IO[bytes]) -> None:
    """At most as many bytes as a data set has."""
    received = 0
    while block := answer.read(_BLOCK):
        received += len(block)
        if received > _MOST:
            raise OSError(f"it sends more than {_MOST >> 20} MiB, more than any data set here")
        file.write(block)
