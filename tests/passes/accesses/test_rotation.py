"""After how many iterations two accesses meet in one slot, against counted ones.

Source: docs/reference/synchronisation.md, "Multi-buffers".
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pto_dialect import parse
from pto_dialect.analysis.affine import AffineAnalysis, AffineExpr
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.accesses.locations import SLOTS, Extent, MemoryLocation
from pto_dialect.passes.accesses.overlap import may_overlap
from pto_dialect.passes.accesses.rotation import iteration_distance
from pto_dialect.passes.accesses.setting import ANY, Iteration, Setting

TEXT = """func.func @f(%n: index) {{
  %lb = arith.constant {first} : index
  %st = arith.constant {step} : index
  %k = arith.constant {count} : index
  %f = arith.constant {factor} : index
  %p = arith.constant {one} : index
  %q = arith.constant {other} : index
  scf.for %i = %lb to %n step %st {{
    %m = arith.muli %i, %f : index
    %a = arith.addi %m, %p : index
    %b = arith.addi %m, %q : index
    %x = arith.remui %a, %k : index
    %y = arith.remui %b, %k : index
    %u = arith.addi %n, %p : index
    %z = arith.remui %u, %k : index
  }}
  return
}}
"""


def places(text: str, step: int) -> tuple[dict[str, MemoryLocation], Setting, Setting]:
    """The slots of indices by name, and the settings of later iterations and of one iteration."""
    sums, module = AffineAnalysis(), parse(text)
    ops = list(walk(module))
    loop: Any = next(op for op in ops if op.name == "scf.for")
    counter = loop.body.block.args[0]
    later = Setting(lambda value: False, Iteration(counter, step, float("inf")), lambda value: ANY, sums)
    same = Setting(lambda value: True, None, lambda value: ANY, sums)
    frame = (SLOTS, "m", 0, 8)
    named = {str(r.name_hint): r for op in ops for r in op.results if r.name_hint in ("x", "y", "z")}
    found = {
        name: MemoryLocation("ub", "m", 0, None, frame, (Extent(sums.expression_of(r), AffineExpr(1)),))
        for name, r in named.items()
    }
    return found, later, same


@given(st.integers(0, 4), st.integers(1, 5), st.integers(2, 6), st.integers(1, 5), st.integers(0, 7), st.integers(0, 7))
def test_distances_are_those_that_are_counted(
    first: int, step: int, count: int, factor: int, one: int, other: int
) -> None:
    text = TEXT.format(first=first, step=step, count=count, factor=factor, one=one, other=other)
    found, later, same = places(text, step)
    counters = [first + step * turn for turn in range(3 * count)]
    x = [(factor * i + one) % count for i in counters]
    y = [(factor * i + other) % count for i in counters]
    known = iteration_distance(found["x"], found["y"], later)
    if known is None:
        # An index that is a number, or the same in all iterations.
        assert len({*x}) == 1 or len({*y}) == 1
        return
    meets = [turns for turns in range(1, count + 1) if y[turns] == x[0]]
    assert known == (meets[0] if meets else 0)
    assert (iteration_distance(found["x"], found["y"], same) == 1) == (x[0] == y[0])
    assert may_overlap(found["x"], found["y"], same) == (x[0] == y[0])
    assert may_overlap(found["x"], found["y"], later) == bool(meets)


def test_unknown_slots_may_be_the_same() -> None:
    found, later, same = places(TEXT.format(first=0, step=1, count=3, factor=1, one=0, other=1), 1)
    # The index of z hangs on an argument, which may be negative.
    assert iteration_distance(found["x"], found["z"], later) is None
    assert may_overlap(found["x"], found["z"], same)


@pytest.mark.parametrize("frame", [None, ("view",), (SLOTS, "o", 0, 8)])
def test_other_addresses_do_not_wrap_around(frame: object) -> None:
    found, later, _ = places(TEXT.format(first=0, step=1, count=3, factor=1, one=0, other=1), 1)
    assert iteration_distance(found["x"], found["y"]._replace(frame=frame), later) is None
