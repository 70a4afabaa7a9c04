"""Orders of tasks, positions of arguments and memory that has run out: texts and numbers at their limits. Source:
docs/python-api.md, "Errors".
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pto_dialect
from pto_dialect.runtime.errors import BindingError, ProgramError
from pto_dialect.runtime.faults import exhausted
from pto_dialect.runtime.group_api import _is_position
from pto_dialect.runtime.tasks import parse_order


@pytest.mark.parametrize(("text", "seed"), [("submitted", None), ("random:0", 0), ("random:7", 7),
                                            ("random:" + "9" * 20, 10**20 - 1)])  # fmt: skip
def test_orders_of_tasks(text: str, seed: int | None) -> None:
    assert parse_order(text) == seed


@pytest.mark.parametrize("text", ["", "random", "random:", "later:3", ":3", "random:-1", "random:1.5", "random:٣",
                                  "random:²", "random:" + "9" * 21, "submitted:1", "Random:3",
                                  "random:3:4"])  # fmt: skip
def test_keywords_that_are_no_order(text: str) -> None:
    with pytest.raises(BindingError, match="is no order of tasks, expected submitted or random:SEED"):
        parse_order(text)


@pytest.mark.parametrize(("name", "count", "holds"), [("0", 1, True), ("1", 1, False), ("2", 3, True), ("3", 3, False),
                                                     ("a", 3, False), ("", 3, False), ("-1", 3, False)])  # fmt: skip
def test_positions_of_arguments(name: str, count: int, holds: bool) -> None:
    assert _is_position(name, count) == holds


@pytest.mark.parametrize(("shape", "dtype", "words"), [
    ((3, 1 << 20), np.dtype(np.float32), ": 12 MiB"), (None, np.dtype(np.float32), ""), ((5,), None, ""),
    (None, None, ""),
])  # fmt: skip
def test_memory_that_has_run_out(shape: Any, dtype: Any, words: str) -> None:
    """Errors of numpy know how much was wanted."""
    error = MemoryError()
    for name, value in (("shape", shape), ("dtype", dtype)):
        if value is not None:
            setattr(error, name, value)
    assert exhausted(error).message == f"takes more memory than there is{words}"


TEXT = """module attributes {pto.target_arch = "a5"} {
func.func @k(%p: !pto.ptr<f32>, %q: !pto.ptr<f32>) attributes {pto.entry} {
  %c0 = arith.constant 0 : index
  %x = pto.load_scalar %p[%c0] : !pto.ptr<f32> -> f32
  pto.store_scalar %x, %q[%c0] : !pto.ptr<f32>, f32
  return
}
}"""


class Kept(np.ndarray):
    """An array of another class."""


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize(("make", "works"), [
    (lambda: np.full(8, 3, np.float32), (True, True)), (lambda: np.full(8, 3, np.float32).view(Kept), (True, True)),
    (lambda: np.full(8, 3, np.float64), (False, False)), (lambda: np.full(8, 3, np.int32), (True, True)),
    (lambda: np.full(16, 3, np.float32)[::2], (False, False)), (lambda: np.broadcast_to(np.float32(3), 8), None),
])  # fmt: skip
def test_arrays_that_are_taken_as_they_are(make: Any, works: Any, place: int) -> None:
    """An array that may be written, of the right type, whose elements lie in order; the others are reported."""
    kernel = pto_dialect.compile(pto_dialect.parse(TEXT))
    given: list[Any] = [np.full(8, 5, np.float32), np.zeros(8, np.float32)]
    given[place] = make()
    expected = works if works is not None else (False, False)
    if expected[place]:
        kernel(*given)
        first = given[0].view(np.float32).reshape(-1)[0]
        assert given[1].view(np.float32).reshape(-1)[0] == first
    else:
        with pytest.raises(BindingError):
            kernel(*given)


HIGH_TILE = """func.func @k(%p: !pto.ptr<f32>) attributes {pto.entry} {
  %at = arith.constant 200000 : i64
  %one = arith.constant 1.0 : f32
  %t = pto.alloc_tile addr = %at : !pto.tile_buf<vec, 64x64xf32>
  pto.texpands ins(%one : f32) outs(%t : !pto.tile_buf<vec, 64x64xf32>)
  return
}"""


@pytest.mark.parametrize(("text", "target", "named"), [
    (HIGH_TILE, None, True), (HIGH_TILE, "a2a3", False), (HIGH_TILE.replace("200000", "250000"), None, False),
])  # fmt: skip
def test_chip_that_nobody_named(text: str, target: str | None, named: bool) -> None:
    """A tile beyond the memory of a2a3, which a module without a target runs as, fits that of a5 at 200000."""
    kernel = pto_dialect.compile(pto_dialect.parse(text), target=target, verify=False)
    with pytest.raises(ProgramError) as raised:
        kernel(np.zeros(1, np.float32))
    notes = " ".join(raised.value.notes)
    assert ("--target a5, or the attribute pto.target_arch" in notes) == named
