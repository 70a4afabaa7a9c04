"""Small programs whose names are exchanged by others, with arguments: see ``fuzz_names``.

Together they have a name in every location where the language lets one stand, and every form of generated code: plain,
queued, watched, work-items with and without blocks, vector scopes, loops and jumps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Program:
    """A program in text, its entry, and what makes new arguments for a run."""

    text: str
    entry: str
    arguments: Callable[[], list[Any]]


TILE = "!pto.tile_buf<vec, 4x16xf32>"
VIEW = "!pto.tensor_view<4x16xf32>"
PART = "!pto.partition_tensor_view<4x16xf32>"

SCALARS = Program(
    """module attributes {pto.target_arch = "a5"} {
  func.func @helper(%left: i32, %right: i32) -> (i32, i32) {
    %sum = arith.addi %left, %right : i32
    %difference = arith.subi %left, %right : i32
    return %sum, %difference : i32, i32
  }
  func.func @main(%out: !pto.ptr<i32, gm>, %first: i32, %second: i32) attributes {pto.kernel} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %five = arith.constant 5 : index
    %three = arith.constant 3 : i32
    %limit = arith.constant 100 : i32
    %a, %b = func.call @helper(%first, %second) : (i32, i32) -> (i32, i32)
    %total, %last = scf.for %i = %zero to %five step %one iter_args(%x = %a, %y = %b) -> (i32, i32) {
      %n = arith.index_cast %i : index to i32
      %p = arith.muli %x, %three : i32
      %q = arith.addi %p, %n : i32
      %small = arith.cmpi slt, %q, %limit : i32
      %chosen = scf.if %small -> (i32) {
        %t = arith.minsi %q, %y : i32
        scf.yield %t : i32
      } else {
        %e = arith.remsi %q, %limit : i32
        scf.yield %e : i32
      }
      scf.yield %chosen, %x : i32, i32
    }
    %grown = scf.while (%w = %total) : (i32) -> i32 {
      %more = arith.cmpi slt, %w, %limit : i32
      scf.condition(%more) %w : i32
    } do {
    ^body(%z: i32):
      %next = arith.addi %z, %three : i32
      scf.yield %next : i32
    }
    pto.store_scalar %grown, %out[%zero] : !pto.ptr<i32, gm>, i32
    pto.store_scalar %last, %out[%one] : !pto.ptr<i32, gm>, i32
    return
  }
}
""",
    "main",
    lambda: [np.zeros(2, np.int32), 7, -3],
)

BLOCKS = Program(
    """module attributes {pto.target_arch = "a5"} {
  func.func @jumps(%out: !pto.ptr<i32, gm>, %start: i32) attributes {pto.kernel} {
    %at = arith.constant 0 : index
    %step = arith.constant 3 : i32
    %end = arith.constant 40 : i32
    cf.br ^loop(%start, %step : i32, i32)
  ^loop(%value: i32, %count: i32):
    %again = arith.cmpi slt, %value, %end : i32
    cf.cond_br %again, ^more(%value : i32), ^done(%count : i32)
  ^more(%old: i32):
    %new = arith.addi %old, %step : i32
    %number = arith.addi %count, %step : i32
    cf.br ^loop(%new, %number : i32, i32)
  ^done(%result: i32):
    pto.store_scalar %result, %out[%at] : !pto.ptr<i32, gm>, i32
    return
  }
}
""",
    "jumps",
    lambda: [np.zeros(1, np.int32), 2],
)

TILES = Program(
    f"""module attributes {{pto.target_arch = "a2a3"}} {{
  func.func @tiles(%source: !pto.ptr<f32>, %target: !pto.ptr<f32>, %factor: f32) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rows = arith.constant 4 : index
    %cols = arith.constant 16 : index
    %in = pto.make_tensor_view %source, shape = [%rows, %cols], strides = [%cols, %c1] : {VIEW}
    %out = pto.make_tensor_view %target, shape = [%rows, %cols], strides = [%cols, %c1] : {VIEW}
    %tile = pto.alloc_tile : {TILE}
    %other = pto.alloc_tile : {TILE}
    scf.for %round = %c0 to %c2 step %c1 {{
      %p = pto.partition_view %in, offsets = [%c0, %c0], sizes = [%rows, %cols] : {VIEW} -> {PART}
      %q = pto.partition_view %out, offsets = [%c0, %c0], sizes = [%rows, %cols] : {VIEW} -> {PART}
      pto.tload ins(%p : {PART}) outs(%tile : {TILE})
      pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
      pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
      pto.tmuls ins(%tile, %factor : {TILE}, f32) outs(%other : {TILE})
      pto.barrier #pto.pipe<PIPE_V>
      pto.tadd ins(%tile, %other : {TILE}, {TILE}) outs(%other : {TILE})
      pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
      pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
      pto.tstore ins(%other : {TILE}) outs(%q : {PART})
      pto.barrier #pto.pipe<PIPE_ALL>
    }}
    return
  }}
}}
""",
    "tiles",
    lambda: [np.arange(64, dtype=np.float32), np.zeros(64, np.float32), 0.5],
)

SCOPES = Program(
    """module attributes {pto.target_arch = "a5"} {
  func.func @scopes(%source: !pto.ptr<f32, gm>, %target: !pto.ptr<f32, gm>) attributes {pto.kernel} {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %size = arith.constant 512 : i64
    %i0 = arith.constant 0 : index
    %i64 = arith.constant 64 : index
    %i128 = arith.constant 128 : index
    %in = pto.castptr %c0 : i64 -> !pto.ptr<f32, ub>
    %out = pto.castptr %size : i64 -> !pto.ptr<f32, ub>
    pto.mte_gm_ub %source, %in, %c0, %size nburst(%c1, %size, %size)
      : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
    pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    pto.vecscope {
      %all = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
      scf.for %lane = %i0 to %i128 step %i64 {
        %x = pto.vlds %in[%lane] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
        %y = pto.vadd %x, %x, %all : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
        pto.vsts %y, %out[%lane], %all : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
      }
    }
    pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.mte_ub_gm %out, %target, %size nburst(%c1, %size, %size)
      : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64
    return
  }
}
""",
    "scopes",
    lambda: [np.arange(128, dtype=np.float32), np.zeros(128, np.float32)],
)

WORK_ITEMS = Program(
    """module attributes {pto.target_arch = "a5", pto.kernel_kind = #pto.kernel_kind<vector>} {
  func.func @start(%out: !pto.ptr<i32, gm>) attributes {pto.kernel} {
    %x = arith.constant 40 : i32
    %one = arith.constant 1 : i32
    pto.simt_launch @item<<<%x, %one, %one>>>(%out) : (!pto.ptr<i32, gm>) -> ()
    pto.barrier #pto.pipe<PIPE_ALL>
    pto.simt_launch @jump<<<%x, %one, %one>>>(%out) : (!pto.ptr<i32, gm>) -> ()
    pto.barrier #pto.pipe<PIPE_ALL>
    pto.section.simt<<<8, 1, 1>>> {
      %me = pto.get_tid_x : i32
      %place = arith.index_castui %me : i32 to index
      %was = pto.ldg %out[%place] : !pto.ptr<i32, gm> -> i32
      %will = arith.addi %was, %me : i32
      pto.stg %will, %out[%place] : !pto.ptr<i32, gm>, i32
    }
    return
  }
  func.func @item(%buffer: !pto.ptr<i32, gm>) attributes {pto.simt_entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %i0 = arith.constant 0 : i32
    %i7 = arith.constant 7 : i32
    %id = pto.get_tid_x : i32
    %at = arith.index_castui %id : i32 to index
    %low = arith.cmpi slt, %id, %i7 : i32
    %value = scf.if %low -> (i32) {
      scf.yield %i7 : i32
    } else {
      %sum = scf.for %k = %c0 to %at step %c1 iter_args(%acc = %i0) -> (i32) {
        %next = func.call @add(%acc, %id) : (i32, i32) -> i32
        scf.yield %next : i32
      }
      scf.yield %sum : i32
    }
    pto.stg %value, %buffer[%at] : !pto.ptr<i32, gm>, i32
    return
  }
  func.func @add(%l: i32, %r: i32) -> i32 {
    %s = arith.addi %l, %r : i32
    return %s : i32
  }
  func.func @jump(%data: !pto.ptr<i32, gm>) attributes {pto.simt_entry} {
    %n = pto.get_tid_x : i32
    %offset = arith.index_castui %n : i32 to index
    %two = arith.constant 2 : i32
    %end = arith.constant 90 : i32
    cf.br ^again(%n : i32)
  ^again(%now: i32):
    %then = arith.addi %now, %two : i32
    %going = arith.cmpi slt, %then, %end : i32
    cf.cond_br %going, ^again(%then : i32), ^leave
  ^leave:
    %old = pto.ldg %data[%offset] : !pto.ptr<i32, gm> -> i32
    %new = arith.addi %old, %then : i32
    pto.stg %new, %data[%offset] : !pto.ptr<i32, gm>, i32
    return
  }
}
""",
    "start",
    lambda: [np.zeros(40, np.int32)],
)

QUEUES = Program(
    """module attributes {pto.target_arch = "a5"} {
  func.func @consumer(%gm_a: !pto.ptr<f32>, %gm_b: !pto.ptr<f32>, %result: !pto.ptr<f32>)
      attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rows = arith.constant 8 : index
    %cols = arith.constant 16 : index
    %none = arith.constant 0 : i32
    %core = pto.get_subblock_idx
    %who = arith.index_cast %core : i64 to index
    %whole = arith.constant 16 : index
    %queue = pto.reserve_buffer {name = "fifo", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
    pto.aiv_initialize_pipe {id = 0, dir_mask = 1, slot_size = 1024, slot_num = 8}
      (c2v_consumer_buf = %queue : i32, v2c_consumer_buf = %none : i32)
    %view = pto.make_tensor_view %result, shape = [%whole, %cols], strides = [%cols, %c1] : !pto.tensor_view<?x?xf32>
    %top = arith.muli %who, %rows : index
    %part = pto.partition_view %view, offsets = [%top, %c0], sizes = [%rows, %cols]
      : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<8x16xf32>
    %tile = pto.tpop_from_aic {id = 0, split = 1} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tstore ins(%tile : !pto.tile_buf<vec, 8x16xf32>) outs(%part : !pto.partition_tensor_view<8x16xf32>)
    pto.tfree_from_aic {id = 0, split = 1}
    return
  }
  func.func @producer(%gm_a: !pto.ptr<f32>, %gm_b: !pto.ptr<f32>)
      attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 16 : index
    %none = arith.constant 0 : i32
    %queue = pto.import_reserved_buffer {name = "fifo", peer_func = @consumer} -> i32
    pto.aic_initialize_pipe {id = 0, dir_mask = 1, slot_size = 1024, slot_num = 8}
      (c2v_consumer_buf = %queue : i32, v2c_consumer_buf = %none : i32)
    %a = pto.make_tensor_view %gm_a, shape = [%n, %n], strides = [%n, %c1] : !pto.tensor_view<?x?xf32>
    %b = pto.make_tensor_view %gm_b, shape = [%n, %n], strides = [%n, %c1] : !pto.tensor_view<?x?xf32>
    %ap = pto.partition_view %a, offsets = [%c0, %c0], sizes = [%n, %n]
      : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>
    %bp = pto.partition_view %b, offsets = [%c0, %c0], sizes = [%n, %n]
      : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>
    %am = pto.alloc_tile : MAT
    %bm = pto.alloc_tile : MAT
    %l = pto.alloc_tile : LEFT
    %r = pto.alloc_tile : RIGHT
    %acc = pto.alloc_tile : ACC
    pto.tload ins(%ap : !pto.partition_tensor_view<16x16xf32>) outs(%am : MAT)
    pto.tload ins(%bp : !pto.partition_tensor_view<16x16xf32>) outs(%bm : MAT)
    pto.tmov ins(%am : MAT) outs(%l : LEFT)
    pto.tmov ins(%bm : MAT) outs(%r : RIGHT)
    pto.tmatmul ins(%l, %r : LEFT, RIGHT) outs(%acc : ACC)
    pto.tpush_to_aiv(%acc : ACC) {id = 0, split = 1}
    return
  }
}
""".replace("MAT", "!pto.tile_buf<mat, 16x16xf32, blayout=col_major, slayout=row_major>")
    .replace("LEFT", "!pto.tile_buf<left, 16x16xf32, blayout=col_major, slayout=row_major>")
    .replace("RIGHT", "!pto.tile_buf<right, 16x16xf32, slayout=col_major>")
    .replace("ACC", "!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>"),
    "consumer",
    lambda: [*(np.arange(256, dtype=np.float32) % 7 for _ in "ab"), np.zeros(256, np.float32)],
)

PROGRAMS = (SCALARS, BLOCKS, TILES, SCOPES, WORK_ITEMS, QUEUES)
