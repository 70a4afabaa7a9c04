"""Products that write the accumulator that they add to. Source: docs/reference/numerics.md, "Matrix products"."""

import pytest
from cube_programs import instructions, passed
from sum_programs import LOOP, NEVER, check_sums, program

from pto_dialect import parse, print_module

PASSES = ("sums-in-place", "assign-memory", "insert-sync", "lower-cube")

IN_PLACE = {
    "a chain": ("=s", "+st", "+tu", ">u"),
    "and what follows in its old place": ("=s", "+st", "=s", ">t", ">s"),
    "a sum that goes on in place": ("=s", "+st", "+tt", "+tu", ">u"),
    "to and fro in a loop": ("=s", LOOP, "+st", "+ts", "}", ">s"),
    "begun anew in each turn": ("=u", LOOP, "=s", "+su", "}", ">u"),
    "a loop without iterations": ("=s", NEVER, "=u", "+ut", "}", "+st", ">t"),
    "two sums": ("=s", "=t", "+su", "+ts", ">s", ">u"),
    "two places for one sum": ("=s", "+st", ">t", "=s", "+su", "+uu", ">u"),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_sums_stay_where_they_are(name):
    assert "mad_acc" in instructions(check_sums(IN_PLACE[name], *PASSES))


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
