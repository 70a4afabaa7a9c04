"""Loads and stores of vector registers. Source: docs/reference/vectors.md, "Loads and stores"."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.compile.generator import Expr, Generator
from pto_dialect.runtime.vector import memory as m
from pto_dialect.runtime.vector import streams
from pto_dialect.targets.vector_unit import VLANE_BYTES

from ..registry import kernel, kernels
from .values import (
    access,
    define_result,
    enumerator,
    optional_result,
    pointer,
    register_format,
    required_enumerator,
    update,
)

_WIDTH = re.compile(r"_B(\d+)$")


def _width(dist: str) -> int:
    """Returns the bytes of the elements that a distribution names."""
    match = _WIDTH.search(dist)
    assert match is not None, dist
    return int(match[1]) // 8


def _load_function(dist: str) -> tuple[Any, tuple[int, ...]]:
    """Returns the function for a distribution of ``vlds``, and its further arguments."""
    if dist == "NORM":
        return m.load, ()
    if dist == "BRC_BLK":
        return m.load_broadcast, (VLANE_BYTES,)
    if dist == "UNPK4":
        return m.load_widened, (1, 4)
    if dist == "SPLT4CHN":
        return m.load_every, (1, 4)
    name = dist.rpartition("_")[0]
    size = _width(dist)
    function, further = {
        "BRC": (m.load_broadcast, ()),
        "US": (m.load_doubled, ()),
        "DS": (m.load_downsampled, ()),
        "UNPK": (m.load_widened, (2,)),
        "SPLT2CHN": (m.load_every, (2,)),
        "E2B": (m.load_by_block, ()),
    }[name]
    return function, (size, *further)


def _elements(op: PtoOp, g: Generator, name: str) -> str:
    """Returns the offset operand in bytes."""
    base, offset = g.operand(op, name), g.operand(op, "offset")
    assert base is not None and offset is not None
    return f"{g.name(offset)} * {pointer(base, g)}.item_bytes"


@kernel("pto.vlds", "pto.uvld")
def vlds(op: PtoOp, g: Generator) -> None:
    """A register from memory in the distribution that ``dist`` names; the offset counts elements."""
    function, further = _load_function(enumerator(op, "dist") or "NORM")
    result, updated = op.results[0], optional_result(op, 1)
    step = _elements(op, g, "source")
    base, start = access(op, g, "source", step, updated)
    arguments = ", ".join(g.argument(a) for a in (base, start, register_format(result, g).storage, *further))
    g.define(result, f"{g.argument(function)}({arguments})")
    update(base, step, updated, g)


@kernel("pto.vldsx2")
def vldsx2(op: PtoOp, g: Generator) -> None:
    """Two registers from 512 bytes of memory, their units alternating."""
    dist = required_enumerator(op, g, "dist")
    low, high = op.results[:2]
    updated = optional_result(op, 2)
    step = _elements(op, g, "source")
    base, start = access(op, g, "source", step, updated)
    size = VLANE_BYTES if dist == "BDINTLV" else _width(dist)
    arguments = ", ".join(g.argument(a) for a in (base, start, register_format(low, g).storage, size))
    names = g.bind(low), g.bind(high)
    g.emitter.line(f"{', '.join(names)} = {g.argument(m.load_pair)}({arguments})")
    update(base, step, updated, g)


def _store_function(dist: str, size: int) -> tuple[Any, tuple[int, ...]]:
    """Returns the function for a distribution of ``vsts``, and its further arguments; ``size`` is that of
    an element."""
    if not dist:
        return m.store_lanes, (size,)
    if dist == "PK4_B32":
        return m.store_packed, (4, 1)
    name, width = dist.rpartition("_")[0], _width(dist)
    if name == "PK":
        return m.store_packed, (width, width // 2)
    return (m.store_first if name == "1PT" else m.store_lanes), (width,)


@kernel("pto.vsts")
def vsts(op: PtoOp, g: Generator) -> None:
    """Active lanes to memory in the distribution that ``dist`` names. Raises ``ProgramError`` for merging
    distributions, which the hardware does not have."""
    dist = enumerator(op, "dist")
    if dist.startswith("MRG"):
        raise g.error("unmodelled", f"{dist} has no defined result: the hardware does not support it", op)
    value, mask = g.operand(op, "value"), g.operand(op, "mask")
    assert value is not None
    function, further = _store_function(dist, register_format(value, g).bytes)
    updated = optional_result(op, 0)
    step = _elements(op, g, "destination")
    base, start = access(op, g, "destination", step, updated)
    g.call(function, value, base, start, mask, *further)
    update(base, step, updated, g)


@kernel("pto.vstsx2")
def vstsx2(op: PtoOp, g: Generator) -> None:
    """The lanes of two registers alternating to memory."""
    low, high = g.operand(op, "low"), g.operand(op, "high")
    base, start = access(op, g, "destination", _elements(op, g, "destination"), None)
    g.call(m.store_pair, low, high, base, start, _width(required_enumerator(op, g, "dist")))


@kernel("pto.vsldb")
def vsldb(op: PtoOp, g: Generator) -> None:
    """Active blocks of 32 bytes from memory, ``block_stride`` blocks apart; the others are 0."""
    stride, repeat, mask = (named(op, name) for name in ("block_stride", "repeat_stride", "mask"))
    result, updated = op.results[0], optional_result(op, 1)
    step = f"{g.name(repeat)} * {VLANE_BYTES}"
    base, start = access(op, g, "source", step, updated)
    arguments = ", ".join(g.argument(a) for a in (base, start, register_format(result, g).storage, stride, mask))
    g.define(result, f"{g.argument(m.load_blocks)}({arguments})")
    update(base, step, updated, g)


@kernel("pto.vsstb")
def vsstb(op: PtoOp, g: Generator) -> None:
    """Active blocks of 32 bytes to memory, ``block_stride`` blocks apart."""
    value, stride, repeat, mask = (named(op, name) for name in ("value", "block_stride", "repeat_stride", "mask"))
    updated = optional_result(op, 0)
    step = f"{g.name(repeat)} * {VLANE_BYTES}"
    base, start = access(op, g, "destination", step, updated)
    g.call(m.store_blocks, value, base, start, stride, mask)
    update(base, step, updated, g)


@kernels({"pto.vgather2": m.gather, "pto.vgather2_bc": m.gather, "pto.vgatherb": m.gather_blocks})
def gather(op: PtoOp, g: Generator, function: Callable[..., Any]) -> None:
    """Active lane i = the element at offset i, in elements, or active block i of 32 bytes = the block at offset i, in
    bytes; inactive lanes and blocks are 0."""
    source, offsets, mask = op.operands
    define_result(op, g, function, pointer(source, g), offsets, mask, register_format(op.results[0], g).storage)


@kernel("pto.vscatter")
def vscatter(op: PtoOp, g: Generator) -> None:
    """Active lane i to the element at offset i; of equal offsets the highest lane wins."""
    value, destination, offsets, mask = (named(op, name) for name in ("value", "destination", "offsets", "mask"))
    g.call(m.scatter, value, pointer(destination, g), offsets, mask)


# ------------------------------------------------------------ streams. The state holds the pending bytes of a stream of
# stores; see ``vector/streams.py``.


@kernel("pto.init_align")
def init_align(op: PtoOp, g: Generator) -> None:
    """Starts a stream of stores to any address."""
    g.define(op.results[0], f"{g.argument(streams.StoreStream)}()")


@kernel("pto.vldas")
def vldas(op: PtoOp, g: Generator) -> None:
    """Starts a stream of loads from any address with the block around it."""
    g.define(op.results[0], f"{g.argument(streams.prime)}({pointer(named(op, 'source'), g)})")


@kernel("pto.vldus")
def vldus(op: PtoOp, g: Generator) -> None:
    """The next 256 bytes of a stream of loads; the updated base is ``increment`` elements further."""
    result, align = op.results[:2]
    updated = optional_result(op, 2)
    increment = g.operand(op, "increment")
    source = g.operand(op, "source")
    assert source is not None
    step = f"{g.name(increment)} * {pointer(source, g)}.item_bytes" if increment is not None else "0"
    base, start = access(op, g, "source", step, updated)
    dtype = g.argument(register_format(result, g).storage)
    g.define(result, f"{g.argument(m.load)}({base}, {start}, {dtype})")
    g.define(align, g.argument(streams.BEGUN))
    update(base, step, updated, g)


@kernel("pto.vstus")
def vstus(op: PtoOp, g: Generator) -> None:
    """Appends the first ``offset`` elements of a register to the stream; the updated base is the new end of
    the stream."""
    state, offset, value, base = (named(op, name) for name in ("align_in", "offset", "value", "base"))
    call = f"{g.argument(streams.append_lanes)}({g.name(state)}, {g.name(value)}, {pointer(base, g)}, {g.name(offset)}"
    g.define(op.results[0], f"{call}, core.state)")
    size = register_format(value, g).bytes
    update(pointer(base, g), f"{g.name(offset)} * {size}", optional_result(op, 1), g)


@kernel("pto.vstur")
def vstur(op: PtoOp, g: Generator) -> None:
    """Appends the bytes that the last compaction counted to the stream, at the offset in register AR."""
    state, value, base = (named(op, name) for name in ("align_in", "value", "base"))
    advance = enumerator(op, "mode") == "POST_UPDATE"
    call = f"{g.argument(streams.append_counted)}({g.name(state)}, {g.name(value)}, {pointer(base, g)}"
    g.define(op.results[0], f"{call}, core.state, {advance})")


@kernel("pto.vstas")
def vstas(op: PtoOp, g: Generator) -> None:
    """Ends a stream of stores ``offset`` elements after the base, which is also the updated base."""
    updated = optional_result(op, 0)
    base = pointer(named(op, "destination"), g)
    step = f"{g.name(named(op, 'offset'))} * {base}.item_bytes"
    g.emitter.line(f"{g.argument(streams.flush)}({g.name(named(op, 'value'))}, {base}, {step})")
    update(base, step, updated, g)


@kernel("pto.vstar")
def vstar(op: PtoOp, g: Generator) -> None:
    """Ends a stream of stores at the offset in register AR."""
    base = pointer(named(op, "destination"), g)
    state = g.name(named(op, "value"))
    g.emitter.line(f"{g.argument(streams.flush)}({state}, {base}, core.state.get('ar', 0))")


def store_register(base: Any, start: int, state: dict[Any, Any]) -> None:
    """Special register AR, four bytes."""
    m.window(base, start, 4).view("<u4")[0] = state.get("ar", 0)


@kernels({"pto.sprsti": 4, "pto.sprsts": 1})
def store_special(op: PtoOp, g: Generator, unit: int) -> None:
    """Register AR to memory; the offset counts units of so many bytes."""
    updated = optional_result(op, 0)
    step = f"{g.name(named(op, 'offset'))} * {unit}"
    base, start = access(op, g, "destination", step, updated)
    g.call(store_register, base, start, Expr("core.state"))
    update(base, step, updated, g)


@kernel("pto.sprclr")
def sprclr(op: PtoOp, g: Generator) -> None:
    """Register AR = 0."""
    g.emitter.line("core.state['ar'] = 0")
