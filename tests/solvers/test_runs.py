"""What every comparator owes its user: the same bits again, on resuming and from disk, and untouched inputs."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg import State
from support import catalogue
from support.comparators import DETERMINISTIC, ONE_ROW, VARIANTS

ARRAYS = ("x", "x_last", "z", "dual")


def problem_of(variant: str, csr: bool = False) -> tuple[spdpeg.Problem, list[np.ndarray]]:
    """A problem, and every array that it was made from."""
    instance = catalogue.instance(r1="L2Squared", operator="GraphDifference", weighted=True)
    assert instance.weights is not None
    X: Any = sp.csr_array(instance.X) if csr else instance.X
    parts = [X.data, X.indices, X.indptr] if csr else [X]
    return instance.problem(X=X), [*parts, instance.labels, instance.weights]


def batch_sizes(variant: str) -> tuple[int, ...]:
    return (1,) if variant in ONE_ROW | DETERMINISTIC else (1, 7)


CASES = [(variant, batch) for variant in VARIANTS for batch in batch_sizes(variant)]


def solve(variant: str, problem: spdpeg.Problem, **options: Any) -> spdpeg.Result:
    name, parameters = VARIANTS[variant]
    return spdpeg.solve(problem, name, **parameters, **options)


def assert_same_bits(first: spdpeg.Result, second: spdpeg.Result) -> None:
    assert (first.iterations, first.state.rows) == (second.iterations, second.state.rows)
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)
    for name, vector in first.state.vectors.items():
        np.testing.assert_array_equal(vector, second.state.vectors[name], err_msg=name)


@pytest.mark.parametrize(("variant", "batch"), CASES)
def test_k_and_k_are_2k_even_from_disk(variant: str, batch: int, tmp_path: Path) -> None:
    problem, _ = problem_of(variant)
    options: dict[str, Any] = {"batch_size": batch, "seed": 4}
    passes = 12 if variant == "admm-newton" else 3
    whole = solve(variant, problem, max_passes=2 * passes, **options)
    half = solve(variant, problem, max_passes=passes, **options)
    assert half.iterations > 0
    half.state.save(tmp_path / "state.npz")
    resumed = solve(variant, problem, max_passes=passes, state=State.load(tmp_path / "state.npz"), **options)
    assert_same_bits(whole, resumed)


@pytest.mark.parametrize("variant", VARIANTS)
def test_any_cut_into_iterations(variant: str) -> None:
    """Cuts inside the epochs of SVRG, inside the ten steps of the full metric, and of no steps at all."""
    problem, _ = problem_of(variant)
    whole = solve(variant, problem, max_passes=None, max_iterations=70)
    state = None
    for steps in (1, 2, 9, 0, 45, 13):
        result = solve(variant, problem, max_passes=None, max_iterations=steps, state=state)
        state = result.state
    assert_same_bits(whole, result)


@pytest.mark.parametrize("csr", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_same_seed_same_bits_and_nothing_given_is_changed(variant: str, csr: bool) -> None:
    problem, inputs = problem_of(variant, csr)
    x0 = np.linspace(-0.5, 0.5, catalogue.D)
    copies = [array.copy() for array in (*inputs, x0)]
    first = solve(variant, problem, max_passes=8, seed=9, x0=x0)
    solve(variant, problem, max_passes=8, seed=10, x0=x0)
    again = solve(variant, problem, max_passes=8, seed=9, x0=x0)
    assert_same_bits(first, again)
    for given, copy in zip((*inputs, x0), copies, strict=True):
        np.testing.assert_array_equal(given, copy)


@pytest.mark.parametrize("variant", [v for v in VARIANTS if v not in DETERMINISTIC])
def test_another_seed_gives_another_path(variant: str) -> None:
    problem, _ = problem_of(variant)
    paths = [solve(variant, problem, max_passes=3, seed=seed).x_last for seed in (1, 2)]
    assert not np.array_equal(paths[0], paths[1])


@pytest.mark.parametrize("variant", sorted(DETERMINISTIC))
def test_deterministic_methods_do_not_look_at_the_seed(variant: str) -> None:
    problem, _ = problem_of(variant)
    paths = [solve(variant, problem, max_passes=12, seed=seed).x_last for seed in (1, 2)]
    np.testing.assert_array_equal(paths[0], paths[1])


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_result_does_not_change_when_its_state_goes_on(variant: str) -> None:
    problem, _ = problem_of(variant)
    first = solve(variant, problem, max_passes=8)
    kept = {name: getattr(first, name).copy() for name in ARRAYS}
    rows = first.state.rows
    later = solve(variant, problem, max_passes=8, state=first.state)
    assert later.iterations > first.iterations
    assert first.state.rows == rows
    for name, value in kept.items():
        np.testing.assert_array_equal(getattr(first, name), value)


@pytest.mark.parametrize("variant", VARIANTS)
def test_problems_with_nothing_in_a_term(variant: str) -> None:
    """No r1, no r2 or an empty row are no reason to fail."""
    name = VARIANTS[variant][0]
    instance = catalogue.instance(r1="L2Squared", r2="None", operator="None")
    result = solve(variant, instance.problem(), max_passes=30)
    assert result.z.size == result.dual.size == 0
    assert instance.objective(result.x) < 0.9 * instance.objective(np.zeros(catalogue.D)), name
