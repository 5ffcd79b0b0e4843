"""Compiled code on disk: made once per machine, never in the way, never stale. Every test runs processes of its own."""

import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numba
import pytest

import spdpeg

# One complete solve, then a report on standard output.
SOLVE = """
    import json, warnings
    from numba.core import event
    with warnings.catch_warnings(record=True) as caught, event.install_recorder("numba:compile") as recorder:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", message=".* above the optimum")
        import numpy as np, spdpeg
        from spdpeg import losses, operators, penalties
        X = np.random.default_rng(0).standard_normal((40, 6))
        problem = spdpeg.Problem(X, X[:, 0] > 0, loss=losses.Logistic(), r1=penalties.L1(0.01),
                                 r2=penalties.L1(0.01), F=operators.FirstDifference())
        result = spdpeg.solve(problem, "spdpeg", max_passes=5, tol=1e-9)
    compiled = {e.data["dispatcher"].py_func.__qualname__ for _, e in recorder.buffer if e.is_start}
    print(json.dumps({
        "compiled": sorted(compiled),
        "objective": result.objective,
        "file": spdpeg.__file__,
        "warnings": [(w.category.__name__, str(w.message)) for w in caught],
    }))
"""


def run(environment: Mapping[str, str], script: str = SOLVE) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A cache directory that one process has filled, and what that process reported."""
    folder = tmp_path_factory.mktemp("cache")
    return folder, run({"NUMBA_CACHE_DIR": str(folder)})


def copy_of(filled: tuple[Path, Any], folder: Path) -> Path:
    return Path(shutil.copytree(filled[0], folder / "cache"))


def test_the_first_process_compiles(filled: tuple[Path, Any]) -> None:
    _, report = filled
    assert "adaptive_extragradient" in report["compiled"]
    assert report["warnings"] == []


def test_the_second_process_compiles_nothing(filled: tuple[Path, Any]) -> None:
    folder, first = filled
    files = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    second = run({"NUMBA_CACHE_DIR": str(folder)})
    assert second["compiled"] == []
    assert second["warnings"] == []
    assert second["objective"] == first["objective"]
    assert files == {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_nor_do_the_methods_that_the_planner_takes(filled: tuple[Path, Any], tmp_path: Path) -> None:
    solves = "".join(
        f"{' ' * 8}result = spdpeg.solve(problem, {solver}, tol=1e-9)\n"
        for solver in (
            *("'vr-spdpeg', scheme='condat-vu'", "'vr-spdpeg', scheme='joint-prox'"),
            *("'sampled-newton'", "'prox-newton'", "'working-set'"),
        )
    )
    script = re.sub(r" *result = .*\n", solves, SOLVE)
    environment = {"NUMBA_CACHE_DIR": str(copy_of(filled, tmp_path))}
    first, second = run(environment, script), run(environment, script)
    assert {"condat_vu", "Logistic.kernel_curvature"} <= set(first["compiled"])
    assert second["compiled"] == []
    assert second["objective"] == first["objective"]


def copy_package(folder: Path) -> Path:
    package = Path(spdpeg.__file__).parent
    return Path(shutil.copytree(package, folder / "spdpeg", ignore=shutil.ignore_patterns("__pycache__")))


def test_no_writable_directory_warns_once_and_works(filled: tuple[Path, Any], tmp_path: Path) -> None:
    """A directory below, or in the place of, a regular file cannot be made by anyone, not even by root."""
    copy = copy_package(tmp_path)
    for folder in [copy, *(path for path in copy.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").touch()
    below = str(copy / "__pycache__" / "x")
    report = run({"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": below, "HOME": below, "XDG_CACHE_HOME": below})
    assert report["objective"] == filled[1]["objective"]
    ((category, message),) = report["warnings"]
    assert category == "CacheWarning"
    assert "set NUMBA_CACHE_DIR to a writable directory" in message


@pytest.mark.parametrize(
    ("suffix", "content"),
    [
        ("nbi", b""),
        ("nbi", b"\x80\x04damaged"),
        ("nbi", pickle.dumps(numba.__version__) + b"cspdpeg.moved\nBlock\n."),
        ("nbc", b"\x80\x04damaged"),
        ("nbc", None),
    ],
    ids=["empty index", "garbage in the index", "index of another version", "garbage in code", "truncated code"],
)
def test_damaged_files_are_survived(
    suffix: str, content: bytes | None, filled: tuple[Path, Any], tmp_path: Path
) -> None:
    folder = copy_of(filled, tmp_path)
    damaged = list(folder.rglob(f"*extragradient*.{suffix}"))
    assert damaged
    for path in damaged:
        path.write_bytes(path.read_bytes()[:100] if content is None else content)
    report = run({"NUMBA_CACHE_DIR": str(folder)})
    assert report["objective"] == filled[1]["objective"]
    assert report["warnings"] == []
    repaired = run({"NUMBA_CACHE_DIR": str(folder)})
    assert (repaired["compiled"], repaired["objective"]) == ([], report["objective"])


def test_an_edited_callee_is_noticed(tmp_path: Path) -> None:
    """rows.row_dot is compiled into the kernels of other files; Numba alone would keep serving the old code."""
    copy = copy_package(tmp_path)
    environment = {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    before = run(environment)
    assert Path(before["file"]).parent == copy
    assert run(environment)["compiled"] == []
    rows = copy / "kernels" / "rows.py"
    text = rows.read_text()
    edited = text.replace("total += row[j] * x[j]", "total += 0.0 * row[j] * x[j]")
    assert edited != text
    rows.write_text(edited)
    after = run(environment)
    assert "adaptive_extragradient" in after["compiled"]
    assert after["objective"] != before["objective"]


def test_import_is_light() -> None:
    """Neither the optional packages nor anything that only the command line shows is loaded."""
    heavy = ("sklearn", "pandas", "rich", "matplotlib", "cvxpy", "scipy.stats")
    script = f"""
        import json, sys
        import spdpeg
        print(json.dumps([name for name in {heavy!r} if name in sys.modules]))
    """
    assert run({}, script) == []


def test_import_compiles_nothing() -> None:
    script = """
        import json
        from numba.core import event
        with event.install_recorder("numba:compile") as recorder:
            import spdpeg
        print(json.dumps(len(recorder.buffer)))
    """
    assert run({}, script) == 0
