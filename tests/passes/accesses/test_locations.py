"""The memory of handles, worked out by hand. Source: docs/reference/execution.md, "Pointers, tiles and views"."""

from __future__ import annotations

import pytest
from xdsl.ir import Operation, SSAValue

from pto_dialect import parse
from pto_dialect.analysis.affine import AffineExpr
from pto_dialect.analysis.alias import Alias
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.accesses.locations import HandleLocations, MemoryLocation
from pto_dialect.passes.accesses.overlap import may_overlap
from pto_dialect.passes.accesses.setting import ANY, Setting
from pto_dialect.targets.choice import get_profile

T, C, B = (
    "!pto.tile_buf<vec, 16x32xf32>",
    "!pto.tile_buf<vec, 16x32xf32, blayout=col_major>",
    "!pto.tile_buf<mat, 16x32xf16, blayout=col_major, slayout=row_major>",
)
HALF = "!pto.tile_buf<vec, 4x8xf32>"
"""Rows of 128 bytes; the column-major one has columns of 64."""


def handles(*lines: str) -> tuple[dict[str, SSAValue], HandleLocations]:
    """Values of a function by name."""
    constants = [f"%c{n} = arith.constant {n} : index" for n in (0, 1, 2, 3, 4, 8, 32)]
    constants += [f"%a{n} = arith.constant {n} : i64" for n in (1024, 8192)]
    body = "\n".join((*constants, *lines))
    text = f"func.func @f(%p: !pto.ptr<f32, gm>, %i: index, %j: index, %at: i64) {{\n{body}\nreturn\n}}"
    function = next(op for op in walk(parse(text)) if op.name == "func.func")
    values: list[SSAValue] = []
    for op in walk(function):
        values += op.results
        values += [argument for region in op.regions for block in region.blocks for argument in block.args]
    return {value.name_hint: value for value in values if value.name_hint}, HandleLocations(get_profile("a5"))


def places(name: str, *lines: str) -> tuple[MemoryLocation, ...]:
    values, found = handles(*lines)
    return found.of(values[name])


ALLOC = f"%x = pto.alloc_tile addr = %a1024 : {T}"


def test_an_argument_and_an_allocation_without_an_address_are_roots() -> None:
    values, found = handles(f"%x = pto.alloc_tile : {T}")
    assert found.of(values["p"]) == (MemoryLocation("gm", values["p"]),)
    assert found.of(values["x"]) == (MemoryLocation("ub", values["x"]),)


def test_an_allocation_with_an_address_has_its_bytes() -> None:
    assert places("x", ALLOC) == (MemoryLocation("ub", "bytes", 1024, 1024 + 16 * 32 * 4),)
    assert places("x", f"%x = pto.alloc_tile addr = %a8192 : {B}") == (
        MemoryLocation("l1", "bytes", 8192, 8192 + 16 * 32 * 2),
    )
    assert places("x", f"%x = pto.alloc_tile addr = %at : {T}") == (MemoryLocation("ub", None),)


MULTI = "!pto.multi_tile_buf<vec, 16x32xf32, count=3>"
MANY = f"%m = pto.alloc_multi_tile addr = %a1024 : {MULTI}"


def test_slots() -> None:
    size = 16 * 32 * 4
    assert places("m", MANY) == (MemoryLocation("ub", "bytes", 1024, 1024 + 3 * size),)
    for slot in range(3):
        (found,) = places("x", MANY, f"%x = pto.multi_tile_get %m[%c{slot}] : {MULTI} -> {T}")
        assert (found.root, found.start, found.stop) == ("bytes", 1024 + slot * size, 1024 + (slot + 1) * size)
    (found,) = places("x", MANY, f"%x = pto.multi_tile_get %m[%i] : {MULTI} -> {T}")
    assert (found.start, found.stop) == (1024, 1024 + 3 * size)
    assert isinstance(found.frame, tuple) and found.frame[:3] == ("slots", "bytes", 1024)
    assert [side.size for side in found.sides] == [AffineExpr(1)]


def subview(
    source: str, kind: str, row: str, col: str, name: str = "y", result: str = HALF, sizes: str = "4, 8"
) -> str:
    return f"%{name} = pto.subview %{source}[%{row}, %{col}] sizes [{sizes}] : {kind} -> {result}"


@pytest.mark.parametrize(("row", "col"), [(0, 0), (0, 8), (2, 0), (3, 8), (8, 32 - 8)])
def test_bytes_of_a_part(row: int, col: int) -> None:
    """From the first to the last element, in rows of 32 elements."""
    lines = [f"%r = arith.constant {row} : index", f"%k = arith.constant {col} : index"]
    (found,) = places("y", ALLOC, *lines, subview("x", T, "r", "k"))
    assert found.start == 1024 + 4 * (row * 32 + col)
    assert found.stop == 1024 + 4 * ((row + 3) * 32 + col + 8)
    assert [(side.start.constant_value, side.size.constant_value) for side in found.sides] == [(row, 4), (col, 8)]


def test_bytes_of_a_part_of_columns() -> None:
    """In columns of 16 elements."""
    part = "!pto.tile_buf<vec, 8x4xf32, blayout=col_major>"
    (found,) = places(
        "y", f"%x = pto.alloc_tile addr = %a1024 : {C}", subview("x", C, "c8", "c3", result=part, sizes="8, 4")
    )
    assert (found.start, found.stop) == (1024 + 4 * (3 * 16 + 8), 1024 + 4 * (6 * 16 + 16))


def test_parts_whose_bytes_are_not_in_rows() -> None:
    """Fractals are not followed: the bytes stay those of the whole, the rectangle reports the rest."""
    part = "!pto.tile_buf<mat, 16x16xf16, blayout=col_major, slayout=row_major>"
    (found,) = places(
        "y", f"%x = pto.alloc_tile addr = %a1024 : {B}", subview("x", B, "c0", "c0", result=part, sizes="16, 16")
    )
    assert (found.start, found.stop) == (1024, 1024 + 16 * 32 * 2)
    assert [(side.start.constant_value, side.size.constant_value) for side in found.sides] == [(0, 16), (0, 16)]


def test_a_part_at_unknown_indices_keeps_the_bytes_of_the_whole() -> None:
    (found,) = places("y", ALLOC, subview("x", T, "i", "c8"))
    assert (found.start, found.stop) == (1024, 1024 + 2048) and found.sides[1].start.constant_value == 8
    (root,) = places("y", f"%x = pto.alloc_tile : {T}", subview("x", T, "c2", "c8"))
    assert (root.start, root.stop) == (0, None) and root.sides[0].start.constant_value == 2


def test_a_part_of_a_part() -> None:
    """Offsets add up; the bytes are counted in the rows of the outermost."""
    middle = "!pto.tile_buf<vec, 8x16xf32>"
    lines = [ALLOC, subview("x", T, "c2", "c8", "m", middle, "8, 16"), subview("m", middle, "c1", "c4")]
    values, found = handles(*lines)
    outer, inner = found.of(values["m"])[0], found.of(values["y"])[0]
    assert [(side.start.constant_value, side.size.constant_value) for side in inner.sides] == [(3, 4), (12, 8)]
    assert inner.frame == outer.frame


def test_a_part_of_a_slot_that_is_not_known() -> None:
    """Its coordinates are the number of the slot, the rows and the columns; those of a part of it add up."""
    middle = "!pto.tile_buf<vec, 8x16xf32>"
    lines = [
        MANY,
        f"%x = pto.multi_tile_get %m[%i] : {MULTI} -> {T}",
        subview("x", T, "c2", "c8", "y", middle, "8, 16"),
    ]
    values, found = handles(*lines, subview("y", middle, "c1", "c4", "z"))
    (slot,), (part,), (inner,) = (found.of(values[name]) for name in "xyz")
    assert slot.frame == part.frame == inner.frame and slot.sides == part.sides[:1] == inner.sides[:1]
    assert not part.whole and (part.start, part.stop) == (1024, 1024 + 3 * 2048)
    rest = [[(side.start.constant_value, side.size.constant_value) for side in one.sides[1:]] for one in (part, inner)]
    assert rest == [[(2, 8), (8, 16)], [(3, 4), (12, 8)]]


VIEW = "%v = pto.make_tensor_view %p, shape = [%i, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf32>"
PART = ("%w = pto.partition_view %v, offsets = [%c4, %j], sizes = [%c8, %c32] : "
        "!pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<8x32xf32>")  # fmt: skip


def test_a_rectangle_of_global_memory() -> None:
    values, found = handles(VIEW, PART)
    (view,), (part,) = found.of(values["v"]), found.of(values["w"])
    assert view.root is values["p"] and not view.sides and view.space == "gm"
    assert part.frame == view.frame is not None
    assert [(side.start.constant_value, side.size.constant_value) for side in part.sides] == [(4, 8), (None, 32)]


def test_pointers() -> None:
    """What is moved by a number keeps its root, and nothing else is known; a number is an address."""
    values, found = handles(
        "%q = pto.addptr %p, %i : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>",
        "%u = pto.castptr %a1024 : i64 -> !pto.ptr<f32, ub>",
        "%d = pto.addptr %u, %i : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>",
        "%h = pto.castptr %u : !pto.ptr<f32, ub> -> !pto.ptr<f16, ub>",
        "%n = pto.castptr %at : i64 -> !pto.ptr<f32, ub>",
    )
    assert found.of(values["q"]) == (MemoryLocation("gm", values["p"]).part,)
    assert found.of(values["u"]) == (MemoryLocation("ub", "bytes", 1024),)
    assert found.of(values["h"]) == (MemoryLocation("ub", "bytes", 1024).part,)
    assert found.of(values["d"]) == (MemoryLocation("ub", "bytes", 0).part,)
    assert found.of(values["n"]) == (MemoryLocation("ub", None),)


def test_a_pointer_into_a_tile() -> None:
    values, found = handles(ALLOC, f"%q = pto.tile_buf_addr %x : {T} -> !pto.ptr<f32, ub>")
    (place,) = found.of(values["q"])
    assert place[:4] == ("ub", "bytes", 1024, 3072) and not place.whole


WAYS = {
    "a choice of values": (f"%s = arith.select %which, %x, %z : {T}", {"s": "xz"}),
    "a branch": (
        f"%s = scf.if %which -> ({T}) {{\nscf.yield %x : {T}\n}} else {{\nscf.yield %z : {T}\n}}",
        {"s": "xz"},
    ),
    "a switch": (
        f"%s = scf.index_switch %i -> {T}\ncase 0 {{\nscf.yield %x : {T}\n}}\ndefault {{\nscf.yield %z : {T}\n}}",
        {"s": "xz"},
    ),
    "a loop that may run not once": (
        f"%s = scf.for %k = %c0 to %i step %c1 iter_args(%c = %x) -> ({T}) {{\nscf.yield %z : {T}\n}}",
        {"s": "xz", "c": "xz"},
    ),
    "handles that change places": (
        f"%s, %s2 = scf.for %k = %c0 to %c8 step %c1 iter_args(%c = %x, %d = %z) -> ({T}, {T}) {{\n"
        f"scf.yield %d, %c : {T}, {T}\n}}",
        {"c": "xz", "d": "xz", "s": "xz"},
    ),
    "handles that are passed on": (
        f"%s, %s2, %s3 = scf.for %k = %c0 to %c8 step %c1 iter_args(%c = %x, %d = %x, %e = %x) -> ({T}, {T}, {T}) {{\n"
        f"scf.yield %z, %c, %d : {T}, {T}, {T}\n}}",
        {"e": "xz", "d": "xz", "c": "xz"},
    ),
    "a loop with a condition": (
        f"%s = scf.while (%c = %x) : ({T}) -> {T} {{\nscf.condition(%which) %c : {T}\n}} do {{\n^bb0(%u: {T}):\n"
        f"scf.yield %z : {T}\n}}",
        {"s": "xz", "c": "xz", "u": "xz"},
    ),
    "a loop whose condition hands on something else": (
        f"%s, %o = scf.while (%c = %x) : ({T}) -> ({T}, {T}) {{\nscf.condition(%which) %y, %c : {T}, {T}\n}} do {{\n"
        f"^bb0(%u: {T}, %v: {T}):\nscf.yield %u : {T}\n}}",
        {"s": "y", "u": "y", "v": "xy", "c": "xy", "o": "xy"},
    ),
    "a loop that is not followed": (
        f'%s = "affine.for"(%x) <{{lowerBoundMap = affine_map<() -> (0)>, upperBoundMap = affine_map<() -> (8)>, '
        "step = 1 : index, operandSegmentSizes = array<i32: 0, 0, 1>}> ({\n"
        f'^bb0(%k: index, %c: {T}):\n"affine.yield"(%z) : ({T}) -> ()\n}}) : ({T}) -> {T}',
        {"s": "?", "c": "?"},
    ),
}
"""What handles may be, by the letters of the tiles: ``x`` has an address, ``y`` and ``z`` have none, ``?`` is any."""


@pytest.mark.parametrize("way", WAYS)
def test_where_handles_meet(way: str) -> None:
    lines, expected = WAYS[way]
    head = [ALLOC, *(f"%{name} = pto.alloc_tile : {T}" for name in "yz"), "%which = arith.cmpi eq, %i, %j : index"]
    for order in (list(expected), list(expected)[::-1]):
        values, found = handles(*head, lines)
        known = {
            "x": MemoryLocation("ub", "bytes", 1024, 3072),
            "y": MemoryLocation("ub", values["y"]),
            "z": MemoryLocation("ub", values["z"]),
            "?": MemoryLocation("ub", None),
        }
        for name in order:
            met = found.of(values[name])
            assert {place.location for place in met} == {known[letter] for letter in expected[name]}, name
            # A handle always stands for one memory only where there is no other.
            alias = Alias.MUST if len(expected[name]) == 1 else Alias.MAY
            assert {place.alias for place in met} == {alias}, name


def test_a_pointer_that_continues_in_each_iteration() -> None:
    """%q is what comes after the part of this iteration: whatever is computed first, nothing is known but the
    memory."""
    lines = [
        "%u = pto.castptr %a1024 : i64 -> !pto.ptr<f32, ub>",
        "%l = scf.for %k = %c0 to %c8 step %c1 iter_args(%c = %u) -> (!pto.ptr<f32, ub>) {",
        "%q = pto.addptr %c, %c8 : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>",
        "scf.yield %q : !pto.ptr<f32, ub>",
        "}",
    ]
    first, moved = MemoryLocation("ub", "bytes", 1024), MemoryLocation("ub", "bytes", 0).part
    for order in ("cql", "qlc", "lcq"):
        values, found = handles(*lines)
        expected = {"c": {first, moved}, "q": {moved}, "l": {first, moved}}
        for name in order:
            assert {place.location for place in found.of(values[name])} == expected[name], (order, name)


def test_a_part_that_moves_in_each_iteration_may_be_anywhere() -> None:
    lines = [
        ALLOC,
        f"%l = scf.for %k = %c0 to %c8 step %c1 iter_args(%c = %x) -> ({T}) {{",
        subview("c", T, "k", "c0", result=T, sizes="16, 32"),
        f"scf.yield %y : {T}",
        "}",
    ]
    values, found = handles(*lines)
    assert found.of(values["c"]) == (MemoryLocation("ub", None),)


KNOWN, ROOT = MemoryLocation("ub", "bytes", 64, 128), MemoryLocation("ub", "r")
PLACES = {
    (KNOWN, KNOWN): True,
    (KNOWN, MemoryLocation("ub", "bytes", 64, 127)): True,
    (KNOWN, MemoryLocation("ub", "bytes", 63, 128)): False,
    (KNOWN, MemoryLocation("ub", "bytes", 64, 129)): False,
    (KNOWN, MemoryLocation("ub", "bytes", 64)): False,
    (KNOWN, MemoryLocation("l1", "bytes", 64, 128)): False,
    (KNOWN, ROOT): False,
    (ROOT, ROOT): True,
    (ROOT, MemoryLocation("ub", "s")): False,
    (MemoryLocation("ub", None), MemoryLocation("ub", None)): False,
    (MemoryLocation("ub", "bytes", 64), MemoryLocation("ub", "bytes", 64, 65)): False,
    (ROOT._replace(sides=("side",)), ROOT): False,
    (ROOT, ROOT._replace(sides=("side",))): True,
}


def test_which_location_holds_another() -> None:
    for (one, other), expected in PLACES.items():
        assert one.holds(other) == expected, (one, other)


def test_names_are_those_of_operations() -> None:
    """A value whose operation makes no handle that is followed may be anywhere in its memory."""
    values, found = handles("%q = pto.get_block_num")
    assert isinstance(values["q"].owner, Operation)
    assert found.of(values["q"]) == (MemoryLocation("gm", None),)


@pytest.mark.parametrize(
    ("index", "expected"),
    [("c3", (1024 + 12, 1024 + 16, False)), ("i", (1024, 3072, True))],
)  # fmt: skip
def test_elements_of_a_tile(index: str, expected: tuple[int, int, bool]) -> None:
    """At a known index four bytes; else some element of the tile."""
    values, found = handles(ALLOC)
    (one,) = found.element(values["x"], values[index])
    assert (one.start, one.stop, bool(one.sides)) == expected
    assert not one.sides or [(side.start.constant_value, side.size.constant_value) for side in one.sides] == [(None, 1)]


def test_an_element_of_a_part_or_of_a_pointer_is_all_of_it() -> None:
    values, found = handles(ALLOC, subview("x", T, "c2", "c8"))
    assert found.element(values["y"], values["c3"]) == found.of(values["y"])
    assert found.element(values["p"], values["c3"]) == found.of(values["p"])


def test_an_element_of_a_tile_without_an_address() -> None:
    """The same index is the same element, another one another."""
    values, found = handles(f"%x = pto.alloc_tile : {T}")
    (one,), (other,) = (found.element(values["x"], values[name]) for name in ("c3", "c4"))
    assert one.frame == other.frame and one.root is values["x"]
    assert [one.sides[0].start.constant_value, other.sides[0].start.constant_value] == [3, 4]


def test_a_part_of_a_view_that_is_an_argument() -> None:
    """Where its elements lie is not known, so two parts may overlap, and neither is all of it."""
    view, part = "!pto.tensor_view<64x32xf32>", "!pto.partition_tensor_view<8x32xf32>"
    take = "%{} = pto.partition_view %v, offsets = [%{}, %c0], sizes = [%c8, %c32] : {} -> {}"
    lines = [f"%v = arith.select %w, %t, %t : {view}"]
    lines += [take.format(name, offset, view, part) for name, offset in (("a", "c0"), ("b", "c8"))]
    body = "\n".join([f"%c{n} = arith.constant {n} : index" for n in (0, 8, 32)] + lines)
    function = next(op for op in walk(parse(f"func.func @f(%t: {view}, %w: i1) {{\n{body}\nreturn\n}}"))
                    if op.name == "func.func")  # fmt: skip
    found, values = HandleLocations(get_profile("a5")), {r.name_hint: r for op in walk(function) for r in op.results}
    (one,), (other,) = (found.of(values[name]) for name in "ab")
    assert one.root == other.root and not one.whole and not other.whole
    same = Setting(lambda value: True, None, lambda value: ANY, found.sums)
    assert may_overlap(one, other, same)


NO_PARTS = {
    "one offset": (f"%y = pto.subview %x[%c2] sizes [4, 8] : {T} -> {HALF}", T),
    "a result of another kind": (f"%y = pto.subview %x[%c2, %c8] sizes [4, 8] : {T} -> !pto.ptr<f32, ub>", T),
}


@pytest.mark.parametrize("case", NO_PARTS)
def test_parts_that_the_verifier_would_refuse(case: str) -> None:
    """A module need not be verified: nothing is known of such a part."""
    (found,) = places("y", ALLOC, NO_PARTS[case][0])
    assert (found.start, found.stop, found.frame, found.whole) == (1024, 3072, None, False)


@pytest.mark.parametrize(
    ("shape", "strides", "apart"),
    [
        ("%c32, %c8", "%c8, %c1", True),
        ("%i, %c8", "%c32, %c1", True),
        ("%i, %c8", "%i, %c1", True),
        ("%c1, %c8", "%c1, %c1", True),
        ("%c32, %c8", "%c4, %c1", False),
        ("%i, %c8", "%c4, %c1", False),
        ("%c32, %c8", "%c1, %c32", True),
        ("%c32, %c8", "%c1, %c8", False),
        ("%c32, %c8", "%a0, %c1", False),
    ],
)
def test_parts_of_a_view_are_apart_where_its_elements_are(shape: str, strides: str, apart: bool) -> None:
    view, part = "!pto.tensor_view<?x?xf32>", "!pto.partition_tensor_view<4x8xf32>"
    values, found = handles(
        "%a0 = arith.constant 0 : index",
        f"%v = pto.make_tensor_view %p, shape = [{shape}], strides = [{strides}] : {view}",
        *(
            f"%{name} = pto.partition_view %v, offsets = [%{row}, %c0], sizes = [%c4, %c8] : {view} -> {part}"
            for name, row in (("one", "c0"), ("other", "c4"))
        ),
    )
    setting = Setting(lambda value: True, None, lambda value: ANY, found.sums)
    (one,), (other,) = found.of(values["one"]), found.of(values["other"])
    assert may_overlap(one, other, setting) is not apart
    assert may_overlap(one, one, setting)
