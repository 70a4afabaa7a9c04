"""Custom forms of tile operations: ``ins(..) outs(..)``, or operand and result values where there is no destination.

Source: docs/reference/language.md, "Shapes", "Level 1 and Level 2".
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.attribute_text import attribute_text, string_literal
from pto_dialect.ir.core.base import Shape, Slot
from pto_dialect.ir.tile.clauses import NO_SCRATCH

from ..tile_inputs import MERGE_SORT_SOURCES, fitting_slots, merge_sort_inputs
from .pto import Statement, comma, prints
from .writer import Writer, require


def has_destination(s: Statement) -> bool:
    """Returns whether a statement is in destination-passing style; the present destinations must be the first ones
    declared."""
    outs = [slot.name for slot in s.layout.slots if slot.name in s.layout.spec.outs]
    return s.present(*outs) > 0 and not old_value(s)


def old_value(s: Statement) -> tuple[SSAValue, ...]:
    """Returns the old tile of a read-modify-write in value form, the last operand there; empty for other statements."""
    if not s.op.results:
        return ()
    kept = s.values(s.layout.spec.in_place)
    return tuple(value for value in kept if isinstance(value.type, t.TileType))


def input_slots(s: Statement) -> list[Slot]:
    """Returns declared inputs in text order."""
    return [slot for slot in s.layout.slots if slot.name not in s.layout.spec.outs]


def inputs(s: Statement) -> list[SSAValue]:
    """Returns the values of ``ins(..)`` where their number identifies them."""
    values = s.flatten(input_slots(s))
    require(values)
    return values


def inputs_by_kind(s: Statement, slots: Sequence[Slot]) -> list[SSAValue]:
    """Returns the values of ``slots`` where their types identify them."""
    values = s.values(slot.name for slot in slots)
    chosen = fitting_slots(slots, values)
    require(values and s.flatten(chosen) == values)
    return values


def merge_sort_values(s: Statement, scratch: bool | None) -> list[SSAValue]:
    """Returns the inputs of ``tmrgsort``, whose text states (``scratch``) whether the last one is the scratch tile."""
    names = ("srcs", "blockLen", "tmp")
    values = s.values(names)
    told = merge_sort_inputs(values, len(values) > MERGE_SORT_SOURCES if scratch is None else scratch)
    require(values and all(tuple(told.get(name, ())) == s.group(name) for name in names))
    return values


def typed_group(writer: Writer, values: Sequence[SSAValue], inner: str = "") -> str:
    """Returns ``%a, %b {inner} : Ta, Tb``."""
    return f"{writer.uses(values)}{inner} : {writer.types(values)}"


def outs_part(s: Statement) -> str:
    """Returns ``outs(%d : T)``."""
    values = s.values(slot.name for slot in s.layout.slots if slot.name in s.layout.spec.outs)
    return f"outs({typed_group(s.writer, values)})"


def destination_form(s: Statement, text: str) -> str:
    """``name ins(..) outs(..) {dict} [-> T]`` around the ``text`` of the inputs."""
    return f"{s.op.name} ins({text}) {outs_part(s)}{s.dictionary()}{s.arrow_part()}"


def value_form(s: Statement) -> str:
    """Level 1: ``name %a, %b {dict} : (Ta, Tb) -> Tr``."""
    op, writer = s.op, s.writer
    require(op.results and not s.layout.stores)
    if s.layout.lists:
        values = merge_sort_values(s, None)
    elif s.layout.spec.shape is Shape.DPS_MASK:
        values = inputs_by_kind(s, input_slots(s))
    else:
        values = [*inputs(s), *old_value(s)]
    return f"{op.name} {writer.uses(values)}{s.dictionary()} : {writer.signature(values, op.results)}"


def stored_value(s: Statement) -> str | None:
    """Level 1 of operations that yield no tile: ``name %tile, %view {dict} : (T, V) -> ()``.

    ``None`` for tiles with a memory address, and for statements with optional operands, which the value form cannot
    distinguish.
    """
    values = s.values(slot.name for slot in s.layout.slots)
    required = sum(slot.arity == "1" for slot in s.layout.slots)
    if not values or len(values) != required or s.op.results or not isinstance(values[0].type, t.TileType):
        return None
    return f"{s.op.name} {s.writer.uses(values)}{s.dictionary()} : {s.writer.signature(values, ())}"


def form_of_values(s: Statement) -> str | None:
    """Level 1, for statements without a destination in a buffer; ``None`` for others."""
    if s.layout.stores and (text := stored_value(s)):
        return text
    return None if has_destination(s) else value_form(s)


@prints(Shape.DPS)
def print_dps(writer: Writer, op: Operation) -> str:
    """D1: ``name ins(%a, %b : Ta, Tb) outs(%d : T) {dict} [-> T]``."""
    s = Statement(writer, op)
    if (text := form_of_values(s)) is not None:
        return text
    return destination_form(s, typed_group(writer, inputs(s)))


@prints(Shape.DPS_INNER)
def print_dps_inner(writer: Writer, op: Operation) -> str:
    """D2: the dictionary is inside ``ins(..)``, where the operation allows it."""
    s = Statement(writer, op)
    if not has_destination(s):
        return value_form(s)
    inner = ""
    if s.layout.lists:
        lists = bool(s.group("excuted"))
        scratch = bool(s.group("tmp"))
        values = merge_sort_values(s, scratch and lists)
        if lists:
            inner = ("" if scratch else f" {NO_SCRATCH}") + s.dictionary(" ", "exhausted")
    else:
        values = inputs(s)
        inner_with = s.layout.spec.inner_with
        if not inner_with or s.group(inner_with):
            inner = s.dictionary()
            s.spelled.update(op.attributes)
    return destination_form(s, typed_group(writer, values, inner))


@prints(Shape.DPS_KEYED)
def print_dps_keyed(writer: Writer, op: Operation) -> str:
    """D3: ``name ins(%src : T fp %f : Tf, %q : i64) outs(..) {dict} [-> T]``."""
    s = Statement(writer, op)
    if (text := form_of_values(s)) is not None:
        return text
    keyed = {name: "" if name in s.layout.spec.unnamed else row.name for row, (name,), _ in s.layout.clauses}
    # The type identifies an unnamed extra input: a number is the scalar parameter, a tile those of the channels.
    require(all(value.type == t.I64 for value in s.expect("preQuantScalar", 0, 1)))
    # The reference treats the first of several inputs without a keyword as the tile.
    s.present(*(name for name, word in keyed.items() if not word))
    require(all(value.type != t.I64 for value in s.expect("fp", 0, 1)))
    text = typed_group(writer, inputs_by_kind(s, [slot for slot in input_slots(s) if slot.name not in keyed]))
    for name, word in keyed.items():
        if s.group(name):
            text += (f" {word} " if word else ", ") + typed_group(writer, s.group(name))
    return destination_form(s, text)


@prints(Shape.DPS_MASK)
def print_dps_mask(writer: Writer, op: Operation) -> str:
    """D4: ``name ins(%src, {maskPattern = P} : T, "row") outs(..)`` or ``name ins(%src, %idx : types)
    outs(..)``."""
    s = Statement(writer, op)
    if not has_destination(s):
        return value_form(s)
    if "maskPattern" in op.attributes and len(s.values(slot.name for slot in input_slots(s))) == 1:
        source = s.expect("src", 1)
        inner = f", {s.dictionary('', 'maskPattern')}"
        axis = string_literal(word) if (word := s.word("axis")) is not None else ""
        text = comma([typed_group(writer, source, inner), axis])
    else:
        text = typed_group(writer, inputs_by_kind(s, input_slots(s)))
    return destination_form(s, text)


@prints(Shape.DPS_TLOAD)
def print_dps_tload(writer: Writer, op: Operation) -> str:
    """D5: ``name ins(%src : T) outs(%dst : T) {dict} pad_mode = P pad_value = %v : T .. [-> T]``."""
    s = Statement(writer, op)
    if not has_destination(s):
        return value_form(s)
    keyed = ""
    for row, names, _ in s.layout.clauses:
        if row.attribute:
            value = s.attribute(row.attribute)
            keyed += f" {row.name} = {attribute_text(value)}" if value is not None else ""
        elif s.expect(names[0], 0, 1):
            keyed += f" {row.name} = {typed_group(writer, s.group(names[0]))}"
    source = typed_group(writer, s.expect("src", 1))
    return f"{op.name} ins({source}) {outs_part(s)}{s.dictionary()}{keyed}{s.arrow_part()}"


@prints(Shape.INS_ONLY)
def print_ins_only(writer: Writer, op: Operation) -> str:
    """D6: ``name ins(["format",] %a, %b : types) [outs : T] {dict}``."""
    s = Statement(writer, op)
    if not s.layout.tokens and (text := stored_value(s)):
        return text
    words = [s.quoted(name) for name in s.layout.tokens]
    text = comma([*words, typed_group(writer, inputs(s))])
    outs = f" outs : {s.results()}" if op.results else ""
    return f"{op.name} ins({text}){outs}{s.dictionary()}"
