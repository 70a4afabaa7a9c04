"""Definitions that are made later are those that xDSL makes at once."""

from __future__ import annotations

from typing import Any

import pytest
from xdsl.dialects.builtin import i32
from xdsl.ir import Block, Operation
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException

from pto_dialect.accel.operations.construct import has_defaults, new_operation
from pto_dialect.accel.operations.deferred_definitions import DeferredOp, Part, declared, defer, define, has_declared
from pto_dialect.ir.core.registry import all_op_classes


def _like(base: type[Any], finish: Any) -> type[Any]:
    """A class with parts of its own and of a class above it."""

    class Above(base):
        above = opt_operand_def(AnyAttr())
        mark = attr_def(AnyAttr())

    class Both(Above):
        name = "test.both"
        own = opt_operand_def(AnyAttr())
        out = result_def(AnyAttr())
        tag = prop_def(AnyAttr())

    finish(Both)
    return Both


def _at_once(cls: type[Any]) -> None:
    from xdsl.irdl import AttrSizedOperandSegments

    cls.irdl_options = (AttrSizedOperandSegments(),)
    irdl_op_definition(cls)


def test_a_definition_is_the_same_when_it_is_made_later() -> None:
    at_once, later = _like(IRDLOperation, _at_once), _like(DeferredOp, defer)
    assert "get_irdl_definition" not in vars(later)
    one, other = at_once.get_irdl_definition(), later.get_irdl_definition()
    for part in ("operands", "results", "options", "accessor_names"):
        assert repr(getattr(one, part)) == repr(getattr(other, part))
    assert repr(one.properties) == repr(other.properties)
    assert list(one.attributes) == list(other.attributes)
    for name in ("own", "above", "out", "mark", "tag"):
        assert type(vars(at_once)[name]) is type(vars(later)[name])


@pytest.mark.parametrize("ask", ["define", "read", "write", "verify"])
def test_the_first_question_makes_the_definition(ask: str) -> None:
    class One(DeferredOp):
        name = "test.one"
        source = operand_def(i32)
        mark = attr_def(AnyAttr())

    defer(One)
    value = Block(arg_types=[i32]).args[0]
    op: Any = new_operation(One, [value], [], {"mark": i32}, {})
    assert "get_irdl_definition" not in vars(One)
    if ask == "define":
        define(One)
    elif ask == "read":
        assert op.source is value
    elif ask == "write":
        op.mark = i32
        assert op.attributes["mark"] == i32
        assert "mark" not in vars(op)
    else:
        # Without its operand; xDSL's own way to make it would ask for the definition.
        other = new_operation(One, [], [], {}, {})
        assert "get_irdl_definition" not in vars(One)
        with pytest.raises(VerifyException):
            other.verify_()
    assert "get_irdl_definition" in vars(One)
    assert op.source is value
    assert op.mark == i32


def test_a_class_without_name_has_no_definition() -> None:
    with pytest.raises(RuntimeError):
        DeferredOp.get_irdl_definition()


def test_every_operation_has_a_definition() -> None:
    for cls in all_op_classes():
        definition = cls.get_irdl_definition()
        assert definition.name == cls.name
        assert issubclass(cls, Operation)
        for name, _ in (*definition.operands, *definition.results):
            assert type(vars(cls)[name]).__name__.endswith("Accessor")


def test_the_parts_are_those_of_the_definition() -> None:
    for cls in all_op_classes():
        definition = cls.get_irdl_definition()
        parts = {
            Part.OPERANDS: dict(definition.operands),
            Part.RESULTS: dict(definition.results),
            Part.ATTRIBUTES: {n: d for n, d in definition.attributes.items() if not n.endswith("SegmentSizes")},
            Part.PROPERTIES: definition.properties,
        }
        for part, made in parts.items():
            fields = declared(cls, part)
            assert [(name, field.cls) for name, field in fields.items()] == [(n, type(d)) for n, d in made.items()]


def test_parts_need_no_definition() -> None:
    class One(DeferredOp):
        name = "test.one"
        source = operand_def(i32)
        mark = attr_def(AnyAttr(), attr_name="other")

    assert not has_declared(One)
    defer(One)
    assert has_declared(One)
    assert list(declared(One, Part.OPERANDS)) == ["source"]
    assert list(declared(One, Part.ATTRIBUTES)) == ["other"]
    assert not has_defaults(One)
    assert "get_irdl_definition" not in vars(One)
