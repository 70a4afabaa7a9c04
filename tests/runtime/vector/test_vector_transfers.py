"""Loads and stores of vector registers and predicates, and the order around them, through whole programs."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from groups import in_groups
from vector_kernels import DTYPES, buffer, kernel, lanes, width

from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.spaces import Arena
from pto_dialect.runtime.vector.memory import load_blocks, store_blocks

# --- memory -----------------------------------------------------------------------------------------------

U8 = np.arange(2048, dtype=np.uint16).astype(np.uint8)


def load(dist: str, element: str) -> np.ndarray:
    """All bytes of a register loaded with a distribution from bytes 32, 33, ..."""
    vreg, p = f"!pto.vreg<{lanes(element)}x{element}>", f"!pto.ptr<{element}, ub>"
    start = 32 // np.dtype(DTYPES[element]).itemsize
    body = f"""
      %start = arith.constant {start} : index
      %all = pto.pset_{width(element)} "PAT_ALL" : !pto.mask<{width(element)}>
      %v = pto.vlds %au[%start] {{dist = "{dist}"}} : {p} -> {vreg}
      pto.vsts %v, %ou[%c0], %all : {vreg}, {p}, !pto.mask<{width(element)}>
    """
    out = np.zeros(2048 // np.dtype(DTYPES[element]).itemsize, DTYPES[element])
    kernel(body, f"%a: !pto.ptr<{element}, gm>, %o: !pto.ptr<{element}, gm>").run(
        [U8.view(DTYPES[element]).copy(), out]
    )
    return out.view(np.uint8)[:256]


@pytest.mark.parametrize(
    ("dist", "element", "byte"),
    [
        ("NORM", "i32", lambda i: i),
        ("BRC_B8", "i8", lambda i: 0),
        ("BRC_B16", "i16", lambda i: i % 2),
        ("BRC_B32", "i32", lambda i: i % 4),
        ("BRC_BLK", "i16", lambda i: i % 32),
        ("US_B8", "i8", lambda i: i // 2),
        ("US_B16", "i16", lambda i: i // 4 * 2 + i % 2),
        ("DS_B8", "i8", lambda i: 2 * i),
        ("DS_B16", "i16", lambda i: i // 2 * 4 + i % 2),
        ("UNPK_B16", "i16", lambda i: None if i % 4 >= 2 else i // 4 * 2 + i % 4),
        ("E2B_B32", "i32", lambda i: i // 32 * 4 + i % 4),
    ],
)
def test_distributed_loads(dist: str, element: str, byte) -> None:
    """Byte i of the register is the byte at the given distance from the address, or 0."""
    want = [0 if (place := byte(i)) is None else int(U8[32 + place]) for i in range(256)]
    assert load(dist, element).tolist() == want


def store(dist: str | None, element: str, active: int) -> np.ndarray:
    vreg, p = f"!pto.vreg<{lanes(element)}x{element}>", f"!pto.ptr<{element}, ub>"
    clause = "" if dist is None else f' {{dist = "{dist}"}}'
    grain = {"PK_B16": "b16", "PK_B32": "b32", "PK_B64": "b32", "PK4_B32": "b32"}.get(dist or "", width(element))
    body = f"""
      %n = arith.constant {active} : i32
      %m, %left = pto.plt_{grain} %n : i32 -> !pto.mask<{grain}>, i32
      %v = pto.vlds %au[%c0] : {p} -> {vreg}
      pto.vsts %v, %ou[%c0], %m{clause} : {vreg}, {p}, !pto.mask<{grain}>
    """
    out = np.full(2048, 0xEE, np.uint8).view(DTYPES[element])
    kernel(body, f"%a: !pto.ptr<{element}, gm>, %o: !pto.ptr<{element}, gm>").run(
        [U8.view(DTYPES[element]).copy(), out]
    )
    return out.view(np.uint8)


@pytest.mark.parametrize(
    ("dist", "element", "active", "bytes_"),
    [
        (None, "i32", 5, list(range(20))),
        ("NORM_B32", "i32", 64, list(range(256))),
        ("1PT_B16", "i16", 0, [0, 1]),
        ("PK_B16", "i16", 3, [0, 2, 4]),
        ("PK_B32", "i32", 3, [0, 1, 4, 5, 8, 9]),
        ("PK_B16", "i8", 3, [0, 2, 4]),
        ("PK_B32", "i16", 3, [0, 1, 4, 5, 8, 9]),
        ("PK_B64", "i32", 64, [8 * i + byte for i in range(32) for byte in range(4)]),
        ("PK4_B32", "i32", 3, [0, 4, 8]),
        ("PK4_B32", "i8", 3, [0, 4, 8]),
    ],
)
def test_distributed_stores(dist: str | None, element: str, active: int, bytes_: list[int]) -> None:
    got = store(dist, element, active)
    assert got[: len(bytes_)].tolist() == bytes_
    assert (got[len(bytes_) :] == 0xEE).all()


@pytest.mark.parametrize("active", [1, 2, 5, 6, 63, 64])
def test_lanes_of_64_bits_go_with_every_second_lane_of_a_predicate(active: int) -> None:
    """Of the bits of a predicate, one per byte, the first of its eight governs a lane: lane i goes with word 2i."""
    wide, p = "!pto.vreg<32xi64>", "!pto.ptr<i64, ub>"
    body = f"""
      %n = arith.constant {active} : i32
      %m, %left = pto.plt_b32 %n : i32 -> !pto.mask<b32>, i32
      %all = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
      %v = pto.vlds %au[%c0] : {p} -> {wide}
      pto.vsts %v, %ou[%c0], %m : {wide}, {p}, !pto.mask<b32>
      %odd = pto.vcvt %v, %m {{rnd = "R", part = "ODD"}} : {wide}, !pto.mask<b32> -> !pto.vreg<64xf32>
      pto.vsts %odd, %fu[%c0], %all : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
      %even = pto.vcvt %v, %all {{rnd = "R", part = "EVEN"}} : {wide}, !pto.mask<b32> -> !pto.vreg<64xf32>
      pto.vsts %even, %fu[%c64], %m {{dist = "PK_B64"}} : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
    """
    values, stored, floats = np.arange(256) - 100, np.full(256, 7), np.full(512, 7, np.float32)
    kernel(body, "%a: !pto.ptr<i64, gm>, %o: !pto.ptr<i64, gm>, %f: !pto.ptr<f32, gm>").run([values, stored, floats])
    words = range(64)
    assert stored.tolist() == [i - 100 if 2 * i < active else 7 for i in range(256)]
    assert floats[:64].tolist() == [word // 2 - 100 if word % 2 and word - 1 < active else 0 for word in words]
    assert floats[64:].tolist() == [word - 100 if 2 * word < active else 7 for word in range(448)]


def test_post_update_uses_the_base_itself() -> None:
    v, m, p = "!pto.vreg<64xi32>", "!pto.mask<b32>", "!pto.ptr<i32, ub>"
    body = f"""
      %all = pto.pset_b32 "PAT_ALL" : {m}
      %v, %next = pto.vlds %au[%c64] : {p} -> {v}, {p}
      %w = pto.vlds %next[%c8] : {p} -> {v}
      %after = pto.vsts %v, %ou[%c64], %all : {v}, {p}, {m} -> {p}
      pto.vsts %w, %after[%c0], %all : {v}, {p}, {m}
    """
    a, out = np.arange(512, dtype=np.int32), np.zeros(512, np.int32)
    kernel(body, "%a: !pto.ptr<i32, gm>, %o: !pto.ptr<i32, gm>").run([a, out])
    assert out[:128].tolist() == [*range(64), *range(72, 136)]


def test_gather_and_scatter() -> None:
    a = np.arange(512, dtype=np.int32) * 3
    index = buffer(np.random.default_rng(3).permutation(64).astype(np.int32))
    out = np.zeros(512, np.int32)
    v, m, p = "!pto.vreg<64xi32>", "!pto.mask<b32>", "!pto.ptr<i32, ub>"
    body = f"""
      %n = arith.constant 40 : i32
      %m, %left = pto.plt_b32 %n : i32 -> {m}, i32
      %w = pto.vlds %iu[%c0] : {p} -> {v}
      %g = pto.vgather2 %au, %w, %m : {p}, {v}, {m} -> {v}
      pto.vscatter %g, %ou, %w, %m : {v}, {p}, {v}, {m}
    """
    kernel(body, "%a: !pto.ptr<i32, gm>, %i: !pto.ptr<i32, gm>, %o: !pto.ptr<i32, gm>").run([a.copy(), index, out])
    want = np.zeros(64, np.int32)
    want[index[:40]] = a[index[:40]]
    assert out[:64].tolist() == want.tolist()


def test_an_access_outside_the_unified_buffer_is_located() -> None:
    v, p = "!pto.vreg<64xi32>", "!pto.ptr<i32, ub>"
    body = f"""
      %far = arith.constant 99999 : index
      %v = pto.vlds %au[%far] : {p} -> {v}
    """
    with pytest.raises(ProgramError) as caught:
        kernel(body, "%a: !pto.ptr<i32, gm>").run([np.zeros(512, np.int32)])
    assert caught.value.rule == "mem-oob"
    assert caught.value.span is not None and caught.value.span.text.startswith("%v = pto.vlds")


@pytest.mark.parametrize(
    ("offset", "stride", "blocks", "outside"),
    [
        # The memory has 128 bytes; a block that is not wanted may lie anywhere.
        (0, 1, range(4), None), (64, 1, range(4), (128, 160)), (0, 1, (0, 2, 3), None),
        (0, 1, (0, 1, 2, 3, 5), (160, 192)), (0, 1, (), None),
        (-32, 1, (1, 2, 3, 4), None), (-32, 1, range(5), (-32, 0)), (0, 2, (0, 1), None), (0, 3, (0, 1, 2), (192, 224)),
        (97, 1, (0,), (97, 129)), (96, 1, (0,), None), (-1, 1, (0,), (-1, 31)),
    ],
)  # fmt: skip
def test_the_first_block_outside_is_the_fault(offset: int, stride: int, blocks: Any, outside: Any) -> None:
    memory, values = np.arange(128, dtype=np.uint8), np.arange(128, 384).astype(np.uint8)
    mask = np.zeros(256, np.bool_)
    mask[[4 * block for block in blocks]] = True
    expected, read = memory.copy(), np.zeros(256, np.uint8)
    for block in blocks:
        low = offset + 32 * stride * block
        if not 0 <= low <= 96:
            break
        read[32 * block : 32 * block + 32] = memory[low : low + 32]
        expected[low : low + 32] = values[32 * block : 32 * block + 32]
    pointer = Arena.from_array(memory, name="u", space="ub").pointer(offset, np.uint8)
    if outside is None:
        assert load_blocks(pointer, 0, np.uint8, stride, mask).tolist() == read.tolist()
        store_blocks(values, pointer, 0, stride, mask)
    else:
        where = f"bytes [{outside[0]}, {outside[1]}) are outside ub 'u', which has 128 bytes"
        with pytest.raises(Fault, match=re.escape(where)):
            load_blocks(pointer, 0, np.uint8, stride, mask)
        with pytest.raises(Fault, match=re.escape(where)):
            store_blocks(values, pointer, 0, stride, mask)
    # Blocks before the one outside are stored.
    assert memory.tolist() == expected.tolist()


# --- predicates -------------------------------------------------------------------------------------------


def stored_mask(statements: str, result: str = "m") -> np.ndarray:
    body = f'{statements}\npto.psts %{result}, %ou[%c0], "NORM" : {{}}, !pto.ptr<i32, ub>, index'
    grain = "b8"
    for line in statements.splitlines():
        if line.strip().startswith(f"%{result} ") or line.strip().startswith(f"%{result},"):
            grain = line.rpartition("!pto.mask<")[2][:3].rstrip(">") if "i32" not in line.rpartition(">")[2] else "b32"
    out = np.zeros(512, np.int32)
    kernel(body.format(f"!pto.mask<{grain}>"), "%o: !pto.ptr<i32, gm>").run([out])
    return np.unpackbits(out.view(np.uint8)[:32], bitorder="little")


@pytest.mark.parametrize("grain", ["b8", "b16", "b32"])
@in_groups(
    ("pattern", "lane"),
    [
        ("PAT_ALL", lambda i, n: True),
        ("PAT_ALLF", lambda i, n: False),
        ("PAT_H", lambda i, n: i < n // 2),
        ("PAT_Q", lambda i, n: i < n // 4),
        ("PAT_M3", lambda i, n: i % 3 == 0),
        ("PAT_M4", lambda i, n: i % 4 == 0),
        ("PAT_VL8", lambda i, n: i < 8),
        ("PAT_VL128", lambda i, n: i < 128),
    ],
)
def test_patterns(pattern: str, lane, grain: str) -> None:
    step = int(grain[1:]) // 8
    count = 256 // step
    want = np.zeros(256, np.uint8)
    want[::step] = [lane(i, count) for i in range(count)]
    got = stored_mask(f'%m = pto.pset_{grain} "{pattern}" : !pto.mask<{grain}>')
    assert got.tolist() == want.tolist()


def test_what_is_left_of_a_bound() -> None:
    """Five predicates of 64 lanes over 300 elements have 64, 64, 64, 64 and 44 active lanes."""
    v, m, p = "!pto.vreg<64xi32>", "!pto.mask<b32>", "!pto.ptr<i32, ub>"
    body = f"""
      %n = arith.constant 300 : i32
      %one = arith.constant 1 : i32
      %end = arith.constant 320 : index
      %left = scf.for %i = %c0 to %end step %c64 iter_args(%rest = %n) -> (i32) {{
        %m, %next = pto.plt_b32 %rest : i32 -> {m}, i32
        %v = pto.vdup %one, %m : i32, {m} -> {v}
        pto.vsts %v, %ou[%i], %m : {v}, {p}, {m}
        scf.yield %next : i32
      }}
    """
    out = np.zeros(512, np.int32)
    kernel(body, "%o: !pto.ptr<i32, gm>").run([out])
    assert out.tolist() == [1] * 300 + [0] * 212


# --- scopes in queues -------------------------------------------------------------------------------------


def test_scopes_wait_for_the_loads_before_them() -> None:
    """A wait that precedes its set in the text makes instructions queue; the scope is one of them."""
    v, m, p = "!pto.vreg<64xf32>", "!pto.mask<b32>", "!pto.ptr<f32, ub>"
    body = f"""
      %all = pto.pset_b32 "PAT_ALL" : {m}
      %v = pto.vlds %au[%c0] : {p} -> {v}
      %w = pto.vadd %v, %v, %all : {v}, {v}, {m} -> {v}
      pto.vsts %w, %ou[%c0], %all : {v}, {p}, {m}
    """
    early = 'pto.wait_flag["PIPE_MTE3", "PIPE_MTE2", "EVENT_ID1"]'
    late = 'pto.set_flag["PIPE_MTE3", "PIPE_MTE2", "EVENT_ID1"]'
    a, out = np.arange(512, dtype=np.float32), np.zeros(512, np.float32)
    # The second pipe waits for the third one, which has not been reached in the text.
    arguments = "%a: !pto.ptr<f32, gm>, %o: !pto.ptr<f32, gm>"
    prepared = kernel(body, arguments, before=f"{early}\n{late}")
    prepared.run([a, out])
    assert prepared._side_by_side
    assert out[:64].tolist() == (2 * a[:64]).tolist()
