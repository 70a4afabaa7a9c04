"""Which parts of conditions does no test decide?  Runs tests and lists the parts of `and` and `or` that are never what
the answer depends on, and comparisons whose sides are never equal.

Usage: python benchmarks/undecided.py [--files PATTERN] [PYTEST ARGUMENT ...]

A part decides an answer alone when the answer without it is another one; where none ever does, leaving it out is a
change that no test can notice.  Conditions of the package are made so that they note this: after an answer they ask
the parts that Python would not have evaluated, except those that call what changes something.  That costs about three
times the time of the tests, and a few tests that count calls or reports may fail.  `PATTERN` is as for `mutate.py`.
Among what is listed are questions that only a type checker needs; an `assert` says the same and is no condition."""

from __future__ import annotations

import argparse
import ast
import builtins
import fnmatch
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.machinery import SourceFileLoader
from types import CodeType
from typing import Any

import pytest

PACKAGE = "/pto_dialect/"
_CHANGES = re.compile(
    r"\b(?:next|pop\w*|add|append|update|discard|remove|setdefault|visit|write|push|report\w*|require)\("
    r"|\b_?(?:accept|advance|consume|expect|parse|read|skip|take|try|next)\w*\("
)
"""Calls that must not be made once more than the program makes them."""
_ENOUGH = 20_000
"""Answers of one condition that are looked at."""
_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: lambda a, b: a < b, ast.LtE: lambda a, b: a <= b, ast.Gt: lambda a, b: a > b, ast.GtE: lambda a, b: a >= b,
}  # fmt: skip


class _Unasked(Exception):
    """A part that is not evaluated for this purpose."""


@dataclass
class Condition:
    """One `and` or `or`, with the numbers of the parts that have decided nothing yet."""

    file: str
    line: int
    parts: list[str]
    every: bool
    """True for `and`."""
    open: set[int] = field(default_factory=set)
    answers: int = 0
    busy: bool = False

    def ask(self, *questions: Callable[[], Any]) -> Any:
        """The answer, as Python gives it."""
        values: list[Any] = []
        for question in questions:
            values.append(question())
            if bool(values[-1]) is not self.every:
                break
        answer = values[-1]
        self.answers += 1
        if self.open and not self.busy and self.answers < _ENOUGH:
            self.busy = True
            self.open = {part for part in self.open if not self._decides(part, answer, values, questions)}
            self.busy = False
        return answer

    def _decides(self, part: int, answer: Any, values: list[Any], questions: tuple[Callable[[], Any], ...]) -> bool:
        found = answer
        try:
            for number, question in enumerate(questions):
                if number == len(values):
                    if _CHANGES.search(self.parts[number]):
                        raise _Unasked
                    values.append(question())
                if number != part:
                    found = values[number]
                    if bool(found) is not self.every:
                        break
            return bool(found) is not bool(answer) or bool(found != answer)
        except _Unasked:
            return False
        except Exception:
            # Without the part the program would have ended here.
            return True


@dataclass
class Comparison:
    """An order of two sides."""

    file: str
    line: int
    text: str
    compare: Callable[[Any, Any], Any]
    equal: bool = False
    answers: int = 0

    def ask(self, left: Any, right: Any) -> Any:
        """The answer, as Python gives it."""
        self.answers += 1
        if not self.equal:
            same: Any = left == right
            # Arrays are compared element by element.
            self.equal = bool(same.any() if hasattr(same, "any") else same)
        return self.compare(left, right)


FOUND: list[Condition | Comparison] = []


class Noting(ast.NodeTransformer):
    """Makes conditions inside of functions call `_asked`."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.inside = False

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        around, self.inside = self.inside, True
        node.body = [self.visit(statement) for statement in node.body]
        self.inside = around
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        around, self.inside = self.inside, False
        node.body = [self.visit(statement) for statement in node.body]
        self.inside = around
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return node

    def _call(self, node: ast.expr, what: Condition | Comparison, arguments: list[ast.expr]) -> ast.AST:
        FOUND.append(what)
        number = ast.Constant(len(FOUND) - 1)
        return ast.copy_location(ast.Call(ast.Name("_asked", ast.Load()), [number, *arguments], []), node)

    def _stays(self, node: ast.expr) -> bool:
        """True for what means something else inside of a function of its own."""
        kinds = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)
        return not self.inside or any(
            isinstance(part, kinds) or (isinstance(part, ast.Name) and part.id == "super") for part in ast.walk(node)
        )

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        if self._stays(node):
            return self.generic_visit(node)
        parts = [ast.unparse(value) for value in node.values]
        condition = Condition(self.file, node.lineno, parts, isinstance(node.op, ast.And), set(range(len(parts))))
        nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        return self._call(node, condition, [ast.Lambda(nothing, self.visit(value)) for value in node.values])

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        compare = _COMPARED.get(type(node.ops[0]))
        if compare is None or len(node.ops) > 1 or self._stays(node):
            return self.generic_visit(node)
        comparison = Comparison(self.file, node.lineno, ast.unparse(node), compare)
        return self._call(node, comparison, [self.visit(node.left), self.visit(node.comparators[0])])


def noting(pattern: str) -> Callable[[SourceFileLoader, str], CodeType | None]:
    """A way to get the code of modules: of those of the package that match, with conditions that note."""
    plain = SourceFileLoader.get_code

    def code(loader: SourceFileLoader, fullname: str) -> CodeType | None:
        path = loader.get_filename(fullname)
        inner = path.rpartition(PACKAGE)[2]
        if PACKAGE not in path or not fnmatch.fnmatchcase(inner, pattern):
            return plain(loader, fullname)
        tree = Noting(inner).visit(ast.parse(loader.get_data(path), path))
        return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)

    return code


def undecided() -> Iterator[str]:
    """Lines about what was evaluated and never decided, by file and line."""
    for what in sorted(FOUND, key=lambda one: (one.file, one.line)):
        place = f"{what.file}:{what.line}"
        if isinstance(what, Comparison):
            if what.answers and not what.equal:
                yield f"{place}: sides of `{what.text}` are never equal"
        elif what.answers:
            yield from (f"{place}: `{what.parts[part]}` decides nothing" for part in sorted(what.open))


def main() -> None:
    """Runs the tests and lists what they leave open."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", default="*", metavar="PATTERN")
    options, arguments = parser.parse_known_args()
    setattr(builtins, "_asked", lambda number, *arguments: FOUND[number].ask(*arguments))  # noqa: B010
    setattr(SourceFileLoader, "get_code", noting(options.files))  # noqa: B010
    pytest.main(["-q", "-p", "no:cacheprovider", "--assert=plain", *arguments])
    lines = list(undecided())
    print("\n".join(lines))
    parts = sum(len(what.parts) for what in FOUND if isinstance(what, Condition) and what.answers)
    orders = sum(isinstance(what, Comparison) and what.answers > 0 for what in FOUND)
    print(f"{len(lines)} of {parts} parts and {orders} orders are never decided")
    sys.exit(bool(lines))


if __name__ == "__main__":
    main()
