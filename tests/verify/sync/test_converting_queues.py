"""Queues that convert what is pushed: one change of a right program, and all messages about it."""

from __future__ import annotations

import re
from pathlib import Path

from groups import in_groups

from pto_dialect.api import check

ACC = "!pto.tile_buf<acc, 16x16x{}, blayout=col_major, slayout=row_major, fractal=1024>"
PROGRAM = f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @cube(%t: {ACC.format("f32")}, %s: f32, %v: !pto.tile_buf<scaling, 1x16xf32>,
                  %k: {ACC.format("i32")}, %u: !pto.tile_buf<vec, 1x16xf32>, %w: !pto.tile_buf<scaling, 1x16xui64>)
      attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
    %b = pto.import_reserved_buffer {{name = "scalar", peer_func = @vector}} -> i32
    %d = pto.import_reserved_buffer {{name = "vector", peer_func = @vector}} -> i32
    pto.aic_initialize_pipe {{id = 0, dir_mask = 1, slot_size = 512, nosplit = true, \
acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = qf322f16_pre_scalar, relu = normal_relu>}} \
(c2v_consumer_buf = %b : i32)
    pto.aic_initialize_pipe {{id = 1, dir_mask = 1, slot_size = 256, nosplit = true, \
acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2dn, quant = qf322b8_pre_vec, relu = no_relu>}} \
(c2v_consumer_buf = %d : i32)
    pto.set_quant_scalar(%s : f32) {{id = 0}}
    pto.tpush_to_aiv(%t : {ACC.format("f32")}) {{id = 0, split = 0}}
    pto.set_quant_vector(%v : !pto.tile_buf<scaling, 1x16xf32>) {{id = 1}}
    pto.tpush_to_aiv(%t : {ACC.format("f32")}) {{id = 1, split = 0}}
    return
  }}
  func.func @vector() attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    %b = pto.reserve_buffer {{name = "scalar", size = 4096, location = <vec>, auto = true}} -> i32
    %d = pto.reserve_buffer {{name = "vector", size = 4096, location = <vec>, auto = true}} -> i32
    pto.aiv_initialize_pipe {{id = 0, dir_mask = 1, slot_size = 512, nosplit = true, \
acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = qf322f16_pre_scalar, relu = normal_relu>}} \
(c2v_consumer_buf = %b : i32)
    pto.aiv_initialize_pipe {{id = 1, dir_mask = 1, slot_size = 256, nosplit = true, \
acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2dn, quant = qf322b8_pre_vec, relu = no_relu>}} \
(c2v_consumer_buf = %d : i32)
    %h = pto.tpop_from_aic {{id = 0, split = 0}} -> !pto.tile_buf<vec, 16x16xf16>
    pto.tfree_from_aic {{id = 0, split = 0}}
    %n = pto.tpop_from_aic {{id = 1, split = 0}} -> !pto.tile_buf<vec, 16x16xsi8, blayout=col_major>
    pto.tfree_from_aic {{id = 1, split = 0}}
    return
  }}
}}
"""


def rows() -> list[tuple[str, str, list[str]]]:
    """What is replaced, by what, and the errors."""
    found: list[tuple[str, str, list[str]]] = []
    for block in Path(__file__).with_name("converting_queues.txt").read_text(encoding="utf-8").split("\n\n")[1:]:
        lines = [(line[:1], line[2:]) for line in block.strip().splitlines()]
        (_, old), (_, new), *errors = lines
        found.append((old.replace("|", "\n"), new.replace("|", "\n"), [message for _, message in errors]))
    return found


def said(text: str) -> list[str]:
    """Errors of a program: what is marked, and the message."""
    found: list[str] = []
    for diagnostic in check(text).diagnostics:
        assert diagnostic.span is not None
        marked = text[diagnostic.span.start : diagnostic.span.end]
        found.append(f"{re.split('[ (]', marked)[0]}: {diagnostic.message}")
    return found


def test_the_program_is_right() -> None:
    assert said(PROGRAM) == []


@in_groups(("old", "new", "wanted"), rows())
def test_a_change_is_reported(old: str, new: str, wanted: list[str]) -> None:
    assert old in PROGRAM
    assert said(PROGRAM.replace(old, new)) == wanted
