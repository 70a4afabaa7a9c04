"""Pops of one iteration after the pushes of the next one. Source: docs/reference/execution.md, "Queues between
cores".
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from cube_programs import CONTENT, SCHEDULES, copies
from xdsl.dialects.builtin import ModuleOp

from examples.check import FOLDER
from pto_dialect import parse, print_module
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.passes.registry import make_pass
from pto_dialect.runtime.queues.schedule import Schedule
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions

SUM, PART = "!pto.tile_buf<vec, 16x32xf32>", "!pto.tile_buf<vec, 16x32xf16>"
LEFT, RIGHT = "!pto.tile_buf<left, 32x32xf16, slayout=row_major>", "!pto.tile_buf<right, 32x32xf16, slayout=col_major>"
MAT = "!pto.tile_buf<mat, 32x32xf16, blayout=col_major, slayout=row_major>"
ACC = "!pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>"

LOAD = f"pto.tload ins(%p : !pto.partition_tensor_view<16x32xf16>) outs(%x : {PART})"
ASK = f"pto.tpush_to_aic(%x : {PART}) {{id = 0, split = 1}}"
ANSWER = (
    f"%part = pto.tpop_from_aic {{id = 1, split = 1}} -> {SUM}",
    f"pto.tadd ins(%sum, %part : {SUM}, {SUM}) outs(%sum : {SUM})",
    "pto.tfree_from_aic {id = 1, split = 1}",
)
HALVE = f"pto.tmuls ins(%sum, %half : {SUM}, f32) outs(%sum : {SUM})"
ASKED = (
    f"%a = pto.tpop_from_aiv {{id = 0, split = 1}} -> {MAT}",
    f"pto.tmov ins(%a : {MAT}) outs(%l : {LEFT})",
    "pto.tfree_from_aiv {id = 0, split = 1}",
)
ANSWERED = (
    f"pto.tmatmul ins(%l, %r : {LEFT}, {RIGHT}) outs(%c : {ACC})",
    f"pto.tpush_to_aiv(%c : {ACC}) {{id = 1, split = 1}}",
)


def queues(side: str, peer: str, local: str) -> str:
    """The queues of one side: id 0 to the cube core, id 1 back."""
    return f"""
    %block_at = arith.constant 4096 : index
    %back_slots = pto.addptr %slots, %block_at : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
    {local}
    %none = arith.constant 0 : i32
    pto.{side}_initialize_pipe {{id = 0, dir_mask = 2, slot_size = 2048, slot_num = 2}}
        (gm_slot_buffer = %slots : !pto.ptr<f32, gm>,
         c2v_consumer_buf = %none : i32, v2c_consumer_buf = %there : i32)
    pto.{side}_initialize_pipe {{id = 1, dir_mask = 1, slot_size = 4096, slot_num = 2}}
        (gm_slot_buffer = %back_slots : !pto.ptr<f32, gm>,
         c2v_consumer_buf = %back : i32, v2c_consumer_buf = %none : i32)
"""


def reserved(name: str, size: int, space: str) -> str:
    """The memory of the consumer of a queue."""
    place = f"location = #pto.address_space<{space}>, auto = true"
    return f'%{name} = pto.reserve_buffer {{name = "{name}", size = {size}, {place}}} -> i32'


def rows(name: str, view: str, at: str, shape: tuple[int, int], element: str) -> str:
    """A part of a view from row ``at`` on."""
    height, width = shape
    return (
        f"%{name} = pto.partition_view %{view}, offsets = [{at}, %c0], sizes = [%c{height}, %c{width}] "
        f": !pto.tensor_view<?x?x{element}> -> !pto.partition_tensor_view<{height}x{width}x{element}>"
    )


def program(
    vector: tuple[str, ...] = (LOAD, ASK, *ANSWER), cube: tuple[str, ...] = (*ASKED, *ANSWERED), trips: str = "%n"
) -> str:
    """The vector cores send rows of %a to the cube core and add up the products with %b, which come back."""
    there, back = reserved("there", 4096, "mat"), reserved("back", 8192, "vec")
    take = '%{0} = pto.import_reserved_buffer {{name = "{0}", peer_func = @{1}}} -> i32'
    numbers = "".join(f"    %c{n} = arith.constant {n} : index\n" for n in (0, 1, 2, 16, 32, 512))
    lines = ["\n".join(f"      {line}" for line in body) for body in (vector, cube)]
    return f"""module {{
  func.func @f(%a: !pto.ptr<f16, gm>, %b: !pto.ptr<f16, gm>, %y: !pto.ptr<f32, gm>, %slots: !pto.ptr<f32, gm>,
               %n: index) attributes {{pto.entry}} {{
    func.call @cube(%b, %slots, %n) : (!pto.ptr<f16, gm>, !pto.ptr<f32, gm>, index) -> ()
    func.call @vector(%a, %y, %slots, %n) : (!pto.ptr<f16, gm>, !pto.ptr<f32, gm>, !pto.ptr<f32, gm>, index) -> ()
    return
  }}
  func.func @cube(%b: !pto.ptr<f16, gm>, %slots: !pto.ptr<f32, gm>, %n: index)
      attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
{numbers}{queues("aic", "vector", f"{there}{chr(10)}    {take.format('back', 'vector')}")}
    %bv = pto.make_tensor_view %b, shape = [%c32, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf16>
    {rows("bp", "bv", "%c0", (32, 32), "f16")}
    %m = pto.alloc_tile : {MAT}
    %l = pto.alloc_tile : {LEFT}
    %r = pto.alloc_tile : {RIGHT}
    %c = pto.alloc_tile : {ACC}
    pto.tload ins(%bp : !pto.partition_tensor_view<32x32xf16>) outs(%m : {MAT})
    pto.tmov ins(%m : {MAT}) outs(%r : {RIGHT})
    scf.for %i = %c0 to {trips} step %c1 {{
{lines[1]}
    }}
    return
  }}
  func.func @vector(%a: !pto.ptr<f16, gm>, %y: !pto.ptr<f32, gm>, %slots: !pto.ptr<f32, gm>, %n: index)
      attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
{numbers}{queues("aiv", "cube", f"{back}{chr(10)}    {take.format('there', 'cube')}")}
    %zero = arith.constant 0.0 : f32
    %half = arith.constant 0.5 : f32
    %core64 = pto.get_subblock_idx
    %core = arith.index_cast %core64 : i64 to index
    %top = arith.muli %core, %c16 : index
    %av = pto.make_tensor_view %a, shape = [%c512, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf16>
    %yv = pto.make_tensor_view %y, shape = [%c32, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf32>
    %x = pto.alloc_tile : {PART}
    %sum = pto.alloc_tile : {SUM}
    pto.texpands ins(%zero : f32) outs(%sum : {SUM})
    scf.for %i = %c0 to {trips} step %c1 {{
      %first = arith.muli %i, %c32 : index
      %row = arith.addi %first, %top : index
      {rows("p", "av", "%row", (16, 32), "f16")}
{lines[0]}
    }}
    {rows("q", "yv", "%top", (16, 32), "f32")}
    pto.tstore ins(%sum : {SUM}) outs(%q : !pto.partition_tensor_view<16x32xf32>)
    return
  }}
}}
"""


def passed(text: str, target: str, *calls: str) -> tuple[str, list[str]]:
    """The program after passes, and what delay-pops says."""
    module = parse(text, "program.pto")
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0, pedantic=True))
    for call in calls:
        make_pass(call, target).run(module, engine)
    return print_module(module), [one.message for one in engine.diagnostics if one.rule == "delay-pops-unchanged"]


def arrays(count: int) -> dict[str, object]:
    """Arguments of a program with ``count`` iterations."""
    rng = np.random.default_rng(count)
    rows, other = (rng.integers(-4, 5, shape).astype(np.float16) for shape in ((512, 32), (32, 32)))
    return {"a": rows, "b": other, "y": np.zeros((32, 32), np.float32), "slots": np.zeros(8192, np.float32), "n": count}


def check(text: str, target: str) -> None:
    """The results are those of the program as it is, under all schedules, and nothing is found about the order."""
    usual = ("assign-memory", "insert-sync")
    before, after = (parse(passed(text, target, *calls, *usual)[0]) for calls in ((), ("delay-pops", "double-buffer")))
    for count in (0, 1, 4):
        given = arrays(count)
        wanted = run_on(target, before, given)
        for schedule in SCHEDULES:
            assert np.array_equal(run_on(target, after, given, schedule), wanted), (count, schedule)
        instrumented = InstrumentedKernel(after, "f", target, RunOptions(), SanitizeOptions(sync="strict"))
        instrumented.run(copies(given), 1)
        assert not [one.rule for one in instrumented.observer.findings.all if one.rule not in CONTENT]


def run_on(target: str, module: ModuleOp, given: dict[str, object], schedule: str = "text") -> np.ndarray:
    """What a run leaves in %y."""
    options = RunOptions(fill="random", accumulate="exact", schedule=Schedule.parse(schedule, strict=True))
    values = copies(given)
    Kernel(module, "f", target, options).run(values, 1)
    return values[2]


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_the_results_of_one_iteration_are_popped_in_the_next(target: str) -> None:
    text, said = passed(program(), target, "delay-pops")
    assert not said
    kinds = re.findall(r"(scf\.\w+|tpush_to_aic|tpop_from_aic|tadd|tfree_from_aic)\b", text.split("@vector(")[2])
    late = ["scf.if", "tpop_from_aic", "tadd", "tfree_from_aic"]
    assert kinds == ["scf.for", "tpush_to_aic", *late, *late]
    check(program(), target)


def test_a_loop_that_runs_for_certain_pops_after_it_without_a_condition() -> None:
    text, _ = passed(program(trips="%c2"), "a5", "delay-pops")
    assert text.count("scf.if") == 1
    check(program(trips="%c2"), "a5")


def test_what_the_pop_does_not_concern_stays_in_its_iteration() -> None:
    """%x is converted after the pop, and the next load of it follows."""
    converted = f"pto.tabs ins(%x : {PART}) outs(%x : {PART})"
    text, said = passed(program(vector=(LOAD, ASK, *ANSWER, converted)), "a5", "delay-pops")
    assert not said
    assert text.index("pto.tabs") > text.index("scf.if")
    inside = text[text.index("scf.if") :]
    assert "pto.tabs" not in inside[: inside.index("}\n")]


@pytest.mark.parametrize(
    ("vector", "cube", "reason"),
    [
        (
            (LOAD, ASK, *ANSWER),
            (*ANSWERED, *ASKED),
            "the other core may push it before it has popped the last push of this iteration",
        ),
        ((LOAD, HALVE, ASK, *ANSWER), (*ASKED, *ANSWERED), "pto.tmuls of the next iteration has to follow it"),
        (
            (LOAD, ASK, *ANSWER, f"pto.tstore ins(%sum : {SUM}) outs(%z : !pto.partition_tensor_view<16x32xf32>)"),
            (*ASKED, *ANSWERED),
            "what follows it depends on numbers of its iteration",
        ),
        (
            (LOAD, ASK, *ANSWER, f"pto.tpush_to_aic(%sum : {SUM}) {{id = 2, split = 1}}"),
            (*ASKED, *ANSWERED),
            "its queue has more than a push and a pop in the text, or is known by a handle",
        ),
    ],
)
def test_pops_that_stay(vector: tuple[str, ...], cube: tuple[str, ...], reason: str) -> None:
    text = program((rows("z", "yv", "%row", (16, 32), "f32"), *vector), cube)
    after, said = passed(text, "a5", "delay-pops")
    assert after == passed(text, "a5")[0]
    assert {*said} == {f"the pop stays before the next push: {reason}"}


def test_programs_with_flags_stay() -> None:
    ordered = passed(program(), "a5", "assign-memory", "insert-sync")[0]
    assert passed(ordered, "a5", "delay-pops")[0] == ordered


ATTENTION = (FOLDER / "flash_attention" / "flash_attention_plain.pto").read_text(encoding="utf-8")
"""The cube core pushes scores, pops weights, and pushes a product; the vector cores do the opposite."""


def test_both_kinds_of_cores_are_ahead() -> None:
    """What is late on the cube core pushes, too. The entries of queues hold one tile each."""
    text = ATTENTION.replace("slot_num = 2", "slot_num = 1")
    usual = ("assign-memory", "insert-sync")
    after, said = passed(text, "a2a3", "delay-pops", *usual)
    assert not said
    assert after.count("scf.if") == text.count("scf.if") + 4
    rng = np.random.default_rng(3)
    tensors = [rng.standard_normal((1, 128, 128)).astype(np.float16) for _ in range(3)]
    results: list[bytes] = []
    for program_text, schedule in ((passed(text, "a2a3", *usual)[0], "text"), (after, "text"), (after, "newest")):
        options = RunOptions(fill="random", accumulate="exact", schedule=Schedule.parse(schedule, strict=True))
        output = np.zeros((1, 128, 128), np.float32)
        values = [*tensors, output, np.zeros(32768, np.float32), 1, 128, 0.09, False]
        Kernel(parse(program_text), "flash_attention", "a2a3", options).run(values, 1)
        results.append(output.tobytes())
    assert len({*results}) == 1


def test_the_other_core_has_to_free_an_entry_first() -> None:
    """With one entry in each queue, the cube core would push scores that the vector cores have no entry for, which
    they free after the product that the cube core pushes later."""
    free, pop = "        pto.tfree_from_aic {id = 0, split = 1}\n", "        %part = pto.tpop_from_aic {id = 2"
    text = ATTENTION.replace(free, "").replace(
        "        pto.tadd ins(%sum, %part", f"{free}        pto.tadd ins(%sum, %part"
    )
    assert text.index(pop) < text.index(free)
    _, said = passed(text, "a2a3", "delay-pops")
    assert "the pop stays before the next push: the other core may need it to free an entry for the next push" in said
