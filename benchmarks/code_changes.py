"""Small changes to Python source, one at a time: what `mutate.py` tries.

A change is a replacement of one piece of the text, so that everything else stays as it is.  Wording (docstrings,
messages, annotations, imports) is left out, and what nobody can distinguish from the original: None in place of the
False of a function that answers yes or no, how many entries a cache keeps before it starts again, and that `zip` checks
lengths."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=", ast.NotEq: "==", ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "//", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "//",
    ast.LShift: ">>", ast.RShift: "<<", ast.BitAnd: "|", ast.BitOr: "&", ast.BitXor: "&",
}  # fmt: skip
_WORD = re.compile(r"[\w.\-]+\Z")
"""Strings that are keys and names; others are wording."""


@dataclass(frozen=True)
class Change:
    """``old`` at the offsets [start, stop) of a file becomes ``new``.

    ``line`` is where it begins, ``kind`` what sort of change it is.
    """

    path: str
    line: int
    kind: str
    start: int
    stop: int
    old: str
    new: str

    @property
    def text(self) -> str:
        """One line about it."""
        shorten = lambda text: " ".join(text.split())[:70]  # noqa: E731
        return f"{self.path}:{self.line} [{self.kind}] `{shorten(self.old)}` -> `{shorten(self.new)}`"

    def apply(self, source: str) -> str:
        """The changed text."""
        assert source[self.start : self.stop] == self.old
        return source[: self.start] + self.new + source[self.stop :]


class _Finder(ast.NodeVisitor):
    """Collects the changes of one file."""

    def __init__(self, path: str, source: str) -> None:
        self.path = path
        self.source = source
        self.found: list[Change] = []
        # Columns of the tree count bytes, offsets of the text characters.
        self.lines = source.splitlines(keepends=True)
        self.answers = False
        """Inside of a function that answers yes or no."""
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))

    def _offset(self, line: int, column: int) -> int:
        return self.starts[line - 1] + len(self.lines[line - 1].encode()[:column].decode())

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._offset(node.lineno, node.col_offset), self._offset(node.end_lineno, node.end_col_offset)

    def _text(self, node: ast.expr | ast.stmt) -> str:
        start, stop = self._span(node)
        return self.source[start:stop]

    def _add(self, kind: str, node: ast.expr | ast.stmt, new: str) -> None:
        start, stop = self._span(node)
        self.found.append(Change(self.path, node.lineno, kind, start, stop, self.source[start:stop], new))

    # ------------------------------------------------------------ what is left out

    def visit_Import(self, node: ast.Import) -> None:
        pass

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        pass

    def visit_Raise(self, node: ast.Raise) -> None:
        pass

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        pass

    def visit_Assert(self, node: ast.Assert) -> None:
        pass

    def visit_keyword(self, node: ast.keyword) -> None:
        # As an assertion: what is paired has one length.
        if not (node.arg == "strict" and isinstance(node.value, ast.Constant) and node.value.value is True):
            self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        # A type, though it may have a name.
        if not (isinstance(node.value, ast.Name) and node.value.id == "Literal"):
            self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        around = self.answers
        self.answers = isinstance(node.returns, ast.Name) and node.returns.id == "bool"
        for statement in node.body:
            self.visit(statement)
        self.answers = around

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for keyword in node.keywords:
            self.visit(keyword)
        for statement in node.body:
            self.visit(statement)

    def visit_Assign(self, node: ast.Assign) -> None:
        if any(isinstance(target, ast.Name) and target.id.startswith("__") for target in node.targets):
            return
        if any(isinstance(target, (ast.Attribute, ast.Subscript)) for target in node.targets):
            self._add("dropped statement", node, "pass")
        self.generic_visit(node)

    # ------------------------------------------------------------ changes

    def visit_Compare(self, node: ast.Compare) -> None:
        if len(node.ops) == 1:
            left, right = self._text(node.left), self._text(node.comparators[0])
            self._add("comparison", node, f"({left} {COMPARISONS[type(node.ops[0])]} {right})")
        for part in (node.left, *node.comparators):
            # Letters to look for something in: a longer word has them as well.
            if not (isinstance(node.ops[0], (ast.In, ast.NotIn)) and isinstance(part, ast.Constant)):
                self.visit(part)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        word = " or " if isinstance(node.op, ast.And) else " and "
        parts = [f"({self._text(value)})" for value in node.values]
        self._add("and/or", node, f"({word.join(parts)})")
        same = " and " if isinstance(node.op, ast.And) else " or "
        for index in range(len(parts)):
            self._add("dropped condition", node, f"({same.join(parts[:index] + parts[index + 1 :])})")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        sign = ARITHMETIC.get(type(node.op))
        wording = any(isinstance(side, ast.JoinedStr) for side in (node.left, node.right))
        if sign is not None and not wording:
            self._add("arithmetic", node, f"({self._text(node.left)} {sign} {self._text(node.right)})")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Attribute) and node.func.attr == "reshape":
            # Every negative extent stands for what is left.
            self.visit(node.func)
            for part in node.args:
                if not isinstance(part, ast.UnaryOp):
                    self.visit(part)
        else:
            self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) in ("TYPE_CHECKING", "__name__ == '__main__'"):
            return
        if not _bounds_a_cache(node):
            self._add("negation", node.test, f"not ({self._text(node.test)})")
            self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._add("negation", node.test, f"(not ({self._text(node.test)}))")
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        value = node.value.value if isinstance(node.value, ast.Constant) else ...
        if node.value is not None and value is not None and not (self.answers and value is False):
            self._add("return None", node, "return None")
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self._add("dropped statement", node, "pass")
            self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        sign = ARITHMETIC.get(type(node.op))
        if sign is not None:
            self._add("arithmetic", node, f"{self._text(node.target)} {sign}= {self._text(node.value)}")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self._add("constant", node, repr(not value))
        elif isinstance(value, int):
            self._add("constant", node, f"{value + 1}")
        elif isinstance(value, str) and _WORD.match(value) and len(value) > 1:
            self._add("word", node, repr(value + "_x"))

    def _elements(self, nodes: list[ast.expr]) -> None:
        if len(nodes) > 1 and not any(isinstance(node, ast.Starred) for node in nodes):
            for node in nodes:
                # The comma goes with the element.
                start, stop = self._span(node)
                comma = re.compile(r"\s*,\s*").match(self.source, stop)
                if comma is not None and node is not nodes[-1]:
                    old = self.source[start : comma.end()]
                    change = Change(self.path, node.lineno, "table element", start, comma.end(), old, "")
                    self.found.append(change)

    def visit_Set(self, node: ast.Set) -> None:
        self._elements(node.elts)
        self.generic_visit(node)

    def visit_Tuple(self, node: ast.Tuple) -> None:
        if isinstance(node.ctx, ast.Load) and all(
            isinstance(e, (ast.Constant, ast.Tuple, ast.Name)) for e in node.elts
        ):
            self._elements(node.elts if len(node.elts) > 2 else [])
        self.generic_visit(node)

    def visit_Dict(self, node: ast.Dict) -> None:
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None or len(node.keys) < 2:
                continue
            start, stop = self._span(key)[0], self._span(value)[1]
            comma = re.compile(r"\s*,\s*").match(self.source, stop)
            if comma is not None:
                old = self.source[start : comma.end()]
                self.found.append(Change(self.path, key.lineno, "dictionary entry", start, comma.end(), old, ""))
        self.generic_visit(node)


def _bounds_a_cache(node: ast.If) -> bool:
    """True for `if len(cache) >= LIMIT: cache.clear()`, where the cache may have some more entries to come."""
    match node:
        case ast.If(
            test=ast.Compare(left=size, ops=[ast.GtE() | ast.Gt()], comparators=[ast.Name()]),
            body=[ast.Expr(value=ast.Call(func=ast.Attribute(value=cache, attr="clear")))],
            orelse=[],
        ):
            measured = [part.args[0] for part in ast.walk(size) if isinstance(part, ast.Call) and part.args]
            return any(ast.dump(one) == ast.dump(cache) for one in measured)
    return False


def changes(path: str, source: str) -> list[Change]:
    """All changes to a file, also some that leave nothing to run."""
    finder = _Finder(path, source)
    finder.visit(ast.parse(source))
    return finder.found


def is_possible(change: Change, source: str) -> bool:
    """True when the changed file can be read and says something else."""
    try:
        tree = ast.parse(change.apply(source))
    except SyntaxError:
        return False
    return ast.dump(tree) != ast.dump(ast.parse(source))
