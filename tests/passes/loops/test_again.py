"""Sums that are computed twice, because products continue with them and others need them too.

Source: docs/reference/numerics.md, "Matrix products".
"""

import pytest
from cube_programs import instructions, passed
from sum_programs import BRANCH, ELSE, LOOP, NEVER, check_sums, program

from pto_dialect import parse, print_module
from pto_dialect.passes.stages import STAGES

PASSES = (*STAGES["sums"].passes, "assign-memory", "insert-sync", "lower-cube")

TWICE = {
    "the old sum is stored": (("=s", "+st", ">t", ">s"), 3, 0),
    "both go on": (("=s", "+st", "+su", "+ss", ">s", ">t", ">u"), 6, 0),
    "of several products": (("=s", "+ss", "+ss", "+st", ">s", ">t"), 7, 0),
    "of products that have moved": (("=s", "+st", "=s", "+tu", ">t", ">s", ">u"), 6, 0),
    "its operands are others by then": (("=s", "<l", "+st", ">s", ">t"), 3, 0),
    "operands of a branch": ((BRANCH, "<l", "}", "=s", "+st", ">s", ">t"), 3, 0),
    "made in one branch or another": ((BRANCH, "=s", ELSE, "<l", "=s", "}", "<r", "+st", ">s", ">t"), 5, 0),
    "made in a loop": (("=s", LOOP, "+ss", "}", "<l", "+st", ">s", ">t"), 5, 0),
    "in each iteration": (("=s", LOOP, "+st", ">t", "}", ">s"), 3, 0),
    "in each iteration with other operands": (("=s", LOOP, "+st", "<l", "<r", ">t", "}", ">s"), 3, 2),
    "in each iteration, of several": (("=s", "+ss", "<l", LOOP, "+st", ">t", "}", ">s"), 5, 1),
    "one that follows a branch": (("=t", "=s", BRANCH, "+st", "}", ">t", ">s"), 4, 0),
    "beside one that is in place": (("=s", "=u", "+ut", "+tt", "+ss", "+su", ">s", ">t", ">u"), 8, 0),
    "not in loops without iterations": (("=s", NEVER, "+st", ">t", "}", ">s"), 1, 0),
}


def loads(found: list[str]) -> int:
    return sum(one.startswith("mte_l1_l0") for one in found)


@pytest.mark.parametrize("name", TWICE)
def test_sums_are_computed_twice(name):
    statements, products, more = TWICE[name]
    found = instructions(check_sums(statements, *PASSES))
    assert sum(one.startswith("mad") for one in found) == products
    assert loads(found) == 2 + sum(one[0] == "<" for one in statements) + more


ONCE = {
    "nobody needs the old sum": ("=s", "+st", ">t"),
    "it is in place": ("=s", "+ss", ">s"),
    "each iteration goes on with all before": ("=s", LOOP, "+ss", "+st", ">t", "}", ">s"),
    "it may hold anything": (LOOP, "=s", "}", "+st", ">t", ">s"),
}


@pytest.mark.parametrize("name", ONCE)
def test_other_sums_are_computed_once(name):
    text = program(*ONCE[name])
    module, said = passed(text, "repeat-sums")
    assert not said
    assert print_module(module) == print_module(passed(text, "sums-in-place")[0])


def test_a_sum_of_an_iteration_stays_refused_with_its_location():
    text = program(*ONCE["each iteration goes on with all before"])
    _, said = passed(text, *PASSES)
    assert said == [
        "lower-cube-unsupported: lower-cube cannot lower pto.tmatmul.acc: "
        "it adds to another tile than the one that it writes"
    ]


def test_a_tile_with_a_handle_is_left_alone():
    text = program("=s", "+st", ">t", ">s").replace(
        "    return", "    %h = pto.subview %s[%c0, %c0] sizes [16, 32] : TYPE -> PART\n    return"
    )
    type_ = "!pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>"
    text = text.replace("TYPE", type_).replace("PART", type_.replace("32x32", "16x32"))
    module, _ = passed(text, "repeat-sums")
    assert print_module(module) == print_module(parse(text, "program.pto"))


def test_copies_have_the_locations_of_their_originals():
    from pto_dialect.ir.core.location import span_of
    from pto_dialect.ir.core.walk import walk

    module, _ = passed(program("=s", "+st", ">t", ">s"), "repeat-sums")
    products = [op for op in walk(module) if op.name == "pto.tmatmul"]
    assert len(products) == 2
    assert span_of(products[0]) == span_of(products[1])
