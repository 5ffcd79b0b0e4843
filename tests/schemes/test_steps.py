"""Compiled steps: one step for all coordinates is the same as equal steps for each."""

from typing import Any

import numpy as np
import pytest

import spdpeg
from spdpeg.schemes import condat_vu, extragradient, pd3o
from spdpeg.schemes.primal_dual import plain
from spdpeg.schemes.records import Pace, Steps, gather, uniform
from support import catalogue

TAU, SIGMA, COUNT = 0.3, 0.2, 12
NOTHING = np.empty(0)


def vectors(problem: spdpeg.Problem) -> dict[str, np.ndarray]:
    """All that any of the schemes needs."""
    rng = np.random.default_rng(0)
    d, m = problem.n_coordinates, problem.F.n_outputs
    found = {name: np.zeros(d) for name in ("ahead", "x_next", "x_bar", "x_average")}
    found |= {name: np.zeros(m) for name in ("z", "y_next", "y_ahead", "y_bar", "Fx", "Fx_bar")}
    found |= {"z_average": np.zeros(m), "y_average": np.zeros(m), "anchor": NOTHING}
    found |= {"x": rng.standard_normal(d), "q": rng.standard_normal(d), "y": 0.01 * rng.standard_normal(m)}
    return found | {"back": problem.F.adjoint(found["y"])}


def run(scheme: str, problem: spdpeg.Problem, steps: Steps) -> dict[str, np.ndarray]:
    """The vectors after some full gradients."""
    v, n = vectors(problem), problem.view.rows.block.labels.size
    terms: Any = problem.view.terms()
    if steps.tau.size > 1:
        scaled = problem.view.regularizer.scaled(steps.tau)
        assert scaled is not None
        terms = terms._replace(prox1=scaled.prox_term(problem.n_coordinates))
    rows = problem.view.rows.block, np.tile(np.arange(n), COUNT), n
    if scheme == "condat-vu":
        condat_vu.condat_vu(*rows, terms, plain(), steps, 1.0, 1, 0, gather(condat_vu.Work, v))
    elif scheme == "relaxed":
        condat_vu.condat_vu(*rows, terms, plain(), steps, 1.3, 1, 0, gather(condat_vu.Work, v))
    elif scheme == "pd3o":
        pd3o.pd3o(*rows, terms, plain(), steps, gather(pd3o.Work, v))
    else:
        pace = Pace(np.ones(COUNT // 2), np.full(COUNT // 2, 0.5), SIGMA)
        extragradient.extragradient(*rows, True, True, pace, terms, plain(), steps, gather(extragradient.Work, v))
    return v


@pytest.mark.parametrize("scheme", ["condat-vu", "relaxed", "pd3o", "extragradient"])
@pytest.mark.parametrize("operator", ["FirstDifference", "GraphDifference"])
def test_one_step_for_all_is_equal_steps_for_each(scheme: str, operator: str) -> None:
    problem = catalogue.instance(operator=operator).problem()
    d, m = problem.n_coordinates, problem.F.n_outputs
    each = Steps(np.full(d, TAU), np.full(m, SIGMA), 1.0, SIGMA, NOTHING)
    one, other = run(scheme, problem, uniform(TAU, SIGMA)), run(scheme, problem, each)
    for name in ("x", "y", "x_average", "z_average"):
        np.testing.assert_allclose(one[name], other[name], rtol=0, atol=1e-12, err_msg=name)
    assert np.linalg.norm(one["x"] - vectors(problem)["x"]) > 0.1


def test_a_record_takes_the_vectors_of_its_names() -> None:
    problem = catalogue.instance().problem()
    v = vectors(problem)
    work = gather(pd3o.Work, v)
    assert all(getattr(work, name) is v[name] for name in pd3o.Work._fields)
