"""More slots than two pipes have event ids: flags of neighbouring transfers become one, and the slots stay apart.

Source: docs/reference/synchronisation.md, "Event ids".
"""

from __future__ import annotations

import re
from random import Random

import numpy as np
import pytest
from lowering_programs import SCHEDULES, add, disorder, kernel, load, part, results, store

from pto_dialect import parse, print_module
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.passes.insert_sync.rings import EVENTS
from pto_dialect.passes.registry import make_pass

TILE = "!pto.tile_buf<vec, 16x16xf32>"


def loop(tiles: int, *body: str, target: str = "a5") -> str:
    """A loop with ``tiles`` tiles %t0, ... and with %u."""
    allocated = [f"%{name} = pto.alloc_tile : {TILE}" for name in (*(f"t{n}" for n in range(tiles)), "u")]
    rows = ("%r = arith.muli %i, %c16 : index", part("p", "a", "r"), part("q", "b", "r"))
    return kernel(*allocated, "scf.for %i = %c0 to %n step %c1 {", *rows, *body, "}", target=target)


def product(tiles: int) -> tuple[str, ...]:
    """Loads all tiles, adds them up twice, and stores the sum."""
    sums = [add("u", f"t{number}", "u") for number in (*range(tiles), *range(tiles))]
    return (*(load("p", f"t{number}") for number in range(tiles)), add("t0", "t1", "u"), *sums, store("u", "q"))


def ordered(text: str, slots: int) -> tuple[str, list[str]]:
    """The program with slots and flags, and what insert-sync remarks."""
    module = parse(text, "program.pto")
    engine = DiagnosticEngine(DiagnosticOptions(pedantic=True, max_errors=0))
    for call in (f"double-buffer{{count={slots}}}", "assign-memory", "insert-sync"):
        make_pass(call, None).run(module, engine)
    said = [one.message for one in engine.diagnostics if one.rule == "insert-sync-shared-flag"]
    return print_module(module), said


def check(text: str, slots: int) -> None:
    """The results are those without slots, under all schedules, and nothing is found about the order."""
    plain = parse(text)
    for call in ("assign-memory", "insert-sync"):
        make_pass(call, None).run(plain, DiagnosticEngine(DiagnosticOptions()))
    module = parse(ordered(text, slots)[0])
    for count in (0, 1, 2, 5):
        arrays = [np.arange(4096, dtype=np.float32), np.zeros(4096, np.float32), count]
        wanted = results(plain, arrays)
        assert [results(module, arrays, schedule) for schedule in SCHEDULES] == [wanted] * len(SCHEDULES)
        assert disorder(module, arrays) == []


@pytest.mark.parametrize(("tiles", "slots"), [(6, 2), (4, 3)])
def test_flags_of_neighbours_become_one(tiles: int, slots: int) -> None:
    """All flags between loads and sums still have a number for each slot, and no more numbers than there are."""
    text = loop(tiles, *product(tiles))
    after, said = ordered(text, slots)
    body = after.split("scf.for")[1].split("\n    }")[0]
    between = re.findall(r"pto\.(set|wait)_flag(_dyn)?\[<PIPE_(?:MTE2|V)>, <PIPE_(?:MTE2|V)>", body)
    assert all(dynamic for _, dynamic in between)
    assert 4 <= len(between) <= 4 * (EVENTS // slots)
    assert said
    for one in said:
        assert re.match(r"each of EVENT_ID\d to EVENT_ID\d from PIPE_\w+ to PIPE_\w+ serves several dependences", one)
    check(text, slots)


def test_what_a_merged_flag_costs() -> None:
    engine = DiagnosticEngine(DiagnosticOptions(pedantic=True, max_errors=0))
    module = parse(loop(6, *product(6)), "program.pto")
    for call in ("double-buffer", "assign-memory", "insert-sync"):
        make_pass(call, None).run(module, engine)
    notes = {note.message for one in engine.diagnostics for note in one.notes}
    assert (
        "PIPE_MTE2 waits here for all that PIPE_V has done for them in the last iteration with the same slot" in notes
    )


def shuffled(seed: int) -> str:
    """Loads of 9 tiles, then sums with each of them, and some loads and stores, almost in order."""
    random = Random(seed)
    tiles = [f"t{number}" for number in range(9)]
    later = [add("t0", one, "u") for one in tiles] + [add(random.choice(tiles), "t1", random.choice(tiles))]
    later[5:5] = [load("p", random.choice(tiles)), store(random.choice(tiles), "q"), store("u", "q")]
    # Almost in the order of the loads, so that most tiles have a flag of their own.
    places = {one: number + random.uniform(0, 3) for number, one in enumerate(later)}
    later.sort(key=places.__getitem__)
    body = (*(load("p", one) for one in tiles), add("t0", "t1", "u"), *later)
    return loop(9, *body, target=random.choice(("a2a3", "a5")))


@pytest.mark.parametrize("seed", [2, 13])
def test_random_loops(seed: int) -> None:
    assert any("each of EVENT_ID" in one for one in ordered(shuffled(seed), 2)[1])
    check(shuffled(seed), 2)
