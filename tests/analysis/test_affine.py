"""Sums of values: equal for equal numbers, and what a distance is. Source: docs/reference/core-dialects.md,
"Numbers".
"""

from hypothesis import given, settings
from hypothesis import strategies as st

from pto_dialect import parse
from pto_dialect.analysis.affine import AffineAnalysis, AffineExpr
from pto_dialect.ir.core.walk import walk


def values(*lines: str) -> dict[str, AffineExpr]:
    """The sums of the named values of a function with the arguments %a, %b and %w."""
    text = "\n".join(("func.func @f(%a: index, %b: index, %w: i32) {", *lines, "return", "}"))
    sums = AffineAnalysis()
    named = [result for op in walk(parse(text)) for result in op.results if result.name_hint]
    return {str(value.name_hint): sums.expression_of(value) for value in named}


CONSTANTS = ("%c2 = arith.constant 2 : index", "%c3 = arith.constant 3 : index")


def test_what_is_added_in_another_order_is_the_same_sum():
    found = values(
        *CONSTANTS,
        "%x = arith.addi %a, %b : index",
        "%p = arith.muli %x, %c2 : index",
        "%q0 = arith.muli %c2, %b : index",
        "%q1 = arith.muli %a, %c2 : index",
        "%q = arith.addi %q0, %q1 : index",
    )
    assert found["p"] == found["q"]
    assert found["p"].minus(found["q"]).constant_value == 0


def test_the_distance_of_two_sums_is_a_number_when_the_rest_is_the_same():
    found = values(*CONSTANTS, "%x = arith.addi %a, %c3 : index", "%y = arith.subi %a, %c2 : index")
    assert found["x"].minus(found["y"]).constant_value == 5
    assert found["x"].constant_value is None


def test_a_cast_keeps_the_number_and_a_truncation_does_not():
    found = values(
        "%x = arith.index_cast %w : i32 to index",
        "%y = arith.index_cast %x : index to i32",
        "%z = arith.trunci %w : i32 to i16",
    )
    assert found["x"] == found["y"]
    assert found["z"] != found["x"]


def test_what_is_no_sum_is_equal_where_it_is_computed_from_the_same():
    found = values(
        *CONSTANTS,
        "%x = arith.maxsi %a, %c2 : index",
        "%y = arith.maxsi %a, %c2 : index",
        "%z = arith.minsi %a, %c2 : index",
        "%s = arith.addi %x, %c3 : index",
    )
    assert found["x"] == found["y"] != found["z"]
    assert found["s"].minus(found["y"]).constant_value == 3


def test_a_product_of_two_unknowns_depends_on_both():
    text = "func.func @f(%a: index, %b: index) {\n%x = arith.muli %a, %b : index\nreturn\n}"
    module = parse(text)
    product = next(op for op in walk(module) if op.name == "arith.muli")
    sums = AffineAnalysis()
    ((term, factor),) = sums.expression_of(product.results[0]).terms
    assert factor == 1
    assert sums.sources(term) == frozenset(product.operands)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(("addi", "subi", "muli")), st.integers(0, 5), st.integers(0, 5)), max_size=8))
def test_sums_say_what_arithmetic_gives(steps: list[tuple[str, int, int]]):
    """Against plain integers: the names so far are %a, %b, constants and all results."""
    names = ["a", "b", "c2", "c3"]
    lines: list[str] = [*CONSTANTS]
    numbers = {"a": 7, "b": -4, "c2": 2, "c3": 3}
    for step, (kind, one, other) in enumerate(steps):
        left, right = names[one % len(names)], names[other % len(names)]
        name = f"r{step}"
        lines.append(f"%{name} = arith.{kind} %{left}, %{right} : index")
        fold = {"addi": lambda a, b: a + b, "subi": lambda a, b: a - b, "muli": lambda a, b: a * b}[kind]
        numbers[name] = fold(numbers[left], numbers[right])
        names.append(name)
    found = values(*lines)
    for name in names[4:]:
        assert evaluated(found[name], numbers) == numbers[name]


def evaluated(total: AffineExpr, numbers: dict[str, int]) -> int:
    """The number of a sum whose unknowns have these values."""
    result = total.constant
    for term, factor in total.terms:
        if len(term) == 1:
            part = numbers[str(getattr(term[0], "name_hint", ""))]
        else:
            assert term[0] == "arith.muli"
            one, other = (evaluated(part, numbers) for part in term if isinstance(part, AffineExpr))
            part = one * other
        result += factor * part
    return result


LOOP = """func.func @f(%n: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %lb = arith.constant {first} : index
  %st = arith.constant {step} : index
  scf.for %i = %lb to %n step %st {{
    %j = arith.addi %i, %c64 : index
    %d = arith.divui %j, %c64 : index
    %x = arith.remui %d, %c2 : index
    %y = arith.remui %i, %c2 : index
    %z = arith.remui %i, %c3 : index
    %m = arith.muli %i, %c3 : index
    %w = arith.remui %m, %c3 : index
  }}
  return
}}
"""


@given(st.integers(0, 300), st.integers(1, 300))
@settings(max_examples=60, deadline=None)
def test_remainders_that_never_change_are_numbers(first: int, step: int):
    """Against the remainders of the first twelve iterations, counted here."""
    sums = AffineAnalysis()
    module = parse(LOOP.format(first=first, step=step))
    found = {
        str(r.name_hint): sums.expression_of(r).constant_value for op in walk(module) for r in op.results if r.name_hint
    }
    counters = [first + step * turn for turn in range(12)]
    ways = {
        "x": [(i + 64) // 64 % 2 for i in counters],
        "y": [i % 2 for i in counters],
        "z": [i % 3 for i in counters],
        "w": [0 for _ in counters],
    }
    for name, values_ in ways.items():
        if found[name] is not None:
            assert {*values_} == {found[name]}
    # Where the step is a multiple of what is divided by, the remainder is known.
    assert (found["x"] is not None) == (step % 128 == 0)
    assert (found["y"] is not None) == (step % 2 == 0)
    assert (found["z"] is not None) == (step % 3 == 0)
    assert found["w"] == 0


def test_a_counter_that_may_be_negative_has_no_remainder():
    sums = AffineAnalysis()
    module = parse(LOOP.format(first=-4, step=6))
    found = {
        str(r.name_hint): sums.expression_of(r).constant_value for op in walk(module) for r in op.results if r.name_hint
    }
    assert found["y"] is None and found["z"] is None
