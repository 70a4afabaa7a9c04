"""Races, by program. Source: docs/reference/instrumentation.md, "Order of events", "Findings", "No findings"."""

import numpy as np
import pytest
from sanitize_programs import (
    barrier,
    diagnostics,
    errors,
    instrumented,
    load,
    program,
    rules,
    set_flag,
    store,
    ub,
    wait_flag,
)

from pto_dialect.diagnostics.diagnostic import Severity

X = ub("x", 0)
Y = ub("y", 256)


def test_a_flag_orders_a_load_and_a_store():
    assert not rules(program(X, load("%x"), set_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3"), store("%x")))


def test_without_a_flag_the_store_reads_what_the_load_writes():
    found = diagnostics(program(X, load("%x"), store("%x")), sync="strict")
    assert [d.rule for d in found] == ["race-raw"]
    (race,) = found
    assert race.severity is Severity.ERROR
    assert "bytes [0, 64) of ub" in race.message and "%x" in race.message
    assert race.span is not None and race.span.text.startswith("pto.mte_ub_gm")
    assert race.notes[0].span is not None and race.notes[0].span.text.startswith("pto.mte_gm_ub")
    assert race.help is not None and "pto.set_flag[<PIPE_MTE2>, <PIPE_MTE3>" in race.help


def test_programs_without_flags_run_in_program_order():
    assert not rules(program(X, load("%x"), store("%x")))


def test_a_flag_in_the_other_direction_orders_nothing():
    text = program(X, load("%x"), set_flag("MTE3", "MTE2"), wait_flag("MTE3", "MTE2"), store("%x"))
    assert errors(text) == ["race-raw"]


def test_only_what_precedes_the_flag_is_ordered():
    text = program(X, Y, load("%x"), set_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3"), load("%y"), store("%y"))
    assert errors(text) == ["race-raw"]


def test_disjoint_bytes_do_not_conflict():
    text = program(X, Y, set_flag("MTE3", "MTE2"), wait_flag("MTE3", "MTE2"), load("%x"), load("%y"))
    assert not rules(text)


def test_overwriting_what_a_store_still_reads():
    text = program(
        X, load("%x"), set_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3"), store("%x"), load("%x")
    )  # fmt: skip
    assert errors(text) == ["race-war"]


def test_a_barrier_on_all_pipes_orders_everything():
    assert not rules(program(X, load("%x"), barrier("ALL"), store("%x")))


def test_a_barrier_on_one_pipe_orders_nothing_between_pipes():
    text = program(X, load("%x"), barrier("MTE2"), store("%x"))
    assert errors(text, sync="strict") == ["race-raw"]


@pytest.mark.parametrize("primed", [True, False])
def test_double_buffering_with_a_primed_flag(primed: bool):
    """The set before the loop is the first token; without it nothing can continue."""
    body = [
        "scf.for %i = %i0 to %i3 step %i1 {",
        wait_flag("MTE3", "MTE2"),
        load("%x"),
        set_flag("MTE2", "MTE3"),
        wait_flag("MTE2", "MTE3"),
        store("%x"),
        barrier("MTE3"),
        set_flag("MTE3", "MTE2"),
        "}",
        wait_flag("MTE3", "MTE2"),
    ]
    if primed:
        assert not rules(program(X, set_flag("MTE3", "MTE2"), *body))
    else:
        assert errors(program(X, *body)) == ["sync-deadlock"]


def test_a_race_in_a_loop_is_one_finding_with_a_count():
    body = [load("%x"), set_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3"), store("%x"), barrier("MTE3")]
    found = diagnostics(program(X, "scf.for %i = %i0 to %i3 step %i1 {", *body, "}"))
    assert [d.rule for d in found] == ["race-war"]
    assert any("%i = 0" in note.message for note in found[0].notes)
    assert found[0].notes[-1].message == "this happened 2 times"


def test_two_stores_of_one_location_want_a_barrier():
    text = program(
        X, load("%x"), set_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3"), store("%x"), store("%x")
    )  # fmt: skip
    assert rules(text) == {"sync-mte3-reorder": 1}
    assert not errors(text)


def test_blocks_that_write_one_location():
    text = program(X, load("%x"), set_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3"), store("%x"))
    assert errors(text, blocks=2) == ["race-cross-block"]


FROM = {
    "the same": "%a",
    # Elements 0 and 16 of what counts up: two blocks store different numbers.
    "its own": "%own",
}


@pytest.mark.parametrize("source", FROM)
def test_blocks_of_a_program_without_flags_may_store_the_same(source: str):
    """It is unknown then which of them was last; where each stores its own, the result depends on it."""
    part = ["%block = pto.get_block_idx", "%n = arith.constant 16 : i64", "%at = arith.muli %block, %n : i64"]
    index = "%i = arith.index_cast %at : i64 to index"
    own = "%own = pto.addptr %a, %i : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>"
    text = program(X, *part, index, own, load("%x", FROM[source]), store("%x"))
    (found,) = diagnostics(text, blocks=2)
    assert (found.rule, found.severity) == (
        "race-cross-block",
        Severity.WARNING if source == "the same" else Severity.ERROR,
    )


def test_results_are_those_of_the_plain_run():
    text = program(X, load("%x"), set_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3"), store("%x"))
    a, b = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    instrumented(text).run([a, b])
    assert np.array_equal(b[:16], a[:16]) and not b[16:].any()


def test_buffer_ids_order_pipes():
    get, release = "pto.get_buf", "pto.rls_buf"
    lines = []
    for pipe, work in (("MTE2", load("%x")), ("MTE3", store("%x"))):
        lines += [f'{get} "PIPE_{pipe}", 0, 0', work, f'{release} "PIPE_{pipe}", 0, 0']
    assert not rules(program(X, *lines))


def test_a_buffer_id_that_is_not_taken_orders_nothing():
    lines = [load("%x"), 'pto.get_buf "PIPE_MTE3", 0, 0', store("%x"), 'pto.rls_buf "PIPE_MTE3", 0, 0']
    assert errors(program(X, *lines)) == ["race-raw"]


def on_both_vector_cores(*lines: str) -> str:
    """``lines`` on the two vector cores of a block, whose cube core does nothing."""
    text = program(*lines)
    head, body = text.split("attributes {pto.kernel} {\n", 1)
    body, tail = body.rsplit("return", 1)
    nothing = "pto.section.cube {\n pto.barrier #pto.pipe<PIPE_ALL>\n }\n"
    return f"{head}attributes {{pto.kernel}} {{\n pto.section.vector {{\n{body}}}\n{nothing}return{tail}"


COPY = (X, load("%x"), set_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3"), store("%x"))


def test_vector_cores_that_write_the_same_are_a_warning():
    (found,) = diagnostics(on_both_vector_cores(*COPY))
    assert (found.rule, found.severity) == ("race-cross-core", Severity.WARNING)
    assert "the bytes are the same each time" in found.notes[-1].message


def test_vector_cores_that_write_different_values_are_an_error():
    own = [
        "%core = pto.get_subblock_idx",
        "%value = arith.trunci %core : i64 to i32",
        "%place = arith.constant 0 : index",
        "%number = pto.castptr %b : !pto.ptr<f32, gm> -> !pto.ptr<i32, gm>",
        "pto.store_scalar %value, %number[%place] : !pto.ptr<i32, gm>, i32",
    ]
    assert errors(on_both_vector_cores(*own)) == ["race-cross-core"]


def test_one_core_after_the_other_may_write_the_same_first_and_then_something_else():
    """The first of two transfers stores the same on both cores, the second what each core has loaded."""
    lines = [
        "%core = pto.get_subblock_idx",
        "%one = arith.index_cast %core : i64 to index",
        "scf.for %i = %i0 to %i3 step %i1 {",
        "%far = arith.muli %one, %i : index",
        "%from = pto.addptr %a, %far : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>",
        load("%x", "%from"),
        set_flag("MTE2", "MTE3"),
        wait_flag("MTE2", "MTE3"),
        store("%x"),
        "pto.barrier #pto.pipe<PIPE_ALL>",
        "}",
    ]
    text = on_both_vector_cores(X, *lines)
    same, other = (np.full(64, 2, np.float32), np.arange(64, dtype=np.float32))
    for values, severity in ((same, Severity.WARNING), (other, Severity.ERROR)):
        found = diagnostics(text, [values, np.zeros(64, np.float32)])
        assert [(d.rule, d.severity) for d in found if d.rule == "race-cross-core"] == [("race-cross-core", severity)]


def test_texts_are_written_on_demand() -> None:
    kernel = instrumented(program(X, load("%x"), store("%x")), sync="strict")
    kernel.run([np.arange(64, dtype=np.float32), np.zeros(64, np.float32)])
    (finding,) = [one for one in kernel.observer.findings.by_cause.values() if one is not None]
    assert not finding.message
    assert kernel.observer.findings.all == [finding]
    assert finding.message and finding.notes and finding.help and finding.fix and finding.span is not None


def test_two_operations_that_write_the_same_from_two_cores_are_an_error() -> None:
    """Whether what one operation leaves is the same is looked at; two operations may leave anything."""
    lines = ["%core = pto.get_subblock_idx", "%first = arith.cmpi eq, %core, %c0 : i64", "scf.if %first {",
             store("%x"), "} else {", store("%x"), "}"]  # fmt: skip
    (found,) = diagnostics(on_both_vector_cores(*COPY[:-1], *lines), checks=("race",))
    assert (found.rule, found.severity) == ("race-cross-core", Severity.ERROR)
    assert not any("the same each time" in note.message for note in found.notes)


@pytest.mark.parametrize(("sync", "found"), [("strict", ["race-raw"]), ("auto", ["race-raw"]), ("compiler", [])])
def test_who_orders_the_pipes_of_a_program_with_flags(sync: str, found: list[str]):
    text = program(X, load("%x"), set_flag("MTE3", "MTE2"), wait_flag("MTE3", "MTE2"), store("%x"))
    assert errors(text, sync=sync) == found


@pytest.mark.parametrize(("sync", "found"), [("strict", ["race-raw"]), ("auto", []), ("compiler", [])])
def test_who_orders_the_pipes_of_a_program_without_flags(sync: str, found: list[str]):
    assert errors(program(X, load("%x"), store("%x")), sync=sync) == found


def test_two_loads_of_one_location_are_counted_each_time():
    """Nothing uses what the first has loaded; in each of three rounds."""
    body = ["scf.for %i = %i0 to %i3 step %i1 {", load("%x"), load("%x"), "}"]
    found = {(d.rule, d.span.line if d.span else 0): d.notes[-1].message for d in
             diagnostics(program(X, *body), sync="strict")}  # fmt: skip
    lines = program(X, *body).splitlines()
    second = max(number for number, line in enumerate(lines, 1) if "mte_gm_ub" in line)
    assert {rule for rule, _ in found} == {"race-same-pipe"}
    assert found["race-same-pipe", second] == "this happened 3 times"
    assert found["race-same-pipe", second - 1] == "this happened 2 times"


@pytest.mark.parametrize(("between", "warned"), [([], True), ([barrier("MTE2")], False), ([barrier("MTE3")], True)])
def test_a_barrier_between_two_loads(between: list[str], warned: bool):
    text = program(X, load("%x"), *between, load("%x"))
    assert [d.rule for d in diagnostics(text, sync="strict")] == ["race-same-pipe"] * warned


def test_a_load_into_what_was_used_needs_no_barrier():
    """Who has stored it has waited for the first load, and the second waits for the store."""
    used = [set_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3"), store("%x")]
    back = [set_flag("MTE3", "MTE2"), wait_flag("MTE3", "MTE2"), load("%x")]
    assert not rules(program(X, load("%x"), *used, *back))


def test_an_instrumented_run_returns_the_results_of_the_function():
    text = program("return %seven : i32").replace(") attributes {pto.kernel}", ") -> i32")
    text = text.replace("    %c0 =", "    %seven = arith.constant 7 : i32\n    %c0 =").replace("    return\n", "")
    assert instrumented(text).run([np.zeros(64, np.float32), np.zeros(64, np.float32)], 2) == [7]
    nothing = program(X, load("%x"))
    assert instrumented(nothing).run([np.zeros(64, np.float32), np.zeros(64, np.float32)], 1) == []
