"""Tiles of the same bytes, and results that are partly over their sources. Source: docs/sanitizers.md, "Overlap"."""

from __future__ import annotations

import numpy as np
import pytest
from lowering_programs import TILE, add, kernel, load, part, store

from pto_dialect import parse
from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions

ENDS = (part("p", "a", "c0"), part("q", "a", "c16"), part("o", "b", "c0"))
HALF, NARROW = "!pto.tile_buf<vec, 16x16xf16>", "!pto.tile_buf<vec, 16x1xf32, blayout=col_major>"


def findings(*lines: str, x: int = 0, y: int = 1024, z: int = 2048, target: str = "a5") -> list[str]:
    """Severities and rules, with tiles at these addresses."""
    text = kernel(*lines, target=target)
    for old, new in (("%at0", x), ("%at1", y), ("%at2", z)):
        number = old.removeprefix("%at")
        text = text.replace(f"{old} = arith.constant {int(number) * 1024} :", f"{old} = arith.constant {new} :")
    watched = InstrumentedKernel(parse(text), None, None, RunOptions(), SanitizeOptions())
    watched.run([np.arange(4096, dtype=np.float32), np.zeros(4096, np.float32), 4], 1)
    return [f"{(one.severity or Severity.ERROR).name} {one.rule}" for one in watched.observer.findings.all]


def copy(source: str, target: str) -> str:
    return f"pto.tmov ins(%{source} : {TILE}) outs(%{target} : {TILE})"


def test_content_that_a_later_operation_of_the_block_reads_is_lost() -> None:
    lines = (*ENDS, load("p", "x"), load("q", "z"), add("z", "z", "y"), add("x", "x", "z"), store("z", "o"))
    assert findings(*lines) == []
    assert findings(*lines, y=0) == ["ERROR mem-overlap"]


def test_the_same_content_is_a_warning() -> None:
    lines = (*ENDS, load("p", "x"), load("p", "z"), copy("z", "y"), add("x", "x", "z"), store("z", "o"))
    assert findings(*lines, y=0) == ["WARNING mem-overlap"]


def test_a_load_through_a_tile_that_nobody_reads_is_a_warning() -> None:
    """%y is there for the load: C++ kernels load a part of a tile through a second tile at its address."""
    lines = (*ENDS, load("p", "x"), add("x", "x", "x"), load("q", "y"), add("x", "x", "z"), store("z", "o"))
    assert findings(*lines, y=0) == ["WARNING mem-overlap"]
    # Where %y is read as well, the two tiles are in use at the same time.
    assert findings(*lines, add("y", "y", "z"), y=0) == ["ERROR mem-overlap"]


def test_a_value_that_a_loop_carries_at_one_address_is_a_warning() -> None:
    loop = ("scf.for %i = %c0 to %c2 step %c1 {", load("q", "y"), "}")
    lines = (*ENDS, load("p", "x"), add("x", "x", "x"), *loop, store("x", "o"))
    assert findings(*lines, y=0) == ["WARNING mem-overlap"]


def test_content_is_lost_to_the_second_of_two_other_tiles() -> None:
    """%x, %y and %z have the same bytes: the last write does not make %z another name of %x."""
    writes = (load("p", "x"), add("x", "x", "x"), copy("w", "y"), add("y", "y", "y"), copy("w", "z"))
    allocated = f"%w = pto.alloc_tile addr = %at4 : {TILE}"
    lines = ("%at4 = arith.constant 8192 : i64", allocated, *ENDS, load("q", "w"), *writes, store("x", "o"))
    assert findings(*lines) == []
    assert findings(*lines, y=0, z=0) == ["ERROR mem-overlap"]
    # With a second write through %x in between it shows its own content.
    lines = (*lines[:-1], add("w", "w", "x"), lines[-1])
    assert findings(*lines, y=0, z=0) == []


def sum_at(distance: int) -> list[str]:
    """A sum whose result is ``distance`` bytes after one of its sources."""
    lines = (*ENDS, load("p", "x"), load("q", "y"), add("x", "y", "z"), store("z", "o"))
    return findings(*lines, x=4096, y=8192, z=4096 + distance)


@pytest.mark.parametrize("distance", [64, 512, 960])
def test_a_result_over_later_elements_of_a_source_is_found(distance: int) -> None:
    assert sum_at(distance) == ["ERROR mem-overlap"]


@pytest.mark.parametrize("distance", [0, 1024, -64, -1024])
def test_a_result_in_place_or_over_earlier_elements_is_no_finding(distance: int) -> None:
    assert sum_at(distance) == []


def converted(narrow: int, wide: int, widens: bool) -> list[str]:
    source, result = ("h", "x") if widens else ("x", "h")
    types = {"h": HALF, "x": TILE}
    lines = (
        f"%ath = arith.constant {narrow} : i64",
        f"%h = pto.alloc_tile addr = %ath : {HALF}",
        "%one = arith.constant 1.5 : f16",
        *(ENDS[2], f"pto.texpands ins(%one : f16) outs(%h : {HALF})", add("y", "y", "x")),
        f"pto.tcvt ins(%{source} : {types[source]}) outs(%{result} : {types[result]})",
        store("x", "o") if widens else store("y", "o"),
    )
    return [one for one in findings(*lines, x=wide, y=8192) if "mem-uninit" not in one]


def test_a_conversion_may_be_in_place_where_its_elements_do_not_grow() -> None:
    assert converted(4096, 4096, widens=False) == []
    assert converted(4096, 4096, widens=True) == ["ERROR mem-overlap"]
    assert converted(4096, 6144, widens=True) == []


def test_sums_of_rows_over_rows_that_come_later_are_found() -> None:
    def summed(at: int) -> list[str]:
        lines = (
            f"%ats = arith.constant {at} : i64",
            f"%s = pto.alloc_tile addr = %ats : {NARROW}",
            *(ENDS[0], load("p", "x")),
            f"pto.trowsum ins(%x, %y : {TILE}, {TILE}) outs(%s : {NARROW})",
        )
        return findings(*lines, x=4096)

    assert summed(0) == summed(4096) == []
    assert summed(4096 + 128) == ["ERROR mem-overlap"]


def test_values_that_loops_carry_at_one_address_are_one_warning() -> None:
    loops = [line for name in ("y", "z") for line in (
        f"scf.for %i{name} = %c0 to %c2 step %c1 {{", load("q", name), "}", add("x", "x", "w"),
    )]  # fmt: skip
    allocated = ("%at4 = arith.constant 8192 : i64", f"%w = pto.alloc_tile addr = %at4 : {TILE}")
    lines = (*allocated, *ENDS, load("p", "x"), add("x", "x", "w"), *loops, store("w", "o"))
    assert findings(*lines, y=0, z=0) == ["WARNING mem-overlap"]
