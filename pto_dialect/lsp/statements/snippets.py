"""Whole statements for the name of an operation: operands are values in scope, types are theirs.

A statement of this dialect is built as an operation and printed, so it has the form that the printer gives it. Values
that are missing get the names of the operands that they would be.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cache

from xdsl.dialects.builtin import FunctionType, IntegerAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region

from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.driver.explain.examples import example_of
from pto_dialect.ir.core.attributes import ENUMS, EnumAttr
from pto_dialect.ir.core.base import PtoOp, Shape, Slot, op_spec, segment_sizes, signature
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.registry import op_class
from pto_dialect.ir.core.types import type_text
from pto_dialect.ir.core.walk import walk
from pto_dialect.syntax.errors.types import TypeSyntaxError
from pto_dialect.syntax.print.printer import print_module
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.syntax.types.parser import parse_type

from .core_snippets import core_statement
from .placeholders import escaped, free_names
from .scope import Typed

_USUAL_TYPES = (
    *("index", "i64", "i32", "f32", "!pto.tile_buf<vec, 16x64xf32>", "!pto.partition_tensor_view<16x64xf32>"),
    *("!pto.tensor_view<?x?xf32>", "!pto.ptr<f32, ub>", "!pto.ptr<f32>", "!pto.vreg<64xf32>", "!pto.mask<b32>"),
    *("memref<16x64xf32, #pto.address_space<vec>>", "i1", "i16", "f16", "!pto.mask<b16>", "!pto.mask<b8>"),
    *("!pto.vreg<128xf16>", "!pto.vreg<64xi32>", "!pto.vreg<128xi16>", "!pto.vreg<256xi8>", "!pto.align", "!pto.pipe"),
    *("!pto.vmi.vreg<64xf32>", "!pto.vmi.mask<64xpred>", "!pto.vmi.vreg<64xi32>", "!pto.async_session"),
    *("!pto.async_event", "!pto.group", "!pto.ptr<f16, l1>", "!pto.ptr<f16, l0a>", "!pto.ptr<f16, l0b>"),
    *("!pto.ptr<f32, l0c>", "!pto.multi_tile_buf<!pto.tile_buf<vec, 16x64xf32>, count = 2>"),
)
"""Types for values that are missing, the most usual first."""
_VIEWS = {"pto.tload": ("src",), "pto.tstore": ("dst",), "pto.tprefetch": ("src",)}
"""Operands in global memory; other operands that are a tile or a view are usually tiles."""
_RESULTS = {"pto.make_tensor_view": "!pto.tensor_view<", "pto.castptr": "!pto.ptr<"}
"""Beginnings of the usual types of results that may have any type."""
_ENUMERATORS = {"SRC_PIPE": "PIPE_MTE2", "DST_PIPE": "PIPE_V", "PIPE": "PIPE_ALL"}
_RANK = 2
"""Values of a list of sizes, offsets or strides."""
_MARK = re.compile(r"%p(\d+)_")


def statement(name: str, scope: Sequence[Typed], results: int = 0, types: Sequence[Attribute] = ()) -> str | None:
    """Returns the statement as a snippet; ``None`` for an operation that is written in generic form only.

    ``results`` is the number of results whose names, with the equals sign, the text already has; 0 where it has none.
    ``types`` are those that the program names.
    """
    if name not in OPS:
        return core_statement(name, scope, results)
    cls = op_class(name)
    for made in (_Builder, _Copied):
        # An operation that needs more than operands of the right types is written as its example is.
        with suppress(Exception):
            text = made(cls, scope, types, results).text()
            if text is not None:
                return text
    return None


@cache
def _usual_types() -> tuple[Attribute, ...]:
    found: list[Attribute] = []
    for text in _USUAL_TYPES:
        with suppress(TypeSyntaxError):
            found.append(parse_type(text))
    return tuple(found)


def suits(cls: type[PtoOp], slot: Slot, kind: Attribute) -> bool:
    """Returns whether an operand that may be a tile or a view usually is what a type of these is."""
    if slot.kind.label != "a tile or view":
        return True
    return ("view" if slot.name in _VIEWS.get(cls.name, ()) else "tile") in type_text(kind)


class _Builder:
    """One operation with operands from ``scope``."""

    def __init__(self, cls: type[PtoOp], scope: Sequence[Typed], types: Sequence[Attribute], results: int) -> None:
        self.cls = cls
        self.scope = scope
        self.types = (*types, *_usual_types())
        self.results = results
        self.chosen: list[Typed] = []

    takes_generic = False
    """Whether the statement may be in generic form."""

    def text(self) -> str | None:
        """Returns the statement as a snippet, ``None`` where this way does not give one that is right."""
        return self._snippet(*self._operation())

    def _operation(self) -> tuple[Operation, Block]:
        """Returns the operation, whose operands are the arguments of the block."""
        declared = signature(self.cls)
        in_buffer = self._writes_operand(declared.operands)
        sizes: list[int] = []
        for slot in declared.operands:
            number = 1 if slot.arity == "1" or (slot.name == "dst" and in_buffer) else 0
            if slot.arity == "*" and op_spec(self.cls).shape is Shape.VIEW_LISTS:
                number = _RANK
            sizes.append(number)
            self.chosen += [self._operand(slot, position) for position in range(number)]
        counts = [] if in_buffer else self._result_counts(declared.results)
        results = [self._result(slot) for slot, number in counts for _ in range(number)]
        block = Block(arg_types=[value.type for value in self.chosen])
        attributes = self._attributes()
        if declared.segmented:
            attributes["operandSegmentSizes"] = segment_sizes(tuple(sizes))
        regions = [Region(Block()) for _ in range(1 if op_spec(self.cls).shape is Shape.REGION else 0)]
        op = self.cls.create(operands=list(block.args), result_types=results, attributes=attributes, regions=regions)
        return op, block

    def _result_counts(self, slots: Sequence[Slot]) -> list[tuple[Slot, int]]:
        """Returns how many results there are of each kind: those that are always there, and others as far as wanted."""
        needed = sum(slot.arity == "1" for slot in slots)
        wanted = self.results or max(needed, 1)
        more = max(wanted - needed, 0)
        found: list[tuple[Slot, int]] = []
        for slot in slots:
            number = 1 if slot.arity == "1" else more if slot.arity == "*" else min(more, 1)
            more -= 0 if slot.arity == "1" else number
            found.append((slot, number))
        return found

    def _snippet(self, op: Operation, block: Block) -> str | None:
        """Returns the printed operation as a snippet."""
        for position, argument in enumerate(block.args):
            argument.name_hint = f"p{position}_"
        for number, result in enumerate(op.results):
            result.name_hint = f"p{len(self.chosen) + number}_"
        block.add_op(op)
        function = FuncOp("f", FunctionType.from_lists([value.type for value in self.chosen], []), Region(block))
        printed = print_module(ModuleOp([function]))
        text = printed.partition("{\n")[2].partition("{\n")[2].rpartition("}")[0].rpartition("}")[0].strip()
        is_refused = f'"{self.cls.name}"' in text and not self.takes_generic
        if is_refused or self.results not in (0, len(op.results)):
            return None
        if self.results and op.results:
            text = text.partition(" = ")[2]
        names = free_names(self.cls.name.rpartition(".")[2], self.scope, len(op.results))
        return _snippet(text, [*(value.name for value in self.chosen), *names])

    def _writes_operand(self, slots: Sequence[Slot]) -> bool:
        """Returns whether the usual form of the operation has its destination among the operands."""
        dst = next((slot for slot in slots if slot.name == "dst"), None)
        if self.results and signature(self.cls).results:
            return False
        return dst is not None and (dst.arity != "?" or op_spec(self.cls).shape.name.startswith("DPS"))

    def _operand(self, slot: Slot, position: int) -> Typed:
        fitting = [value for value in self.scope if slot.kind.accepts(value.type)]
        if slot.kind.label == "a tile or view":
            wanted = "view" if slot.name in _VIEWS.get(self.cls.name, ()) else "tile"
            fitting.sort(key=lambda value: wanted not in type_text(value.type))
            if (
                fitting
                and wanted not in type_text(fitting[0].type)
                and any(wanted in type_text(kind) for kind in self.types)
            ):
                fitting = []
            like = next((one.type for one in self.chosen if wanted in type_text(one.type)), None)
            if like is not None:
                fitting.sort(key=lambda value: value.type != like)
        if fitting:
            same = [value for value in fitting if value.type == fitting[0].type]
            taken = [value.name for value in self.chosen]
            return next((value for value in same if value.name not in taken), same[0])
        kind = next((one for one in self.types if slot.kind.accepts(one) and suits(self.cls, slot, one)), None)
        if kind is None:
            raise LookupError(slot.name)
        name = f"%{slot.name}" + (str(position) if slot.arity == "*" else "")
        taken = {value.name for value in self.scope}
        return Typed(next(one for one in (name, *free_names(slot.name, self.scope, 1)) if one not in taken), kind)

    def _result(self, slot: Slot) -> Attribute:
        near = [value.type for value in (*self.chosen, *self.scope)]
        begin = _RESULTS.get(self.cls.name, "")
        kinds = (kind for kind in (*near, *self.types) if slot.kind.accepts(kind))
        return next(kind for kind in kinds if type_text(kind).startswith(begin))

    def _attributes(self) -> dict[str, Attribute]:
        found: dict[str, Attribute] = {}
        for name, slot in signature(self.cls).attributes.items():
            if slot.arity != "1":
                continue
            if slot.kind.enums:
                spec = ENUMS[slot.kind.enums[0]]
                usual = _ENUMERATORS.get(name.upper())
                value = next((one for one in spec.values if one == usual), next(iter(spec.values)))
                found[name] = EnumAttr((slot.kind.enums[0], value))
            elif slot.kind.words:
                found[name] = StringAttr(slot.kind.words[0])
            elif slot.kind.integer is not None:
                found[name] = IntegerAttr(0, slot.kind.integer)
        return found


class _Copied(_Builder):
    """An operation as its example in the documentation has it, with values in scope of the same types."""

    takes_generic = True

    def _operation(self) -> tuple[Operation, Block]:
        op = _in_example(self.cls.name)
        for operand in op.operands:
            taken = [value.name for value in self.chosen]
            like = [value for value in self.scope if value.type == operand.type and value.name not in taken]
            name = f"%{operand.name_hint or f'operand{len(taken)}'}"
            self.chosen.append(like[0] if like else Typed(name, operand.type))
        block = Block(arg_types=[value.type for value in self.chosen])
        return op.clone(dict(zip(op.operands, block.args, strict=True))), block


@cache
def _in_example(name: str) -> Operation:
    """Returns the operation ``name`` in its example."""
    module = parse_program(SourceFile("example.pto", example_of(name).program), DiagnosticEngine(DiagnosticOptions()))
    assert module is not None
    return next(op for op in walk(module) if isinstance(op, op_class(name)))


def plain(snippet: str) -> str:
    """Returns what a snippet is before its stops are filled in."""
    return re.sub(r"\\(.)", r"\1", re.sub(r"(?<!\\)\$(?:\{\d+:((?:[^\\}]|\\.)*)\}|\d+)", r"\1", snippet))


def _snippet(text: str, names: Sequence[str]) -> str:
    """Returns a printed statement with a stop at each operand and result; empty regions get the last stop."""
    parts: list[str] = []
    last = 0
    for number, match in enumerate(_MARK.finditer(text), 1):
        parts.append(escaped(text[last : match.start()]))
        parts.append(f"${{{number}:{escaped(names[int(match[1])])}}}")
        last = match.end()
    parts.append(escaped(text[last:]))
    made = "".join(parts)
    return re.sub(r"\{\s*\\\}$", "{\n  $0\n\\}", made)
