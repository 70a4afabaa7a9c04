"""Copies and fills of memory of constant length, cell by cell."""

from __future__ import annotations

from math import gcd
from typing import NoReturn

from ..llvm.model import Constant, Instruction
from .accesses import constant_length, element_bytes, load_local, reinterpret, same_memory, set_element, store_local
from .addresses import LocalAddress, alternatives
from .calls import plain_name
from .context import Context, Pointer
from .interface import Operand
from .memory import MemoryError_
from .scalars import integer

_MAX_PIECES = 256
_FLOATS = {"f16": "half", "bf16": "bfloat", "f32": "float", "f64": "double"}
"""The types of LLVM for elements of pointers that are no integers."""


def is_block(instruction: Instruction) -> bool:
    """Returns whether an instruction copies or fills memory."""
    return instruction.word.startswith(("llvm.memcpy.", "llvm.memmove.", "llvm.memset."))


def translate_block(instruction: Instruction, ctx: Context) -> None:
    """Copies or fills memory."""
    length = constant_length(instruction.operands[2])
    target = ctx.memory.address(instruction.operands[0])
    if instruction.word.startswith("llvm.memset."):
        _fill(instruction, target, length, ctx)
        return
    source = ctx.memory.address(instruction.operands[1])
    if target is None and source is None:
        pieces = _global_pieces(instruction, (0, 1), length, ctx)
    else:
        pieces = _pieces(target, source, length, instruction, ctx)
    values = [
        load_local(source.plus(offset), type, instruction, ctx)
        if source is not None
        else _load_piece(instruction, offset, type, ctx)
        for offset, type in pieces
    ]
    for (offset, _), value in zip(pieces, values, strict=True):
        if target is not None:
            store_local(target.plus(offset), value, instruction, ctx)
        else:
            _store_piece(instruction, offset, value, ctx)


def _pieces(
    target: LocalAddress | None, source: LocalAddress | None, length: int, instruction: Instruction, ctx: Context
) -> list[tuple[int, str]]:
    """Returns offsets and types of the cells that a copy consists of."""
    found: dict[int, str] = {}
    for address in (source, target):
        if address is None or found:
            continue
        place = alternatives(address)[0]
        begin = ctx.memory.reach(place, length).offsets()[0]
        cells = ctx.memory.cells[place.root]
        for offset in cells.offsets:
            size, variable = cells.variables[offset]
            if begin <= offset and offset + size <= begin + length:
                found[offset - begin] = variable.type
        for array in cells.arrays.values():
            size = ctx.module.types.size(array.type)
            for number in range(array.count):
                offset = array.first + number * array.stride - begin
                if offset >= 0 and offset + size <= length:
                    # An array of pointers and numbers has the bits of both.
                    found[offset] = "i64" if array.type == "ptr" else array.type
    if len(found) > _MAX_PIECES:
        raise MemoryError_(instruction, f"a copy of {len(found)} values cannot be translated", "copy in a loop")
    return sorted(found.items())


def _global_pieces(
    instruction: Instruction, operands: tuple[int, ...], length: int, ctx: Context
) -> list[tuple[int, str]]:
    """Returns offsets and types of the elements of global memory that a copy or fill consists of."""
    origins = [ctx.operand(instruction.operands[operand]).origin for operand in operands]
    elements = {origin.element.partition(",")[0] for origin in origins if isinstance(origin, Pointer)}
    if len(elements) == 1 and length % element_bytes(element := elements.pop()) == 0:
        size, type = element_bytes(element), _FLOATS.get(element)
    else:
        size, type = gcd(length, *map(element_bytes, elements), 8), None
    if length // size > _MAX_PIECES:
        ctx.fail(f"a copy or fill of {length} bytes of global memory cannot be translated", "use TLOAD and TSTORE")
    return [(offset, type or f"i{8 * size}") for offset in range(0, length, size)]


def _moved(instruction: Instruction, operand: int, offset: int, type: str, ctx: Context) -> tuple[str, str, str]:
    """Returns base, index and type, with its memory, of a value that lies some bytes after a pointer."""
    pointer = ctx.operand(instruction.operands[operand])
    element = {"ptr": "i64"}.get(type) or ctx.type(type)
    if not isinstance(pointer.origin, Pointer) or offset % element_bytes(element):
        ctx.fail("the copy cannot be translated", "copy field by field")
    index = ctx.constant(offset // element_bytes(element), "index")
    element = same_memory(element, pointer.origin.element)
    return ctx.pointer_name(pointer, element), index, element


def _load_piece(instruction: Instruction, offset: int, type: str, ctx: Context) -> Operand:
    base, index, element = _moved(instruction, 1, offset, type, ctx)
    number = element.partition(",")[0]
    name = ctx.writer.define(f"pto.load_scalar {base}[{index}] : !pto.ptr<{element}> -> {number}", "field")
    return reinterpret(Operand("i64" if type == "ptr" else type, name=name), type, ctx)


def _store_piece(instruction: Instruction, offset: int, value: Operand, ctx: Context) -> None:
    base, index, element = _moved(instruction, 0, offset, value.type, ctx)
    number = element.partition(",")[0]
    ctx.writer.emit(f"pto.store_scalar {ctx.name(value)}, {base}[{index}] : !pto.ptr<{element}>, {number}")


def _fill(instruction: Instruction, target: LocalAddress | None, length: int, ctx: Context) -> None:
    byte = integer(ctx.operand(instruction.operands[1]))
    if byte is None:
        ctx.fail("a fill with a value that is not constant cannot be translated", "fill in a loop")
    pattern = int.from_bytes(bytes([byte & 255]) * 8, "little")
    if target is None:
        pieces = _global_pieces(instruction, (0,), length, ctx)
    else:
        pieces = _pieces(target, None, length, instruction, ctx)
    for offset, type in pieces:
        size = ctx.module.types.size(type)
        low = pattern & ((1 << (8 * size)) - 1)
        number = low - (1 << (8 * size)) if low >> (8 * size - 1) else low
        value = reinterpret(Operand(f"i{size * 8}", number), type, ctx) if byte or type == "ptr" else Operand(type, 0)
        if target is None:
            _store_piece(instruction, offset, value, ctx)
        else:
            store_local(target.plus(offset), value, instruction, ctx)


def _is_known(root: str, ctx: Context) -> bool:
    """Returns whether this file states the value that a variable has at the begin of the kernel.

    That is the initial value of static variables of functions: each core starts with it at each launch.
    """
    variable = ctx.module.globals[root]
    if variable.is_constant or ctx.module.is_static_of_function(root):
        return True
    return bool(variable.initial) and not ctx.module.may_change(root, ctx.memory.function.name)


def _fail_for_table(root: str, ctx: Context) -> NoReturn:
    name = plain_name(root).rpartition(".")[2]
    ctx.fail(f"the table {name} holds something else than numbers, such as addresses", "choose with a switch instead")


def fill_tables(ctx: Context) -> None:
    """Gives the cells of constant tables their values, and makes the arrays, at the begin of the function."""
    for root, cells in ctx.memory.cells.items():
        for array in cells.arrays.values():
            element = {"ptr": "i64"}.get(array.type) or ctx.type(array.type)
            hint = plain_name(root) if isinstance(root, str) else root.name
            array.name = ctx.writer.head(f"pto.declare_local_array -> !pto.local_array<{array.count}x{element}>", hint)
        if not isinstance(root, str):
            continue
        if not _is_known(root, ctx):
            ctx.fail(
                f"the kernel uses the global variable {plain_name(root)}",
                "use a constant, an argument or a local variable",
            )
        values = dict(ctx.module.cells(root) or ())
        for offset, (_, variable) in cells.variables.items():
            value = values.get(offset)
            if not isinstance(value, Constant):
                _fail_for_table(root, ctx)
            ctx.variables[variable] = reinterpret(ctx.operand(value), variable.type, ctx)
        for array in cells.arrays.values():
            for number in range(array.count):
                value = values.get(array.first + number * array.stride)
                if not isinstance(value, Constant):
                    _fail_for_table(root, ctx)
                set_element(array, ctx.constant(number, "index"), ctx.operand(value), ctx)
