"""Where things lie: folders that a reader can take in, tests that mirror the package, families whose modules exist."""

from __future__ import annotations

import ast
import re
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

from groups import in_groups
from import_contracts import circles

from pto_dialect.families import FAMILIES, LANE_MODULES, all_rule_modules

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "pto_dialect"
MODULES = sorted(PACKAGE.rglob("*.py"))
MOST_FILES, MOST_LINES = 25, 500


def test_no_folder_is_crowded() -> None:
    files = Counter(path.parent for path in MODULES)
    assert {str(folder): number for folder, number in files.items() if number > MOST_FILES} == {}


def test_no_file_is_long() -> None:
    lines = {path: path.read_text(encoding="utf-8").count("\n") for path in MODULES}
    assert {str(path): number for path, number in lines.items() if number > MOST_LINES} == {}


def test_every_folder_says_what_it_holds() -> None:
    folders = {path.parent for path in MODULES}
    silent = [
        str(folder)
        for folder in folders
        if not ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
    ]
    assert silent == []


def test_tests_lie_where_the_package_has_what_they_test() -> None:
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir()}
    folders = {path.parent.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("test_*.py")}
    mirrored = {folder for folder in folders if folder.parts and folder.parts[0] in rooms}
    assert mirrored
    assert [str(folder) for folder in mirrored if not (PACKAGE / folder).is_dir()] == []


def test_families_of_operations_lie_in_folders_of_one_name() -> None:
    """A family's operations, and the first of its rules and kernels, have a folder of the same name in each
    subpackage."""
    folders = {family.operations.partition(".")[0] for family in FAMILIES.values() if family.operations}
    for room in ("ir", "verify", "runtime/kernels"):
        assert {folder for folder in folders if not (PACKAGE / room / folder / "__init__.py").is_file()} == set()


@in_groups("family", FAMILIES)
def test_modules_of_families_exist(family: str) -> None:
    entry = FAMILIES[family]
    operations = [f"ir.{entry.operations}"] if entry.operations else []
    names = [*operations, *(f"verify.{name}" for name in entry.rules)]
    names += [f"runtime.kernels.{name}" for name in entry.kernels]
    assert names
    assert [name for name in names if find_spec(f"pto_dialect.{name}") is None] == []


def test_other_listed_modules_exist() -> None:
    names = [*all_rule_modules(), *(f"runtime.kernels.{name}" for name in LANE_MODULES)]
    assert [name for name in names if find_spec(f"pto_dialect.{name}") is None] == []


def test_circles_of_imports_are_found() -> None:
    imports = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": set[str](), "f": {"g", "a"}, "g": {"f"}}
    assert circles(imports) == [["a", "b", "c"], ["f", "g"]]


DEFERRED = re.compile(r"# deferred: (start-up|optional)\b")
"""Marks an import in a function: starts that do not need it are shorter, or the package may not be installed."""


def deferred_imports(path: Path) -> list[int]:
    """Lines of the imports in functions."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inner = {part for node in ast.walk(tree) if isinstance(node, functions) for part in ast.walk(node)}
    return [node.lineno for node in inner if isinstance(node, (ast.Import, ast.ImportFrom))]


def test_imports_in_functions_are_marked() -> None:
    unmarked: list[str] = []
    for path in [*MODULES, *(ROOT / "tools").rglob("*.py")]:
        lines = path.read_text(encoding="utf-8").splitlines()
        found = [number for number in deferred_imports(path) if not DEFERRED.search(lines[number - 1])]
        unmarked += [f"{path.relative_to(ROOT)}:{number}" for number in found]
    assert unmarked == []


def test_unmarked_import_is_found(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text("import re\n\ndef f():\n    if True:\n        import json\n", encoding="utf-8")
    assert deferred_imports(path) == [5]
    assert not DEFERRED.search("import json") and DEFERRED.search("import json  # deferred: start-up")
