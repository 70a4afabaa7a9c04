"""Custom forms of the flat shapes: operands, then types, then result types.

Source: docs/reference/language.md, "Shapes".
"""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import PtoOp, Shape
from pto_dialect.ir.simt.clauses import SUFFIXES

from .pto import Statement, comma, layout, prints
from .writer import Writer, checked, require


@prints(Shape.NULLARY)
def print_nullary(writer: Writer, op: Operation) -> str:
    """F1: ``name {dict}``; a result has a type that is not printed."""
    s = Statement(writer, op)
    require(tuple(map(t.type_text, [r.type for r in op.results])) == s.layout.spec.fixed_results)
    return op.name + s.dictionary()


@prints(Shape.NULLARY_TYPED)
def print_nullary_typed(writer: Writer, op: Operation) -> str:
    """F2: ``name {dict} : result types``."""
    s = Statement(writer, op)
    require(op.results)
    return f"{op.name}{s.dictionary()} : {s.results()}"


@prints(Shape.NULLARY_ARROW)
def print_nullary_arrow(writer: Writer, op: Operation) -> str:
    """F3: ``name {dict} -> result type``."""
    s = Statement(writer, op)
    require(op.results)
    return f"{op.name}{s.dictionary()} -> {s.results()}"


def flat_tail(s: Statement) -> str:
    """Returns ``{dict} : operand types [-> result types]``."""
    results = s.op.results
    stated = ""
    if results:
        fixed = s.layout.spec.fixed_results
        if fixed:
            require(tuple(t.type_text(r.type) for r in results) == fixed)
        else:
            stated = f" -> {s.results()}"
    typed = s.typed_values()
    require(typed)
    return f"{s.dictionary()} : {s.writer.types(typed)}{stated}"


@prints(Shape.FLAT_VOID, Shape.FLAT_VALUE)
def print_flat(writer: Writer, op: Operation) -> str:
    """F4, F5: ``name %a, %b {dict} : types [-> types]``."""
    shape = layout(type(checked(op, PtoOp)))
    if not op.attributes and not op.properties and shape.straight and not shape.spec.fixed_results:
        # Nothing to omit or reorder: half of all statements in real programs.
        operands = op.operands
        require(operands)
        arrow = f" -> {writer.types(op.results)}" if op.results else ""
        return f"{op.name} {writer.uses(operands)} : {writer.types(operands)}{arrow}"
    s = Statement(writer, op)
    return f"{op.name} {writer.uses(s.flatten(s.layout.slots))}{flat_tail(s)}"


@prints(Shape.FLAT_TOKEN)
def print_flat_token(writer: Writer, op: Operation) -> str:
    """F6: ``name %a, %b, "TOKEN" {dict} : types -> types``."""
    s = Statement(writer, op)
    tokens = [s.quoted(name) for name in s.layout.tokens]
    operands = writer.uses(s.flatten(s.layout.slots))
    return f"{op.name} {comma([operands, *tokens])}{flat_tail(s)}"


def suffix_words(s: Statement) -> str:
    """``round(r) l2cache(nmfv) sat signed``: attributes after the operands, each with a leading blank."""
    words: list[str] = []
    for name in s.layout.tokens:
        word = s.word(name)
        if word is not None:
            row = SUFFIXES.sets(name)
            words.append(f" {row.name}({word})" if row is not None else f" {word}")
    return "".join(words)


@prints(Shape.FLAT_SUFFIX)
def print_flat_suffix(writer: Writer, op: Operation) -> str:
    """F7: ``name %a, %b l2cache(nmfv) signed {dict} : types -> type``."""
    s = Statement(writer, op)
    operands = writer.uses(s.flatten(s.layout.slots))
    return f"{op.name} {operands}{suffix_words(s)}{flat_tail(s)}"


@prints(Shape.LEAD_STRING)
def print_lead_string(writer: Writer, op: Operation) -> str:
    """F8: ``name "PAT_ALL" : type``, ``name "eq", %a, %b : types -> types``, ``name "AR", %p[%o] :
    types``."""
    s = Statement(writer, op)
    (token,) = s.layout.tokens
    head = f"{op.name} {s.quoted(token)}"
    operands = s.flatten(s.layout.slots)
    if not operands:
        return f"{head}{s.dictionary()}" + (f" : {s.results()}" if op.results else "")
    if s.layout.slots[-1].name == "offset":
        return f"{head}, {s.single('destination')}[{s.single('offset')}]{flat_tail(s)}"
    return f"{head}, {writer.uses(operands)}{flat_tail(s)}"


# ---------------------------------------------------------------- indexed

PATH_NAMES = ("path", "indices")
"""Attributes that hold integers written between the brackets."""


def _path(s: Statement) -> str | None:
    """Returns integers between the brackets, for the operations that take these instead of values."""
    name = next((name for name in PATH_NAMES if name in s.layout.attributes), None)
    if name is None:
        return None
    value = checked(s.attribute(name), Attribute)
    numbers = integer_list(value)
    require(isinstance(value, DenseArrayBase) and value.elt_type == i64 and numbers)
    listed = ", ".join(map(str, numbers))
    # A path is between the brackets, an array has its own.
    return listed if name == "path" else f"[{listed}]"


def integer_list(attr: Attribute) -> list[int]:
    """Returns the integers of an array of either kind."""
    if isinstance(attr, DenseArrayBase):
        return [int(value) for value in attr.get_values()]
    return [checked(item, IntegerAttr).value.data for item in checked(attr, ArrayAttr).data]


@prints(Shape.INDEXED)
def print_indexed(writer: Writer, op: Operation) -> str:
    """M1: ``name %base[%i], %more, "DIST" l1cache(..) {dict} : types -> types``."""
    s = Statement(writer, op)
    path = _path(s)
    base, *rest = s.layout.slots
    if path is None:
        index, *more = rest
        inside = writer.uses(s.group(index.name))
        require(inside)
    else:
        inside, more = path, rest
    if s.layout.spec.by_type:
        values = _strides(s)
    else:
        s.flatten(s.layout.slots)
        values = s.values([slot.name for slot in more])
    tokens = [name for name in s.layout.tokens if name not in PATH_NAMES]
    suffixes, words = "", []
    if "l2cache" in tokens:
        suffixes = suffix_words(s)
    else:
        words = [s.quoted(name) for name in tokens]
    place = f"{s.single(base.name)}[{inside}]"
    return f"{op.name} {comma([place, writer.uses(values), *words])}{suffixes}{flat_tail(s)}"


@prints(Shape.INDEXED_STORE)
def print_indexed_store(writer: Writer, op: Operation) -> str:
    """M2: ``name %value, %base[%i], "DIST", %more l1cache(..) {dict} : types [-> type]``."""
    s = Statement(writer, op)
    slots = s.layout.slots
    inside = next(n for n, slot in enumerate(slots) if slot.name in ("offset", "indices"))
    if s.layout.spec.by_type:
        require(s.group("values"))
        s.expect("mask", 0, 1)
        tail = [*_strides(s), *s.group("mask")]
    else:
        s.flatten(slots)
        tail = s.values([slot.name for slot in slots[inside + 1 :]])
    head = s.values([slot.name for slot in slots[:inside]])
    suffixes, words = "", []
    if "l2cache" in s.layout.tokens:
        suffixes = suffix_words(s)
    else:
        words = [s.quoted(name) for name in s.layout.tokens]
    place = f"{writer.uses(head)}[{s.single(slots[inside].name)}]"
    return f"{op.name} {comma([place, *words, writer.uses(tail)])}{suffixes}{flat_tail(s)}"


def _strides(s: Statement) -> list[SSAValue]:
    """Returns the stride operands of a logical-vector access: one group stride, or i16 block and repeat strides."""
    if s.group("stride"):
        require(not s.group("block_stride") and not s.group("repeat_stride"))
        (stride,) = s.expect("stride", 1)
        require(stride.type != t.I16)
        return [stride]
    s.present("block_stride", "repeat_stride")
    values = s.values(("block_stride", "repeat_stride"))
    require(all(value.type == t.I16 for value in values))
    return values
