"""The atomic mode of stores: which stores obey it, how elements combine, and when it is looked at."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parse_helpers import parsed
from sanitize_programs import load, program, rules, set_flag, store, ub, wait_flag

from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

PTO_TYPES = {"f32": "f32", "f16": "f16", "bf16": "bf16", "s32": "i32", "s16": "i16", "s8": "i8"}
DTYPES: dict[str, Any] = {
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "s32": np.int32,
    "s16": np.int16,
    "s8": np.int8,
}
EDGES = [0.0, -0.0, 1.0, -1.5, math.inf, -math.inf, math.nan, 6e-8, -6e-8, 65504.0, 3.3e38, 1e-40, 0.1, 257.0]


def kernel(body: str, element: str = "f32", options: RunOptions | None = None) -> Kernel:
    """``body`` with %a and %b in global memory, %u and %c in UB and L0C, and numbers %n0, %n1, ..."""
    numbers = "\n".join(f"%n{i} = arith.constant {i} : i64" for i in (0, 1, 2, 8, 16, 30, 32, 64, 256))
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
    func.func @k(%a: !pto.ptr<{element}, gm>, %b: !pto.ptr<{element}, gm>) attributes {{pto.kernel}} {{
      {numbers}
      %u = pto.castptr %n0 : i64 -> !pto.ptr<{element}, ub>
      %c = pto.castptr %n0 : i64 -> !pto.ptr<f32, acc>
      {body}
      return
    }}
    }}"""
    module, found = parsed(text)
    assert not [entry for entry in found if entry[0] != "op-deprecated"], found
    return Kernel(module, None, None, options or RunOptions())


def copy_in(element: str, size: str = "%n256") -> str:
    pair = '"PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"'
    return f"""pto.mte_gm_ub %a, %u, %n0, {size} nburst(%n1, {size}, {size})
      : !pto.ptr<{element}, gm>, !pto.ptr<{element}, ub>, i64, i64, i64, i64, i64
    pto.set_flag[{pair}]
    pto.wait_flag[{pair}]"""


def copy_out(element: str, size: str = "%n256", bursts: str = "%n1", step: str = "%n256", source: str = "%n256") -> str:
    return f"""pto.mte_ub_gm %u, %b, {size} nburst({bursts}, {source}, {step})
      : !pto.ptr<{element}, ub>, !pto.ptr<{element}, gm>, i64, i64, i64, i64"""


def mode(element: str, operation: str) -> str:
    return f"pto.set_atomic_{element}\npto.set_atomic_{operation}"


def combined(element: str, operation: str, old: Any, new: Any) -> Any:
    """One element, from plain numbers: integers wrap, float sums are rounded once from the exact f64 sum."""
    dtype = np.dtype(DTYPES[element])
    if element.startswith("s"):
        old, new = int(old), int(new)
        half = 1 << (dtype.itemsize * 8 - 1)
        value = old + new if operation == "add" else max(old, new) if operation == "max" else min(old, new)
        return dtype.type((value + half) % (2 * half) - half)
    old, new = float(old), float(new)
    if math.isnan(old) or math.isnan(new):
        return dtype.type(math.nan)
    if operation == "add":
        return np.array(old + new, np.float64).astype(dtype)[()]
    return dtype.type(max(old, new) if operation == "max" else min(old, new))


def values(element: str, seed: int, count: int) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(seed)
    dtype = np.dtype(DTYPES[element])
    if element.startswith("s"):
        info = np.iinfo(dtype)
        found = rng.integers(info.min, info.max, count, dtype, endpoint=True)
        found[:3] = (info.min, info.max, -1)
        return found
    with np.errstate(over="ignore"):
        return rng.permutation(np.resize(np.array([*EDGES, *rng.normal(0, 3, 10)]), count)).astype(dtype)


def same(got: np.ndarray[Any, Any], want: np.ndarray[Any, Any]) -> None:
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(np.asarray(got, np.float64), np.asarray(want, np.float64))


@pytest.mark.parametrize("element", DTYPES)
@pytest.mark.parametrize("operation", ["add", "max", "min"])
@pytest.mark.filterwarnings("ignore:overflow")
def test_elements_combine(element: str, operation: str) -> None:
    count = 256 // np.dtype(DTYPES[element]).itemsize
    new, old = values(element, 1, count), values(element, 2, count)
    target = old.copy()
    kind = PTO_TYPES[element]
    body = f"{copy_in(kind)}\n{mode(element, operation)}\n{copy_out(kind)}\npto.set_atomic_none"
    kernel(body, kind).run([new, target])
    with np.errstate(all="ignore"):
        want = np.array([combined(element, operation, o, n) for o, n in zip(old, new, strict=True)], old.dtype)
    same(target, want)


def test_a_store_obeys_what_held_when_it_was_issued() -> None:
    """The scalar unit turns the mode off while the store still waits for its flag."""
    new, target = np.arange(64, dtype=np.float32), np.full(64, 100, np.float32)
    pair = '"PIPE_S", "PIPE_MTE3", "EVENT_ID1"'
    modes = f"{mode('f32', 'add')}\npto.wait_flag[{pair}]\n{copy_out('f32')}\npto.set_atomic_none\npto.set_atomic_max"
    body = f"{copy_in('f32')}\n{modes}\npto.set_flag[{pair}]"
    kernel(body).run([new, target])
    assert target.tolist() == [100.0 + i for i in range(64)]


def test_none_turns_it_off_and_a_launch_starts_without() -> None:
    new, target = np.arange(64, dtype=np.float32), np.full(64, 7, np.float32)
    run = kernel(f"{copy_in('f32')}\n{copy_out('f32')}\n{mode('f32', 'add')}")
    for _ in range(2):
        run.run([new, target])
        assert target.tolist() == new.tolist()
    kernel(f"{mode('f32', 'add')}\npto.set_atomic_none\n{copy_in('f32')}\n{copy_out('f32')}").run([new, target])
    assert target.tolist() == new.tolist()


@given(st.integers(1, 6), st.integers(0, 2), st.integers(0, 63))
@settings(max_examples=30, deadline=None)
def test_the_mode_is_in_the_control_register(number: int, operation: int, rest: int) -> None:
    """Bits 6 to 8 are the type and 9 to 10 the operation, whoever wrote them; the other bits stay."""
    element = ("f32", "f16", "s16", "s32", "s8", "bf16")[number - 1]
    word = ("add", "max", "min")[operation]
    body = f"""%w = arith.constant {rest} : i64
      pto.set_ctrl %w : i64
      {mode(element, word)}
      %ctrl = pto.get_ctrl : i64
      pto.store_scalar %ctrl, %b[%z] : !pto.ptr<i64, gm>, i64"""
    target = np.zeros(4, np.int64)
    kernel("%z = arith.constant 0 : index\n" + body, "i64").run([np.zeros(4, np.int64), target])
    assert target[0] == rest + 64 * number + 512 * operation


@pytest.mark.parametrize("word", [64 + 0, 64 + 512, 64 + 1024])
def test_the_control_register_is_the_mode(word: int) -> None:
    new, target = np.arange(64, dtype=np.float32), np.full(64, 30, np.float32)
    kernel(f"%w = arith.constant {word} : i64\npto.set_ctrl %w : i64\n{copy_in('f32')}\n{copy_out('f32')}").run(
        [new, target]
    )
    want = {64: [30.0 + i for i in range(64)], 576: [max(30.0, i) for i in range(64)]}
    assert target.tolist() == want.get(word, [min(30.0, i) for i in range(64)])


def test_bursts_at_one_address_all_count() -> None:
    """8 bursts of 8 numbers with stride 0 in the destination; raw copies likewise."""
    new = np.arange(64, dtype=np.float32)
    want = [1.0 + sum(burst * 8 + i for burst in range(8)) for i in range(8)]
    structured = copy_out("f32", "%n32", "%n8", "%n0", "%n32")
    raw = """pto.copy_ubuf_to_gm %u, %b, %n0, %n8, %n32, %n0, %n0, %n32
      : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64, i64, i64"""
    for text in (structured, raw):
        target = np.ones(8, np.float32)
        kernel(f"{copy_in('f32')}\n{mode('f32', 'add')}\n{text}").run([new, target])
        assert target.tolist() == want


def test_blocks_add_to_one_location() -> None:
    new, target = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    kernel(f"{mode('f32', 'add')}\n{copy_in('f32')}\n{copy_out('f32')}").run([new, target], 5)
    assert target.tolist() == [5.0 * i for i in range(64)]


TILE = "!pto.tile_buf<vec, 8x8xf32, valid=5x8>"
PART = "!pto.partition_tensor_view<5x8xf32>"
TILES = f"""
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c5 = arith.constant 5 : index
      %c8 = arith.constant 8 : index
      %av = pto.make_tensor_view %a, shape = [%c5, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xf32>
      %bv = pto.make_tensor_view %b, shape = [%c5, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xf32>
      %ap = pto.partition_view %av, offsets = [%c0, %c0], sizes = [%c5, %c8] : !pto.tensor_view<?x?xf32> -> {PART}
      %bp = pto.partition_view %bv, offsets = [%c0, %c0], sizes = [%c5, %c8] : !pto.tensor_view<?x?xf32> -> {PART}
      %t = pto.alloc_tile : {TILE}
      pto.tload ins(%ap : {PART}) outs(%t : {TILE})
"""


@pytest.mark.parametrize("own", [False, True])
def test_tiles(own: bool) -> None:
    """The attribute of a store goes before the mode."""
    new, old = np.arange(40, dtype=np.float32), np.arange(40, dtype=np.float32)[::-1].copy()
    target = old.copy()
    attribute = "{atomicType = #pto<atomic_type atomic_add>}" if own else ""
    body = f"{TILES}\n{mode('f32', 'min')}\npto.tstore ins(%t : {TILE}) outs(%bp : {PART}) {attribute}"
    kernel(body).run([new, target])
    want = [o + n if own else min(o, n) for o, n in zip(old.tolist(), new.tolist(), strict=True)]
    assert target.tolist() == want


def test_write_back_of_accumulators() -> None:
    """What a plain write-back stores is added; a clause goes before the mode."""
    shape = "nz2nd" + " : !pto.ptr<f32, acc>, !pto.ptr<f32, gm>, i64, i64, i64, i64, i64, i64"
    text = "pto.mte_l0c_gm %c, %b, %n16, %n16, %n16, %n16, %n0, %n0, "
    options = RunOptions(fill="random")
    plain, added, smaller = np.zeros(256, np.float32), np.full(256, 3, np.float32), np.full(256, 3, np.float32)
    unused = np.zeros(1, np.float32)
    kernel(text + shape, options=options).run([unused, plain])
    kernel(f"{mode('f32', 'add')}\n{text}{shape}", options=options).run([unused, added])
    clause = shape.replace("nz2nd", "nz2nd, atomic(type = f32, op = min)")
    kernel(f"{mode('f32', 'add')}\n{text}{clause}", options=options).run([unused, smaller])
    assert len(set(plain.tolist())) > 100
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(added, plain + np.float32(3))
        np.testing.assert_array_equal(smaller, np.minimum(plain, np.float32(3)))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (f"{TILES}\n{mode('f16', 'add')}\npto.tstore ins(%t : {TILE}) outs(%bp : {PART})", "f32 elements while the"),
        (f"{TILES}\n{mode('s32', 'add')}\npto.tstore ins(%t : {TILE}) outs(%bp : {PART})", "f32 elements while the"),
        (f"{mode('f32', 'add')}\n{copy_out('f32', '%n30')}", "bursts of 30 bytes"),
        (f"%w = arith.constant 448 : i64\npto.set_ctrl %w : i64\n{copy_out('f32')}", "atomic type 7"),
    ],
)
def test_what_has_no_meaning_is_refused(body: str, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        kernel(body).run([np.zeros(64, np.float32), np.zeros(64, np.float32)])


@pytest.mark.parametrize(("words", "found"), [(("add", "f32"), 0), (("none",), 1)])
def test_atomic_stores_of_several_blocks_are_no_race(words: tuple[str, ...], found: int) -> None:
    text = program(
        ub("x", 0), *(f"pto.set_atomic_{word}" for word in words), load("%x"), set_flag("MTE2", "MTE3"),
        wait_flag("MTE2", "MTE3"), store("%x"),
    )  # fmt: skip
    assert rules(text, blocks=2) == ({"race-cross-block": 1} if found else {})
