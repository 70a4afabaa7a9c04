"""Which bytes belong to which tile or buffer, also where a program has pointers only.

Source: docs/report.md, "Memory map".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pto_dialect.analysis.type_facts import element_type
from pto_dialect.ir.core.types import element_name
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.numerics.format_table import format_of
from pto_dialect.sanitize.report.sites import Sites, memory_of
from pto_dialect.targets.tile_layouts import PACKED_OPERANDS

from .accessed import AccessedBytes, Box, Shape

Numbers = npt.NDArray[Any]

_BYTES = "ui8"
"""Default element type, where the text states none."""
_NAMES = 3
"""Names of pointers that one buffer is called by."""


@dataclass(frozen=True)
class Buffer:
    """An argument in global memory: its name, shape and element type, and what it was expected to hold."""

    name: str
    shape: tuple[int, ...]
    format: str
    expected: Array | None = None


class Operands(Protocol):
    """What operations access memory through."""

    def names(self, site: int, space: str, writes: bool) -> Sequence[str]:
        """Returns the names of the operands of a site in a memory."""
        ...

    def element(self, site: int, space: str) -> str:
        """Returns the format of the elements that they point to, empty where that is not known."""
        ...


class SiteOperands:
    """Those of the sites of a program."""

    def __init__(self, sites: Sites) -> None:
        self.sites = sites

    def names(self, site: int, space: str, writes: bool) -> Sequence[str]:
        """As in ``Operands``."""
        return self.sites[site].operands_in(space, writes)

    def element(self, site: int, space: str) -> str:
        """As in ``Operands``."""
        op = self.sites[site].op
        for value in op.operands:
            element = element_type(value.type) if memory_of(value.type) == space else None
            if element is not None:
                try:
                    return format_of(element_name(element)).name
                except ValueError:
                    return ""
        return ""


class Locations:
    """``boxes`` are tiles, buffers and arrays; ``shapes`` handles of tiles (number 0: none); ``of_access`` has the box
    of each access."""

    def __init__(self, touched: AccessedBytes, operands: Operands, buffers: Mapping[str, Buffer]) -> None:
        self.touched = touched
        self.operands = operands
        self.boxes: list[dict[str, Any]] = []
        self.shapes = [None if one is None else _shape(one) for one in touched.shapes]
        formats = {one["box"]: one["format"] for one in reversed(self.shapes) if one is not None}
        for number, box in enumerate(touched.boxes):
            named = box._replace(name=touched.name_of(number))
            self.boxes.append(_box(named, formats.get(number, _BYTES)))
        self._ends = self._extents()
        self.of_access = self._assigned(buffers)

    def _extents(self) -> tuple[Numbers, Numbers, Numbers]:
        """Memory, first byte and exclusive end of each region."""
        regions, lists = self.touched.regions, self.touched.lists.lists()
        memory = np.asarray(regions.of["memory"])
        low = np.asarray(regions.of["offset"])
        spans = [sum((n - 1) * step for n, step in zip(one[::2], one[1::2], strict=True)) for one in lists]
        high = low + np.asarray(regions.of["run"]) + np.asarray(spans or [0])[np.asarray(regions.of["dims"])]
        return memory, low, high

    def _assigned(self, buffers: Mapping[str, Buffer]) -> Numbers:
        columns = {name: np.asarray(column) for name, column in self.touched.accesses.of.items()}
        shapes = np.array([0 if one is None else one["box"] for one in self.shapes])
        found = shapes[columns["shape"]]
        bare = columns["shape"] == 0
        memory = self._ends[0][columns["region"]] if len(bare) else bare
        for number, one in enumerate(self.touched.memories):
            here = np.flatnonzero(bare & (memory == number))
            if not here.size:
                continue
            if one.arena.public:
                found[here] = self._array(number, buffers.get(one.arena.name))
            else:
                found[here] = self._pointers(number, columns["region"][here], columns["site"][here],
                                             columns["writes"][here])  # fmt: skip
        return found

    def _array(self, number: int, buffer: Buffer | None) -> int:
        """Returns the box of an array of the host."""
        arena = self.touched.memories[number].arena
        one = _box(Box(number, 0, arena.capacity, arena.name, 0), buffer.format if buffer is not None else _BYTES)
        if buffer is not None:
            one["shape"] = list(buffer.shape)
        self.boxes.append(one)
        return len(self.boxes) - 1

    def _pointers(self, number: int, regions: Numbers, sites: Numbers, writes: Numbers) -> Numbers:
        """Boxes of accesses through pointers: ranges that overlap are one buffer, unless a tile has them."""
        arena = self.touched.memories[number].arena
        keys, inverse = np.unique(np.stack([regions, sites, writes]), axis=1, return_inverse=True)
        _, low, high = self._ends
        tiles = [(one["start"], one["stop"], place) for place, one in enumerate(self.boxes) if one["memory"] == number]
        order = sorted(range(keys.shape[1]), key=lambda index: low[keys[0, index]])
        assigned = np.zeros(keys.shape[1], np.int64)
        group: dict[str, Any] | None = None
        for index in order:
            region, site, wrote = (int(each) for each in keys[:, index])
            start, stop = int(low[region]), int(high[region])
            inside = next((place for first, end, place in tiles if first <= start and stop <= end), None)
            if inside is not None:
                assigned[index] = inside
                continue
            if group is None or start >= group["stop"]:
                group = _box(Box(number, start, stop, "", 0), "")
                group["names"] = {}
                self.boxes.append(group)
            group["stop"] = max(group["stop"], stop)
            self._name(group, site, arena.space, bool(wrote))
            assigned[index] = next(place for place in range(len(self.boxes) - 1, -1, -1) if self.boxes[place] is group)
        for one in self.boxes:
            names = one.pop("names", None)
            if names is not None:
                one["name"] = ", ".join(list(names)[:_NAMES])
                one["format"] = one["format"] or _BYTES
        return assigned[inverse.reshape(-1)]

    def _name(self, group: dict[str, Any], site: int, space: str, writes: bool) -> None:
        group["names"] |= dict.fromkeys(self.operands.names(site, space, writes))
        group["format"] = group["format"] or self.operands.element(site, space)


def _box(box: Box, format: str) -> dict[str, Any]:
    return {"memory": box.memory, "start": box.start, "stop": box.stop, "name": box.name, "site": box.site,
            "format": format}  # fmt: skip


def _shape(one: Shape) -> dict[str, Any]:
    layout = one.layout
    rows, cols = layout.axes
    order = layout.blayout if layout.slayout == "none_box" else layout.slayout
    single = format_of(one.format).is_packed and one.loc in PACKED_OPERANDS
    pairs = ("cols" if order == "row_major" else "rows") if single else ""
    return {
        "box": one.box, "offset": one.offset, "format": one.format, "loc": one.loc, "rows": one.rows, "cols": one.cols,
        "row": one.row, "col": one.col, "validRows": one.valid_rows, "validCols": one.valid_cols, "kind": layout.kind,
        "itemBytes": layout.item_bytes, "inner": list(layout.inner), "rowAxis": list(rows), "colAxis": list(cols),
        "bytes": layout.nbytes, "pairs": pairs, "wholeRows": layout.rows, "wholeCols": layout.cols,
    }  # fmt: skip
