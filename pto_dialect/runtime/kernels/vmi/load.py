"""Loads of logical vectors. Source: docs/reference/vectors.md, "Logical vectors"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.compile.generator import Expr, Generator
from pto_dialect.runtime.vector import logical_memory as m
from pto_dialect.targets.vector_unit import VL_BYTES

from ..registry import kernel, kernels
from ..vector.values import define_result
from .values import access_address, group_count, lane_format, lanes_of, memory, memory_format


def _lanes(value: SSAValue, g: Generator) -> tuple[Any, int]:
    """Returns storage type and number of the lanes of a vector."""
    return lane_format(value, g).storage, lanes_of(value, g)


def check_repeat(op: PtoOp, g: Generator, vector: SSAValue) -> None:
    """Raises an error for a repeat stride of blocks: it states where a second register continues, for which no page has
    a formula."""
    if g.operand(op, "repeat_stride") is not None and lane_format(vector, g).bytes * lanes_of(vector, g) > VL_BYTES:
        raise g.error("unmodelled", "no page defines the repeat stride of a vector of more than 256 bytes", op)


@kernels({"pto.vmi.load": m.load, "pto.vmi.deinterleave_load": m.load_pair})
def load(op: PtoOp, g: Generator, function: Callable[..., Any]) -> None:
    """Lanes from consecutive elements, or two vectors from elements that alternate between them; the offset counts
    elements."""
    define_result(op, g, function, *access_address(op, g, "source"), *_lanes(op.results[0], g))


@kernels({"pto.vmi.masked_load": m.load_masked, "pto.vmi.expand_load": m.load_expanded})
def load_active(op: PtoOp, g: Generator, function: Callable[..., Any]) -> None:
    """Active lanes from elements at their positions, or from consecutive elements in order (``expand_load``); the
    others are those of ``passthru``."""
    operands = (g.operand(op, "mask"), g.operand(op, "passthru"))
    define_result(op, g, function, *access_address(op, g, "source"), *operands)


@kernels(
    {
        # Consecutive lanes; one value for each group; one value in all lanes of each group.
        "pto.vmi.group_load": (m.load_groups, "row_stride"),
        "pto.vmi.group_slot_load": (m.load_groups, "source_group_stride"),
        "pto.vmi.group_broadcast_load": (m.load_group_values, "source_group_stride"),
    }
)
def load_groups(op: PtoOp, g: Generator, row: tuple[Callable[..., Any], str]) -> None:
    """Elements of groups; an operand states their distance in elements."""
    function, stride = row
    lanes = _lanes(op.results[0], g)
    define_result(op, g, function, *access_address(op, g, "source"), *lanes, group_count(op), named(op, stride))


@kernel("pto.vmi.stride_load")
def stride_load(op: PtoOp, g: Generator) -> None:
    """Active blocks of 32 bytes from memory, ``block_stride`` blocks apart."""
    result = op.results[0]
    check_repeat(op, g, result)
    define_result(
        op,
        g,
        m.load_blocks,
        *access_address(op, g, "source"),
        *_lanes(result, g),
        g.operand(op, "block_stride"),
        g.operand(op, "mask"),
    )


@kernel("pto.vmi.vload")
def vload(op: PtoOp, g: Generator) -> None:
    """Lanes from memory: in order, in groups, by blocks, alternating, repeated or widened, according to the operands
    and ``dist_mode``."""
    result = op.results[0]
    where, what = access_address(op, g, "source"), _lanes(result, g)
    block, dist = g.operand(op, "block_stride"), enumerator(op, "dist_mode") or "continuous"
    if block is not None:
        check_repeat(op, g, result)
        define_result(op, g, m.load_blocks, *where, *what, block)
    elif "group" in op.attributes:
        function = m.load_group_values if dist == "brc" else m.load_groups
        define_result(op, g, function, *where, *what, group_count(op), g.operand(op, "stride"))
    elif dist == "dintlv":
        define_result(op, g, m.load_pair, *where, *what)
    elif dist == "brc":
        define_result(op, g, m.load_broadcast, *where, *what)
    elif dist == "unpack":
        narrow = memory_format(named(op, "source"), g).bytes
        if narrow >= what[0].itemsize:
            raise g.error("unmodelled", "dist_mode unpack has a meaning for elements narrower than the lanes only", op)
        define_result(op, g, m.load_widened, *where, *what, narrow)
    else:
        define_result(op, g, m.load, *where, *what)


# ------------------------------------------------------------ scattered addresses


def _zeros(value: SSAValue, g: Generator) -> Expr:
    """Returns a vector of zeros for the inactive lanes."""
    storage, count = _lanes(value, g)
    return Expr(g.emitter.constant(np.zeros(count, storage), "zeros"))


@kernel("pto.vmi.gather")
def gather(op: PtoOp, g: Generator) -> None:
    """Active lane i = the element at index i; the others are those of ``passthru``."""
    indices, mask, passthru = (named(op, name) for name in ("indices", "mask", "passthru"))
    define_result(op, g, m.gather, memory(op, g, "source"), indices, mask, passthru)


@kernel("pto.vmi.vgather")
def vgather(op: PtoOp, g: Generator) -> None:
    """Active lane i = the element at offset i, in elements; the others are 0."""
    offsets, mask = (named(op, name) for name in ("offsets", "mask"))
    define_result(op, g, m.gather, memory(op, g, "source"), offsets, mask, _zeros(op.results[0], g))


@kernel("pto.vmi.vgatherb")
def vgatherb(op: PtoOp, g: Generator) -> None:
    """Active lane i = the element at byte offset i; the others are 0. Raises ``ProgramError`` for another number of
    offsets than lanes."""
    offsets, mask = (named(op, name) for name in ("offsets", "mask"))
    if lanes_of(offsets, g) != lanes_of(op.results[0], g):
        message = f"no page defines how {lanes_of(offsets, g)} byte offsets gather {lanes_of(op.results[0], g)} lanes"
        raise g.error("unmodelled", message, op)
    define_result(op, g, m.gather_bytes, memory(op, g, "source"), offsets, mask, _zeros(op.results[0], g))
