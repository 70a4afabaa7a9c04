"""Describes what reading and verifying a program gives, for comparing two ways to read it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile, Span
from pto_dialect.ir.core.location import SourceLoc
from pto_dialect.ir.core.walk import walk
from pto_dialect.syntax.print.printer import print_module
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.verify.verifier import verify_module


def describe_program(text: str, targets: Iterable[str | None], *, plans: bool, printed: bool) -> list[str]:
    """The lines that state what reading ``text`` gives: the first diagnostics, each operation with its location and its
    parts, the order of uses, and for each of ``targets`` what the verifier finds; with ``printed`` also both forms."""
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0, pedantic=True))
    module = parse_program(SourceFile("program.pto", text), engine, plans=plans)
    lines = [diagnostic_text(found) for found in engine.diagnostics]
    if module is None:
        return [*lines, "no module"]
    lines += describe_operations(module)
    for target in targets:
        engine = DiagnosticEngine(DiagnosticOptions(max_errors=0, pedantic=True))
        try:
            verify_module(module, engine, target=target)
        except Exception as error:
            # Rules may rely on what syntax errors destroyed; both have to end in the same way.
            lines.append(f"{type(error).__name__}: {error}")
        lines += [f"target {target}", *map(diagnostic_text, engine.diagnostics)]
    if printed:
        lines += [print_module(module), print_module(module, generic=True)]
    return lines


def diagnostic_text(found: Diagnostic) -> str:
    """One diagnostic with everything in it."""
    notes = "".join(f" note {span_text(note.span)} {note.message}" for note in found.notes)
    return f"{found.rule} {found.severity} {span_text(found.span)} {found.message} help {found.help}{notes}"


def span_text(span: Span | None) -> str:
    """A location, by line and column and by offsets."""
    if span is None:
        return "nowhere"
    line, column = span.source.line_col(span.start)
    return f"{line}:{column} {span.start}-{span.end}"


def describe_operations(module: ModuleOp) -> Iterator[str]:
    """Each operation of ``module``: what is in it, where it is, who uses its results, in order of the uses."""
    numbers: dict[Operation, int] = {}
    blocks: dict[Block, int] = {}
    for op in walk(module):
        numbers[op] = len(numbers)
        for region in op.regions:
            for block in region.blocks:
                blocks[block] = len(blocks)

    def value(one: SSAValue) -> str:
        owner = one.owner
        home = f"^{blocks.get(owner)}" if isinstance(owner, Block) else str(numbers.get(owner))
        return f"{home}.{getattr(one, 'index', None)}"

    def defined(one: SSAValue) -> str:
        users = ", ".join(f"{numbers.get(use.operation)}.{use.index}" for use in one.uses)
        return f"{one.name_hint} : {one.type} used by [{users}]"

    for op, number in numbers.items():
        loc: object = op.location
        where = span_text(loc.data) if isinstance(loc, SourceLoc) else str(loc)
        uses = [use is not None and use.operation is op for use in op._operand_uses]
        yield (
            f"{number} {type(op).__name__} {op.name} at {where} in {blocks.get(op.parent) if op.parent else None} "
            f"({', '.join(map(value, op.operands))}) {op.attributes} {op.properties} "
            f"{[blocks.get(block) for block in op.successors]} -> {[defined(result) for result in op.results]} "
            f"{all(uses)} {numbers.get(op.prev_op) if op.prev_op else None} "
            f"{numbers.get(op.next_op) if op.next_op else None}"
        )
        for region in op.regions:
            for block in region.blocks:
                yield f"^{blocks[block]} {[defined(argument) for argument in block.args]}"
