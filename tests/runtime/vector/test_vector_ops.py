"""Vector registers and predicates against formulas in plain numpy, through whole programs."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parse_helpers import parsed

from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

DTYPES = {
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32,
}  # fmt: skip
EDGES = [0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan, 65504.0, 1e-8, 3.0]


def lanes(element: str) -> int:
    return 256 // np.dtype(DTYPES[element]).itemsize


def width(element: str) -> str:
    return f"b{8 * np.dtype(DTYPES[element]).itemsize}"


def kernel(body: str, arguments: str, before: str = "", **options) -> Kernel:
    """A vector program: arguments in global memory, 2 KB of each at byte 2048·position of the unified buffer."""
    names = [text.split(":")[0].strip().lstrip("%") for text in arguments.split(",") if "!pto.ptr" in text]
    types = [part.split(":", 1)[1].strip() for part in arguments.split("%")[1:] if "!pto.ptr" in part]
    elements = [type_.split("<")[1].split(",")[0].split(">")[0] for type_ in types]
    lines = [f"%c{i} = arith.constant {i} : index" for i in (0, 1, 2, 3, 8, 32, 64)]
    lines += ["%zero = arith.constant 0 : i64", "%size = arith.constant 2048 : i64", "%once = arith.constant 1 : i64"]
    for number, (name, element) in enumerate(zip(names, elements, strict=True)):
        pointer = f"!pto.ptr<{element}, ub>"
        lines += [
            f"%at_{name} = arith.constant {2048 * number} : i64",
            f"%{name}u = pto.castptr %at_{name} : i64 -> {pointer}",
            f"pto.mte_gm_ub %{name}, %{name}u, %zero, %size nburst(%once, %size, %size)"
            f" : !pto.ptr<{element}, gm>, {pointer}, i64, i64, i64, i64, i64",
        ]
    flags = 'pto.set_flag["PIPE_{0}", "PIPE_{1}", "EVENT_ID0"]\npto.wait_flag["PIPE_{0}", "PIPE_{1}", "EVENT_ID0"]'
    lines += [before, flags.format("MTE2", "V"), f"pto.vecscope {{\n{body}\n}}", flags.format("V", "MTE3")]
    for name, element in zip(names, elements, strict=True):
        lines.append(
            f"pto.mte_ub_gm %{name}u, %{name}, %size nburst(%once, %size, %size)"
            f" : !pto.ptr<{element}, ub>, !pto.ptr<{element}, gm>, i64, i64, i64, i64"
        )
    text = "\n".join(lines)
    source = (
        'module attributes {pto.target_arch = "a5", pto.kernel_kind = #pto.kernel_kind<vector>} {\n'
        f"func.func @k({arguments}) attributes {{pto.kernel}} {{\n{text}\nreturn\n}}\n}}"
    )
    module, found = parsed(source)
    assert {entry[0] for entry in found} <= {"op-deprecated"}, found
    return Kernel(module, None, None, RunOptions(**options))


def buffer(values: np.ndarray) -> np.ndarray:
    """``values`` at the start of 2 KB."""
    whole = np.zeros(2048 // values.itemsize, values.dtype)
    whole[: values.size] = values
    return whole


def numbers(element: str, seed: int = 1) -> np.ndarray:
    count, dtype, rng = lanes(element), DTYPES[element], np.random.default_rng(seed)
    if np.dtype(dtype).kind in "iu":
        return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, count, dtype, endpoint=True)
    values = rng.standard_normal(count) * 4
    values[: len(EDGES)] = np.roll(EDGES, seed)
    return values.astype(dtype)


def run_lanes(statement: str, element: str, inputs: list[np.ndarray], active: int, result: str | None = None):
    """Runs ``%r = statement`` on registers %a, %b, %c of the inputs; all lanes of the result."""
    result = result or element
    vreg, pointer = f"!pto.vreg<{lanes(element)}x{element}>", f"!pto.ptr<{element}, ub>"
    out = f"!pto.vreg<{lanes(result)}x{result}>"
    arguments = [f"%{name}: !pto.ptr<{element}, gm>" for name in "abc"[: len(inputs)]]
    body = [
        f"%n = arith.constant {active} : i32",
        f"%m, %left = pto.plt_{width(element)} %n : i32 -> !pto.mask<{width(element)}>, i32",
        f'%all = pto.pset_{width(result)} "PAT_ALL" : !pto.mask<{width(result)}>',
        *(f"%v{name} = pto.vlds %{name}u[%c0] : {pointer} -> {vreg}" for name in "abc"[: len(inputs)]),
        f"%r = {statement.format(v=vreg, o=out, m=f'!pto.mask<{width(element)}>')}",
        f"pto.vsts %r, %ou[%c0], %all : {out}, !pto.ptr<{result}, ub>, !pto.mask<{width(result)}>",
    ]
    values = [buffer(value) for value in inputs]
    values.append(np.zeros(2048 // np.dtype(DTYPES[result]).itemsize, DTYPES[result]))
    kernel("\n".join(body), ", ".join([*arguments, f"%o: !pto.ptr<{result}, gm>"])).run(values)
    return values[-1][: lanes(result)]


def same(got: np.ndarray, want: np.ndarray) -> None:
    np.testing.assert_array_equal(np.asarray(got, np.float64), np.asarray(want, np.float64))


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
    """Sums and differences of 64 bits in two words."""
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


@pytest.mark.parametrize(("half", "start"), [("LOWER", 0), ("HIGHER", 64)])
def test_pack_keeps_low_halves(half: str, start: int) -> None:
    a = numbers("ui32")
    want = np.zeros(128, np.uint16)
    want[start : start + 64] = a & 0xFFFF
    got = run_lanes(f'pto.vpack %va, "{half}" : {{v}} -> {{o}}', "ui32", [a], 64, "ui16")
    assert got.tolist() == want.tolist()


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
        ("PK_B64", "i32", 64, [8 * i + byte for i in range(32) for byte in range(4)]),
        ("PK4_B32", "i32", 3, [0, 4, 8]),
    ],
)
def test_distributed_stores(dist: str | None, element: str, active: int, bytes_: list[int]) -> None:
    got = store(dist, element, active)
    assert got[: len(bytes_)].tolist() == bytes_
    assert (got[len(bytes_) :] == 0xEE).all()


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
@pytest.mark.parametrize(
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
