"""The last value that a rule allows, and the first that it refuses; what the advice beside a message says."""

from __future__ import annotations

import pytest

from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.verify.engine.example_programs import example_program
from pto_dialect.verify.verifier import verify_module


def diagnostics(statements: str, target: str = "a5") -> list[Diagnostic]:
    engine = DiagnosticEngine(DiagnosticOptions(pedantic=True, max_errors=0))
    module = parse_program(SourceFile("case.pto", example_program(statements, target)), engine)
    assert module is not None and not engine.has_errors, [d.message for d in engine.diagnostics]
    verify_module(module, engine)
    return list(engine.diagnostics)


def said(statements: str, rule: str, target: str = "a5") -> list[str]:
    return [one.message for one in diagnostics(statements, target) if one.rule == rule]


def vec(element: str, rows: int, cols: int, valid: str = "", more: str = "") -> str:
    return f"!pto.tile_buf<vec, {rows}x{cols}x{element}{', valid=' + valid if valid else ''}{more}>"


# ---------------------------------------------------------------- histograms


@pytest.mark.parametrize(
    ("cols", "valid", "found"),
    [
        (256, "16x256", None), (264, "16x256", None), (264, "16x264", None), (256, "16x255", "256 (255 valid)"),
        (256, "16x1", "256 (1 valid)"), (256, "16x0", None), (248, "16x248", "248 (248 valid)"),
        (256, "16x?", None), (248, "16x0", "248 (0 valid)"),
    ],
)  # fmt: skip
def test_bins_of_a_histogram(cols: int, valid: str, found: str | None) -> None:
    src, idx = vec("ui32", 16, 64), vec("ui8", 1, 32, "1x16")
    text = f"pto.thistogram ins(%a, %i : {src}, {idx}) outs(%d : {vec('ui32', 16, cols, valid)}) {{byte = 3 : i32}}"
    told = [one for one in said(text, "hist-form") if "columns" in one]
    assert told == ([f"dst needs 256 columns, found {found}"] if found else [])


@pytest.mark.parametrize(("byte", "refused"), [(-1, True), (0, False), (1, False), (2, False), (3, False), (4, True)])
def test_byte_of_a_histogram(byte: int, refused: bool) -> None:
    src, idx, dst = vec("ui32", 16, 64), vec("ui8", 1, 32, "1x16"), vec("ui32", 16, 256)
    text = f"pto.thistogram ins(%a, %i : {src}, {idx}) outs(%d : {dst}) {{byte = {byte} : i32}}"
    assert (f"byte must be 0, 1, 2 or 3, found {byte}" in said(text, "hist-form")) == refused


def test_a_histogram_of_operands_that_are_no_tiles() -> None:
    """Other rules report of them; what is known of the others is still looked at."""
    dst, idx = vec("ui32", 16, 256), vec("ui8", 1, 32, "1x16")
    for operands in (f"%p, %i : !pto.ptr<ui8, ub>, {idx}", f"%a, %p : {vec('ui32', 16, 64)}, !pto.ptr<ui8, ub>"):
        assert diagnostics(f"pto.thistogram ins({operands}) outs(%d : {dst}) {{byte = 3 : i32}}")


# ---------------------------------------------------------------- quantisation


@pytest.mark.parametrize(
    ("parameter", "told"),
    [
        (vec("f32", 16, 1, more=", blayout=col_major"), []),
        (vec("f32", 16, 1, "15x1", ", blayout=col_major"),
         ["fp of pto.tquant has one valid column and the rows of dst, found 15x1"]),
        (vec("f32", 16, 2, "16x2", ", blayout=col_major"),
         ["fp of pto.tquant has one valid column and the rows of dst, found 16x2"]),
        (vec("f32", 16, 2, "16x?", ", blayout=col_major"), []),
        (vec("f32", 1, 8, "1x1"), []),
        (vec("f32", 1, 8, "1x2"), ["fp of pto.tquant is one column (col_major), found a row_major tile"]),
        (vec("f32", 2, 8, "2x1"), ["fp of pto.tquant is one column (col_major), found a row_major tile"]),
        (vec("f32", 16, 64), ["fp of pto.tquant is one column (col_major), found a row_major tile"]),
    ],
)  # fmt: skip
def test_parameters_of_a_quantisation(parameter: str, told: list[str]) -> None:
    src, dst = vec("f32", 16, 64), vec("i8", 16, 64)
    text = f"pto.tquant ins(%a, %s : {src}, {parameter}) outs(%d : {dst}) {{quant_type = #pto<quant_type INT8_SYM>}}"
    assert [one for one in said(text, "quant-types", "a2a3") if one.startswith("fp of")] == told


# ---------------------------------------------------------------- broadcasts and selections


@pytest.mark.parametrize(
    ("valid", "told"), [("0x0", False), ("0x16", True), ("16x0", True), ("16x16", False), ("1x1", False)]
)
def test_broadcasts_over_nothing(valid: str, told: bool) -> None:
    full = vec("f32", 16, 16, valid)
    column = vec("f32", 16, 1, f"{valid.split('x')[0]}x1", ", blayout=col_major")
    text = f"pto.trowexpandmax ins(%a, %b : {full}, {column}) outs(%d : {full})"
    assert bool(said(text, "rowexpand-nonempty")) == told


@pytest.mark.parametrize(
    ("rows", "cols", "told"), [(16, 32, False), (8, 32, False), (4, 32, False), (3, 32, True), (1, 32, True)]
)
def test_bits_of_a_selection(rows: int, cols: int, told: bool) -> None:
    """1024 elements need 128 bytes of mask."""
    tile = vec("f32", 16, 64)
    operands = f"{vec('ui8', rows, cols)}, {tile}, {tile}, {vec('ui8', 1, 32)}"
    text = f"pto.tsel ins(%m, %a, %b, %t : {operands}) outs(%d : {tile})"
    found = [one.message for one in diagnostics(text) if "bits for" in one.message]
    assert found == ([f"mask of pto.tsel holds {rows * cols * 8} bits for 1024 elements"] if told else [])


# ---------------------------------------------------------------- locks


@pytest.mark.parametrize(
    ("pipe", "refused"),
    [(pipe, False) for pipe in ("PIPE_S", "PIPE_V", "PIPE_M", "PIPE_MTE1", "PIPE_MTE2", "PIPE_MTE3", "PIPE_FIX")]
    + [("PIPE_ALL", True), ("PIPE_UNASSIGNED", True)],
)
def test_pipes_of_locks(pipe: str, refused: bool) -> None:
    found = said(f'pto.get_buf "{pipe}", 3, 0', "sync-buf-range")
    assert found == ([f"pto.get_buf works for one pipe, found {pipe}"] if refused else [])


@pytest.mark.parametrize(("number", "refused"), [(-1, True), (0, False), (31, False), (32, True)])
def test_numbers_of_locks(number: int, refused: bool) -> None:
    assert bool(said(f'pto.get_buf "PIPE_V", {number}, 0', "sync-buf-range")) == refused


# ---------------------------------------------------------------- views


@pytest.mark.parametrize(
    ("layout", "strides", "told"),
    [("nd", "%c32, %c1", False), ("nd", "%c1, %c16", True), ("dn", "%c1, %c16", False), ("dn", "%c32, %c1", True)],
)
def test_layouts_of_views(layout: str, strides: str, told: bool) -> None:
    constants = "\n".join(f"%c{n} = arith.constant {n} : index" for n in (1, 16, 32))
    text = (
        f"{constants}\n%at = arith.constant 0 : i64\n%q = pto.castptr %at : i64 -> !pto.ptr<f32, gm>\n"
        f"%v = pto.make_tensor_view %q, shape = [%c16, %c32], strides = [{strides}] "
        f"{{layout = #pto.layout<{layout}>}} : !pto.tensor_view<16x32xf32>"
    )
    assert any("states layout" in one.message for one in diagnostics(text)) == told


# ---------------------------------------------------------------- logical vectors


@pytest.mark.parametrize(
    ("store", "memory", "told"),
    [
        ('pto.vmi.vstore %v, %p[%o], %m {group = 8 : i64}', "i8", False),
        ("pto.vmi.vstore %v, %p[%o], %m", "i8", True),
        ("pto.vmi.vstore %v, %p[%o], %m", "i16", True),
        ("pto.vmi.vstore %v, %p[%o], %m", "i32", False),
    ],
)  # fmt: skip
def test_bytes_of_grouped_slots(store: str, memory: str, told: bool) -> None:
    """Groups pack the low bytes of their slots; other stores do not."""
    text = f"{store} : !pto.vmi.vreg<64xi32>, !pto.ptr<{memory}, ub>, !pto.vmi.mask<64xpred>"
    found = [one.message for one in diagnostics(text) if one.message.startswith("memory has")]
    assert found == ([f"memory has {memory} elements, the vector i32"] if told else [])


@pytest.mark.parametrize(("memory", "told"), [("i8", False), ("i16", True), ("i32", False)])
def test_bytes_of_groups(memory: str, told: bool) -> None:
    text = (
        f"pto.vmi.group_store %v, %p[%o], %s {{num_groups = 8 : i64}} : !pto.vmi.vreg<64xi32>, !pto.ptr<{memory}, ub>"
    )
    assert any(one.message.startswith("memory has") for one in diagnostics(text)) == told


@pytest.mark.parametrize(
    ("lanes", "index", "told"),
    [("f32", "i32", False), ("f32", "ui32", False), ("f32", "si32", False), ("f32", "f32", True), ("f32", "i16", True),
     ("i8", "i8", False), ("i8", "!pto.hif8", True), ("i8", "f8E4M3FN", True)],
)  # fmt: skip
def test_lane_numbers(lanes: str, index: str, told: bool) -> None:
    vector = f"!pto.vmi.vreg<256x{lanes}>"
    text = f"%r = pto.vmi.vselr %a, %i : {vector}, !pto.vmi.vreg<256x{index}> -> {vector}"
    assert any("-bit integers, found" in one.message for one in diagnostics(text)) == told


# ---------------------------------------------------------------- advice


T, P = vec("f32", 16, 16), "!pto.ptr<f32, ub>"
ADVICE = {
    f"pto.tadds ins(%a, %b : {T}, {T}) outs(%d : {T})": "pto.tadd takes two tiles",
    f"pto.tadd ins(%a, %s : {T}, f32) outs(%d : {T})": "pto.tadds takes a tile and a number",
    f"pto.tabs ins(%s : f32) outs(%d : {T})": None,
    "%r = arith.addi %s, %s : f32": "arith.addf is for f32",
    "%r = arith.addf %w, %w : i32": "arith.addi is for i32",
    "%r = arith.subi %s, %s : f32": "arith.subf is for f32",
    "%r = math.absf %w : i32": "math.absi is for i32",
    "%r = math.exp %w : i32": None,
}


@pytest.mark.parametrize("text", ADVICE)
def test_advice_about_types(text: str) -> None:
    found = [one for one in diagnostics(text) if one.severity.name == "ERROR"]
    assert found and (found[0].help or None) == ADVICE[text]
