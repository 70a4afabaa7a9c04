"""Tensors in global memory: a view for each tensor, and the part of it that a transfer moves.

Source: docs/reference/execution.md, "Pointers, tiles and views".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from pto_dialect.verify.buffers.tensor_views import CERTAIN, layouts_of

from .statement import Named
from .tiles import DYNAMIC, Tile, as_number, element_bytes, element_text, identity, index_name, number_of

if TYPE_CHECKING:
    from ..translate.interface import Call, Emitter, Group, Operand
    from .tiles import Extent

LAYOUTS = {"ND": "nd", "DN": "dn", "NZ": "nz", "MX_A_ZZ": "mx_a_zz", "MX_B_NN": "mx_b_nn"}
_PAIRS = {"MX_A_ND": "ND", "MX_B_DN": "DN"}
"""Layouts of MX scales in pairs along K that follow one another, and those that they are in two dimensions."""
APART = {"MX_A_DN": "ND", "MX_B_ND": "DN"}
"""Layouts of MX scales in pairs along K that are apart, and the one of each pair."""
_RANK = 5
_ROWS, _COLS = 3, 4
"""Positions of the two innermost dimensions."""


class Tensor(NamedTuple):
    """A tensor of a call; sizes and strides are its state."""

    element: str
    layout: str
    address: Operand
    sizes: tuple[Extent, ...]
    strides: tuple[Extent, ...]

    @property
    def is_plain(self) -> bool:
        """Whether the elements lie in rows or columns."""
        return self.layout in ("ND", "DN")

    @property
    def outer(self) -> int:
        """The number of outer dimensions that are always 1, which views in rows or columns leave out."""
        if not self.is_plain:
            return 0
        return next((i for i, size in enumerate(self.sizes[:_ROWS]) if size != 1), _ROWS)

    def with_known_sizes(self) -> Tensor:
        """Returns the tensor with sizes that are numbers where they are constant."""
        return self._replace(sizes=tuple(map(as_number, self.sizes)))


def tensor_of(group: Group, emitter: Emitter) -> Tensor:
    """Returns the tensor that a group of operands states."""
    element, layout, shape, *strides = group.fields
    if layout not in LAYOUTS and layout not in _PAIRS and layout not in APART:
        emitter.fail(f"tensors of Layout::{layout} have no counterpart in .pto")
    stated = [int(one) for one in (*shape.split("x"), *strides)]
    address, *state = group.operands
    known = [operand if size == DYNAMIC else size for size, operand in zip(stated, state, strict=True)]
    return Tensor(element, layout, address, tuple(known[:_RANK]), tuple(known[_RANK:]))


def are_pairs(between: Extent, within: Extent) -> bool:
    """Returns whether the strides between pairs of scales and within one may be 2 and 1, as instructions take them."""
    return number_of(between) in (2, None) and number_of(within) in (1, None)


def _without_pairs(tile: Tile, tensor: Tensor, emitter: Emitter) -> Tensor:
    """Returns a tensor of MX scales in pairs along K as one in rows or columns, where the pairs follow one another; a
    transfer moves what is valid in the tile, whatever the sizes of the tensor are."""
    *outer, pitch, between, within = tensor.strides
    if not are_pairs(between, within):
        emitter.fail(f"Layout::{tensor.layout} has a counterpart in .pto only if its pairs follow one another")
    layout, pitch = _PAIRS[tensor.layout], as_number(pitch)
    strides = (*outer, pitch, pitch, 1) if layout == "ND" else (*outer, pitch, 1, pitch)
    return tensor._replace(layout=layout, sizes=(1, 1, 1, *tile.valid), strides=strides)


@dataclass(slots=True)
class _View:
    value: Named
    made_at: Call


class Tensors:
    """The views of the tensors of one function."""

    def __init__(self, emitter: Emitter) -> None:
        self._emitter = emitter
        self._views: dict[object, _View] = {}

    def whole(self, tensor: Tensor, call: Call) -> Named:
        """Returns a view of all of a tensor."""
        if tensor.layout not in LAYOUTS:
            self._emitter.fail(f"tensors of Layout::{tensor.layout} have no counterpart in .pto but in TLOAD")
        first, emitter = tensor.outer, self._emitter
        shape, strides = (
            ", ".join(index_name(size, emitter) for size in one[first:]) for one in (tensor.sizes, tensor.strides)
        )
        type_ = view_type(tensor)
        key = (tensor.layout, tensor.element, identity(tensor.address), shape, strides)

        def text() -> str:
            pointer = emitter.pointer(tensor.address, element_text(tensor.element))
            layout = f" {{layout = #pto.layout<{LAYOUTS[tensor.layout]}>{_certainty(tensor)}}}"
            return f"pto.make_tensor_view {pointer}, shape = [{shape}], strides = [{strides}]{layout} : {type_}"

        known = self._known(key, call)
        return known or self._add(key, Named(emitter.define(text(), "view"), type_), call)

    def part(self, tensor: Tensor, call: Call) -> Named:
        """Returns the part of a tensor that is all of it, as transfers take it."""
        base = self.whole(tensor, call)
        known = self._known(base.name, call)
        if known is not None:
            return known
        emitter = self._emitter
        sizes = tensor.sizes[tensor.outer :]
        zeros = ", ".join([emitter.constant(0, "index")] * len(sizes))
        type_ = f"!pto.partition_tensor_view<{_dims(tensor)}x{element_text(tensor.element)}>"
        taken = ", ".join(index_name(size, emitter) for size in sizes)
        text = f"pto.partition_view {base.name}, offsets = [{zeros}], sizes = [{taken}] : {base.type} -> {type_}"
        return self._add(base.name, Named(emitter.define(text, "part"), type_), call)

    def slice_of(self, tensor: Tensor, number: int, call: Call) -> Named:
        """Returns the part of a tensor of three dimensions at a position in the first of them."""
        base, emitter = self.whole(tensor, call), self._emitter
        sizes = tensor.sizes[_ROWS:]
        zero = emitter.constant(0, "index")
        dims = "x".join(str(size) if isinstance(size, int) else "?" for size in (1, *sizes))
        type_ = f"!pto.partition_tensor_view<{dims}x{element_text(tensor.element)}>"
        taken = ", ".join(index_name(size, emitter) for size in (1, *sizes))
        at = f"{emitter.constant(number, 'index')}, {zero}, {zero}"
        text = f"pto.partition_view {base.name}, offsets = [{at}], sizes = [{taken}] : {base.type} -> {type_}"
        return Named(emitter.define(text, "part"), type_)

    def elements_at(self, tensor: Tensor, first: str, count: int, call: Call) -> Named:
        """Returns the part of one line that begins at the index ``first`` and has a constant number of elements."""
        base, emitter = self.whole(tensor, call), self._emitter
        type_ = f"!pto.partition_tensor_view<1x{count}x{element_text(tensor.element)}>"
        at = f"{emitter.constant(0, 'index')}, {first}"
        taken = f"{emitter.constant(1, 'index')}, {emitter.constant(count, 'index')}"
        text = f"pto.partition_view {base.name}, offsets = [{at}], sizes = [{taken}] : {base.type} -> {type_}"
        return Named(emitter.define(text, "part"), type_)

    def moved(self, tile: Tile, tensor: Tensor) -> tuple[Tile, Tensor]:
        """Returns the tile and the tensor with the sizes that a transfer between them moves.

        Between vector tiles and tensors in rows or columns, a burst is moved for each row of the tensor (column, in
        layout DN), and the tile says how long a burst is. On a2a3 the gap between bursts is the one of the tensor,
        whatever their length.
        """
        if tensor.layout in _PAIRS:
            return tile, _without_pairs(tile, tensor, self._emitter)
        if not tensor.is_plain:
            return tile, tensor
        if tensor.outer < _ROWS:
            return self._with_all_lines(tile, tensor), tensor
        sizes, valid = list(tensor.sizes), list(tile.valid)
        same = [self._is_same(a, b) for a, b in zip(sizes[_ROWS:], valid, strict=True)]
        if all(same):
            return tile, tensor
        strides = list(tensor.strides)
        counted = int(tensor.layout == "DN")
        for axis, room in enumerate((tile.rows, tile.cols)):
            position = _ROWS + axis
            if same[axis]:
                continue
            if tile.location == "Vec" and axis != counted:
                if self._emitter.target == "a2a3":
                    pitch = strides[_ROWS + counted]
                    strides[_ROWS + counted] = self._sum(pitch, valid[axis], sizes[position])
                sizes[position] = valid[axis]
                continue
            bound = room if tile.location == "Vec" else valid[axis]
            sizes[position] = valid[axis] = self._least(sizes[position], bound)
        row, col = valid
        return tile._replace(valid=(row, col)), tensor._replace(sizes=tuple(sizes), strides=tuple(strides))

    def _with_all_lines(self, tile: Tile, tensor: Tensor) -> Tile:
        """Returns a tile of lines in L1 that takes those of all outer dimensions, whatever its valid size is."""
        if tile.location != "Mat" or tile.slayout != "NoneBox":
            return tile
        axis = int(tensor.layout == "DN")
        room = (tile.rows, tile.cols)[axis]
        lines: Extent = 1
        for size in (*tensor.sizes[:_ROWS], tensor.sizes[_ROWS + axis]):
            lines = self._product(lines, size)
        sizes = [*tile.valid]
        sizes[axis] = self._least(lines, room)
        return tile._replace(valid=(sizes[0], sizes[1]))

    def _product(self, left: Extent, right: Extent) -> Extent:
        if isinstance(left, int) and isinstance(right, int):
            return left * right
        if left == 1:
            return right
        names = (index_name(left, self._emitter), index_name(right, self._emitter))
        return self._emitter.define(f"arith.muli {names[0]}, {names[1]} : index", "lines")

    def _is_same(self, size: Extent, other: Extent) -> bool:
        if isinstance(size, int | str) or isinstance(other, int | str):
            return identity(size) == identity(other)
        return self._emitter.is_same(size, other)

    def _least(self, size: Extent, bound: Extent) -> Extent:
        if isinstance(size, int) and isinstance(bound, int):
            return min(size, bound)
        names = (index_name(size, self._emitter), index_name(bound, self._emitter))
        return self._emitter.define(f"arith.minsi {names[0]}, {names[1]} : index", "rows")

    def _sum(self, pitch: Extent, longer: Extent, shorter: Extent) -> Extent:
        """Returns ``pitch + longer - shorter``."""
        if isinstance(pitch, int) and isinstance(longer, int) and isinstance(shorter, int):
            return pitch + longer - shorter
        names = [index_name(size, self._emitter) for size in (pitch, longer, shorter)]
        whole = self._emitter.define(f"arith.addi {names[0]}, {names[1]} : index", "pitch")
        return self._emitter.define(f"arith.subi {whole}, {names[2]} : index", "pitch")

    def _known(self, key: object, call: Call) -> Named | None:
        known = self._views.get(key)
        return known.value if known is not None and self._emitter.is_visible(known.made_at) else None

    def _add(self, key: object, value: Named, call: Call) -> Named:
        self._views[key] = _View(value, call)
        return value


def view_type(tensor: Tensor) -> str:
    """Returns the type of a view of all of a tensor."""
    return f"!pto.tensor_view<{_dims(tensor)}x{element_text(tensor.element)}>"


def _dims(tensor: Tensor) -> str:
    return "x".join(str(size) if isinstance(size, int) else "?" for size in tensor.sizes[tensor.outer :])


def _certainty(tensor: Tensor) -> str:
    """Returns the attribute of a layout that the dialect would not infer from constant sizes and strides."""
    sizes, strides = (
        [known for one in every[tensor.outer :] if (known := number_of(one)) is not None]
        for every in (tensor.sizes, tensor.strides)
    )
    if not len(sizes) == len(strides) == _RANK - tensor.outer:
        return ""
    found = layouts_of(sizes, strides, element_bytes(tensor.element))
    return "" if LAYOUTS[tensor.layout] in found or tensor.layout.startswith("MX") else f", {CERTAIN}"


__all__ = ["APART", "LAYOUTS", "Tensor", "Tensors", "are_pairs", "tensor_of", "view_type"]
