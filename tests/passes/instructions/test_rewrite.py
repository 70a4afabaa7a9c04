"""What passes have in common that replace tile operations by instructions."""

import numpy as np
import pytest
from cube_programs import Program, lowered, passed

from pto_dialect import parse, print_module


def test_a_loop_without_iterations_is_taken_out():
    found = Program(a="f32", c="f32")
    for name, rows in (("x", 4), ("row", 1)):
        found.tile(name, "vec", rows, 64, "f32")
    for name in "ac":
        found.view(f"v{name}", name, (4, 64), (64, 1))
    found.op("tload", "va", to="x")
    found.lines.append("%kept = scf.for %i = %c1 to %c1 step %c1 iter_args(%same = %c0) -> (index) {")
    found.op("tcolexpand", "row", to="x")
    found.lines += ["%next = arith.addi %same, %c1 : index", "scf.yield %next : index", "}"]
    found.lines.append(f"%first = pto.tgetval ins(%x, %kept : {found.types['x']}, index) outs : f32")
    found.op("tadds", "x", to="x", extra=", %first", extra_types=", f32")
    found.op("tstore", "x", to="vc")
    # Both tiles lie at one address, for the loop needs no bytes; a function could not spread the row.
    assert print_module(passed(str(found), "assign-memory")[0]).count("addr = %c0_i64") == 2
    a = np.arange(256, dtype=np.float32).reshape(4, 64) + 3
    module, result = lowered(found, "lower-vector", a=a, c=np.zeros_like(a))
    assert np.array_equal(result["c"], a + 3)
    assert "tcolexpand" not in print_module(module)
    assert "iter_args" not in print_module(module)


FIRST = """module attributes {pto.target_arch = "a5"} {
  func.func private @f(%x: !pto.tile_buf<vec, 16x16xf32>, %y: !pto.tile_buf<vec, 16x16xf32>) {
    pto.tmov ins(%x : !pto.tile_buf<vec, 16x16xf32>) outs(%y : !pto.tile_buf<vec, 16x16xf32>)
    return
  }
}
"""


def test_constants_precede_instructions_at_the_beginning_of_a_function():
    module, said = passed(FIRST, "lower-vector")
    assert said == []
    assert "pto.vlds" in print_module(module)
    parse(print_module(module))


RESULT = """module attributes {pto.target_arch = "a5"} {
  func.func @f(%a: !pto.ptr<f32>) -> tensor<16x16xf32> {
    %c0 = arith.constant 0 : i64
    %zero = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %v = pto.make_tensor_view %a, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    %p = pto.partition_view %v, offsets = [%zero, %zero], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> -> !PART
    %s = pto.alloc_tile addr = %c0 : !TILE
    %r = pto.tstore ins(%s : !TILE) outs(%p : !PART) -> tensor<16x16xf32>
    return %r : tensor<16x16xf32>
  }
}
""".replace("!PART", "!pto.partition_tensor_view<16x16xf32>")


@pytest.mark.parametrize(
    ("call", "tile"),
    [
        ("lower-cube", "!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>"),
        ("lower-transfers", "!pto.tile_buf<vec, 16x16xf32>"),
    ],
)
def test_a_store_whose_result_is_used_is_refused_at_its_location(call: str, tile: str):
    text = RESULT.replace("!TILE", tile)
    before = print_module(parse(text))
    module, said = passed(text, call)
    assert said == [
        f"{call}-unsupported: {call} cannot lower pto.tstore: its result is used, and no instruction has one"
    ]
    assert print_module(module) == before
