"""What pipes can do at best, against what they do. Source: docs/report.md, "Roofline"."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from read_pages import Read, column, page

OPERATIONS = {
    "tmuls": "pto.tmuls ins(%x, %k : {tile}, f32) outs(%x : {tile})",
    "tadd": "pto.tadd ins(%x, %x : {tile}, {tile}) outs(%x : {tile})",
    "texp": "pto.texp ins(%x : {tile}) outs(%x : {tile})",
    "tdiv": "pto.tdiv ins(%x, %x : {tile}, {tile}) outs(%x : {tile})",
    "tneg": "pto.tneg ins(%x : {tile}) outs(%x : {tile})",
}


def many(operation: str, arch: str, element: str = "f32") -> str:
    """One tile on which an operation runs fifty times: its pipe does nothing else."""
    tile, part = f"!pto.tile_buf<vec, 64x256x{element}>", f"!pto.partition_tensor_view<64x256x{element}>"
    body = OPERATIONS[operation].format(tile=tile).replace("f32)", f"{element})")
    view = f"!pto.tensor_view<?x?x{element}>"
    return f"""module attributes {{pto.target_arch = "{arch}"}} {{
  func.func @scale(%a: !pto.ptr<{element}>) attributes {{pto.entry}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    %n = arith.constant 50 : index
    %k = arith.constant 1.0 : {element}
    %v = pto.make_tensor_view %a, shape = [%c64, %c256], strides = [%c256, %c1] : {view}
    %p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c64, %c256] : {view} -> {part}
    %x = pto.alloc_tile : {tile}
    pto.tload ins(%p : {part}) outs(%x : {tile})
    scf.for %i = %c0 to %n step %c1 {{
      {body}
    }}
    pto.tstore ins(%x : {tile}) outs(%p : {part})
    return
  }}
}}
"""


@pytest.mark.parametrize("arch", ["a5", "a3"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_no_operation_is_faster_than_its_roof(operation: str, arch: str, tmp_path: Path) -> None:
    doc = Read(page(tmp_path, many(operation, arch), "--arg", "a=ones:f32:64x256")).doc
    (roof,) = [one for one in doc["roofs"]["compute"] if one["pipe"] == "PIPE_V"]
    steps = {name: column(one) for name, one in doc["steps"].items()}
    vector = [number for number, one in enumerate(doc["threads"]) if one["pipe"] == "PIPE_V"]
    mine = np.isin(steps["thread"], vector) & (steps["kind"] == 0)
    work, busy = steps["work"][mine].sum(), (steps["end"] - steps["start"])[mine].sum()
    assert work == 50 * 64 * 256
    assert work / busy <= roof["peak"] and work / steps["end"].max() <= roof["peak"]
    # At the most a register of 64 numbers in each cycle; queues of loads and stores let fewer through on a5.
    assert 40 < roof["peak"] <= 64 and roof["element"] == "f32"


@pytest.mark.parametrize("arch", ["a5", "a3"])
def test_slopes_are_those_of_the_paths_of_a_core(arch: str, tmp_path: Path) -> None:
    roofs = Read(page(tmp_path, many("tadd", arch), "--arg", "a=ones:f32:64x256")).doc["roofs"]
    # docs/reference/cycles.md, "Transfers": loads to UB 128, stores 109; to L1 102, results 74.7 or 73 bytes a cycle.
    assert roofs["paths"] == {"PIPE_M": [102, 73 if arch == "a5" else 74.7], "PIPE_V": [128, 109]}
