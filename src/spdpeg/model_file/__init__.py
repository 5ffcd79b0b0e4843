"""Fitted estimators on disk: one archive of a JSON header and plain arrays, safe to load from anywhere.

docs/model_format.md describes the format.
"""

import hashlib
import io
import json
import os
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .. import estimators
from ..errors import InputError, UnsupportedError
from ..files.archive import Archive, array
from ..files.replacing import as_path, replacing
from .validation import first_fault
from .values import Arrays, decode, encode

__all__ = ["is_model", "load_model", "read_header", "save_model"]

_FORMAT = "spdpeg model"
_VERSION = 1
"""Raised when files of the new form cannot be read by older versions of the package."""

_HEADER = "header.json"
_SECTIONS = {"format", "version", "spdpeg", "class", "parameters", "attributes", "sha256"}

_LARGEST_HEADER = 32 << 20
"""Bytes of it; parsed JSON takes many times the room of its text."""


def save_model(estimator: BaseEstimator, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to one file; an existing file is replaced only once the new one is complete.

    Kept are the parameters and the attributes whose names end in an underscore. What `partial_fit` needs to go on is
    not.

    Parameters
    ----------
    estimator : estimator of spdpeg
        Fitted.
    path : path

    See Also
    --------
    load_model : Reads it back.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np, spdpeg
    >>> from spdpeg.estimators import FusedLasso
    >>> model = FusedLasso(lam1=0.1, lam2=0.1).fit(np.eye(4), [1.0, 1.0, 3.0, 3.0])
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     file = pathlib.Path(directory) / "model.spdpeg"
    ...     spdpeg.save_model(model, file)
    ...     same = spdpeg.load_model(file)
    >>> bool((same.coef_ == model.coef_).all())
    True
    """
    if getattr(estimators, type(estimator).__name__, None) is not type(estimator):
        raise InputError(
            f"A {type(estimator).__name__} is no estimator of spdpeg, and only these have a file format here. "
            "Save it with skops.io.dump, which takes pipelines with models of spdpeg."
        )
    check_is_fitted(estimator)
    arrays: Arrays = {}
    fitted = {name: value for name, value in vars(estimator).items() if _is_fitted_name(name)}
    header: dict[str, Any] = {
        "format": _FORMAT,
        "version": _VERSION,
        "spdpeg": version("spdpeg"),
        "class": type(estimator).__name__,
        "parameters": _encoded(estimator.get_params(deep=False), arrays),
        "attributes": _encoded(fitted, arrays),
    }
    members = {f"{name}.npy": _npy(array) for name, array in arrays.items()}
    header["sha256"] = {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
    members[_HEADER] = json.dumps(header, indent=1, allow_nan=False).encode()
    with replacing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(members, key=lambda name: (name != _HEADER, name)):
            # A fixed date, so that the same model gives the same bytes.
            archive.writestr(zipfile.ZipInfo(name), members[name], zipfile.ZIP_DEFLATED)


def load_model(path: str | os.PathLike[str]) -> Any:
    """Read what `save_model` wrote; no code is run from the file, and what would not make a whole model is refused.

    What is wrong with a file is an InputError or UnsupportedError; a file that is not there is the system's OSError.

    Parameters
    ----------
    path : path

    Returns
    -------
    estimator
        Ready to predict. `save_model` has an example.

    See Also
    --------
    save_model : Writes such a file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np, spdpeg
    >>> model = spdpeg.FusedLasso(lam1=0.1, lam2=0.1).fit(np.eye(4), [1.0, 1.0, 3.0, 3.0])
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     file = pathlib.Path(directory) / "model.spdpeg"
    ...     spdpeg.save_model(model, file)
    ...     spdpeg.load_model(file)
    FusedLasso(lam1=0.1, lam2=0.1)
    """
    path = as_path(path)
    header, members = _read(path)
    cls = getattr(estimators, header["class"]) if header["class"] in estimators.__all__ else None
    if cls is None:
        raise InputError(
            f"{path} holds a {header['class']}, which this version of spdpeg does not have. "
            f"It was written by spdpeg {header['spdpeg']}; install that or a newer one."
        )
    try:
        arrays = {name.removesuffix(".npy"): array(content, name) for name, content in members.items()}
        model = cls(**{name: decode(value, arrays) for name, value in header["parameters"].items()})
        for name, value in header["attributes"].items():
            if not _is_fitted_name(name):
                raise InputError(f"{name!r} is no fitted attribute")
            setattr(model, name, decode(value, arrays))
        wrong = first_fault(model)
        if wrong is not None:
            raise InputError(wrong)
    # Terms are made of whatever the file says, and fail in their own ways if that makes no sense.
    except Exception as error:
        raise InputError(
            f"{path}, written by spdpeg {header['spdpeg']}, cannot be read by spdpeg {version('spdpeg')} "
            f"({str(error) or type(error).__name__}). Install the version that wrote it, or fit the model again."
        ) from None
    return model


def read_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The header of a model file, without arrays: class, parameters, attributes and versions."""
    return _read(as_path(path))[0]


def is_model(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a model, sound or not, rather than data."""
    with as_path(path).open("rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                return _HEADER in archive.namelist()
        # zipfile fails in many ways on what is no archive; that the file cannot be opened is reported above.
        except Exception:
            return False


def _read(path: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The header and the arrays as they are stored, all checked."""
    try:
        with path.open("rb") as file, Archive(file) as archive:
            header = _header(archive)
            if header["version"] > _VERSION:
                raise UnsupportedError(
                    f"{path} is a model of format {header['version']}, written by spdpeg "
                    f"{header['spdpeg']}; this is spdpeg {version('spdpeg')}, which reads formats up to {_VERSION}. "
                    "Install a newer spdpeg."
                )
            members = {name: archive.content(name) for name in header["sha256"]}
        for name, member in members.items():
            if hashlib.sha256(member).hexdigest() != header["sha256"][name]:
                raise InputError(f"{name} does not match its checksum")
    except InputError as error:
        message = str(error)
        advice = "" if message.endswith(".") else " Copy it again, or refit the model."
        raise InputError(f"{path} is not a model of spdpeg or is damaged ({message.rstrip('.')}).{advice}") from None
    return header, members


def _header(archive: Archive) -> dict[str, Any]:
    """The header, with all its sections, each of its kind."""
    content = archive.content(_HEADER)
    if len(content) > _LARGEST_HEADER:
        raise InputError(f"the header has {len(content) >> 20} MiB")
    try:
        header = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the header is no JSON, {error}") from None
    if not isinstance(header, dict) or header.get("format") != _FORMAT or not header.keys() >= _SECTIONS:
        raise InputError("the header is not that of a model")
    kinds = {"version": int, "spdpeg": str, "class": str, "parameters": dict, "attributes": dict, "sha256": dict}
    odd = next((name for name, kind in kinds.items() if not isinstance(header[name], kind)), None)
    if odd is not None:
        raise InputError(f"the header's {odd} is a {type(header[odd]).__name__}")
    return header


def _encoded(values: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    return {name: encode(value, name, arrays) for name, value in values.items()}


def _is_fitted_name(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_")


def _npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, np.ascontiguousarray(array), allow_pickle=False)
    return file.getvalue()
