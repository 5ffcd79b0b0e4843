"""What holds for every method: a contract of few members, objects beside names, docstrings that say everything."""

import inspect
import sys
from typing import Any

import numpy as np
import pytest

import spdpeg
from spdpeg import InputError, StateError
from spdpeg.engine.registry import REGISTRY
from spdpeg.solvers import SPDPEG, About, Solver
from spdpeg.solvers.base import Periodic, Watcher
from support import catalogue

every_method = pytest.mark.parametrize("method", REGISTRY.values(), ids=lambda method: method.about.name)

TO_WRITE = {"about", "check", "start", "advance", "solution"}
WITH_DEFAULTS = {"set_dual", "sampler", "default_batch"}


def test_authors_must_know_eight_members() -> None:
    raising = {
        name
        for name, item in vars(Solver).items()
        if inspect.isfunction(item) and "NotImplementedError" in source(item)
    }
    assert raising <= TO_WRITE
    assert len(TO_WRITE | WITH_DEFAULTS) == 8
    assert {*TO_WRITE, *WITH_DEFAULTS} <= {*vars(Solver), *Solver.__annotations__}


def source(function: Any) -> str:
    return inspect.getsource(function)


@every_method
def test_about_is_complete(method: type[Solver]) -> None:
    assert isinstance(method.about, About)
    for text in (method.about.update, method.about.cost, method.about.memory, method.about.rate, method.about.needs):
        assert text
    assert method.about.assumptions
    assert REGISTRY[method.about.name] is method


@every_method
def test_the_docstring_says_everything(method: type[Solver]) -> None:
    text = inspect.getdoc(method) or ""
    for section in ("See Also", "Notes", "References", "Examples"):
        assert f"\n{section}\n{'-' * len(section)}\n" in text
    for part in ("Solves min over x", "Needs: ", "Cost of a step: ", "Memory, ", "Rate: "):
        assert part in text
    if method.parameter_names():
        listed = text.partition("\nParameters\n----------\n")[2].partition("\n\nSee Also\n")[0]
        lines = [line.partition(" :")[0] for line in listed.splitlines() if not line.startswith(" ")]
        assert {name for line in lines for name in line.split(", ")} == set(method.parameter_names())


@every_method
def test_methods_are_exported(method: type[Solver]) -> None:
    home = sys.modules[".".join(method.__module__.split(".")[:2])]
    assert getattr(home, method.__name__) is method
    assert method.__name__ in home.__all__


@every_method
def test_an_object_is_its_name(method: type[Solver]) -> None:
    name = method.about.name
    problem = catalogue.instance_for(name).problem()
    one, other = (spdpeg.solve(problem, solver, max_iterations=2, seed=3) for solver in (name, method()))
    for part in ("x", "x_last", "z", "dual"):
        np.testing.assert_array_equal(getattr(one, part), getattr(other, part))
    assert one.solver == other.solver == name
    assert [stage.method for stage in other.stages] == [name]


def test_parameters_of_an_object_count_and_are_part_of_the_state() -> None:
    problem = catalogue.instance().problem()
    named = spdpeg.solve(problem, "spdpeg", rho=2.0, mode="paper", max_passes=2)
    made = spdpeg.solve(problem, SPDPEG(rho=2.0, mode="paper"), max_passes=2)
    np.testing.assert_array_equal(named.x, made.x)
    assert named.state.parameters == made.state.parameters == {"rho": 2.0, "mode": "paper", "batch_size": 1}
    on = spdpeg.solve(problem, SPDPEG(rho=2.0, mode="paper"), max_passes=2, state=named.state)
    assert on.iterations == 2 * named.iterations
    with pytest.raises(StateError, match="Resume with the same solver and parameters"):
        spdpeg.solve(problem, SPDPEG(mode="paper"), state=named.state)
    with pytest.raises(InputError, match="has its parameters already; 'rho' is given beside it"):
        spdpeg.solve(problem, SPDPEG(), rho=2.0)


def test_roles_are_taken_where_they_are_meant() -> None:
    """Hooks of the optional classes are of no use to others, and others do not carry them."""
    assert not {"prepare", "steps_ahead", "on_certificate", "evaluation", "may_be_optimal"} & set(dir(Solver))
    watching = {name for name, method in REGISTRY.items() if issubclass(method, Watcher)}
    periodic = {name for name, method in REGISTRY.items() if issubclass(method, Periodic)}
    assert {"vr-spdpeg", "prox-newton"} <= watching
    assert {"vr-spdpeg", "prox-newton", "svrg-admm", "admm-newton"} <= periodic
    assert not {"spdpeg", "sgadm", "pd3o", "lp"} & (watching | periodic)
