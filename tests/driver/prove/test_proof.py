"""What a proof finds in programs that a pass has made worse. Source: docs/reference/proving.md, "Reports"."""

from collections.abc import Callable

from lowering_programs import add, kernel, load, part, store
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, ModuleOp, f32

from pto_dialect import parse
from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.driver.prove.pipeline import prove_passes
from pto_dialect.driver.prove.proof import Proof
from pto_dialect.passes.run import run_passes
from pto_dialect.sanitize.report.findings import Finding

_ROW = "%r = arith.muli %i, %c16 : index"
COPY = kernel(
    "%two = arith.constant 2.0 : f32",
    "scf.for %i = %c0 to %n step %c1 {",
    _ROW,
    part("p", "a", "r"),
    part("q", "b", "r"),
    load("p", "x"),
    "pto.tmuls ins(%x, %two : !pto.tile_buf<vec, 16x16xf32>, f32) outs(%y : !pto.tile_buf<vec, 16x16xf32>)",
    store("y", "q"),
    "}",
)
_COUNTING = """%two = arith.constant 2.0 : f32
%most = arith.constant 1000000000 : index
%sum = scf.for %k = %c0 to %most step %c1 iter_args(%s = %c0) -> (index) {
  %next = arith.addi %s, %k : index
  scf.yield %next : index
}"""
FLAGS = ("pto.set_flag", "pto.wait_flag")


def proven(text: str, *calls: str, seconds: float = 20) -> list[Diagnostic]:
    """What a proof of some passes says."""
    engine = DiagnosticEngine(DiagnosticOptions(pedantic=True, max_errors=0))
    prove_passes(parse(text, "program.pto"), calls, engine, None, seconds)
    return [one for one in engine.diagnostics if one.rule.startswith("prove")]


def rules(diagnostics: list[Diagnostic]) -> set[str]:
    return {one.rule for one in diagnostics}


def judged(change: Callable[[ModuleOp], None], text: str = COPY) -> list[Diagnostic]:
    """What a proof says of insert-sync when ``change`` follows it."""
    module = parse(text, "program.pto")
    engine = DiagnosticEngine(DiagnosticOptions(pedantic=True, max_errors=0))
    proof = Proof(module, None, engine, 20, 1)
    proof.begin()
    run_passes(module, ["insert-sync"], engine, None)
    change(module)
    proof.after("insert-sync")
    proof.end()
    return list(engine.diagnostics)


def drop(module: ModuleOp, *names: str) -> None:
    for op in [op for op in module.walk() if op.name in names]:
        op.detach()
        op.erase()


def double(module: ModuleOp) -> None:
    """Multiplies by four instead of two."""
    for op in module.walk():
        if isinstance(op, ConstantOp) and op.result.type == f32:
            op.properties["value"] = FloatAttr(4.0, f32)


def test_what_is_proven_is_named_with_what_was_run():
    (said,) = proven(COPY, "assign-memory", "insert-sync")
    assert said.rule == "prove-done"
    assert said.message == "assign-memory and insert-sync keep every bit that @f computes: 9 inputs, 5 schedules"
    assert said.span is not None
    assert said.span.line == 2


def test_other_results_are_found_in_the_order_of_the_text():
    (said,) = judged(double)
    assert said.rule == "prove-difference"
    assert said.message.startswith("insert-sync changes what @f computes: %b[0, 0] is ") or "%b[0] is" in said.message
    assert [note.message for note in said.notes][2] == "schedule: text"


def test_missing_flags_are_found():
    found = judged(lambda module: drop(module, *FLAGS))
    assert rules(found) == {"prove-difference", "prove-finding"}
    assert any("race-raw" in one.message for one in found)


def test_a_wait_without_its_flag_is_found():
    found = judged(lambda module: drop(module, "pto.set_flag"))
    assert rules(found) <= {"prove-difference", "prove-finding"}
    assert found


def test_a_program_that_does_not_verify_any_more_is_found():
    def misplace(module: ModuleOp) -> None:
        flag = next(op for op in module.walk() if op.name == "pto.set_flag")
        del flag.attributes["event_id"]

    found = judged(misplace)
    assert [one.rule for one in found if one.rule == "prove-reread"] == ["prove-reread"]


def test_memory_that_nothing_writes_is_reported_and_not_compared():
    lines = (part("p", "a", "c0"), add("x", "x", "y"), store("y", "p"))
    (said,) = proven(kernel(*lines), "insert-sync")
    assert said.rule == "prove-open"
    assert said.span is not None
    assert "memory that it never writes" in said.message


def test_memory_that_nothing_writes_need_not_matter():
    """The sum with what nothing has written is stored nowhere, or nothing is left of it."""
    lines = (part("p", "a", "c0"), load("p", "x"), add("x", "y", "z"), store("x", "p"))
    assert rules(proven(kernel(*lines), "insert-sync")) == {"prove-done"}
    zero = "pto.tmuls ins(%y, %zero : !pto.tile_buf<vec, 16x16xf32>, f32) outs(%y : !pto.tile_buf<vec, 16x16xf32>)"
    lines = ("%zero = arith.constant 0.0 : f32", part("p", "a", "c0"), zero, store("y", "p"))
    assert rules(proven(kernel(*lines), "insert-sync")) == {"prove-open"}


def test_a_pass_after_which_other_bytes_matter_is_reported():
    module = parse(COPY, "program.pto")
    proof = Proof(module, None, DiagnosticEngine(DiagnosticOptions(pedantic=True, max_errors=0)), 20, 1)
    proof.begin()
    (subject,) = proof.subjects
    for trial in subject.trials:
        # As if its results came from what both fills have in common.
        trial.unwritten, trial.unseen = Finding("mem-uninit", "", (), None), True
    run_passes(module, ["insert-sync"], proof.engine, None)
    double(module)
    proof.after("insert-sync")
    proof.end()
    (said,) = proof.engine.diagnostics
    assert said.rule == "prove-open"
    assert "memory that it never writes" in said.message


def test_a_function_that_does_not_run_is_reported():
    (said,) = proven(kernel("pto.trap", part("p", "a", "c0"), load("p", "x"), store("x", "p")), "insert-sync")
    assert said.rule == "prove-open"
    assert said.message.startswith("@f is not proven: ")
    assert said.span is not None


def test_flags_of_the_author_that_are_wrong_are_not_the_fault_of_a_pass():
    wrong = COPY.replace(store("y", "q"), f"pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]\n    {store('y', 'q')}")
    wrong = wrong.replace(" addr = %at2", "").replace(
        "return", "pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]\n    return"
    )
    found = proven(wrong, "assign-memory", "insert-sync")
    assert "prove-difference" not in rules(found)
    assert "prove-finding" not in rules(found)


SHARED = """module attributes {pto.target_arch = "a5", pto.kernel_kind = #pto.kernel_kind<vector>} {
  func.func @f(%a: !pto.ptr<i64>) attributes {pto.kernel} {
    %c0 = arith.constant 0 : index
    %block = pto.get_block_idx
    pto.store_scalar %block, %a[%c0] : !pto.ptr<i64>, i64
    return
  }
}
"""


def test_blocks_that_race_are_not_the_fault_of_a_pass():
    found = proven(SHARED, "insert-sync")
    assert rules(found) == {"prove-open", "prove-done"}
    said = next(one for one in found if one.rule == "prove-open")
    assert said.message == "the blocks of @f race with each other: only what one block does is proven"
    assert said.span is not None
    assert "store_scalar" in said.span.text


def test_blocks_that_do_not_race_are_both_run():
    found = proven(
        SHARED.replace("%a[%c0]", "%a[%at]").replace(
            "    pto.st", "    %at = arith.index_cast %block : i64 to index\n    pto.st"
        ),
        "insert-sync",
    )
    assert rules(found) == {"prove-done"}


TOGETHER = """module attributes {pto.target_arch = "a5"} {
  func.func @f(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>) attributes {pto.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %block = pto.get_block_idx
    %row = arith.index_cast %block : i64 to index
    %from = pto.make_tensor_view %a, shape = [%c2, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
    %to = pto.make_tensor_view %b, shape = [%c1, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
    %p = pto.partition_view %from, offsets = [%row, %c0], sizes = [%c1, %c64]
      : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<1x64xf32>
    %q = pto.partition_view %to, offsets = [%c0, %c0], sizes = [%c1, %c64]
      : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<1x64xf32>
    %x = pto.alloc_tile : !pto.tile_buf<vec, 1x64xf32>
    pto.tload ins(%p : !pto.partition_tensor_view<1x64xf32>) outs(%x : !pto.tile_buf<vec, 1x64xf32>)
    pto.tstore ins(%x : !pto.tile_buf<vec, 1x64xf32>) outs(%q : !pto.partition_tensor_view<1x64xf32>)
      {atomicType = #pto<atomic_type atomic_add>}
    return
  }
}
"""


def test_blocks_that_add_to_the_same_floats_may_come_in_any_order():
    found = proven(TOGETHER, "assign-memory", "insert-sync")
    assert rules(found) == {"prove-open", "prove-done"}
    said = next(one for one in found if one.rule == "prove-open")
    assert said.message == "the results of @f depend on the order of its blocks: only what one does is proven"


ANNOUNCED = """module attributes {pto.target_arch = "a5"} {
  func.func @f(%a: !pto.ptr<f32>) attributes {pto.kernel} {
    %at = arith.constant 0 : i64
    %one = arith.constant 1.0 : f32
    %x = pto.alloc_tile addr = %at : !pto.tile_buf<vec, 8x64xf32>
    pto.texpands ins(%one : f32) outs(%x : !pto.tile_buf<vec, 8x64xf32>)
    pto.section.vector {
      pto.sync.set <PIPE_V>, 0
    }
    return
  }
}
"""


def test_a_signal_that_nobody_waits_for_is_the_authors():
    assert rules(proven(ANNOUNCED, "insert-sync")) == {"prove-done"}


UNIT_FLAG = """module attributes {pto.target_arch = "a5", pto.kernel_kind = #pto.kernel_kind<cube>} {
  func.func @f(%from: !pto.ptr<f32, l0c>, %to: !pto.ptr<f32>) attributes {pto.kernel} {
    %c0 = arith.constant 0 : i64
    %c16 = arith.constant 16 : i64
    pto.mte_l0c_gm %from, %to, %c16, %c16, %c16, %c16, %c0, %c0, unit_flag(check_only), nz2nd
      : !pto.ptr<f32, l0c>, !pto.ptr<f32>, i64, i64, i64, i64, i64, i64
    return
  }
}
"""


def test_signals_that_no_pass_gives_are_not_its_fault():
    found = proven(UNIT_FLAG, "insert-sync")
    assert found
    assert "prove-finding" not in rules(found)


def test_the_time_is_bounded():
    # No machine counts so far in the time that a proof takes at least.
    endless = COPY.replace("%two = arith.constant 2.0 : f32", _COUNTING, 1)
    assert endless != COPY
    found = proven(endless, "assign-memory", "insert-sync", seconds=0.001)
    assert [one.rule for one in found] == ["prove-open"]
    assert "the time of --prove is over" in found[0].message


def test_nothing_is_reported_of_passes_that_change_nothing():
    assert proven(COPY, "check-memory") == []


def test_two_proofs_say_the_same():
    calls = ("insert-sync", "assign-memory")
    assert [one.message for one in proven(COPY, *calls)] == [one.message for one in proven(COPY, *calls)]


HANDLES = """module attributes {pto.target_arch = "a5"} {
  func.func @f(%a: !pto.ptr<f32>) -> (!pto.ptr<f32>, !pto.partition_tensor_view<4x16xf32>, !pto.ptr<f32, ub>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %row = arith.constant 6 : index
    %far = arith.constant 40 : index
    %c16 = arith.constant 16 : index
    %v = pto.make_tensor_view %a, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    %p = pto.partition_view %v, offsets = [%row, %c0], sizes = [%c4, %c16]
        : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<4x16xf32>
    %q = pto.addptr %a, %far : !pto.ptr<f32> -> !pto.ptr<f32>
    %x = pto.alloc_tile : !pto.tile_buf<vec, 4x16xf32>
    %y = pto.alloc_tile : !pto.tile_buf<vec, 4x16xf32>
    pto.tload ins(%p : !pto.partition_tensor_view<4x16xf32>) outs(%x : !pto.tile_buf<vec, 4x16xf32>)
    pto.tload ins(%p : !pto.partition_tensor_view<4x16xf32>) outs(%y : !pto.tile_buf<vec, 4x16xf32>)
    pto.tstore ins(%x : !pto.tile_buf<vec, 4x16xf32>) outs(%p : !pto.partition_tensor_view<4x16xf32>)
    %u = pto.tile_buf_addr %y : !pto.tile_buf<vec, 4x16xf32> -> !pto.ptr<f32, ub>
    return %q, %p, %u : !pto.ptr<f32>, !pto.partition_tensor_view<4x16xf32>, !pto.ptr<f32, ub>
  }
}
"""


def test_handles_that_are_returned_are_compared_by_what_they_are_for():
    assert rules(proven(HANDLES, "assign-memory", "insert-sync")) == {"prove-done"}

    def later(name: str) -> Callable[[ModuleOp], None]:
        """Has what a number is for begin two rows or two elements earlier or later."""

        def change(module: ModuleOp) -> None:
            (op,) = [op for op in module.walk() if isinstance(op, ConstantOp) and op.result.name_hint == name]
            op.properties["value"] = IntegerAttr({"far": 42, "row": 4}[name], op.result.type)  # pyright: ignore

        return change

    def wrong(name: str) -> list[str]:
        return [one.message for one in judged(later(name), HANDLES) if one.rule == "prove-difference"]

    # Floats have 4 bytes, and rows 16 of them; the first difference is reported.
    assert wrong("far") == [
        f"insert-sync changes what @f computes: result 0 is %a + {42 * 4} bytes, it was %a + {40 * 4} bytes"
    ]
    where = ", (4, 16) with strides (16, 1)"
    assert f"result 1 is %a + {4 * 64} bytes{where}, it was %a + {6 * 64} bytes{where}" in wrong("row")[0]
