"""Statement builders for the value forms of tile operations: Level 1 (SSA) and the assembly form.

``%c = pto.tmatmul %a, %b : (T, T) -> T`` and ``%c = tmatmul %a, %b`` become the same operation as the
destination-passing form, without a destination operand and with a result instead.

Source: docs/reference/language.md, "Level 1 and Level 2".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.diagnostics.remedies.types import missing_types, types_of_operands
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import PtoOp, Shape, Slot, op_spec, signature, stores, takes_lists
from pto_dialect.ir.core.roles import Role

from ..read.tokens import Tok
from ..tile_inputs import MERGE_SORT_SOURCES, fitting_slots, merge_sort_inputs
from ..types.parser import intern_type
from .assembly import AssemblyBuilder
from .builder import POISON, UNKNOWN, Stated
from .error import at
from .pto import Groups, Operands, text_slots
from .step import statement

ACCUMULATOR = {"i8": t.I32, "si8": t.I32, "ui8": t.I32}


class Written:
    """The operands of a value form as they are written.

    ``indices`` are the positions of those between brackets after a tile, which the type list omits; ``unread`` counts
    indices of undefined memory; ``literals`` are numbers.
    """

    __slots__ = ("indices", "literals", "operands", "unread")

    def __init__(self) -> None:
        self.operands = Operands()
        self.indices: list[int] = []
        self.unread = 0
        self.literals: dict[SSAValue, Tok] = {}

    def tiles_of(self, type_: Attribute) -> list[Attribute | None]:
        """Returns the one stated type for every tile; scalars have types of their own."""
        return [
            type_ if isinstance(value.type, t.TileType | t.OpaqueType) and place not in self.indices else None
            for place, value in enumerate(self.operands.values)
        ]

    def with_indices(self, types: list[Attribute]) -> list[Attribute]:
        """Returns ``types`` with the index type at the position of every index."""
        rest = iter(types)
        values = self.operands.values
        return [
            (t.INDEX if values[place].type is UNKNOWN else values[place].type) if place in self.indices else next(rest)
            for place in range(len(values))
        ]


class ValueBuilder(AssemblyBuilder):
    """Builders of the value forms."""

    def more_operands(self, items: list[Any]) -> list[Any]:
        """Returns a further operand of a value form."""
        return [*items[0], items[2]]

    def value_operand(self, items: list[Any]) -> tuple[Tok, list[Tok]]:
        """Returns ``%a[..]`` with its indices."""
        return items[0], items[1] if len(items) > 1 else []

    @statement
    def value_form(self, items: list[Any]) -> Operation:
        """``%r = op %a, .. : (types) -> type``: a tile operation that returns its result as a value."""
        token, parts, *keys, attributes, signature_part = items
        cls = self.pto_class(token)
        memory_first = self.suffix_words(token, cls, attributes) and stores(cls)
        self.assembly_keys(token, cls, keys, attributes)
        written = self.written_operands(token, cls, parts, signature_part)
        operands = written.operands
        spec = op_spec(cls)
        first = None if self.has_results(token) else self.destination_first(cls, operands)
        if first is not None:
            written.indices = [place - 1 for place in written.indices]
        slots = [s for s in text_slots(cls) if s.name not in spec.outs or stores(cls)]
        if memory_first:
            slots = [*slots[-1:], *slots[:-1]]
        if takes_lists(cls):
            groups = merge_sort_inputs(operands.values, len(operands.values) > MERGE_SORT_SOURCES)
        else:
            by_kind = spec.shape is Shape.DPS_MASK
            chosen = fitting_slots(slots, operands.values) if by_kind else slots
            groups = self.value_groups(cls, token, chosen, operands)
        inputs, results = self.value_types(cls, token, written, signature_part, first is not None)
        self.check_inputs(written, inputs)
        self.type_literals(cls, written, groups)
        if results is None:
            results = self.inferred_results(cls, token, groups)
        op = self.assemble(cls, token, groups, results, attributes)
        if first is not None and op.results:
            self.define_destination(op, first)
        return op

    def written_operands(self, token: Tok, cls: type[PtoOp], parts: list[Any], signature_part: Any) -> Written:
        """Returns the operands of a statement in text order: windows of memory, numbers, tiles with their indices."""
        written = Written()
        operands = written.operands
        for use, indices in parts:
            if use.type == "HASH":
                raise at(use, "parse-syntax", f"{use.text} is not supported as an operand")
            if use.type in ("INTEGER", "FLOAT"):
                literal = self.literal_constant(use)
                written.literals[literal] = use
                operands.add(use, [literal])
                continue
            values = self.use(use)
            if indices and self.is_memory(values[-1]):
                tile = self.window_tile(token, signature_part, [*operands.values, *values])
                values = [*values[:-1], self.window(token, values[-1], indices, tile)]
                indices = []
            elif indices and self.schematic and (stores(cls) or op_spec(cls).roles & Role.TILE_LOAD):
                # A memory operand that the snippet does not define.
                written.unread = sum(index.text.count(",") + 1 for index in indices)
                indices = []
            elif indices and values[-1].type is POISON:
                # A memory operand with an incorrect definition: the meaning of its indices is unknown.
                indices = []
            elif self.text.assembly:
                values = [self.whole(token, value) if self.is_memory(value) else value for value in values]
            operands.add(use, values)
            for index in indices:
                found = self.use(index) if index.type == "USES" else [self.literal_constant(index)]
                written.indices += range(len(operands.values), len(operands.values) + len(found))
                operands.add(index, found)
        return written

    def check_inputs(self, written: Written, inputs: Sequence[Attribute | None]) -> None:
        """Compares the operands with their stated types; numbers get theirs."""
        wrong: list[Stated] = []
        operands, literals = written.operands, written.literals
        for position, (value, stated) in enumerate(zip(operands.values, inputs, strict=False)):
            if stated is None:
                continue
            if value in literals:
                self.retype_literal(value, literals.pop(value), stated)
            if value.type is not stated and not isinstance(value.type, t.PartitionViewType):
                wrong.append((value, stated, *operands.place(position)))
        if wrong:
            self.check_types(wrong)

    def type_literals(self, cls: type[PtoOp], written: Written, groups: Groups) -> None:
        """Gives numbers without a stated type the type that their position requires."""
        slots = {slot.name: slot for slot in text_slots(cls)}
        for name, values in groups.items():
            for value in values:
                if value in written.literals:
                    type_ = self.literal_type(slots[name], written.operands)
                    if type_ is not None:
                        self.retype_literal(value, written.literals[value], type_)

    def value_groups(self, cls: type[PtoOp], token: Tok, slots: Sequence[Slot], operands: Operands) -> Groups:
        """Assigns values to each input; one more than required is the old tile of a read-modify-write."""
        required = sum(slot.arity == "1" for slot in slots)
        if not op_spec(cls).in_place or len(operands.values) <= required:
            return self.distribute(token, slots, operands)
        destination = next(slot for slot in text_slots(cls) if slot.name in op_spec(cls).in_place)
        # The old tile is always present in this form, the inputs before it may be absent.
        return self.distribute(token, [*slots, replace(destination, arity="1")], operands)

    # ------------------------------------------------------------ types

    def value_types(
        self, cls: type[PtoOp], token: Tok, written: Written, signature_part: Any, has_destination: bool
    ) -> tuple[Sequence[Attribute | None], list[Attribute] | None]:
        """Returns stated operand and result types: ``None`` for those that the text omits."""
        if signature_part is None:
            return (), None
        if self.is_schematic(signature_part):
            return (), self.schematic_results(cls, token)
        inputs_part, outputs = signature_part
        inputs = self.type_list(inputs_part) if inputs_part is not None else []
        operands = written.operands
        number = len(operands.values)
        destination: Attribute | None = None
        if has_destination and len(inputs) in (number + 1, number + 1 - len(written.indices)):
            # The list may also name the type of the destination, which is first.
            destination, *inputs = inputs
        if written.indices and len(inputs) == number - len(written.indices):
            inputs = written.with_indices(inputs)
        if outputs is not None:
            if len(inputs) == 1 and number > 1:
                return written.tiles_of(inputs[0]), self.types_of(outputs)
            if len(inputs) == number + written.unread:
                inputs = inputs[:number]
            elif len(inputs) != number:
                memory = sum(isinstance(v.type, t.PartitionViewType) for v in operands.values)
                if not (memory and len(inputs) == number + 2 * memory):
                    raise at(
                        inputs_part if inputs_part is not None else token,
                        "parse-type-count",
                        f"{number} operands but {len(inputs)} types",
                        None,
                        types_of_operands(),
                    )
                inputs = []
            return inputs, self.types_of(outputs)
        if len(inputs) == 1 and destination is None:
            return written.tiles_of(inputs[0]), inputs if self.tile_results(cls) else None
        if destination is None and len(inputs) == number:
            # All of them are those of operands.
            return inputs, None
        known = inputs if destination is None else [destination]
        tile = next((type_ for type_ in known if isinstance(type_, (t.TileType, t.OpaqueType))), None)
        results: list[Attribute] | None = [tile] if tile is not None and self.tile_results(cls) else None
        return inputs if len(inputs) == number else (), results

    def tile_results(self, cls: type[PtoOp]) -> int:
        """Returns the number of tiles the value form of ``cls`` yields."""
        return 0 if stores(cls) else len(signature(cls).results)

    def inferred_results(self, cls: type[PtoOp], token: Tok, groups: Groups) -> list[Attribute]:
        """Returns the result types where the text states none: the shape rule of the operation, otherwise the first
        tile's type."""
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
            raise at(
                token,
                "parse-missing-types",
                f"{token.text} needs its result type",
                ": (types) -> type",
                missing_types(),
            )
        return [tiles[0]]
