"""States: k + k passes are 2k passes, on disk or not, and what does not fit is refused."""

import errno
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spdpeg
from spdpeg import InputError, State, StateError, UnsupportedError
from spdpeg.engine.registry import REGISTRY
from spdpeg.schemes import adaptive
from support import catalogue

SOURCES = (*catalogue.SOURCES, "stream", "stream_sparse")
SPDPEG = ("spdpeg", "spdpeg-sc1", "spdpeg-sc2")
OTHERS = [solver for solver in REGISTRY if solver not in SPDPEG]
ONE_ROW_AT_A_TIME = ("online-admm", "spdhg-cers")
CASES = [
    *((solver, source) for solver in SPDPEG for source in SOURCES),
    *((solver, source) for solver in OTHERS for source in ("dense", "csr32", "memmap", "stream")),
]


def make_problem(source: str, folder: Path, weighted: bool = True, solver: str = "spdpeg") -> spdpeg.Problem:
    instance = catalogue.instance_for(solver, weighted)
    if source.startswith("stream"):
        chunks = catalogue.stream_of(instance, source == "stream_sparse")
        return instance.problem(X=chunks, y=None, sample_weight=None)
    return instance.problem(X=catalogue.SOURCES[source](instance.X, folder))


def assert_same(first: Any, second: Any) -> None:
    assert first.iterations == second.iterations
    assert first.state.rows == second.state.rows
    for name in ("x", "x_last", "z", "dual"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)


@pytest.mark.parametrize("batch", [1, 7])
@pytest.mark.parametrize(("solver", "source"), CASES)
def test_k_and_k_passes_are_2k_passes(solver: str, source: str, batch: int, tmp_path: Path) -> None:
    options: dict[str, Any] = {"batch_size": batch, "seed": 11}
    problem = make_problem(source, tmp_path, solver=solver)
    refused = source.startswith("stream") and (
        REGISTRY[solver].about.finite_sum or REGISTRY[solver].about.deterministic
    )
    if refused or (batch > 1 and (solver in ONE_ROW_AT_A_TIME or REGISTRY[solver].about.deterministic)):
        with pytest.raises((UnsupportedError, InputError)):
            spdpeg.solve(problem, solver, max_passes=6, tol=0, **options)
        return
    whole = spdpeg.solve(problem, solver, max_passes=6, tol=0, **options)
    problem = make_problem(source, tmp_path, solver=solver)
    half = spdpeg.solve(problem, solver, max_passes=3, tol=0, **options)
    half.state.save(tmp_path / "state.npz")
    resumed = spdpeg.solve(problem, solver, max_passes=3, tol=0, state=State.load(tmp_path / "state.npz"), **options)
    assert_same(whole, resumed)


@pytest.mark.parametrize("source", ["dense", "memmap_csr", "stream"])
@pytest.mark.parametrize("solver", REGISTRY)
def test_any_cut_in_iterations(solver: str, source: str, tmp_path: Path) -> None:
    if source == "stream" and (REGISTRY[solver].about.finite_sum or REGISTRY[solver].about.deterministic):
        pytest.skip("the method reads rows again")
    whole = spdpeg.solve(make_problem(source, tmp_path, solver=solver), solver, max_passes=None, max_iterations=60)
    problem, state = make_problem(source, tmp_path, solver=solver), None
    for steps in (1, 2, 30, 0, 7, 20):
        result = spdpeg.solve(problem, solver, max_passes=None, max_iterations=steps, state=state)
        state = result.state
    assert_same(whole, result)


@pytest.mark.parametrize("passes", [0.1, 0.5, 1.3])
def test_fractions_of_a_pass(passes: float, tmp_path: Path) -> None:
    problem = make_problem("dense", tmp_path)
    whole = spdpeg.solve(problem, "spdpeg", max_passes=4 * passes, batch_size=7)
    state = None
    for _ in range(4):
        result = spdpeg.solve(problem, "spdpeg", max_passes=passes, batch_size=7, state=state)
        state = result.state
    assert_same(whole, result)


def test_parameters_come_back_from_disk(tmp_path: Path) -> None:
    problem = make_problem("dense", tmp_path)
    options: dict[str, Any] = {"mode": "paper", "rho": 0.5, "scale": 0.3, "sampling": "reshuffled", "mu_loss": 0.0}
    whole = spdpeg.solve(problem, "spdpeg", max_passes=4, **options)
    spdpeg.solve(problem, "spdpeg", max_passes=2, **options).state.save(tmp_path / "state")
    assert_same(whole, spdpeg.solve(problem, "spdpeg", max_passes=2, state=State.load(tmp_path / "state"), **options))


def test_the_seed_comes_from_the_state(tmp_path: Path) -> None:
    problem = make_problem("dense", tmp_path)
    whole = spdpeg.solve(problem, "spdpeg", max_passes=4, seed=5)
    half = spdpeg.solve(problem, "spdpeg", max_passes=2, seed=5)
    assert_same(whole, spdpeg.solve(problem, "spdpeg", max_passes=2, state=half.state, seed=5))


def test_save_replaces_a_file_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = make_problem("dense", tmp_path)
    path = tmp_path / "state.npz"
    state = spdpeg.solve(problem, "spdpeg", max_passes=1).state
    state.save(path)

    def fail(*args: Any, **kwargs: Any) -> None:
        raise OSError(errno.ENOSPC, "disk full")

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(OSError, match="disk full"):
        spdpeg.solve(problem, "spdpeg", max_passes=2).state.save(path)
    assert State.load(path).iterations == state.iterations
    assert [file.name for file in tmp_path.glob("*state*")] == ["state.npz"]
    assert not list(tmp_path.glob("*.part"))


def _header(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    with np.load(path) as archive:
        arrays = dict(archive)
    header = json.loads(str(arrays.pop("header")))
    change(header)
    np.savez(path, header=np.array(json.dumps(header)), **arrays)


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    with np.load(path) as archive:
        place = content.index(archive["vector_x"].tobytes())  # not among what the archive says about its members
    content[place] ^= 0xFF
    path.write_bytes(content)


DAMAGE: dict[str, Callable[[Path], Any]] = {
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:-200]),
    "cut in half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_text("not a state"),
    "flipped byte": lambda path: _flip(path),
    "another archive": lambda path: np.savez(path, a=np.zeros(3)),
    "pickle": lambda path: np.savez(path, header=np.array([{}], dtype=object)),
    "later format": lambda path: _header(path, lambda header: header.update(format=99)),
    "missing part": lambda path: _header(path, lambda header: header.pop("seed")),
    "endless allowance": lambda path: _header(path, lambda header: header.update(allowance=1e308)),
    "no time at all": lambda path: _header(path, lambda header: header.update(seconds=-1.0)),
    "unknown part": lambda path: _header(path, lambda header: header.update(colour="red")),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_files_are_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "state.npz"
    spdpeg.solve(make_problem("dense", tmp_path), "spdpeg", max_passes=1).state.save(path)
    DAMAGE[name](path)
    with pytest.raises(StateError, match=r"state\.npz .*\. Start a new run\."):
        State.load(path)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        State.load(tmp_path / "nowhere.npz")


@pytest.mark.parametrize(
    "options",
    [{"solver": "spdpeg-sc1"}, {"batch_size": 7}, {"mode": "paper"}, {"rho": 1.0}],
    ids=["solver", "batch_size", "mode", "rho"],
)
def test_other_settings_are_refused(options: dict[str, Any], tmp_path: Path) -> None:
    problem = make_problem("dense", tmp_path)
    state = spdpeg.solve(problem, "spdpeg", max_passes=1).state
    with pytest.raises(StateError, match=r"The state was made by spdpeg with .*\. Resume with the same solver"):
        spdpeg.solve(problem, **{"solver": "spdpeg", "state": state, **options})


@pytest.mark.parametrize("vector", ["x", "y", "x_average", "y_average"])
@pytest.mark.parametrize("damage", ["missing", "short", "not finite"])
def test_damaged_vectors_are_refused(vector: str, damage: str, tmp_path: Path) -> None:
    problem = make_problem("dense", tmp_path)
    state = spdpeg.solve(problem, "spdpeg", max_passes=1).state
    if damage == "missing":
        del state.vectors[vector]
    elif damage == "short":
        state.vectors[vector] = state.vectors[vector][:-1]
    else:
        state.vectors[vector][0] = np.nan
    with pytest.raises(StateError, match=r"\. (Resume|Start)"):
        spdpeg.solve(problem, "spdpeg", state=state)


def test_a_state_with_an_intercept_needs_one(tmp_path: Path) -> None:
    """Its kernel would write beyond x."""
    problem = make_problem("dense", tmp_path)
    state = spdpeg.solve(problem, "spdpeg", max_passes=1).state
    state.vectors["learned"][adaptive.BIAS] = 1.0
    with pytest.raises(StateError, match="has an intercept"):
        spdpeg.solve(problem, "spdpeg", state=state)


def test_another_problem_is_refused(tmp_path: Path) -> None:
    state = spdpeg.solve(make_problem("dense", tmp_path), "spdpeg", max_passes=1).state
    other = catalogue.instance(r1="L2Squared", operator="Identity").problem()
    with pytest.raises(StateError, match=r"\. Resume with the same problem\."):
        spdpeg.solve(other, "spdpeg", state=state)


def test_not_a_state(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"state is .*\. Pass result\.state"):
        spdpeg.solve(make_problem("dense", tmp_path), "spdpeg", state={"x": 1})  # type: ignore[arg-type]


def test_state_and_x0_exclude_each_other(tmp_path: Path) -> None:
    problem = make_problem("dense", tmp_path)
    state = spdpeg.solve(problem, "spdpeg", max_passes=1).state
    with pytest.raises(InputError, match=r"Both a start and state are given\."):
        spdpeg.solve(problem, "spdpeg", state=state, x0=np.zeros(catalogue.D))
