"""Damaged data files, models and states: a clean error on one line, or a correct read; nothing else."""

import contextlib
import csv
import gzip
import hashlib
import io
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import scipy.io
import scipy.sparse as sp

import spdpeg
import spdpeg.cli
from spdpeg import losses, penalties
from spdpeg.errors import SpdpegError
from spdpeg.files import limits, matlab, matlab_child

from . import mutations
from .fuzz import where
from .outcome import Outcome, Verdict

FORMATS = ("libsvm", "libsvm.gz", "csv", "cluto", "npz", "npz csr", "npz csc", "parquet", "mat", "model", "state")
SUFFIXES = {"cluto": "mat"}
_WHOLE = 20
"""Each so many-th .mat file is read by a process that is started for it, as users have it; a fork reads the others."""
_ROOM = 1 << 30
"""Bytes that reading a damaged file of a few kilobytes may take beyond what the process has."""
_NUMBER = re.compile(rb"[-+]?(\d+\.?\d*([eE][-+]?\d+)?|\.\d+([eE][-+]?\d+)?|nan|inf|infinity)", re.IGNORECASE)


class Wrong(Exception):
    """A file was read, but not as what it holds."""


def run(seed: int, format: str | None = None) -> Outcome:
    """Damage a file in the way of this number and read it."""
    rng = np.random.default_rng([4, seed])
    kind = str(rng.choice(FORMATS)) if format is None else format
    content = _damaged(rng, kind)
    outcome = Outcome(seed, Verdict.PASSED, case=f"seed {seed}: {kind}", kinds={"format": kind})
    begun = time.perf_counter()
    forked = mock.patch.object(matlab, "_asked", _forked) if seed % _WHOLE else contextlib.nullcontext()
    allowed = mock.patch.dict(os.environ, {limits.VARIABLE: str(4 * mutations.BLOWN_UP)})
    with tempfile.TemporaryDirectory() as directory, _limited(), forked, allowed:
        path = Path(directory, f"damaged.{SUFFIXES.get(kind, kind.split()[0])}")
        path.write_bytes(content)
        if kind == "cluto":
            Path(f"{path}.rclass").write_bytes(original("rclass"))
        try:
            if rng.random() < 0.5 or kind == "state":
                _check(kind, path, content)
            else:
                outcome.case += " by command"
                outcome.verdict, outcome.reason = _command(rng, kind, path)
        except SpdpegError as error:
            text = str(error)
            outcome.verdict, outcome.reason = Verdict.REFUSED, text
            if "\n" in text:
                outcome.verdict = Verdict.RAW
        except Wrong as error:
            outcome.verdict, outcome.reason = Verdict.WRONG_VALUE, str(error)
        except (Exception, SystemExit) as error:
            outcome.verdict, outcome.reason = Verdict.RAW, where(error)
    outcome.seconds = time.perf_counter() - begun
    return outcome


def _forked(name: str, content: bytes, allowed: int) -> "subprocess.CompletedProcess[bytes]":
    """What the process that reads .mat files answers, from a fork, which has the libraries already."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.dup2(output.fileno(), 1)
                os.dup2(errors.fileno(), 2)
                sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
                matlab_child._OVERHEAD += _size()
                code = matlab_child.main(content, allowed)
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        output.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess([], code, output.read(), errors.read())


def _size() -> int:
    """Bytes of address space of this process."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


@contextlib.contextmanager
def _limited() -> Any:
    """No more memory than there is now and some room."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_size() + _ROOM, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


# ------------------------------------------------------------------------------------------------------------ originals


def original(kind: str) -> bytes:
    """A sound file of this format."""
    return _originals()[kind]


@cache
def data() -> tuple[np.ndarray, np.ndarray]:
    """What all of them hold."""
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((12, 5)) * (rng.random((12, 5)) < 0.6), 3)
    X[:, 4] += 1.0
    return X, np.where(X[:, 0] + 0.1 * np.arange(12) > 0.5, 1.0, -1.0)


@cache
def _originals() -> dict[str, bytes]:
    """A sound file of each format."""
    X, y = data()
    rows = sp.csr_array(X)
    entries = [[(j, X[i, j]) for j in range(X.shape[1]) if X[i, j]] for i in range(len(y))]
    lines = [
        f"{b:g} {' '.join(f'{j + 1}:{v!r}' for j, v in row)}\n" for b, row in zip(y.tolist(), entries, strict=True)
    ]
    libsvm = "".join(line.replace("np.float64(", "").replace(")", "") for line in lines).encode()
    table = "a,b,c,d,e,y\n" + "".join(",".join(f"{v:g}" for v in (*x, b)) + "\n" for x, b in zip(X, y, strict=True))
    cluto = f"{len(y)} {X.shape[1]} {rows.nnz}\n" + "".join(
        " ".join(f"{j + 1} {float(v):g}" for j, v in row) + "\n" for row in entries
    )
    return {
        "libsvm": libsvm,
        "libsvm.gz": gzip.compress(libsvm),
        "csv": table.encode(),
        "cluto": cluto.encode(),
        "rclass": "".join("pos\n" if b > 0 else "neg\n" for b in y).encode(),
        "npz": _saved(lambda file: np.savez(file, X=X, y=y)),
        "npz csr": _sparse(rows, y),
        "npz csc": _sparse(sp.csc_array(X), y),
        "parquet": _parquet(X, y),
        "mat": _saved(lambda file: scipy.io.savemat(file, {"X": sp.csc_matrix(X), "y": y})),
        "model": _written("m.model", lambda path: spdpeg.save_model(_model(), path)),
        "state": _written("s.npz", lambda path: _result().state.save(path)),
    }


def _saved(write: Callable[[Any], None]) -> bytes:
    out = io.BytesIO()
    write(out)
    return out.getvalue()


def _written(name: str, write: Callable[[Path], None]) -> bytes:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, name)
        write(path)
        return path.read_bytes()


def _sparse(matrix: Any, y: np.ndarray) -> bytes:
    parts = mutations.members(_saved(lambda file: sp.save_npz(file, matrix)))
    return mutations.archive({**parts, "y.npy": mutations.npy(y)})


def _parquet(X: np.ndarray, y: np.ndarray) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet

    columns = {**{name: X[:, j] for j, name in enumerate("abcde")}, "y": y}
    return _saved(lambda file: pa.parquet.write_table(pa.table(columns), file))


@cache
def _model() -> Any:
    return spdpeg.FusedLogisticRegression(random_state=0).fit(*data())


def _problem() -> spdpeg.Problem:
    return spdpeg.Problem(*data(), loss=losses.Logistic(), r1=penalties.L1(0.01))


@cache
def _result() -> spdpeg.Result:
    return spdpeg.solve(_problem(), "spdpeg", max_passes=3)


def marked_state(mark: int) -> spdpeg.State:
    """A state of a run with a long vector of a number of its own, so that a mixture of two can be told."""
    state = _result().state.copy()
    state.seed, state.vectors["mark"] = mark, np.full(20_000, float(mark))
    return state


# --------------------------------------------------------------------------------------------------------------- damage


def _damaged(rng: np.random.Generator, kind: str) -> bytes:
    content = original(kind)
    if kind in ("libsvm", "csv", "cluto"):
        return _pick(rng, mutations.TEXT)(rng, content)
    if kind in ("npz", "npz csr", "npz csc"):
        return _pick(rng, (*mutations.BYTES, *4 * (mutations.rearchived,)))(rng, content)
    if kind == "model":
        return _pick(rng, (*mutations.BYTES, *6 * (_remodelled,)))(rng, content)
    if kind == "state":
        return _pick(rng, (*mutations.BYTES, mutations.rearchived, *5 * (_restated,)))(rng, content)
    return _pick(rng, mutations.BYTES)(rng, content)


def _pick(rng: np.random.Generator, choices: tuple[mutations.Mutation, ...]) -> mutations.Mutation:
    return choices[int(rng.integers(len(choices)))]


def _remodelled(rng: np.random.Generator, content: bytes) -> bytes:
    """Another header or array in a model, with the checksums that belong to it."""
    parts = mutations.members(content)
    header = json.loads(parts["header.json"])
    arrays = [name for name in parts if name.endswith(".npy")]
    if arrays and rng.random() < 0.4:
        name = str(rng.choice(arrays))
        parts[name] = mutations.changed_array(rng, parts[name])
        header["sha256"][name] = hashlib.sha256(parts[name]).hexdigest()
    else:
        section = str(rng.choice(["parameters", "attributes", "attributes", "class", "version", "format", "sha256"]))
        header[section] = mutations.changed_json(rng, header[section])
    return mutations.archive({**parts, "header.json": mutations.dumps(header)})


def _restated(rng: np.random.Generator, content: bytes) -> bytes:
    """Another header or vector in a state."""
    parts = mutations.members(content)
    if rng.random() < 0.5:
        header = json.loads(str(np.lib.format.read_array(io.BytesIO(parts["header.npy"]))))
        text = mutations.dumps(mutations.changed_json(rng, header)).decode()
        parts["header.npy"] = mutations.npy(np.array(text))
    else:
        name = str(rng.choice([name for name in parts if name != "header.npy"]))
        parts[name] = mutations.changed_array(rng, parts[name])
    return mutations.archive(parts, 0)


# --------------------------------------------------------------------------------------------------------------- checks


def _check(kind: str, path: Path, content: bytes) -> None:
    """Read by Python, and see that what came is what the file holds."""
    if kind == "model":
        model = spdpeg.load_model(path)
        predicted = model.predict(data()[0])
        if predicted.shape != (12,) or not np.all(np.isfinite(model.coef_)):
            raise Wrong(f"the model predicts {predicted.shape} with coefficients {model.coef_}")
        return
    if kind == "state":
        result = spdpeg.solve(_problem(), "spdpeg", state=spdpeg.State.load(path), max_passes=1)
        if not np.all(np.isfinite(result.x)):
            raise Wrong("the resumed run is not finite")
        return
    X, y = spdpeg.files.read(path)
    if sp.issparse(X):
        X.check_format(full_check=True)
    dense = np.asarray(X.toarray() if sp.issparse(X) else X)
    if dense.ndim != 2 or dense.dtype != np.float64 or not np.all(np.isfinite(dense)):
        raise Wrong(f"X is {dense.shape} of {dense.dtype}, or not finite")
    if y is not None and (np.shape(y) != (len(dense),) or (y.dtype.kind == "f" and not np.all(np.isfinite(y)))):
        raise Wrong(f"y is {np.shape(y)} beside {len(dense)} rows, or not finite")
    if kind in _MEANINGS:
        _MEANINGS[kind](content, dense, y)


def _libsvm(content: bytes, X: np.ndarray, y: Any) -> None:
    lines = [line.partition(b"#")[0].split() for line in content.splitlines()]
    lines = [line for line in lines if line]
    if len(lines) != len(X):
        raise Wrong(f"{len(X)} rows read of {len(lines)}")
    for label, *pairs in lines:
        numbers = [label, *(pair.partition(b":")[2] for pair in pairs if not pair.startswith(b"qid"))]
        odd = [number for number in numbers if not _NUMBER.fullmatch(number)]
        if odd:
            raise Wrong(f"{odd[0]!r} was read as a number")


def _csv(content: bytes, X: np.ndarray, y: Any) -> None:
    text = content.decode("utf-8-sig", "replace")
    records = [record for record in csv.reader(io.StringIO(text, newline="")) if "".join(record).strip()]
    if len(records) - len(X) not in (0, 1) and not re.search('[;\t"]', text):
        raise Wrong(f"{len(X)} rows read of {len(records)}")
    if any("_" in field and re.fullmatch(r"[\d_.]+", field) for record in records[-len(X) :] for field in record[:-1]):
        raise Wrong("digits with an underscore were read as a number")


def _cluto(content: bytes, X: np.ndarray, y: Any) -> None:
    head = content.split(b"\n", 1)[0].split()
    if [int(number) for number in head[:2]] != list(X.shape):
        raise Wrong(f"{X.shape} read where the header says {head}")


def _npz(content: bytes, X: np.ndarray, y: Any) -> None:
    with np.load(io.BytesIO(content)) as held:
        if "X" in held.files and not np.array_equal(held["X"].astype(float), X):
            raise Wrong("X is not the array in the file")


_MEANINGS: dict[str, Callable[[bytes, np.ndarray, Any], None]] = {
    "libsvm": _libsvm,
    "csv": _csv,
    "cluto": _cluto,
    "npz": _npz,
}


def _command(rng: np.random.Generator, kind: str, path: Path) -> tuple[Verdict, str]:
    """By a command: exit code 0, or 1 and one line on standard error."""
    if kind == "model":
        data = path.with_name("sound.csv")
        data.write_bytes(original("csv"))
        arguments = ["info", str(path)] if rng.random() < 0.5 else ["predict", str(path), str(data)]
    elif rng.random() < 0.3:
        arguments = ["info", str(path)]
    elif rng.random() < 0.5:
        model = path.with_name("sound.model")
        model.write_bytes(original("model"))
        arguments = ["predict", str(model), str(path)]
    else:
        arguments = ["fit", str(path), "--model", "fused-lasso", "--passes", "2"]
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        code = spdpeg.cli.main(arguments)
    told = [line for line in errors.getvalue().splitlines() if not line.startswith("spdpeg: warning:")]
    if code == 0:
        if "\x1b" in output.getvalue():
            return Verdict.WRONG_VALUE, "escapes of the terminal pass through"
        return (Verdict.PASSED, "") if not told else (Verdict.RAW, f"exit code 0 and {told[0]!r}")
    if code == 1 and len(told) == 1 and told[0].startswith("spdpeg: "):
        return Verdict.REFUSED, told[0]
    return Verdict.RAW, f"{arguments[0]}: exit code {code}, {len(told)} lines: {told[:2]}"
