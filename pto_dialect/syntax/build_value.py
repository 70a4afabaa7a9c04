"""Statement builders for the value forms of tile operations: Level 1 (SSA) and the assembly form.

``%c = pto.tmatmul %a, %b : (T, T) -> T`` and ``%c = tmatmul %a, %b`` become the same operation as the
destination-passing form, without a destination operand and with a result instead.

Source: level-1 page, sections 2 and 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

from ..ir import types as t
from ..ir.base import PtoOp, Shape, Slot, op_spec, signature
from ..ir.registry import op_class
from .attribute_parser import number_of
from .build_core import core_class
from .build_error import at
from .build_pto import Groups, Operands, text_slots
from .build_tile import TileBuilder
from .builder import UNKNOWN, Stated, statement
from .text import number_attribute
from .tile_inputs import MERGE_SORT, MERGE_SORT_SOURCES, READ_MODIFY_WRITE, fitting_slots, merge_sort_inputs
from .tokens import Tok
from .type_parser import intern_type

MEMORY_DESTINATION = frozenset(("pto.tstore", "pto.tstore_fp", "pto.mscatter"))
"""Operations whose last value-form operand is the memory they write."""

_GAP = 80
"""Characters before an operation in which the end of its result list is looked for."""

ACCUMULATOR = {"i8": t.I32, "si8": t.I32, "ui8": t.I32}


class ValueBuilder(TileBuilder):
    """Builders of the value forms."""

    def value_operands(self, items: list[Any]) -> list[Any]:
        return [items[0]]

    def more_operands(self, items: list[Any]) -> list[Any]:
        return [*items[0], items[2]]

    def value_operand(self, items: list[Any]) -> tuple[Tok, list[Tok]]:
        return items[0], items[1] if len(items) > 1 else []

    @statement
    def value_form(self, items: list[Any]) -> Operation:
        token, parts, attributes, signature_part = items
        cls = self.pto_class(token)
        operands = Operands()
        literals: dict[SSAValue, Tok] = {}
        for use, indices in parts:
            if use.type == "HASH":
                raise at(use, "parse-syntax", f"{use.text} is not supported as an operand")
            if use.type in ("INTEGER", "FLOAT"):
                literal = self.literal_constant(use)
                literals[literal] = use
                operands.add(use, [literal])
                continue
            values = self.use(use)
            if indices and self.is_memory(values[-1]):
                values = [*values[:-1], self.window(token, values[-1], indices, signature_part)]
                indices = []
            elif indices and self.schematic and cls.name in (*MEMORY_DESTINATION, "pto.tload"):
                # A memory operand that the snippet does not define.
                indices = []
            operands.add(use, values)
            for index in indices:
                if index.type == "USES":
                    operands.add(index, self.use(index))
                else:
                    operands.add(index, [self.literal_constant(index)])
        spec = op_spec(cls)
        destination_first = None if self.has_results(token) else self.destination_first(cls, operands)
        if destination_first is not None:
            operands.values.pop(0)
        slots = [s for s in text_slots(cls) if s.name not in spec.outs or cls.name in MEMORY_DESTINATION]
        if cls.name == MERGE_SORT:
            groups = merge_sort_inputs(operands.values, len(operands.values) > MERGE_SORT_SOURCES)
        else:
            by_kind = spec.shape is Shape.DPS_MASK
            chosen = fitting_slots(slots, operands.values) if by_kind else slots
            groups = self.value_groups(cls, token, chosen, operands)
        inputs, results = self.value_types(cls, token, operands, signature_part, destination_first is not None)
        if inputs is not None:
            wrong: list[Stated] = []
            for position, (value, stated) in enumerate(zip(operands.values, inputs, strict=False)):
                if value in literals and value.type is not stated:
                    self.retype_literal(value, literals[value], stated)
                if value.type is not stated and not isinstance(value.type, t.PartitionViewType):
                    wrong.append((value, stated, *operands.place(position)))
            if wrong:
                self.check_types(wrong)
        if results is None:
            results = self.inferred_results(cls, token, groups)
        op = self.assemble(cls, token, groups, results, attributes)
        if destination_first is not None and op.results:
            self.define_destination(op, destination_first)
        return op

    def value_groups(self, cls: type[PtoOp], token: Tok, slots: Sequence[Slot], operands: Operands) -> Groups:
        """Gives each input its values; one more than is required is the old tile of a read-modify-write."""
        required = sum(slot.arity == "1" for slot in slots)
        if cls.name not in READ_MODIFY_WRITE or len(operands.values) <= required:
            return self.distribute(token, slots, operands)
        destination = next(slot for slot in text_slots(cls) if slot.name in op_spec(cls).outs)
        # The old tile is always there in this form, what stands before it may be absent.
        return self.distribute(token, [*slots, replace(destination, arity="1")], operands)

    # ------------------------------------------------------------ types

    def value_types(
        self, cls: type[PtoOp], token: Tok, operands: Operands, signature_part: Any, has_destination: bool
    ) -> tuple[list[Attribute] | None, list[Attribute] | None]:
        """Stated operand and result types; ``None`` for what is not stated."""
        if signature_part is None:
            return None, None
        if self.is_schematic(signature_part):
            return None, self.schematic_results(cls)
        inputs_part, outputs = signature_part
        inputs = self.type_list(inputs_part) if inputs_part is not None else []
        number = len(operands.values)
        if has_destination and len(inputs) == number + 1:
            # The list may name the type of the destination, which stands first, as well.
            inputs = inputs[1:]
        if outputs is not None:
            if len(inputs) == 1 and number > 1:
                inputs = inputs * number
            elif len(inputs) != number:
                memory = sum(isinstance(v.type, t.PartitionViewType) for v in operands.values)
                if not (memory and len(inputs) == number + 2 * memory):
                    raise at(
                        inputs_part if inputs_part is not None else token,
                        "parse-type-count",
                        f"{number} operands but {len(inputs)} types",
                    )
                inputs = None
            return inputs, self.types_of(outputs)
        if len(inputs) == 1:
            single = inputs[0]
            tiles = [v for v in operands.values if isinstance(v.type, t.TileType) or v.type is UNKNOWN]
            same = [single] * number if len(tiles) == number else None
            return same, [single] if self.tile_results(cls) else None
        tile = next((type_ for type_ in inputs if isinstance(type_, (t.TileType, t.OpaqueType))), None)
        results: list[Attribute] | None = [tile] if tile is not None and self.tile_results(cls) else None
        return inputs if len(inputs) == number else None, results

    def tile_results(self, cls: type[PtoOp]) -> int:
        """Number of tiles the value form of ``cls`` yields."""
        return 0 if cls.name in MEMORY_DESTINATION else len(signature(cls).results)

    def inferred_results(self, cls: type[PtoOp], token: Tok, groups: Groups) -> list[Attribute]:
        """Result types where the text states none: the shape rule of the operation, else the first tile's type."""
        if not self.tile_results(cls):
            return []
        values = [v for name in groups for v in groups[name]]
        tiles = [v.type for v in values if isinstance(v.type, t.TileType)]
        left, right = (groups.get(n) or groups.get(o) for n, o in (("lhs", "a"), ("rhs", "b")))
        if left and right and isinstance(left[0].type, t.TileType) and isinstance(right[0].type, t.TileType):
            element = ACCUMULATOR.get(t.element_name(left[0].type.element), t.F32)
            return [intern_type(t.TileType(left[0].type.rows, right[0].type.cols, element))]
        if not tiles:
            if self.schematic:
                return [t.OpaqueType("!pto.tile<...>")]
            raise at(token, "parse-missing-types", f"{token.text} needs its result type", ": (types) -> type")
        return [tiles[0]]

    # ------------------------------------------------------------ assembly details

    def is_memory(self, value: SSAValue) -> bool:
        """True for a value of the assembly form that names global memory."""
        return isinstance(value.type, (t.TensorViewType, t.AsMemRefType))

    def literal_constant(self, token: Tok) -> SSAValue:
        """A number written as an operand, as ``arith.constant``."""
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
            value._type = type_  # pyright: ignore[reportPrivateUsage]

    @staticmethod
    def _whole_float(token: Tok, type_: Attribute) -> bool:
        """True for a whole number that stands for a float."""
        return isinstance(type_, AnyFloat) and token.text.lstrip("-").isdecimal()

    def window(self, token: Tok, view: SSAValue, indices: list[Tok], signature_part: Any) -> SSAValue:
        """``%m[%r, %c]``: the part of a memory operand that starts there and has the tile's shape."""
        offsets: list[SSAValue] = []
        for index in indices:
            offsets.extend(self.use(index) if index.type == "USES" else [self.literal_constant(index)])
        tile = self.window_tile(token, signature_part)
        source = view.type
        assert isinstance(source, (t.TensorViewType, t.AsMemRefType))
        if len(offsets) != len(source.shape):
            raise at(indices[0], "op-operand-count", f"{len(source.shape)} indices expected, found {len(offsets)}")
        sizes = [self.literal_constant(Tok("INTEGER", str(n), token.start)) for n in (tile.rows, tile.cols)]
        result = intern_type(t.PartitionViewType((tile.rows, tile.cols), source.element))
        cls = op_class("pto.partition_view")
        op = self.assemble(cls, token, {"source": [view], "offsets": offsets, "sizes": sizes}, [result])
        self.scope.frame.block.add_op(op)
        return op.results[0]

    def window_tile(self, token: Tok, signature_part: Any) -> t.TileType:
        """The tile type that gives a memory window its shape."""
        if isinstance(signature_part, tuple):
            for part in signature_part:
                for type_ in self.types_of(part):
                    if isinstance(type_, t.TileType):
                        return type_
        raise at(token, "parse-missing-types", f"{token.text} with indices needs the tile type", ": (types) -> type")

    def has_results(self, token: Tok) -> bool:
        """True when names stand before the operation."""
        return self.source.text[max(0, token.start - _GAP) : token.start].rstrip().endswith("=")

    def destination_first(self, cls: type[PtoOp], operands: Operands) -> Tok | None:
        """The destination of ``op %dst, %src, .. : T``: a first operand that is not defined yet, one too many."""
        wanted = sum(s.arity == "1" and s.name not in op_spec(cls).outs for s in signature(cls).operands)
        if cls.name in MEMORY_DESTINATION or len(operands.values) <= wanted:
            return None
        if operands.values[0].type is not UNKNOWN and not self.schematic:
            return None
        token, _ = operands.tokens[0]
        name = token.text.split(",")[0].strip()
        self.scope.frame.forwards.pop(name, None)
        return Tok("USES", name, token.start)

    def define_destination(self, op: Operation, destination: Tok) -> None:
        """Names the result of a destination-first statement."""
        self.define(destination.text, op.results[0], destination.start)

    @statement
    def directive(self, items: list[Any]) -> None:
        token = items[0]
        frame = self.scope.frame
        if token.text == ".arg":
            type_ = self.one_type(items[3])
            if isinstance(type_, t.AsMemRefType):
                type_ = intern_type(t.TensorViewType(type_.shape, type_.element))
            value = frame.block.insert_arg(type_, len(frame.block.args))
            self.define(items[1].text, value, items[1].start)
            return
        name = items[1].text.rstrip("= \t\n")
        type_ = self.one_type(items[4])
        number = number_of(items[2])
        cls = core_class("arith.constant")
        assert cls is not None
        literal = Tok("FLOAT" if isinstance(number, float) else "INTEGER", str(number), items[1].start)
        value = number_attribute(literal, type_)
        op = self.create(cls, token.start, (), [type_], {}, {"value": value})
        frame.block.add_op(op)
        self.define(name, op.results[0], items[1].start)
