"""Flags between pipes on which no operation runs. Source: docs/reference/execution.md, "Synchronisation"."""

import pytest
from sanitize_programs import errors, load, program, rules, set_flag, store, ub, wait_flag

from pto_dialect.ir.core.attributes import ENUMS

X = ub("x", 0)
NAMES = [word.removeprefix("PIPE_") for word in ENUMS["pipe"].values if word.startswith("PIPE_")]


@pytest.mark.parametrize("pipe", sorted({*NAMES} - {"MTE2", "MTE3", "S"}))
def test_order_goes_through_any_pipe(pipe: str) -> None:
    """What a pipe has waited for is before what waits for it."""
    lines = [set_flag("MTE2", pipe), wait_flag("MTE2", pipe), set_flag(pipe, "MTE3"), wait_flag(pipe, "MTE3")]
    assert rules(program(X, load("%x"), *lines, store("%x"))) == {}
    assert errors(program(X, load("%x"), *lines[1:], store("%x"))) == ["sync-deadlock"]
    assert rules(program(X, load("%x"), *lines[:2], store("%x"))) == {"race-raw": 1}


@pytest.mark.parametrize("name", [word for word in ENUMS["pipe"].values if word.startswith("VIRTUAL")])
def test_pipes_of_other_names_have_flags_too(name: str) -> None:
    lines = [f'pto.{word}["{name}", "PIPE_V", "EVENT_ID0"]' for word in ("set_flag", "wait_flag")]
    assert rules(program(X, *lines)) == {}
    assert errors(program(X, lines[1])) == ["sync-deadlock"]
