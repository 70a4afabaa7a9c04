"""What several cores and pipes of a run do side by side. Source: docs/reference/cycles.md, "Pipes"."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pto_dialect import parse
from pto_dialect.analysis.cycles.static import ModuleCycles, table_for
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.instrument.cycle_times import CycleTimeline
from pto_dialect.sanitize.options import SanitizeOptions
from pto_dialect.sanitize.timed import CycleKernel


def cycles(text: str, arch: str, arrays: list[Any], blocks: int = 1, entry: str | None = None) -> ModuleCycles:
    timeline = CycleTimeline(table_for(arch, None), arch, {}, False)
    kernel = CycleKernel(parse(text), entry, arch, RunOptions(), SanitizeOptions(frozenset()), timeline)
    kernel.run(arrays, blocks)
    return kernel.cycles("k.pto")


HALF, WHOLE = "!pto.tile_buf<vec, 8x128xf32>", "!pto.tile_buf<vec, 16x128xf32>"
PART = {count: f"!pto.partition_tensor_view<{count}x128xf32>" for count in (8, 16)}


def loads(*rows: tuple[int, int]) -> str:
    """Loads 16 or 8 rows, from a row on, one after the other."""
    view = "!pto.tensor_view<?x?xf32>"
    body = "".join(
        f"""
    %at{n} = arith.constant {first} : index
    %p{n} = pto.partition_view %v, offsets = [%at{n}, %c0], sizes = [%c{count}, %c128] : {view} -> {PART[count]}
    pto.tload ins(%p{n} : {PART[count]}) outs(%t{count} : {HALF if count == 8 else WHOLE})"""
        for n, (first, count) in enumerate(rows)
    )
    return f"""module attributes {{pto.target_arch = "a3"}} {{
  func.func @k(%a: !pto.ptr<f32, gm>) attributes {{pto.entry}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c128 = arith.constant 128 : index
    %v = pto.make_tensor_view %a, shape = [%c128, %c128], strides = [%c128, %c1] : !pto.tensor_view<?x?xf32>
    %t16 = pto.alloc_tile : {WHOLE}
    %t8 = pto.alloc_tile : {HALF}{body}
    return
  }}
}}
"""


@pytest.mark.parametrize("blocks", [1, 24])
def test_parts_of_what_was_read_are_warm(blocks: int) -> None:
    text = loads((0, 16), (0, 16), (8, 8), (0, 8), (8, 16))
    found = [one.estimate.cycles for one in cycles(text, "a2a3", [np.ones(1 << 14, np.float32)], blocks).lines]
    table = table_for("a2a3", None)
    rate = table.value_of("machine", "memory_gbps") * 1e3 / table.value_of("machine", "clock_mhz")
    whole, half = 264 + 16 * 512 / 128, 264 + 8 * 512 / 128
    cold = max(whole, blocks * 16 * 512 / rate)
    # Half of the last load is new.
    last = max(whole, blocks * 8 * 512 / rate)
    assert found == pytest.approx([cold, whole, half, half, last])


PUSH = """
!half = !pto.tile_buf<vec, 32x64xf16>
!whole = !pto.tile_buf<mat, 64x64xf16, blayout=col_major, slayout=row_major>
module attributes {pto.target_arch = "a5"} {
  func.func @k(%a: !pto.ptr<f32, gm>) attributes {pto.entry} {
    func.call @cube(%a) : (!pto.ptr<f32, gm>) -> ()
    func.call @vec(%a) : (!pto.ptr<f32, gm>) -> ()
    return
  }
  func.func @cube(%a: !pto.ptr<f32, gm>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %no = arith.constant 0 : i32
    %buf = pto.reserve_buffer {name = "p", size = 16384, location = #pto.address_space<mat>, auto = true} -> i32
    pto.aic_initialize_pipe {id = 1, dir_mask = 2, slot_size = 8192, slot_num = 2}
        (gm_slot_buffer = %a : !pto.ptr<f32, gm>, c2v_consumer_buf = %no : i32, v2c_consumer_buf = %buf : i32)
    %p = pto.tpop_from_aiv {id = 1, split = 1} -> !whole
    pto.tfree_from_aiv {id = 1, split = 1}
    return
  }
  func.func @vec(%a: !pto.ptr<f32, gm>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %no = arith.constant 0 : i32
    %one = arith.constant 1.0 : f16
    %buf = pto.import_reserved_buffer {name = "p", peer_func = @cube} -> i32
    pto.aiv_initialize_pipe {id = 1, dir_mask = 2, slot_size = 8192, slot_num = 2}
        (gm_slot_buffer = %a : !pto.ptr<f32, gm>, c2v_consumer_buf = %no : i32, v2c_consumer_buf = %buf : i32)
    %x = pto.alloc_tile : !half
    pto.texpands ins(%one : f16) outs(%x : !half)
    pto.tpush_to_aic(%x : !half) {id = 1, split = 1}
    return
  }
}
"""


def test_two_vector_cores_fill_interleaved_rows_side_by_side() -> None:
    """Each core makes its half and sends it; the two ends meet in the cube core, which pops last."""
    found = cycles(PUSH, "a5", [np.ones(1 << 14, np.float32)])
    one = found.pipes["PIPE_V"].cycles + found.pipes["PIPE_MTE3"].cycles
    assert found.total.cycles == pytest.approx(one + found.pipes["PIPE_MTE1"].cycles, abs=4)


def extracts(right: int, left: int) -> str:
    """One block of left and right operands, extracted as often as stated, and one product."""
    left_type = "!pto.tile_buf<left, 128x64xf16, blayout=col_major, slayout=row_major>"
    right_type = "!pto.tile_buf<right, 64x256xf16, slayout=col_major>"
    mats = [f"!pto.tile_buf<mat, {shape}xf16, blayout=col_major, slayout=row_major>" for shape in ("128x64", "64x256")]
    acc = "!pto.tile_buf<acc, 128x256xf32, blayout=col_major, slayout=row_major, fractal=1024>"
    lines = [f"pto.tmov ins(%x : {mats[0]}) outs(%l : {left_type})"] * left
    lines += [f"pto.tmov ins(%y : {mats[1]}) outs(%r : {right_type})"] * right
    body = "\n    ".join(lines)
    return f"""module {{
  func.func @k() attributes {{pto.entry}} {{
    %x = pto.alloc_tile : {mats[0]}
    %y = pto.alloc_tile : {mats[1]}
    %l = pto.alloc_tile : {left_type}
    %r = pto.alloc_tile : {right_type}
    %c = pto.alloc_tile : {acc}
    {body}
    pto.tmatmul ins(%l, %r : {left_type}, {right_type}) outs(%c : {acc})
    return
  }}
}}
"""


LEFT, RIGHT, PRODUCT = 10 + 128 * 64 * 2 / 130, 10 + 64 * 256 * 2 / 85, 6 + 8 * 4 * 16


@pytest.mark.parametrize(("left", "right"), [(1, 1), (3, 1), (4, 1), (0, 1), (1, 0)])
def test_left_and_right_operands_are_extracted_side_by_side(left: int, right: int) -> None:
    found = cycles(extracts(right, left), "a2a3", [])
    # They start in order: the right one with the last left one.
    longer = max(left * LEFT, max(left - 1, 0) * LEFT + right * RIGHT)
    assert found.pipes["PIPE_MTE1"].cycles == pytest.approx(longer)
    assert found.total.cycles == pytest.approx(longer + PRODUCT)


def test_signals_beside_transfers_take_no_time_of_their_pipe() -> None:
    """A pipe is busy no longer than the run, however many flags it sets while its transfers overlap."""
    signal = 'pto.set_flag["PIPE_MTE1", "PIPE_M", "EVENT_ID0"]\n    pto.wait_flag["PIPE_MTE1", "PIPE_M", "EVENT_ID0"]'
    text = extracts(1, 1).replace("    pto.tmov", f"    {signal}\n    pto.tmov")
    assert text.count("set_flag") == 2
    found = cycles(text, "a2a3", [])
    assert found.pipes["PIPE_MTE1"].cycles == pytest.approx(max(LEFT, RIGHT))
