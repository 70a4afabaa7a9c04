"""Parses a program into a module: drives Lark, recovers from errors, wraps assembly text into a function.

After a wrong statement parsing resumes at the next one, so that independent errors are reported in one run.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from lark.exceptions import UnexpectedToken
from lark.parsers.lalr_analysis import Reduce
from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue

from ..collector import paused
from ..diagnostics.diagnostic import Diagnostic, Severity
from ..diagnostics.engine import DiagnosticEngine
from ..diagnostics.source import SourceFile, Span
from ..ir.location import locate
from ..ir.types import TileType
from .build_micro import MicroBuilder
from .core_ops import core_class
from .grammar import load_grammar
from .lexer import ProgramLexer, ProgramText, is_assembly, mask_hash_comments
from .syntax_errors import explain
from .text import set_name
from .tokens import Tok

_LIMIT = 2_000


class ProgramParser:
    """The grammar with its builder. Not reentrant: ``parse_program`` serialises its use."""

    def __init__(self) -> None:
        self.builder = ProgramBuilder()
        self.lark = load_grammar("pto.lark", ProgramLexer, self.builder)
        self.states = self.lark.parser.parser.parser.parse_table.states
        self.lock = threading.RLock()

    def run(self, source: SourceFile, engine: DiagnosticEngine, schematic: bool) -> ModuleOp | None:
        """Parses ``source``; ``None`` when the text ended inside a region."""
        if schematic:
            from .documentation import read_documentation

            text, remarks = read_documentation(source.text)
            source = SourceFile(source.name, text, source.first_line)
            for remark in remarks:
                span = Span(source, remark.start, remark.end)
                engine.report(Diagnostic("documentation-form", Severity.WARNING, remark.text, span))
        text = source.text
        assembly = is_assembly(text)
        masked = mask_hash_comments(text) if assembly or schematic else text
        data = ProgramText(masked, assembly)
        self.builder.reset(source, data, engine, schematic)
        self.data = data
        self.resumed = -1
        self.errors = 0
        try:
            self.lark.parse(data, on_error=self.recover)
        except UnexpectedToken:
            return None
        return self.builder.finish()

    # ------------------------------------------------------------ recovery

    def recover(self, error: Any) -> bool:
        """Reports ``error`` and moves on to the next statement; False when parsing cannot go on."""
        token: Any = error.token
        state = error.interactive_parser.parser_state
        keep = self._statement_depth(state.state_stack)
        statement = list(_flatten(state.value_stack[keep:]))
        at_end = token.type == "$END"
        if at_end:
            end = len(self.data.text.rstrip())
            token = Tok("$END", "", max(0, end - 1))
        following = self._after(token) if token.type == "COMMA" else None
        found = explain(token, error.expected, statement, following)
        place: Any = found.at or token
        self.builder.report(found.rule, found.text, place.start, max(place.start + 1, place.end), found.help)
        self.errors += 1
        if at_end or self.errors > _LIMIT:
            return False
        begins_line = _starts_line(self.data.text, token.start)
        if statement and (statement[-1].type == "LBRACE" or begins_line):
            self._complete(state)
            keep = self._statement_depth(state.state_stack)
            statement = list(_flatten(state.value_stack[keep:]))
        open_braces = sum(isinstance(value, Tok) and value.type == "LBRACE" for value in state.value_stack[keep:])
        self.builder.pending = None
        del state.state_stack[keep + 1 :]
        del state.value_stack[keep:]
        self._poison_results(statement)
        closes_nothing = token.type == "RBRACE" and not statement
        may_begin = begins_line and bool(statement) and token.start > self.resumed
        self.data.position = self._next_statement(token, open_braces, closes_nothing, may_begin)
        return True

    def _after(self, token: Tok) -> Tok | None:
        """The token behind ``token``."""
        ahead = ProgramText(self.data.text, self.data.assembly)
        ahead.position = token.end
        return next(self.data.lexer.tokens(ahead), None)

    def _complete(self, state: Any) -> None:
        """Reduces what stands before a wrong token as if a statement followed, so that a whole statement on the line
        above is kept and a region just opened is entered."""
        stack, values = state.state_stack, state.value_stack
        while (entry := self.states[stack[-1]].get("RESULTS")) is not None and entry[0] is Reduce:
            rule = entry[1]
            size = len(rule.expansion)
            parts = values[len(values) - size :]
            del stack[len(stack) - size :], values[len(values) - size :]
            values.append(state.parse_conf.callbacks[rule](parts))
            stack.append(self.states[stack[-1]][rule.origin.name][1])

    def _statement_depth(self, stack: list[Any]) -> int:
        """Number of values below the innermost place where a statement may begin."""
        for depth in range(len(stack) - 1, -1, -1):
            if "statement" in self.states[stack[depth]] or "plain_statement" in self.states[stack[depth]]:
                return depth
        return 0

    def _poison_results(self, statement: list[Tok]) -> None:
        """Defines the names of a broken statement so that their uses are not errors as well."""
        for token in statement:
            if token.type == "RESULTS":
                self.builder.result_statement([token, None])

    def _next_statement(self, token: Tok, depth: int, skip_first: bool, may_begin: bool) -> int:
        """Offset where the statement after the broken one begins.

        Nested braces are skipped whole; ``depth`` of them were open where the statement broke. ``may_begin`` says that
        the wrong token itself may begin a statement, the broken one being on the lines above.
        """
        data = self.data
        data.position = max(token.start, self.resumed + 1)
        first = True
        text = data.text
        for candidate in data.lexer.tokens(data):
            kind = candidate.type
            if kind == "LBRACE":
                depth += 1
            elif kind == "RBRACE":
                if depth == 0 and not (skip_first and first):
                    return self._resume(candidate.start)
                depth = max(0, depth - 1)
            elif (
                depth == 0
                and (not first or (may_begin and kind != "OP_UNKNOWN"))
                and (
                    kind in ("RESULTS", "BLOCK")
                    or kind.startswith("OP_")
                    or (kind == "STRING" and _starts_line(text, candidate.start))
                )
            ):
                return self._resume(candidate.start)
            first = False
        return len(text)

    def _resume(self, position: int) -> int:
        self.resumed = position
        return position


def _starts_line(text: str, position: int) -> bool:
    return not text[text.rfind("\n", 0, position) + 1 : position].strip()


def _flatten(values: list[Any]) -> Iterator[Tok]:
    """The tokens among partly reduced values, in text order."""
    for value in values:
        if isinstance(value, Tok):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _flatten(list(value))


class ProgramBuilder(MicroBuilder):
    """The complete builder."""

    def start(self, items: list[Any]) -> None:
        return None

    def finish(self) -> ModuleOp:
        """The module of the parsed file: the file's own, or an implicit one around its top-level operations."""
        self.close_frame()
        region = self.closed.region
        block = region.block
        if block.args or (self.text.assembly and not _has_functions(block)):
            return self._assembly_module(block)
        operations = list(block.ops)
        if len(operations) == 1 and isinstance(operations[0], ModuleOp):
            module = operations[0]
            module.detach()
            return module
        module = ModuleOp.create(regions=[region])
        locate(module, self.source, 0, len(self.source.text))
        return module

    def _assembly_module(self, block: Block) -> ModuleOp:
        """The function ``@main`` around assembly statements: directives are its arguments, unread tiles its results."""
        if self.schematic:
            self._undefined_values(block)
        results = [
            value
            for op in block.ops
            for value in op.results
            if value.first_use is None and (op.name.startswith("pto.t") or isinstance(value.type, TileType))
        ]
        cls = core_class("func.return")
        function = core_class("func.func")
        assert cls is not None and function is not None
        end = len(self.source.text)
        block.add_op(self.create(cls, end, results))
        region = block.parent
        assert region is not None
        types = FunctionType.from_lists([a.type for a in block.args], [r.type for r in results])
        properties = {"sym_name": StringAttr("main"), "function_type": types}
        op = self.create(function, 0, properties=properties, regions=[region])
        module = ModuleOp.create(regions=[Region(Block([op]))])
        locate(module, self.source, 0, end)
        return module

    def _undefined_values(self, block: Block) -> None:
        """Values that documentation does not define are further arguments."""
        arguments: dict[SSAValue, SSAValue] = {}
        for op in block.walk():
            for place, value in enumerate(op.operands):
                if isinstance(value, BlockArgument) and value.block.parent is None:
                    if value not in arguments:
                        argument = block.insert_arg(value.type, len(block.args))
                        set_name(argument, f"%{value.name_hint or ''}")
                        arguments[value] = argument
                    op.operands[place] = arguments[value]


def _has_functions(block: Block) -> bool:
    return any(op.name in ("func.func", "builtin.module") for op in block.ops) or not any(
        isinstance(op, Operation) for op in block.ops
    )


_parsers: list[ProgramParser] = []
_lock = threading.Lock()


def parse_program(source: SourceFile, engine: DiagnosticEngine, *, schematic: bool = False) -> ModuleOp | None:
    """Parses the program in ``source``, reporting every error to ``engine``.

    Returns the module, or ``None`` when no module could be built at all. A returned module may be incomplete when
    errors were reported. ``schematic`` accepts documentation snippets: ``!pto.tile<...>`` and values that are never
    defined.
    """
    with _lock:
        if not _parsers:
            _parsers.append(ProgramParser())
    parser = _parsers[0]
    with parser.lock, paused():
        try:
            return parser.run(source, engine, schematic)
        except RecursionError:
            engine.report(
                Diagnostic("parse-depth", Severity.ERROR, "the program is nested too deeply", Span(source, 0, 1))
            )
            return None
