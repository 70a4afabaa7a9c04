"""Who uses what a module makes when it is imported: functions that read its names, directly or through other names.

Tables have no lines that a test executes; what their entries do shows where they are read.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_DEFINITIONS = (ast.FunctionDef, ast.ClassDef)
DEPTH = 4
"""Through how many tables a change is followed."""


def _bound(statement: ast.stmt) -> set[str]:
    """Names that a statement of a module defines."""
    if isinstance(statement, _DEFINITIONS):
        return {statement.name}
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    nodes = [node for target in targets if target is not None for node in ast.walk(target)]
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def _used(node: ast.AST) -> set[str]:
    """Names that are inside of a node, also after a dot."""
    found = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    return found | {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}


class Readers:
    """The package in ``tree``, by the names that its statements define and use."""

    def __init__(self, tree: Path) -> None:
        self.tree = tree
        self.files = {str(file.relative_to(tree)): file for file in (tree / "pto_dialect").rglob("*.py")}

    @cache  # noqa: B019
    def _statements(self, path: str) -> list[tuple[ast.stmt, set[str], set[str]]]:
        """Statements of a module with what they define and use."""
        module = ast.parse(self.files[path].read_text(encoding="utf-8"))
        return [(statement, _bound(statement), _used(statement)) for statement in module.body]

    @cache  # noqa: B019
    def _importers(self, path: str) -> list[str]:
        """Modules that import from another one."""
        stem = Path(path).parent.name if path.endswith("__init__.py") else Path(path).stem
        pattern = re.compile(rf"^from \S*\b{stem} import|^from \S+ import .*\b{stem}\b", re.MULTILINE)
        return [name for name, file in self.files.items() if pattern.search(file.read_text(encoding="utf-8"))]

    def names_at(self, path: str, line: int) -> set[str]:
        """What the statement at a line of a module defines."""
        for statement, bound, _ in self._statements(path):
            first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", ()))])
            if first <= line <= (statement.end_lineno or line):
                return bound
        return set()

    def runs_at_import(self, path: str, line: int) -> bool:
        """Whether a line of a module is no part of the body of a function."""
        nodes = (node for statement, _, _ in self._statements(path) for node in ast.walk(statement))
        functions = (node for node in nodes if isinstance(node, ast.FunctionDef))
        return not any(node.body[0].lineno <= line <= (node.end_lineno or line) for node in functions)

    def reading(self, path: str, line: int) -> Iterator[tuple[str, int, int]]:
        """Files and lines from and to of the functions that read what the statement at ``line`` makes."""
        seen: set[tuple[str, str]] = set()
        wanted = {(path, name) for name in self.names_at(path, line)}
        for _ in range(DEPTH):
            seen |= wanted
            following: set[tuple[str, str]] = set()
            for home in {home for home, _ in wanted}:
                names = {name for place, name in wanted if place == home}
                public = {name for name in names if not name.startswith("_")}
                for other in (home, *(self._importers(home) if public else ())):
                    for statement, bound, used in self._statements(other):
                        if not used & (names if other == home else public) or bound & names:
                            continue
                        if isinstance(statement, _DEFINITIONS):
                            yield other, statement.lineno, statement.end_lineno or statement.lineno
                        if not isinstance(statement, ast.FunctionDef):
                            following |= {(other, name) for name in bound}
            wanted = following - seen
