"""Raw copies: loop registers, padding, units, and the cores of a block."""

from __future__ import annotations

import numpy as np
from function_programs import run_on_each

SMALL = "\n".join(f"%n{i} = arith.constant {i} : i64" for i in (0, 1, 2, 3, 4, 32, 64, 96, 128, 256, 512))
HEAD = 'module attributes {pto.target_arch = "a5", pto.kernel_kind = #pto.kernel_kind<vector>} {\n'
COPY_IN = "!pto.ptr<i16, gm>, !pto.ptr<i16, ub>, i64, i64, i64, i64, i64, i1, i64, i64, i64"
COPY_OUT = "!pto.ptr<i16, ub>, !pto.ptr<i16, gm>, i64, i64, i64, i64, i64, i64"


def run(body: str, source: np.ndarray, size: int) -> np.ndarray:
    """Runs statements on %a and %b in global memory and %u, %v in the unified buffer; what %b holds then."""
    text = f"""{HEAD}func.func @k(%a: !pto.ptr<i16, gm>, %b: !pto.ptr<i16, gm>) attributes {{pto.kernel}} {{
      {SMALL}
      %no = arith.constant false
      %yes = arith.constant true
      %far = arith.constant 4096 : i64
      %u = pto.castptr %n0 : i64 -> !pto.ptr<i16, ub>
      %v = pto.castptr %far : i64 -> !pto.ptr<i16, ub>
      {body}
      return
    }}
    }}"""
    target = np.zeros(size, np.int16)
    run_on_each(text, [source, target])
    return target


def wait(source: str, target: str) -> str:
    pair = f'"PIPE_{source}", "PIPE_{target}", "EVENT_ID0"'
    return f"pto.set_flag[{pair}]\npto.wait_flag[{pair}]"


OUT = f"""pto.set_loop_size_ubtoout %n1, %n1 : i64, i64
      {wait("MTE2", "MTE3")}
      pto.copy_ubuf_to_gm %u, %b, %n0, %n1, %n512, %n0, %n512, %n512 : {COPY_OUT}"""


def test_loop_registers_are_the_outer_loops() -> None:
    """2 outer x 3 inner repetitions of 2 bursts of 16 numbers, all gathered densely."""
    body = f"""
      pto.set_loop_size_outtoub %n3, %n2 : i64, i64
      pto.set_loop1_stride_outtoub %n256, %n64 : i64, i64
      %outer = arith.constant 1024 : i64
      %dense = arith.constant 192 : i64
      pto.set_loop2_stride_outtoub %outer, %dense : i64, i64
      pto.copy_gm_to_ubuf %a, %u, %n0, %n2, %n32, %n0, %n0, %no, %n0, %n64, %n32 : {COPY_IN}
      pto.set_loop_size_outtoub %n4, %n4 : i64, i64
      {OUT}
    """
    source = np.arange(1024, dtype=np.int16)
    want = [
        outer * 512 + inner * 128 + burst * 32 + i
        for outer in (0, 1)
        for inner in (0, 1, 2)
        for burst in (0, 1)
        for i in range(16)
    ]
    assert run(body, source, 256)[: len(want)].tolist() == want


def test_the_pad_value_is_in_a_register() -> None:
    body = f"""
      %pad = arith.constant -7 : i16
      pto.set_mov_pad_val %pad : i16
      pto.copy_gm_to_ubuf %a, %u, %n0, %n2, %n32, %n2, %n4, %yes, %n0, %n32, %n64 : {COPY_IN}
      {OUT}
    """
    got = run(body, np.arange(64, dtype=np.int16), 256)
    for burst in (0, 1):
        row = [-7, -7, *range(16 * burst, 16 * burst + 16), *[-7] * 14]
        assert got[32 * burst : 32 * burst + 32].tolist() == row


def test_units_with_gaps_between_them() -> None:
    """Two bursts of one unit, one unit apart in the source, two in the destination."""
    body = f"""
      pto.copy_gm_to_ubuf %a, %u, %n0, %n1, %n512, %n0, %n0, %no, %n0, %n512, %n512 : {COPY_IN}
      {wait("MTE2", "V")}
      pto.copy_ubuf_to_ubuf %u, %v, %n0, %n2, %n1, %n1, %n2
        : !pto.ptr<i16, ub>, !pto.ptr<i16, ub>, i64, i64, i64, i64, i64
      {wait("V", "MTE3")}
      pto.copy_ubuf_to_gm %v, %b, %n0, %n1, %n512, %n0, %n512, %n512 : {COPY_OUT}
    """
    got = run(body, np.arange(1, 257, dtype=np.int16), 256)
    want = np.zeros(256, np.int16)
    want[:16], want[48:64] = range(1, 17), range(33, 49)
    assert got.tolist() == want.tolist()
