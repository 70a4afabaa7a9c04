"""Extents of multiply-add, write-back and bursts against formulas, for random sizes.

Source: docs/reference/constraints.md, "Products on pointers", "Write-back of accumulators", "Transfers";
docs/reference/targets.md, "Products on pointers".
"""

from math import ceil

from hypothesis import given
from hypothesis import strategies as st

from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.verify.verifier import verify_module

WIDTHS = {"f16": (2, "f32"), "f32": (4, "f32"), "i8": (1, "i32")}
SIZES = st.one_of(st.integers(-2, 40), st.integers(40, 4100), st.sampled_from([255, 256, 257, 4095, 4096]))


def reported(statement: str, **arguments: str) -> list[str]:
    """Ids of what is reported for one statement; ``{n}`` in it is the i64 constant n."""
    lines = ['module attributes {pto.target_arch = "a5"} {', "func.func @f("]
    lines.append(", ".join(f"%{name}: {type_}" for name, type_ in arguments.items()) + ") {")
    parts = statement.split("{")
    text = parts[0]
    for index, part in enumerate(parts[1:]):
        number, rest = part.split("}", 1)
        lines.append(f"%n{index} = arith.constant {number} : i64")
        text += f"%n{index}{rest}"
    source = "\n".join((*lines, text, "return", "}", "}"))
    engine = DiagnosticEngine(DiagnosticOptions(pedantic=True, max_errors=0))
    module = parse_program(SourceFile("x.pto", source), engine)
    assert module is not None and not engine.has_errors, engine.diagnostics
    verify_module(module, engine)
    return [diagnostic.rule for diagnostic in engine.diagnostics]


def up(number: int, unit: int) -> int:
    return unit * ceil(number / unit)


@given(st.sampled_from(sorted(WIDTHS)), SIZES, SIZES, SIZES, st.booleans())
def test_mad_extents(element, m, n, k, disable_gemv):
    size, accumulator = WIDTHS[element]
    a, b, c = f"!pto.ptr<{element}, l0a>", f"!pto.ptr<{element}, l0b>", f"!pto.ptr<{accumulator}, l0c>"
    clause = " disable_gemv" if disable_gemv else ""
    statement = f"pto.mad %a, %b, %c, {{{m}}}, {{{n}}}, {{{k}}}{clause} : {a}, {b}, {c}, i64, i64, i64"
    found = reported(statement, a=a, b=b, c=c)
    expected = ["mad-mnk-positive"] * sum(x < 1 for x in (m, n, k))
    expected += ["mad-mnk-range"] * sum(x > 4095 for x in (m, n, k))
    if not expected:
        rows = up(m, 16) if m != 1 or disable_gemv else 1
        depth = up(k, 32 // size) * size
        needed = (rows * depth, 65536), (up(n, 16) * depth, 65536), (up(m, 16) * up(n, 16) * 4, 262144)
        expected = ["mad-l0-footprint"] * sum(amount > room for amount, room in needed)
        expected += ["mad-disable-gemv-noop"] * (disable_gemv and m != 1)
    assert sorted(found) == sorted(expected)


@given(SIZES, SIZES, SIZES, SIZES, st.sampled_from(["nz2nd", "nz2dn"]))
def test_write_back_extents(m, n, src_stride, dst_stride, layout):
    s, d = "!pto.ptr<f32, l0c>", "!pto.ptr<f32, l1>"
    clause, more = ("nz2nd", "") if layout == "nz2nd" else ("nz2dn({1})", ", i64")
    sizes = f"{{{m}}}, {{{n}}}, {{{src_stride}}}, {{{dst_stride}}}"
    found = reported(f"pto.mte_l0c_l1 %s, %d, {sizes}, {clause} : {s}, {d}, i64, i64, i64, i64{more}", s=s, d=d)
    expected = ["fixp-extent"] * (sum(x < 1 for x in (m, n)) + sum(x < 0 for x in (src_stride, dst_stride)))
    if not expected:
        expected = ["fixp-src-stride-rows"] * (n > 16 and src_stride < m)
        rows, length = (m, n) if layout == "nz2nd" else (n, m)
        expected += ["fixp-dst-stride-overlap"] * (rows > 1 and dst_stride < length)
    assert sorted(found) == sorted(expected)


@given(
    st.integers(-2, 300),
    st.one_of(st.integers(-1, 4), st.sampled_from([2**21 - 1, 2**21])),
    st.one_of(st.integers(0, 300), st.sampled_from([2**40 - 32, 2**40])),
    st.one_of(st.integers(0, 300), st.sampled_from([2**21 - 32, 2**21])),
)
def test_bursts(length, count, src_stride, dst_stride):
    s, d = "!pto.ptr<f32, gm>", "!pto.ptr<f32, ub>"
    groups = f"{{{length}}} nburst({{{count}}}, {{{src_stride}}}, {{{dst_stride}}})"
    found = reported(f"pto.mte_gm_ub %s, %d, {{0}}, {groups} : {s}, {d}, i64, i64, i64, i64, i64", s=s, d=d)
    fields = ((count, 21), (src_stride, 40), (dst_stride, 21))
    expected = ["dma-nonneg"] * ((length < 0) + (count < 0) + sum(x >= 2**bits for x, bits in fields))
    if length >= 0 and count > 1:
        if dst_stride % 32:
            expected.append("dma-dst-align")
        elif dst_stride < length:
            expected.append("dma-overlap")
    assert sorted(found) == sorted(expected)
