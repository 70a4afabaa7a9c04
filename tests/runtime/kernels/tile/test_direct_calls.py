"""Instructions called with operands that few programs give them: types that differ, and room for results that is
absent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from run_time_tiles import value
from tile_run_helpers import run, tile
from tile_values import elementwise, pairs, same

from pto_dialect.runtime.kernels.tile.apply import Converted
from pto_dialect.runtime.kernels.tile.sort import MergeLists
from pto_dialect.runtime.numerics.formats import format_of


@pytest.mark.parametrize(
    ("inputs", "result", "wanted"),
    [
        (("i32", "i32"), "f32", [0.5, 1.5]),
        (("i16", "i16"), "f16", [0.5, 1.5]),
        (("f16", "i32"), "i32", [0, 1]),
        (("i32", "f16"), "i32", [0, 1]),
        (("bf16", "f16"), "bf16", [0.5, 1.5]),
    ],
)
def test_one_float_makes_the_computation_one_of_floats(inputs: tuple[str, str], result: str, wanted: list[Any]) -> None:
    """Halves are there until the result is brought to its own type."""
    formats, fmt = [format_of(name) for name in inputs], format_of(result)

    def halved(a: Any, b: Any, out: Any) -> None:
        np.copyto(out, (a + b) / 2, casting="unsafe")

    numbers = [(np.array([[1, 2]]), np.array([[0, 1]]))[n].astype(f.storage) for n, f in enumerate(formats)]
    if "bf16" in inputs:
        numbers[0] = value(1, 2, "bf16", np.array([1.0, 2.0])).read()
    out = np.zeros((1, 2), fmt.storage)
    Converted(halved, formats, fmt, "half")(*numbers, out)
    assert np.asarray(out, np.float64).tolist() == [wanted]


@pytest.mark.parametrize(
    ("inputs", "result", "number", "wanted"), [("i32", "f16", 4099, 4100), ("f32", "i16", 4e4, 32767)]
)
def test_floats_are_brought_to_their_type_once(inputs: str, result: str, number: float, wanted: int) -> None:
    """4098.5 is nearest to 4100 among the numbers of f16, and 39999.5 is beyond those of i16."""
    fmt, source = format_of(result), format_of(inputs)
    out, pair = np.zeros((1, 1), fmt.storage), [np.array([[number - n]], source.storage) for n in (0, 1)]

    def halved(a: Any, b: Any, out: Any) -> None:
        np.copyto(out, (a + b) / 2, casting="unsafe")

    Converted(halved, [source, source], fmt, "half")(*pair, out)
    assert float(out[0, 0]) == wanted


def test_integers_alone_are_no_floats() -> None:
    """2^24 + 1 is not one of the numbers of float32."""
    out = np.zeros((1, 1), np.int32)
    big = np.full((1, 1), (1 << 24) + 1, np.int32)
    one = np.ones((1, 1), np.int16)
    add = Converted(lambda a, b, out: np.add(a, b, out), [format_of("i32"), format_of("i16")], format_of("i32"), "add")
    add(big, one, out)
    assert out.tolist() == [[(1 << 24) + 2]]


@pytest.mark.parametrize("room", [None, 3, 4, 5])
def test_counts_of_a_merge_need_room_for_four(room: int | None) -> None:
    merge = MergeLists(format_of("f32"), False)
    lists = [value(1, 4, "f32", [9.0, 0, 7.0, 0]), value(1, 2, "f32", [8.0, 0])]
    counts = None if room is None else np.full(room, -1, np.int16)
    dst = value(1, 6)
    state: dict[str, object] = {}
    merge(dst, counts, state, *lists)
    assert dst.array[0, ::2].tolist() == [9, 8, 7]
    assert state["vms4"] == (2, 1, 0, 0)
    if counts is not None:
        assert counts.tolist() == ([2, 1, 0, 0] if room == 4 else [-1] * len(counts))


@pytest.mark.parametrize("element", ["i8", "i16", "ui8", "ui16"])
@pytest.mark.parametrize("number", [-1, 127, 128, 200, 32768, 40000, 65536 + 5, -(1 << 31), (1 << 31) - 1])
@pytest.mark.parametrize("op", ["tadds", "tmuls"])
def test_wide_numbers_wrap_at_the_width_of_the_tile(op: str, element: str, number: int) -> None:
    a, _ = pairs(element)
    found = run(
        f"pto.{op} ins(%a, %s : {{a}}, i32) outs(%d : {{d}})",
        tile("a", element, a), tile("d", element, a), scalars={"s": ("i32", number)}, verify=False,
    )  # fmt: skip
    same(found["d"], elementwise(lambda x: x + number if op == "tadds" else x * number, element, a))
