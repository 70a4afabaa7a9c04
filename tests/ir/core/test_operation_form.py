"""The record of an operation form: pipe, accesses and completion by operands, target and locations of tiles."""

from __future__ import annotations

import pytest

from pto_dialect import parse
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.facts.operation_form import Completion, OperationForm, form_of
from pto_dialect.ir.core.facts.pipe import Pipe
from pto_dialect.ir.core.registry import op_class

INT = "!pto.tile_buf<vec, 1x32xi32>"
F = "!pto.tile_buf<vec, 16x64xf32>"
C = "!pto.tile_buf<vec, 16x1xf32, blayout=col_major>"
VIEW = "!pto.partition_tensor_view<16x64xf32>"
ACC = "!pto.tile_buf<acc, 16x64xf32>"

PROGRAM = f"""func.func @f(%s: i32, %i: {INT}, %f: {F}, %g: {F}, %c: {C}, %v: {VIEW}, %acc: {ACC}, %o: index) {{
  STATEMENT
  return
}}
"""


def form(statement: str, target: str, backend: str = "emitc") -> OperationForm:
    module = parse(PROGRAM.replace("STATEMENT", statement))
    (op,) = (op for op in module.walk() if isinstance(op, PtoOp))
    return form_of(op, target, backend)


SEQUENCE = f"pto.tci ins(%s : i32) outs(%i : {INT})"
SEQUENCE_WITH_SCRATCH = f"pto.tci ins(%s, %f : i32, {F}) outs(%i : {INT})"
ROW_SUM = f"pto.trowsum ins(%f, %g : {F}, {F}) outs(%c : {C})"
LOAD = f"pto.tload ins(%v : {VIEW}) outs(%f : {F})"


@pytest.mark.parametrize(
    ("statement", "target", "pipe"),
    [
        (SEQUENCE, "a2a3", Pipe.S),
        (SEQUENCE, "a5", Pipe.S),
        (SEQUENCE_WITH_SCRATCH, "a2a3", Pipe.V),
        (SEQUENCE_WITH_SCRATCH, "a5", Pipe.V),
        (LOAD, "a5", Pipe.MTE2),
        (f"pto.tstore ins(%f : {F}) outs(%v : {VIEW})", "a2a3", Pipe.MTE3),
        (f"pto.tstore ins(%acc : {ACC}) outs(%v : {VIEW})", "a2a3", Pipe.FIX),
        ("pto.barrier #pto.pipe<PIPE_MTE2>", "a2a3", Pipe.MTE2),
    ],
)
def test_pipe_belongs_to_the_form(statement: str, target: str, pipe: Pipe) -> None:
    assert form(statement, target).pipe is pipe
    assert pipe in form(statement, target).pipes


def test_scratch_is_written_where_the_target_touches_it() -> None:
    on_a2a3, on_a5 = form(ROW_SUM, "a2a3"), form(ROW_SUM, "a5")
    assert (on_a2a3.writes, on_a2a3.must_write, on_a2a3.scratch, on_a2a3.unused) == (
        ("tmp", "dst"),
        ("dst",),
        ("tmp",),
        (),
    )
    assert (on_a5.writes, on_a5.must_write, on_a5.scratch, on_a5.unused) == (("dst",), ("dst",), (), ("tmp",))
    assert on_a2a3.reads == on_a5.reads == ("src",)


def test_absent_operands_are_not_named() -> None:
    assert form(SEQUENCE, "a2a3").writes == ("dst",)
    assert form(SEQUENCE_WITH_SCRATCH, "a2a3").writes == ("tmp", "dst")


def test_what_reads_into_a_number_is_complete_at_issue() -> None:
    assert form(f"%x = pto.tgetval ins(%f, %o : {F}, index) outs : f32", "a5").completion is Completion.ISSUE
    assert form(SEQUENCE, "a5").completion is Completion.FLAG
    assert form(LOAD, "a5").completion is Completion.FLAG


def test_a_form_is_derived_once() -> None:
    module = parse(PROGRAM.replace("STATEMENT", f"{LOAD}\n  {LOAD}"))
    first, second = (op for op in module.walk() if isinstance(op, PtoOp))
    assert form_of(first, "a5") is form_of(second, "a5")


def test_availability_is_that_of_the_target() -> None:
    gm, ub = "!pto.ptr<f32, gm>", "!pto.ptr<f32, ub>"
    load = f"pto.mte_gm_ub %p, %q, %n, %n nburst(%n, %n, %n) : {gm}, {ub}, i64, i64, i64, i64, i64"
    module = parse(f"func.func @f(%p: {gm}, %q: {ub}, %n: i64) {{\n{load}\nreturn\n}}")
    (op,) = (op for op in module.walk() if isinstance(op, PtoOp))
    assert form_of(op, "a5").available
    assert not form_of(op, "a2a3").available


def test_form_does_not_depend_on_an_earlier_operation_without_operands() -> None:
    """What a program lacks was the form of every complete operation after it."""
    tile, numbers = "!pto.tile_buf<vec, 8x24xf32>", "!pto.tile_buf<vec, 8x24xi32>"
    text = f"""func.func @f(%a: {tile}, %i: {numbers}, %m: !pto.partition_tensor_view<64x64xf32>) {{
  "pto.mscatter"(%a, %i, %m) : ({tile}, {numbers}, !pto.partition_tensor_view<64x64xf32>) -> ()
  return
}}"""
    bare = op_class("pto.mscatter").create()
    assert isinstance(bare, PtoOp) and form_of(bare, "a2a3").reads == ()
    complete = next(op for op in parse(text).walk() if isinstance(op, PtoOp))
    assert {"src", "idx"} <= set(form_of(complete, "a2a3").reads)
