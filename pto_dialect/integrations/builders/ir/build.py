"""Making operations of any dialect from their parts, in the form that the reader of programs gives them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation

from pto_dialect.accel.operations.construct import append_operation, has_defaults, new_operation
from pto_dialect.ir.core.aliases import ATTRIBUTE_ALIASES
from pto_dialect.ir.core.attribute_text import attribute_text
from pto_dialect.ir.core.base import PtoOp, segment_sizes, signature
from pto_dialect.ir.core.location import set_extent
from pto_dialect.ir.core_dialects.core_ops import CLOSED_DIALECTS, UNMODELLED
from pto_dialect.syntax.generic_form import FLAGGED, complete_flags, infer_segments

from .context import Location, any_context, need_location
from .errors import MLIRError
from .names import class_named
from .places import current_place
from .points import InsertionPoint, current_point


@cache
def core_properties(cls: type[Operation]) -> frozenset[str]:
    """Returns the names of the properties of a class that is not of the dialect ``pto``."""
    return frozenset(cls.get_irdl_definition().properties) if issubclass(cls, IRDLOperation) else frozenset()


@cache
def _makes_directly(cls: type[Operation], stated: frozenset[str]) -> bool:
    """Returns whether creating an operation with these properties fills in nothing."""
    if not has_defaults(cls):
        return True
    if not issubclass(cls, IRDLOperation):
        return False
    definition = cls.get_irdl_definition()
    filled = [*definition.properties.items(), *definition.attributes.items()]
    return all(name in stated for name, one in filled if one.default_value is not None)


class _Way(NamedTuple):
    """How operations of a class are made: whether it is of the dialect ``pto``, the names of its properties, whether
    flags are among them, those that every operation has, and whether creating one with these fills in nothing."""

    is_pto: bool
    declared: frozenset[str]
    flagged: bool
    usual: dict[str, Attribute]
    directly: bool


@cache
def _way(cls: type[Operation]) -> _Way:
    if issubclass(cls, PtoOp):
        return _Way(True, frozenset(), False, {}, _makes_directly(cls, frozenset()))
    declared = core_properties(cls)
    usual: dict[str, Attribute] = {}
    complete_flags(cls.name, declared, usual)
    return _Way(False, declared, not FLAGGED.isdisjoint(declared), usual, _makes_directly(cls, frozenset(usual)))


def canonical_attributes(cls: type[PtoOp], attributes: dict[str, Attribute]) -> None:
    """Gives attributes their declared names, and drops those with their default value, in place."""
    for alias, name in ATTRIBUTE_ALIASES.get(cls.name, {}).items():
        if alias in attributes:
            attributes[name] = attributes.pop(alias)
    for name, default in signature(cls).defaults.items():
        if name in attributes and attribute_text(attributes[name]) == default:
            del attributes[name]


def _unregistered(name: str) -> type[Operation]:
    from pto_dialect.syntax.builder.memory import unregistered_class  # deferred: start-up

    dialect = name.partition(".")[0]
    closed = dialect == "pto" or (dialect in CLOSED_DIALECTS and name not in UNMODELLED)
    if closed or not any_context().allow_unregistered_dialects:
        from pto_dialect.syntax.errors.words import near_operations  # deferred: start-up

        near = near_operations(name)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise MLIRError(f"unknown operation {name!r}{hint}")
    return unregistered_class(name)


def create(
    name: str,
    operands: Sequence[SSAValue],
    results: Sequence[Attribute],
    attributes: dict[str, Attribute],
    regions: Sequence[Region] = (),
    successors: Sequence[Block] = (),
) -> Operation:
    """Returns a new operation, without a location and in no block."""
    cls = class_named(name)
    if cls is None:
        cls = _unregistered(name)
        attributes["op_name__"] = StringAttr(name)
    elif name.startswith("pto."):
        assert issubclass(cls, PtoOp)
        if attributes:
            canonical_attributes(cls, attributes)
        if signature(cls).segmented and "operandSegmentSizes" not in attributes:
            sizes = infer_segments(cls, len(operands), len(results))
            if sizes is None:
                names = ", ".join(slot.name for slot in signature(cls).operands)
                raise ValueError(
                    f"{name} with {len(operands)} operands is ambiguous: "
                    f"state operandSegmentSizes, a number for each of {names}"
                )
            attributes["operandSegmentSizes"] = segment_sizes(sizes)
    return assemble(cls, operands, results, attributes, regions, successors)


def assemble(
    cls: type[Operation],
    operands: Sequence[SSAValue],
    results: Sequence[Attribute],
    attributes: dict[str, Attribute],
    regions: Sequence[Region] = (),
    successors: Sequence[Block] = (),
) -> Operation:
    """Returns a new operation of a class, without a location and in no block."""
    way = _way(cls)
    properties: dict[str, Attribute] = {}
    directly = way.directly
    if attributes and not way.is_pto:
        for key in [key for key in attributes if key in way.declared]:
            properties[key] = attributes.pop(key)
        if way.flagged:
            complete_flags(cls.name, way.declared, properties)
        directly = directly or _makes_directly(cls, frozenset(properties))
    elif way.usual:
        properties.update(way.usual)
    if successors or not directly:
        op = cls.create(
            operands=operands,
            result_types=results,
            attributes=attributes,
            properties=properties,
            regions=regions,
            successors=successors,
        )
        del op.location
        return op
    op = new_operation(cls, operands, results, attributes, properties)
    for region in regions:
        op.add_region(region)
    return op


def locate(op: Operation, location: Location | None) -> None:
    """Gives an operation its location: a stated one, or that of the Python call that makes it."""
    place = need_location(location).place
    source, start, end = current_place() if place is None else place
    set_extent(op, source, start, end)


def insert(op: Operation, point: InsertionPoint | Any | None) -> None:
    """Inserts an operation at ``point``, or at the current insertion point; ``False`` means nowhere."""
    if point is None:
        point = current_point()
        if point is None:
            return
    elif point is False:
        return
    elif not isinstance(point, InsertionPoint):
        raise TypeError(f"ip is an InsertionPoint, found {type(point).__name__}")
    if point._before is None:
        append_operation(point.block._x, op)
    else:
        point.block._x.insert_op_before(op, point._before)
