"""The pass check-sync on the classic mistakes, and on correct programs. Source: docs/reference/execution.md,
"Synchronisation"; docs/reference/instrumentation.md, "Order of events".
"""

from typing import Any

import pytest
from sanitize_programs import barrier, copy, found, load, program, set_flag, store, ub, wait_flag

import pto_dialect.passes.check_sync as sync_pass
from pto_dialect import parse
from pto_dialect.analysis import abstract_interpreter
from pto_dialect.analysis.abstract_interpreter import AbstractInterpreter
from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.passes.sync_flow import Flow

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


@pytest.mark.parametrize("pipe", ["MTE2", "MTE3", "V"])
def test_a_program_that_has_barriers_alone_orders_its_pipes(pipe: str):
    (diagnostic,) = found(program(X, load("%x"), barrier(pipe), store("%x")))
    assert (diagnostic.rule, diagnostic.severity) == ("sync-static-hazard", Severity.ERROR)
    assert rules(load("%x"), barrier("ALL"), store("%x")) == []


def test_a_barrier_that_names_a_class_of_operations():
    tile = "!pto.tile_buf<vec, 1x64xf32>"

    def chain(between: str) -> list[str]:
        lines = [f"%z{i}_at = arith.constant {512 + 256 * i} : i64" for i in range(3)]
        lines += [f"%z{i} = pto.alloc_tile addr = %z{i}_at : {tile}" for i in range(3)]
        lines += ["%one = arith.constant 1.0 : f32", f"pto.texpands ins(%one : f32) outs(%z0 : {tile})", between]
        lines += [f"pto.tadd ins(%z0, %z0 : {tile}, {tile}) outs(%z1 : {tile})"]
        return [one.rule for one in found(program(*lines).replace('"a5"', '"a3"'))]

    assert chain("pto.barrier_sync[#pto.sync_op_type<TVEC>]") == []
    assert chain("pto.barrier_sync[#pto.sync_op_type<TLOAD>]") == ["sync-static-hazard"]


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
    assert (diagnostic.rule, diagnostic.severity) == ("sync-static-hazard", Severity.ERROR)
    assert "MTE3 reads what MTE2 writes" in diagnostic.message
    assert diagnostic.notes[0].span is not None and diagnostic.notes[0].span.text.startswith("pto.mte_gm_ub")


def test_a_loop_without_a_back_edge():
    body = [load("%x"), set_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3"), store("%x")]
    assert rules("scf.for %i = %i0 to %i3 step %i1 {", *body, "}") == ["sync-static-hazard"]


def notes(*lines: str) -> list[str]:
    (diagnostic,) = found(program(X, *lines))
    return [note.message for note in diagnostic.notes]


def test_a_counterexample_names_the_iterations():
    """The store is waited for by the load of the iteration after the next one only."""
    body = [load("%x"), set_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3"), store("%x")]
    assert notes("scf.for %i = %i0 to %i3 step %i1 {", *body, "}") == [
        "pto.mte_ub_gm on MTE3 reads it",
        "iteration 2 of the loop at line 11 overwrites it before iteration 1 has read it",
    ]
    outer = ["scf.for %j = %i1 to %i3 step %i1 {", barrier("ALL"), "scf.for %i = %i0 to %i3 step %i1 {"]
    assert notes(*outer, *body, "}", barrier("ALL"), "}")[1].startswith("iteration 2 of the loop at line 13 ")
    late = ["%later = arith.cmpi sgt, %i, %i1 : index", "scf.if %later {", load("%x"), store("%x"), "}"]
    order = [set_flag("MTE2", "V"), wait_flag("MTE2", "V")]
    assert notes("scf.for %i = %i0 to %i3 step %i1 {", *late, *order, barrier("ALL"), "}") == [
        "pto.mte_gm_ub on MTE2 writes it",
        "both are in iteration 3 of the loop at line 11",
    ]


def test_two_tiles_at_one_address_are_one_location():
    tile = "!pto.tile_buf<vec, 16x16xf32>"
    view = "!pto.partition_tensor_view<16x16xf32>"

    def kernel(second: int, between: str = "") -> list[str]:
        text = f"""module attributes {{pto.target_arch = "a5"}} {{
          func.func @k(%p: {view}, %k: f32) {{
            %at = arith.constant 1024 : i64
            %too = arith.constant {second} : i64
            %x = pto.alloc_tile addr = %at : {tile}
            %y = pto.alloc_tile addr = %too : {tile}
            pto.tload ins(%p : {view}) outs(%x : {tile})
            {set_flag("MTE2", "MTE3")}
            {wait_flag("MTE2", "MTE3")}
            {between}
            pto.texpands ins(%k : f32) outs(%y : {tile})
            return
          }}
        }}"""
        return [diagnostic.rule for diagnostic in found(text)]

    assert kernel(1024) == ["sync-static-hazard"]
    assert kernel(2048) == []
    assert kernel(1024, f"{set_flag('MTE2', 'V')}\n{wait_flag('MTE2', 'V')}") == []


def test_scratch_that_the_chip_does_not_use_is_nobodys():
    """On a5 trowmax leaves its scratch alone, so the store may continue reading it."""
    tile, column = "!pto.tile_buf<vec, 16x16xf32>", "!pto.tile_buf<vec, 16x1xf32, blayout=col_major>"
    view = "!pto.partition_tensor_view<16x16xf32>"

    def kernel(target: str) -> list[str]:
        text = f"""module attributes {{pto.target_arch = "{target}"}} {{
          func.func @k(%p: {view}) {{
            %x = pto.alloc_tile : {tile}
            %y = pto.alloc_tile : {tile}
            %z = pto.alloc_tile : {column}
            {set_flag("V", "MTE3")}
            {wait_flag("V", "MTE3")}
            pto.tstore ins(%x : {tile}) outs(%p : {view})
            pto.trowmax ins(%y, %x : {tile}, {tile}) outs(%z : {column})
            return
          }}
        }}"""
        return [diagnostic.rule for diagnostic in found(text)]

    assert kernel("a5") == []
    assert kernel("a2a3") == ["sync-static-hazard"]


def test_paths_that_are_not_followed_are_reported(monkeypatch: pytest.MonkeyPatch):
    text = program(X, load("%x"), set_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3"), store("%x"))
    engine = DiagnosticEngine(DiagnosticOptions(pedantic=True))
    monkeypatch.setattr(abstract_interpreter, "BASE_VISITS", 1)
    monkeypatch.setattr(abstract_interpreter, "VISITS_PER_OPERATION", 0)
    monkeypatch.setattr(abstract_interpreter, "MAX_VISITS", 1)
    sync_pass.CheckSyncPass(None).run(parse(text), engine)
    (diagnostic,) = engine.diagnostics
    assert diagnostic.rule == "sync-undecided"
    assert "more paths than are followed" in diagnostic.message


def test_a_loop_with_a_primed_flag_is_right():
    body = [wait_flag("MTE3", "MTE2"), load("%x"), set_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3"), store("%x")]
    loop = ["scf.for %i = %i0 to %i3 step %i1 {", *body, set_flag("MTE3", "MTE2"), "}"]
    assert rules(set_flag("MTE3", "MTE2"), *loop, wait_flag("MTE3", "MTE2")) == []


@pytest.mark.parametrize("predicate, expected", [("sgt", []), ("sge", ["sync-static-deadlock"])])
def test_conditions_on_the_loop_index_are_decided(predicate: str, expected: list[str]):
    """The way back is waited for from the second iteration on, and a last time after the loop."""
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


@pytest.mark.parametrize(
    "number, told", [("%i1", []), ("%i0", ["sync-path-unmatched"]), ("%i3", ["sync-path-unmatched"])]
)
def test_a_number_that_is_known_chooses_one_case(number: str, told: list[str]):
    switch = [f"scf.index_switch {number}", "case 0 {", "scf.yield", "}", "case 1 {", wait_flag("MTE2", "MTE3")]
    switch += [store("%x"), "scf.yield", "}", "default {", "scf.yield", "}"]
    assert rules(load("%x"), set_flag("MTE2", "MTE3"), *switch) == told


def test_a_loop_of_unknown_length():
    lines = ["%length = arith.index_cast %n : i64 to index", "scf.for %i = %i0 to %length step %i1 {"]
    lines += [load("%x"), set_flag("MTE2", "MTE3"), "}", wait_flag("MTE2", "MTE3"), store("%x")]
    assert set(rules(*CONDITION, *lines)) == {"sync-path-unmatched", "sync-event-reuse", "sync-static-hazard"}


def test_a_loop_longer_than_a_machine_word():
    lines = ["%most = arith.constant 18446744073709551615 : index", "scf.for %i = %i0 to %most step %i1 {"]
    assert rules(*CONDITION, *lines, set_flag("MTE2", "V"), wait_flag("MTE2", "V"), "}") == []


def test_a_barrier_orders_everything():
    lines = [load("%x"), set_flag("MTE2", "V"), wait_flag("MTE2", "V"), barrier("ALL"), store("%x")]
    assert rules(*lines) == []


def test_functions_without_flags_are_left_to_the_compiler():
    assert rules(load("%x"), store("%x")) == []


@pytest.mark.parametrize(
    ("first", "second", "pipes", "said"),
    [
        (load("%x"), store("%x"), ("MTE2", "MTE3"), "MTE3 reads what MTE2 writes"),
        (store("%x"), load("%x"), ("MTE3", "MTE2"), "MTE2 overwrites what MTE3 reads"),
        (load("%x"), copy("%y", "%x"), ("MTE2", "V"), "V overwrites what MTE2 writes"),
        (copy("%y", "%x"), load("%x"), ("V", "MTE2"), "MTE2 overwrites what V writes"),
        (copy("%x", "%y"), load("%x"), ("V", "MTE2"), "MTE2 overwrites what V reads"),
    ],
)
def test_flags_that_turn_the_text_round(first: str, second: str, pipes: tuple[str, str], said: str):
    """What is first waits for what is after it."""
    lines = [
        ub("y", 4096),
        "%c2 = arith.constant 2 : i64",
        wait_flag(pipes[1], pipes[0]),
        first,
        second,
        set_flag(pipes[1], pipes[0]),
    ]
    (diagnostic,) = found(program(X, *lines))
    assert (diagnostic.rule, diagnostic.severity) == ("sync-static-hazard", Severity.ERROR)
    assert f"{said}, but the flags let the second run first" in diagnostic.message


def test_pointers_to_one_address_are_one_location():
    """Also where the address is computed: element 16 of f32 is byte 64."""
    more = [ub("y", 64), "%i16 = arith.constant 16 : index"]
    more.append("%z = pto.addptr %x, %i16 : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>")
    lines = [load("%z"), set_flag("MTE2", "V"), wait_flag("MTE2", "V"), store("%y")]
    assert rules(*more, *lines) == ["sync-static-hazard"]
    assert rules(*more, *[line.replace("%y", "%x") for line in lines]) == []


@pytest.mark.parametrize("event, expected", [("MTE2", []), ("V", ["sync-static-hazard"])])
def test_handles_that_a_condition_chooses(event: str, expected: list[str]):
    lines = ["%t = arith.select %some, %x, %y : !pto.ptr<f32, ub>", load("%x"), load("%y")]
    lines += [set_flag(event, "MTE3"), wait_flag(event, "MTE3"), store("%t")]
    assert sorted(set(rules(*CONDITION, ub("y", 1024), *lines))) == expected


GET, RELEASE = (f'pto.{word}_buf "PIPE_MTE2", 3, 0' for word in ("get", "rls"))


@pytest.mark.parametrize(
    "lines, said",
    [
        ([GET, load("%x"), GET, RELEASE], "is got again before it is released"),
        ([load("%x"), RELEASE], "is released and was not got"),
        ([GET, load("%x"), RELEASE, GET, RELEASE], None),
    ],
)
def test_buffer_ids_alternate(lines: list[str], said: str | None):
    diagnostics = [d for d in found(program(X, *lines)) if d.rule == "sync-buf-nesting"]
    assert [said in d.message for d in diagnostics] == ([True] if said else [])  # pyright: ignore[reportOperatorIssue]


TILES = """module attributes {{pto.target_arch = "{target}"}} {{
  func.func @k() attributes {{pto.kernel}} {{
    %one = arith.constant 1.0 : f32
    %a = pto.alloc_tile : !pto.tile_buf<vec, {size}xf32>
    %b = pto.alloc_tile : !pto.tile_buf<vec, {size}xf32>
    pto.texpands ins(%one : f32) outs(%a : !pto.tile_buf<vec, {size}xf32>)
    {between}
    pto.texp ins(%a : !pto.tile_buf<vec, {size}xf32>) outs(%b : !pto.tile_buf<vec, {size}xf32>)
    pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    return
  }}
}}
"""
BACK = "\n".join((set_flag("V", "MTE3", 1), wait_flag("V", "MTE3", 1), set_flag("MTE3", "V"), wait_flag("MTE3", "V")))


INDEXED = """module attributes {{pto.target_arch = "{target}"}} {{
  func.func @k(%m: !pto.partition_tensor_view<16x16xf32>, %v: !pto.partition_tensor_view<16x16xf32>)
      attributes {{pto.kernel}} {{
    %at = arith.constant 0 : i64
    %one = arith.constant 1.0 : f32
    %a = pto.alloc_tile addr = %at : !pto.tile_buf<vec, 16x16xf32>
    %x = pto.alloc_tile : !pto.tile_buf<vec, 16x16xi32>
    {statement} outs(%a : !pto.tile_buf<vec, 16x16xf32>)
    pto.tstore ins(%a : !pto.tile_buf<vec, 16x16xf32>) outs(%v : !pto.partition_tensor_view<16x16xf32>)
    pto.set_flag["PIPE_MTE3", "PIPE_S", "EVENT_ID0"]
    pto.wait_flag["PIPE_MTE3", "PIPE_S", "EVENT_ID0"]
    return
  }}
}}
"""
GATHER = "pto.mgather ins(%m, %x : !pto.partition_tensor_view<16x16xf32>, !pto.tile_buf<vec, 16x16xi32>)"
FILL = "pto.texpands ins(%one : f32)"


@pytest.mark.parametrize(
    ("target", "statement", "expected"), [("a2a3", GATHER, 0), ("a5", GATHER, 1), ("a2a3", FILL, 1), ("a5", FILL, 1)]
)
def test_a2a3_orders_indexed_accesses_itself(target: str, statement: str, expected: int):
    diagnostics = found(INDEXED.format(target=target, statement=statement))
    assert [d.rule for d in diagnostics] == ["sync-static-hazard"] * expected


@pytest.mark.parametrize(
    "target, size, between, expected",
    [
        ("a2a3", "16x16", "", 1),
        ("a2a3", "16x16", barrier("V"), 0),
        ("a2a3", "16x16", barrier("MTE3"), 1),
        ("a2a3", "16x16", barrier("ALL"), 0),
        ("a2a3", "16x16", BACK, 0),
        ("a2a3", "16x64", "", 0),
        ("a2a3", "15x64", "", 1),
        ("a5", "16x16", "", 0),
    ],
)
def test_the_vector_unit_of_a2a3_is_a_pipeline(target: str, size: str, between: str, expected: int):
    """Sixteen repeats of 256 bytes are streamed; the module names the target."""
    diagnostics = found(TILES.format(target=target, size=size, between=between))
    assert [d.rule for d in diagnostics] == ["sync-static-hazard"] * expected
    assert all("on the same pipe, with no barrier between" in d.message for d in diagnostics)


def branches(count: int, *lines: str) -> list[str]:
    """Conditions of their own around balanced transfers."""
    found = ["%n = pto.get_block_idx"]
    for number in range(count):
        found += [f"%k{number} = arith.constant {number} : i64", f"%q{number} = arith.cmpi eq, %n, %k{number} : i64"]
        found += [f"scf.if %q{number} {{", load("%x"), set_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3")]
        found += [store("%x"), set_flag("MTE3", "MTE2"), wait_flag("MTE3", "MTE2"), "}"]
    return [*found, *lines]


def visits(count: int) -> int:
    """Operations that are carried out for ``count`` conditions, each world counted."""
    walks: list[AbstractInterpreter[Flow]] = []

    class Counted(AbstractInterpreter[Flow]):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            walks.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sync_pass, "AbstractInterpreter", Counted)
        assert rules(*branches(count)) == []
    assert not walks[0].partial
    return walks[0].visits


def test_paths_to_one_state_continue_as_one():
    """Forty conditions have 10^12 ways; the work grows with their number, and the last mistake is found."""
    assert visits(40) < 2.2 * visits(20)
    assert rules(*branches(40, load("%x"), store("%x"))) == ["sync-static-hazard"]


@pytest.mark.parametrize(
    ("between", "said"),
    [
        ([], True),
        (["pto.sync.set #pto.pipe<PIPE_MTE2>, 3"], True),
        (["pto.sync.wait #pto.pipe<PIPE_MTE2>, 3"], False),
        (["%k = arith.addi %c0, %c1 : i64"], True),
    ],
)
def test_nothing_is_reported_about_order_after_a_wait_for_another_core(between: list[str], said: bool):
    """That core may have waited for anything before it signalled."""
    other = [set_flag("V", "MTE3"), wait_flag("V", "MTE3")]
    assert rules(*other, load("%x"), *between, store("%x")) == ["sync-static-hazard"] * said


def event(word: str, number: int = 0) -> str:
    ends = "#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TSTORE_VEC>"
    return f"pto.{word}_event[{ends}, #pto.event<EVENT_ID{number}>]"


EVENTS = {
    "in order": ([load("%x"), event("record"), event("wait"), store("%x")], []),
    "of another number": ([load("%x"), event("record", 1), event("wait", 1), store("%x")], []),
    "not waited for": ([load("%x"), event("record"), store("%x"), event("wait")], ["sync-static-hazard"]),
    "a flag of the same pipes": ([load("%x"), event("record"), wait_flag("MTE2", "MTE3"), store("%x")], []),
    "set again": (
        [load("%x"), event("record"), set_flag("MTE2", "MTE3"), event("wait"), event("wait"), store("%x")],
        ["sync-event-reuse"],
    ),
}
"""Events of operations are flags between the pipes of their classes."""


@pytest.mark.parametrize("case", EVENTS)
def test_events_of_operations(case: str):
    lines, expected = EVENTS[case]
    assert rules(*lines) == expected


def test_a_flag_that_one_branch_has_set():
    """Set again after it, it is pending on that way alone."""
    pair = [set_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3")]
    some = "%some = arith.cmpi sgt, %block, %c1 : i64"
    head = [load("%x"), "%block = pto.get_block_idx", some, "scf.if %some {"]
    alone = rules(*head, *pair, "}", *pair, store("%x"))
    assert alone == []
    left = rules(*head, pair[0], "}", *pair, store("%x"))
    assert "sync-event-reuse" in left
    other = [set_flag("MTE3", "V"), wait_flag("MTE3", "V")]
    over = rules(load("%x"), *head[1:3], pair[0], head[3], *other, "}", pair[0], pair[1], pair[1], store("%x"))
    assert over == ["sync-event-reuse"]


def simt_body_then_store(*signals: str) -> list[str]:
    text = f"""
module attributes {{pto.target_arch = "a5", pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  func.func @body(%ub: !pto.ptr<i32, ub>) attributes {{pto.simt_entry}} {{
    %c0 = arith.constant 0 : index
    %id = pto.get_tid_x : i32
    pto.store %id, %ub[%c0] : !pto.ptr<i32, ub>, i32
    return
  }}
  func.func @kernel(%gm: !pto.ptr<i32, gm>) attributes {{pto.aicore}} {{
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %c128_i64 = arith.constant 128 : i64
    %one = arith.constant 1 : i32
    %ub = pto.castptr %c0_i64 : i64 -> !pto.ptr<i32, ub>
    pto.store_vfsimt_info %one, %one, %one : i32, i32, i32
    func.call @body(%ub) : (!pto.ptr<i32, ub>) -> ()
    {" ".join(signals)}
    pto.mte_ub_gm %ub, %gm, %c128_i64 nburst(%c1_i64, %c128_i64, %c128_i64)
      : !pto.ptr<i32, ub>, !pto.ptr<i32, gm>, i64, i64, i64, i64
    return
  }}
}}"""
    return [diagnostic.message for diagnostic in found(text)]


def test_stores_of_a_simt_body_are_ordered_by_a_flag_from_the_vector_unit():
    assert simt_body_then_store(set_flag("V", "MTE3"), wait_flag("V", "MTE3")) == []


def test_stores_of_a_simt_body_without_a_flag_race_as_work_of_the_vector_unit():
    (message,) = simt_body_then_store(set_flag("S", "MTE3"), wait_flag("S", "MTE3"))
    assert message == "MTE3 reads what V writes, and nothing orders the two"
