"""Every statement shape in its canonical form, clause by clause: printed as written, read back as the same.

The forms are those of docs/reference/language.md, "Shapes": clause order, tokens, type tails, attributes outside the
dictionary.
"""

import re
from pathlib import Path

import pytest
from groups import each, in_groups
from xdsl.dialects.builtin import ModuleOp

from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.ir.core.base import Shape, op_spec
from pto_dialect.ir.core.registry import op_class
from pto_dialect.syntax.compare import same_module
from pto_dialect.syntax.print.printer import print_module
from pto_dialect.syntax.read.parser import parse_program

TYPES = {
    "T": "!pto.tile_buf<vec, 16x16xf32>",
    "I": "!pto.tile_buf<vec, 16x16xi32>",
    "L": "!pto.tile_buf<left, 16x16xf16, blayout=col_major, slayout=row_major>",
    "R": "!pto.tile_buf<right, 16x16xf16, slayout=col_major>",
    "A": "!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>",
    "F": "!pto.tile_buf<scaling, 1x16xui64>",
    "D": "!pto.tile_buf<vec, 16x16xf32, valid=?x?>",
    "TT": "!pto.tile<16x16xf32>",
    "V": "!pto.tensor_view<16x16xf32>",
    "P": "!pto.partition_tensor_view<16x16xf32>",
    "P8": "!pto.partition_tensor_view<8x8xf32>",
    "GM": "!pto.ptr<f32, gm>",
    "UB": "!pto.ptr<f32, ub>",
    "U32": "!pto.ptr<ui32, ub>",
    "L1": "!pto.ptr<f16, l1>",
    "L0A": "!pto.ptr<f16, l0a>",
    "L0B": "!pto.ptr<f16, l0b>",
    "L0C": "!pto.ptr<f32, l0c>",
    "BT": "!pto.ptr<f32, bt>",
    "FB": "!pto.ptr<ui64, fb>",
    "VR": "!pto.vreg<64xf32>",
    "VI": "!pto.vreg<64xi32>",
    "M": "!pto.mask<b32>",
    "AL": "!pto.align",
    "Q": "!pto.pipe",
    "X": "!pto.vmi.vreg<128xf32>",
    "Y": "!pto.vmi.mask<128xpred>",
    "EA": "!pto.eventid_array<4>",
    "LA": "!pto.local_array<4x4xi32>",
    "ST": "!pto.struct<i32, f32>",
    "MT": "!pto.multi_tile_buf<!pto.tile_buf<vec, 16x16xf32>, count=2>",
    "MR": "memref<16x16xf32, #pto.address_space<vec>>",
}
"""Short names of types in the statements below, written ``$T``."""

VALUES = {
    name: type_
    for type_, names in {
        "index": "i j",
        "i64": "a b c d e f",
        "i32": "w w1",
        "i16": "h h1",
        "i1": "p",
        "f32": "s",
        "$T": "t t1 t2 t3",
        "$I": "ix",
        "$L": "l",
        "$R": "r",
        "$A": "ac",
        "$F": "fp",
        "$D": "dt",
        "$TT": "n n1",
        "$V": "v",
        "$P": "pv pv1",
        "$GM": "gm",
        "$UB": "ub ub1",
        "$U32": "u32",
        "$L1": "l1",
        "$L0A": "l0a",
        "$L0B": "l0b",
        "$L0C": "l0c",
        "$BT": "bt",
        "$FB": "fb",
        "$VR": "vr vr1",
        "$VI": "vi",
        "$M": "m",
        "$AL": "al",
        "$Q": "q",
        "$X": "x x1",
        "$Y": "y",
        "$EA": "ea",
        "$LA": "la",
        "$MT": "mt",
        "$MR": "mr",
        "vector<4xi16>": "ex",
    }.items()
    for name in names.split()
}
"""Values that the statements use: arguments of the function around them."""

STRUCT = "%st = pto.declare_struct -> !pto.struct<i32, f32>"
"""A value that is no argument of a function."""


def statements() -> list[str]:
    """The statements of the table; what follows a first line with a region belongs to it."""
    found: list[str] = []
    for line in (Path(__file__).parent / "statements.txt").read_text().splitlines():
        if line[:1] in (" ", "}", "^"):
            found[-1] += "\n" + line
        elif line and not line.startswith("//"):
            found.append(line)
    return found


STATEMENTS = statements()


def shape(statement: str) -> str:
    """The shape of the first operation of the dialect in a statement."""
    name = re.search(r"pto\.[\w.]+", statement)
    return op_spec(op_class(name[0])).shape.value if name is not None else "core"


def with_types(text: str) -> str:
    for name in sorted(TYPES, key=len, reverse=True):
        text = text.replace(f"${name}", TYPES[name])
    return text


def program(statement: str) -> str:
    """The module around a statement, exactly as the printer lays it out."""
    arguments = ", ".join(f"%{name}: {type_}" for name, type_ in VALUES.items())
    body = "\n".join("    " + line for line in (STRUCT, *statement.splitlines()))
    return with_types(f"module {{\n  func.func @f({arguments}) {{\n{body}\n    return\n  }}\n}}\n")


def parse(text: str) -> ModuleOp:
    engine = DiagnosticEngine()
    module = parse_program(SourceFile("t.pto", text), engine)
    assert module is not None and not engine.has_errors, ([d.message for d in engine.diagnostics], text)
    return module


@each("statement", STATEMENTS, shape)
def test_statement_is_printed_as_written(statement: str) -> None:
    text = program(statement)
    module = parse(text)
    assert print_module(module) == text
    assert same_module(parse(text), module) is None


@each("statement", STATEMENTS, shape)
def test_generic_form_says_the_same(statement: str) -> None:
    module = parse(program(statement))
    generic = print_module(module, generic=True)
    again = parse(generic)
    assert same_module(again, module) is None
    assert print_module(again, generic=True) == generic


def test_every_shape_is_covered() -> None:
    names = re.findall(r'^ *(?:%[^=]*= )?"?(pto\.[\w.]+)', "\n".join(STATEMENTS), re.MULTILINE)
    assert {op_spec(op_class(name)).shape for name in names} == set(Shape)


SPELLINGS = [
    # (written, canonical): other spellings of the same statement
    ('pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]', "pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]"),
    ("pto.barrier #pto.pipe<PIPE_V>", "pto.barrier <PIPE_V>"),
    ("pto.mem_bar #pto.membar<VV_ALL>", 'pto.mem_bar "VV_ALL"'),
    ('pto.get_buf "PIPE_V", 1', 'pto.get_buf "PIPE_V", 1, 0'),
    ("pto.get_buf[#pto.pipe<PIPE_V>, 1]", 'pto.get_buf "PIPE_V", 1, 0'),
    ("%0 = pto.vtrc %vr, %m, R : $VR, $M -> $VR", '%0 = pto.vtrc %vr, %m, "R" : $VR, $M -> $VR'),
    ("pto.trowsum ins(%t : $T) outs(%t1 : $T) {}", "pto.trowsum ins(%t : $T) outs(%t1 : $T)"),
    (
        "pto.texp ins(%t : $T) outs(%t1 : $T) {precisionType = #pto<exp_precision default>}",
        "pto.texp ins(%t : $T) outs(%t1 : $T)",
    ),
    (
        "pto.tgather ins(%t : $T) outs(%t1 : $T) maskPattern = #pto.mask_pattern<P0101>",
        "pto.tgather ins(%t, {maskPattern = #pto.mask_pattern<P0101>} : $T) outs(%t1 : $T)",
    ),
    (
        "pto.tadd ins(%t, %t1 : $T, $T) outs(%t2 : $T) {z = 1 : i32, b, a = [1, 2]}",
        "pto.tadd ins(%t, %t1 : $T, $T) outs(%t2 : $T) {a = [1, 2], b, z = 1 : i32}",
    ),
    (
        "pto.mte_l0c_l1 %l0c, %l1, %a, %b, %c, %d, : $L0C, $L1, i64, i64, i64, i64",
        "pto.mte_l0c_l1 %l0c, %l1, %a, %b, %c, %d : $L0C, $L1, i64, i64, i64, i64",
    ),
    (
        "pto.mte_gm_ub %gm, %ub, %e, %a nburst(%b, %c, %d) loop1(%a, %b, %c) : "
        "$GM, $UB, i64, i64, i64, i64, i64, loop1 i64, i64, i64",
        "pto.mte_gm_ub %gm, %ub, %e, %a nburst(%b, %c, %d) loop(%a, %b, %c) : "
        "$GM, $UB, i64, i64, i64, i64, i64, loop i64, i64, i64",
    ),
    (
        "pto.mte_l1_l0a %l1, %l0a, m(%a), k(%b) : $L1, $L0A, i64, i64",
        "pto.mte_l1_l0a %l1, %l0a, %a, %b : $L1, $L0A, i64, i64",
    ),
    (
        '%0 = pto.reserve_buffer{name = "b", size = 4, location = #pto.address_space<vec>, '
        "auto = true} -> i32",
        '%0 = pto.reserve_buffer {name = "b", size = 4, location = <vec>, auto = true} -> i32',
    ),
    ("%0 = pto.partition_view %v, offsets = [%i, %j], sizes = [%k, %k] : $V",
     "%0 = pto.partition_view %v, offsets = [%i, %j], sizes = [%k, %k] : $V -> $P8"),
    ("%0 = pto.subview %t[%k, %k] sizes [8, 8] : $T",
     "%0 = pto.subview %t[%k, %k] sizes [8, 8] : $T -> !pto.tile_buf<vec, 8x8xf32>"),
    ("%0 = pto.tadd %n, %n1 : $TT", "%0 = pto.tadd %n, %n1 : ($TT, $TT) -> $TT"),
    ("pto.tstore ins(%n : $TT) outs(%pv : $P)", "pto.tstore %n, %pv : ($TT, $P) -> ()"),
    ("%g:2 = pto.get_validshape %dt : $D", "%0, %1 = pto.get_validshape %dt : $D"),
    ("pto.comm.tbroadcast(%pv, recv(%t, %t1), group(%pv1) : $P, $T, $P) {root = 0 : i32}",
     "pto.comm.tbroadcast(%pv, recv(%t, %t1), group(%pv1) : $P, $T, $T, $P) {root = 0 : i32}"),
    ('"pto.tadd"(%t, %t1, %t2) : ($T, $T, $T) -> ()', "pto.tadd ins(%t, %t1 : $T, $T) outs(%t2 : $T)"),
    ('"pto.sync.set"() <{event_id = 3 : i32, pipe = #pto.pipe<PIPE_V>}> : () -> ()',
     "pto.sync.set <PIPE_V>, 3"),
]  # fmt: skip


@in_groups(("written", "canonical"), SPELLINGS)
def test_other_spellings_become_canonical(written: str, canonical: str) -> None:
    constant = "%k = arith.constant 8 : index\n"
    module = parse(program(constant + written))
    assert print_module(module) == program(constant + canonical)


NOT_IN_CUSTOM_FORM = [
    # Neither a number nor a value for the event.
    '"pto.sync.set"() {pipe = #pto.pipe<PIPE_V>} : () -> ()',
    # A second group with three loop operands missing.
    '"pto.mte_gm_l1"(%gm, %l1, %a, %b, %c, %d, %e) '
    "{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0>} "
    ": ($GM, $L1, i64, i64, i64, i64, i64) -> ()",
    # A quantisation payload without its mode.
    '"pto.mte_l0c_l1"(%l0c, %l1, %a, %b, %c, %d, %s) '
    "{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0>} "
    ": ($L0C, $L1, i64, i64, i64, i64, f32) -> ()",
    # The scratch tile of a value form.
    '%0 = "pto.tmrgsort"(%n, %n1) {operandSegmentSizes = array<i32: 1, 0, 0, 1, 0>} : ($TT, $TT) -> $TT',
    # A token that the operation does not take.
    '%0 = "pto.ppack"(%m) {part = "MIDDLE"} : ($M) -> !pto.mask<b16>',
    # Half of a valid region.
    '%0 = "pto.subview"(%t, %i, %j, %i) {operandSegmentSizes = array<i32: 1, 2, 1, 0>, sizes = [8, 8]} '
    ": ($T, index, index, index) -> !pto.tile_buf<vec, 8x8xf32>",
]


@pytest.mark.parametrize("statement", NOT_IN_CUSTOM_FORM)
def test_what_the_custom_form_cannot_say_stays_generic(statement: str) -> None:
    text = program(statement)
    module = parse(text)
    assert print_module(module) == text
