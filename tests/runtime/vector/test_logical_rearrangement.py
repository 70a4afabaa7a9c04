"""Predicates, reductions and rearrangement of logical vectors. Source: docs/reference/vectors.md, "Predicates",
"Reductions and rearrangement", "Logical vectors".
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from vmi_programs import DTYPES, kernel, mask, numbers, pattern, run, same, vreg

from pto_dialect.runtime.errors import ProgramError

# ------------------------------------------------------------ predicates


@given(st.integers(1, 300), st.integers(-5, 400))
def test_first_lanes(lanes: int, active: int) -> None:
    body = f"%r = pto.vmi.create_mask %n : index -> {mask(lanes)}"
    assert run(body, {"n": ("index", active)}, {"r": mask(lanes)})[0].tolist() == [i < active for i in range(lanes)]


@pytest.mark.parametrize("active", [-1, 0, 1, 6, 7, 8, 100])
def test_first_lanes_of_each_group(active: int) -> None:
    body = f"%r = pto.vmi.create_group_mask %n {{num_groups = 4 : i64, group_size = 7 : i64}} : index -> {mask(28)}"
    assert run(body, {"n": ("index", active)}, {"r": mask(28)})[0].tolist() == [i % 7 < active for i in range(28)]


@pytest.mark.parametrize(("bound", "left"), [(0, 0), (5, 0), (64, 0), (65, 1), (200, 136), (-3, 0)])
def test_bounds_leave_the_rest(bound: int, left: int) -> None:
    body = f"%r, %n = pto.vmi.plt %b : i32 -> {mask(64)}, i32"
    got, rest = run(body, {"b": ("i32", bound)}, {"r": mask(64), "n": "i32"})
    assert got.tolist() == [i < bound for i in range(64)]
    assert rest == left


@pytest.mark.parametrize(
    ("statement", "formula"),
    [
        ('pset "PAT_ALL"', lambda i: True),
        ('pge "PAT_VL3"', lambda i: i < 3),
        ('pge "PAT_VL32"', lambda i: i < 32),
        ('pge "PAT_VL4" {group = 4 : i64}', lambda i: i % 12 < 4),
        ('pset "PAT_VL4" {group = 4 : i64}', lambda i: i % 12 < 4),
        ('pset "PAT_M3" {group = 2 : i64}', lambda i: i % 24 % 3 == 0),
    ],
)
def test_patterns(statement: str, formula) -> None:
    body = f"%r = pto.vmi.{statement} : {mask(48)}"
    assert run(body, {}, {"r": mask(48)})[0].tolist() == [formula(i) for i in range(48)]


def test_logic_of_predicates() -> None:
    a, b, m = pattern(70, 1), pattern(70, 2), mask(70)
    two = f"%a, %b : {m}, {m} -> {m}"
    body = f"""%p = pto.vmi.mask_and {two}
    %q = pto.vmi.mask_or {two}
    %r = pto.vmi.mask_xor {two}
    %s = pto.vmi.mask_not %a : {m} -> {m}
    %t = pto.vmi.vand {two}
    %u = pto.vmi.vor {two}
    %v = pto.vmi.vxor {two}
    %w = pto.vmi.vnot %a : {m} -> {m}"""
    got = run(body, {"a": (m, a), "b": (m, b)}, dict.fromkeys("pqrstuvw", m))
    for value, want in zip(got, [a & b, a | b, a ^ b, ~a] * 2, strict=True):
        assert value.tolist() == want.tolist()


def test_layout_and_granularity_do_not_change_lanes() -> None:
    whole, split = "#pto.vmi.layout<contiguous>", "#pto.vmi.layout<deinterleaved = 2>"
    v, m = "!pto.vmi.vreg<64xf32, {}>", "!pto.vmi.mask<64x{}, #pto.vmi.layout<{}>>"
    a, p = numbers("f32", 64), pattern(64)
    body = f"""%r = pto.vmi.ensure_layout %a : {v.format(whole)} -> {v.format(split)}
    %q = pto.vmi.ensure_mask_layout %p : {m.format("b32", "contiguous")} -> {m.format("b32", "deinterleaved = 2")}
    %s = pto.vmi.ensure_mask_granularity %p : {m.format("b32", "contiguous")} -> {m.format("b16", "contiguous")}"""
    results = {
        "r": v.format(split), "q": m.format("b32", "deinterleaved = 2"), "s": m.format("b16", "contiguous")
    }  # fmt: skip
    got = run(body, {"a": (v.format(whole), a), "p": (m.format("b32", "contiguous"), p)}, results)
    same(got[0], a)
    assert got[1].tolist() == got[2].tolist() == p.tolist()


def test_ranks_of_active_lanes() -> None:
    p = pattern(90)
    body = f"%r = pto.vmi.active_prefix_index %p : {mask(90)} -> {vreg('i8', 90)}"
    got = run(body, {"p": (mask(90), p)}, {"r": vreg("i8", 90)})[0]
    assert got.tolist() == [sum(p[:i]) for i in range(90)]


# ------------------------------------------------------------ constants, sequences, broadcast


@pytest.mark.parametrize(
    ("element", "text", "want"),
    [
        ("f32", "dense<[1.5, -2.0, 0.0, 3.25]> : tensor<4xf32>", [1.5, -2.0, 0.0, 3.25]),
        ("bf16", "dense<0.1> : tensor<4xbf16>", [0.10009765625] * 4),
        ("i8", "dense<[-1, 127, -128, 5]> : tensor<4xi8>", [-1, 127, -128, 5]),
    ],
)
def test_constants(element: str, text: str, want: list[float]) -> None:
    body = f'%r = "pto.vmi.constant"() {{value = {text}}} : () -> {vreg(element, 4)}'
    assert run(body, {}, {"r": vreg(element, 4)})[0].astype(np.float64).tolist() == want


def test_constant_predicates() -> None:
    body = f"""%r = "pto.vmi.constant_mask"() {{value = dense<[true, false, true]> : tensor<3xi1>}} : () -> {mask(3)}
    %s = "pto.vmi.constant_mask"() {{value = dense<true> : tensor<3xi1>}} : () -> {mask(3)}"""
    some, every = run(body, {}, {"r": mask(3), "s": mask(3)})
    assert (some.tolist(), every.tolist()) == ([True, False, True], [True] * 3)


@pytest.mark.parametrize("order", ["ASC", "DESC"])
@pytest.mark.parametrize(("element", "base"), [("i8", 120), ("ui16", 3), ("i32", -5), ("f16", 2047.0), ("f32", 0.5)])
def test_sequences(element: str, base: float, order: str) -> None:
    step = 1 if order == "ASC" else -1
    type_, dtype = vreg(element, 24), DTYPES[element]
    body = f"""%r = pto.vmi.vci %b {{order = "{order}"}} : {element} -> {type_}
    %s = pto.vmi.iota %b {{order = "{order}"}} : {element} -> {type_}
    %g = pto.vmi.vci %b {{order = "{order}", group = 3 : i64}} : {element} -> {type_}
    %h = pto.vmi.group_iota %b {{order = "{order}", group = 3 : i64}} : {element} -> {type_}"""
    plain, other, grouped, other_grouped = run(body, {"b": (element, base)}, dict.fromkeys("rsgh", type_))

    def lane(i: int) -> Any:
        if dtype.kind == "f":
            return np.float32(base + step * i).astype(dtype)
        bits = 8 * dtype.itemsize
        low = (int(base) + step * i) & ((1 << bits) - 1)
        return low if dtype.kind == "u" or low < 1 << (bits - 1) else low - (1 << bits)

    for got in (plain, other):
        assert got.tolist() == [lane(i) for i in range(24)]
    for got in (grouped, other_grouped):
        assert got.tolist() == [lane(i % 8) for i in range(24)]


def test_broadcasts() -> None:
    one, slots = numbers("bf16", 1, 4), numbers("bf16", 8, 2)
    wide, single, eight = vreg("bf16", 96), vreg("bf16", 1), vreg("bf16", 8)
    body = f"""%r = pto.vmi.vbrc %s : bf16 -> {wide}
    %q = pto.vmi.broadcast %o : {single} -> {wide}
    %t = pto.vmi.vbrc %e {{group = 8 : i64}} : {eight} -> {wide}
    %u = pto.vmi.group_broadcast %e {{num_groups = 8 : i64}} : {eight} -> {wide}"""
    arguments = {"s": ("bf16", 0.1), "o": (single, one), "e": (eight, slots)}
    scalar, copied, grouped, plain = run(body, arguments, dict.fromkeys("rqtu", wide))
    same(scalar, [0.10009765625] * 96)
    same(copied, [one[0]] * 96)
    same(grouped, [slots[i // 12] for i in range(96)])
    same(plain, [slots[i // 12] for i in range(96)])


# ------------------------------------------------------------ reductions


@pytest.mark.parametrize("groups", [1, 2, 8])
@pytest.mark.parametrize("element", ["f16", "f32", "i8", "i16", "ui32"])
def test_sums(element: str, groups: int) -> None:
    a, p = numbers(element, 120), pattern(120)
    if DTYPES[element].kind == "f":
        a[:10] = np.linspace(-3, 3, 10)
    p[:15] = False
    out = vreg(element, groups)
    exact = "{reassoc} " if DTYPES[element].kind == "f" else ""
    stated = exact.replace("{", f"{{group = {groups} : i64, ") or f"{{group = {groups} : i64}} "
    body = f"%r = pto.vmi.vcadd %a, %p {stated}: {vreg(element, 120)}, {mask(120)} -> {out}"
    (got,) = run(body, {"a": (vreg(element, 120), a), "p": (mask(120), p)}, {"r": out})
    size = 120 // groups
    for g in range(groups):
        chosen = [x for x, m in zip(a[g * size :][:size], p[g * size :][:size], strict=True) if m]
        if DTYPES[element].kind == "f":
            want = reduce(lambda s, x: np.float32(s + np.float32(x)), chosen, np.float32(0)).astype(a.dtype)
            assert got[g] == want
        else:
            bits = 8 * a.itemsize
            assert int(got[g]) & ((1 << bits) - 1) == sum(map(int, chosen)) & ((1 << bits) - 1)


@pytest.mark.parametrize("op", ["max", "min"])
@pytest.mark.parametrize("element", ["f16", "f32", "i8", "ui8", "i16", "ui32"])
def test_extrema(element: str, op: str) -> None:
    a, p = numbers(element, 64), pattern(64)
    if DTYPES[element].kind == "f":
        a[np.isnan(a)] = 0
        a[60] = np.nan
        p[60] = True
    p[:8] = False
    out = vreg(element, 8)
    kind = "f" if DTYPES[element].kind == "f" else "i"
    operands = f"%a, %p {{{{{{0}} = 8 : i64}}}} : {vreg(element, 64)}, {mask(64)} -> {out}"
    body = f"%r = pto.vmi.vc{op} {operands.format('group')}"
    body += f"\n%s = pto.vmi.group_reduce_{op}{kind} {operands.format('num_groups')}"
    for got in run(body, {"a": (vreg(element, 64), a), "p": (mask(64), p)}, {"r": out, "s": out}):
        if kind == "f":
            empty = -np.inf if op == "max" else np.inf
        else:
            empty = getattr(np.iinfo(a.dtype), "min" if op == "max" else "max")
        want = [empty]
        for g in range(1, 8):
            chosen = [float(x) for x, m in zip(a[8 * g :][:8], p[8 * g :][:8], strict=True) if m]
            want.append(np.nan if any(x != x for x in chosen) else (max if op == "max" else min)(chosen))
        same(got, want)


def test_whole_vectors_reduce_to_one_lane() -> None:
    a, p = numbers("i32", 100), pattern(100)
    v, one = vreg("i32", 100), vreg("i32", 1)
    types = f": {v}, {mask(100)} -> {one}"
    body = f"""%r = pto.vmi.reduce_addi %a, %p {types}
    %s = pto.vmi.reduce_maxi %a, %p {types}
    %t = pto.vmi.reduce_mini %a, %p {types}
    %u = pto.vmi.vcmax %a, %p {types}"""
    got = [int(x[0]) for x in run(body, {"a": (v, a), "p": (mask(100), p)}, dict.fromkeys("rstu", one))]
    chosen = [int(x) for x, m in zip(a, p, strict=True) if m]
    low = sum(chosen) & 0xFFFFFFFF
    assert got == [low - (low >> 31 << 32), max(chosen), min(chosen), max(chosen)]


@pytest.mark.parametrize("bins", [128, 256])
@pytest.mark.parametrize("op", ["vchist", "vdhist"])
def test_histograms(op: str, bins: int) -> None:
    source, p, acc = numbers("ui8", 256), pattern(256), numbers("ui16", bins)
    out = vreg("ui16", bins)
    body = f"%r = pto.vmi.{op} %c, %a, %p : {out}, {vreg('ui8', 256)}, {mask(256)} -> {out}"
    (got,) = run(body, {"c": (out, acc), "a": (vreg("ui8", 256), source), "p": (mask(256), p)}, {"r": out})
    chosen = [int(x) for x, m in zip(source, p, strict=True) if m]
    for b in range(bins):
        count = sum(x <= b if op == "vchist" else x == b for x in chosen)
        assert got[b] == (int(acc[b]) + count) % 65536


# ------------------------------------------------------------ rearrangement


@pytest.mark.parametrize("element", ["f32", "bf16", "ui8"])
def test_interleaving_and_back(element: str) -> None:
    a, b, type_ = numbers(element, 50, 1), numbers(element, 50, 2), vreg(element, 50)
    every, some = np.ones(50, np.bool_), pattern(50)
    tail = f": {type_}, {type_}, {mask(50)} -> {type_}, {type_}"
    body = f"""%l, %h = pto.vmi.vintlv %a, %b, %m {tail}
    %x, %y = pto.vmi.vdintlv %l, %h, %m {tail}
    %p, %q = pto.vmi.vintlv %a, %b, %s {tail}"""
    arguments = {"a": (type_, a), "b": (type_, b), "m": (mask(50), every), "s": (mask(50), some)}
    low, high, first, second, part, other = run(body, arguments, dict.fromkeys("lhxypq", type_))
    lanes = [(a, b)[i % 2][i // 2] for i in range(100)]
    same(low, lanes[:50])
    same(high, lanes[50:])
    same(first, a)
    same(second, b)
    same(part, np.where(some, low, np.zeros(1, a.dtype)))
    same(other, np.where(some, high, np.zeros(1, a.dtype)))


def test_lanes_by_number() -> None:
    a, index = numbers("f16", 64), np.random.default_rng(1).integers(0, 64, 64).astype(np.uint16)
    v, p = vreg("f16", 64), pattern(64)
    body = f"""%r = pto.vmi.vselr %a, %i : {v}, {vreg("ui16", 64)} -> {v}
    %s = pto.vmi.shuffle %a[3, 0, 63, 3] : {v} -> {vreg("f16", 4)}
    %c = pto.vmi.compress %a, %p : {v}, {mask(64)} -> {v}"""
    arguments = {"a": (v, a), "i": (vreg("ui16", 64), index), "p": (mask(64), p)}
    selected, shuffled, kept = run(body, arguments, {"r": v, "s": vreg("f16", 4), "c": v})
    same(selected, [a[i] for i in index])
    same(shuffled, [a[3], a[0], a[63], a[3]])
    same(kept, [*a[p], *[0] * (64 - int(p.sum()))])


@pytest.mark.parametrize("count", [2, 3, 4])
def test_channels(count: int) -> None:
    a, whole, part = numbers("f32", 24), vreg("f32", 24), vreg("f32", 24 // count)
    names = [f"c{i}" for i in range(count)]
    listed, types = ", ".join(f"%{name}" for name in names), ", ".join([part] * count)
    body = f"""{listed} = "pto.vmi.channel_split"(%a) : ({whole}) -> ({types})
    %r = "pto.vmi.channel_merge"({listed}) : ({types}) -> {whole}"""
    *parts, back = run(body, {"a": (whole, a)}, {**dict.fromkeys(names, part), "r": whole})
    for channel, got in enumerate(parts):
        same(got, [a[i] for i in range(24) if i % count == channel])
    same(back, a)


@pytest.mark.parametrize(
    "statement",
    [
        'pset "PAT_ALL" : {m}', "create_mask %n : index -> {m}", "vbrc %s : f32 -> {v}",
        "vgather %p, %o, %k : !pto.ptr<f32, ub>, !pto.vmi.vreg<{n}xi32>, {m} -> {v}",
    ],
)  # fmt: skip
def test_vectors_beyond_any_memory_are_refused(statement: str) -> None:
    lanes = 1 << 40
    types = {"m": mask(lanes), "v": vreg("f32", lanes), "n": str(lanes)}
    arguments = {"n": "index", "s": "f32", "p": "!pto.ptr<f32, ub>", "o": vreg("i32", lanes), "k": mask(lanes)}
    with pytest.raises(ProgramError, match="more than 1048576 lanes") as error:
        kernel(f"%r = pto.vmi.{statement.format(**types)}", arguments)
    assert error.value.rule == "unmodelled"


@pytest.mark.parametrize("groups", [0, 3])
def test_groups_of_patterns_divide_the_lanes(groups: int) -> None:
    with pytest.raises(ProgramError, match=f"{groups} groups do not divide 64 lanes"):
        kernel(f'%r = pto.vmi.pset "PAT_ALL" {{group = {groups} : i64}} : {mask(64)}', {})
