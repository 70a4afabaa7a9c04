"""``memref`` of the scalar unit: elements, sizes, views; and what of the core dialects runs at all."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
from core_operations import evaluate

from pto_dialect.families import LANE_MODULES
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.kernels.refusals import CORE, DIALECTS
from pto_dialect.runtime.kernels.registry import LANE_KERNELS, find
from pto_dialect.verify.core.table import CORE_NAMES

NUMBERS = np.array([0, 1, 2, 3], np.int32)

FILLED = """
  %m = memref.alloc() : memref<4x4xi32>
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %p = arith.muli %i, %c4 : index
      %q = arith.addi %p, %j : index
      %v = arith.index_cast %q : index to i32
      memref.store %v, %m[%i, %j] : memref<4x4xi32>
    }
  }
  %at_a = arith.index_cast %a : i32 to index
"""
"""A matrix of the numbers 0 to 15, row after row; %at_a is the number as an index."""


def apply(lines: str) -> list[int]:
    (found,) = evaluate("plain", FILLED + lines, {"a": ("i32", NUMBERS)}, {"r": "i32"})
    return found.tolist()


def test_elements() -> None:
    assert apply("%r = memref.load %m[%at_a, %c2] : memref<4x4xi32>") == [2, 6, 10, 14]


def test_sizes_and_ranks() -> None:
    lines = """
      %d = memref.alloc(%at_a, %c5) : memref<?x3x?xi32>
      %x = memref.dim %d, %c0 : memref<?x3x?xi32>
      %y = memref.dim %d, %c1 : memref<?x3x?xi32>
      %z = memref.dim %d, %c2 : memref<?x3x?xi32>
      %k = memref.rank %d : memref<?x3x?xi32>
      %s = arith.muli %x, %y : index
      %t = arith.muli %z, %k : index
      %u = arith.addi %s, %t : index
      %r = arith.index_cast %u : index to i32
    """
    assert apply(lines) == [3 * x + 15 for x in range(4)]


def test_parts_and_copies() -> None:
    """A window with steps, one row of it without its dimension, copied elsewhere; the source stays as it was."""
    lines = """
      %w = memref.subview %m[%c1, 0] [2, 2] [1, 2] : memref<4x4xi32> to memref<2x2xi32, strided<[4, 2], offset: ?>>
      %row = memref.subview %m[%at_a, 0] [1, 4] [1, 1] : memref<4x4xi32> to memref<4xi32, strided<[1], offset: ?>>
      %n = memref.alloca() : memref<2x2xi32>
      memref.copy %w, %n : memref<2x2xi32, strided<[4, 2], offset: ?>> to memref<2x2xi32>
      memref.store %i0, %w[%c1, %c1] : memref<2x2xi32, strided<[4, 2], offset: ?>>
      %x = memref.load %n[%c1, %c1] : memref<2x2xi32>
      %y = memref.load %m[%c2, %c2] : memref<4x4xi32>
      %z = memref.load %row[%c3] : memref<4xi32, strided<[1], offset: ?>>
      %s = arith.addi %x, %y : i32
      %r = arith.addi %s, %z : i32
      memref.dealloc %n : memref<2x2xi32>
    """
    assert apply(lines) == [10 + 0 + 4 * row + 3 for row in range(4)]


def test_other_shapes_of_the_same_memory() -> None:
    lines = """
      %f = memref.reinterpret_cast %m to offset: [2], sizes: [2, %c3], strides: [6, 1]
        : memref<4x4xi32> to memref<2x?xi32, strided<[6, 1], offset: 2>>
      %g = memref.cast %f : memref<2x?xi32, strided<[6, 1], offset: 2>> to memref<?x?xi32, strided<[?, 1], offset: ?>>
      %x = memref.load %g[%c1, %c2] : memref<?x?xi32, strided<[?, 1], offset: ?>>
      %n = memref.dim %g, %c1 : memref<?x?xi32, strided<[?, 1], offset: ?>>
      %k = arith.index_cast %n : index to i32
      %s = arith.muli %x, %k : i32
      %r = arith.addi %s, %a : i32
    """
    assert apply(lines) == [(2 + 6 + 2) * 3 + x for x in range(4)]


def test_addresses() -> None:
    """That of a cast is that of its memory; where the memory around a view begins is not known."""
    lines = """
      %w = memref.cast %m : memref<4x4xi32> to memref<?x?xi32>
      %p = "memref.extract_aligned_pointer_as_index"(%m) : (memref<4x4xi32>) -> index
      %q = "memref.extract_aligned_pointer_as_index"(%w) : (memref<?x?xi32>) -> index
      %d = arith.subi %q, %p : index
      %r = arith.index_cast %d : index to i32
    """
    assert apply(lines) == [0] * 4
    view = """
      %w = memref.subview %m[1, 1] [1, 2] [1, 1] : memref<4x4xi32> to memref<2xi32, strided<[1], offset: 5>>
      %p = "memref.extract_aligned_pointer_as_index"(%w) : (memref<2xi32, strided<[1], offset: 5>>) -> index
      %r = arith.index_cast %p : index to i32
    """
    with pytest.raises(ProgramError) as caught:
        apply(view)
    assert caught.value.rule == "unmodelled"


def test_memories_have_addresses_of_their_own() -> None:
    lines = """
      %n = memref.alloc() : memref<4x4xi32>
      %p = "memref.extract_aligned_pointer_as_index"(%m) : (memref<4x4xi32>) -> index
      %q = "memref.extract_aligned_pointer_as_index"(%n) : (memref<4x4xi32>) -> index
      %far = arith.constant 64 : index
      %d = arith.subi %q, %p : index
      %e = arith.subi %p, %q : index
      %f = arith.maxsi %d, %e : index
      %apart = arith.cmpi sge, %f, %far : index
      %r = arith.extui %apart : i1 to i32
    """
    assert apply(lines) == [1] * 4


def test_dimensions_that_a_part_drops() -> None:
    """Of extents 1 the leftmost ones go, and only as many as the result lacks."""
    column = """
      %w = memref.subview %m[1, %at_a] [2, 1] [2, 1] : memref<4x4xi32> to memref<2xi32, strided<[8], offset: ?>>
      %r = memref.load %w[%c1] : memref<2xi32, strided<[8], offset: ?>>
    """
    assert apply(column) == [12 + place for place in range(4)]
    kept = """
      %w = memref.subview %m[%at_a, 1] [1, 1] [1, 1] : memref<4x4xi32> to memref<1xi32, strided<[1], offset: ?>>
      %n = memref.dim %w, %c0 : memref<1xi32, strided<[1], offset: ?>>
      %v = memref.load %w[%c0] : memref<1xi32, strided<[1], offset: ?>>
      %k = arith.index_cast %n : index to i32
      %r = arith.muli %v, %k : i32
    """
    assert apply(kept) == [4 * row + 1 for row in range(4)]


PARTS = ("cf.br", "cf.cond_br", "cf.switch", "scf.condition", "scf.reduce", "scf.reduce.return", "scf.yield")
"""Operations that run with the one around them."""

WHOLE = frozenset(name for name in CORE_NAMES if name.partition(".")[0] in DIALECTS)

SHARED = frozenset(
    (
        *("memref.copy", "memref.dim", "memref.memory_space_cast"),
        *("memref.extract_aligned_pointer_as_index", "memref.rank", "memref.reinterpret_cast", "memref.subview"),
        "scf.execute_region",
    )
)
"""Operations that work-items execute with values that all of them share."""


def test_what_does_not_run_has_a_reason() -> None:
    assert {name for name in CORE_NAMES if find(name) is None} == {*PARTS, *CORE, *WHOLE}


def test_what_does_not_differ_between_work_items_is_listed() -> None:
    for module in LANE_MODULES:
        import_module(f"pto_dialect.runtime.kernels.{module}")
    assert {name for name in CORE_NAMES if name not in LANE_KERNELS} == {*PARTS, *CORE, *WHOLE, *SHARED}
