"""Code generation variant for recordings: the instrumented one, which also reports scalars and handles of the program.

Source: docs/reference/recording.md, "Statements".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, cast

from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, MemRefType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from pto_dialect.diagnostics.origins import is_translated, written_span
from pto_dialect.diagnostics.source import Span
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.facts.operation_form import pipe_of
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.roles import RUNS, Role, has_role
from pto_dialect.ir.core.walk import walk
from pto_dialect.runtime.compile.generator import Expr, Generator
from pto_dialect.sanitize.instrument.generator import InstrumentedGenerator, is_instrumented
from pto_dialect.sanitize.report.sites import Site, value_name

from .log import Log
from .model import Statement

_SCALARS = (IntegerType, IndexType, AnyFloat)
_HANDLES: tuple[type[Attribute], ...] = (t.TileBufType, t.MultiTileBufType, t.PtrType, t.ShapedView, MemRefType)
_QUEUED = ("core.issue(", "core.queue_set(", "core.queue_wait(", "core.signal(", "core.await_")
"""How lines begin that leave an operation to a queue; what waits in one is executed later."""


@cache
def _is_scalar(type_: type[Attribute]) -> bool:
    return issubclass(type_, _SCALARS)


@cache
def _is_handle(type_: type[Attribute]) -> bool:
    return issubclass(type_, _HANDLES)


class RecordedGenerator(InstrumentedGenerator):
    """Writes the body of one function, with a note before each operation that is recorded."""

    def __init__(self, *arguments: Any, log: Log, light: bool, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.log = log
        self.light = light
        """Whether the run has no other instrumentation."""
        self._function: str | None = None
        """Name of the function of this body, once an operation has needed it."""
        self._number = -1
        self._values_text = ""
        """Arguments that the next operation reports to the recording."""
        self._new: dict[Block, list[SSAValue]] = {}
        """By block: the scalars that no note has reported yet."""

    def operation(self, op: Operation) -> None:
        """One operation, with a note before it where it is recorded."""
        new = self._new_in(op)
        instrumented = is_instrumented(op)
        kind = "operation" if instrumented else _structure(op)
        if kind is not None:
            self.emitter.current = op
            self._note(op, kind, new)
        start = len(self.emitter.lines)
        super().operation(op)
        if instrumented and self.queued and not self._placed(op):
            lines = [line.lstrip() for line in self.emitter.lines[start:]]
            if not any(line.startswith(_QUEUED) for line in lines):
                self.emitter.current = op
                self.emitter.line("core.alone()")
        new += [value for value in op.results if _is_scalar(type(value.type))]

    def prepare_view(self, value: SSAValue) -> None:
        """Emits, after the definition of a tile, its array, which reports accesses like the tile itself."""
        if self.light:
            Generator.prepare_view(self, value)

    def view(self, value: SSAValue) -> Expr | None:
        """That array, where nobody else wants to know through which handle the tile is accessed."""
        return Generator.view(self, value) if self.light else None

    def _new_in(self, op: Operation) -> list[SSAValue]:
        block = op.parent_block()
        assert block is not None
        found = self._new.get(block)
        if found is None:
            arguments = (value for value in block.args if _is_scalar(type(value.type)))
            found = self._new[block] = [*arguments]
        return found

    def _note(self, op: Operation, kind: str, new: list[SSAValue]) -> None:
        indices = self._loop_indices(op)
        told = [value for value in (*new, *op.operands) if self._is_number(value) and value not in indices]
        scalars = list(dict.fromkeys(told))
        new.clear()
        handles = [value for value in dict.fromkeys(op.operands) if _is_handle(type(value.type))]
        handles = [value for value in handles if value in self.names]
        number = self.log.statement(self._statement(op, kind, indices, scalars, handles))
        loops, numbers, others = (
            "".join(f"{self.names[value]}, " for value in values) for values in (indices, scalars, handles)
        )
        if kind != "operation" or not self.light:
            self.emitter.line(f"core.note({number}, ({loops}), ({numbers}), ({others}))")
        if kind != "operation":
            self.emitter.line("core.structure()")
        self._values_text = f"({numbers}), ({others})"
        self._number = number

    def announce(self, site: int, loops: str) -> None:
        """Reports the next operation to the core, with its data for the recording."""
        if self.light:
            method = "reached" if self.queued else "reached_part"
            if self.queued and self._placed(self.emitter.current):
                method = "placed"
            self.emitter.line(f"core.{method}({self._number}, {site}, ({loops}), {self._values_text})")
        else:
            super().announce(site, loops)

    def _placed(self, op: Operation | None) -> bool:
        """Returns True for allocations of a run that nobody else watches: they are done when they are reached."""
        return self.light and op is not None and has_role(op, Role.TILE_ALLOCATION)

    def through(self, op: Operation, site: Site) -> None:
        """Reports data for checks to the core, where there are any."""
        if not self.light:
            super().through(op, site)

    def accessed(self, arguments: Sequence[Any]) -> None:
        """Reports data for checks to the core, where there are any."""
        if not self.light:
            super().accessed(arguments)

    def aligned(self, op: Operation) -> None:
        """Reports data for checks to the core, where there are any."""
        if not self.light:
            super().aligned(op)

    def part(self, op: Operation) -> None:
        """Reports data for checks to the core, where there are any."""
        if not self.light:
            super().part(op)

    def _is_number(self, value: SSAValue) -> bool:
        known = _is_scalar(type(value.type)) and value in self.names
        return known and (self.lanes is None or not self.lanes.varies(value))

    def allocated(self, op: Operation) -> None:
        """Has the core keep an allocation, where there are checks."""
        if not self.light:
            super().allocated(op)

    def _statement(
        self, op: Operation, kind: str, loops: list[SSAValue], scalars: list[SSAValue], handles: list[SSAValue]
    ) -> Statement:
        span = span_of(op)
        place = (0, 0, 0, 0)
        written = None if span is None else written_span(span)
        if written is not None:
            end = max((found.end for found in _inside(op) if found.source is written.source), default=written.end)
            place = (*written.source.line_col(written.start), *written.source.line_col(max(end, written.end)))
        pipe = pipe_of(op, self.profile.arch)
        if self._function is None:
            self._function = _function_of(op)

        def pairs(values: list[SSAValue]) -> tuple[tuple[str, str], ...]:
            return tuple((_named(value), t.type_text(value.type)) for value in values)

        return Statement(
            len(self.log.statements),
            op.name,
            *place,
            _text(op, span, written),
            pipe.value.removeprefix("PIPE_") if pipe is not None else "S",
            self._function,
            kind,
            tuple(_named(value) for value in loops),
            pairs(scalars),
            pairs(handles),
        )


def _function_of(op: Operation) -> str:
    function = op
    while not has_role(function, Role.FUNCTION) and (parent := function.parent_op()) is not None:
        function = parent
    name = function.properties.get("sym_name") or function.attributes.get("sym_name")
    return getattr(name, "data", "")


def _structure(op: Operation) -> str | None:
    """Returns what kind of statement an operation is that nobody watches; ``None`` for one that is not recorded."""
    if has_role(op, RUNS):
        return "call"
    return "region" if op.regions and not has_role(op, Role.FUNCTION) else None


def _named(value: SSAValue) -> str:
    return f"%{value_name(value).removeprefix('%') or _unnamed(value)}"


def _unnamed(value: SSAValue) -> str:
    """Returns a name for a value that has none in the text."""
    owner = value.owner
    if isinstance(owner, Operation):
        return f"{owner.name}_{list(owner.results).index(cast(OpResult, value))}"
    return f"arg{list(owner.args).index(cast(BlockArgument, value))}"


def _inside(op: Operation) -> Iterator[Span]:
    """Yields the positions of the statements in the regions of a translated statement, whose source text has no
    extent."""
    span = span_of(op)
    if not op.regions or span is None or not is_translated(span.source):
        return
    for inner in walk(op):
        found = span_of(inner)
        written = None if found is None else written_span(found)
        if written is not None:
            yield written


def _text(op: Operation, span: Span | None, written: Span | None) -> str:
    """Returns the statement, its first line where it has regions; of a translated one the source line."""
    if span is None:
        return op.name
    if is_translated(span.source):
        return op.name if written is None else written.source.line_text(written.line).strip()
    return span.text.split("\n")[0].strip() if op.regions else " ".join(span.text.split())
