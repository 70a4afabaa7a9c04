"""Tiles that travel between cores lie in vec, mat or acc, whichever way the queue is named."""

from __future__ import annotations

import pytest
from groups import in_groups

from pto_dialect.api import check

LAYOUTS = {
    "vec": "",
    "mat": ", blayout=col_major, slayout=row_major",
    "acc": ", blayout=col_major, slayout=row_major, fractal=1024",
    "left": ", blayout=col_major, slayout=row_major",
    "right": ", slayout=col_major",
    "bias": "",
    "scaling": "",
}


@pytest.mark.parametrize("loc", LAYOUTS)
@in_groups(
    ("core", "statement"),
    [
        ("cube", "pto.tpush_to_aiv(%t : {t}) {{id = 0, split = 0}}"),
        ("vector", "pto.tpush_to_aic(%t : {t}) {{id = 0, split = 0}}"),
        ("vector", "%e = pto.tpop_from_aic {{id = 0, split = 0}} -> {t}"),
        ("cube", "%e = pto.tpop_from_aiv {{id = 0, split = 0}} -> {t}"),
    ],
)
def test_only_tiles_in_vec_mat_or_acc_travel(core: str, statement: str, loc: str) -> None:
    rows = 1 if loc in ("bias", "scaling") else 16
    tile = f"!pto.tile_buf<{loc}, {rows}x64xf32{LAYOUTS[loc]}>"
    init = "aic" if core == "cube" else "aiv"
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
    func.func @k(%t: {tile}) attributes {{pto.kernel_kind = #pto.kernel_kind<{core}>}} {{
      %z = arith.constant 0 : i32
      pto.{init}_initialize_pipe {{id = 0, dir_mask = 3, slot_size = 8192}}
        (c2v_consumer_buf = %z : i32, v2c_consumer_buf = %z : i32)
      {statement.format(t=tile)}
      return
    }}
    }}"""
    told = [d.message for d in check(text).diagnostics if d.rule == "pipe-entry-type" and "travel" in d.message]
    expected = f"tiles in vec, mat or acc travel between cores, found {loc}"
    assert told == ([] if loc in ("vec", "mat", "acc") else [expected])
