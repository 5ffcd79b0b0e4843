"""Every Python block of the documentation runs, and every example comes as close to its reference as it says."""

import platform
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import spdpeg

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(ROOT.glob("docs/*.md")),
    *sorted(ROOT.glob("docs/api/*.md")),
]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def python_of(page: Path) -> str:
    """The blocks of a page as one script whose line numbers are those of the page."""
    text = page.read_text(encoding="utf-8")
    lines = [""] * (text.count("\n") + 1)
    for block in BLOCK.finditer(text):
        first = text.count("\n", 0, block.start(1))
        code = block.group(1).splitlines()
        lines[first : first + len(code)] = code
    return "\n".join(lines)


def with_code() -> list[Path]:
    return [page for page in PAGES if BLOCK.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", with_code(), ids=lambda page: page.stem)
def test_code_of_a_page_runs(page, tmp_path, monkeypatch):
    script = tmp_path / f"{page.stem}_page.py"
    script.write_text(python_of(page), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script))


def test_the_pages_with_code_were_found():
    assert {"README", "spdpeg", "extending", "data"} <= {page.stem for page in with_code()}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_between_files_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}, which does not exist"


def objectives(example: str):
    return runpy.run_path(str(ROOT / "examples" / f"{example}.py"))["run"]()


# Relative differences to an independent optimum: what was measured, times about five.
@pytest.mark.parametrize(
    ("example", "closeness"), [("lasso", 1e-9), ("svm", 1e-6), ("quantile", 1e-4), ("stream", 1e-2)]
)
def test_example_reaches_its_reference(example, closeness):
    ours, reference = objectives(example)
    # No method can be better than the optimum by more than the reference's own tolerance.
    assert -1e-6 * reference <= ours - reference <= closeness * reference


def test_fused_logistic_example_reaches_its_reference():
    stochastic, full_batches, reference = objectives("fused_logistic")
    assert -1e-6 <= stochastic / reference - 1 <= 2e-2
    assert -1e-6 <= full_batches / reference - 1 <= 1e-6


def test_cluster_example_runs():
    pytest.importorskip("distributed")
    command = [sys.executable, str(ROOT / "examples" / "cluster.py"), "2000"]
    out = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    assert float(re.search(r"accuracy ([\d.]+)", out)[1]) > 0.8


def test_every_example_is_tested():
    names = {path.stem for path in (ROOT / "examples").glob("*.py")}
    assert names == {"cluster", "fused_logistic", "lasso", "quantile", "stream", "svm"}


def test_readme_has_exactly_two_setup_commands():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^```bash\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    assert len(commands) == 2
    assert commands[0].rstrip().endswith("spdpeg demo")
    assert "pytest" in commands[1]
    assert all(command.count("\n") == 1 for command in commands)


def test_ci_runs_the_second_command_of_the_readme(tmp_path):
    repository = tmp_path / "repository"
    (repository / ".ci").mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "run", repository / ".ci")
    pages = "```bash\necho first\n```\ntext\n```bash\npwd && false && echo second\n```\n"
    (repository / "README.md").write_text(pages, encoding="utf-8")
    ci = subprocess.run([repository / ".ci" / "run"], capture_output=True, text=True, cwd=tmp_path)
    assert ci.stdout == f"+ pwd && false && echo second\n{repository}\n"
    assert ci.returncode == 1


@pytest.mark.skipif(
    (platform.system(), platform.machine()) != ("Linux", "x86_64"), reason="only there is a processor played"
)
def test_ci_repeats_a_part_as_other_processors_and_tells_all_that_fail(tmp_path):
    repository = tmp_path / "repository"
    (repository / ".ci").mkdir(parents=True)
    (repository / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "run", repository / ".ci")
    (repository / "README.md").write_text("```bash\necho first\n```\n```bash\ntrue\n```\n", encoding="utf-8")
    pytest_of = repository / ".venv" / "bin" / "pytest"
    pytest_of.write_text('#!/bin/sh\necho "$@"\ntest "$OPENBLAS_CORETYPE" != Haswell\n', encoding="utf-8")
    pytest_of.chmod(0o755)
    ci = subprocess.run([repository / ".ci" / "run"], capture_output=True, text=True, cwd=tmp_path)
    personalities = re.findall(r"^\+ (OPENBLAS_CORETYPE=.*)$", ci.stdout, re.MULTILINE)
    assert len(personalities) == 3
    assert re.findall("^Tests failed under (.*)[.]$", ci.stdout, re.MULTILINE) == [
        one for one in personalities if "Haswell" in one
    ]
    assert ci.returncode == 1
    paths = set(re.findall(r"tests/[\w/]+\.py", ci.stdout))
    assert len(paths) > 5
    assert all((ROOT / path).exists() for path in paths)


def test_readme_lists_the_terms_that_exist_and_no_others():
    rows = re.findall(r"^\| (.*?) \| (.*) \|$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    listed = {part: set(re.findall(r"`([^`]+)`", names)) for part, names in rows}
    solvers = listed.pop("solvers") - {"spdpeg solvers"}
    assert solvers <= {solver["name"] for solver in spdpeg.list_solvers()}
    terms = {
        name
        for module in (spdpeg.losses, spdpeg.penalties, spdpeg.operators)
        for name, value in vars(module).items()
        if isinstance(value, type) and name in module.__all__ and name not in ("Loss", "Penalty", "Operator", "Empty")
    }
    assert set().union(*listed.values()) == terms


def test_examples_of_the_readme_are_short_and_find_the_truth(capsys):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = BLOCK.findall(readme)
    assert all(len([line for line in code.splitlines() if line.strip()]) <= 8 for code in blocks)
    names: dict = {}
    exec(blocks[0], names)
    assert f"```text\n{capsys.readouterr().out}```" in readme
    exec(blocks[-1], names)
    assert [(names["years"][start], stop - start) for start, stop, _ in names["found"].segments] == [
        (1871, 28),
        (1899, 72),
    ]
    assert np.corrcoef(names["result"].x, names["truth"])[0, 1] > 0.95
