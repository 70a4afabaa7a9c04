"""Numbers: constants, arithmetic, comparisons and conversions, with the results that the dialects define.

Signed overflow is undefined in C++ and wraps here: integers are added, subtracted, multiplied and shifted without
signs. Indices are not: they count elements and do not overflow.
Source: docs/reference/core-dialects.md, "Operations".
"""

from __future__ import annotations

import math
import operator
import struct
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr

from pto_dialect.ir.core import types as t

from .ctypes import element, unsigned, width_of
from .errors import fail
from .expression import ATOM, UNARY, Expr, add, binary, call, cast, choice, integer, multiply, unary
from .writer import Writer, emits

if TYPE_CHECKING:
    from xdsl.ir import Attribute, Operation

_WRAPPING = {"addi": "+", "subi": "-", "muli": "*", "shli": "<<"}
_FOLDED = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_PLAIN = {"divsi": "/", "remsi": "%", "shrsi": ">>", "andi": "&", "ori": "|", "xori": "^"}
_WITHOUT_SIGN = {"divui": "/", "remui": "%", "shrui": ">>"}
_CHOSEN = {"minsi": ("<", False), "maxsi": (">", False), "minui": ("<", True), "maxui": (">", True)}
_ROUNDED = {"ceildivsi": "ceil_div", "floordivsi": "floor_div", "ceildivui": "ceil_div_unsigned"}
_FLOATS = {"addf": "+", "subf": "-", "mulf": "*", "divf": "/"}
_ORDERS = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")
_FIRST_UNSIGNED = 6
HELPERS = {
    "ceil_div": """AICORE inline int64_t ceil_div(int64_t a, int64_t b) {
  return a / b + (a % b != 0 && (a < 0) == (b < 0));
}""",
    "floor_div": """AICORE inline int64_t floor_div(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}""",
    "ceil_div_unsigned": """AICORE inline uint64_t ceil_div_unsigned(uint64_t a, uint64_t b) {
  return a / b + (a % b != 0);
}""",
}
"""Functions that a text has if it needs them."""
_NARROW = 32
"""Integers with fewer bits are computed as int."""


@emits("arith.constant")
def emit_constant(op: Operation, w: Writer) -> None:
    """A constant is written where it is used."""
    value = op.properties["value"]
    if isinstance(value, IntegerAttr):
        number = int(value.value.data)
        w.bind(op.results[0], _integer(number, value.type))
    elif isinstance(value, FloatAttr):
        w.bind(op.results[0], _float(value.value.data, value.type, op))
    elif not isinstance(value, DenseIntOrFPElementsAttr):
        fail(op, f"a constant of type {t.type_text(op.results[0].type)} has no form in C++")


def _integer(number: int, type_: Attribute) -> Expr:
    if t.element_name(type_) == "i1":
        return Expr("true" if number else "false")
    width = width_of(type_)
    if number >= 1 << (width - 1):
        number -= 1 << width
    return integer(number, width == 64)


def _float(value: float, type_: Attribute, op: Operation) -> Expr:
    name = element(type_, op)
    if math.isnan(value) or math.isinf(value):
        (bits,) = struct.unpack("<I", struct.pack("<f", value))
        special = Expr(f"__builtin_bit_cast(float, 0x{bits:08x}u)")
        if name == "double":
            fail(op, f"the constant {value} of type f64 has no form in C++")
        return special if name == "float" else cast(name, special)
    text = repr(value)
    if name == "double":
        return Expr(text, ATOM if value >= 0 else UNARY)
    literal = Expr(f"{text}f", ATOM if not text.startswith("-") else UNARY)
    return literal if name == "float" else cast(name, literal)


def _operands(op: Operation, w: Writer) -> list[Expr]:
    return [w.get(value, op) for value in op.operands]


@emits(*(f"arith.{name}" for name in _WRAPPING))
def emit_wrapping(op: Operation, w: Writer) -> None:
    """Sums, differences, products and shifts to the left."""
    left, right = _operands(op, w)
    type_ = op.results[0].type
    symbol = _WRAPPING[op.name.removeprefix("arith.")]
    if t.element_name(type_) == "index":
        fold = {"+": add, "*": multiply}.get(symbol)
        if symbol == "<<" and left.number is not None:
            left = cast("int64_t", left)
        w.define(op, fold(left, right) if fold is not None else binary(symbol, left, right))
        return
    if t.element_name(type_) == "i1":
        logical = {"+": "!=", "-": "!=", "*": "&&"}.get(symbol)
        if logical is None:
            fail(op, f"{op.name} of i1 has no form in C++")
        w.define(op, binary(logical, left, right))
        return
    if left.number is not None and right.number is not None and symbol in _FOLDED:
        width = width_of(type_)
        w.bind(op.results[0], _integer(_FOLDED[symbol](left.number, right.number) % (1 << width), type_))
        return
    signed, wrapped = element(type_, op), unsigned(type_)
    if width_of(type_) < _NARROW:
        # A product of two short numbers without sign may overflow int.
        wrapped = "uint32_t"
    left = cast(wrapped, left)
    found = binary(symbol, left, right if symbol == "<<" else cast(wrapped, right))
    w.define(op, cast(signed, found)._replace(without_sign=(wrapped, *found[:2])))


@emits(*(f"arith.{name}" for name in _PLAIN))
def emit_plain(op: Operation, w: Writer) -> None:
    """Quotients, remainders, shifts with a sign, operations of bits."""
    left, right = _operands(op, w)
    symbol, type_ = _PLAIN[op.name.removeprefix("arith.")], op.results[0].type
    if t.element_name(type_) == "i1" and symbol in ("&", "|", "^"):
        symbol = {"&": "&&", "|": "||", "^": "!="}[symbol]
        w.define(op, binary(symbol, left, right))
        return
    found = binary(symbol, left, right)
    narrow = t.element_name(type_) != "index" and width_of(type_) < _NARROW
    w.define(op, cast(element(type_, op), found) if narrow else found)


@emits(*(f"arith.{name}" for name in _WITHOUT_SIGN))
def emit_unsigned(op: Operation, w: Writer) -> None:
    """Quotients, remainders and shifts without a sign."""
    type_ = op.results[0].type
    left, right = (cast(unsigned(type_), one) for one in _operands(op, w))
    w.define(op, cast(element(type_, op), binary(_WITHOUT_SIGN[op.name.removeprefix("arith.")], left, right)))


@emits(*(f"arith.{name}" for name in _CHOSEN))
def emit_extreme(op: Operation, w: Writer) -> None:
    """The smaller or larger of two integers."""
    left, right = _operands(op, w)
    symbol, without_sign = _CHOSEN[op.name.removeprefix("arith.")]
    type_ = op.results[0].type
    compared = [cast(unsigned(type_), one) if without_sign else one for one in (left, right)]
    w.define(op, choice(binary(symbol, *compared), left, right))


@emits(*(f"arith.{name}" for name in _ROUNDED))
def emit_rounded(op: Operation, w: Writer) -> None:
    """Quotients that are rounded up or down."""
    helper, type_ = _ROUNDED[op.name.removeprefix("arith.")], op.results[0].type
    w.shared.helpers.add(helper)
    operands = _operands(op, w)
    if helper == "ceil_div_unsigned":
        operands = [cast(unsigned(type_), one) for one in operands]
    found = call(helper, *operands)
    w.define(op, found if t.element_name(type_) == "index" and helper != "ceil_div_unsigned"
             else cast(element(type_, op), found))  # fmt: skip


@emits("arith.cmpi")
def emit_comparison(op: Operation, w: Writer) -> None:
    """Compares integers."""
    predicate = op.properties["predicate"]
    assert isinstance(predicate, IntegerAttr)
    left, right = _operands(op, w)
    number, type_ = predicate.value.data, op.operands[0].type
    if number >= _FIRST_UNSIGNED:
        left, right = (cast(unsigned(type_), one) for one in (left, right))
    w.define(op, binary(_ORDERS[number], left, right))


_UNORDERED = {"ueq": "one", "ugt": "ole", "uge": "olt", "ult": "oge", "ule": "ogt", "uno": "ord"}
_ORDERED = {"oeq": "==", "ogt": ">", "oge": ">=", "olt": "<", "ole": "<=", "une": "!="}
_PREDICATES = ("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une",
               "uno", "true")  # fmt: skip


@emits("arith.cmpf")
def emit_float_comparison(op: Operation, w: Writer) -> None:
    """Compares floats; without an order, everything but its opposite."""
    predicate = op.properties["predicate"]
    assert isinstance(predicate, IntegerAttr)
    left, right = _operands(op, w)
    w.define(op, _compared(_PREDICATES[predicate.value.data], left, right))


def _compared(predicate: str, left: Expr, right: Expr) -> Expr:
    if predicate in ("false", "true"):
        return Expr(predicate)
    if predicate in _ORDERED:
        return binary(_ORDERED[predicate], left, right)
    if predicate in _UNORDERED:
        return Expr(f"!({_compared(_UNORDERED[predicate], left, right).text})", UNARY)
    if predicate == "one":
        return binary("||", binary("<", left, right), binary(">", left, right))
    return binary("&&", binary("==", left, left), binary("==", right, right))


@emits("arith.select")
def emit_select(op: Operation, w: Writer) -> None:
    """One of two numbers."""
    condition, yes, no = _operands(op, w)
    if isinstance(op.results[0].type, t.TileBufType):
        fail(op, "a tile that is chosen by arith.select has no form in C++", "write both uses in an scf.if")
    w.define(op, choice(condition, yes, no))


@emits(*(f"arith.{name}" for name in _FLOATS))
def emit_float(op: Operation, w: Writer) -> None:
    """Arithmetic of floats; short ones are rounded after each operation."""
    left, right = _operands(op, w)
    name = element(op.results[0].type, op)
    found = binary(_FLOATS[op.name.removeprefix("arith.")], left, right)
    w.define(op, found if name in ("float", "double") else cast(name, found))


@emits("arith.negf")
def emit_negation(op: Operation, w: Writer) -> None:
    """The float with the other sign."""
    (operand,) = _operands(op, w)
    w.define(op, unary("-", Expr(operand.at(ATOM))))


@emits("arith.index_cast", "arith.extsi", "arith.trunci", "arith.index_castui", "arith.extui")
def emit_integer_cast(op: Operation, w: Writer) -> None:
    """Integers of other widths."""
    (operand,) = _operands(op, w)
    source, target = op.operands[0].type, op.results[0].type
    name = element(target, op)
    if operand.number is not None and "ui" not in op.name.removeprefix("arith."):
        w.bind(op.results[0], _integer(operand.number % (1 << _bits(target)), target))
        return
    if t.element_name(target) == "i1":
        w.define(op, binary("!=", binary("&", operand, integer(1)), integer(0)))
    elif t.element_name(source) == "i1":
        found = cast(name, operand)
        w.define(op, unary("-", Expr(f"({found.text})")) if op.name == "arith.extsi" else found)
    elif op.name in ("arith.index_castui", "arith.extui"):
        w.define(op, cast(name, cast(unsigned(source), operand)))
    else:
        w.define(op, cast(name, operand))


def _bits(type_: Attribute) -> int:
    return 1 if t.element_name(type_) == "i1" else width_of(type_)


@emits("arith.extf", "arith.truncf", "arith.sitofp", "arith.uitofp", "arith.fptosi", "arith.fptoui")
def emit_number_cast(op: Operation, w: Writer) -> None:
    """Floats of other widths, floats of integers and integers of floats."""
    (operand,) = _operands(op, w)
    source, target = op.operands[0].type, op.results[0].type
    if op.name == "arith.uitofp" and t.element_name(source) != "i1":
        operand = cast(unsigned(source), operand)
    name = element(target, op)
    if op.name == "arith.fptoui":
        w.define(op, cast(name, cast(unsigned(target), operand)))
        return
    w.define(op, cast(name, operand))


@emits("arith.bitcast", "builtin.unrealized_conversion_cast")
def emit_bitcast(op: Operation, w: Writer) -> None:
    """The same bits as another type."""
    if len(op.operands) != 1 or len(op.results) != 1:
        fail(op, f"{op.name} of several values has no form in C++")
    (operand,) = _operands(op, w)
    name = element(op.results[0].type, op)
    kinds = [t.element_name(one.type)[0] in "isu" for one in (op.operands[0], op.results[0])]
    if all(kinds):
        w.define(op, cast(name, operand))
        return
    source = cast(element(op.operands[0].type, op), operand)
    w.define(op, Expr(f"__builtin_bit_cast({name}, {source.text})"))


__all__ = ["HELPERS"]
