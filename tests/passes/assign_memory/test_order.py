"""Which buffers follow each other in any case, against sets. Source: docs/reference/memory-planning.md, "Packing"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from random import Random
from typing import NamedTuple

import pytest
from groups import in_groups
from lowering_programs import add, kernel, load, part, store

from pto_dialect import parse
from pto_dialect.ir.core.base import Pipe
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.accesses.items import NUMBER
from pto_dialect.passes.accesses.locations import HandleLocations
from pto_dialect.passes.accesses.program import Reader
from pto_dialect.passes.assign_memory import order as module
from pto_dialect.passes.assign_memory.order import Order
from pto_dialect.targets.choice import get_profile

TILES = "xyz"
LOOP, BRANCH, END = "scf.for %{} = %c0 to %n step %c1 {{", "scf.if %some {", "}"
HEAD = (part("p", "a", "c0"), part("q", "b", "c0"), "%some = arith.cmpi eq, %n, %c0 : index")


class Step(NamedTuple):
    """An operation: its line, its pipe, what it reads and writes."""

    line: str
    pipe: str
    reads: frozenset[str]
    writes: frozenset[str]


def step(kind: str, *tiles: str) -> Step:
    if kind == "load":
        return Step(load("p", tiles[0]), "MTE2", frozenset("a"), frozenset(tiles[:1]))
    if kind == "store":
        return Step(store(tiles[0], "q"), "MTE3", frozenset(tiles[:1]), frozenset("b"))
    return Step(add(*tiles), "V", frozenset(tiles[:2]), frozenset(tiles[2:]))


Run = tuple[Step, frozenset[object]]
"""A step that runs, and the iterations and branches in which it does."""


def runs(
    program: Sequence[object], around: frozenset[object] = frozenset(), depth: int = 0
) -> tuple[list[str], list[Run]]:
    """The lines of a program, and what runs, with each loop run twice; lists are loops, tuples branches."""
    lines: list[str] = []
    found: list[Run] = []
    for number, one in enumerate(program):
        if isinstance(one, list):
            inner = around | {(depth, number, "first")}
            body, first = runs(one, inner, depth + 1)
            _, second = runs(one, inner | {(depth, number, "second")}, depth + 1)
            lines += [LOOP.format(f"i{depth}_{number}"), *body, END]
            found += [*first, *second]
        elif isinstance(one, tuple) and not isinstance(one, Step):
            body, inside = runs(list(one), around | {(depth, number, "branch")}, depth + 1)
            lines += [BRANCH, *body, END]
            found += inside
        else:
            assert isinstance(one, Step)
            lines.append(one.line)
            found.append((one, around))
    return lines, found


def follows(found: list[Run], one: str, other: str, arch: str) -> bool:
    """Whether all uses of ``other`` come after the earlier uses of ``one``, where one of the two writes."""
    before: list[set[int]] = []
    for number, (now, around) in enumerate(found):
        known: set[int] = set()
        for earlier, (then, _) in enumerate(found[:number]):
            shared = (now.reads | now.writes) & then.writes or now.writes & then.reads
            if shared or then.pipe == now.pipe:
                known.add(earlier)
        before.append(known | {k for earlier in known if found[earlier][1] <= around for k in before[earlier]})
    for number, (now, around) in enumerate(found):
        for earlier, (then, _) in enumerate(found[:number]):
            if other not in now.reads | now.writes or one not in then.reads | then.writes:
                continue
            if other not in now.writes and one not in then.writes:
                continue
            if earlier not in before[number]:
                return False
            together = now.pipe == then.pipe and now.pipe in ("MTE2", *(["V"] if arch == "a2a3" else []))
            if together and not any(
                k in before[number] and earlier in before[k] and found[k][0].pipe != now.pipe and found[k][1] <= around
                for k in range(earlier + 1, number)
            ):
                return False
    return True


def orders(program: Sequence[object], arch: str) -> dict[tuple[str, str], bool]:
    """What the package says of each pair of tiles."""
    lines, _ = runs(program)
    text = re.sub(r"(%[xyz] = .*) addr = %at\d", r"\1", kernel(*HEAD, *lines, target=arch))
    function = next(op for op in walk(parse(text)) if op.name == "func.func")
    order = Order(Reader(HandleLocations(get_profile(arch)), None).function(function), arch)
    values = {result.name_hint: result for op in walk(function) for result in op.results}
    return {(a, b): order.ordered(values[a], values[b]) for a, b in product(TILES, repeat=2) if a != b}


def check(program: Sequence[object], arch: str) -> list[bool]:
    _, found = runs(program)
    said = orders(program, arch)
    for (one, other), answer in said.items():
        expected = follows(found, one, other, arch) and follows(found, other, one, arch)
        assert answer == expected, (one, other, program)
    return list(said.values())


def some(random: Random, most: int, depth: int = 0) -> list[object]:
    found: list[object] = []
    for _ in range(random.randint(1, most)):
        kind = random.choice(("load", "store", "add", "add", "loop", "branch"))
        if kind in ("loop", "branch"):
            inner = some(random, 3, depth + 1) if depth < 2 else []
            if inner:
                found.append(inner if kind == "loop" else tuple(inner))
        else:
            found.append(step(kind, *random.choices(TILES, k=3)))
    return found


@pytest.mark.parametrize("arch", ["a2a3", "a5"])
@in_groups("seed", range(12))
def test_random_programs(seed: int, arch: str) -> None:
    random = Random(seed)
    answers: list[bool] = []
    for _ in range(12):
        answers += check(some(random, 6), arch)
    assert True in answers and False in answers


@pytest.mark.parametrize("arch", ["a2a3", "a5"])
def test_one_pipe_after_another(arch: str) -> None:
    """Two loads follow each other when something has used the first; sums of a2a3 overlap as well."""
    use = [step("add", "x", "x", "z"), step("store", "z")]
    assert not orders([step("load", "x"), step("load", "y")], arch)["x", "y"]
    assert not orders([step("load", "x"), *use, step("load", "y")], arch)["x", "y"]
    sums = [step("add", "z", "z", "x"), step("add", "z", "z", "y")]
    assert orders(sums, arch)["x", "y"] == (arch == "a5")


def test_who_waits_for_another_pipe_is_not_known_to_have_begun() -> None:
    """The store of %z has waited for the first sum, and the second sum has not waited for the store."""
    sums = [step("add", "x", "x", "z"), step("store", "z"), step("add", "y", "y", "y")]
    assert not orders(sums, "a2a3")["x", "y"] and orders(sums, "a5")["x", "y"]
    check(sums, "a2a3")


@pytest.mark.parametrize("arch", ["a2a3", "a5"])
def test_moves_to_the_cube_do_not_overlap(arch: str) -> None:
    mat, left = (f"!pto.tile_buf<{word}, 16x16xf16, blayout=col_major, slayout=row_major>" for word in ("mat", "left"))
    if arch == "a2a3":
        left = left.replace("col_major", "row_major")
    text = "\n".join([f"%m = pto.alloc_tile : {mat}", *(f"%{n} = pto.alloc_tile : {left}" for n in "kl"),
                      *(f"pto.tmov ins(%m : {mat}) outs(%{n} : {left})" for n in "kl")])  # fmt: skip
    function = next(op for op in walk(parse(f"func.func @f() {{\n{text}\nreturn\n}}")) if op.name == "func.func")
    order = Order(Reader(HandleLocations(get_profile(arch)), None).function(function), arch)
    values = {result.name_hint: result for op in walk(function) for result in op.results}
    assert order.steps[0].pipe == order.steps[1].pipe == NUMBER[Pipe.MTE1]
    assert order.ordered(values["k"], values["l"])


def test_large_programs_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops count twice, branches by what is in them."""
    program: list[object] = [step("add", "z", "z", "x"), step("add", "x", "x", "y")]
    for lines, size in ((program, 2), ([program], 4), ([*program, tuple(program)], 4), ([[[*program]]], 8)):
        monkeypatch.setattr(module, "MOST", size)
        assert any(orders(lines, "a5").values())
        monkeypatch.setattr(module, "MOST", size - 1)
        assert not any(orders(lines, "a5").values())
