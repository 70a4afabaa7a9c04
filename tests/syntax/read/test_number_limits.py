"""Numbers at and beyond the limits of what holds them: what fits is kept, what does not is an error at its location."""

from __future__ import annotations

from itertools import product

import pytest
from groups import in_groups
from parse_helpers import parsed

from pto_dialect.syntax.print.printer import print_module

WORD = 1 << 64
OPERATION = '"test.op"() {{x = {}}} : () -> ()'


def program(statement: str) -> str:
    return f"func.func @f(%i: index, %v: vector<4xf32>, %p: !pto.ptr<f32, gm>) {{\n{statement}\nreturn\n}}\n"


def found(statement: str) -> list[str]:
    """Rules of the findings, that of unknown dialects left out."""
    module, entries = parsed(program(statement))
    errors = [entry[0] for entry in entries if entry[0] != "dialect-unregistered"]
    if not errors:
        print_module(module)
    return errors


@pytest.mark.parametrize("width", [1, 8, 16, 32, 64])
@pytest.mark.parametrize(
    ("sign", "form"),
    # Arrays hold integers without sign only.
    [*product(("i", "si", "ui"), ("{1} : {0}", "dense<{1}> : vector<4x{0}>")), ("i", "array<{0}: {1}>")],
)
def test_integers_of_each_width(width: int, sign: str, form: str) -> None:
    least = 0 if sign == "ui" else -(1 << (width - 1))
    most = (1 << (width - 1 if sign == "si" else width)) - 1
    for number, fits in ((least, True), (most, True), (least - 1, False), (most + 1, False)):
        if not -WORD < number < WORD:
            continue
        errors = found(OPERATION.format(form.format(f"{sign}{width}", number)))
        assert (errors == []) == fits, (number, errors)
        assert len(errors) <= 1


@pytest.mark.parametrize(
    "text",
    ["-1 : ui8", "-1 : ui64", "-128 : ui32", "dense<-1> : vector<4xui8>", "dense<[1, 2, 3, -4]> : vector<4xui16>"],
)
def test_unsigned_types_have_no_negative_numbers(text: str) -> None:
    assert len(found(f"%c = arith.constant {text}")) == 1
    assert len(found(OPERATION.format(text))) == 1


@pytest.mark.parametrize(
    "statement",
    [
        "%r = scf.index_switch %i -> index\ncase NUMBER {\nscf.yield %i : index\n}\ndefault {\nscf.yield %i : index\n}",
        "%s = memref.alloc() : memref<4xf32>\n%t = memref.subview %s[NUMBER] [1] [1] : memref<4xf32> to memref<1xf32>",
        "pto.section.simt<<<NUMBER, 1, 1>>> {\n}",
        '%q = "test.op"() : () -> !llvm.ptr\n%r = llvm.getelementptr %q[NUMBER] : (!llvm.ptr) -> !llvm.ptr, f32',
        "%m = memref.alloc() : memref<4xf32, NUMBER : i32>",
        "%m = memref.alloc() : memref<4xf32, NUMBER : ui8>",
        "%m = memref.alloc() : memref<4xf32, strided<[NUMBER]>>",
        "%m = memref.alloc() : memref<NUMBERxf32>",
        "%m = memref.alloc() : memref<4xf32, affine_map<(d0) -> (d0 floordiv NUMBER)>>",
        '%l = "test.op"() : () -> !pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = NUMBER>>',
        OPERATION.format("dense<NUMBER> : vector<4xi32>"),
        OPERATION.format("array<i32: NUMBER>"),
        OPERATION.format("#pto.vmi.layout<deinterleaved = NUMBER>"),
        OPERATION.format("NUMBER : f32"),
        "%c = arith.constant NUMBER : i8",
        "%c = arith.constant NUMBER : f16",
    ],
)
@in_groups(
    "number",
    [
        *("0", "-1", "2147483647", "2147483648", "-2147483649", "9223372036854775807", "9223372036854775808"),
        *("18446744073709551615", "18446744073709551616", "-9223372036854775809", "0xFFFFFFFFFFFFFFFF", "9" * 5000),
        *("1.0e400", "-1.0e-400", "0x7FC00000", "." + "9" * 500),
    ],
)
def test_no_number_is_too_much_for_the_reader(statement: str, number: str) -> None:
    found(statement.replace("NUMBER", number))
