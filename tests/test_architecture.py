"""The shape of the source tree: imports point downwards, files stay short, everything public is documented."""

import ast
import doctest
import importlib
import inspect
import pkgutil
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from types import ModuleType

import pytest

import spdpeg

ROOT = Path(spdpeg.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

LAYERS = [
    {"errors", "parameters", "sparse"},
    {"kernels"},
    {"losses", "penalties", "operators", "data", "graphs", "files"},
    {"plots", "sums", "pages"},
    {"view"},
    {"certificate", "quadratic"},
    {"state", "result", "problem", "theory"},
    {"schemes", "datasets"},
    {"solvers"},
    {"exact", "sampled_newton"},
    {"engine"},
    {"estimators", "signals"},
    {"paths", "model_file"},
    {"__init__"},
    {"reproduce"},
    {"cli"},
    {"__main__"},
]
"""From the ground up. Imports within a layer are listed below; all others must point to a lower layer."""

SIDEWAYS = {
    ("parameters", "errors"),
    ("parameters", "lazy"),
    ("sparse", "errors"),
    ("lazy", "errors"),
    ("result", "state"),
    ("operators", "penalties"),
    ("losses", "penalties"),
    ("graphs", "operators"),
    ("graphs", "files"),
    ("graphs", "data"),
    ("data", "files"),
    ("pages", "plots"),
}


def part_of(module: str) -> str:
    """First name below spdpeg: spdpeg.losses.base belongs to losses, spdpeg itself to __init__."""
    names = module.split(".")
    return names[1] if len(names) > 1 else "__init__"


def module_name(path: Path) -> str:
    names = ["spdpeg", *path.relative_to(ROOT).with_suffix("").parts]
    return ".".join(names[:-1] if names[-1] == "__init__" else names)


def imports(path: Path) -> set[str]:
    """Modules of the package that a file imports, in functions and for the type checker too.

    `from . import x` counts as the module x.
    """
    package = module_name(path) if path.name == "__init__.py" else module_name(path).rpartition(".")[0]
    found = set()
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.split(".")[0] == "spdpeg"}
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                base = ".".join(package.split(".")[: len(package.split(".")) - node.level + 1])
                base = f"{base}.{node.module}" if node.module else base
            else:
                base = node.module or ""
            if base.split(".")[0] != "spdpeg":
                continue
            for alias in node.names:
                inside = ROOT.joinpath(*base.split(".")[1:], alias.name)
                is_module = inside.is_dir() or inside.with_suffix(".py").exists()
                found.add(f"{base}.{alias.name}" if is_module else base)
    return found


def layer_of(part: str) -> int:
    return next(number for number, parts in enumerate(LAYERS) if part in parts)


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_imports_point_downwards(path: Path) -> None:
    source = part_of(module_name(path))
    for target in map(part_of, imports(path)):
        allowed = target == source or (source, target) in SIDEWAYS or layer_of(target) < layer_of(source)
        assert allowed, f"{module_name(path)} imports {target}, which lies above it"


def test_the_check_sees_imports() -> None:
    assert "spdpeg.certificate" in imports(ROOT / "problem" / "problem.py")
    assert "spdpeg.kernels.jit" in imports(ROOT / "losses" / "base.py")


def test_no_two_files_import_each_other() -> None:
    """Not even along a way round, inside functions or for the type checker."""
    paths = {module_name(path): path for path in FILES}
    graph = {
        name: [other for other in imports(path) if other in paths and other != name] for name, path in paths.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_tests_mirror_the_source() -> None:
    """A folder of the source has one of the same name among the tests, and no other folder has tests."""
    tests = Path(__file__).parent
    with_tests = {path.parent.relative_to(tests).as_posix() for path in tests.rglob("test_*.py")} - {"."}
    folders = {path.parent.relative_to(ROOT).parts[0] for path in FILES if path.parent != ROOT}
    assert folders <= with_tests
    assert with_tests - folders == {"docs", "stress"}


TABLES = [path for path in FILES if path.name == "__init__.py" and "| file | what |" in path.read_text()]


@pytest.mark.parametrize("path", TABLES, ids=module_name)
def test_the_table_of_a_folder_lists_its_files(path: Path) -> None:
    lines = [line for line in path.read_text().splitlines() if line.startswith("| ") and line != "| file | what |"]
    listed = [name.strip() for line in lines for name in line.split("|")[1].split(",")]
    assert sorted(listed) == sorted(file.stem for file in path.parent.glob("*.py") if file != path)


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_bars_and_tables_belong_to_terminals(path: Path) -> None:
    """Only the command line and the progress bar import rich."""
    if part_of(module_name(path)) in ("cli", "__main__") or module_name(path) == "spdpeg.engine.progress":
        return
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert not any(name.split(".")[0] == "rich" for name in names)


TERMS = ("losses", "penalties", "operators")
CONCRETE = {
    node.name
    for path in FILES
    if part_of(module_name(path)) in TERMS and path.name != "base.py"
    for node in ast.parse(path.read_text()).body
    if isinstance(node, ast.ClassDef)
}


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_terms_answer_for_themselves(path: Path) -> None:
    """No code asks whether a term is of a certain class: what matters is a trait, which a user's own term may have."""
    if part_of(module_name(path)) in TERMS:
        return
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            kinds = list(ast.walk(node.args[1]))
            asked = {kind.attr if isinstance(kind, ast.Attribute) else getattr(kind, "id", "") for kind in kinds}
            assert not asked & CONCRETE, ast.unparse(node)


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_files_are_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 600


MANY = {"solve"}
"""Functions whose callers name every argument: keywords of what users call most."""


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_parameter_lists_are_short(path: Path) -> None:
    """No list of parameters in which two could be swapped without anybody noticing; kernels take records."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef) and node.name not in MANY:
            names = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
            assert len([name for name in names if name not in ("self", "cls")]) <= 10, node.name


def modules() -> list[ModuleType]:
    names = [info.name for info in pkgutil.walk_packages(spdpeg.__path__, "spdpeg.")]
    return [spdpeg, *(importlib.import_module(name) for name in names if not name.endswith("__main__"))]


MODULES = modules()
every_module = pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)


@every_module
def test_docstrings(module: ModuleType) -> None:
    """Modules, public classes, functions and methods; a method may inherit its docstring."""
    missing = [] if module.__doc__ else [module.__name__]
    for name, item in vars(module).items():
        if name.startswith("_") or getattr(item, "__module__", None) != module.__name__:
            continue
        if inspect.isfunction(item) or isinstance(item, type):
            missing += [] if inspect.getdoc(item) else [name]
        if isinstance(item, type):
            missing += [
                f"{name}.{method}"
                for method, value in vars(item).items()
                if not method.startswith("_")
                and (inspect.isfunction(value) or isinstance(value, property))
                and not inspect.getdoc(getattr(item, method))
            ]
    assert not missing


@every_module
def test_public_names_exist(module: ModuleType) -> None:
    names = getattr(module, "__all__", [])
    assert [name for name in names if not hasattr(module, name)] == []
    assert len(set(names)) == len(names)


@every_module
def test_examples_run(module: ModuleType) -> None:
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


def test_there_are_examples() -> None:
    assert sum(len(test.examples) for module in MODULES for test in doctest.DocTestFinder().find(module)) > 20


def test_typed() -> None:
    assert (ROOT / "py.typed").exists()
