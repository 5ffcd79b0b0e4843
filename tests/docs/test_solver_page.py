"""The page of solvers is up to date, and what it says of memory is what the states hold."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

import spdpeg
from spdpeg.engine.registry import REGISTRY
from spdpeg.schemes.learned import LEARNED

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "solvers.md"
COLUMNS = ("name", "summary", "update", "cost", "memory", "rate", "needs")


@pytest.fixture(scope="module")
def tables():
    return runpy.run_path(str(ROOT / "docs" / "solver_tables.py"))


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    return spdpeg.Problem(
        rng.standard_normal((103, 11)),
        rng.choice([-1.0, 1.0], 103),
        loss=spdpeg.losses.Logistic(),
        r1=spdpeg.penalties.L2Squared(0.1),
        r2=spdpeg.penalties.L1(0.1),
        F=rng.standard_normal((17, 11)),
    )


def test_page_is_what_the_solvers_say(tables):
    text = PAGE.read_text(encoding="utf-8")
    assert tables["page"](text) == text, "run: python docs/solver_tables.py"


def test_page_without_a_place_for_a_table_is_refused(tables):
    text = PAGE.read_text(encoding="utf-8").replace("<!-- costs -->", "")
    with pytest.raises(ValueError, match="costs"):
        tables["page"](text)


def test_every_solver_has_a_row_in_every_table():
    text = PAGE.read_text(encoding="utf-8")
    for name in REGISTRY:
        assert len(re.findall(rf"^\| `{name}` \| .*\|$", text, re.MULTILINE)) >= 2, name
        assert re.search(rf"^- .*`{name}`.*: ", text, re.MULTILINE), name


@pytest.mark.parametrize("solver", spdpeg.list_solvers(), ids=lambda solver: solver["name"])
def test_every_solver_fills_the_table_with_plain_lines(solver):
    for column in COLUMNS:
        assert solver[column].strip() == solver[column] != ""
        assert solver[column].isascii()
        assert "\n" not in solver[column]
    assert solver["parameters"] == REGISTRY[solver["name"]].parameter_names()


@pytest.mark.parametrize("name", REGISTRY)
def test_memory_is_that_of_the_state(name, problem):
    sizes = {"N": 103, "d": 11, "l": 17, "d^2": 121}
    formula = re.match(r"[^,;]+", REGISTRY[name].about.memory)[0]
    stated = sum(
        int(count or 1) * sizes[unit] for count, unit in re.findall(r"(?:(\d+) )?(d\^2|[dlN])(?![\w^])", formula)
    ) + sum(int(constant) for constant in re.findall(r"\+ (\d+)(?![\d ])", formula))
    options = {"sampling": "independent", "dual_every": 1} if name == "vr-spdpeg" else {}
    _, vectors = REGISTRY[name](**options).start(problem.view, 1, np.zeros(11))
    held = sum(vector.size for vector in vectors.values())
    assert 0 <= held - stated <= LEARNED  # numbers that are no vector: two of spdhg-cers, what spdpeg learns
