"""Pointers and scalar memory accesses. Source: docs/reference/execution.md, "Pointers, tiles and views"."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects.builtin import MemRefType, VectorType
from xdsl.ir import Attribute

from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import Pipe, PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.compile.generator import Generator, integer_width, is_integer
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.memref import MemRef
from pto_dialect.runtime.memory.packed_element import pair_format
from pto_dialect.runtime.memory.spaces import Pointer, strided_view
from pto_dialect.runtime.numerics.decode import decode
from pto_dialect.runtime.numerics.encode import encode
from pto_dialect.runtime.numerics.formats import Format
from pto_dialect.runtime.numerics.print_format import format_number, split_format
from pto_dialect.runtime.run.machine import Core

from ..core.memref_maker import memref_over
from ..core.scalar import is_unsigned, wrapped
from ..registry import kernel

FB_ADDRESSES = 1 << 14
"""Table addresses in the fixpipe buffer are 8-bit counts of 64-byte rows, so larger byte addresses wrap."""


class PointerMaker:
    """Builds pointers of one type from byte addresses."""

    def __init__(self, space: str, fmt: Format) -> None:
        self.space = space
        self.fmt = fmt

    def __call__(self, core: Core, address: int) -> Pointer:
        """Returns the pointer to byte ``address`` of the memory."""
        arena, offset = core.locate(self.space, address % FB_ADDRESSES if self.space == "fb" else address)
        return Pointer(arena, offset, self.fmt.storage, self.fmt.bytes)


def pointer_format(type_: Attribute, g: Generator) -> Format:
    """Returns the format of the elements of a pointer type."""
    assert isinstance(type_, t.PtrType)
    return pair_format(type_.element) if isinstance(type_.element, VectorType) else g.format(type_.element)


@kernel("pto.castptr", "pto.inttoptr")
def castptr(op: PtoOp, g: Generator) -> None:
    """An address as a pointer, a pointer as one to other elements, or a pointer as its byte address."""
    (source,), result = op.operands, op.results[0]
    if isinstance(result.type, t.PtrType):
        fmt = pointer_format(result.type, g)
        if is_integer(source.type):
            maker = PointerMaker(result.type.space, fmt)
            g.define(result, f"{g.argument(maker)}(core, {g.name(source)})")
        else:
            dtype = g.argument(fmt.storage)
            pointer = g.name(source) if isinstance(source.type, t.PtrType) else f"core.pointer_of({g.name(source)})"
            g.define(result, f"{pointer}.with_dtype({dtype}, {fmt.bytes})")
        return
    g.define(result, wrapped(f"core.address_of({g.name(source)})", result.type))


@kernel("pto.ptrtoint")
def ptrtoint(op: PtoOp, g: Generator) -> None:
    """The byte address of a pointer."""
    g.define(op.results[0], f"core.address_of({g.name(named(op, 'ptr'))})")


@kernel("pto.addptr")
def addptr(op: PtoOp, g: Generator) -> None:
    """A pointer advanced by some elements."""
    pointer, offset = (named(op, name) for name in ("ptr", "offset"))
    g.define(op.results[0], f"{g.name(pointer)}.advance({g.name(offset)})")


@kernel("pto.tile_buf_addr", "pto.tensor_view_addr")
def base_address(op: PtoOp, g: Generator) -> None:
    """Pointer to the first element, or the elements as a memref."""
    source, result = named(op, "src"), op.results[0]
    pointer = f"{g.name(source)}.pointer"
    if isinstance(result.type, MemRefType):
        if isinstance(source.type, t.ShapedView) and t.DYNAMIC in source.type.shape:
            view = g.name(source)
            g.define(result, f"{g.argument(MemRef)}({pointer}, {view}.shape, {view}.strides, {view}.fmt)")
        else:
            g.define(result, f"{g.argument(memref_over(result.type, g))}({pointer})")
        return
    g.define(result, pointer)


def load_element(pointer: Pointer, offset: int, fmt: Format) -> Any:
    """Returns one element as a Python number."""
    raw = strided_view(pointer.advance(offset), (1,), (pointer.item_bytes,))
    return decode(raw, fmt)[0].item()


def store_element(pointer: Pointer, offset: int, value: Any, fmt: Format) -> None:
    """Stores one Python number."""
    target = strided_view(pointer.advance(offset), (1,), (pointer.item_bytes,))
    if fmt.is_float:
        target[...] = encode(np.array([value], np.float64 if fmt.name == "f64" else np.float32), fmt, saturate=False)
    else:
        target[...] = np.array([int(value)]).astype(fmt.storage)


def scalar_result(expression: str, type_: Attribute) -> str:
    """An element read from memory as the scalar it is in the program (booleans and wrap of integers)."""
    if integer_width(type_) == 1:
        return f"bool({expression})"
    return wrapped(expression, type_) if is_unsigned(type_) else expression


@kernel("pto.load_scalar", "pto.load", "pto.ld_dev", "pto.ldg")
def load_scalar(op: PtoOp, g: Generator) -> None:
    """The element at ``offset`` elements from a pointer, as a number."""
    groups = g.operands(op)
    pointer = groups["ptr"][0]
    result = op.results[0]
    load, fmt = g.argument(load_element), g.argument(g.format(result.type))
    text = f"{load}(core.pointer_of({g.name(pointer)}), {g.name(groups['offset'][0])}, {fmt})"
    g.define(result, scalar_result(text, result.type))


@kernel("pto.store_scalar", "pto.store", "pto.st_dev", "pto.stg")
def store_scalar(op: PtoOp, g: Generator) -> None:
    """Stores a number at ``offset`` elements from a pointer."""
    groups = g.operands(op)
    value = groups["value"][0]
    pointer = f"core.pointer_of({g.name(groups['ptr'][0])})"
    g.emitter.line(
        f"{g.argument(store_element)}({pointer}, {g.name(groups['offset'][0])}, {g.name(value)}, "
        f"{g.argument(g.format(value.type))})"
    )


# ------------------------------------------------------------ reports


class PrintNumber:
    """Prints a text with a number in place of its conversion."""

    label = "print"

    def __init__(self, text: str) -> None:
        self.before, self.conversion, self.after = split_format(text)

    def __call__(self, value: float) -> None:
        """Prints the text; a format without conversion leaves the number out."""
        number = format_number(self.conversion, value) if self.conversion else ""
        print(self.before + number + self.after, end="", flush=True)


def number_printer(op: PtoOp, g: Generator) -> PrintNumber:
    """Returns the printer of ``op``; a format without exactly one number is an error (``print-format``)."""
    try:
        return PrintNumber(op.attributes["format"].data)  # pyright: ignore[reportAttributeAccessIssue]
    except Fault as fault:
        raise g.error(fault.rule, fault.message, op) from None


@kernel("pto.print")
def print_scalar(op: PtoOp, g: Generator) -> None:
    """Prints a number in the format that the program states."""
    g.call(number_printer(op, g), named(op, "scalar"), pipe=Pipe.S)


def trap() -> None:
    """Stops the program."""
    raise Fault("trap", "the program has stopped itself")


@kernel("pto.trap")
def stop(op: PtoOp, g: Generator) -> None:
    """Ends the run with the fault ``trap``."""
    g.call(trap, pipe=Pipe.S)
