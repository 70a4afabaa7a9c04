"""Parses a program into a module: drives the grammar, recovers from errors, wraps assembly text into a function.

After an incorrect statement parsing resumes at the next one, so that independent errors are reported in one run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue

from pto_dialect.accel import enabled
from pto_dialect.accel.collector import paused
from pto_dialect.accel.parsing.statements import StatementReader
from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile, Span
from pto_dialect.ir.core.location import locate
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import TileType
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.core_dialects.core_ops import core_class
from pto_dialect.nesting import RULE as NESTING
from pto_dialect.nesting import NestingError

from ..builder.micro import MicroBuilder
from ..text import set_name
from .grammar import load_grammar
from .lalr import UnexpectedToken
from .lexer import ProgramLexer, ProgramText, is_assembly, mask_hash_comments
from .locations import is_location

_LOCATIONS = 'write loc("name"), loc("file":line:column) or loc(unknown)'


class ProgramParser:
    """The grammar with its builder. Not reentrant: ``parse_program`` serialises its use."""

    def __init__(self) -> None:
        self.builder = ProgramBuilder()
        self.grammar = load_grammar("pto.lark", ProgramLexer, self.builder)
        self.statements = StatementReader(self.builder)
        self.builder.learn = self.statements.learn
        self.builder.learn_header = self.statements.learn_header
        self.grammar.begin = self.statements.begin
        self.lock = threading.RLock()

    def _recovery(self, data: ProgramText) -> Callable[[UnexpectedToken], bool]:
        """Returns the error handler of ``data``; it is not loaded for a program without errors."""
        made: list[Callable[[UnexpectedToken], bool]] = []

        def handle(error: UnexpectedToken) -> bool:
            if not made:
                from .recovery import Recovery  # deferred: start-up

                made.append(Recovery(self.grammar, self.builder, data))
            return made[0](error)

        return handle

    def run(self, source: SourceFile, engine: DiagnosticEngine, schematic: bool, plans: bool) -> ModuleOp | None:
        """Parses ``source``; ``None`` when the text ended inside a region."""
        if schematic:
            from ..documentation.rewriting import read_documentation  # deferred: start-up

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
        self.statements.reset(data, plans and not (assembly or schematic) and _uses_templates())
        try:
            self.grammar.parse(data, self._recovery(data))
        except UnexpectedToken:
            return None
        finally:
            for start, spelling in data.locations.items():
                if not is_location(spelling):
                    self.builder.report("parse-syntax", "this is no location", start, start + len(spelling), _LOCATIONS)
        return self.builder.finish()


class ProgramBuilder(MicroBuilder):
    """The complete builder."""

    def start(self, items: list[Any]) -> None:
        """The end of the program; everything was built before."""
        return None

    def finish(self) -> ModuleOp:
        """Returns the module of the parsed file: the file's own, or an implicit one around its top-level operations."""
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
        self.refuse_deep(1)
        module = ModuleOp.create(regions=[region])
        locate(module, self.source, 0, len(self.source.text))
        return module

    def _assembly_module(self, block: Block) -> ModuleOp:
        """Returns the function ``@main`` around assembly statements: directives are its arguments, unread tiles its
        results."""
        self.refuse_deep(2)
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
        """Makes values that documentation does not define further arguments."""
        arguments: dict[SSAValue, SSAValue] = {}
        for op in walk(block):
            for place, value in enumerate(op.operands):
                if isinstance(value, BlockArgument) and value.block.parent is None:
                    if value not in arguments:
                        argument = block.insert_arg(value.type, len(block.args))
                        set_name(argument, f"%{value.name_hint or ''}")
                        arguments[value] = argument
                    op.operands[place] = arguments[value]


def _has_functions(block: Block) -> bool:
    return any(isinstance(op, ModuleOp) or has_role(op, Role.FUNCTION) for op in block.ops) or not any(
        isinstance(op, Operation) for op in block.ops
    )


def _uses_templates() -> bool:
    # Statements made of templates have locations that are made later.
    return enabled("templates") and enabled("locations")


_parsers: list[ProgramParser] = []
_lock = threading.Lock()


def parse_program(
    source: SourceFile, engine: DiagnosticEngine, *, schematic: bool = False, plans: bool = True
) -> ModuleOp | None:
    """Parses the program in ``source``, reporting every error to ``engine``.

    Returns the module, or ``None`` when no module could be built at all. A returned module may be incomplete when
    errors were reported. ``schematic`` accepts documentation snippets: ``!pto.tile<...>`` and values that are never
    defined. Without ``plans`` the grammar reads every statement, also those like statements that were read before; the
    outcome is the same.
    """
    with _lock:
        if not _parsers:
            _parsers.append(ProgramParser())
    parser = _parsers[0]
    with parser.lock, paused(anew=True):
        try:
            return parser.run(source, engine, schematic, plans)
        except NestingError as error:
            span = Span(source, error.start, error.start + 1)
            engine.report(Diagnostic(NESTING, Severity.ERROR, str(error), span))
            return None
