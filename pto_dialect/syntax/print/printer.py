"""Prints a module (or any operation) as text that the parser reads back.

The canonical custom form is the default: one printing function per statement shape, found through the
operation's declaration. What a custom form cannot say is printed in generic form, statement by statement.
Statements and regions are worked off a stack, so nesting is limited by memory only, and the time is linear in
the length of the text.

>>> print(print_module(module))
module attributes {pto.target_arch = "a5"} {
  func.func @f(%a: i64) {
    %p = pto.castptr %a : i64 -> !pto.ptr<f32, ub>
    return
  }
}
"""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation

from pto_dialect.accel.collector import paused
from pto_dialect.diagnostics.origins import is_translated, location_of
from pto_dialect.ir.core.attribute_text import string_literal
from pto_dialect.ir.core.location import SourceLoc, span_of

from ..portable import regions_around_calls
from .core import CORE_COMPOSITES, CORE_LEAVES
from .generic import generic_leaf, generic_pieces
from .shapes import pto_composite, pto_leaf
from .value_names import ValueNames
from .writer import Body, Composite, Inexpressible, Leaf, Piece, Writer


def print_module(
    op: Operation,
    *,
    generic: bool = False,
    debuginfo: bool = False,
    portable: bool = True,
    names: ValueNames | None = None,
) -> str:
    """Returns the text of ``op`` with everything inside, ending with a newline.

    ``generic`` prints every statement in generic form, which can be read without knowledge of the operations; with
    ``portable`` also without that of the types and attributes (see ``syntax.portable``). A module whose attribute
    ``pto.form`` is ``assembly`` is printed as assembly, unless one of the others is requested. ``debuginfo`` adds
    ``loc("file":line:col)`` to every statement. ``names`` names the values; by default `ValueNames`.
    """
    with paused():
        if not (generic or debuginfo) and op.attributes.get(FORM) == ASSEMBLY:
            text = _assembly(op)
            if text is not None:
                return text
        return ModulePrinter(generic, debuginfo, generic and portable, names).run(op)


FORM = "pto.form"
ASSEMBLY = StringAttr("assembly")
"""Value of the attribute ``pto.form`` of a module that is printed as assembly."""


def _assembly(module: Operation) -> str | None:
    """Returns the assembly text of a module of one function; ``None`` where it has none."""
    from .assembly import print_assembly  # deferred: start-up

    function = module.regions[0].block.first_op
    if function is None or not function.regions or not function.regions[0].blocks:
        return None
    try:
        return print_assembly(function.regions[0].block)
    except UNPRINTABLE:
        return None


UNPRINTABLE = (Inexpressible, AssertionError, AttributeError, LookupError, TypeError, ValueError)
"""Errors that a custom form raises for an operation that it cannot express, or that lacks its required parts."""


class _Statements:
    """The statements of a block from ``op`` on, up to ``elided``."""

    __slots__ = ("elided", "op")

    def __init__(self, op: Operation, elided: Operation | None) -> None:
        self.op = op
        self.elided = elided


class _Label:
    """A block label with its arguments."""

    __slots__ = ("block",)

    def __init__(self, block: Block) -> None:
        self.block = block


class _End:
    """End of a statement with regions."""

    __slots__ = ("names", "op")

    def __init__(self, op: Operation, names: list[str]) -> None:
        self.op = op
        self.names = names


_CLOSE = object()
"""End of a region."""


class ModulePrinter:
    """One run of the printer."""

    def __init__(self, generic: bool, debuginfo: bool, portable: bool, names: ValueNames | None = None) -> None:
        self.generic = generic
        self.debuginfo = debuginfo
        self.writer = Writer(generic, portable, names)
        self.out: list[str] = []
        self.stack: list[object] = []
        self._leaves: dict[type[Operation], Leaf] = {}

    def run(self, op: Operation) -> str:
        """Returns the text of ``op``."""
        stack = self.stack
        if self.writer.portable:
            self.writer.around_calls = regions_around_calls(op)
        if op.regions:
            self._composite(op)
        else:
            self.out.append(self._leaf(op))
        while stack:
            task = stack.pop()
            if isinstance(task, str):
                self.out.append(task)
            elif isinstance(task, _Statements):
                self._statements(task)
            elif isinstance(task, Body):
                self._open(task)
            elif isinstance(task, _End):
                self.writer.names.publish(task.names)
                self.out.append(self._location(task.op) + "\n")
            elif isinstance(task, _Label):
                self._label(task.block)
            else:
                self._close()
        return "".join(self.out)

    # ------------------------------------------------------------ statements

    def _statements(self, task: _Statements) -> None:
        """Prints statements up to the first one with regions, which is pushed on the stack, as is the rest."""
        op, elided = task.op, task.elided
        while op is not elided:
            following = op.next_op
            if op.regions:
                if following is not None and following is not elided:
                    self.stack.append(_Statements(following, elided))
                self._composite(op)
                return
            self.out.append(self._leaf(op))
            if following is None:
                return
            op = following

    def _leaf(self, op: Operation) -> str:
        """Prints the line of a statement without regions."""
        writer = self.writer
        cls = type(op)
        leaf = self._leaves.get(cls)
        if leaf is None:
            leaf = self._leaves[cls] = generic_leaf if self.generic else _leaf_printer(op)
        try:
            text = leaf(writer, op)
        except UNPRINTABLE:
            text = generic_leaf(writer, op)
        results = op.results
        if results:
            writer.names.define(results)
            text = f"{writer.names.results(results)} = {text}"
        if self.debuginfo:
            text += self._location(op)
        return f"{writer.indent}{text}\n"

    def _composite(self, op: Operation) -> None:
        """Pushes the pieces of a statement with regions on the stack."""
        writer = self.writer
        names = writer.names.announce(op.results)
        self.out.append(writer.indent + (f"{writer.names.results(op.results)} = " if op.results else ""))
        self.stack.append(_End(op, names))
        self.stack.extend(reversed(self._pieces(op)))

    def _pieces(self, op: Operation) -> list[Piece]:
        if not self.generic:
            try:
                return _composite_printer(op)(self.writer, op)
            except UNPRINTABLE:
                pass
        return generic_pieces(self.writer, op)

    def _location(self, op: Operation) -> str:
        if not self.debuginfo:
            return ""
        location: object = op.location
        # Only the start is printed; searching the end of every statement would take quadratic time.
        span = location.data if isinstance(location, SourceLoc) else span_of(op)
        if span is None:
            return " loc(unknown)"
        stated = location_of(span)
        if stated.frames:
            return f" loc({stated.spelled(string_literal)})"
        if is_translated(span.source):
            return " loc(unknown)"
        line, column = span.source.line_col(span.start)
        return f" loc({string_literal(span.source.name)}:{line}:{column})"

    # ------------------------------------------------------------ regions

    def _open(self, body: Body) -> None:
        """Starts a region: brace, names, labels; its blocks are pushed on the stack."""
        writer, region = self.writer, body.region
        if not body.entered:
            writer.names.enter(region, body.isolated)
        self.out.append("{\n")
        self.stack.append(_CLOSE)
        blocks = list(region.blocks)
        for number, block in enumerate(blocks):
            writer.blocks[id(block)] = f"^bb{number}"
        for block in reversed(blocks):
            first = block.first_op
            if first is not None:
                self.stack.append(_Statements(first, body.elided))
            if block is not blocks[0] or self._needs_label(body, blocks):
                self.stack.append(_Label(block))
        writer.indent += "  "

    def _needs_label(self, body: Body, blocks: list[Block]) -> bool:
        """Returns whether the label of the entry block is required: arguments, a target, an empty block."""
        entry = blocks[0]
        if entry.args and body.labelled:
            return True
        if entry.is_empty and (len(blocks) > 1 or self.generic or body.generic):
            return True
        return is_target(entry, blocks)

    def _label(self, block: Block) -> None:
        writer = self.writer
        arguments = [f"{writer.use(arg)}: {writer.type(arg.type)}" for arg in block.args]
        part = f"({', '.join(arguments)})" if arguments else ""
        self.out.append(f"{writer.indent[2:]}{writer.block(block)}{part}:\n")

    def _close(self) -> None:
        writer = self.writer
        writer.names.leave()
        writer.indent = writer.indent[2:]
        self.out.append(writer.indent + "}")


def is_target(block: Block, blocks: list[Block]) -> bool:
    """Returns whether one of ``blocks`` branches to ``block``."""
    return any(last is not None and block in last.successors for last in (b.last_op for b in blocks))


def _leaf_printer(op: Operation) -> Leaf:
    return CORE_LEAVES.get(op.name) or pto_leaf(op) or generic_leaf


def _composite_printer(op: Operation) -> Composite:
    return CORE_COMPOSITES.get(op.name) or pto_composite(op) or generic_pieces
