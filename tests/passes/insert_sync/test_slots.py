"""Multi-buffers whose slots go round with a number for each.

Source: docs/reference/synchronisation.md, "Multi-buffers".
"""

import numpy as np
import pytest
from lowering_programs import SCHEDULES, TILE, add, disorder, kernel, load, lowered, part, results, store
from random_slot_programs import SlotProgram
from sampling import sampled

from pto_dialect import parse, print_module
from pto_dialect.api import check as verified
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.passes.registry import make_pass

ROWS = ("%r = arith.muli %i, %c16 : index", part("p", "a", "r"), part("q", "b", "r"))


def multi(count: int) -> str:
    return f"!pto.multi_tile_buf<vec, 16x16xf32, count={count}>"


def slot(name: str, buffer: str, index: str, count: int = 2) -> str:
    return f"%{name} = pto.multi_tile_get %{buffer}[%{index}] : {multi(count)} -> {TILE}"


def rotating(*body: str, count: int = 2, trips: str = "%n", target: str = "a5", more: tuple[str, ...] = ()) -> str:
    """A loop with a multi-buffer; %s is the slot of the iteration, %t that of the next one."""
    return kernel(
        "%at3 = arith.constant 4096 : i64",
        f"%m = pto.alloc_multi_tile addr = %at3 : {multi(count)}",
        f"%slots = arith.constant {count} : index",
        *more,
        f"scf.for %i = %c0 to {trips} step %c1 {{",
        "%s = arith.remui %i, %slots : index",
        "%j = arith.addi %i, %c1 : index",
        "%t = arith.remui %j, %slots : index",
        *ROWS,
        *body,
        "}",
        target=target,
    )


def chain(count: int = 2) -> tuple[str, ...]:
    """A load, a sum and a store in the slot of the iteration."""
    return slot("u", "m", "s", count), load("p", "u"), add("u", "u", "u"), store("u", "q")


CHAIN = chain()


def flags(text: str) -> list[str]:
    """The flags of a lowered program."""
    module, said = lowered(text)
    assert not said
    return [line.strip() for line in print_module(module).splitlines() if "_flag" in line]


def check(text: str, counts: tuple[int, ...] = (0, 1, 2, 3, 4, 5)) -> None:
    """Right for even and odd numbers of iterations and none, whatever runs first."""
    module, said = lowered(text)
    assert not said
    for count in counts:
        arrays = [np.arange(4096, dtype=np.float32), np.zeros(4096, np.float32), count]
        expected = results(parse(text), arrays)
        assert disorder(module, arrays) == []
        for schedule in SCHEDULES:
            assert results(module, arrays, schedule) == expected, (count, schedule)


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_each_slot_has_a_token(target: str):
    """The load waits for the store of the last iteration that had the slot, not of the one before."""
    text = rotating(*CHAIN, target=target)
    assert flags(text) == [
        "pto.set_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID0>]",
        "pto.set_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID1>]",
        "pto.wait_flag_dyn[<PIPE_MTE3>, <PIPE_MTE2>, %s]",
        "pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %s]",
        "pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %s]",
        "pto.set_flag_dyn[<PIPE_V>, <PIPE_MTE3>, %s]",
        "pto.wait_flag_dyn[<PIPE_V>, <PIPE_MTE3>, %s]",
        "pto.set_flag_dyn[<PIPE_MTE3>, <PIPE_MTE2>, %s]",
        "pto.wait_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID0>]",
        "pto.wait_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID1>]",
    ]
    check(text)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_as_many_numbers_as_slots(count: int):
    text = rotating(*chain(count), count=count)
    assert sum(line.startswith("pto.set_flag[") for line in flags(text)) == count
    check(text)


def test_more_slots_than_numbers_are_handed_on_together():
    """Sixteen slots and eight numbers: each iteration waits for the one before."""
    text = rotating(*chain(16), count=16)
    assert not any("dyn" in line for line in flags(text))
    check(text, (0, 1, 4))


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_a_producer_in_another_slot_than_its_consumer(target: str):
    """The next slot is loaded while this one is stored: one of two slots ahead leaves no room for more than that."""
    text = rotating(
        *(slot("u", "m", "t"), load("p", "u"), slot("w", "m", "s"), add("w", "w", "x"), store("x", "q")),
        target=target,
        more=(part("first", "a", "c0"), slot("v", "m", "c0"), load("first", "v")),
    )
    check(text)


def ahead(
    count: int, turns: int, *, first: int = 0, step: int = 1, factor: int = 1, loads_last: bool = False,
    target: str = "a5",
) -> str:  # fmt: skip
    """A loop that loads a slot so many iterations before it is used, if there are as many left."""
    numbers = {"cnt": count, "dist": turns * step, "lb": first, "st": step, "fac": factor}
    head = [f"%{name} = arith.constant {number} : index" for name, number in numbers.items()]
    head += ["%at3 = arith.constant 4096 : i64", f"%m = pto.alloc_multi_tile addr = %at3 : {multi(count)}"]
    head += [part("start", "a", "c0")]
    for place in range(count):
        head += [f"%n{place} = arith.constant {place} : index", slot(f"v{place}", "m", f"n{place}", count)]
        head += [load("start", f"v{place}")]
    indices = (
        *("%fi = arith.muli %i, %fac : index", "%s = arith.remui %fi, %cnt : index"),
        *("%j = arith.addi %i, %dist : index", "%fj = arith.muli %j, %fac : index"),
        *("%t = arith.remui %fj, %cnt : index", "%more = arith.cmpi slt, %j, %n : index"),
        *("%fr = arith.muli %j, %c16 : index", part("far", "a", "fr"), slot("w", "m", "t", count)),
    )
    loads = ("scf.if %more {", load("far", "w"), "}")
    uses = (slot("u", "m", "s", count), add("u", "u", "u"), store("u", "q"))
    body = (*uses, *loads) if loads_last else (*loads, *uses)
    return kernel(*head, "scf.for %i = %lb to %n step %st {", *ROWS, *indices, *body, "}", target=target)


def set_before_and_waited_behind(found: list[str], source: str, target: str) -> tuple[int, int]:
    """How often a flag that is set and waited for once in each iteration is set before the loop, and waited for after
    it."""
    ends = f"[<PIPE_{source}>, <PIPE_{target}>, "
    sets = sum(line.startswith(("pto.set_flag" + ends, "pto.set_flag_dyn" + ends)) for line in found)
    waits = sum(line.startswith(("pto.wait_flag" + ends, "pto.wait_flag_dyn" + ends)) for line in found)
    assert any(line.startswith("pto.set_flag_dyn" + ends) for line in found)
    return sets - 1, waits - 1


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@pytest.mark.parametrize(("count", "turns"), [(3, 2), (4, 2), (4, 3)])
def test_what_is_loaded_ahead_has_a_token_for_each_iteration_ahead(count: int, turns: int, target: str):
    """The load of an iteration is waited for by the one that uses it, not by the next one."""
    text = ahead(count, turns, target=target)
    found = flags(text)
    assert set_before_and_waited_behind(found, "MTE2", "V") == (turns, turns)
    # What V hands to MTE3 goes round as well: V may be iterations ahead.
    assert any("set_flag_dyn[<PIPE_V>, <PIPE_MTE3>" in line for line in found)
    check(text, (0, 1, 2, 3, 4, 5, 7, 8))


@pytest.mark.parametrize(
    ("first", "step", "factor", "loads_last"),
    [(1, 1, 1, False), (0, 2, 1, False), (2, 2, 1, True), (0, 1, 2, False), (0, 1, 1, True), (3, 4, 1, False)],
)
def test_counters_that_start_and_step_anyhow(first: int, step: int, factor: int, loads_last: bool):
    """Also with none, one, fewer and more iterations than lie ahead."""
    text = ahead(3, 2, first=first, step=step, factor=factor, loads_last=loads_last)
    assert set_before_and_waited_behind(flags(text), "MTE2", "V") == (2, 2)
    check(text, (0, 1, 2, 3, 4, 5, 6, 7, 9))


def test_counters_that_are_integers():
    """Numbers of flags are indices, whatever the type of the counter is."""
    text = ahead(3, 2, first=1, step=2).replace(
        "scf.for %i = %lb to %n step %st {",
        "".join(f"%{name}32 = arith.index_cast %{name} : index to i32\n" for name in ("lb", "st", "n"))
        + "scf.for %i32 = %lb32 to %n32 step %st32 : i32 {\n%i = arith.index_cast %i32 : i32 to index",
    )
    assert set_before_and_waited_behind(flags(text), "MTE2", "V") == (2, 2)
    assert not verified(print_module(lowered(text)[0])).diagnostics
    check(text, (0, 1, 2, 3, 5, 9))


def test_known_trips_are_waited_for_by_number():
    text = ahead(3, 2).replace("%lb to %n step", "%lb to %c4 step")
    found = flags(text)
    tail = found[max(at for at, line in enumerate(found) if "_dyn" in line) + 1 :]
    # Four iterations: the numbers 4 and 5 modulo 3 are left.
    ends = "pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID"
    assert [line[len(ends)] for line in tail if line.startswith(ends)] == ["1", "2"]
    check(text, (0, 3, 4))


def test_a_slot_that_skips_numbers_is_waited_for_in_the_next_iteration():
    """Every second slot of four: an index repeats after two iterations, and nothing goes round."""
    text = ahead(4, 1, factor=2)
    check(text, (0, 1, 2, 3, 5, 8))


@pytest.mark.parametrize(("count", "turns"), [(5, 3), (5, 4), (8, 2), (9, 3)])
def test_loads_ahead_where_numbers_run_out(count: int, turns: int):
    text = ahead(count, turns)
    assert count < 9 or not any("dyn" in line for line in flags(text))
    check(text, (0, 1, 4, 9))


@pytest.mark.parametrize("index", ["c1", "n"])
def test_a_slot_that_does_not_change_is_one_tile(index: str):
    text = rotating(slot("u", "m", index), load("p", "u"), add("u", "u", "x"), store("x", "q"))
    assert not any("dyn" in line for line in flags(text))
    check(text, (0, 1))


def test_a_slot_that_is_chosen_anyhow():
    """The index stays for two iterations, then continues: tokens are as many as before."""
    again = ("%h = arith.divui %i, %c2 : index", "%o = arith.remui %h, %slots : index")
    text = rotating(*again, slot("u", "m", "o"), load("p", "u"), add("u", "u", "u"), store("u", "q"))
    assert sum("dyn" in line for line in flags(text)) == 6
    check(text, (0, 1, 3, 4, 7))


def test_a_tile_beside_the_slots_keeps_its_own_flag():
    """The sum goes through one tile, so the next sum waits for this store; the loads go ahead."""
    text = rotating(slot("u", "m", "s"), load("p", "u"), add("u", "u", "x"), store("x", "q"))
    found = flags(text)
    assert "pto.wait_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %s]" in found
    assert "pto.wait_flag[<PIPE_MTE3>, <PIPE_V>, <EVENT_ID0>]" in found
    check(text)


def test_slots_in_loops_in_loops():
    text = rotating("scf.for %k = %c0 to %n step %c1 {", *CHAIN, "}", more=())
    check(text, (0, 1, 2, 3))


def test_numbers_that_are_taken_lead_to_sums():
    """Two multi-buffers between the same pipes: the second has the numbers after those of the first."""
    more = ("%at4 = arith.constant 8192 : i64", f"%o = pto.alloc_multi_tile addr = %at4 : {multi(2)}")
    other = (slot("w", "o", "s"), load("p", "w"), add("w", "w", "w"), store("w", "q"))
    text = rotating(*CHAIN, *other, more=more)
    found = flags(text)
    assert "pto.wait_flag_dyn[<PIPE_MTE3>, <PIPE_MTE2>, %event]" in found
    check(text)


def test_only_pairs_of_pipes_with_too_few_numbers_give_up_their_slots():
    """Ten slots that are loaded and summed have no numbers of their own; five that are stored keep theirs."""
    more: list[str] = []
    for name, at in (("o", 16384), ("l", 32768), ("e", 49152)):
        more += [f"%at_{name} = arith.constant {at} : i64"]
        more += [f"%{name} = pto.alloc_multi_tile addr = %at_{name} : {multi(5)}"]
    body = [slot("u", "o", "s", 5), load("p", "u"), add("u", "u", "x"), slot("w", "l", "s", 5), load("p", "w"),
            add("w", "x", "y"), slot("v", "e", "s", 5), add("y", "y", "v"), store("v", "q")]  # fmt: skip
    text = rotating(*body, count=5, more=tuple(more))
    dynamic = [line for line in flags(text) if "dyn" in line]
    assert any("wait_flag_dyn[<PIPE_MTE3>, <PIPE_V>" in line for line in dynamic)
    assert not any("<PIPE_MTE2>" in line for line in dynamic)
    check(text, (0, 1, 2, 6, 7))


def test_slots_by_two_indices_have_tokens_of_their_own():
    """One buffer continues with each iteration, the other with every second one: neither waits for the other's."""
    more = ("%at4 = arith.constant 8192 : i64", f"%o = pto.alloc_multi_tile addr = %at4 : {multi(2)}")
    half = ("%h = arith.divui %i, %c2 : index", "%g = arith.remui %h, %slots : index")
    body = (*half, slot("u", "m", "s"), slot("w", "o", "g"), load("p", "u"), add("u", "u", "w"), store("w", "q"))
    text = rotating(*body, more=more)
    found = flags(text)
    assert "pto.wait_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %s]" in found
    assert "pto.wait_flag_dyn[<PIPE_MTE3>, <PIPE_V>, %g]" in found
    check(text, (0, 1, 2, 3, 5, 8))


def test_alternating_results_of_an_outer_loop_have_a_token_for_each():
    """A sum over two iterations in one slot, its store in the second: the next sum continues in the other slot."""
    half = ("%h = arith.divui %i, %c2 : index", "%g = arith.remui %h, %slots : index")
    ends = ("%e = arith.remui %i, %c2 : index", "%first = arith.cmpi eq, %e, %c0 : index",
            "%last = arith.cmpi eq, %e, %c1 : index")  # fmt: skip
    more = ("%at4 = arith.constant 8192 : i64", f"%o = pto.alloc_multi_tile addr = %at4 : {multi(2)}")
    sums = ("scf.if %first {", add("u", "u", "w"), "} else {", add("u", "w", "w"), "}")
    body = (*half, *ends, slot("u", "m", "s"), slot("w", "o", "g"), load("p", "u"), *sums)
    body = (*body, "scf.if %last {", store("w", "q"), "}")
    text = rotating(*body, more=more)
    found = flags(text)
    assert "pto.wait_flag_dyn[<PIPE_MTE3>, <PIPE_V>, %g]" in found
    assert "pto.set_flag_dyn[<PIPE_MTE3>, <PIPE_V>, %g]" in found
    check(text, (0, 1, 2, 3, 4, 5, 8))


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_copies_of_an_unrolled_loop_have_a_tile_each(target: str):
    """Counters 0, 2, 4: the slot of the counter is the first one, that of the counter and 1 the second."""
    next_row = ("%r2 = arith.muli %j, %c16 : index", part("p2", "a", "r2"), part("q2", "b", "r2"))
    body = (slot("u", "m", "s"), load("p", "u"), add("u", "u", "u"), store("u", "q"), *next_row,
            slot("v", "m", "t"), load("p2", "v"), add("v", "v", "v"), store("v", "q2"))  # fmt: skip
    text = rotating(*body, target=target).replace("%n step %c1", "%n step %c2")
    found = flags(text)
    assert not any("dyn" in line for line in found)
    # Each tile has an event of its own for the way back.
    back = {line for line in found if "wait_flag[<PIPE_MTE3>, <PIPE_MTE2>" in line}
    assert len(back) == 2
    check(text, (0, 2, 4, 6))


@pytest.mark.parametrize("style", ["buf", "events"])
def test_other_styles_order_what_is_loaded_ahead(style: str):
    """Buffer ids and events of operations: right, whether their numbers go round or not."""
    text = ahead(3, 2)
    module, engine = parse(text), DiagnosticEngine(DiagnosticOptions(max_errors=0))
    make_pass(f"insert-sync{{style={style}}}", None).run(module, engine)
    assert not engine.diagnostics
    for count in (0, 1, 2, 3, 5):
        arrays = [np.arange(4096, dtype=np.float32), np.zeros(4096, np.float32), count]
        assert disorder(module, arrays) == []
        expected = results(parse(text), arrays)
        assert [results(module, arrays, schedule) for schedule in SCHEDULES] == [expected] * len(SCHEDULES)


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@pytest.mark.parametrize("seed", sampled(range(8), 2))
def test_random_loops_over_slots(seed: int, target: str):
    check(SlotProgram(seed, target).text, (0, 1, 2, 3, 7))


def test_the_random_loops_hand_on_slots():
    """The test above looks at loops in which slots have tokens."""
    assert sum(any("dyn" in line for line in flags(SlotProgram(seed, "a5").text)) for seed in range(8)) >= 2


def remarks(text: str) -> list[str]:
    engine = DiagnosticEngine(DiagnosticOptions(pedantic=True, max_errors=0))
    make_pass("insert-sync", None).run(parse(text), engine)
    assert all(one.rule == "insert-sync-shared-flag" and one.notes for one in engine.diagnostics)
    return [one.message for one in engine.diagnostics]


@pytest.mark.parametrize("count", [2, 3, 8])
def test_slots_with_flags_of_their_own_need_no_remark(count: int) -> None:
    assert remarks(rotating(*chain(count), count=count)) == []


def test_more_slots_than_ids() -> None:
    assert remarks(rotating(*chain(16), count=16)) == [
        "EVENT_ID0 from PIPE_MTE3 to PIPE_MTE2 serves several slots: "
        "there are more slots than the 8 event ids of two pipes"
    ]


def test_ids_that_other_slots_have_taken() -> None:
    more = [line for number in range(3) for line in (
        f"%at_{number} = arith.constant {16384 * (number + 1)} : i64",
        f"%m{number} = pto.alloc_multi_tile addr = %at_{number} : {multi(5)}",
    )]  # fmt: skip
    body = [line for number in range(3) for line in (
        slot(f"u{number}", f"m{number}", "s", 5), load("p", f"u{number}"), add(f"u{number}", f"u{number}", "x"),
    )]  # fmt: skip
    found = remarks(rotating(*body, store("x", "q"), count=5, more=tuple(more)))
    assert found
    assert all("from PIPE_V to PIPE_MTE2" in one or "from PIPE_MTE2 to PIPE_V" in one for one in found)
    assert all("more event ids are needed than the 8 of two pipes" in one for one in found)


def test_a_tile_that_all_iterations_use_needs_no_remark() -> None:
    """Each iteration has to wait for the one before."""
    assert remarks(rotating(slot("u", "m", "s"), load("p", "u"), add("u", "u", "x"), store("x", "q"))) == []


def test_an_index_that_the_iterations_of_two_loops_decide() -> None:
    both = ("%ik = arith.addi %i, %k : index", "%o = arith.remui %ik, %slots : index")
    inner = (*both, slot("u", "m", "o"), load("p", "u"), add("u", "u", "u"), store("u", "q"))
    assert remarks(rotating("scf.for %k = %c0 to %n step %c1 {", *inner, "}")) == []
    assert remarks(rotating("scf.for %k = %c0 to %n step %c1 {", *CHAIN, "}")) == []


def test_dependences_without_ids_of_their_own() -> None:
    """Ten loads, and sums with each tile that take as long as its load: the first sum need not wait for the last
    load."""
    tiles = [f"%at_{n} = arith.constant {8192 + 1024 * n} : i64" for n in range(10)]
    tiles += [f"%t{n} = pto.alloc_tile addr = %at_{n} : {TILE}" for n in range(10)]
    loads = [load("p", f"t{n}") for n in range(10)]
    sums = [add(f"t{n}", f"t{n}", f"t{n}") for n in range(10) for _ in range(5)]
    text = rotating(*tiles, *loads, *sums, store("t0", "q"))
    found = remarks(text)
    assert found
    assert all("serves several dependences: more event ids are needed" in one for one in found)
