"""Vector registers against formulas in plain numpy, through whole programs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vector_kernels import DTYPES, buffer, kernel, lanes, numbers, run_lanes, same

from pto_dialect.runtime.vector.collect import ranks

# --- arithmetic -------------------------------------------------------------------------------------------

FLOATS = ("f16", "bf16", "f32")
INTEGERS = ("i8", "ui8", "i16", "ui16", "i32", "ui32")
BINARY = {
    "vadd": np.add, "vsub": np.subtract, "vmax": np.maximum, "vmin": np.minimum, "vmul": np.multiply,
}  # fmt: skip


@pytest.mark.parametrize("element", ["i16", "i32", "f16", "f32"])
@pytest.mark.parametrize("op", BINARY)
@pytest.mark.parametrize("share", [1.0, 0.4, 0.0])
def test_two_registers(op: str, element: str, share: float) -> None:
    a, b = numbers(element, 1), numbers(element, 2)
    active = int(lanes(element) * share)
    with np.errstate(all="ignore"):
        want = BINARY[op](a, b)
    want[active:] = 0
    same(run_lanes(f"pto.{op} %va, %vb, %m : {{v}}, {{v}}, {{m}} -> {{v}}", element, [a, b], active), want)


@pytest.mark.parametrize("element", ["i16", "ui16", "i32", "ui32"])
def test_shifts_follow_the_sign_and_count_modulo_the_width(element: str) -> None:
    a, counts = numbers(element), (np.arange(lanes(element)) % 40).astype(DTYPES[element])
    bits = 8 * a.itemsize
    for op, want in (
        ("vshl", [int(x) << (int(n) % bits) for x, n in zip(a, counts, strict=True)]),
        ("vshr", [int(x) >> (int(n) % bits) for x, n in zip(a, counts, strict=True)]),
    ):
        got = run_lanes(f"pto.{op} %va, %vb, %m : {{v}}, {{v}}, {{m}} -> {{v}}", element, [a, counts], lanes(element))
        assert [int(x) & ((1 << bits) - 1) for x in got] == [x & ((1 << bits) - 1) for x in want]


@pytest.mark.parametrize("element", ["f16", "f32"])
@pytest.mark.parametrize("op", ["vexp", "vln", "vsqrt", "vabs", "vneg", "vrelu"])
def test_one_register(op: str, element: str) -> None:
    a = numbers(element)
    functions = {"vexp": np.exp, "vln": np.log, "vsqrt": np.sqrt, "vabs": np.abs, "vneg": np.negative}
    with np.errstate(all="ignore"):
        wide = a.astype(np.float32)
        want = (np.maximum(wide, 0) if op == "vrelu" else functions[op](wide)).astype(a.dtype)
    same(run_lanes(f"pto.{op} %va, %m : {{v}}, {{m}} -> {{v}}", element, [a], lanes(element)), want)


def test_fused_multiply_add_rounds_once() -> None:
    """1 + 2^-23 squared, less its rounded value: only a fused sum keeps what was rounded off."""
    a = np.full(64, 1 + 2**-23, np.float32)
    c = -(a * a)
    got = run_lanes("pto.vmula %vc, %va, %vb, %m : {v}, {v}, {v}, {m} -> {v}", "f32", [a, a, c], 64)
    same(got, np.full(64, 2.0**-46))


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
@settings(max_examples=12)
def test_carries(x: int, y: int) -> None:
    """Sums and differences of 64 bits in two halves."""
    values = [buffer(np.array([number], np.uint32)) for number in (x, y)]
    out = np.zeros(512, np.uint32)
    v, m, p = "!pto.vreg<64xui32>", "!pto.mask<b32>", "!pto.ptr<ui32, ub>"
    body = f"""
      %all = pto.pset_b32 "PAT_ALL" : {m}
      %va = pto.vlds %au[%c0] : {p} -> {v}
      %vb = pto.vlds %bu[%c0] : {p} -> {v}
      %s, %carry = pto.vaddc %va, %vb, %all : {v}, {v}, {m} -> {v}, {m}
      %h, %none = pto.vaddcs %va, %vb, %carry, %all : {v}, {v}, {m}, {m} -> {v}, {m}
      %d, %kept = pto.vsubc %va, %vb, %all : {v}, {v}, {m} -> {v}, {m}
      %e, %none2 = pto.vsubcs %va, %vb, %kept, %all : {v}, {v}, {m}, {m} -> {v}, {m}
      pto.vsts %s, %ou[%c0], %all : {v}, {p}, {m}
      pto.vsts %h, %ou[%c64], %all : {v}, {p}, {m}
      %third = arith.constant 128 : index
      %fourth = arith.constant 192 : index
      pto.vsts %d, %ou[%third], %all : {v}, {p}, {m}
      pto.vsts %e, %ou[%fourth], %all : {v}, {p}, {m}
    """
    kernel(body, "%a: !pto.ptr<ui32, gm>, %b: !pto.ptr<ui32, gm>, %o: !pto.ptr<ui32, gm>").run([*values, out])
    wide = 2**32
    carry, kept = (x + y) // wide, int(x >= y)
    assert out[[0, 64, 128, 192]].tolist() == [
        (x + y) % wide,
        (x + y + carry) % wide,
        (x - y) % wide,
        (x - y - (1 - kept)) % wide,
    ]


@pytest.mark.parametrize("mode", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_comparisons_are_false_for_nan_except_ne(mode: str) -> None:
    a, b = numbers("f32", 1), numbers("f32", 2)
    b[::3] = a[::3]
    functions = {"eq": "__eq__", "ne": "__ne__", "lt": "__lt__", "le": "__le__", "gt": "__gt__", "ge": "__ge__"}
    want = [float(getattr(float(x), functions[mode])(float(y))) for x, y in zip(a, b, strict=True)]
    v, m = "!pto.vreg<64xf32>", "!pto.mask<b32>"
    statement = (
        f'pto.vcmp %va, %vb, %m, "{mode}" : {v}, {v}, {m} -> {m}\n'
        f"%one = arith.constant 1.0 : f32\n%zero32 = arith.constant 0.0 : f32\n"
        f"%ones = pto.vbr %one : f32 -> {v}\n%zeros = pto.vbr %zero32 : f32 -> {v}\n"
        f"%x = pto.vsel %ones, %zeros, %r : {v}, {v}, {m} -> {v}"
    )
    body = f"""
      %n = arith.constant 64 : i32
      %m, %left = pto.plt_b32 %n : i32 -> {m}, i32
      %va = pto.vlds %au[%c0] : !pto.ptr<f32, ub> -> {v}
      %vb = pto.vlds %bu[%c0] : !pto.ptr<f32, ub> -> {v}
      %r = {statement}
      pto.vsts %x, %ou[%c0], %m : {v}, !pto.ptr<f32, ub>, {m}
    """
    out = np.zeros(512, np.float32)
    kernel(body, "%a: !pto.ptr<f32, gm>, %b: !pto.ptr<f32, gm>, %o: !pto.ptr<f32, gm>").run([buffer(a), buffer(b), out])
    assert out[:64].tolist() == want


# --- conversion -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("part", "offset"), [("EVEN", 0), ("ODD", 1)])
def test_widening_takes_every_second_lane(part: str, offset: int) -> None:
    a = numbers("f16")
    statement = f'pto.vcvt %va, %m {{{{part = "{part}"}}}} : {{v}}, {{m}} -> {{o}}'
    same(run_lanes(statement, "f16", [a], 128, "f32"), a[offset::2].astype(np.float32))


@pytest.mark.parametrize(("part", "offset"), [("EVEN", 0), ("ODD", 1)])
def test_narrowing_fills_every_second_lane(part: str, offset: int) -> None:
    a = np.linspace(-9, 9, 64, dtype=np.float32)
    statement = f'pto.vcvt %va, %m {{{{rnd = "R", sat = "SAT", part = "{part}"}}}} : {{v}}, {{m}} -> {{o}}'
    want = np.zeros(128, np.float16)
    want[offset::2][:40] = a[:40]
    same(run_lanes(statement, "f32", [a], 40, "f16"), want)


@pytest.mark.parametrize(
    ("letter", "want"),
    [
        ("R", [-2, 2, 2, -0.0]),
        ("A", [-2, 3, 2, -1]),
        ("F", [-2, 2, 1, -1]),
        ("C", [-1, 3, 2, -0.0]),
        ("Z", [-1, 2, 1, 0]),
    ],
)
def test_rounding_to_integral_values(letter: str, want: list[float]) -> None:
    a = np.zeros(64, np.float32)
    a[:4] = [-1.5, 2.5, 1.75, -0.5]
    same(run_lanes(f'pto.vtrc %va, %m, "{letter}" : {{v}}, {{m}} -> {{v}}', "f32", [a], 64)[:4], np.array(want))


# --- reduction and rearrangement --------------------------------------------------------------------------


def test_sums() -> None:
    a = np.random.default_rng(4).standard_normal(64).astype(np.float32)
    total = np.float32(0)
    for value in a[:50]:
        total = np.float32(total + value)
    got = run_lanes("pto.vcadd %va, %m : {v}, {m} -> {v}", "f32", [a], 50)
    same(got, np.array([total, *[0] * 63]))
    masked = np.where(np.arange(64) < 50, a, np.float32(0))
    same(run_lanes("pto.vcpadd %va, %m : {v}, {m} -> {v}", "f32", [a], 50)[:32], masked[0::2] + masked[1::2])
    groups = np.add.accumulate(masked.reshape(8, 8), axis=1)[:, -1]
    same(run_lanes("pto.vcgadd %va, %m : {v}, {m} -> {v}", "f32", [a], 50), np.array([*groups, *[0] * 56]))


@pytest.mark.parametrize(("op", "function"), [("vcmax", np.argmax), ("vcmin", np.argmin)])
def test_extremum_and_its_first_lane(op: str, function) -> None:
    a = np.array([3, -7, 9, 9, -7, 1] * 11, np.int32)[:64]
    place = int(function(a[:20]))
    got = run_lanes(f"pto.{op} %va, %m : {{v}}, {{m}} -> {{v}}", "i32", [a], 20)
    assert got[:3].tolist() == [a[place], place, 0]


def test_empty_groups_have_the_neutral_value() -> None:
    a = np.arange(64, dtype=np.float32)
    got = run_lanes("pto.vcgmax %va, %m : {v}, {m} -> {v}", "f32", [a], 12)
    same(got[:8], np.array([7, 11, *[-np.inf] * 6]))


def test_interleave_and_its_inverse() -> None:
    a, b = numbers("i16", 1), numbers("i16", 2)
    v, m, p = "!pto.vreg<128xi16>", "!pto.mask<b16>", "!pto.ptr<i16, ub>"
    body = f"""
      %all = pto.pset_b16 "PAT_ALL" : {m}
      %va = pto.vlds %au[%c0] : {p} -> {v}
      %vb = pto.vlds %bu[%c0] : {p} -> {v}
      %l, %h = pto.vintlv %va, %vb : {v}, {v} -> {v}, {v}
      %x, %y = pto.vdintlv %l, %h : {v}, {v} -> {v}, {v}
      %second = arith.constant 128 : index
      pto.vsts %l, %ou[%c0], %all : {v}, {p}, {m}
      pto.vsts %h, %ou[%second], %all : {v}, {p}, {m}
      pto.vsts %x, %au[%c0], %all : {v}, {p}, {m}
      pto.vsts %y, %bu[%c0], %all : {v}, {p}, {m}
    """
    values = [buffer(a), buffer(b), np.zeros(1024, np.int16)]
    kernel(body, "%a: !pto.ptr<i16, gm>, %b: !pto.ptr<i16, gm>, %o: !pto.ptr<i16, gm>").run(values)
    assert values[2][:256].tolist() == np.stack([a, b], 1).reshape(-1).tolist()
    assert values[0][:128].tolist() == a.tolist()
    assert values[1][:128].tolist() == b.tolist()


def test_compaction() -> None:
    a = numbers("i32")
    want = [*a[:13].tolist(), *[0] * 51]
    assert run_lanes("pto.vsqz %va, %m : {v}, {m} -> {v}", "i32", [a], 13).tolist() == want
    assert run_lanes("pto.vusqz %va, %m : {v}, {m} -> {v}", "i32", [a], 13).tolist() == [*range(13), *[13] * 51]


@pytest.mark.parametrize("active", [0, 13, 63, 64])
def test_numbers_of_lanes_count_the_bytes_of_all_active_ones(active: int) -> None:
    state: dict[str, int] = {}
    mask = np.arange(256) < 4 * active
    found = ranks(np.zeros(64, np.int32), mask, state)
    assert found.tolist() == [min(lane, active) for lane in range(64)]
    assert state["sqzn"] == 4 * active


@pytest.mark.parametrize(("half", "start"), [("LOWER", 0), ("HIGHER", 64)])
def test_pack_keeps_low_halves(half: str, start: int) -> None:
    a = numbers("ui32")
    want = np.zeros(128, np.uint16)
    want[start : start + 64] = a & 0xFFFF
    got = run_lanes(f'pto.vpack %va, "{half}" : {{v}} -> {{o}}', "ui32", [a], 64, "ui16")
    assert got.tolist() == want.tolist()
