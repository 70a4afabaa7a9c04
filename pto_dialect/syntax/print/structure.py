"""Custom forms of allocation, views, regions, pipes, communication and launch.

Source: docs/reference/language.md, "Shapes".
"""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, i64
from xdsl.ir import Operation
from xdsl.traits import IsolatedFromAbove

from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.attribute_text import key_text
from pto_dialect.ir.core.base import Shape

from .clauses import group_texts
from .flat import integer_list
from .pto import Statement, comma, prints
from .writer import Body, Composite, Piece, Writer, checked, one_block, require

# ---------------------------------------------------------------- tiles and views


@prints(Shape.ALLOC)
def print_alloc(writer: Writer, op: Operation) -> str:
    """V1: ``name addr = %a valid_row = %r valid_col = %c {dict} : T``."""
    s = Statement(writer, op)
    keyed = ""
    for slot in s.layout.slots:
        if s.expect(slot.name, 0, 1):
            keyed += f" {slot.name} = {s.single(slot.name)}"
    return f"{op.name}{keyed}{s.dictionary()} : {s.results()}"


@prints(Shape.VIEW_LISTS)
def print_view_lists(writer: Writer, op: Operation) -> str:
    """V2: ``name %v, offsets = [%i], sizes = [%n] {dict} : T [-> T]``."""
    s = Statement(writer, op)
    source, first, second = (slot.name for slot in s.layout.slots)
    lists = ", ".join([f"{name} = [{writer.uses(s.group(name))}]" for name in (first, second)])
    types = s.results()
    if s.layout.typed:
        types = f"{writer.types(s.typed_values())} -> {types}"
    return f"{op.name} {s.single(source)}, {lists}{s.dictionary()} : {types}"


@prints(Shape.SUBVIEW)
def print_subview(writer: Writer, op: Operation) -> str:
    """V3: ``name %t[%i, %j] sizes [16, 16] valid [%r, %c] {dict} : T -> T``."""
    s = Statement(writer, op)
    sizes = checked(s.attribute("sizes"), ArrayAttr)
    require(all(isinstance(item, IntegerAttr) and item.type == i64 for item in sizes.data))
    place = f"{s.single('source')}[{writer.uses(s.group('offsets'))}] sizes {integer_list(sizes)}"
    valid = s.values(("valid_row", "valid_col"))
    if valid:
        require(s.present("valid_row", "valid_col") == 2)
        place += f" valid [{writer.uses(valid)}]"
    return f"{op.name} {place}{s.dictionary()} : {writer.types(s.typed_values())} -> {s.results()}"


@prints(Shape.DIM_QUERY)
def print_dim_query(writer: Writer, op: Operation) -> str:
    """V4: ``name %view, %dim : T -> index {dict}``."""
    s = Statement(writer, op)
    operands = writer.uses(s.flatten(s.layout.slots))
    return f"{op.name} {operands} : {writer.types(s.typed_values())} -> {s.results()}{s.dictionary()}"


@prints(Shape.RETIRED_CAST)
def print_retired_cast(writer: Writer, op: Operation) -> str:
    """V5: ``name(%a, %b) %r, %c {dict} : T`` or ``name %a {dict} : T to T``."""
    s = Statement(writer, op)
    if "addrs" not in s.groups:
        operands = s.flatten(s.layout.slots)
        return f"{op.name} {writer.uses(operands)}{s.dictionary()} : {writer.types(operands)} to {s.results()}"
    require(s.group("addrs"))
    s.present("valid_row", "valid_col")
    valid = writer.uses(s.values(("valid_row", "valid_col")))
    tail = f" {valid}" if valid else ""
    return f"{op.name}({writer.uses(s.group('addrs'))}){tail}{s.dictionary()} : {s.results()}"


# ---------------------------------------------------------------- regions


def print_region(writer: Writer, op: Operation) -> list[Piece]:
    """R1: ``name [<<<x, y, z>>>] [(%captures)] { .. } {dict} [: types]``."""
    s = Statement(writer, op)
    require(len(op.regions) == 1 and op.regions[0].first_block is not None)
    head = op.name
    if s.layout.tokens:
        sizes = [checked(s.attribute(name), IntegerAttr) for name in s.layout.tokens]
        require(all(size.type == t.I32 for size in sizes))
        head += f"<<<{', '.join([str(size.value.data) for size in sizes])}>>>"
    tail = s.dictionary()
    isolated = op.has_trait(IsolatedFromAbove)
    if isolated:
        head += f"({writer.uses(op.operands)})"
        tail += f" : {writer.signature(op.operands, op.results)}"
    else:
        one_block(op.regions[0])
        if op.results:
            tail += f" : {s.results()}"
    return [head + " ", Body(op.regions[0], isolated=isolated), tail]


@prints(Shape.REGION_YIELD)
def print_region_yield(writer: Writer, op: Operation) -> str:
    """R2: ``name(%a, %b) {dict} : (types) -> ()``."""
    s = Statement(writer, op)
    require(not op.results)
    return f"{op.name}({writer.uses(op.operands)}){s.dictionary()} : {writer.signature(op.operands, ())}"


# ---------------------------------------------------------------- pipes

FIELD_KEYS = {"autoAlloc": "auto"}
"""Attributes whose field has another name."""


def fields(s: Statement) -> str:
    """``{id = 0, split = 1}``: the attributes of a field list in declared order; empty without any."""
    entries: list[str] = []
    for name in s.layout.tokens:
        text = s.stripped(name) if name == "location" else s.field(name)
        if text is not None:
            entries.append(f"{FIELD_KEYS.get(name, key_text(name))} = {text}")
    return " {" + ", ".join(entries) + "}" if entries else ""


@prints(Shape.PAREN, Shape.BRACE_FIELDS)
def print_paren(writer: Writer, op: Operation) -> str:
    """C1, C2: ``name(%a, %b : types) {fields} aiv_subblockid(%id) {dict} [-> T]``."""
    s = Statement(writer, op)
    slots = [slot for slot in s.layout.slots if slot.name != "aiv_subblockid"]
    operands = s.flatten(slots)
    text = op.name
    if operands:
        typed = set(s.layout.typed) - {"aiv_subblockid"}
        require(not typed or typed == {slot.name for slot in slots})
        text += f"({writer.uses(operands)}" + (f" : {writer.types(operands)})" if typed else ")")
    text += fields(s)
    if s.groups.get("aiv_subblockid"):
        text += f" aiv_subblockid({s.single('aiv_subblockid')})"
    return text + s.dictionary() + s.arrow_part()


@prints(Shape.PIPE_INIT)
def print_pipe_init(writer: Writer, op: Operation) -> str:
    """C3: ``name {fields} (buf = %p : T, ..) {dict}`` or ``name {fields}(%a : T, %b : T) {dict} -> T``."""
    s = Statement(writer, op)
    named = not op.results
    if not named:
        s.flatten(s.layout.slots)
    operands: list[str] = []
    for slot in s.layout.slots:
        for value in s.expect(slot.name, 0, 1):
            key = f"{slot.name} = " if named else ""
            operands.append(f"{key}{writer.use(value)} : {writer.type(value.type)}")
    # The reference reads the custom form of this one queue, with staging slots, only where their number is stated.
    require(op.name != "pto.initialize_l2g2l_pipe" or "local_slot_num" in op.attributes)
    listed = fields(s)
    require(listed)
    blank = " " if named else ""
    return f"{op.name}{listed}{blank}({', '.join(operands)}){s.dictionary()}{s.arrow_part()}"


# ---------------------------------------------------------------- communication, launch


@prints(Shape.COMM_GROUP)
def print_comm_group(writer: Writer, op: Operation) -> str:
    """C4: ``name(%a, %b, recv(%ping, %pong), group(%m, %n) : types) {dict}``."""
    s = Statement(writer, op)
    leading = s.outside()
    groups, types = group_texts(s)
    parts = comma([writer.uses(leading), *groups])
    return f"{op.name}({parts} : {comma([writer.types(leading), *types])}){s.dictionary()}"


@prints(Shape.LAUNCH)
def print_launch(writer: Writer, op: Operation) -> str:
    """C5: ``name @f<<<%x, %y, %z>>>(%a) {dict} : (types) -> ()``."""
    s = Statement(writer, op)
    *dims, last = (slot.name for slot in s.layout.slots)
    sizes, arguments = s.values(dims), s.group(last)
    callee = s.full("callee")
    launch = f"{callee}<<<{writer.uses(sizes)}>>>({writer.uses(arguments)})"
    return f"{op.name} {launch}{s.dictionary()} : {writer.signature(arguments, op.results)}"


REGIONS: dict[Shape, Composite] = {Shape.REGION: print_region}
"""Printers of the shapes with regions."""
