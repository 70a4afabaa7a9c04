"""Builders of the parts that only the assembly form has: memory operands, numbers, destinations first, keys,
directives.

Source: docs/reference/language.md, "PTO-AS assembly".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType
from xdsl.ir import Attribute, Block, Operation, SSAValue, TypedAttribute

from pto_dialect.diagnostics.remedies.order import operand_count
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.attributes import BROKEN
from pto_dialect.ir.core.base import PtoOp, Slot, op_spec, signature, stores
from pto_dialect.ir.core.registry import op_class
from pto_dialect.ir.core.suffixes import KEYS

from ..read.tokens import Tok
from ..text import number_attribute
from ..types.parser import intern_type
from .attributes import TypeRun
from .builder import POISON, UNKNOWN
from .core import core_class
from .error import at
from .pto import Operands
from .step import statement
from .tile import TileBuilder

_GAP = 80
"""Number of characters before an operation in which the end of its result list is searched."""


class AssemblyBuilder(TileBuilder):
    """Builders of the parts of value forms that only occur in assembly text."""

    # ------------------------------------------------------------ memory operands

    def is_memory(self, value: SSAValue) -> bool:
        """Returns whether a value of the assembly form names global memory."""
        return isinstance(value.type, (t.TensorViewType, t.AsMemRefType))

    def window(self, token: Tok, view: SSAValue, indices: list[Tok], tile: t.TileType) -> SSAValue:
        """Builds ``%m[%r, %c]``: the part of a memory operand that starts there and has the shape of ``tile``."""
        source = view.type
        assert isinstance(source, (t.TensorViewType, t.AsMemRefType))
        offsets: list[SSAValue] = []
        for index in indices:
            offsets.extend(self.use(index) if index.type == "USES" else [self.literal_constant(index)])
        if len(offsets) != len(source.shape):
            message = f"{len(source.shape)} indices expected, found {len(offsets)}"
            raise at(indices[0], "op-operand-count", message, None, operand_count(len(source.shape), len(offsets)))
        return self._part(token, view, offsets, (tile.rows, tile.cols))

    def whole(self, token: Tok, view: SSAValue) -> SSAValue:
        """Builds a memory operand without indices: all of it, as far as its extents are known."""
        source = view.type
        assert isinstance(source, (t.TensorViewType, t.AsMemRefType))
        if t.DYNAMIC in source.shape:
            return view
        zeros = [self.literal_constant(Tok("INTEGER", "0", token.start)) for _ in source.shape]
        return self._part(token, view, zeros, source.shape)

    def _part(self, token: Tok, view: SSAValue, offsets: list[SSAValue], shape: Sequence[int]) -> SSAValue:
        source = view.type
        assert isinstance(source, (t.TensorViewType, t.AsMemRefType))
        sizes = [self.literal_constant(Tok("INTEGER", str(n), token.start)) for n in shape]
        result = intern_type(t.PartitionViewType(tuple(shape), source.element))
        cls = op_class("pto.partition_view")
        op = self.assemble(cls, token, {"source": [view], "offsets": offsets, "sizes": sizes}, [result])
        self.scope.frame.block.add_op(op)
        return op.results[0]

    def window_tile(self, token: Tok, signature_part: Any, values: list[SSAValue]) -> t.TileType:
        """Returns the tile type that gives a memory window its shape: a stated one, otherwise that of an operand."""
        if isinstance(signature_part, tuple):
            for part in signature_part:
                for type_ in self.types_of(part):
                    if isinstance(type_, t.TileType):
                        return type_
        for value in values:
            if isinstance(value.type, t.TileType):
                return value.type
        raise at(token, "parse-missing-types", f"{token.text} with indices needs the tile type", ": (types) -> type")

    # ------------------------------------------------------------ numbers

    def literal_constant(self, token: Tok) -> SSAValue:
        """Builds a number written as an operand, as ``arith.constant``."""
        cls = core_class("arith.constant")
        assert cls is not None
        type_ = t.INDEX if token.type == "INTEGER" else t.F32
        value = number_attribute(token, type_)
        op = self.create(cls, token.start, (), [type_], {}, {"value": value})
        self.scope.frame.block.add_op(op)
        return op.results[0]

    def retype_literal(self, value: SSAValue, token: Tok, type_: Attribute) -> None:
        """Gives the constant of a number written as an operand the type that the statement states for it."""
        op = value.owner
        if isinstance(op, Operation) and isinstance(type_, (IntegerType, IndexType, AnyFloat)):
            number = Tok("FLOAT", f"{token.text}.0", token.start) if self._whole_float(token, type_) else token
            op.properties["value"] = number_attribute(number, type_)
            value._type = type_

    @staticmethod
    def _whole_float(token: Tok, type_: Attribute) -> bool:
        """Returns whether an integer literal represents a float."""
        return isinstance(type_, AnyFloat) and token.text.lstrip("-").isdecimal()

    def literal_type(self, slot: Slot, operands: Operands) -> Attribute | None:
        """Returns the type of a number for which the statement states none: index in the position of an index,
        otherwise the tiles' element, or i32 where no tile has one."""
        if slot.kind.accepts(t.INDEX):
            return None
        tiles = (value.type for value in operands.values if isinstance(value.type, t.TileType))
        elements = (*(tile.element for tile in tiles), t.I32)
        return next((element for element in elements if slot.kind.accepts(element)), None)

    # ------------------------------------------------------------ keys

    def assembly_key(self, items: list[Any]) -> tuple[Tok, Tok]:
        """Returns a name and its value in the braces of a directive."""
        return items[0], items[1]

    def assembly_keys(self, token: Tok, cls: type[PtoOp], keys: list[Any], attributes: dict[str, Attribute]) -> None:
        """Adds the attributes that ``#key=value`` after the operands state."""
        slots = signature(cls).attributes
        for key, word in keys:
            spelled = key.text.strip("#= \t\n")
            name, prefix = KEYS.get(spelled, (spelled, ""))
            if name not in slots or not slots[name].kind.enums:
                raise at(key, "parse-syntax", f"{token.text} takes no #{spelled}=")
            if name in attributes:
                raise at(key, "parse-clause-duplicate", f"{name} is given twice")
            value = Tok(word.type, f"{prefix}{word.text}", word.start)
            attributes[name] = self.token_attribute(cls, name, value)

    # ------------------------------------------------------------ destinations first

    def has_results(self, token: Tok) -> bool:
        """Returns whether names precede the operation."""
        return self.source.text[max(0, token.start - _GAP) : token.start].rstrip().endswith("=")

    def destination_first(self, cls: type[PtoOp], operands: Operands) -> Tok | None:
        """Returns the destination of ``op %dst, %src, .. : T``: a first operand that is not defined yet,
        one too many."""
        wanted = sum(s.arity == "1" and s.name not in op_spec(cls).outs for s in signature(cls).operands)
        if stores(cls) or len(operands.values) <= wanted:
            return None
        if operands.values[0].type is not UNKNOWN and not self.schematic:
            return None
        token = operands.drop_first()
        name = token.text.split(",")[0].strip()
        self.scope.frame.forwards.pop(name, None)
        return Tok("USES", name, token.start)

    def define_destination(self, op: Operation, destination: Tok) -> None:
        """Names the result of a destination-first statement."""
        self.define(destination.text, op.results[0], destination.start)

    # ------------------------------------------------------------ directives

    @statement
    def directive(self, items: list[Any]) -> None:
        """Builds ``.arg`` or ``.const``: an argument of the function around the statements, or a constant."""
        token = items[0]
        frame = self.scope.frame
        stated = items[1]
        names = [name.strip() for name in stated.text.rstrip("= \t\n").split(",")]
        if len(names) > 1:
            message = f"{token.text} names one value, found {', '.join(names)}"
            self.report("parse-syntax", message, stated.start, stated.end, "write a line for each")
        if token.text == ".arg":
            type_ = self.one_type(items[3])
            if isinstance(type_, t.AsMemRefType):
                type_ = intern_type(t.TensorViewType(type_.shape, type_.element))
            for name in names:
                self.define(name, frame.block.insert_arg(type_, len(frame.block.args)), stated.start)
            return
        number = items[2]
        if isinstance(number, TypeRun):
            self.report("parse-type-count", f"{token.text} takes one type", stated.start, stated.end)
            number = BROKEN
        value: SSAValue
        if not isinstance(number, TypedAttribute):
            value = Block(arg_types=[POISON]).args[0]
        else:
            cls = core_class("arith.constant")
            assert cls is not None
            op = self.create(cls, token.start, (), [intern_type(number.get_type())], {}, {"value": number})
            frame.block.add_op(op)
            value = op.results[0]
        for name in names:
            self.define(name, value, stated.start)
