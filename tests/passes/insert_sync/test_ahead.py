"""The scalar unit sets no flag again before it was waited for, however many iterations it is ahead.

Source: docs/reference/synchronisation.md, "Event ids".
"""

from __future__ import annotations

import numpy as np
import pytest
from lowering_programs import SCHEDULES, TILE, add, disorder, kernel, lowered, results, store
from random_tile_programs import RandomProgram, arguments

from pto_dialect import parse, print_module

ROWS = (
    "%p = pto.partition_view %va, offsets = [%c0, %c0], sizes = [%c16, %c16] "
    ": !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>",
    "%one = arith.constant 1.0 : f32",
    f"pto.tload ins(%p : !pto.partition_tensor_view<16x16xf32>) outs(%x : {TILE})",
)
INNER = (
    "scf.for %j = %c0 to %k step %c1 {",
    add("x", "x", "y"),
    f"pto.tsetval ins(%c4, %one : index, f32) outs(%x : {TILE})",
    "}",
)


def nested(*around: str, behind: tuple[str, ...] = (), target: str = "a5") -> str:
    """A loop, perhaps with something around it, in a loop whose iterations begin with an addition."""
    lines = ("scf.for %i = %c0 to %n step %c1 {", add("y", "y", "y"), *around, *INNER, *behind, "}")
    first = add("x", "x", "y")
    return kernel(*ROWS, first, *lines, store("y", "p"), target=target, more=", %k: index")


BRANCH = ("%few = arith.cmpi slt, %i, %c4 : index", "scf.if %few {")


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@pytest.mark.parametrize("inner", [0, 1, 2])
@pytest.mark.parametrize("branch", [False, True])
def test_flags_of_a_loop_in_a_loop(branch: bool, inner: int, target: str) -> None:
    text = nested(*BRANCH, behind=("}",), target=target) if branch else nested(target=target)
    module, said = lowered(text)
    assert not said
    a = np.arange(256 * 16, dtype=np.float32).reshape(256, 16)
    given = [a, np.zeros_like(a), 20, inner]
    assert disorder(module, given) == []
    expected = results(parse(text), given)
    for schedule in SCHEDULES:
        assert results(module, given, schedule) == expected, schedule


def test_nothing_holds_back_who_cannot_be_ahead() -> None:
    """The addition before the inner loop waits for its scalar store by another flag already."""
    module, _ = lowered(kernel(*ROWS, *INNER, store("y", "p"), more=", %k: index"))
    text = print_module(module)
    assert text.count("pto.set_flag[<PIPE_S>, <PIPE_V>") == 2
    assert text.count("pto.set_flag[<PIPE_V>, <PIPE_S>") == 1


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@pytest.mark.parametrize("seed", [1009, 1027])
def test_random_programs_with_scalars_in_loops(seed: int, target: str) -> None:
    program = RandomProgram(seed, target)
    module, _ = lowered(program.text)
    for count in (1, 2, 3):
        assert disorder(module, arguments(program, count)) == []
        expected = results(parse(program.text), arguments(program, count))
        for schedule in SCHEDULES:
            assert results(module, arguments(program, count), schedule) == expected, schedule


SLOTS = f"!pto.multi_tile_buf<{TILE}, count=4>"
HALF = "!pto.tile_buf<vec, 8x16xf32>"
HALF_OF_ROWS = "!pto.partition_tensor_view<8x16xf32>"
HALVES = (
    "%c8 = arith.constant 8 : index",
    "%one = arith.constant 1.0 : f32",
    "%at3 = arith.constant 4096 : i64",
    f"%m = pto.alloc_multi_tile addr = %at3 : {SLOTS}",
    "scf.for %i = %c0 to %n step %c2 {",
    "%r = arith.muli %i, %c16 : index",
    "%p = pto.partition_view %va, offsets = [%r, %c0], sizes = [%c8, %c16] "
    f": !pto.tensor_view<?x?xf32> -> {HALF_OF_ROWS}",
    "%slot = arith.remui %i, %c4 : index",
    f"%s = pto.multi_tile_get %m[%slot] : {SLOTS} -> {TILE}",
    f"%up = pto.subview %s[%c0, %c0] sizes [8, 16] : {TILE} -> {HALF}",
    f"%low = pto.subview %s[%c8, %c0] sizes [8, 16] : {TILE} -> {HALF}",
    f"pto.tload ins(%p : {HALF_OF_ROWS}) outs(%up : {HALF})",
    "%few = arith.cmpi slt, %i, %c4 : index",
    "scf.if %few {",
    f"pto.tload ins(%p : {HALF_OF_ROWS}) outs(%low : {HALF})",
    f"pto.tsetval ins(%c4, %one : index, f32) outs(%s : {TILE})",
    "}",
    "%q = pto.partition_view %vb, offsets = [%r, %c0], sizes = [%c8, %c16] "
    f": !pto.tensor_view<?x?xf32> -> {HALF_OF_ROWS}",
    f"pto.tstore ins(%up : {HALF}) outs(%q : {HALF_OF_ROWS})",
    "}",
)


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_a_flag_that_is_set_after_its_wait(target: str, stored: bool) -> None:
    """It is held back in its own iteration, not from one to the next."""
    text = kernel(*(line for line in HALVES if stored or "tstore" not in line), target=target)
    module, _ = lowered(text)
    a = np.arange(256 * 16, dtype=np.float32).reshape(256, 16)
    given = [a, np.zeros_like(a), 16]
    assert disorder(module, given) == []
    expected = results(parse(text), given)
    for schedule in SCHEDULES:
        assert results(module, given, schedule) == expected, schedule


NEVER = (
    "scf.for %i = %c0 to %n step %c1 {",
    add("y", "y", "y"),
    "scf.for %j = %c0 to %k step %c1 {",
    "%many = arith.cmpi sgt, %i, %c4 : index",
    "scf.if %many {",
    add("x", "x", "y"),
    f"pto.tsetval ins(%c4, %one : index, f32) outs(%x : {TILE})",
    "}",
    "}",
    "}",
)


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@pytest.mark.parametrize("inner", [0, 1, 3])
def test_a_loop_whose_branch_is_not_taken_holds_back_in_each_of_its_iterations(inner: int, target: str) -> None:
    """Up to the fifth iteration of the outer loop nothing in the branch holds the scalar unit back."""
    text = kernel(*ROWS, add("x", "x", "y"), *NEVER, store("y", "p"), target=target, more=", %k: index")
    module, said = lowered(text)
    assert not said
    a = np.arange(256 * 16, dtype=np.float32).reshape(256, 16)
    for outer in (3, 7):
        given = [a, np.zeros_like(a), outer, inner]
        expected = results(parse(text), given)
        for schedule in ("text", *SCHEDULES):
            assert disorder(module, given, schedule) == [], schedule
            assert results(module, given, schedule) == expected, schedule
