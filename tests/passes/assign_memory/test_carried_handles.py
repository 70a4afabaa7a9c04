"""Handles that may mean several tiles: swapped, chosen, yielded. Source: docs/reference/memory-planning.md, "Alias
facts"."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from lowering_programs import PART, SCHEDULES, TILE, disorder, lowered, results
from sampling import sampled

from pto_dialect import parse, print_module

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "benchmarks"))

from carried_handles import CHIPS, judge
from carried_programs import CarriedProgram

_TYPES = f"{TILE}, {TILE}"
_HEAD = f"""module attributes {{pto.target_arch = "{{target}}"}} {{
func.func @f(%in: !pto.ptr<f32>, %out: !pto.ptr<f32>, %n: index) attributes {{pto.entry}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c96 = arith.constant 96 : index
  %vin = pto.make_tensor_view %in, shape = [%c96, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
  %vout = pto.make_tensor_view %out, shape = [%c96, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
  %a = pto.alloc_tile : {TILE}
  %b = pto.alloc_tile : {TILE}
  %c = pto.alloc_tile : {TILE}
"""
_SIZES = "sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32>"
_ROWS = f"""  %j = arith.addi %i, %c1 : index
  %row = arith.muli %j, %c16 : index
  %here = arith.muli %i, %c16 : index
  %p = pto.partition_view %vin, offsets = [%row, %c0], {_SIZES} -> {PART}
  %q = pto.partition_view %vout, offsets = [%here, %c0], {_SIZES} -> {PART}
"""
_FIRST = f"""  %p0 = pto.partition_view %vin, offsets = [%c0, %c0], {_SIZES} -> {PART}
  pto.tload ins(%p0 : {PART}) outs(%a : {TILE})
"""


def fresh(source: str) -> str:
    """Twice the source in a tile of its own, which is stored: in place if nothing needs the source any more."""
    return (
        f"  %y = pto.alloc_tile : {TILE}\n  pto.tadd ins({source}, {source} : {_TYPES}) outs(%y : {TILE})\n"
        f"  pto.tstore ins(%y : {TILE}) outs(%q : {PART})\n"
    )


def load(tile: str) -> str:
    return f"  pto.tload ins(%p : {PART}) outs({tile} : {TILE})\n"


_LOOP = "scf.for %i = %c0 to %n step %c1"
KINDS = {
    "two that are swapped": _FIRST
    + f"%r:2 = {_LOOP} iter_args(%now = %a, %next = %b) -> ({_TYPES}) {{\n{_ROWS}{load('%next')}{fresh('%now')}"
    + f"scf.yield %next, %now : {_TYPES}\n}}\n",
    "three that are rotated": _FIRST
    + f"  pto.tload ins(%p0 : {PART}) outs(%b : {TILE})\n"
    + f"%r:3 = {_LOOP} iter_args(%now = %a, %then = %b, %free = %c) -> ({TILE}, {_TYPES}) {{\n{_ROWS}{load('%free')}"
    + f"{fresh('%now')}scf.yield %then, %free, %now : {TILE}, {_TYPES}\n}}\n",
    "one that is chosen": _FIRST
    + f"{_LOOP} {{\n{_ROWS}  %last = arith.subi %n, %c1 : index\n  %even = arith.cmpi eq, %i, %last : index\n"
    + f"  %into = arith.select %even, %a, %b : {TILE}\n{load('%into')}{fresh('%a')}}}\n",
    "one that a branch yields": _FIRST
    + f"{_LOOP} {{\n{_ROWS}  %first = arith.cmpi eq, %i, %c0 : index\n"
    + f"  %into = scf.if %first -> ({TILE}) {{\n  scf.yield %b : {TILE}\n  }} else {{\n  scf.yield %a : {TILE}\n  }}\n"
    + f"{fresh('%a')}{load('%into')}}}\n",
    "two in a loop with a condition": _FIRST
    + f"%w:3 = scf.while (%k = %c0, %u = %a, %v = %b) : (index, {_TYPES}) -> (index, {_TYPES}) {{\n"
    + f"  %more = arith.cmpi slt, %k, %n : index\n  scf.condition(%more) %k, %u, %v : index, {_TYPES}\n}} do {{\n"
    + f"^bb0(%i: index, %now: {TILE}, %next: {TILE}):\n{_ROWS}{load('%next')}{fresh('%now')}"
    + f"  scf.yield %j, %next, %now : index, {_TYPES}\n}}\n",
    "two that an inner loop swaps": _FIRST
    + f"%r:2 = {_LOOP} iter_args(%now = %a, %next = %b) -> ({_TYPES}) {{\n{_ROWS}{load('%next')}"
    + f"%s:2 = scf.for %k = %c0 to %j step %c1 iter_args(%d = %now, %e = %next) -> ({_TYPES}) {{\n"
    + f"scf.yield %e, %d : {_TYPES}\n}}\n{fresh('%s#0')}scf.yield %s#0, %s#1 : {_TYPES}\n}}\n",
    "one of the iteration before": _FIRST
    + f"%r = {_LOOP} iter_args(%now = %a) -> ({TILE}) {{\n{_ROWS}{fresh('%now')}"
    + f"  %x = pto.alloc_tile : {TILE}\n{load('%x')}  %z = pto.alloc_tile : {TILE}\n"
    + f"  pto.tadd ins(%x, %x : {_TYPES}) outs(%z : {TILE})\n  pto.tstore ins(%z : {TILE}) outs(%q : {PART})\n"
    + f"scf.yield %x : {TILE}\n}}\n",
    "one that is used behind the loop": _FIRST
    + f"%r:2 = {_LOOP} iter_args(%now = %a, %next = %b) -> ({_TYPES}) {{\n{_ROWS}{load('%next')}{fresh('%next')}"
    + f"scf.yield %next, %now : {_TYPES}\n}}\n  pto.tstore ins(%r#1 : {TILE}) outs(%p0 : {PART})\n",
}


def program(name: str, target: str) -> str:
    text = re.sub(r"%(\w+):(\d) = ", lambda found: _names(found[1], int(found[2])), KINDS[name])
    return _HEAD.replace("{target}", target) + text.replace("#", "_") + "return\n}\n}\n"


def _names(name: str, count: int) -> str:
    return ", ".join(f"%{name}_{number}" for number in range(count)) + " = "


@pytest.mark.parametrize("target", CHIPS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reuse", ["auto", "max", "safe"])
def test_lowered_programs_compute_the_same(kind: str, target: str, reuse: str) -> None:
    text = program(kind, target)
    module, said = lowered(text, f"assign-memory{{reuse={reuse}}}", "insert-sync")
    assert not said
    rows = np.repeat(np.arange(1, 7, dtype=np.float32), 256)
    for count in (0, 1, 4):
        arrays = [rows, np.zeros(6 * 256, np.float32), count]
        expected = results(parse(text), arrays)
        for schedule in ("text", *SCHEDULES):
            assert results(module, arrays, schedule) == expected, (count, schedule)
        assert not disorder(module, arrays)


def test_a_tile_that_may_be_written_keeps_its_bytes() -> None:
    """%now may be %a or %b; the result of an iteration lies in neither."""
    module, _ = lowered(program("two that are swapped", "a5"), "assign-memory{reuse=max}")
    places = re.findall(r"%(\w) = pto.alloc_tile addr = %c(\d+)_i64", print_module(module))
    assert len({address for name, address in places if name in "aby"}) == 3


def test_a_tile_that_must_be_written_gives_its_bytes_away() -> None:
    """Without a swap %now is %a in every iteration: the result may lie where it did."""
    text = program("two that are swapped", "a5").replace(f"scf.yield %next, %now : {_TYPES}", "")
    text = text.replace(f" iter_args(%now = %a, %next = %b) -> ({_TYPES})", "").replace("%r_0, %r_1 = ", "")
    text = text.replace("%next", "%a").replace("%now", "%a")
    module, _ = lowered(text, "assign-memory{reuse=max}")
    places = dict(re.findall(r"%(\w) = pto.alloc_tile addr = %c(\d+)_i64", print_module(module)))
    assert places["a"] == places["y"]


def test_a_tile_that_nobody_knows_is_refused() -> None:
    """After 30 rotations handles mean any tile."""
    names = [f"%h{number}" for number in range(30)]
    tiles = [f"%t{number}" for number in range(30)]
    types = ", ".join([TILE] * 30)
    carried = ", ".join(f"{name} = {tile}" for name, tile in zip(names, tiles, strict=True))
    allocated = "".join(f"  {tile} = pto.alloc_tile : {TILE}\n" for tile in tiles)
    given = ", ".join(f"%o{number}" for number in range(30))
    body = (
        f"{allocated}{given} = {_LOOP} iter_args({carried}) -> ({types}) {{\n"
        f"{_ROWS}{load(names[0])}scf.yield {', '.join(names[1:] + names[:1])} : {types}\n}}\n"
    )
    module, said = lowered(_HEAD.replace("{target}", "a5") + body + "return\n}\n}\n", "assign-memory")
    found = [one.message for one in said]
    assert found in ([], ["assign-memory cannot follow this: only a run knows which tile it uses"])
    places = re.findall(r"%t\d+ = pto.alloc_tile addr = %(c\d+_i64)", print_module(module))
    assert len(set(places)) == len(places) == (0 if found else 30)


@pytest.mark.parametrize("plan", ["assign-memory", "assign-memory{reuse=max}"])
@pytest.mark.parametrize("seed", sampled(range(8), 3))
def test_random_programs_with_carried_handles(seed: int, plan: str) -> None:
    assert judge(CarriedProgram(seed, CHIPS[seed % 2]).text, (plan, "insert-sync")) == ("clean", "")
