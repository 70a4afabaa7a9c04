"""Statement builders for allocation, views, regions, cross-core pipes, communication and launch."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, i64
from xdsl.ir import Attribute, Operation

from pto_dialect.analysis.constants import constant_of
from pto_dialect.diagnostics.remedies.names import replace
from pto_dialect.diagnostics.remedies.order import operand_count
from pto_dialect.diagnostics.wording import count
from pto_dialect.ir.clauses import clauses_of
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import PtoOp, signature
from pto_dialect.ir.core.clauses import Form

from ..read.tokens import Tok, integer
from ..text import signed_integer, symbol
from ..types.parser import intern_type
from .builder import RegionStart
from .error import at, suggest_word
from .groups import GroupReading
from .memory import is_isolated
from .pto import Groups, Operands, text_slots, typed_names
from .step import header, statement
from .tile import Input
from .value import ValueBuilder


class StructureBuilder(ValueBuilder):
    """Builders of structural statements."""

    # ------------------------------------------------------------ tiles and views

    @statement
    def alloc(self, items: list[Any]) -> Operation:
        """``pto.alloc_tile addr = %a .. : type``."""
        token, keyed, attributes, _, types = items
        cls = self.pto_class(token)
        names = [slot.name for slot in signature(cls).operands]
        groups: Groups = {}
        for key, use in keyed:
            if key.text not in names:
                raise at(
                    key, "parse-syntax", f"{token.text} has no operand {key.text!r}", *suggest_word(key.text, names)
                )
            if key.text in groups:
                raise at(key, "parse-clause-duplicate", f"{key.text} is given twice")
            groups[key.text] = [self.one_use(use)]
        return self.assemble(cls, token, groups, [self.one_type(types)], attributes)

    @statement
    def view_lists(self, items: list[Any]) -> Operation:
        """``op %a, shape = [..], strides = [..]``: lists of sizes by name."""
        token, source, _, first_key, _, first, _, second_key, _, second, attributes, _, types = items[:13]
        cls = self.pto_class(token)
        source_name, first_name, second_name = (slot.name for slot in signature(cls).operands)
        for key, name in ((first_key, first_name), (second_key, second_name)):
            if key.text != name:
                raise at(key, "parse-syntax", f"expected {name} = [..], found {key.text!r}", None, replace(None, name))
        groups: Groups = {
            first_name: self._indices_of(first),
            second_name: self._indices_of(second),
        }
        stated = self.one_type(types)
        view = self.one_use(source)
        groups[source_name] = [view]
        if source_name not in typed_names(cls):
            return self.assemble(cls, token, groups, [stated], attributes)
        self.check_type(view, stated, source, 0)
        result = self.one_type(items[14]) if len(items) > 13 else self._partition_type(stated, groups["sizes"])
        return self.assemble(cls, token, groups, [result], attributes)

    def _indices_of(self, entries: list[Tok]) -> list[Any]:
        values: list[Any] = []
        for entry in entries:
            if entry.type != "USES":
                values.append(self.literal_constant(entry))
            else:
                values.extend(self.use(entry))
        return values

    def _partition_type(self, source: Attribute, sizes: list[Any]) -> Attribute:
        self.dependent += 1
        element = source.element if isinstance(source, t.ShapedView) else t.F32
        dims: list[int] = []
        for size in sizes:
            known = constant_of(size)
            dims.append(known if isinstance(known, int) else t.DYNAMIC)
        return intern_type(t.PartitionViewType(dims, element))

    @statement
    def subview(self, items: list[Any]) -> Operation:
        """``pto.subview %t[%i, %j] sizes [..]``."""
        token, source, offsets, _, sizes, valid, attributes, _, types = items[:9]
        cls = self.pto_class(token)
        stated = self.one_type(types)
        groups: Groups = {
            "source": self.use_typed(source, [stated], types),
            "offsets": self._indices_of(offsets),
        }
        if valid is not None:
            values = self.use(valid)
            if len(values) != 2:
                raise at(valid, "op-operand-count", f"valid takes 2 values, found {len(values)}")
            groups["valid_row"], groups["valid_col"] = [values[0]], [values[1]]
        numbers: list[int] = []
        for entry in sizes:
            if entry.type != "INTEGER":
                raise at(entry, "parse-syntax", "sizes of a subview are integers")
            numbers.append(signed_integer(entry))
        attributes["sizes"] = ArrayAttr([IntegerAttr(n, i64) for n in numbers])
        typed = len(items) > 9
        result = self.one_type(items[10]) if typed else self._subview_type(token, stated, numbers, groups)
        return self.assemble(cls, token, groups, [result], attributes)

    def _subview_type(self, token: Tok, source: Attribute, sizes: list[int], groups: Groups) -> Attribute:
        if not isinstance(source, (t.TileBufType, t.TileType)) or len(sizes) != 2:
            raise at(token, "parse-missing-types", "the result type of this subview cannot be inferred", "-> type")
        if min(sizes) <= 0:
            raise at(token, "subview-form", f"sizes of a subview are positive, found {sizes[0]}x{sizes[1]}")
        if isinstance(source, t.TileType):
            return intern_type(t.TileType(sizes[0], sizes[1], source.element))
        self.dependent += 1
        valid: list[int] = []
        parent = (source.valid_rows, source.valid_cols)
        for name, size, whole, offset in zip(
            ("valid_row", "valid_col"), sizes, parent, groups["offsets"], strict=False
        ):
            if groups.get(name):
                known = constant_of(groups[name][0])
                valid.append(min(known, size) if isinstance(known, int) else t.DYNAMIC)
                continue
            start = constant_of(offset)
            if whole != t.DYNAMIC and isinstance(start, int):
                valid.append(max(0, min(size, whole - start)))
            else:
                valid.append(size)
        return intern_type(source.replace(rows=sizes[0], cols=sizes[1], valid=(valid[0], valid[1])))

    @statement
    def dim_query(self, items: list[Any]) -> Operation:
        """``op %v, %i : T -> R``."""
        token, uses, _, types, _, result, attributes = items
        cls = self.pto_class(token)
        operands = Operands()
        operands.add(uses, self.use(uses))
        groups = self.distribute(token, text_slots(cls), operands)
        self.check_stated(cls, groups, operands, self.type_list(types), types)
        return self.assemble(cls, token, groups, self.type_list(result), attributes)

    @statement
    def retired_cast(self, items: list[Any]) -> Operation:
        """``op %a : T to T``."""
        token = items[0]
        cls = self.pto_class(token)
        operands = Operands()
        if items[1].type == "USES":
            _, uses, attributes, _, types, _, result = items
            operands.add(uses, self.use_typed(uses, self.type_list(types), types))
            groups = self.distribute(token, text_slots(cls), operands)
            return self.assemble(cls, token, groups, self.type_list(result), attributes)
        _, _, addresses, _, valid, attributes, _, result = items
        operands.add(addresses, self.use(addresses))
        groups = {"addrs": operands.values}
        if valid is not None:
            for name, value in zip(("valid_row", "valid_col"), self.use(valid), strict=False):
                groups[name] = [value]
        return self.assemble(cls, token, groups, self.type_list(result), attributes)

    # ------------------------------------------------------------ regions

    @header
    def region_header(self, items: list[Any]) -> Any:
        """Reads the name of an operation with a region, its captures, and its sizes."""
        token = items[0]
        captures = next((item for item in items[1:] if isinstance(item, Tok) and item.type == "USES"), None)
        dims = items[2] if len(items) > 2 and isinstance(items[2], list) else []
        values = self.use(captures) if captures is not None else []
        self.pending = RegionStart(isolated=is_isolated(token.text))
        return token, captures, values, dims

    @statement
    def region_op(self, items: list[Any]) -> Operation:
        """An operation with a region of its own."""
        (token, captures, values, dims), region, attributes, *tail = items
        cls = self.pto_class(token)
        groups: Groups = {}
        results: list[Attribute] = []
        if captures is not None:
            groups["captures"] = values
        if dims:
            if len(dims) != 3:
                raise at(token, "op-operand-count", f"{token.text} takes 3 launch sizes, found {len(dims)}")
            for name, size in zip(("dimX", "dimY", "dimZ"), dims, strict=True):
                value = integer(size.text)
                if not -(1 << 31) <= value < 1 << 31:
                    raise at(size, "literal-range", f"{name} of {token.text} is an i32, found {value}")
                attributes[name] = IntegerAttr(value, 32)
        if tail:
            part = tail[1]
            if isinstance(part, tuple):
                if captures is not None:
                    self.use_typed(captures, self.types_of(part[0]), part[0])
                results = self.types_of(part[1])
            else:
                results = self.type_list(part)
        return self.assemble(cls, token, groups, results, attributes, [region])

    @statement
    def region_yield(self, items: list[Any]) -> Operation:
        """The end of such a region, with its values."""
        token, _, uses, _, attributes, _, (inputs, _) = items
        cls = self.pto_class(token)
        values = self.use_typed(uses, self.types_of(inputs), inputs) if uses is not None else []
        return self.assemble(cls, token, {signature(cls).operands[0].name: values}, (), attributes)

    # ------------------------------------------------------------ pipes, communication, launch

    def two_dicts(self, items: list[Any]) -> dict[str, Attribute]:
        """Returns two dictionaries of one statement, joined."""
        return {**items[0], **items[1]}

    def named_uses(self, items: list[Any]) -> tuple[Tok, Tok, dict[str, Attribute]]:
        """Returns ``word(%x) {..}`` after the operands."""
        return items[0], items[2], items[4]

    def field_attributes(self, cls: Any, fields: dict[str, Attribute]) -> dict[str, Attribute]:
        """Fields of a ``{..}`` list under their attribute names (``auto`` is stored as ``autoAlloc``)."""
        known = signature(cls).attributes
        renamed = {"auto": "autoAlloc", "name": "sym_name"}
        return {
            (renamed[key] if key not in known and renamed.get(key) in known else key): value
            for key, value in fields.items()
        }

    @statement
    def paren(self, items: list[Any]) -> Operation:
        """``op(%a, .. : types)``."""
        token = items[0]
        fields, subblock, result = items[-3:]
        cls = self.pto_class(token)
        operands = Operands()
        if len(items) > 4:
            part = items[2]
            if isinstance(part, Tok):
                operands.add(part, self.use(part))
            else:
                for entry in part:
                    operands.add(entry.uses, self.use_typed(entry.uses, self.type_list(entry.types), entry.types))
        slots = [slot for slot in text_slots(cls) if slot.name != "aiv_subblockid"]
        groups = self.distribute(token, _first_optional(slots, len(operands.values)), operands)
        if subblock is not None:
            word, use, later = subblock
            fields = {**fields, **later}
            if word.text != "aiv_subblockid" or word.text not in {s.name for s in text_slots(cls)}:
                near = suggest_word(word.text, ["aiv_subblockid"])
                raise at(word, "parse-syntax", f"unexpected {word.text!r} after {token.text}", *near)
            groups["aiv_subblockid"] = [self.one_use(use)]
        results = self.types_of(result) if isinstance(result, Tok) else []
        return self.assemble(cls, token, groups, results, self.field_attributes(cls, fields))

    def named_typed(self, items: list[Any]) -> tuple[Tok | None, Input]:
        """``name = %x : type``, or an operand with its type alone."""
        return (items[0], items[2]) if len(items) > 1 else (None, items[0])

    @statement
    def pipe_init(self, items: list[Any]) -> Operation:
        """The set-up of a queue: fields, then operands."""
        token, fields = items[0], items[1]
        attributes, result = items[-2], items[-1]
        cls = self.pto_class(token)
        groups: Groups = {}
        slots = [slot for slot in text_slots(cls)]
        names = [slot.name for slot in slots]
        position = 0
        for entry in items[3:-3]:
            if not isinstance(entry, tuple):
                continue
            key, given = entry
            values = self.use_typed(given.uses, self.type_list(given.types), given.types)
            if key is not None and key.text not in names:
                raise at(
                    key, "parse-syntax", f"{token.text} has no operand {key.text!r}", *suggest_word(key.text, names)
                )
            if key is not None and key.text in groups:
                raise at(key, "parse-clause-duplicate", f"{key.text} is given twice")
            if key is None and position >= len(names):
                raise at(given.uses, "op-operand-count", f"{token.text} takes at most {count(len(names), 'operand')}")
            groups[key.text if key is not None else names[position]] = values
            position += 1
        merged = {**self.field_attributes(cls, fields), **attributes}
        results = self.types_of(result) if isinstance(result, Tok) else []
        return self.assemble(cls, token, groups, results, merged)

    def comm_item(self, items: list[Any]) -> tuple[Tok | None, Tok]:
        """Returns an operand of a collective transfer, or a group by name."""
        return (items[0], items[2]) if len(items) > 1 else (None, items[0])

    @statement
    def comm_group(self, items: list[Any]) -> Operation:
        """A collective transfer."""
        token, attributes = items[0], items[-1]
        types_token = items[-3]
        entries = [item for item in items if isinstance(item, tuple)]
        cls = self.pto_class(token)
        groups: Groups = {}
        reading = GroupReading(token, cls, groups)
        clauses = [name for _, names, _ in clauses_of(cls) for name in names]
        plain = [slot.name for slot in text_slots(cls) if slot.name not in clauses]
        operands = Operands()
        for word, use in entries:
            values = self.use(use)
            operands.add(use, values)
            earlier = reading.earlier(word)
            if earlier is not None:
                what = word.text if word is not None else "an operand"
                message = f"{what} of {token.text} comes before {earlier}"
                raise at(word or use, reading.table.order, message, _comm_form(cls))
            if word is not None:
                reading.give(reading.find(word), word, use, values)
                continue
            if len(values) > len(plain):
                raise at(use, "op-operand-count", f"{token.text} takes {count(len(plain), 'operand')} here")
            for value in values:
                groups[plain.pop(0)] = [value]
        stated = self.type_list(types_token)
        typed = groups
        if len(stated) == len(operands.values) - 1:
            # The type of a second tile may be omitted.
            second = {name for row, names, _ in clauses_of(cls) if row.form is Form.OPERANDS for name in names[1:]}
            typed = {name: values for name, values in groups.items() if name not in second}
        self.check_stated(cls, typed, operands, stated, types_token)
        return self.assemble(cls, token, groups, (), attributes)

    @statement
    def launch(self, items: list[Any]) -> Operation:
        """``pto.simt_launch @name<<<..>>>(..)``."""
        token, callee, _, dims, _, _, uses, _, attributes, _, (inputs, _) = items
        cls = self.pto_class(token)
        sizes = self.use(dims)
        if len(sizes) != 3:
            mended = (operand_count(3, len(sizes)),)
            raise at(dims, "op-operand-count", f"a launch has 3 sizes, found {len(sizes)}", "<<<%x, %y, %z>>>", *mended)
        values = self.use_typed(uses, self.types_of(inputs), inputs) if uses is not None else []
        names = [slot.name for slot in text_slots(cls)]
        groups: Groups = {name: [value] for name, value in zip(names[:3], sizes, strict=True)}
        groups[names[3]] = values
        attributes["callee"] = symbol(callee.text)
        return self.assemble(cls, token, groups, (), attributes)


def _comm_form(cls: type[PtoOp]) -> str:
    """Returns how the operands of a collective transfer are written."""
    clauses = [f"{keyword}({'%a, %b' if row.form is Form.LIST else '%tile'})" for row, _, keyword in clauses_of(cls)]
    inside = {name for _, names, _ in clauses_of(cls) for name in names}
    plain = [f"%{slot.name}" for slot in text_slots(cls) if slot.name not in inside]
    return f"({', '.join((*plain, *clauses))} : types)"


def _first_optional(slots: list[Any], given: int) -> list[Any]:
    """Returns slots for ``given`` values when a leading optional operand may be omitted (``tfree`` without
    an entry)."""
    required = [slot for slot in slots if slot.arity == "1"]
    return required if given == len(required) else slots
