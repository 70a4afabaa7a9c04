"""Numbers of flags, buffers, semaphores and slots: what is generated for an argument that is one of them."""

from __future__ import annotations

import pytest
from parse_helpers import parsed

from pto_dialect.driver.explore.ranges import largest_numbers
from pto_dialect.driver.explore.synthesized import synthesize_arguments
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

FLAG = 'pto.set_flag_dyn["PIPE_MTE2", "PIPE_V", {0}]\n  pto.wait_flag_dyn["PIPE_MTE2", "PIPE_V", {0}]'
USES = {
    "a flag": (FLAG.format("%n"), 7),
    "a buffer": ('pto.get_buf_dyn "PIPE_V", %n\n  pto.rls_buf_dyn "PIPE_V", %n', 31),
    "converted": (
        f"%i = arith.index_cast %n : index to i32\n  %f = arith.index_cast %i : i32 to index\n  {FLAG.format('%f')}",
        7,
    ),
    "a loop up to it": (f"scf.for %i = %c0 to %n step %c1 {{\n  {FLAG.format('%i')}\n  }}", 8),
    "called": ("func.call @both(%n) : (index) -> ()", 7),
    "the smaller one": (f'pto.get_buf_dyn "PIPE_V", %n\n  pto.rls_buf_dyn "PIPE_V", %n\n  {FLAG.format("%n")}', 7),
    "a flag by way of an array": (
        "%a = pto.declare_eventid_array -> !pto.eventid_array<4>\n"
        "  pto.eventid_array_set %a[%c0], %n : !pto.eventid_array<4>",
        7,
    ),
    "the place in an array": (
        "%a = pto.declare_eventid_array -> !pto.eventid_array<4>\n"
        "  pto.eventid_array_set %a[%n], %c0 : !pto.eventid_array<4>",
        3,
    ),
    "a slot": (
        "%m = pto.alloc_multi_tile : !pto.multi_tile_buf<vec, 8x8xf32, count=2>\n"
        "  %t = pto.multi_tile_get %m[%n] : !pto.multi_tile_buf<vec, 8x8xf32, count=2> -> !pto.tile_buf<vec, 8x8xf32>",
        1,
    ),
    "something else": ("%s = arith.addi %n, %c1 : index", None),
}


def kernel(use: str) -> Kernel:
    module, found = parsed(
        'module attributes {pto.target_arch = "a5"} {\n'
        f"func.func @both(%f: index) {{\n  {FLAG.format('%f')}\n  return\n}}\n"
        "func.func @k(%x: !pto.ptr<f32>, %n: index) attributes {pto.kernel} {\n"
        f"  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  {use}\n  return\n}}\n}}\n"
    )
    assert found == []
    return Kernel(module, None, None, RunOptions())


@pytest.mark.parametrize("use", USES)
def test_uses_bound_a_number(use: str) -> None:
    text, most = USES[use]
    assert largest_numbers(kernel(text)) == ({} if most is None else {1: most})


@pytest.mark.parametrize("use", USES)
def test_numbers_are_generated_within_their_bounds(use: str) -> None:
    text, most = USES[use]
    made = {name: given.content.text for name, given in synthesize_arguments(kernel(text), {}, 0, 1)}
    assert made["n"] == {None: "32", 1: "1", 3: "1", 7: "1", 8: "1", 31: "16"}[most]
