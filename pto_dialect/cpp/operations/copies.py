"""Moves of bytes between memories, below the operations of tiles: bursts with a distance between them.

Source: docs/reference/layouts.md, "Transfers".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pto_dialect.ir.core.registry import op_class

from .statement import Named, generic, group
from .tiles import VIEW

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..translate.interface import Call, Emitter, Group, Operand

_BLOCK = 32
"""Bytes that the older moves count in."""
_FIELD = (1 << 15) - 1
"""Bits of a number of runs, blocks, or blocks between runs."""


class Form(NamedTuple):
    """The numbers of a move in the order of C++, and the operation that has operands with these names."""

    operation: str
    numbers: tuple[str, ...]
    targets: tuple[str, ...] = ("a2a3", "a5")


_BURSTS = ("sid", "n_burst", "len_burst", "src_stride", "dst_stride")
FORMS = {
    "copy_ubuf_to_ubuf": Form("copy_ubuf_to_ubuf", _BURSTS),
    "copy_cbuf_to_ubuf": Form("copy_cbuf_to_ubuf", _BURSTS, ("a5",)),
    "copy_ubuf_to_cbuf": Form("copy_ubuf_to_cbuf", _BURSTS, ("a5",)),
    "copy_gm_to_ubuf": Form("copy_gm_to_ubuf", _BURSTS),
    "copy_ubuf_to_gm": Form("copy_ubuf_to_gm", _BURSTS),
    "copy_gm_to_ubuf_align_v2": Form(
        "copy_gm_to_ubuf",
        ("sid", "n_burst", "len_burst", "left_padding_count", "right_padding_count", "data_select_bit", "l2_cache_ctl",
         "gm_stride", "ub_stride"),
    ),
    "copy_ubuf_to_gm_align_v2": Form(
        "copy_ubuf_to_gm",
        ("sid", "n_burst", "len_burst", "l2_cache_ctl", "burst_dst_stride", "burst_src_stride"),
    ),
}  # fmt: skip
"""Moves whose first operands are the destination and the source."""
_IN_BYTES = {"copy_gm_to_ubuf": ("gm_stride", "ub_stride"), "copy_ubuf_to_gm": ("burst_src_stride", "burst_dst_stride")}
"""Operations that count bytes and distances between the beginnings of bursts, with their names of both distances, that
of the source first; the moves of the same name count blocks and gaps."""
_COUNT = (1 << 16) - 1
"""Bits of the numbers of a move that counts blocks."""
_FLAGS = frozenset(("data_select_bit",))


def move(call: Call, emitter: Emitter) -> None:
    """Emits a move of bytes."""
    form = FORMS[call.name]
    destination, source, *rest = call.groups
    if len(rest) != len(form.numbers) or emitter.target not in form.targets:
        emitter.fail(f"{call.name} with {len(call.groups)} operands has no counterpart in .pto on {emitter.target}")
    numbers = {name: group.operands[0] for name, group in zip(form.numbers, rest, strict=True)}
    element = _element(destination, source)
    values = {
        "source": _pointer(source, element, emitter),
        "destination": _pointer(destination, element, emitter),
        **_numbers(form.operation, numbers, call.name == form.operation, emitter),
    }
    op = op_class(f"pto.{form.operation}")
    emitter.emit(generic(op, {name: [value] for name, value in values.items()}, {}))


def _element(*groups: Group) -> str:
    """Returns the element type of the pointers; bytes where C++ does not state one, or states two."""
    elements = {group.fields[0] for group in groups}
    element = elements.pop()
    return element if not elements and element[0] in "fbiu" and element not in ("i1", "i4") else "i8"


def _pointer(group: Group, element: str, emitter: Emitter) -> Named:
    space = group.fields[1]
    type_ = f"{element}, {space}" if space != "gm" else element
    return Named(emitter.pointer(group.operands[0], type_), f"!pto.ptr<{element}, {space}>")


def _numbers(operation: str, numbers: dict[str, Operand], in_blocks: bool, emitter: Emitter) -> dict[str, Named]:
    """Returns the numbers of an operation; those of moves that count blocks are converted to bytes."""
    names = {name: emitter.cast(number, "i64") for name, number in numbers.items()}
    strides = _IN_BYTES.get(operation)
    if strides is not None and in_blocks:
        length = names["len_burst"]
        for gap, stride in zip(("src_stride", "dst_stride"), strides, strict=True):
            names[stride] = _bytes(_sum(length, names.pop(gap), emitter), emitter)
        names["len_burst"] = _bytes(length, emitter)
        zero = emitter.constant(0, "i64")
        for name in ("left_padding_count", "right_padding_count", "data_select_bit", "l2_cache_ctl"):
            if operation == "copy_gm_to_ubuf" or name == "l2_cache_ctl":
                names[name] = zero
    found = {name: Named(value, "i64") for name, value in names.items()}
    for name in _FLAGS & set(found):
        bit = emitter.define(f"arith.cmpi ne, {found[name].name}, {emitter.constant(0, 'i64')} : i64", "padded")
        found[name] = Named(bit, "i1")
    return found


def _sum(first: str, second: str, emitter: Emitter) -> str:
    return emitter.define(f"arith.addi {first}, {second} : i64", "pitch")


def _bytes(blocks: str, emitter: Emitter) -> str:
    return emitter.define(f"arith.muli {blocks}, {emitter.constant(_BLOCK, 'i64')} : i64", "bytes")


def _fill(call: Call, emitter: Emitter) -> None:
    """Emits ``create_cbuf_matrix``: runs of blocks of L1 that have the same number everywhere, as one row of a tile."""
    destination, shape, value = call.groups
    setting = shape.operands[0].value
    if not isinstance(setting, int):
        emitter.fail(f"the numbers of runs and blocks of {call.name} are not constant")
    runs, blocks, gap = (setting >> place & _FIELD for place in (0, 16, 32))
    if gap and runs > 1:
        emitter.fail(f"{call.name} with gaps has no counterpart in .pto")
    element = "i32" if destination.fields[0].endswith("32") else "i16"
    pointer = _pointer(destination, element, emitter)
    address = emitter.define(f"pto.ptrtoint {pointer.name} : {pointer.type} -> i64", "address")
    type_ = f"!pto.tile_buf<mat, 1x{runs * blocks * _BLOCK * 8 // int(element[1:])}x{element}>"
    tile = Named(emitter.define(f"pto.alloc_tile addr = {address}{VIEW} : {type_}", "blocks"), type_)
    word = Named(emitter.cast(value.operands[0], element), element)
    emitter.emit(f"pto.texpands ins({group([word])}) outs({group([tile])})")


def _store(call: Call, emitter: Emitter) -> None:
    """Emits ``copy_cbuf_to_gm``: runs of blocks in L1 are the rows of a tile, and a tensor has one row for each."""
    destination, source, *rest = call.groups
    numbers = [one.operands[0].value for one in rest]
    if emitter.target != "a2a3" or len(numbers) != len(_BURSTS):
        emitter.fail(f"{call.name} with {len(call.groups)} operands has no counterpart in .pto on {emitter.target}")
    _, runs, blocks, gap, distance = (one & _COUNT if isinstance(one, int) else -1 for one in numbers)
    if min(runs, blocks, gap, distance) < 0:
        emitter.fail(f"the numbers of runs, blocks and gaps of {call.name} are not constant")
    if not runs or not blocks:
        return
    element = _element(destination, source)
    # Elements of more than a byte by a number in their name; others are moved as bytes.
    bits = element.lstrip("bfiu")
    element, bits = (element, bits) if bits.isdigit() else ("i8", "8")
    pitch, cols, row = (count * _BLOCK * 8 // int(bits) for count in (blocks + gap, blocks, blocks + distance))
    pointer = _pointer(source, element, emitter)
    address = emitter.define(f"pto.ptrtoint {pointer.name} : {pointer.type} -> i64", "address")
    tile = f"!pto.tile_buf<mat, {runs}x{pitch}x{element}{f', valid={runs}x{cols}' if gap else ''}>"
    taken = Named(emitter.define(f"pto.alloc_tile addr = {address}{VIEW} : {tile}", "blocks"), tile)
    whole, part = (f"!pto.{kind}tensor_view<{runs}x{cols}x{element}>" for kind in ("", "partition_"))
    zero, one, height, width, stride = (emitter.constant(number, "index") for number in (0, 1, runs, cols, row))
    form = f"shape = [{height}, {width}], strides = [{stride}, {one}]"
    target = _pointer(destination, element, emitter)
    view = emitter.define(f"pto.make_tensor_view {target.name}, {form} : {whole}", "runs")
    form = f"offsets = [{zero}, {zero}], sizes = [{height}, {width}]"
    moved = Named(emitter.define(f"pto.partition_view {view}, {form} : {whole} -> {part}", "part"), part)
    emitter.emit(f"pto.tstore ins({group([taken])}) outs({group([moved])})")


MOVES: dict[str, Callable[[Call, Emitter], None]] = {
    **dict.fromkeys(FORMS, move),
    "create_cbuf_matrix": _fill,
    "copy_cbuf_to_gm": _store,
}
"""Functions that move bytes, or fill memory with a number."""

__all__ = ["FORMS", "MOVES"]
