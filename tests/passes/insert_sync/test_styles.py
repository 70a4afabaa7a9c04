"""Order by buffer ids and by events of operations in place of flags.

Source: docs/reference/synchronisation.md, "Buffer ids", "Events of operations".
"""

import numpy as np
import pytest
from lowering_programs import SCHEDULES, TILE, add, disorder, kernel, load, part, results, store
from random_tile_programs import RandomProgram, arguments
from xdsl.dialects.builtin import ModuleOp

from pto_dialect import parse, print_module
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.ir.core.base import Pipe
from pto_dialect.passes.accesses.items import NUMBER, Flag, Leaf, Sequence
from pto_dialect.passes.insert_sync.insert import sequences
from pto_dialect.passes.insert_sync.locks import NUMBERS, assign_lock_ids
from pto_dialect.passes.registry import make_pass

HEAD = (part("p", "a", "c0"), part("q", "b", "c0"))
LOOP = "scf.for %i = %c0 to %n step %c1 {"
ROWS = ("%r = arith.muli %i, %c16 : index", part("p", "a", "r"), part("q", "b", "r"))


def lowered(text: str, style: str) -> ModuleOp:
    module, engine = parse(text, "program.pto"), DiagnosticEngine(DiagnosticOptions(max_errors=0))
    make_pass(f"insert-sync{{style={style}}}", None).run(module, engine)
    assert not engine.diagnostics
    again = print_module(module)
    assert print_module(parse(again)) == again
    return module


def judged(module: ModuleOp) -> list[str]:
    """What check-sync says, beside what waits for more than it needs."""
    engine = DiagnosticEngine(DiagnosticOptions(pedantic=True, max_errors=0))
    make_pass("check-sync{judge=true}", None).run(parse(print_module(module)), engine)
    return [one.rule for one in engine.diagnostics if one.rule != "sync-serialising"]


_SHOWN = ("pto.get_buf", "pto.rls_buf", "pto.set", "pto.wait", "pto.record", "pto.barrier", "pto.t", "scf.for")


def signals(module: ModuleOp) -> list[str]:
    """The loops, the work and what orders it, without operands."""
    lines = (line.strip() for line in print_module(module).splitlines())
    return [line.split(" ins")[0].split(" %")[0] for line in lines if line.startswith(_SHOWN)]


def test_work_that_hands_on_is_in_brackets():
    found = signals(lowered(kernel(*HEAD, load("p", "x"), add("x", "x", "y"), store("y", "q")), "buf"))
    assert found == [
        'pto.get_buf "PIPE_MTE2", 0, 0',
        "pto.tload",
        'pto.rls_buf "PIPE_MTE2", 0, 0',
        'pto.get_buf "PIPE_V", 0, 0',
        'pto.get_buf "PIPE_V", 1, 0',
        "pto.tadd",
        'pto.rls_buf "PIPE_V", 1, 0',
        'pto.rls_buf "PIPE_V", 0, 0',
        'pto.get_buf "PIPE_MTE3", 1, 0',
        "pto.tstore",
        'pto.rls_buf "PIPE_MTE3", 1, 0',
    ]


def test_loops_need_nothing_before_and_after_them():
    """The first bracket of a number finds nobody to wait for; the way back from V to MTE2 is in the same number."""
    found = signals(lowered(kernel(LOOP, *ROWS, load("p", "x"), add("x", "x", "y"), store("y", "q"), "}"), "buf"))
    assert found[0] == "scf.for"
    assert found[-1] == 'pto.rls_buf "PIPE_MTE3", 3, 0'
    assert len([one for one in found if "get_buf" in one]) == 4


@pytest.mark.parametrize("seed", range(3))
def test_random_programs_compute_the_same_with_buffer_ids(seed: int):
    program = RandomProgram(seed, "a5")
    module = lowered(program.text, "buf")
    assert judged(module) == []
    assert "set_flag[<PIPE_V>, <PIPE_MTE" not in print_module(module)
    for count in (0, 3):
        expected = results(parse(program.text), arguments(program, count))
        assert disorder(module, arguments(program, count)) == []
        for schedule in SCHEDULES:
            assert results(module, arguments(program, count), schedule) == expected


@pytest.mark.parametrize("seed", [4])
def test_random_programs_compute_the_same_with_events(seed: int):
    program = RandomProgram(seed, "a2a3")
    module = lowered(program.text, "events")
    flags = lowered(program.text, "flags")
    assert judged(module) == judged(flags) == []
    text, flagged = print_module(module), print_module(flags)
    assert text.count("record_event") + text.count("set_flag") == flagged.count("set_flag")
    assert "record_event" in text
    for count in (0, 3):
        assert disorder(module, arguments(program, count)) == []
        assert results(module, arguments(program, count), "newest") == results(flags, arguments(program, count))


def test_events_speak_of_classes_of_operations():
    found = signals(lowered(kernel(*HEAD, load("p", "x"), add("x", "x", "y")), "events"))
    classes = "[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TVEC>, <EVENT_ID0>]"
    assert found == ["pto.tload", f"pto.record_event{classes}", f"pto.wait_event{classes}", "pto.tadd"]


def test_slots_have_numbers_of_their_own():
    multi = "!pto.multi_tile_buf<vec, 16x16xf32, count=2>"
    lines = (
        "%at3 = arith.constant 4096 : i64",
        f"%m = pto.alloc_multi_tile addr = %at3 : {multi}",
        LOOP,
        "%s = arith.remui %i, %c2 : index",
        *ROWS,
        f"%u = pto.multi_tile_get %m[%s] : {multi} -> {TILE}",
        load("p", "u"),
        add("u", "u", "u"),
        store("u", "q"),
        "}",
    )
    text = kernel(*lines)
    module = lowered(text, "buf")
    assert print_module(module).count("get_buf_dyn") >= 4
    for count in range(5):
        given = [np.arange(96 * 16, dtype=np.float32), np.zeros(96 * 16, np.float32), count]
        assert disorder(module, given) == []
        expected = results(parse(text), given)
        assert all(results(module, given, schedule) == expected for schedule in SCHEDULES)


def test_numbers_are_shared_by_flags_not_in_flight_together():
    (sequence,) = sequences(next(iter(parse(kernel(*HEAD, load("p", "x"), add("x", "x", "y"))).ops)), None)
    leaf = next(item for item in sequence.items if isinstance(item, Leaf))
    many = Sequence(sequence.block, 0, [leaf] * 200)
    source, target = NUMBER[Pipe.MTE2], NUMBER[Pipe.V]
    for place in range(40):
        many.add(Flag(source, target, place, place + 50, many))
    many.add(Flag(source, target, 150, 151, many))
    assign_lock_ids(many, {0})
    numbers = [flag.event for flag in many.flags]
    assert numbers[:31] == list(range(1, NUMBERS))
    assert numbers[-1] == 1
    assert set(numbers) == set(range(1, NUMBERS))


def test_a2a3_has_no_buffer_ids():
    module, engine = parse(kernel(*HEAD, load("p", "x"), target="a2a3"), "program.pto"), DiagnosticEngine()
    before = print_module(module)
    make_pass("insert-sync{style=buf}", None).run(module, engine)
    (said,) = engine.diagnostics
    assert (said.rule, said.span is not None) == ("insert-sync-unsupported", True)
    assert said.message == "insert-sync cannot order this: a2a3 has no buffer ids, only a5 does"
    assert print_module(module) == before


@pytest.mark.parametrize("style", ["buf", "events"])
def test_each_kind_of_core_has_an_order_of_its_own(style: str):
    mat = "!pto.tile_buf<mat, 16x16xf32, blayout=col_major, slayout=row_major>"
    left = mat.replace("mat", "left", 1)
    cube = [f"%m = pto.alloc_tile addr = %at0 : {mat}", f"%l = pto.alloc_tile addr = %at0 : {left}",
            "pto.section.cube {", f"pto.tload ins(%p : !pto.partition_tensor_view<16x16xf32>) outs(%m : {mat})",
            f"pto.tmov ins(%m : {mat}) outs(%l : {left})", "}"]  # fmt: skip
    vector = ["pto.section.vector {", load("p", "x"), add("x", "x", "y"), "}"]
    module = lowered(kernel(*HEAD, *cube, *vector), style)
    assert judged(module) == []
    found = signals(module)
    assert [line for line in found if line.startswith("pto.t")] == ["pto.tload", "pto.tmov", "pto.tload", "pto.tadd"]
    if style == "buf":
        pipes = [line.split('"')[1] for line in found if "get_buf" in line]
        assert pipes == ["PIPE_MTE2", "PIPE_MTE1", "PIPE_MTE2", "PIPE_V"]
