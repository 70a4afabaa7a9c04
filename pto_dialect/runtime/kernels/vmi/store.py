"""Stores of logical vectors. Source: docs/reference/vectors.md, "Logical vectors"."""

from __future__ import annotations

from xdsl.ir import SSAValue

from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.vector import logical_memory as m

from ..registry import kernel
from .load import check_repeat
from .values import access_address, group_count, lane_format, memory, memory_format


@kernel("pto.vmi.store", "pto.vmi.masked_store")
def store(op: PtoOp, g: Generator) -> None:
    """Active lanes to consecutive elements; the offset counts elements."""
    g.call(m.store, named(op, "value"), *access_address(op, g, "destination"), g.operand(op, "mask"))


@kernel("pto.vmi.interleave_store")
def interleave_store(op: PtoOp, g: Generator) -> None:
    """The lanes of two vectors alternating to memory."""
    g.call(m.store_pair, named(op, "low"), named(op, "high"), *access_address(op, g, "destination"))


@kernel("pto.vmi.compress_store")
def compress_store(op: PtoOp, g: Generator) -> None:
    """Active lanes to consecutive elements without gaps."""
    g.call(m.store_compressed, named(op, "value"), *access_address(op, g, "destination"), g.operand(op, "mask"))


def _store_groups(op: PtoOp, g: Generator, value: SSAValue, stride: SSAValue | None) -> None:
    destination = g.operand(op, "destination")
    assert destination is not None
    address, start = access_address(op, g, "destination")
    lanes, elements = lane_format(value, g), memory_format(destination, g)
    function = m.store_groups
    if elements.bytes < lanes.bytes:
        if lanes.is_float:
            raise g.error("unmodelled", f"no page defines how {lanes.name} lanes are stored as {elements.name}", op)
        function = m.store_low_bytes
    g.call(function, value, address, start, group_count(op), stride)


@kernel("pto.vmi.group_store")
def group_store(op: PtoOp, g: Generator) -> None:
    """The lanes of each group to consecutive elements; groups are ``row_stride`` elements apart."""
    _store_groups(op, g, named(op, "value"), g.operand(op, "row_stride"))


@kernel("pto.vmi.stride_store", "pto.vmi.vsstb")
def block_store(op: PtoOp, g: Generator) -> None:
    """Active blocks of 32 bytes to memory, ``block_stride`` blocks apart."""
    value = named(op, "value")
    check_repeat(op, g, value)
    where = access_address(op, g, "destination")
    g.call(m.store_blocks, value, *where, g.operand(op, "block_stride"), g.operand(op, "mask"))


@kernel("pto.vmi.vstore")
def vstore(op: PtoOp, g: Generator) -> None:
    """Lanes to memory: in order, in groups, by blocks or alternating, according to the operands and ``dist_mode``."""
    values, mask = g.operands(op)["values"], g.operand(op, "mask")
    block = g.operand(op, "block_stride")
    where = access_address(op, g, "destination")
    if block is not None:
        check_repeat(op, g, values[0])
        g.call(m.store_blocks, values[0], *where, block, mask)
    elif "group" in op.attributes:
        _store_groups(op, g, values[0], g.operand(op, "stride"))
    elif enumerator(op, "dist_mode") == "dintlv":
        g.call(m.store_pair, *values, *where, mask)
    else:
        g.call(m.store, values[0], *where, mask)


@kernel("pto.vmi.scatter", "pto.vmi.vscatter")
def scatter(op: PtoOp, g: Generator) -> None:
    """Active lane i to the element at index i; of equal indices the highest lane wins."""
    value, _, offsets, mask = op.operands
    g.call(m.scatter, value, memory(op, g, "destination"), offsets, mask)
