"""The pass check-sync on the classic mistakes, and on correct programs. Source: execution page, sections 5 and 6."""

import pytest
from sanitize_programs import barrier, found, load, program, set_flag, store, ub, wait_flag

from pto_dialect.diagnostics.diagnostic import Severity

X = ub("x", 0)
CONDITION = ["%n = pto.get_block_idx", "%some = arith.cmpi eq, %n, %c0 : i64"]


def rules(*lines: str) -> list[str]:
    return [diagnostic.rule for diagnostic in found(program(X, *lines))]


def test_a_set_hoisted_out_of_a_condition():
    lines = [load("%x"), set_flag("MTE2", "MTE3"), "scf.if %some {", wait_flag("MTE2", "MTE3"), store("%x"), "}"]
    (diagnostic,) = found(program(X, *CONDITION, *lines))
    assert (diagnostic.rule, diagnostic.severity) == ("sync-path-unmatched", Severity.WARNING)
    assert "is set here and not waited for on some path" in diagnostic.message


def test_a_set_trapped_in_a_condition():
    lines = ["scf.if %some {", load("%x"), set_flag("MTE2", "MTE3"), "}", wait_flag("MTE2", "MTE3"), store("%x")]
    (diagnostic,) = found(program(X, *CONDITION, *lines))
    assert diagnostic.rule == "sync-path-unmatched"
    assert "this wait for flag EVENT_ID0 from PIPE_MTE2 to PIPE_MTE3 is never ended" in diagnostic.message


def test_a_wait_repeated_after_a_branch():
    lines = [load("%x"), set_flag("MTE2", "MTE3"), "scf.if %some {", wait_flag("MTE2", "MTE3"), store("%x"), "}"]
    lines += [wait_flag("MTE2", "MTE3"), store("%x")]
    assert rules(*CONDITION, *lines) == ["sync-path-unmatched"]


def test_a_wait_too_many_on_every_path_is_an_error():
    lines = [load("%x"), set_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3"), store("%x")]
    (diagnostic,) = found(program(X, *lines))
    assert (diagnostic.rule, diagnostic.severity) == ("sync-static-deadlock", Severity.ERROR)


def test_nested_fences_that_share_one_event():
    lines = [load("%x"), set_flag("MTE2", "MTE3"), load("%x"), set_flag("MTE2", "MTE3")]
    lines += [wait_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3"), store("%x")]
    (diagnostic,) = found(program(X, *lines))
    assert diagnostic.rule == "sync-event-reuse"
    assert diagnostic.notes[0].span is not None and diagnostic.notes[0].span.line < diagnostic.span.line  # pyright: ignore


def test_fences_with_events_of_their_own():
    lines = [load("%x"), set_flag("MTE2", "MTE3", 0), set_flag("MTE2", "V", 0)]
    assert rules(*lines, wait_flag("MTE2", "V", 0), wait_flag("MTE2", "MTE3", 0), store("%x")) == []


def test_a_missing_wait_before_a_store():
    lines = [load("%x"), set_flag("MTE2", "MTE3"), store("%x"), wait_flag("MTE2", "MTE3")]
    (diagnostic,) = found(program(X, *lines))
    assert (diagnostic.rule, diagnostic.severity) == ("sync-static-hazard", Severity.WARNING)
    assert "MTE3 reads what MTE2 writes" in diagnostic.message
    assert diagnostic.notes[0].span is not None and diagnostic.notes[0].span.text.startswith("pto.mte_gm_ub")


def test_a_loop_without_the_way_back():
    body = [load("%x"), set_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3"), store("%x")]
    assert rules("scf.for %i = %i0 to %i3 step %i1 {", *body, "}") == ["sync-static-hazard"]


def test_a_loop_with_a_primed_flag_is_right():
    body = [wait_flag("MTE3", "MTE2"), load("%x"), set_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3"), store("%x")]
    loop = ["scf.for %i = %i0 to %i3 step %i1 {", *body, set_flag("MTE3", "MTE2"), "}"]
    assert rules(set_flag("MTE3", "MTE2"), *loop, wait_flag("MTE3", "MTE2")) == []


@pytest.mark.parametrize("predicate, expected", [("sgt", []), ("sge", ["sync-static-deadlock"])])
def test_conditions_on_the_loop_index_are_decided(predicate: str, expected: list[str]):
    """The way back is waited for from the second iteration on, and a last time behind the loop."""
    body = [f"%later = arith.cmpi {predicate}, %i, %i0 : index", "scf.if %later {", wait_flag("MTE3", "MTE2"), "}"]
    body += [load("%x"), set_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3"), store("%x"), set_flag("MTE3", "MTE2")]
    lines = ["scf.for %i = %i0 to %i3 step %i1 {", *body, "}", wait_flag("MTE3", "MTE2")]
    assert set(rules(*lines)) == set(expected)


def test_equal_conditions_have_equal_answers():
    again = ["%too = arith.cmpi eq, %n, %c0 : i64", "%other = arith.cmpi ne, %n, %c0 : i64"]
    lines = ["scf.if %some {", load("%x"), set_flag("MTE2", "MTE3"), "}"]
    lines += ["scf.if %too {", wait_flag("MTE2", "MTE3"), store("%x"), "}"]
    assert rules(*CONDITION, *again, *lines) == []
    wrong = [line.replace("%too", "%other") for line in lines]
    assert rules(*CONDITION, *again, *wrong) == ["sync-path-unmatched", "sync-path-unmatched"]


def test_a_loop_of_unknown_length():
    lines = ["%length = arith.index_cast %n : i64 to index", "scf.for %i = %i0 to %length step %i1 {"]
    lines += [load("%x"), set_flag("MTE2", "MTE3"), "}", wait_flag("MTE2", "MTE3"), store("%x")]
    assert set(rules(*CONDITION, *lines)) == {"sync-path-unmatched", "sync-event-reuse", "sync-static-hazard"}


def test_a_barrier_orders_everything():
    lines = [load("%x"), set_flag("MTE2", "V"), wait_flag("MTE2", "V"), barrier("ALL"), store("%x")]
    assert rules(*lines) == []


def test_functions_without_flags_are_left_to_the_compiler():
    assert rules(load("%x"), store("%x")) == []
