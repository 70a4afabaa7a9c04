"""Making operations from checked parts, and appending them to blocks.

``Operation.create`` and ``Block.add_op`` of xDSL serve every use: replacing operands, default values, ancestors,
operations that are attached elsewhere. The parser makes each operation once, from parts it has just checked, and
appends it to the block it fills, so the same fields can be filled directly. A test compares the results.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from xdsl.dialects.builtin import IndexType, IntAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue, Use
from xdsl.ir.core import SSAValues
from xdsl.irdl import IRDLOperation, OptionalDef

from pto_dialect.accel import enabled
from pto_dialect.accel.operations.deferred_definitions import Part, declared, has_declared
from pto_dialect.accel.operations.template import OperationTemplate
from pto_dialect.diagnostics.source import SourceFile

# pyright: reportPrivateUsage=false

_new = object.__new__
_set = object.__setattr__


@cache
def has_defaults(cls: type[Operation]) -> bool:
    """Returns True when creating an operation of ``cls`` fills in attributes or properties that are not given."""
    if has_declared(cls):
        fields = (*declared(cls, Part.PROPERTIES).values(), *declared(cls, Part.ATTRIBUTES).values())
        return any(not issubclass(one.cls, OptionalDef) and one.default_value is not None for one in fields)
    if not issubclass(cls, IRDLOperation):
        return True
    definition = cls.get_irdl_definition()
    definitions = (*definition.properties.values(), *definition.attributes.values())
    return any(not isinstance(one, OptionalDef) and one.default_value is not None for one in definitions)


def new_operation(
    cls: type[Operation],
    operands: Sequence[SSAValue],
    result_types: Sequence[Attribute],
    attributes: dict[str, Attribute],
    properties: dict[str, Attribute],
) -> Operation:
    """Returns an operation without regions and successors of a class without default attributes.

    The dictionaries become the operation's own. What a class says by default is not stored again.
    """
    if not enabled("construction"):
        made = cls.create(operands=operands, result_types=result_types, attributes=attributes, properties=properties)
        # As below, an operation has no location until somebody says where it was read.
        del made.location
        return made
    op = cls.__new__(cls)
    if operands:
        uses: list[Use] = []
        for index, value in enumerate(operands):
            earlier = value.first_use
            use = Use(op, index, None, earlier)
            if earlier is not None:
                earlier._prev_use = use
            value.first_use = use
            uses.append(use)
        op._operands = SSAValues(operands)
        op._operand_uses = tuple(uses)
    if result_types:
        op.results = SSAValues([OpResult(type_, op, index) for index, type_ in enumerate(result_types)])
    op.properties = properties
    op.attributes = attributes
    return op


def new_integer(number: int, type_: IntegerType | IndexType) -> IntegerAttr:
    """Returns the attribute of a number that its type has, with the sign that the type gives to its bits."""
    if not enabled("construction"):
        return IntegerAttr(number, type_)
    data = _new(IntAttr)
    _set(data, "data", number)
    made = _new(IntegerAttr)
    _set(made, "value", data)
    _set(made, "type", type_)
    return made


def append_operation(block: Block, op: Operation) -> None:
    """Makes ``op``, which is in no block yet and does not contain ``block``, the last of ``block``."""
    if not enabled("construction"):
        block.add_op(op)
        return
    op.parent = block
    last = block._last_op
    if last is None:
        block._first_op = op
    else:
        last._next_op = op
        op._prev_op = last
    block._last_op = op


def append_block(region: Region, block: Block) -> None:
    """Makes ``block``, which is in no region yet and has no operations, the last of ``region``."""
    if not enabled("construction"):
        region.add_block(block)
        return
    # Without a search of all regions around, which takes quadratic time for nested ones.
    block.parent = region
    last = region._last_block
    if last is None:
        region._first_block = block
    else:
        last._next_block = block
        block._prev_block = last
    region._last_block = block


def operation_like(
    template: OperationTemplate,
    operands: Sequence[SSAValue],
    result_types: Sequence[Attribute],
    place: tuple[SourceFile, int, int],
    block: Block,
) -> Operation:
    """Returns an operation of the same form as others, read from ``place``, as the last of ``block``:
    :func:`new_operation`, ``locate`` and :func:`append_operation` in one, without calls. The location is made at the
    first access."""
    op = _new(template.cls)
    if operands:
        uses: list[Use] = []
        for index, value in enumerate(operands):
            use = _new(Use)
            use._operation, use._index = op, index
            use._next_use = earlier = value.first_use
            if earlier is not None:
                earlier._prev_use = use
            value.first_use = use
            uses.append(use)
        op._operands = SSAValues(operands)
        op._operand_uses = tuple(uses)
    if result_types:
        results: list[OpResult] = []
        for index, type_ in enumerate(result_types):
            result = _new(OpResult)
            result._type, result.op, result.index = type_, op, index
            results.append(result)
        op.results = SSAValues(results)
    if not template.deferred:
        op.properties = template.properties.copy()
        op.attributes = template.attributes.copy()
    op._source, op._start, op._end = place  # pyright: ignore[reportAttributeAccessIssue]
    op._template = template  # pyright: ignore[reportAttributeAccessIssue]
    op.parent = block
    last = block._last_op
    if last is None:
        block._first_op = op
    else:
        last._next_op = op
        op._prev_op = last
    block._last_op = op
    return op
