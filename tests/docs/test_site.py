"""The site builds without a warning: pages, API and tutorials, which run and reach their tolerances."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import spdpeg
from spdpeg.engine.registry import REGISTRY
from spdpeg.solvers import Solver

ROOT = Path(__file__).parents[2]
TUTORIALS = sorted(path.stem for path in (ROOT / "examples" / "models").glob("*.py"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directory of the built pages."""
    for library in ("sphinx", "furo", "myst_parser", "numpydoc", "sphinx_gallery"):
        pytest.importorskip(library, reason="the site needs the extra docs")
    copy = tmp_path_factory.mktemp("site")
    # The tutorials' pages and pictures are written beside the sources, so these are copied first.
    shutil.copytree(ROOT / "docs", copy / "docs", ignore=shutil.ignore_patterns("_build", "models"))
    shutil.copytree(ROOT / "examples" / "models", copy / "examples" / "models")
    build = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "docs", "html"],
        cwd=copy,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert build.returncode == 0, build.stderr
    return copy / "html"


def test_every_tutorial_has_a_page_with_a_picture(site: Path) -> None:
    assert len(TUTORIALS) >= 18
    for name in TUTORIALS:
        assert f"sphx_glr_{name}_001.png" in (site / "models" / f"{name}.html").read_text(encoding="utf-8")


def test_public_names_are_documented(site: Path) -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in (site / "api").rglob("*.html"))
    documented = set(re.findall(r'id="(?:module-)?spdpeg[\w.]*\.(\w+)"', pages))
    assert set(spdpeg.__all__) - documented == set()


@pytest.mark.parametrize("solver", REGISTRY.values(), ids=lambda solver: solver.about.name)
def test_every_method_has_a_page(site: Path, solver: type[Solver]) -> None:
    module = ".".join(solver.__module__.split(".")[:2])
    page = (site / "api" / "solvers" / f"{module}.{solver.__name__}.html").read_text(encoding="utf-8")
    for section in ("Notes", "References", "Examples"):
        assert f">{section}" in page
    assert "Rate: " in page


@pytest.mark.parametrize("part", ["estimators", "losses", "penalties", "operators", "data"])
def test_every_name_of_a_part_has_a_page(site: Path, part: str) -> None:
    pages = {
        page.stem.removeprefix(f"spdpeg.{part}.") for page in (site / "api" / "generated").glob(f"spdpeg.{part}.*")
    }
    assert pages == set(getattr(spdpeg, part).__all__)


def test_page_of_an_estimator_has_its_methods(site: Path) -> None:
    page = (site / "api" / "generated" / "spdpeg.estimators.FusedLasso.html").read_text(encoding="utf-8")
    for method in ("fit", "partial_fit", "predict", "plot_coefficients"):
        assert f'id="spdpeg.estimators.FusedLasso.{method}"' in page


def test_links_to_scripts_lead_to_tutorials(site: Path) -> None:
    page = (site / "choosing.html").read_text(encoding="utf-8")
    assert re.search(r'href="models/fused_lasso.html"><span[^>]*>numbers<', page)
