"""Cycles from the text of programs. Source: docs/reference/cycles.md, "Without a run", "What counts"."""

from __future__ import annotations

import pytest

from pto_dialect import parse
from pto_dialect.analysis.cycles.pipes import Pipes
from pto_dialect.analysis.cycles.static import ModuleCycles, static_cycles

VEC = "!pto.tile_buf<vec, 16x64xf32>"
DYNAMIC = "!pto.tile_buf<vec, 16x64xf32, valid=?x?>"


def cycles(body: str, arch: str = "a5", arguments: str = "", **options: str) -> ModuleCycles:
    head = f'module attributes {{pto.target_arch = "{arch}"}} {{\n  func.func @f({arguments}) {{'
    text = f"{head}\n{body}\n    return\n  }}\n}}"
    return static_cycles(parse(text), "f.pto", None, None, options)


LOOP = f"""
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %c7 = arith.constant 7 : index
    scf.for %i = %c0 to %c7 step %c3 {{
      pto.texp ins(%x : {VEC}) outs(%x : {VEC})
      scf.for %j = %c0 to %n step %c3 {{
        pto.tadd ins(%x, %x : {VEC}, {VEC}) outs(%x : {VEC})
      }}
    }}
"""


def test_loops_with_constant_bounds_are_counted() -> None:
    found = cycles(LOOP, arguments=f"%x: {VEC}, %n: index")
    assert [(line.operation, line.line, line.count, line.open) for line in found.lines] == [
        ("pto.texp", 8, 3, False),
        ("pto.tadd", 10, 3, True),
    ]
    assert found.open == 1
    (total,) = found.pipes.values()
    assert total.cycles == pytest.approx(3 * sum(line.estimate.cycles for line in found.lines))
    assert found.total.high == total.high


@pytest.mark.parametrize(
    ("bounds", "count"),
    [
        (("%c3", "%c17", "%c2"), 7), (("%c3", "%c18", "%c2"), 8), (("%c3", "%c3", "%c2"), 0),
        (("%c17", "%c3", "%c2"), 0), (("%n", "%c17", "%c2"), None), (("%c3", "%n", "%c2"), None),
        (("%c3", "%c17", "%n"), None), (("%c3", "%c17", "%c0"), None),
    ],
)  # fmt: skip
def test_iterations_of_loops(bounds: tuple[str, str, str], count: int | None) -> None:
    """From the first number up to the last one, which is none of them; as one iteration where a number is not known."""
    constants = "\n".join(f"%c{number} = arith.constant {number} : index" for number in (0, 2, 3, 17, 18))
    body = f"scf.for %i = {bounds[0]} to {bounds[1]} step {bounds[2]} {{\npto.texp ins(%x : {VEC}) outs(%x : {VEC})\n}}"
    (line,) = cycles(f"{constants}\n{body}", arguments=f"%x: {VEC}, %n: index").lines
    assert (line.count, line.open) == ((1, True) if count is None else (count, False))


@pytest.mark.parametrize(
    ("around", "open_"),
    [
        ("pto.section.vector {", False),
        ("scf.if %b {", True),
        ("scf.while : () -> () {\nscf.condition(%b)\n} do {", True),
    ],
)
def test_statements_in_a_section_run_once(around: str, open_: bool) -> None:
    end = "scf.yield\n}" if "while" in around else "}"
    body = f"{around}\npto.texp ins(%x : {VEC}) outs(%x : {VEC})\n{end}"
    (line,) = cycles(body, arguments=f"%x: {VEC}, %b: i1").lines
    assert (line.count, line.open) == (1, open_)


def test_variants_and_high_precision_are_taken_from_options_and_attributes() -> None:
    tile = "!pto.tile_buf<vec, 16x128xf32>"
    body = f"    pto.trecip ins(%x : {tile}) outs(%x : {tile})"
    plain = cycles(body, arguments=f"%x: {tile}").lines[0].estimate
    rows = cycles(body, arguments=f"%x: {tile}", variant="2D_NO_POST_UPDATE").lines[0].estimate
    slow = cycles(body, arguments=f"%x: {tile}", precision="high_precision").lines[0].estimate
    assert plain.cycles < rows.cycles < slow.cycles


@pytest.mark.parametrize("arch", ["a2a3", "a5"])
@pytest.mark.parametrize("name", ["texp", "tneg", "tabs"])
def test_a_tile_without_rows_takes_less_than_one_with_a_row(name: str, arch: str) -> None:
    def counted(rows: int) -> float:
        tile = f"!pto.tile_buf<vec, 16x64xf32, valid={rows}x64>"
        (line,) = cycles(f"    pto.{name} ins(%x : {tile}) outs(%x : {tile})", arch, f"%x: {tile}").lines
        return line.estimate.cycles

    assert counted(0) < counted(1) < counted(16)


def test_dynamic_shapes_and_unknown_operations_have_ranges() -> None:
    body = f"    pto.texp ins(%x : {DYNAMIC}) outs(%x : {DYNAMIC})"
    found = cycles(body, arguments=f"%x: {DYNAMIC}")
    assert [line.estimate.evidence for line in found.lines] == ["assumed"]
    assert found.ranges == {"pto.texp f32": 1}
    column = "!pto.tile_buf<vec, 16x1xf32, blayout=col_major>"
    body = f"    pto.trowsum ins(%x, %t : {VEC}, {VEC}) outs(%y : {column})"
    found = cycles(body, arguments=f"%x: {VEC}, %t: {VEC}, %y: {column}")
    (line,) = found.lines
    assert line.estimate.evidence == "family" and found.ranges == {"pto.trowsum f32": 1}
    assert found.total.low == line.estimate.low and found.total.high == line.estimate.high


def test_products_count_their_inner_dimension() -> None:
    left = "!pto.tile_buf<left, 64x32xf16, slayout=row_major>"
    right = "!pto.tile_buf<right, 32x48xf16, slayout=col_major>"
    acc = "!pto.tile_buf<acc, 64x48xf32, blayout=col_major, slayout=row_major, fractal=1024>"
    body = f"    pto.tmatmul ins(%a, %b : {left}, {right}) outs(%c : {acc})"
    found = cycles(body, "a2a3", f"%a: {left}, %b: {right}, %c: {acc}")
    assert [(line.pipe, line.estimate.cycles) for line in found.lines] == [("PIPE_M", 6 + 4 * 2 * 3)]


def test_pipes_overlap_but_for_what_they_wait_for() -> None:
    pipes = Pipes()
    loaded = pipes.issue("MTE2", 100)
    assert pipes.issue("MTE2", 50) == 150
    assert pipes.issue("V", 30, (loaded,)) == 130
    assert pipes.issue("V", 5) == 135
    assert pipes.end == 150
    assert pipes.busy == {"MTE2": 150, "V": 35}


@pytest.mark.parametrize("arch", ["a2a3", "a5"])
@pytest.mark.parametrize(("rows", "cols", "valid"), [(64, 8, "40x3"), (128, 16, "100x13")])
def test_consecutive_columns_are_the_rows_of_the_work(arch: str, rows: int, cols: int, valid: str) -> None:
    """A tile in columns takes what the tile takes whose rows are those columns, and no other does."""

    def counted(tile: str) -> float:
        (line,) = cycles(f"    pto.tadds ins(%x, %s : {tile}, f32) outs(%x : {tile})", arch,
                         f"%x: {tile}, %s: f32").lines  # fmt: skip
        return line.estimate.cycles

    turned = "x".join(reversed(valid.split("x")))
    columns = counted(f"!pto.tile_buf<vec, {rows}x{cols}xf32, valid={valid}, blayout=col_major>")
    assert columns == counted(f"!pto.tile_buf<vec, {cols}x{rows}xf32, valid={turned}>")
    assert columns != counted(f"!pto.tile_buf<vec, {rows}x{cols}xf32, valid={valid}>")
