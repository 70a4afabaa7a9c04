"""The forms of operations that messages show."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from groups import each

from pto_dialect.ir.core.base import Shape, op_spec, signature
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.registry import op_class
from pto_dialect.ir.core_dialects.core_ops import CORE_SHAPES
from pto_dialect.syntax.usage import usage, value_usage


def test_forms_are_those_of_the_snapshot(compare: Callable[[Path, str], None]) -> None:
    lines = [f"{name}: {form}" for name in (*OPS, *CORE_SHAPES) if (form := usage(name)) is not None]
    for name in OPS:
        cls = op_class(name)
        if op_spec(cls).shape is Shape.DPS:
            inputs = [slot for slot in signature(cls).operands if slot.name not in op_spec(cls).outs]
            lines.append(f"{name} on values: {value_usage(name, inputs)}")
    compare(Path(__file__).with_name("forms.txt"), "".join(f"{line}\n" for line in sorted(lines)))


@each("name", sorted(OPS), lambda name: OPS[name][0])
def test_a_form_names_all_that_a_statement_needs(name: str) -> None:
    """Operands that must be there, and results; none of them twice, and as many types as it names of them."""
    form, declared = usage(name), signature(op_class(name))
    if form is None or ".." in form or "[" in form or "clauses" in form or "types" in form or "{" in form:
        return
    body = form.removeprefix("the form is ")
    results, given = body.split(" = ", 1) if re.match(r"%\w+(, %\w+)* = ", body) else ("", body)
    assert re.match(rf"{re.escape(name)}\b", given), form
    assert re.findall(r"%(\w+)", results) == [slot.name for slot in declared.results if slot.arity == "1"]
    named = re.findall(r"%(\w+)", given)
    assert len(named) == len(set(named))
    if named and op_spec(op_class(name)).typed is None:
        assert {slot.name for slot in declared.operands if slot.arity == "1"} <= set(named)
        assert set(named) <= {slot.name for slot in declared.operands}


def test_a_form_on_values_has_a_result_and_the_types_of_its_inputs() -> None:
    inputs = [slot for slot in signature(op_class("pto.tadd")).operands if slot.name != "dst"]
    assert value_usage("tadd", inputs) == "the form is %result = tadd %src0, %src1 : (type, type) -> type"
