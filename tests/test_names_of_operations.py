"""What an operation is is on its class: hardly any place outside of ``ir/`` compares names or counts operands.

A comparison that is left has its reason in a comment on its line or right above it.
"""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import pto_dialect
from pto_dialect.ir.core.aliases import DEPRECATED, MNEMONIC_ALIASES
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.roles import CORE_ROLES
from pto_dialect.ir.core_dialects.core_ops import ALIASES, CORE_SHAPES
from pto_dialect.ir.core_dialects.core_plain import PLAIN_NAMES

PACKAGE = Path(pto_dialect.__file__).parent
REGISTRIES = (OPS, MNEMONIC_ALIASES, DEPRECATED, CORE_ROLES, CORE_SHAPES, ALIASES, PLAIN_NAMES)
MANY = 100
"""Whether a name is in a table of so many operations says that there is such an operation, not which one it is."""
NAMES = frozenset(name for registry in REGISTRIES for name in registry if "." in name)
OPERATIONS = ("op", "cls", "operation", "owner", "other")
"""Usual names of variables that hold an operation or its class."""
NO_OPERATIONS = ("row", "statement", "declared", "spec")
"""Names of variables whose ``operands`` are names or texts."""


WITHOUT = ("ir/", "cpp/", "prove/", "certify/")
"""Folders that are not looked at: operations themselves, the translation of calls and instructions of other languages,
which have only names and positions, to operations, and those of core operations to sets of integers and sums."""


@cache
def sources() -> tuple[tuple[str, list[ast.Compare | ast.Subscript], list[str]], ...]:
    """Path below the package, comparisons and subscripts, and lines of every module outside of these folders and the
    list of families."""
    found: list[tuple[str, list[ast.Compare | ast.Subscript], list[str]]] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if not name.startswith(WITHOUT) and name not in ("families.py", "__main__.py"):
            text = path.read_text(encoding="utf-8")
            nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Compare | ast.Subscript)]
            found.append((name, nodes, text.splitlines()))
    return tuple(found)


def module_of(name: str) -> ModuleType:
    """The module in the file ``name``."""
    return import_module(".".join(("pto_dialect", *name.removesuffix(".py").removesuffix("/__init__").split("/"))))


def is_registry(value: object) -> bool:
    """Whether a module variable lists all operations of some kind."""
    return any(value is each for each in REGISTRIES) or (isinstance(value, (dict, frozenset)) and len(value) > MANY)


def operations_in(node: ast.expr, module: ModuleType) -> frozenset[str]:
    """Names of operations among the strings that an expression of constants and module variables stands for."""
    if isinstance(node, ast.Constant):
        found: object = {node.value}
    elif isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return frozenset().union(*(operations_in(item, module) for item in node.elts))
    elif isinstance(node, ast.Starred):
        return operations_in(node.value, module)
    elif isinstance(node, ast.Name):
        value = getattr(module, node.id, None)
        if is_registry(value):
            return frozenset()
        found = {value} if isinstance(value, str) else value
    else:
        return frozenset()
    if not isinstance(found, (set, frozenset, tuple, list, dict)):
        return frozenset()
    return frozenset(item for item in found if isinstance(item, str)) & NAMES


def compares_names(node: ast.Compare, module: ModuleType) -> bool:
    """Whether a comparison tests which operation something is."""
    sides = (node.left, *node.comparators)
    if any(isinstance(side, ast.Name) and is_registry(getattr(module, side.id, None)) for side in sides):
        return False
    named = any(
        isinstance(side, ast.Attribute) and side.attr == "name" and isinstance(side.value, ast.Name)
        and side.value.id in OPERATIONS
        for side in sides
    )  # fmt: skip
    return named or any(operations_in(side, module) for side in sides)


@cache
def comparisons() -> tuple[tuple[str, int, bool], ...]:
    """File and line of every comparison of names of operations, and whether a comment is there."""
    found: list[tuple[str, int, bool]] = []
    for name, nodes, lines in sources():
        for node in nodes:
            if isinstance(node, ast.Compare) and compares_names(node, module_of(name)):
                above = lines[node.lineno - 2].strip()
                found.append((name, node.lineno, "  # " in lines[node.lineno - 1] or above.startswith("# ")))
    return tuple(found)


@cache
def positions() -> tuple[tuple[str, int], ...]:
    """File and line of every operand that is taken by a constant position."""
    found: list[tuple[str, int]] = []
    for name, nodes, _ in sources():
        for node in nodes:
            if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Attribute):
                continue
            owner = node.value.value
            other = isinstance(owner, ast.Call) or (isinstance(owner, ast.Name) and owner.id in NO_OPERATIONS)
            if node.value.attr in ("operands", "_operands") and not other and _constant(node.slice):
                found.append((name, node.lineno))
    return tuple(found)


def _constant(index: ast.expr) -> bool:
    parts = (index.lower, index.upper) if isinstance(index, ast.Slice) else (index,)
    return all(
        part is None or isinstance(part, ast.Constant)
        or (isinstance(part, ast.UnaryOp) and isinstance(part.operand, ast.Constant))
        for part in parts
    )  # fmt: skip


def rooms(places: tuple[tuple[str, int], ...]) -> str:
    """How many locations each subpackage has, for the message."""
    return f"{dict(Counter(name.partition('/')[0] for name, _ in places))}, {places}"


LIMIT = 18
"""Comparisons in the whole package. May only become smaller."""


def test_few_functions_compare_names_of_operations() -> None:
    places = tuple((name, line) for name, line, _ in comparisons())
    assert len(places) <= LIMIT, rooms(places)


def test_a_comparison_that_is_left_has_a_reason() -> None:
    left = [(name, line) for name, line, reason in comparisons() if not reason]
    assert left == []


def test_few_functions_take_operands_by_position() -> None:
    assert len(positions()) <= 5, rooms(positions())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('name == "pto.tadd"', True),
        ("op.name == wanted", True),
        ('name in ("pto.tadd", *OTHERS)', True),
        ('"pto.tadd" in names', True),
        ('slot.name == "dst"', False),
        ("name in OPS", False),
    ],
)
def test_what_counts_as_a_comparison(text: str, found: bool) -> None:
    tree = ast.parse(text, mode="eval").body
    assert isinstance(tree, ast.Compare)
    assert compares_names(tree, import_module("pto_dialect.ir.core.registry")) is found
