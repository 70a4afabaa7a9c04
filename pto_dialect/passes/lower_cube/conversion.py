"""What a write-back applies to accumulators, as clauses: quantisation, relu, saturation, atomic.

Source: docs/reference/numerics.md, "Write-back"; docs/reference/targets.md, "Quantisation modes".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from struct import pack, unpack

from xdsl.dialects.arith import AndIOp, BitcastOp, TruncIOp
from xdsl.dialects.builtin import f32, i32
from xdsl.ir import Attribute, SSAValue

from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.types import element_name
from pto_dialect.passes.instructions.geometry import NotLoweredError, Reader, constant_bits
from pto_dialect.passes.instructions.writer import Number, Writer, enum
from pto_dialect.targets.element_types import signless
from pto_dialect.targets.profile import Profile

_SCALE_BITS = 0xFFFFE000
"""The bits of an f32 that count in the scale of a channel."""
_OFFSET, _SIGN, _SHIFT = 0x1FF << 37, 1 << 46, 0xF << 32
_PLAIN = {("f32", "f16"): "f32_f16", ("f32", "bf16"): "f32_bf16"}
_INTEGERS = ("i8", "si8", "ui8", "i16", "si16", "ui16", "i32", "si32", "ui32")
_ATOMIC = {"atomic_add": "add", "atomic_max": "max", "atomic_min": "min"}
_ENTRY_BYTES = 8


@dataclass
class Conversion:
    """The clauses of one write-back. ``table`` has one entry for each channel; its pointer moves with the columns."""

    attributes: dict[str, Attribute] = field(default_factory=dict)
    payload: SSAValue | None = None
    table: bool = False

    def quantiser(self, writer: Writer, column: Number) -> SSAValue | None:
        """Returns the payload of ``pre_quant`` for the columns from ``column`` on."""
        if not self.table:
            return self.payload
        assert self.payload is not None
        return writer.advanced(self.payload, writer.mul(column, _ENTRY_BYTES // 4))

    @property
    def plain(self) -> bool:
        """Whether values are copied as they are."""
        return not self.attributes.keys() & {"pre_quant_mode", "pre_relu_mode"}


def conversion_of(writer: Writer, profile: Profile, source: Attribute, target: Attribute) -> Conversion:
    """Returns the clauses that the operation requires, from accumulators of type ``source`` to elements of ``target``.
    Raises :class:`NotLoweredError`."""
    op = writer.anchor
    assert isinstance(op, PtoOp)
    conversion = Conversion()
    groups = operand_groups(op)
    one, other = signless(element_name(source)), element_name(target)
    scalar, table = (next(iter(groups.get(name, ())), None) for name in ("preQuantScalar", "fp"))
    if scalar is not None or table is not None:
        base = profile.acc_quant_mode.get((one, "i8" if other in ("si8", "ui8") else other))
        if base is None:
            raise NotLoweredError(op, f"{one} accumulators are not quantised to {other}")
        mode = f"{base}_{'scalar' if scalar is not None else 'vec'}"
        conversion.attributes["pre_quant_mode"] = enum("quant_pre_mode", mode)
        if scalar is not None:
            conversion.payload = _scalar(writer, scalar, other)
        else:
            assert table is not None
            conversion.payload, conversion.table = _table(writer, table), True
    elif (one, other) in _PLAIN:
        conversion.attributes["pre_quant_mode"] = enum("quant_pre_mode", _PLAIN[one, other])
        conversion.payload = writer.f32(0.0)
    elif one != signless(other):
        raise NotLoweredError(op, f"{one} accumulators become {other} by a scale only")
    relu = enumerator(op, "reluPreMode") or "no_relu"
    if relu == "normal_relu":
        conversion.attributes["pre_relu_mode"] = enum("relu_pre_mode", relu)
    elif relu != "no_relu":
        raise NotLoweredError(op, f"{relu} needs a payload that tile operations do not carry")
    if other not in _INTEGERS and other != "f32":
        conversion.attributes["sat_mode"] = enum("acc_store_sat_mode", "sat")
    atomic = enumerator(op, "atomicType")
    if atomic in _ATOMIC:
        kind = signless(other).replace("i", "s") if other in _INTEGERS else other
        conversion.attributes["atomic_type"] = enum("acc_store_atomic_type", kind)
        conversion.attributes["atomic_op"] = enum("acc_store_atomic_op", _ATOMIC[atomic])
    return conversion


def _scalar(writer: Writer, entry: SSAValue, target: str) -> SSAValue:
    """Returns the scale of an entry for all channels as an f32, as far as its bits count."""
    bits = constant_bits(entry)
    if bits is not None:
        signed = target in ("i8", "si8")
        if bits & (_OFFSET | _SHIFT) or (target in _INTEGERS and bool(bits & _SIGN) != signed):
            raise NotLoweredError(writer.anchor, "a scale for all channels has no offset, shift or sign of its own")
        return writer.f32(unpack("<f", pack("<I", bits & _SCALE_BITS))[0])
    if target in _INTEGERS:
        raise NotLoweredError(writer.anchor, "only a run knows the offset and the sign of its scale")
    low = writer.put(TruncIOp(entry, i32))
    masked = writer.put(AndIOp(low, writer.function.constant(_SCALE_BITS - (1 << 32), i32)))
    return writer.put(BitcastOp(masked, f32))


def _table(writer: Writer, value: SSAValue) -> SSAValue:
    tile = Reader(writer).tile(value)
    if tile.bytes != _ENTRY_BYTES or tile.type.loc != "scaling" or tile.kind != "ND" or tile.base_type.rows != 1:
        raise NotLoweredError(writer.anchor, "a table of channels is a row of 64-bit entries in the fixpipe buffer")
    pointer = writer.seen_as(tile.pointer, f32)
    return writer.advanced(pointer, writer.mul(tile.col, _ENTRY_BYTES // 4))
