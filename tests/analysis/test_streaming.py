"""Which results the vector unit streams into the next operation: borders of size, form and order."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from xdsl.ir import Operation

from pto_dialect import parse
from pto_dialect.analysis.streaming import is_streamed

LARGE = "!pto.tile_buf<vec, 16x64xf32>"


class At(NamedTuple):
    op: Operation
    number: int


def operations(*lines: str, tiles: str = LARGE) -> list[Operation]:
    """The tile operations of a function with the tiles %a, %b, %c and %d, and %x, %y, %z of which two share bytes."""
    head = "".join(f"%{name} = pto.alloc_tile : {tiles}\n" for name in "abcd")
    for name, address in (("x", 0), ("y", 0), ("z", 4096)):
        head += f"%at_{name} = arith.constant {address} : i64\n%{name} = pto.alloc_tile addr = %at_{name} : {tiles}\n"
    body = "\n".join(lines)
    module = parse(f"func.func @f(%i: index, %n: index) {{\n{head}{body}\nreturn\n}}\n")
    return [op for op in module.walk() if op.name in ("pto.tadd", "pto.tabs")]


def add(one: str, other: str, result: str, tile: str = LARGE) -> str:
    return f"pto.tadd ins(%{one}, %{other} : {tile}, {tile}) outs(%{result} : {tile})"


def streamed(*lines: str, kind: str = "raw", tiles: str = LARGE) -> bool:
    first, second = operations(*lines, tiles=tiles)
    return is_streamed(At(first, 1), At(second, 2), kind)


LOOP, END = "scf.for %k = %i to %n step %n {", "}"


def test_a_result_that_the_next_operation_reads() -> None:
    assert streamed(add("a", "b", "c"), add("c", "a", "d"))
    assert not streamed(add("a", "b", "c"), add("a", "b", "d"))
    assert not streamed(add("c", "b", "a"), add("c", "b", "d"))


def test_only_in_the_order_of_the_text() -> None:
    first, second = operations(add("a", "b", "c"), add("c", "a", "d"))
    for one, other, expected in ((1, 2, True), (1, 9, True), (2, 2, False), (3, 2, False)):
        assert is_streamed(At(first, one), At(second, other), "raw") == expected


def test_only_inside_of_one_loop() -> None:
    one, two = add("a", "b", "c"), add("c", "a", "d")
    assert streamed(LOOP, one, two, END)
    assert not streamed(one, LOOP, two, END)
    assert not streamed(LOOP, one, END, two)
    assert not streamed(LOOP, one, END, LOOP, two, END)
    assert not streamed(LOOP, one, LOOP.replace("%k", "%l"), two, END, END)


@pytest.mark.parametrize(
    ("tile", "expected"),
    [
        ("16x64xf32", True), ("15x64xf32", False), ("17x64xf32", True), ("16x64xf32, valid=16x32", False),
        ("17x64xf32, valid=16x64", True), ("16x64xf32, valid=15x64", False),
        ("16x64xf32, valid=?x64", False), ("1x1024xf32, valid=1x961", True),
        ("1x1024xf32, valid=1x960", False), ("16x64xf16", False), ("32x64xf16", True),
        ("64x16xf32, blayout=col_major", True), ("64x16xf32, valid=32x16, blayout=col_major", False),
        ("1024x1xf32, valid=1000x1, blayout=col_major", True),
    ],
)  # fmt: skip
def test_sixteen_repeats_of_256_bytes(tile: str, expected: bool) -> None:
    """Contiguous: whole rows, or one row alone; a repeat that is begun counts."""
    type_ = f"!pto.tile_buf<vec, {tile}>"
    assert streamed(add("a", "b", "c", type_), add("c", "a", "d", type_), tiles=type_) == expected


@pytest.mark.parametrize(
    ("second", "kind", "expected"),
    [
        (("c", "a", "c"), "waw", True), (("c", "a", "d"), "waw", False), (("c", "a", "a"), "war", False),
        (("c", "b", "c"), "war", False),
    ],
)  # fmt: skip
def test_results_in_place_of_the_source(second: tuple[str, str, str], kind: str, expected: bool) -> None:
    """What both write is streamed if the later one writes where it reads, and nothing else is shared."""
    assert streamed(add("a", "b", "c"), add(*second), kind=kind) == expected


def test_consecutive_in_place_operations() -> None:
    lines = add("a", "b", "a"), add("a", "b", "a")
    assert all(streamed(*lines, kind=kind) for kind in ("raw", "war", "waw"))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (("z", "z", "x"), ("y", "z", "y"), {"raw", "waw"}),
        (("x", "z", "y"), ("y", "z", "y"), {"raw", "war", "waw"}),
        (("x", "z", "y"), ("x", "z", "x"), {"raw", "war", "waw"}),
        (("x", "a", "z"), ("z", "a", "y"), {"raw"}),
        (("a", "b", "x"), ("y", "a", "z"), {"raw"}),
        (("a", "b", "x"), ("a", "b", "y"), set()),
    ],
)
def test_two_tiles_of_one_type_at_one_address_are_the_same_bytes(
    first: tuple[str, str, str], second: tuple[str, str, str], expected: set[str]
) -> None:
    lines = add(*first), add(*second)
    assert {kind for kind in ("raw", "war", "waw") if streamed(*lines, kind=kind)} == expected


HALF = "!pto.tile_buf<vec, 16x32xf32>"


@pytest.mark.parametrize(
    ("address", "view", "expected"),
    [("0", "", False), ("2048", "", False), ("4096", "", True), ("0", "%x[%i, %i]", False), ("0", "%z[%i, %i]", True)],
)
def test_other_handles_on_some_bytes_of_the_result(address: str, view: str, expected: bool) -> None:
    """The later operation reads the result, and in part once more through a tile beside it or a view of it."""
    made = f"%at = arith.constant {address} : i64\n%h = pto.alloc_tile addr = %at : {HALF}"
    if view:
        made = f"%h = pto.subview {view} sizes [16, 32] : {LARGE} -> {HALF}"
    second = f"pto.tadd ins(%x, %h : {LARGE}, {HALF}) outs(%d : {LARGE})"
    assert streamed(made, add("a", "b", "x"), second) == expected
