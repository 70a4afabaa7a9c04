"""Signals, locks and deadlocks. Source: docs/reference/execution.md, "Synchronisation";
docs/reference/instrumentation.md, "Findings".
"""

from sanitize_programs import diagnostics, errors, load, program, rules, set_flag, store, ub, wait_flag

from pto_dialect.diagnostics.diagnostic import Severity

X = ub("x", 0)


def test_a_wait_without_a_set_shows_the_blocked_pipe():
    (found,) = diagnostics(program(X, load("%x"), wait_flag("MTE2", "MTE3", 2), store("%x")))
    assert found.rule == "sync-deadlock" and found.severity is Severity.ERROR
    assert "PIPE_MTE3 waits for a flag from PIPE_MTE2, EVENT_ID2" in found.notes[0].message
    assert found.notes[0].span is not None and "wait_flag" in found.notes[0].span.text


def test_a_deadlock_lists_the_signals_that_are_there():
    text = program(X, load("%x"), set_flag("MTE2", "MTE3", 1), wait_flag("MTE2", "MTE3", 2), store("%x"))
    (found,) = diagnostics(text)
    assert any("EVENT_ID1 to PIPE_MTE3, set at line" in note.message for note in found.notes)


def test_crossed_waits_are_a_deadlock():
    lines = [wait_flag("MTE3", "MTE2"), load("%x"), set_flag("MTE2", "MTE3")]
    lines += [wait_flag("MTE2", "MTE3"), store("%x"), set_flag("MTE3", "MTE2")]
    assert errors(program(X, *lines)) == ["sync-deadlock"]


def test_a_set_that_nobody_waits_for_is_a_warning():
    found = diagnostics(program(X, load("%x"), set_flag("MTE2", "V")))
    assert [(d.rule, d.severity) for d in found] == [("sync-flag-unconsumed", Severity.WARNING)]


def test_a_flag_that_is_set_twice_before_the_wait():
    lines = [load("%x"), set_flag("MTE2", "MTE3"), set_flag("MTE2", "MTE3")]
    lines += [wait_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3"), store("%x")]
    assert rules(program(X, *lines)) == {"sync-flag-depth": 1}


def test_a_flag_id_out_of_range_at_run_time():
    lines = ["%block = pto.get_block_idx", "%n = arith.index_cast %block : i64 to index"]
    lines += ["%i9 = arith.constant 9 : index", "%m = arith.addi %n, %i9 : index"]
    lines.append('pto.set_flag_dyn["PIPE_MTE2", "PIPE_MTE3", %m]')
    assert errors(program(X, *lines)) == ["sync-flag-range"]


def test_buffer_ids_are_taken_once_and_given_back():
    get, release = 'pto.get_buf "PIPE_MTE2", 3, 0', 'pto.rls_buf "PIPE_MTE2", 3, 0'
    assert not rules(program(X, get, load("%x"), release))
    assert errors(program(X, get, get, load("%x"), release, release)) == ["sync-buf-nesting"]
    assert errors(program(X, load("%x"), release)) == ["sync-buf-nesting"]
    (held,) = diagnostics(program(X, get, load("%x")))
    assert (held.rule, held.severity) == ("sync-buf-nesting", Severity.WARNING)


def test_checks_can_be_chosen():
    text = program(X, load("%x"), set_flag("MTE3", "MTE2"), store("%x"))
    assert set(rules(text)) == {"race-raw", "sync-flag-unconsumed"}
    assert set(rules(text, checks=("race",))) == {"race-raw"}
    assert set(rules(text, checks=("sync",))) == {"sync-flag-unconsumed"}
    assert not rules(text, checks=("init", "bounds", "overlap", "deadlock"))


def test_a_deadlock_is_reported_at_the_first_wait():
    lines = [wait_flag("MTE3", "MTE2"), load("%x"), set_flag("MTE2", "MTE3")]
    lines += [wait_flag("MTE2", "MTE3"), store("%x"), set_flag("MTE3", "MTE2")]
    text = program(X, *lines)
    (found,) = diagnostics(text)
    line = {wait: text.splitlines().index(f"    {wait}") + 1 for wait in (lines[0], lines[3])}
    assert found.span is not None and found.span.line == line[lines[0]]
    waiting = [note.span.line for note in found.notes if note.span is not None]
    assert waiting == [line[lines[0]], line[lines[3]]]
