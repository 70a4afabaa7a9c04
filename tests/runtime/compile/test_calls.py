"""Helper functions: tiles as arguments and results, several results, memory of their own, kernels of both kinds."""

from __future__ import annotations

import numpy as np
import pytest
from parse_helpers import parsed

from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

TILE = "!pto.tile_buf<vec, 8x16xf32>"
PART = "!pto.partition_tensor_view<8x16xf32>"

LOAD = f"""
func.func private @load(%p: !pto.ptr<f32>, %t: {TILE}) -> ({TILE}, index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %v = pto.make_tensor_view %p, shape = [%c8, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
  %part = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c8, %c16] : !pto.tensor_view<?x?xf32> -> {PART}
  pto.tload ins(%part : {PART}) outs(%t : {TILE})
  return %t, %c8 : {TILE}, index
}}
func.func private @store(%t: {TILE}, %p: !pto.ptr<f32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %v = pto.make_tensor_view %p, shape = [%c8, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
  %part = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c8, %c16] : !pto.tensor_view<?x?xf32> -> {PART}
  pto.tstore ins(%t : {TILE}) outs(%part : {PART})
  return
}}
"""

EARLY = "pto.wait_flag[<PIPE_MTE1>, <PIPE_M>, <EVENT_ID7>]\npto.set_flag[<PIPE_MTE1>, <PIPE_M>, <EVENT_ID7>]\n"
"""Makes a run start over with queues; orders nothing that the programs here do."""


def run(helpers: str, body: str, arguments: str, *values: object) -> Kernel:
    text = f"module {{{helpers}\nfunc.func @k({arguments}) attributes {{pto.kernel}} {{\n{body}\nreturn\n}}\n}}"
    module, found = parsed(text)
    assert found == []
    k = Kernel(module, None, None, RunOptions())
    k.run(list(values))
    return k


def numbers() -> np.ndarray:
    return np.arange(128, dtype=np.float32).reshape(8, 16)


TWO = "%x: !pto.ptr<f32>, %y: !pto.ptr<f32>"


@pytest.mark.parametrize("early", ["", EARLY], ids=["in order", "queued"])
def test_tiles_go_in_and_out(early: str) -> None:
    """The returned tile is the argument's memory, the number beside it an index."""
    body = f"""
    %t = pto.alloc_tile : {TILE}
    %same, %n = func.call @load(%x, %t) : (!pto.ptr<f32>, {TILE}) -> ({TILE}, index)
    pto.tadd ins(%same, %t : {TILE}, {TILE}) outs(%same : {TILE})
    func.call @store(%t, %y) : ({TILE}, !pto.ptr<f32>) -> ()
    %minus = arith.constant -1.0 : f32
    pto.store_scalar %minus, %z[%n] : !pto.ptr<f32>, f32
    {early}"""
    x, y, z = numbers(), np.zeros((8, 16), np.float32), np.zeros(9, np.float32)
    run(LOAD, body, TWO + ", %z: !pto.ptr<f32>", x, y, z)
    np.testing.assert_array_equal(y, 2 * x)
    assert z.tolist() == [0] * 8 + [-1]


def test_memory_of_a_helper_is_not_its_callers() -> None:
    """Three levels, each with a tile of its own that holds something else while the next one runs."""
    helpers = (
        LOAD
        + f"""
    func.func private @inner(%p: !pto.ptr<f32>, %v: f32) {{
      %t = pto.alloc_tile : {TILE}
      pto.texpands ins(%v : f32) outs(%t : {TILE})
      func.call @store(%t, %p) : ({TILE}, !pto.ptr<f32>) -> ()
      return
    }}
    func.func private @outer(%p: !pto.ptr<f32>, %q: !pto.ptr<f32>) {{
      %t = pto.alloc_tile : {TILE}
      %m = memref.alloc() : memref<8x16xf32, #pto.address_space<vec>>
      %two = arith.constant 2.0 : f32
      %three = arith.constant 3.0 : f32
      pto.texpands ins(%two : f32) outs(%t : {TILE})
      func.call @inner(%q, %three) : (!pto.ptr<f32>, f32) -> ()
      func.call @store(%t, %p) : ({TILE}, !pto.ptr<f32>) -> ()
      return
    }}"""
    )
    body = f"""
    %t = pto.alloc_tile : {TILE}
    %one = arith.constant 1.0 : f32
    %four = arith.constant 4.0 : f32
    pto.texpands ins(%one : f32) outs(%t : {TILE})
    func.call @outer(%x, %y) : (!pto.ptr<f32>, !pto.ptr<f32>) -> ()
    func.call @inner(%w, %four) : (!pto.ptr<f32>, f32) -> ()
    func.call @store(%t, %z) : ({TILE}, !pto.ptr<f32>) -> ()"""
    buffers = [np.zeros((8, 16), np.float32) for _ in range(4)]
    run(helpers, body, TWO + ", %z: !pto.ptr<f32>, %w: !pto.ptr<f32>", *buffers)
    assert [buffer[0, 0] for buffer in buffers] == [2, 3, 1, 4]
    assert all((buffer == buffer[0, 0]).all() for buffer in buffers)


def test_helpers_beside_each_other_share_memory() -> None:
    """Two helpers of 160 KiB each fit into ub because only one runs at a time; one inside the other does not."""
    big = "!pto.tile_buf<vec, 320x128xf32>"
    helper = "func.func private @{name}() {{\n %t = pto.alloc_tile : " + big + "\n{call} return\n}}\n"
    calls = "func.call @a() : () -> ()\nfunc.call @b() : () -> ()"
    arch = 'module attributes {pto.target_arch = "a5"}'
    for inner, fits in (("", True), ("func.call @b() : () -> ()\n", False)):
        helpers = helper.format(name="a", call=inner) + helper.format(name="b", call="")
        text = f"{arch} {{{helpers}func.func @k() attributes {{pto.kernel}} {{\n{calls}\nreturn\n}}\n}}"
        module, found = parsed(text)
        assert found == []
        if fits:
            Kernel(module, None, None, RunOptions()).run([])
        else:
            with pytest.raises(ProgramError) as caught:
                Kernel(module, None, None, RunOptions())
            assert caught.value.rule == "capacity-dynamic"


def test_a_tile_through_a_loop_of_calls() -> None:
    """t = t + t, four times, in a helper that returns what it was given."""
    helpers = (
        LOAD
        + f"""
    func.func private @twice(%t: {TILE}) -> {TILE} {{
      pto.tadd ins(%t, %t : {TILE}, {TILE}) outs(%t : {TILE})
      return %t : {TILE}
    }}"""
    )
    body = f"""
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %t = pto.alloc_tile : {TILE}
    %u, %n = func.call @load(%x, %t) : (!pto.ptr<f32>, {TILE}) -> ({TILE}, index)
    %last = scf.for %i = %c0 to %c4 step %c1 iter_args(%v = %u) -> ({TILE}) {{
      %w = func.call @twice(%v) : ({TILE}) -> {TILE}
      scf.yield %w : {TILE}
    }}
    func.call @store(%last, %y) : ({TILE}, !pto.ptr<f32>) -> ()"""
    x, y = numbers(), np.zeros((8, 16), np.float32)
    run(helpers, body, TWO, x, y)
    np.testing.assert_array_equal(y, 16 * x)


def test_tile_values() -> None:
    text = """module {
    func.func private @both(%a: !pto.tile<2x3xf32>, %b: !pto.tile<2x3xf32>)
      -> (!pto.tile<2x3xf32>, !pto.tile<2x3xf32>) {
      %s = pto.tadd %a, %b : (!pto.tile<2x3xf32>, !pto.tile<2x3xf32>) -> !pto.tile<2x3xf32>
      %d = pto.tsub %a, %b : (!pto.tile<2x3xf32>, !pto.tile<2x3xf32>) -> !pto.tile<2x3xf32>
      return %s, %d : !pto.tile<2x3xf32>, !pto.tile<2x3xf32>
    }
    func.func @k(%a: !pto.tile<2x3xf32>, %b: !pto.tile<2x3xf32>) -> !pto.tile<2x3xf32> attributes {pto.kernel} {
      %s, %d = func.call @both(%a, %b) : (!pto.tile<2x3xf32>, !pto.tile<2x3xf32>)
        -> (!pto.tile<2x3xf32>, !pto.tile<2x3xf32>)
      %p = pto.tmul %s, %d : (!pto.tile<2x3xf32>, !pto.tile<2x3xf32>) -> !pto.tile<2x3xf32>
      return %p : !pto.tile<2x3xf32>
    }
    }"""
    module, found = parsed(text)
    assert found == []
    a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.full((2, 3), 2, np.float32)
    (product,) = Kernel(module, None, None, RunOptions()).run([a, b])
    np.testing.assert_array_equal(product, a * a - 4)


# ------------------------------------------------------------ kernels of both kinds


KINDS = """module attributes {pto.target_arch = "a5"} {
  func.func private @cube(%p: !pto.ptr<i32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c0 = arith.constant 0 : index
    %v = pto.load_scalar %p[%c0] : !pto.ptr<i32> -> i32
    %c1 = arith.constant 1 : i32
    %w = arith.addi %v, %c1 : i32
    pto.store_scalar %w, %p[%c0] : !pto.ptr<i32>, i32
    return
  }
  func.func private @vector(%p: !pto.ptr<i32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %who = pto.get_subblock_idx
    %i = arith.index_cast %who : i64 to index
    %c1 = arith.constant 1 : index
    %j = arith.addi %i, %c1 : index
    %n = pto.get_subblock_num
    %v = arith.trunci %n : i64 to i32
    pto.store_scalar %v, %p[%j] : !pto.ptr<i32>, i32
    return
  }
  func.func @k(%p: !pto.ptr<i32>) attributes {pto.entry} {
    func.call @cube(%p) : (!pto.ptr<i32>) -> ()
    func.call @vector(%p) : (!pto.ptr<i32>) -> ()
    return
  }
}"""


def test_each_core_runs_the_kernels_of_its_kind() -> None:
    """The cube kernel runs once, the vector kernel on both vector cores."""
    module, found = parsed(KINDS)
    assert found == []
    p = np.zeros(3, np.int32)
    Kernel(module, None, None, RunOptions()).run([p])
    assert p.tolist() == [1, 2, 2]


def test_a_result_that_only_one_kind_of_core_knows() -> None:
    text = KINDS.replace("@cube(%p: !pto.ptr<i32>)", "@cube(%p: !pto.ptr<i32>) -> i32", 1)
    text = text.replace("    return\n", "    return %w : i32\n", 1)
    call = "func.call @cube(%p) : (!pto.ptr<i32>) -> "
    text = text.replace(f"{call}()", f"%r = {call}i32")
    module, found = parsed(text)
    assert found == []
    with pytest.raises(ProgramError) as caught:
        Kernel(module, None, None, RunOptions())
    assert caught.value.rule == "unmodelled"
    assert caught.value.span is not None and caught.value.span.text.startswith("%r = func.call")


def test_functions_of_one_name_in_modules() -> None:
    """A call finds the function of its own module first."""
    text = """module {
    module {
      func.func private @value() -> i32 {
        %v = arith.constant 1 : i32
        return %v : i32
      }
    }
    module {
      func.func private @value() -> i32 {
        %v = arith.constant 2 : i32
        return %v : i32
      }
      func.func @k(%p: !pto.ptr<i32>) attributes {pto.kernel} {
        %c0 = arith.constant 0 : index
        %v = func.call @value() : () -> i32
        pto.store_scalar %v, %p[%c0] : !pto.ptr<i32>, i32
        return
      }
    }
    }"""
    module, found = parsed(text)
    assert found == []
    p = np.zeros(1, np.int32)
    Kernel(module, None, None, RunOptions()).run([p])
    assert p[0] == 2
