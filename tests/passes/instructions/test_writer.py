"""Numbers that lowering computes. Source: docs/reference/core-operations.md, "arith"."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import IntegerAttr, i8, i16, i32, i64
from xdsl.ir import Attribute, SSAValue

from pto_dialect import parse
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.instructions.writer import INDEX, Function, Writer


@pytest.mark.parametrize(
    ("number", "type_", "kept"),
    [
        (2**64, INDEX, 0),
        (2 * (2**64 - 1), INDEX, -2),
        (2**64 - 1, INDEX, 2**64 - 1),
        (-(2**63), i64, -(2**63)),
        (-(2**63) - 1, i64, 2**63 - 1),
        (2**31, i32, -(2**31)),
        (2**32 + 5, i32, 5),
        (-(2**15) - 2, i16, 2**15 - 2),
        (300, i8, 44),
    ],
)
def test_integers_beyond_their_type_wrap_as_in_a_run(number: int, type_: Attribute, kept: int) -> None:
    module = parse("func.func @f() {\n  return\n}\n")
    (function,) = (op for op in walk(module) if op.name == "func.func")
    value = Function(function).constant(number, type_)
    attribute = value.owner.value  # pyright: ignore
    assert isinstance(attribute, IntegerAttr)
    assert attribute.value.data == kept
    assert attribute.type == type_


TYPES = ("i1", "i8", "i16", "i32", "ui8", "si32", "f16", "bf16", "f32", "f64", "f8E4M3FN", "!pto.f4E2M1x2")
BITS = {"i8": 8, "i16": 16, "i32": 32, "f16": 16, "bf16": 16, "f32": 32, "f64": 64}


def opened() -> tuple[Writer, dict[str, SSAValue]]:
    """A writer before the end of a function, and the values of the function by name."""
    arguments = ", ".join(f"%x{place}: {name}" for place, name in enumerate(TYPES))
    sums = "  %c1 = arith.constant 1 : index\n  %a = arith.addi %n, %c1 : index\n  %b = arith.addi %c1, %n : index\n"
    text = f"func.func @f(%n: index, %m: index, %p: !pto.ptr<f32, ub>, {arguments}) {{\n{sums}  return\n}}\n"
    (function,) = (op for op in walk(parse(text)) if op.name == "func.func")
    block = function.regions[0].block
    values = [*block.args, *(result for op in block.ops for result in op.results)]
    assert block.last_op is not None
    return Writer(Function(function), block.last_op), {value.name_hint or "": value for value in values}


def expected_conversion(source: str, target: str) -> str | None:
    """Signless integers of at least 8 bits are cut or extended by their sign, floats of other widths rounded."""
    if BITS.get(source) is None or BITS.get(target) is None or (source[0] == "i") is not (target[0] == "i"):
        return None
    if BITS[source] == BITS[target]:
        return None
    words = ("extsi", "trunci") if source[0] == "i" else ("extf", "truncf")
    return f"arith.{words[BITS[source] > BITS[target]]}"


@pytest.mark.parametrize("target", TYPES)
def test_conversions_of_numbers(target: str) -> None:
    writer, values = opened()
    element = values[f"x{TYPES.index(target)}"].type
    for place, source in enumerate(TYPES):
        if {source, target} & {"f8E4M3FN", "!pto.f4E2M1x2"} and source[0] + target[0] not in ("ii", "fi", "if"):
            continue
        value = values[f"x{place}"]
        found = writer.converted(value, element)
        if source == target:
            assert found is value
        else:
            name = None if found is None else found.owner.name  # pyright: ignore[reportAttributeAccessIssue]
            assert name == expected_conversion(source, target), source


def test_numbers_are_computed_when_it_is_lowered_where_they_are_known() -> None:
    writer, values = opened()
    n, m, before = values["n"], values["m"], len(list(writer.anchor.parent.ops))  # pyright: ignore
    assert [writer.add(n, 0), writer.add(0, n), writer.sub(n, 0), writer.mul(n, 1), writer.mul(1, n)] == [n] * 5
    assert [writer.mul(n, 0), writer.mul(0, n), writer.mul(3, 4), writer.add(3, 4), writer.sub(3, 4)] == [
        0,
        0,
        12,
        7,
        -1,
    ]
    assert [writer.ceildiv(9, 4), writer.div(9, 4), writer.rest(9, 4), writer.rest(n, 1)] == [3, 2, 1, 0]
    assert writer.ceildiv(n, 1) is n and writer.div(n, 1) is n and writer.advanced(values["p"], 0) is values["p"]
    assert [writer.least(3, 4), writer.least(n, n), writer.least(values["a"], values["b"])] == [3, n, values["a"]]
    pairs = [(3, 3), (3, 4), (n, 3), (3, n), (n, n), (n, m), (values["a"], values["b"]), (values["a"], n)]
    assert [writer.is_equal(*pair) for pair in pairs] == [True, False, False, False, True, False, True, False]
    assert len(list(writer.anchor.parent.ops)) == before  # pyright: ignore[reportOptionalMemberAccess]


def test_numbers_that_only_a_run_knows_are_computed_by_it() -> None:
    writer, values = opened()
    n, m = values["n"], values["m"]
    made = [
        *(writer.add(n, 2), writer.add(2, n), writer.sub(n, 2), writer.sub(0, n), writer.mul(n, 2), writer.mul(n, m)),
        *(writer.ceildiv(n, 4), writer.div(n, 4), writer.rest(n, 4), writer.least(n, 4), writer.least(n, m)),
    ]
    names = [value.owner.name.removeprefix("arith.") for value in made]  # pyright: ignore
    assert names == ["addi", "addi", "subi", "subi", "muli", "muli", "ceildivsi", "divsi", "remsi", "minsi", "minsi"]


@pytest.mark.parametrize("count", [0, 1, 3, 100, None])
def test_what_is_repeated_is_a_loop_where_it_is_long_or_unknown(count: int | None) -> None:
    writer, values = opened()
    turns: list[object] = []
    start = values["n"]

    def body(turn: object, before: SSAValue) -> SSAValue:
        turns.append(turn)
        return before

    found = writer.fold(values["m"] if count is None else count, start, body)
    if count is not None and count < 100:
        assert found is start and turns == [*range(count)]
    else:
        loop = found.owner
        assert loop.name == "scf.for" and len(turns) == 1  # pyright: ignore[reportAttributeAccessIssue]
