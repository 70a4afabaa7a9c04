"""Products that keep their tiles, and why.

Source: docs/reference/numerics.md, "Matrix products".
"""

from __future__ import annotations

import pytest
from cube_programs import tile_type
from plain_families import Kind
from plain_products import Plain

from pto_dialect import parse, print_module
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.passes.registry import make_pass

PLAIN = str(Plain(32, 64, 64, loops="ijp"))
STORE = "pto.tstore ins(%s"


def tiled(text: str, call: str = "tile-cube") -> tuple[str, list[str]]:
    """The text after the pass, and the reasons that it gives."""
    module = parse(text, "program.pto")
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0, pedantic=True))
    make_pass(call, None).run(module, engine)
    assert {one.rule for one in engine.diagnostics} <= {"tile-cube-unchanged"}
    return print_module(module), [one.message.partition("as it is: ")[2] for one in engine.diagnostics]


def said(text: str, call: str = "tile-cube") -> list[str]:
    """The reasons; the program has not changed."""
    after, reasons = tiled(text, call)
    assert after == print_module(parse(text, "program.pto"))
    return reasons


CHANGES = [
    ("its result is in the array of an operand", "%c_all = pto.make_tensor_view %c", "%c_all = pto.make_tensor_view %b",
     "it stores to the array of an operand"),
    ("rows of the result overlap", "strides = [%n64, %n1] : !pto.tensor_view<?x?xf32>",
     "strides = [%n32, %n1] : !pto.tensor_view<?x?xf32>", "elements of its result may share bytes"),
    ("the sums begin in the second iteration", "arith.cmpi eq, %p, %n0", "arith.cmpi eq, %p, %n16",
     "nobody knows in which iteration its sums begin"),
    ("the sums begin below", "arith.cmpi eq, %p, %n0", "arith.cmpi slt, %p, %n0",
     "nobody knows in which iteration its sums begin"),
    ("every other tile along k", "to %n64 step %n16 {\n%amp", "to %n64 step %n32 {\n%amp",
     "its loop along k does not go from one tile of its operands to the next"),
    ("another use of the accumulator", STORE, "pto.tstore ins(%s : ACC) outs(%cp : PART)\n" + STORE,
     "pto.tstore uses %s too"),
    ("a barrier", STORE, "pto.barrier <PIPE_ALL>\n" + STORE, "pto.barrier is between its operations"),
    ("an address", "%s = pto.alloc_tile :", "%at = arith.constant 0 : i64\n%s = pto.alloc_tile addr = %at :",
     "%s has an address already, or is a part of another tile"),
    ("a phase", "outs(%cp : PART)", "outs(%cp : PART) {stPhase = #pto<st_phase final>}", "pto.tstore has stPhase"),
    ("a load before", "pto.tmov ins(%am", "pto.tload ins(%bmp : INPUT) outs(%am : MAT)\npto.tmov ins(%am",
     "its loop along k does not go from one tile of its operands to the next"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "reason"), [c[1:] for c in CHANGES], ids=[c[0] for c in CHANGES])
def test_reasons(old: str, new: str, reason: str) -> None:
    kinds = {
        "ACC": "!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>",
        "MAT": "!pto.tile_buf<mat, 16x16xf16, blayout=col_major, slayout=row_major>",
        "PART": "!pto.partition_tensor_view<16x16xf32>",
        "INPUT": "!pto.partition_tensor_view<16x16xf16>",
    }
    for name, kind in kinds.items():
        old, new = old.replace(name, kind), new.replace(name, kind)
    assert old in PLAIN
    found = said(PLAIN.replace(old, new))
    assert reason in found, found


def test_a_base_tile_stays():
    assert said(str(Plain(32, 32, 32))) == ["it is one base tile"]


def test_sizes_that_do_not_fit():
    found = said(str(Plain(512, 512, 512, loops="ijp")), "tile-cube{rows=256 columns=512}")
    assert found == ["no tiles of these sizes fit the memories of the cube core"]


def test_results_may_be_in_any_array_that_is_not_read():
    text, reasons = tiled(PLAIN)
    assert not reasons
    assert "scf.for %i" not in text


def test_k_of_scaled_products_is_a_multiple_of_a_pair_of_scales():
    kind = Kind("tmatmul.mx", m=32, n=64, k=96, element="f8E4M3FN")
    assert said(str(kind)) == ["its k is no multiple of 64"]


def test_scales_of_other_elements():
    text = str(Kind("tmatmul.mx", m=32, n=64, k=64, element="f8E4M3FN"))
    assert said(text.replace("divui %p, %n32", "divui %p, %n64")) == [
        "its loop along k does not go from one tile of its operands to the next"
    ]


def test_a_loop_that_reads_a_number_of_each_matrix_stays():
    text = str(Kind(batch=3, by="pointer"))
    inside = "%aat = arith.muli %g, %n2048 : index\n"
    assert inside in text
    read = "%old = pto.load_scalar %a[%g] : !pto.ptr<f16> -> f16\n"
    after, reasons = tiled(text.replace(inside, inside + read))
    assert not reasons
    assert "scf.for %g" in after
    assert "scf.for %g" not in tiled(text)[0]


def test_products_that_blocks_cannot_share():
    call = "tile-cube{rows=16 columns=32 blocks=4}"
    added = Plain(32, 64, 32, store=" {atomicType = #pto<atomic_type atomic_add>}")
    assert said(str(added), call) == ["each block adds its result to what is there"]
    found = said(str(Kind(batch=2, by="blocks")), call)
    assert found == ["pto.get_block_idx lets blocks compute different parts already"]
    twice = PLAIN.replace("return", "pto.barrier <PIPE_ALL>\nreturn")
    assert said(twice, call) == ["pto.barrier uses what blocks would not have computed"]


def test_sums_that_stay_on_the_chip():
    kinds = (("left", 16, 16, "f16"), ("right", 16, 16, "f16"), ("acc", 16, 16, "f32"), ("mat", 16, 16, "f32"))
    left, right, acc, mat = (tile_type(*kind) for kind in kinds)
    text = f"""
    func.func @f(%l: {left}, %r: {right}, %s: {acc}, %m: {mat}) {{
      pto.tmatmul ins(%l, %r : {left}, {right}) outs(%s : {acc})
      pto.tmov ins(%s : {acc}) outs(%m : {mat})
      return
    }}
    """
    assert said(text) == ["no store writes its sums to global memory"]
