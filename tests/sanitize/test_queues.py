"""Queues in instrumented runs, of both targets: what a pop orders, what a later one overwrites, and what needs a flag.

Source: docs/reference/execution.md, "Queues between cores".
"""

from __future__ import annotations

import numpy as np
import pytest
from lowering_programs import lowered
from pair_programs import (
    FREE,
    again,
    arguments,
    declare,
    diagnostics,
    double,
    errors_of,
    flag,
    pop,
    product,
    push,
    queue,
    store,
    text,
)
from queue_programs import CubeToVector
from sanitize_programs import found, instrumented

from pto_dialect import print_module
from pto_dialect.diagnostics.diagnostic import Severity


def pushes(arch: str, count: int, *, by_hand: bool = True) -> list[str]:
    """Cube code that pushes ``count`` products."""
    lines = [queue(arch)]
    for _ in range(count):
        lines += [*product(by_hand=by_hand), push(), *(again() if by_hand else ())]
    return lines


def reads(tile: str, out: str = "yp", number: int = 0) -> list[str]:
    """Doubles a popped tile and stores the result, with all flags but those before the next pop."""
    return [
        *flag("MTE2", "V", number), double(tile, "t"), *flag("V", "MTE3", number), store("t", out),
        *flag("MTE3", "V", number),
    ]  # fmt: skip


def turns(count: int, order: tuple[str, str] | None) -> list[str]:
    """Vector code that pops ``count`` tiles into two local slots of a2a3, one after the other."""
    lines = [*declare("v"), queue("a2a3")]
    for index in range(count):
        if index >= 2 and order is not None:
            lines += flag(*order, 1)
        lines += [pop("v"), *reads("v"), FREE]
    return lines


def matrix() -> np.ndarray:
    x = arguments()[0][:16]
    return 2 * (x @ x)


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_a_pop_after_the_readers_of_its_local_slot(count: int) -> None:
    program = text("a2a3", pushes("a2a3", count), turns(count, ("V", "MTE2")))
    assert diagnostics(program) == []
    kernel, values = instrumented(program), arguments()
    kernel.run(values, 1)
    np.testing.assert_array_equal(values[2][:16], matrix())


@pytest.mark.parametrize("count", [3, 4])
def test_a_pop_that_may_overwrite_what_v_still_reads(count: int) -> None:
    program = text("a2a3", pushes("a2a3", count), turns(count, None))
    assert errors_of(program) == {"race-war"}


@pytest.mark.parametrize("count", [1, 2])
def test_alternating_local_slots_need_no_order(count: int) -> None:
    assert diagnostics(text("a2a3", pushes("a2a3", count), turns(count, None))) == []


@pytest.mark.parametrize("order", [("MTE3", "MTE2"), ("MTE2", "V")])
def test_a_flag_of_other_pipes_does_not_order_the_pop(order: tuple[str, str]) -> None:
    lines = turns(3, order)
    wrong = errors_of(text("a2a3", pushes("a2a3", 3), lines))
    # What MTE3 has done is after what V has done for it, so that chain of flags is an order.
    assert wrong == (set() if order[0] == "MTE3" else {"race-war"})


def used_late(more: int, free: bool) -> list[str]:
    """Uses the first popped tile of a2a3 after ``more`` further pops."""
    names = [f"v{index}" for index in range(more + 1)]
    lines = [*declare(*names), queue("a2a3"), *(pop(name) for name in names)]
    lines += [FREE] * (more + 1) if free else []
    return [*lines, *reads("v0")]


@pytest.mark.parametrize("sync", ["auto", "strict"])
@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("more", [0, 1])
def test_a_popped_tile_of_a2a3_is_used_after_its_free(more: int, free: bool, sync: str) -> None:
    assert diagnostics(text("a2a3", pushes("a2a3", more + 1), used_late(more, free)), sync) == []


@pytest.mark.parametrize("sync", ["auto", "strict"])
@pytest.mark.parametrize("by_hand", [True, False])
def test_a_popped_tile_that_another_entry_has_replaced(by_hand: bool, sync: str) -> None:
    """Also where the compiler orders the pipes: the text itself reads the bytes of another entry."""
    lines = used_late(2, False)
    if not by_hand:
        lines = [line for line in lines if "_flag" not in line]
    program = text("a2a3", pushes("a2a3", 3, by_hand=by_hand), lines)
    kernel = instrumented(program, sync=sync, verify=False)
    kernel.run(arguments(), 1)
    said = [finding.diagnostic() for finding in kernel.observer.findings.all]
    (lost,) = (one for one in said if one.rule == "mem-overlap")
    assert lost.severity is Severity.ERROR and "%v0 and %v2 are in use at the same time" in lost.message
    assert lost.help is not None and "local_slot_num" in lost.help


def test_more_local_slots_keep_the_entry() -> None:
    lines = [line.replace("local_slot_num = 2", "local_slot_num = 3") for line in used_late(2, False)]
    cube = [line.replace("local_slot_num = 2", "local_slot_num = 3") for line in pushes("a2a3", 3)]
    assert diagnostics(text("a2a3", cube, lines)) == []


@pytest.mark.parametrize("arch", ["a2a3", "a5"])
@pytest.mark.parametrize("sync", ["auto", "strict"])
def test_two_live_pops(arch: str, sync: str) -> None:
    ordered = [] if arch == "a5" else list(flag("MTE2", "V"))
    lines = [
        *declare("v", "w"), queue(arch), pop("v"), pop("w"), *ordered, double("w", "t"), double("v", "u"),
        *flag("V", "MTE3"), store("t", "yp"), store("u", "zp"), *flag("MTE3", "V"), FREE, FREE,
    ]  # fmt: skip
    program = text(arch, pushes(arch, 2), lines)
    assert diagnostics(program, sync) == []


def test_a_use_after_the_free_of_a5_is_a_fault() -> None:
    lines = [*declare("v"), queue("a5"), pop("v"), FREE, double("v", "t"), *flag("V", "MTE3"), store("t", "yp")]
    assert "pipe-slot" in errors_of(text("a5", pushes("a5", 1), lines))


@pytest.mark.parametrize("arch", ["a2a3", "a5"])
def test_the_product_that_is_pushed_too_early(arch: str) -> None:
    cube = [line for line in pushes(arch, 1) if '"PIPE_M", "PIPE_FIX"' not in line]
    order = [] if arch == "a5" else list(flag("MTE2", "V"))
    lines = [*declare("v"), queue(arch), pop("v"), *order, double("v", "t"), *flag("V", "MTE3"), store("t", "yp"), FREE]
    assert errors_of(text(arch, cube, lines)) == {"l0c-handover"}
    assert errors_of(text(arch, pushes(arch, 1), lines)) == set()


def test_a_popped_tile_of_a2a3_waits_for_its_load() -> None:
    lines = [*declare("v"), queue("a2a3"), pop("v"), double("v", "t"), *flag("V", "MTE3"), store("t", "yp"), FREE]
    assert errors_of(text("a2a3", pushes("a2a3", 1), lines)) == {"race-raw"}


@pytest.mark.parametrize(("address", "wrong"), [("%at1", set[str]()), ("%at0", {"mem-overlap"})])
def test_a_tile_of_the_program_in_a_local_slot(address: str, wrong: set[str]) -> None:
    lines = [
        *declare("v"), queue("a2a3"), pop("v"), *flag("MTE2", "V"), double("v", "t"), *flag("V", "MTE3"),
        store("t", "yp"), *flag("MTE3", "V"), double("v", "u"), *flag("V", "MTE3"), store("u", "zp"),
    ]  # fmt: skip
    program = text("a2a3", pushes("a2a3", 1), lines)
    moved = program.replace("%t = pto.alloc_tile addr = %at1", f"%t = pto.alloc_tile addr = {address}")
    assert errors_of(moved) & {"mem-overlap"} == wrong


def hazards(program: str) -> list[str]:
    """What ``check-sync`` says without a run."""
    return [one.message for one in found(program) if one.severity is Severity.ERROR]


@pytest.mark.parametrize(("count", "order"), [(2, None), (3, ("V", "MTE2")), (5, ("V", "MTE2")), (3, ("MTE3", "MTE2"))])
def test_the_text_knows_alternating_local_slots(count: int, order: tuple[str, str] | None) -> None:
    assert hazards(text("a2a3", pushes("a2a3", count), turns(count, order))) == []


@pytest.mark.parametrize(("count", "order"), [(3, None), (4, None), (3, ("MTE2", "V"))])
def test_the_text_shows_a_pop_without_an_order(count: int, order: tuple[str, str] | None) -> None:
    said = hazards(text("a2a3", pushes("a2a3", count), turns(count, order)))
    assert said and all(one == "MTE2 overwrites what V reads, and nothing orders the two" for one in said)


def looped(order: bool) -> list[str]:
    """Pops in a loop, with a flag for the next round or without."""
    names = '"PIPE_V", "PIPE_MTE2", "EVENT_ID1"'
    lines = [*declare("v")]
    lines += [queue("a2a3"), f"pto.set_flag[{names}]"] if order else [queue("a2a3")]
    lines += ["scf.for %i = %c0 to %c3 step %c1 {", *([f"pto.wait_flag[{names}]"] if order else [])]
    lines += [pop("v"), *reads("v"), *([f"pto.set_flag[{names}]"] if order else []), FREE, "}"]
    return [*lines, f"pto.wait_flag[{names}]"] if order else lines


def test_pops_in_a_loop() -> None:
    for order in (True, False):
        program = text("a2a3", pushes("a2a3", 3), looped(order))
        assert errors_of(program) == (set() if order else {"race-war"})
        assert bool(hazards(program)) is not order


def test_a_numbered_pop_waits_for_its_load() -> None:
    bare = CubeToVector(arch="a2a3").text()
    barrier = "pto.barrier #pto.pipe<PIPE_MTE3>\n      pto.tstore"
    missing = bare.replace("pto.tstore", barrier)
    ordered = missing.replace("pto.tstore", "\n      ".join((*flag("MTE2", "MTE3"), "pto.tstore")))
    assert hazards(missing) == ["MTE3 reads what MTE2 writes, and nothing orders the two"]
    assert "MTE3 reads what MTE2 writes, and nothing orders the two" not in hazards(ordered)


KINDS = {
    "a loop": (
        3,
        [*declare("v"), "scf.for %i = %c0 to %c3 step %c1 {", pop("v"), double("v", "t"), store("t", "yp"), "}"],
    ),
    "a first pop before the loop": (
        4,
        [*declare("v", "w"), pop("v"), double("v", "t"), store("t", "yp"), "scf.for %i = %c0 to %c3 step %c1 {",
         pop("w"), double("w", "u"), store("u", "zp"), "}"],
    ),
    "three in a row": (
        3,
        [*declare("v", "w", "s"), pop("v"), double("v", "t"), store("t", "yp"), pop("w"), double("w", "u"),
         store("u", "zp"), pop("s"), double("s", "t"), store("t", "yp")],
    ),
    "one that is used behind a loop": (
        2,
        [*declare("v", "w"), pop("v"), "scf.for %i = %c0 to %c1 step %c1 {", pop("w"), double("w", "u"),
         store("u", "zp"), "}", double("v", "t"), store("t", "yp")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_insert_sync_orders_pops_after_the_readers_of_their_slot(name: str) -> None:
    count, lines = KINDS[name]
    program = text("a2a3", pushes("a2a3", count, by_hand=False), [queue("a2a3"), *lines])
    written = print_module(lowered(program, "insert-sync")[0])
    assert diagnostics(written, "strict") == [] and hazards(written) == []
    if count > 2:
        lost = "\n".join(line for line in written.splitlines() if "<PIPE_V>, <PIPE_MTE2>" not in line)
        assert "race-war" in errors_of(lost, "strict")
