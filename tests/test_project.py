"""The files around the code agree: version, addresses, Python versions, pinned tools, requirements."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import spdpeg

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
EXTRAS = PROJECT["optional-dependencies"]


def text_of(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def yaml_of(path: str) -> Any:
    return yaml.safe_load(text_of(path))


def listed(recipe: str, key: str) -> list[str]:
    """Items of a list in the recipe, which is a template and so no YAML yet."""
    block = re.search(rf"^  {key}:\n((?:    - .*\n)+)", recipe, re.MULTILINE)
    assert block
    return [line.removeprefix("    - ") for line in block[1].splitlines()]


def test_version_is_written_once() -> None:
    assert PROJECT["dynamic"] == ["version"]
    assert "version" not in PROJECT
    source = PYPROJECT["tool"]["hatch"]["version"]["path"]
    assert re.findall(r'^__version__ = "(.+)"$', text_of(source), re.MULTILINE) == [spdpeg.__version__]
    assert not re.search(r"^version:", text_of("CITATION.cff"), re.MULTILINE)
    assert source in text_of("recipe/meta.yaml")


def test_changelog_begins_with_the_version() -> None:
    assert re.findall(r"^## ([\d.]+)", text_of("CHANGELOG.md"), re.MULTILINE)[0] == spdpeg.__version__


def test_python_versions() -> None:
    prefix = "Programming Language :: Python :: 3."
    classified = [name.removeprefix(prefix[:-2]) for name in PROJECT["classifiers"] if name.startswith(prefix)]
    jobs = yaml_of(".github/workflows/tests.yml")["jobs"]
    assert jobs["newest"]["strategy"]["matrix"]["python"] == classified
    assert [PROJECT["requires-python"]] == [f">={classified[0]}"]
    oldest = next(step["with"] for step in jobs["oldest"]["steps"] if "setup-python" in step.get("uses", ""))
    assert oldest["python-version"] == classified[0]
    assert yaml_of(".readthedocs.yaml")["build"]["tools"]["python"] in classified
    assert f"python >={classified[0]}" in listed(text_of("recipe/meta.yaml"), "run")
    assert f"Python {classified[0]} or newer" in text_of("README.md")


def test_three_systems_run_the_command_of_the_readme() -> None:
    jobs = yaml_of(".github/workflows/tests.yml")["jobs"]
    systems = jobs["newest"]["strategy"]["matrix"]["os"]
    assert [name.partition("-")[0] for name in systems] == ["ubuntu", "macos", "windows"]
    assert jobs["newest"]["steps"][-1]["run"] == ".ci/run"
    assert jobs["oldest"]["steps"][-1]["run"] == ".ci/lowest"


def test_addresses() -> None:
    home, site = PROJECT["urls"]["Homepage"], PROJECT["urls"]["Documentation"]
    assert PROJECT["urls"]["Issues"].startswith(home)
    assert PROJECT["urls"]["Changes"].startswith(home)
    assert yaml_of("CITATION.cff")["repository-code"] == home
    assert f"url    = {{{home}}}" in text_of("CITATION.bib")
    assert f"home: {home}\n  doc_url: {site}\n" in text_of("recipe/meta.yaml")


def test_pinned_tools_are_the_same_everywhere() -> None:
    revisions = {Path(hooks["repo"]).name: hooks["rev"] for hooks in yaml_of(".pre-commit-config.yaml")["repos"]}
    assert {"ruff-pre-commit": f"v{pinned('ruff')}", "mirrors-mypy": f"v{pinned('mypy')}"} == revisions


def pinned(tool: str) -> str:
    return next(item.removeprefix(f"{tool}==") for item in EXTRAS["lint"] if item.startswith(f"{tool}=="))


def test_tests_need_no_tools_of_the_docs() -> None:
    assert "docs" not in re.findall(r"\w+", " ".join(item for item in EXTRAS["test"] if item.startswith("spdpeg[")))
    assert not any("sphinx" in item for item in EXTRAS["test"])
    assert "spdpeg[test,lint,docs]" in EXTRAS["dev"]
    assert "'.[dev]'" in text_of("README.md")


def test_recipe_requires_what_the_package_requires() -> None:
    recipe = text_of("recipe/meta.yaml")
    required = [item.replace(" ", "") for item in listed(recipe, "run")]
    assert required == [f"python{PROJECT['requires-python']}", *PROJECT["dependencies"]]
    assert PROJECT["description"] in recipe
    assert f"spdpeg = {PROJECT['scripts']['spdpeg']}" in recipe


def test_oldest_constraints_are_the_lower_bounds() -> None:
    output = subprocess.run(
        [sys.executable, ROOT / ".ci" / "oldest.py"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert {item.replace(">=", "==") for item in PROJECT["dependencies"]} <= set(output)
    assert all(re.fullmatch(r"[\w-]+==[\d.]+", line) for line in output)


@pytest.mark.parametrize("script", ["run", "lowest"])
def test_jobs_name_tests_that_are_there(script: str) -> None:
    named = re.findall(r"tests/[\w/]+(?:\.py(?:::\w+)?)?", text_of(f".ci/{script}"))
    assert len(named) > 5
    for place in named:
        path, _, test = place.partition("::")
        assert (ROOT / path).exists(), place
        assert re.search(rf"^(def|class) {test}\b", text_of(path), re.MULTILINE) if test else True, place


def test_paper_is_cited_alike() -> None:
    paper = yaml_of("CITATION.cff")["references"][0]
    entry = re.search(r"@article\{.*?\n\}", text_of("CITATION.bib"), re.DOTALL)[0]
    fields = dict(re.findall(r"^  (\w+) += \{(.*)\},$", entry, re.MULTILINE))
    assert fields["title"] == paper["title"]
    assert fields["author"] == " and ".join(f"{one['family-names']}, {one['given-names']}" for one in paper["authors"])
    assert (fields["journal"], fields["volume"], fields["year"]) == (
        paper["journal"],
        str(paper["volume"]),
        str(paper["year"]),
    )


def test_release_checks_the_tag_and_has_no_password() -> None:
    jobs = yaml_of(".github/workflows/release.yml")["jobs"]
    assert any("hatch version" in step.get("run", "") for step in jobs["build"]["steps"])
    assert jobs["publish"]["needs"] == "build"
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert "secrets." not in text_of(".github/workflows/release.yml")


def test_issue_forms_are_whole() -> None:
    forms = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
    assert [form.stem for form in forms] == ["bug", "idea"]
    for form in forms:
        content = yaml_of(str(form.relative_to(ROOT)))
        assert content["name"]
        assert content["description"]
        assert all(item["attributes"]["label"] for item in content["body"])


def test_compiled_functions_are_left_out_of_coverage() -> None:
    """Every decorator of kernels/ that hands a function to Numba is named in the rule."""
    rule = PYPROJECT["tool"]["coverage"]["report"]["exclude_also"][0]
    kernels = ROOT / "src" / "spdpeg" / "kernels"
    jit = "\n".join(path.read_text(encoding="utf-8") for path in sorted(kernels.rglob("*.py")))
    decorators = set(re.findall(r"^(\w+) = (?:njit\(|Kernel$)", jit, re.MULTILINE))
    decorators |= set(re.findall(r"^def (\w+)\((?:[^)]*\n)*[^\n]*\) -> Hook:", jit, re.MULTILINE))
    assert {"kernel", "inner", "strict", "prox", "chunk"} <= decorators
    for name in decorators:
        assert re.search(rule, f"@{name}")
        assert re.search(rule, f"    @jit.{name}")
