"""Flags of arithmetic: left out, they are `none`; an operation without the property has no custom form.

Source: docs/reference/core-dialects.md, "Operations".
"""

from __future__ import annotations

from functools import cache

import pytest
from groups import in_groups
from parse_helpers import parsed
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Operation

from pto_dialect.ir.core_dialects.core_ops import CORE_SHAPES
from pto_dialect.syntax.print.printer import print_module

FLAGS = {"fastmath": ("fastmath<nnan>", "#arith.fastmath<none>"),
         "overflowFlags": ("overflow<nsw>", "#arith.overflow<none>")}  # fmt: skip
FORMS = (
    *(f"{', '.join(['%x'] * count)}{{0}} : f32" for count in (1, 2, 3)),
    *(f"{', '.join(['%a'] * count)}{{0}} : i32" for count in (1, 2)),
    "%x, %a{0} : f32, i32",
    "olt, %x, %x{0} : f32",
    "slt, %a, %a{0} : i32",
)
"""What may stand after the name of an operation, with flags between operands and types."""


def program(statement: str) -> str:
    return f"module {{\n  func.func @f(%x: f32, %a: i32) {{\n    %0 = {statement}\n    return\n  }}\n}}\n"


def read(text: str) -> tuple[ModuleOp, Operation] | None:
    module, found = parsed(text)
    if module is None or found:
        return None
    return module, next(op for op in module.walk() if op.name.startswith(("arith.", "math.")))


NAMES = [
    name
    for name, shape in CORE_SHAPES.items()
    if shape in ("OP_SAME", "OP_COMPARE", "OP_MIXED") and name.startswith(("arith.", "math."))
]


@cache
def cases(name: str) -> list[tuple[str, str]]:
    """The forms in which an operation takes flags, each with the name of the property."""
    return [
        (form, key)
        for form in FORMS
        for key, (flags, _) in FLAGS.items()
        if read(program(f"{name} {form.format(' ' + flags)}")) is not None
    ]


@pytest.mark.parametrize("name", ["arith.addf", "arith.addi", "arith.cmpf", "math.exp", "math.fma", "math.fpowi"])
def test_all_kinds_of_operations_take_flags(name: str) -> None:
    assert cases(name)


@in_groups("name", NAMES)
def test_flags_that_are_left_out_are_none(name: str) -> None:
    for form, key in cases(name):
        text = program(f"{name} {form.format('')}")
        found = read(text)
        assert found is not None
        module, op = found
        assert str(op.properties[key]) == FLAGS[key][1]
        assert print_module(module) == text
        stated = program(f"{name} {form.format(' ' + FLAGS[key][0].partition('<')[0] + '<none>')}")
        again = read(stated)
        assert again is not None and print_module(again[0]) == text


@in_groups("name", NAMES)
def test_an_operation_without_its_flags_or_with_another_property_is_printed_generically(name: str) -> None:
    for form, key in cases(name):
        found = read(program(f"{name} {form.format('')}"))
        assert found is not None
        module, op = found
        flags = op.properties.pop(key)
        assert f'"{name}"(' in print_module(module)
        op.properties[key] = UnitAttr()
        assert f'"{name}"(' in print_module(module)
        op.properties[key] = flags
        op.properties["more"] = UnitAttr()
        assert f'"{name}"(' in print_module(module)


@pytest.mark.parametrize("flags", ["overflow<nsw>", "fastmath<nnan>", "overflow<none>"])
@pytest.mark.parametrize("form", ["arith.divsi %a, %a{0} : i32", "arith.cmpi slt, %a, %a{0} : i32"])
def test_flags_that_an_operation_does_not_take_are_reported(form: str, flags: str) -> None:
    _, found = parsed(program(form.format(f" {flags}")))
    name, word = form.partition(" ")[0], flags.partition("<")[0]
    assert [(rule, message) for rule, _, _, message in found] == [("parse-syntax", f"{name} does not take {word}<..>")]
