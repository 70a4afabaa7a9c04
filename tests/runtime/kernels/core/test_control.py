"""Control flow of ``scf`` and ``cf``, plain and between work-items, against the same loops in Python."""

from __future__ import annotations

import numpy as np
import pytest
from core_operations import MODES, evaluate

from pto_dialect.runtime.errors import ProgramError

NUMBERS = np.array([0, 1, 2, 3, 5, 8, 13, -4], np.int32)


def apply(mode: str, lines: str, values: np.ndarray = NUMBERS, helpers: str = "") -> list[int]:
    """What ``lines`` make of each number %a."""
    (found,) = evaluate(mode, lines, {"a": ("i32", values)}, {"r": "i32"}, helpers)
    return found.tolist()


@pytest.mark.parametrize("mode", MODES)
def test_while_with_other_results_than_variables(mode: str) -> None:
    lines = """
      %r, %steps = scf.while (%x = %a, %n = %i0) : (i32, i32) -> (i32, i32) {
        %more = arith.cmpi sgt, %x, %i2 : i32
        %y = arith.addi %x, %n : i32
        scf.condition(%more) %y, %n : i32, i32
      } do {
      ^bb0(%y: i32, %n: i32):
        %half = arith.divsi %y, %i2 : i32
        %next = arith.addi %n, %i1 : i32
        scf.yield %half, %next : i32, i32
      }
    """

    def model(x: int) -> int:
        n = 0
        while x > 2:
            x, n = (x + n) // 2, n + 1
        return x + n

    assert apply(mode, lines) == [model(x) for x in NUMBERS.tolist()]


@pytest.mark.parametrize("mode", MODES)
def test_for_with_two_variables_and_bounds_of_its_own(mode: str) -> None:
    lines = """
      %sum, %r = scf.for %i = %i0 to %a step %i2 iter_args(%s = %i1, %p = %i1) -> (i32, i32) : i32 {
        %t = arith.addi %s, %i : i32
        %q = arith.muli %p, %t : i32
        scf.yield %t, %q : i32, i32
      }
    """

    def model(a: int) -> int:
        s = p = 1
        for i in range(0, a, 2):
            s += i
            p *= s
        return p

    assert apply(mode, lines) == [model(x) for x in NUMBERS.tolist()]


@pytest.mark.parametrize("mode", MODES)
def test_swapping_variables_of_a_loop(mode: str) -> None:
    lines = """
      %n = arith.index_cast %a : i32 to index
      %r, %s = scf.for %i = %c0 to %n step %c1 iter_args(%x = %i1, %y = %i2) -> (i32, i32) {
        scf.yield %y, %x : i32, i32
      }
    """
    assert apply(mode, lines) == [1 + max(x, 0) % 2 for x in NUMBERS.tolist()]


@pytest.mark.parametrize("mode", MODES)
def test_choice_with_and_without_results(mode: str) -> None:
    lines = """
      %big = arith.cmpi sgt, %a, %i3 : i32
      %r, %s = scf.if %big -> (i32, i32) {
        %x = arith.muli %a, %i2 : i32
        scf.yield %x, %a : i32, i32
      } else {
        scf.yield %i5, %i1 : i32, i32
      }
      scf.if %big {
      } else {
      }
    """
    assert apply(mode, lines) == [2 * x if x > 3 else 5 for x in NUMBERS.tolist()]


@pytest.mark.parametrize("mode", MODES)
def test_index_switch(mode: str) -> None:
    lines = """
      %i = arith.index_cast %a : i32 to index
      %r = scf.index_switch %i -> i32
      case 2 {
        scf.yield %i4 : i32
      }
      case -4 {
        %x = arith.addi %a, %i1 : i32
        scf.yield %x : i32
      }
      case 13 {
        scf.yield %i0 : i32
      }
      default {
        scf.yield %a : i32
      }
    """
    assert apply(mode, lines) == [{2: 4, -4: -3, 13: 0}.get(x, x) for x in NUMBERS.tolist()]


@pytest.mark.parametrize("mode", MODES)
def test_index_switch_of_the_default_alone(mode: str) -> None:
    lines = """
      %i = arith.index_cast %a : i32 to index
      %r = scf.index_switch %i -> i32
      default {
        scf.yield %i3 : i32
      }
    """
    assert apply(mode, lines) == [3] * NUMBERS.size


@pytest.mark.parametrize("mode", MODES)
def test_region_that_is_executed(mode: str) -> None:
    lines = """
      %r = scf.execute_region -> i32 {
        %x = arith.addi %a, %i3 : i32
        scf.yield %x : i32
      }
    """
    assert apply(mode, lines) == [x + 3 for x in NUMBERS.tolist()]


def test_region_of_several_blocks() -> None:
    """Two ways out of a region, with a loop of blocks on one of them, inside a loop."""
    lines = """
      %n = arith.constant 3 : index
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %a) -> (i32) {
        %next = scf.execute_region -> i32 {
          %small = arith.cmpi slt, %acc, %i5 : i32
          cf.cond_br %small, ^grow(%acc : i32), ^keep
        ^grow(%x: i32):
          %y = arith.addi %x, %i2 : i32
          %again = arith.cmpi slt, %y, %i5 : i32
          cf.cond_br %again, ^grow(%y : i32), ^done(%y : i32)
        ^keep:
          %z = arith.addi %acc, %i1 : i32
          scf.yield %z : i32
        ^done(%w: i32):
          scf.yield %w : i32
        }
        scf.yield %next : i32
      }
    """

    def model(acc: int) -> int:
        for _ in range(3):
            if acc < 5:
                while acc < 5:
                    acc += 2
            else:
                acc += 1
        return acc

    assert apply("plain", lines) == [model(x) for x in NUMBERS.tolist()]


@pytest.mark.parametrize("mode", MODES)
def test_parallel_loops_reduce(mode: str) -> None:
    lines = """
      %n = arith.index_cast %a : i32 to index
      %r0, %r1 = scf.parallel (%i, %j) = (%c0, %c1) to (%n, %c5) step (%c1, %c2) init (%i1, %a) -> (i32, i32) {
        %p = arith.index_cast %i : index to i32
        %q = arith.index_cast %j : index to i32
        %t = arith.muli %p, %q : i32
        scf.reduce(%t, %q : i32, i32) {
        ^bb0(%x: i32, %y: i32):
          %z = arith.addi %x, %y : i32
          scf.reduce.return %z : i32
        }, {
        ^bb0(%x: i32, %y: i32):
          %z = arith.maxsi %x, %y : i32
          scf.reduce.return %z : i32
        }
      }
      %r = arith.subi %r0, %r1 : i32
    """

    def model(a: int) -> int:
        places = [(i, j) for i in range(a) for j in range(1, 5, 2)]
        return 1 + sum(i * j for i, j in places) - max([a, *(j for _, j in places)])

    assert apply(mode, lines) == [model(x) for x in NUMBERS.tolist()]


@pytest.mark.parametrize("mode", MODES)
def test_parallel_loops_with_shared_bounds(mode: str) -> None:
    """What is reduced differs between work-items although the bounds do not; another one reduces nothing."""
    lines = """
      %r = scf.parallel (%i) = (%c1) to (%c4) step (%c1) init (%i0) -> i32 {
        %p = arith.index_cast %i : index to i32
        %t = arith.muli %p, %a : i32
        scf.reduce(%t : i32) {
        ^bb0(%x: i32, %y: i32):
          %z = arith.addi %x, %y : i32
          scf.reduce.return %z : i32
        }
      }
      scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
      }
    """
    assert apply(mode, lines) == [6 * x for x in NUMBERS.tolist()]


HELPER = """
func.func @f(%a: i32, %b: i32) -> i32 {{
  %i1 = arith.constant 1 : i32
  %i2 = arith.constant 2 : i32
  %i3 = arith.constant 3 : i32
  {body}
}}
"""


def called(mode: str, body: str) -> list[int]:
    """What a function with several blocks makes of each number %a, with %b = 2."""
    return apply(mode, "%r = func.call @f(%a, %i2) : (i32, i32) -> i32", NUMBERS, HELPER.format(body=body))


@pytest.mark.parametrize("mode", MODES)
def test_branches_with_arguments_on_both_sides(mode: str) -> None:
    body = """
      %c = arith.cmpi sgt, %a, %i3 : i32
      cf.cond_br %c, ^big(%a, %b : i32, i32), ^small(%a : i32)
    ^big(%x: i32, %y: i32):
      %s = arith.muli %x, %y : i32
      return %s : i32
    ^small(%z: i32):
      %t = arith.subi %z, %b : i32
      return %t : i32
    """
    assert called(mode, body) == [2 * x if x > 3 else x - 2 for x in NUMBERS.tolist()]


@pytest.mark.parametrize("mode", MODES)
def test_both_paths_to_one_block(mode: str) -> None:
    body = """
      %c = arith.cmpi sgt, %a, %i3 : i32
      cf.cond_br %c, ^end(%a, %b : i32, i32), ^end(%b, %a : i32, i32)
    ^end(%x: i32, %y: i32):
      %s = arith.muli %y, %i3 : i32
      %t = arith.addi %x, %s : i32
      return %t : i32
    """
    assert called(mode, body) == [x + 6 if x > 3 else 2 + 3 * x for x in NUMBERS.tolist()]


@pytest.mark.parametrize("mode", MODES)
def test_loop_of_blocks_that_swaps_its_arguments(mode: str) -> None:
    body = """
      cf.br ^head(%a, %i1, %i2 : i32, i32, i32)
    ^head(%n: i32, %x: i32, %y: i32):
      %more = arith.cmpi sgt, %n, %i1 : i32
      %m = arith.subi %n, %i1 : i32
      cf.cond_br %more, ^head(%m, %y, %x : i32, i32, i32), ^end
    ^end:
      return %x : i32
    """
    assert called(mode, body) == [1 + max(x - 1, 0) % 2 for x in NUMBERS.tolist()]


@pytest.mark.parametrize("mode", MODES)
def test_switch(mode: str) -> None:
    body = """
      cf.switch %a : i32, [
        default: ^other(%b : i32),
        2: ^pair(%a, %i3 : i32, i32),
        8: ^other(%a : i32),
        -4: ^none
      ]
    ^other(%x: i32):
      %s = arith.addi %x, %i1 : i32
      return %s : i32
    ^pair(%y: i32, %z: i32):
      %t = arith.muli %y, %z : i32
      return %t : i32
    ^none:
      return %i1 : i32
    """
    assert called(mode, body) == [{2: 6, 8: 9, -4: 1}.get(x, 3) for x in NUMBERS.tolist()]


@pytest.mark.parametrize("mode", MODES)
def test_claims(mode: str) -> None:
    lines = '%ok = arith.cmpi slt, %a, %i5 : i32\ncf.assert %ok, "too large"\n%r = arith.addi %a, %i1 : i32'
    assert apply(mode, lines, np.array([1, 4, -3], np.int32)) == [2, 5, -2]
    with pytest.raises(ProgramError) as caught:
        apply(mode, lines, np.array([1, 7], np.int32))
    assert caught.value.rule == "assertion"
    assert "too large" in str(caught.value)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("loop", ["scf.for %i = %c0 to %c4 step %n", "scf.parallel (%i) = (%c0) to (%c4) step (%n)"])
def test_steps_are_positive(loop: str, mode: str) -> None:
    lines = f"%n = arith.index_cast %a : i32 to index\n{loop} {{\n}}\n%r = arith.addi %a, %a : i32"
    assert apply(mode, lines, np.array([1, 3], np.int32)) == [2, 6]
    with pytest.raises(ProgramError) as caught:
        apply(mode, lines, np.array([2, 0], np.int32))
    assert caught.value.rule == "scf-step"


@pytest.mark.parametrize("mode", MODES)
def test_unsigned_loop_compares_bounds_without_sign(mode: str) -> None:
    lines = """
      %end = arith.addi %a, %i5 : i32
      %r = scf.for unsigned %i = %a to %end step %i2 iter_args(%s = %i0) -> (i32) : i32 {
        %twice = arith.addi %s, %s : i32
        %t = arith.addi %twice, %i : i32
        scf.yield %t : i32
      }
    """
    values = np.array([0, 2, -4, -9, 2**31 - 3, 2**31 - 1], np.int32)

    def model(a: int) -> int:
        s = 0
        for bits in range(a % 2**32, (a + 5) % 2**32, 2):
            s = 2 * s + bits
        return (s + 2**31) % 2**32 - 2**31

    assert apply(mode, lines, values) == [model(x) for x in values.tolist()]
