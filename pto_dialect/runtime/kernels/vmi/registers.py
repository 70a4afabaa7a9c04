"""Logical values from registers and back. Source: docs/reference/language.md, "Attributes";
docs/reference/operations.md, "Logical vectors: rearrangement".
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.vector import physical
from pto_dialect.runtime.vector.register import FINEST
from pto_dialect.syntax.types.vmi_layout import layout_fields
from pto_dialect.verify.vmi.common import layout_text

from ..registry import kernel
from ..vector.values import define_result
from .values import lane_format


def _lane_positions(op: PtoOp, g: Generator, vector: SSAValue, registers: int) -> Array:
    """Returns the position of each lane among the lanes, or the bits, of all registers."""
    type_ = vector.type
    assert isinstance(type_, (t.VmiVRegType, t.VmiMaskType))
    mask = isinstance(type_, t.VmiMaskType)
    size = FINEST[type_.granularity] if mask else lane_format(vector, g).bytes
    fields = tuple(layout_fields(layout_text(type_)).items())
    positions = physical.lane_positions(fields, type_.lanes, size, registers)
    if positions is None:
        raise g.error("unmodelled", f"{registers} registers do not hold {t.type_text(type_)}", op)
    return positions * size if mask else positions


@kernel("pto.vmi.unpack")
def unpack(op: PtoOp, g: Generator) -> None:
    """A logical vector or predicate as physical registers, in the layout of its type. Raises ``ProgramError`` where
    they do not hold it."""
    source, count = named(op, "source"), len(op.results)
    function = physical.masks_of if isinstance(source.type, t.VmiMaskType) else physical.registers_of
    names = [g.bind(result) for result in op.results]
    at = g.emitter.constant(_lane_positions(op, g, source, count), "places")
    g.emitter.line(f"{', '.join(names)}, = {g.argument(function)}({g.name(source)}, {at}, {count})")


@kernel("pto.vmi.pack")
def pack(op: PtoOp, g: Generator) -> None:
    """Physical registers as a logical vector or predicate, in the layout of its type. Raises ``ProgramError`` where
    they do not hold it."""
    result = op.results[0]
    at = _lane_positions(op, g, result, len(op.operands))
    define_result(op, g, physical.joined, at, *op.operands)
