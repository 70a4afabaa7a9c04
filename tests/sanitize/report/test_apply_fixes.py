"""What changes that findings advise make of a program's text. Source: docs/reference/instrumentation.md, "Reports"."""

from __future__ import annotations

import pytest
from sanitize_programs import load, program, set_flag, store, ub, wait_flag
from xdsl.ir import Operation

from pto_dialect import parse
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk
from pto_dialect.sanitize.report.apply_fixes import CannotApplyError, Patch
from pto_dialect.sanitize.report.fixes import (
    AddFlag,
    Change,
    InsertBefore,
    MoveTile,
    RemoveStatements,
    SendFlag,
    TakeFlag,
)

X = ub("x", 0)
LOAD, STORE = load("%x"), store("%x")
LOOP, END = "scf.for %i = %i0 to %i3 step %i1 {", "}"
BRANCH = "scf.if %some {"
SOME = "%some = arith.cmpi eq, %i0, %i1 : index"
SET, WAIT = set_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3")


def operations(text: str) -> dict[str, list[Operation]]:
    """Operations by the text of their statements, in the order of the text."""
    found: dict[str, list[Operation]] = {}
    for op in walk(parse(text)):
        found.setdefault(op.name, []).append(op)
    return found


def patched(text: str, *changes: Change, functions: list[Operation] | None = None) -> str:
    place = next(iter(change for change in changes))
    op = next(value for value in vars(place).values() if isinstance(value, (Operation, tuple)))
    while isinstance(op, tuple):
        op = op[0]
    while (parent := op.parent_op()) is not None:
        op = parent
    given = [one for one in walk(op) if has_role(one, Role.FUNCTION)] if functions is None else functions
    patch = Patch(text, given)
    patch.apply(changes)
    return patch.result()


def statements(text: str) -> list[str]:
    """The statements of the body, from the first after the constants on."""
    lines = [line.strip() for line in text.splitlines()]
    return lines[lines.index(X.splitlines()[1].strip()) + 1 : lines.index("return")]


def flagged(
    *lines: str, first: str = "pto.mte_gm_ub", second: str = "pto.mte_ub_gm", carried: bool = False
) -> list[str]:
    """The body with a flag between the first operations of two names."""
    text = program(X, *lines)
    found = operations(text)
    change = AddFlag(found[first][0], found[second][0], "PIPE_MTE2", "PIPE_MTE3", carried)
    return statements(patched(text, change))


ADDED = {
    "one after the other": ((LOAD, STORE), False, [LOAD, SET, WAIT, STORE]),
    "with something between": ((LOAD, SOME, STORE), False, [LOAD, SET, SOME, WAIT, STORE]),
    "the first in a branch": (
        (SOME, BRANCH, LOAD, END, STORE), False, [SOME, BRANCH, LOAD, END, SET, WAIT, STORE],
    ),
    "the second in a branch": (
        (SOME, LOAD, BRANCH, STORE, END), False, [SOME, LOAD, SET, WAIT, BRANCH, STORE, END],
    ),
    "in one iteration": ((LOOP, LOAD, STORE, END), False, [LOOP, LOAD, SET, WAIT, STORE, END]),
    "from one iteration to the next": (
        (LOOP, STORE, LOAD, END), True, [SET, LOOP, WAIT, STORE, LOAD, SET, END, WAIT],
    ),
    "from one iteration to the next, against the text": (
        (LOOP, STORE, LOAD, END), False, [SET, LOOP, WAIT, STORE, LOAD, SET, END, WAIT],
    ),
    "from one iteration to the next, in the order of the text": (
        (LOOP, LOAD, STORE, END), True, [SET, LOOP, LOAD, WAIT, SET, STORE, END, WAIT],
    ),
    "in a branch of a loop": (
        (SOME, LOOP, BRANCH, STORE, LOAD, END, END), True,
        [SOME, SET, LOOP, WAIT, BRANCH, STORE, LOAD, END, SET, END, WAIT],
    ),
    "in two parts of a branch": (
        (SOME, LOOP, BRANCH, LOAD, "} else {", STORE, END, END), False,
        [SOME, SET, LOOP, WAIT, BRANCH, LOAD, "} else {", STORE, END, SET, END, WAIT],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ADDED)
def test_a_flag_between_two_operations(case: str) -> None:
    lines, carried, expected = ADDED[case]
    assert flagged(*lines, carried=carried) == expected


def test_a_flag_of_an_operation_with_itself() -> None:
    """It runs again in the next iteration."""
    lines = flagged(LOOP, LOAD, END, second="pto.mte_gm_ub")
    assert lines == [SET, LOOP, WAIT, LOAD, SET, END, WAIT]


@pytest.mark.parametrize("lines", [(STORE, LOAD), (SOME, BRANCH, LOAD, "} else {", STORE, END)])
def test_no_flag_goes_back_without_a_loop(lines: tuple[str, ...]) -> None:
    with pytest.raises(CannotApplyError, match="no loop contains both operations"):
        flagged(*lines)


def test_a_flag_has_a_number_that_nothing_uses() -> None:
    used = [set_flag("MTE2", "MTE3", number) for number in (0, 1, 3)]
    assert set_flag("MTE2", "MTE3", 2) in flagged(*used, LOAD, STORE)
    beside = [set_flag("MTE3", "MTE2", 0), set_flag("MTE2", "V", 0)]
    assert SET in flagged(*beside, LOAD, STORE)
    all_ = [set_flag("MTE2", "MTE3", number) for number in range(8)]
    computed = ['pto.wait_flag_dyn["PIPE_MTE2", "PIPE_MTE3", %i3]']
    for lines in (all_, computed):
        with pytest.raises(CannotApplyError, match="all 8 flags from PIPE_MTE2 to PIPE_MTE3 are in use"):
            flagged(*lines, LOAD, STORE)


def test_two_flags_have_two_numbers() -> None:
    text = program(X, LOAD, STORE)
    found = operations(text)
    one = AddFlag(found["pto.mte_gm_ub"][0], found["pto.mte_ub_gm"][0], "PIPE_MTE2", "PIPE_MTE3", False)
    more = [set_flag("MTE2", "MTE3", 1), wait_flag("MTE2", "MTE3", 1)]
    assert statements(patched(text, one, one)) == [LOAD, SET, WAIT, *more, STORE]


OTHER = set_flag("MTE2", "MTE3", 4)
SENT = {
    "alone": ((LOAD, WAIT, STORE), [LOAD, SET, WAIT, STORE]),
    "in a loop that sets no other": ((LOOP, WAIT, STORE, END), [LOOP, SET, WAIT, STORE, END]),
    "in a loop that sets it for the next": ((LOOP, WAIT, STORE, SET, END), [SET, LOOP, WAIT, STORE, SET, END]),
    "in a loop that sets another": ((LOOP, WAIT, STORE, OTHER, END), [LOOP, SET, WAIT, STORE, OTHER, END]),
}
TAKEN = {
    "alone": ((LOAD, SET, STORE), [LOAD, STORE]),
    "in a loop that takes no other": ((LOOP, LOAD, SET, END), [LOOP, LOAD, END]),
    "in a loop that takes those before": ((LOOP, WAIT, LOAD, SET, END), [LOOP, WAIT, LOAD, SET, END, WAIT]),
    "in a loop that takes another": (
        (LOOP, wait_flag("MTE2", "MTE3", 4), LOAD, SET, END), [LOOP, wait_flag("MTE2", "MTE3", 4), LOAD, END],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", SENT)
def test_the_set_that_a_wait_lacks(case: str) -> None:
    lines, expected = SENT[case]
    text = program(X, *lines)
    assert statements(patched(text, SendFlag(operations(text)["pto.wait_flag"][0]))) == expected


@pytest.mark.parametrize("case", TAKEN)
def test_the_wait_that_a_set_lacks(case: str) -> None:
    lines, expected = TAKEN[case]
    text = program(X, *lines)
    assert statements(patched(text, TakeFlag(operations(text)["pto.set_flag"][0]))) == expected


@pytest.mark.parametrize("word", ["wait", "set"])
def test_numbers_that_are_computed(word: str) -> None:
    text = program(X, f'pto.{word}_flag_dyn["PIPE_MTE2", "PIPE_MTE3", %i3]', LOAD)
    (op,) = operations(text)[f"pto.{word}_flag_dyn"]
    with pytest.raises(CannotApplyError, match=f"the number of pto.{word}_flag_dyn is computed"):
        patched(text, SendFlag(op) if word == "wait" else TakeFlag(op))


def test_statements_that_come_and_go() -> None:
    text = program(X, SET, LOAD + "  // the first", STORE, WAIT)
    found = operations(text)
    barrier = InsertBefore(found["pto.mte_ub_gm"][0], "pto.barrier #pto.pipe<PIPE_ALL>")
    both = RemoveStatements((found["pto.set_flag"][0], found["pto.wait_flag"][0], found["pto.set_flag"][0]))
    assert statements(patched(text, both, barrier)) == [
        f"{LOAD}  // the first", "pto.barrier #pto.pipe<PIPE_ALL>", STORE,
    ]  # fmt: skip


def test_a_tile_moves() -> None:
    tile = "!pto.tile_buf<vec, 16x16xf32>"
    text = program(X, f"%t = pto.alloc_tile addr = %c64 : {tile}", f"%u = pto.alloc_tile : {tile}")
    one, other = operations(text)["pto.alloc_tile"]
    assert statements(patched(text, MoveTile(one, 4096), MoveTile(one, 8192)))[:2] == [
        "%place_4096_0 = arith.constant 4096 : i64", "%place_8192_1 = arith.constant 8192 : i64",
    ]  # fmt: skip
    assert f"%t = pto.alloc_tile addr = %place_4096_0 : {tile}" in patched(text, MoveTile(one, 4096))
    with pytest.raises(CannotApplyError, match="the allocation states no address"):
        patched(text, MoveTile(other, 4096))


@pytest.mark.parametrize("side", ["before", "behind"])
def test_statements_that_share_a_line_stay(side: str) -> None:
    text = program(X, f"{LOAD} {SET}" if side == "before" else f"{SET} {LOAD}", WAIT)
    (op,) = operations(text)["pto.set_flag"]
    with pytest.raises(CannotApplyError, match="at the start" if side == "before" else "at the end"):
        patched(text, RemoveStatements((op,)))


def test_a_program_in_one_line_stays() -> None:
    text = 'func.func @k() { pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"] return }'
    (op,) = operations(text)["pto.set_flag"]
    with pytest.raises(CannotApplyError, match="start of its line"):
        patched(text, RemoveStatements((op,)))


def test_a_change_that_fails_leaves_nothing() -> None:
    """What was there before stays, numbers of flags included."""
    text = program(X, LOAD, STORE)
    found = operations(text)
    first, second = found["pto.mte_gm_ub"][0], found["pto.mte_ub_gm"][0]
    flag = AddFlag(first, second, "PIPE_MTE2", "PIPE_MTE3", False)
    function = found["func.func"]
    patch = Patch(text, function)
    with pytest.raises(CannotApplyError):
        patch.apply((flag, AddFlag(second, first, "PIPE_MTE3", "PIPE_MTE2", False)))
    assert patch.result() == text
    patch.apply((flag,))
    assert statements(patch.result()) == [LOAD, SET, WAIT, STORE]


def test_operations_of_two_functions() -> None:
    text = program(X, LOAD).rstrip().removesuffix("}") + program(X, STORE).split("\n", 1)[1].replace("@k", "@l")
    found = operations(text)
    with pytest.raises(CannotApplyError, match="the operations are in different functions"):
        patched(text, AddFlag(found["pto.mte_gm_ub"][0], found["pto.mte_ub_gm"][0], "PIPE_MTE2", "PIPE_MTE3", False))
