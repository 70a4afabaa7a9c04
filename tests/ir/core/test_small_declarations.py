"""Uses of values, numbers of results, kinds of attributes and plain classes, worked out by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from groups import in_groups
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, StringAttr, UnitAttr, f32, i8, i32, i64
from xdsl.irdl import AnyAttr, AtMost, RangeLengthConstraint, RangeOf, opt_result_def, result_def, var_result_def

from pto_dialect import parse
from pto_dialect.ir.core.base import OpSpec, Pipe, _maximum_results
from pto_dialect.ir.core.kinds import ARRAY, I8_ATTR, I32_ATTR, I64_ATTR, STRING, SYMBOL
from pto_dialect.ir.core.types import OpaqueType
from pto_dialect.ir.core_dialects.core_plain import PLAIN_NAMES, plain_class

ADDS = "func.func @f(%a: i32, %b: i32) {\n" + "".join(
    f"%r{n} = arith.addi %a, {other} : i32\n" for n, other in enumerate(("%a", "%b", "%a", "%b"))
) + "return\n}\n"  # fmt: skip


def test_uses_of_values_know_their_neighbours() -> None:
    """Both ways, so that any operation can be taken out."""
    module = parse(ADDS)
    function = next(op for op in module.walk() if op.name == "func.func")
    block = function.regions[0].block
    (first, *_) = block.args
    use, before, number = first.first_use, None, 0
    while use is not None:
        assert use._prev_use is before
        before, use, number = use, use._next_use, number + 1
    assert number == 6
    for index in (1, 0, 1, 0):
        adds = [op for op in block.ops if op.name == "arith.addi"]
        adds[index if index < len(adds) else 0].detach()
        adds[index if index < len(adds) else 0].erase()
        uses = {(one.operation, one.index) for one in first.uses}
        assert uses == {(op, place) for op in block.ops for place, value in enumerate(op.operands) if value is first}


@pytest.mark.parametrize("count", range(3))
def test_the_most_results(count: int) -> None:
    one, optional = result_def(AnyAttr()), opt_result_def(AnyAttr())
    several = var_result_def(RangeOf(AnyAttr()))
    limited = var_result_def(RangeLengthConstraint(RangeOf(AnyAttr()), AtMost(3)))
    assert _maximum_results([one] * count) == count
    assert _maximum_results([optional] * count) == count
    assert _maximum_results([one, *[optional] * count]) == 1 + count
    assert _maximum_results([limited] * count) == 3 * count
    assert _maximum_results([one, limited, optional]) == 5
    assert _maximum_results([*[one] * count, several]) is None


def test_a_declaration_with_other_entries() -> None:
    spec = OpSpec(outs=("a",))
    assert spec.but({"pipe": Pipe.V}) == OpSpec(outs=("a",), pipe=Pipe.V)
    assert spec == OpSpec(outs=("a",))
    with pytest.raises(TypeError, match=r"declarations have no pip$"):
        spec.but({"pip": Pipe.V})


ATTRIBUTES = {
    "i8": IntegerAttr(1, i8), "i32": IntegerAttr(1, i32), "i64": IntegerAttr(1, i64), "f32": FloatAttr(1.0, f32),
    "string": StringAttr("a"), "unit": UnitAttr(), "type": i32,
}  # fmt: skip


def test_kinds_of_attributes() -> None:
    for kind, accepted in ((I8_ATTR, {"i8"}), (I32_ATTR, {"i32"}), (I64_ATTR, {"i64"}), (STRING, {"string"}),
                           (SYMBOL, set()), (ARRAY, set())):  # fmt: skip
        assert {name for name, attribute in ATTRIBUTES.items() if kind.accepts(attribute)} == accepted


@in_groups("name", sorted(PLAIN_NAMES))
def test_plain_operations_take_anything(name: str) -> None:
    definition = plain_class(name).get_irdl_definition()
    assert (definition.name, len(definition.operands), len(definition.results), len(definition.regions)) == (
        name,
        1,
        1,
        1,
    )


def test_an_opaque_type_is_printed_as_it_was_written() -> None:
    written: list[str] = []
    printer: Any = SimpleNamespace(print_string=written.append)
    OpaqueType("!any.thing<4>").print_parameter(printer)
    assert written == ["!any.thing<4>"] == [str(OpaqueType("!any.thing<4>"))]
