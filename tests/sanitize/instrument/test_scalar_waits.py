"""Waits of the scalar unit for buffer ids and flags: what they order, and what a report says that they hold up."""

from __future__ import annotations

import pytest
from sanitize_programs import diagnostics, errors, load, program, set_flag, store, ub, wait_flag

X = ub("x", 0)
READ = "%v = pto.load_scalar %x[%i0] : !pto.ptr<f32, ub> -> f32"


def get(pipe: str, mode: int = 0) -> str:
    return f'pto.get_buf "PIPE_{pipe}", 3, {mode}'


def release(pipe: str, mode: int = 0) -> str:
    return f'pto.rls_buf "PIPE_{pipe}", 3, {mode}'


def test_a_buffer_id_of_the_scalar_unit_orders() -> None:
    assert errors(program(X, get("MTE2"), load("%x"), release("MTE2"), get("S"), READ, release("S"))) == []
    # Taken before it is given back, it orders nothing.
    assert errors(program(X, get("MTE2"), load("%x"), get("S"), READ, release("S"), release("MTE2"))) == ["race-raw"]


def test_a_flag_to_the_scalar_unit_orders() -> None:
    flags = [set_flag("MTE2", "S"), wait_flag("MTE2", "S")]
    assert errors(program(X, load("%x"), *flags, READ)) == []
    assert errors(program(X, *flags, load("%x"), READ)) == ["race-raw"]
    assert errors(program(X, load("%x"), set_flag("MTE2", "S", 1), wait_flag("MTE2", "S", 1), READ)) == []


@pytest.mark.parametrize("before", [[], [load("%x")]])
def test_a_scalar_wait_that_nobody_ends(before: list[str]) -> None:
    lines = [X, *before, wait_flag("V", "S", 5), READ, set_flag("V", "S", 5)]
    (found,) = diagnostics(program(*lines))
    assert found.rule == "sync-deadlock"
    assert [note.message for note in found.notes] == [
        "core: PIPE_S waits for a flag from PIPE_V, EVENT_ID5 to PIPE_S in pto.wait_flag on S of core, block 0"
    ]
    assert found.help == (
        "pto.set_flag[<PIPE_V>, <PIPE_S>, <EVENT_ID5>] after the work of PIPE_V that the wait is for"
    )  # fmt: skip
    assert found.span is not None and found.span.text == wait_flag("V", "S", 5)
    assert found.span.line == program(*lines).splitlines().index(f"    {wait_flag('V', 'S', 5)}") + 1


def test_what_holds_up_a_buffer_id_is_reported() -> None:
    """The transfer after the wait never gets to give the number back."""
    lines = [get("MTE2"), wait_flag("V", "MTE2"), load("%x"), release("MTE2"), get("S"), READ, release("S")]
    (found,) = diagnostics(program(X, *lines))
    assert [note.message.split(" in ")[0] for note in found.notes] == [
        "core: PIPE_MTE2 waits for a flag from PIPE_V, EVENT_ID0 to PIPE_MTE2",
        "core: PIPE_S waits for the release of buffer 3",
    ]
    lines = [
        get("MTE2"),
        wait_flag("V", "MTE2"),
        load("%x"),
        release("MTE2"),
        get("MTE3"),
        store("%x"),
        release("MTE3"),
    ]
    (found,) = diagnostics(program(X, *lines))
    assert [note.message.split(" in ")[0] for note in found.notes] == [
        "core: PIPE_MTE2 waits for a flag from PIPE_V, EVENT_ID0 to PIPE_MTE2",
        "core: PIPE_MTE3 waits for the release of buffer 3",
    ]
    assert found.help is not None and found.help.startswith("pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]")
