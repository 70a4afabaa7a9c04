"""Products that write the accumulator that they add to. Source: docs/reference/numerics.md, "Matrix products"."""

import numpy as np
import pytest
from cube_programs import SCHEDULES, Program, instructions, passed, run

from pto_dialect import parse, print_module

RNG = np.random.default_rng(4)
PASSES = ("sums-in-place", "assign-memory", "insert-sync", "lower-cube")


def program(*statements: str) -> str:
    """Products of two operands that are loaded once; ``=`` starts a sum, ``+`` goes on with one, ``>`` stores one."""
    found = Program(a="f16", b="f16", c="f32", n="=index")
    for name, place in (("a", "l"), ("b", "r")):
        found.view(f"v{name}", name, (32, 32), (32, 1))
        found.tile(f"m{name}", "mat", 32, 32, "f16")
        found.tile(place, "left" if place == "l" else "right", 32, 32, "f16")
        found.op("tload", f"v{name}", to=f"m{name}")
        found.op("tmov", f"m{name}", to=place)
    for name in "stu":
        found.tile(name, "acc", 32, 32, "f32")
    stores = 0
    for statement in statements:
        if statement.startswith(("scf", "}")):
            found.lines.append(statement)
            continue
        kind, one, *other = statement
        if kind == "=":
            found.op("tmatmul", "l", "r", to=one)
        elif kind == "+":
            found.op("tmatmul.acc", one, "l", "r", to=other[0])
        else:
            found.view(f"v{stores}", "c", (32, 32), (32, 1), offsets=(32 * stores, 0))
            found.op("tstore", one, to=f"v{stores}")
            stores += 1
    return str(found)


LOOP = "scf.for %i = %c0 to %n step %c1 {"
IN_PLACE = {
    "a chain": (("=s", "+st", "+tu", ">u"), (3,)),
    "and what follows in its old place": (("=s", "+st", "=s", ">t", ">s"), (2, 1)),
    "a sum that goes on in place": (("=s", "+st", "+tt", "+tu", ">u"), (4,)),
    "to and fro in a loop": (("=s", LOOP, "+st", "+ts", "}", ">s"), (7,)),
    "begun anew in each turn": (("=u", LOOP, "=s", "+su", "}", ">u"), (2,)),
    "a loop without iterations": (("=s", "scf.for %i = %c1 to %c1 step %c1 {", "=u", "+ut", "}", "+st", ">t"), (2,)),
    "two sums": (("=s", "=t", "+su", "+ts", ">s", ">u"), (2, 2)),
    "two places for one sum": (("=s", "+st", ">t", "=s", "+su", "+uu", ">u"), (2, 3)),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_sums_stay_where_they_are(name):
    statements, counts = IN_PLACE[name]
    text = program(*statements)
    module, said = passed(text, *PASSES)
    assert not said
    assert "mad_acc" in instructions(module)
    a, b = (RNG.integers(-4, 5, (32, 32)).astype(np.float16) for _ in range(2))
    c = np.zeros((32 * len(counts), 32), np.float32)
    product = a.astype(np.float64) @ b.astype(np.float64)
    for schedule in SCHEDULES:
        found = run(module, {"a": a, "b": b, "c": c, "n": 3}, schedule)["c"]
        assert np.array_equal(found, np.concatenate([count * product for count in counts]))


REFUSED = {
    "the old sum is needed": ("=s", "+st", ">t", ">s"),
    "the new place is needed": ("=t", "=s", LOOP, "+st", "=s", "}", ">t"),
    "a loop goes on with the old sum": ("=s", LOOP, "+st", ">t", "}"),
    "it may have been filled elsewhere": (LOOP, "=s", "}", "+st", ">t"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_sums_that_are_needed_twice_stay_apart(name):
    text = program(*REFUSED[name])
    module, said = passed(text, "sums-in-place")
    assert not said
    assert print_module(module) == print_module(parse(text, "program.pto"))
    _, said = passed(text, *PASSES)
    assert said == [
        "lower-cube-unsupported: lower-cube cannot lower pto.tmatmul.acc: "
        "it adds to another tile than the one that it writes"
    ]
