"""Groups values that are computed in the same way, and assigns each of them to memory.

Values of one key do not depend on each other, so one call computes a whole group where the operands of its members are
evenly spaced.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile
from math import prod
from typing import Any, NamedTuple

import numpy as np

from pto_dialect.accel.replay.graph import JOIN, Graph, Node, Output, Ref, dense_strides
from pto_dialect.accel.replay.steps import PLAIN, Foreign, Style

MOST_BYTES = 1 << 20
"""Bytes of a group, its results or one operand: what is computed together should stay in the caches of a processor."""


MOST_MEMBERS = 256
"""Values of one group."""


class Area(NamedTuple):
    """Bytes that hold values: those of an argument (``number`` counts arguments) or of this launch."""

    given: bool
    number: int


class Operand(NamedTuple):
    """An array in an area; offset and strides in bytes."""

    area: Area
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]


@dataclass
class Call:
    """``function(*operands)``, the last of which is written; ``style`` as in ``steps``, ``reads`` what it reads of the
    launch's own areas; ``late`` calls follow all others, because they change what these read."""

    style: Style
    function: Any
    operands: list[Any]
    reads: set[Area] = field(default_factory=set)
    late: bool = False

    @property
    def target(self) -> Operand:
        """What is written."""
        return self.operands[-1]


class Layout:
    """The calls of a launch, in an order in which they can run; ``sizes`` has the bytes of each area of the launch,
    ``constants`` the values of those that never change."""

    def __init__(self, graph: Graph) -> None:
        self.calls: list[Call] = []
        self.sizes: list[int] = []
        self.constants: dict[int, Any] = {}
        self._places: dict[int, tuple[Area, int]] = {}
        self._forced: dict[int, Output] = {}
        needed = _needed(graph)
        self._forward(graph, needed)
        for members in _levels(needed):
            if members[0].function is JOIN:
                for node in members:
                    self._join(node)
            else:
                self._group(members)
        for output in graph.outputs:
            if self._forced.get(id(output.ref.node)) is not output:
                area, dtype = Area(True, output.buffer), output.ref.dtype
                target = Operand(area, output.offset, output.shape, output.strides, dtype)
                source = self._operand(output.ref)
                late = output.buffer in graph.changed
                if late and source.area.given and source.area.number in graph.changed:
                    raise Foreign("moved inside of an argument")
                self._call(Style.SAME, np.copyto, [source, target], late)

    # ------------------------------------------------------------ places

    def _area(self, nbytes: int) -> Area:
        self.sizes.append(nbytes)
        return Area(False, len(self.sizes) - 1)

    def _place(self, node: Node) -> tuple[Area, int]:
        """Returns where a value begins."""
        found = self._places.get(id(node))
        if found is not None:
            return found
        if node.buffer >= 0:
            found = Area(True, node.buffer), node.offset
        elif node.values is not None:
            found = self._area(node.nbytes), 0
            self.constants[found[0].number] = node.values
        else:
            raise Foreign("order")
        self._places[id(node)] = found
        return found

    def _operand(self, ref: Ref) -> Operand:
        area, offset = self._place(ref.node)
        return Operand(area, offset + ref.offset, ref.shape, ref.strides, ref.dtype)

    def _forward(self, graph: Graph, needed: Sequence[Node]) -> None:
        """Values that are stored as a whole are computed where they are stored."""
        uses = Counter(id(x.node) for node in needed for x in node.inputs if isinstance(x, Ref))
        uses.update(id(output.ref.node) for output in graph.outputs)
        for output in graph.outputs:
            ref, node = output.ref, output.ref.node
            whole = ref.offset == 0 and ref.shape == node.shape and ref.strides == node.strides
            plain = node.style is Style.EACH and node.function in PLAIN and node.values is None
            # No other value may read it: what a launch reads of its arguments is there before.
            if whole and plain and uses[id(node)] == 1 and output.buffer not in graph.changed:
                self._forced[id(node)] = output
                node.strides = output.strides

    # ------------------------------------------------------------ groups

    def _group(self, members: list[Node]) -> None:
        members.sort(key=self._order)
        size = members[0].nbytes
        step = max(1, min(MOST_MEMBERS, MOST_BYTES // max(size, *map(_nbytes, members[0].inputs))))
        forced = [self._forced.get(id(node)) for node in members]
        for start in range(0, len(members), step):
            part = members[start : start + step]
            area = None if all(forced[start : start + step]) else self._area(size * len(part))
            for number, node in enumerate(part):
                output = self._forced.get(id(node))
                if output is not None:
                    self._places[id(node)] = Area(True, output.buffer), output.offset
                else:
                    assert area is not None
                    self._places[id(node)] = area, number * size
            self._compute(part)

    def _order(self, node: Node) -> tuple[Any, ...]:
        operands = (self._operand(x) for x in node.inputs if isinstance(x, Ref))
        return tuple((x.area, x.offset) for x in operands)

    def _compute(self, members: list[Node]) -> None:
        """The calls for values of one key."""
        first = members[0]
        while members:
            rows = [self._operands(node) for node in members]
            count = 1 if first.style is Style.ONE else _stackable(rows)
            stacked = _stacked(rows[:count]) if count > 1 else rows[0]
            self._call(first.style, first.function, stacked)
            members = members[count:]

    def _operands(self, node: Node) -> list[Any]:
        given = [self._operand(x) if isinstance(x, Ref) else x for x in node.inputs]
        area, offset = self._places[id(node)]
        return [*given, Operand(area, offset, node.shape, node.strides, node.dtype)]

    def _join(self, node: Node) -> None:
        """Consecutive values: in their memory, or copied."""
        parts = [self._operand(ref) for ref in node.inputs]
        end, area = parts[0].offset, parts[0].area
        for part in parts:
            if (
                part.area != area
                or part.offset != end
                or part.strides != dense_strides(part.shape, part.dtype.itemsize)
            ):
                break
            end += int(np.prod(part.shape)) * part.dtype.itemsize
        else:
            self._places[id(node)] = area, parts[0].offset
            return
        area, offset = self._area(node.nbytes), 0
        self._places[id(node)] = area, 0
        for part in parts:
            target = Operand(area, offset, part.shape, dense_strides(part.shape, part.dtype.itemsize), part.dtype)
            self._call(Style.SAME, np.copyto, [part, target])
            offset += int(np.prod(part.shape)) * part.dtype.itemsize

    def _call(self, style: Style, function: Any, operands: list[Any], late: bool = False) -> None:
        reads = {x.area for x in operands[:-1] if isinstance(x, Operand) and not x.area.given}
        self.calls.append(Call(style, function, operands, reads, late))


def _nbytes(value: Any) -> int:
    """Returns the bytes of an operand."""
    return prod(value.shape) * value.dtype.itemsize if isinstance(value, Ref) else 0


def _needed(graph: Graph) -> list[Node]:
    """Returns the values to compute, operands first."""
    found: dict[int, Node] = {}
    pending: list[tuple[Node, bool]] = [(output.ref.node, False) for output in reversed(graph.outputs)]
    while pending:
        node, ready = pending.pop()
        if id(node) in found or node.buffer >= 0 or node.values is not None:
            continue
        if ready:
            found[id(node)] = node
            continue
        pending.append((node, True))
        pending += [(x.node, False) for x in node.inputs if isinstance(x, Ref)]
    return list(found.values())


def _levels(nodes: Sequence[Node]) -> list[list[Node]]:
    """Returns the values of one key together, those of shorter chains first."""
    depth: dict[int, int] = {}
    groups: dict[tuple[int, int], list[Node]] = {}
    for node in nodes:
        below = [depth.get(id(x.node), 0) for x in node.inputs if isinstance(x, Ref)]
        depth[id(node)] = level = 1 + max(below, default=0)
        groups.setdefault((level, node.key), []).append(node)
    return [groups[key] for key in sorted(groups)]


# ------------------------------------------------------------ stacking


def _spacing(offsets: Sequence[int], inner: int) -> tuple[int, int] | None:
    """Distances of rows of ``inner`` offsets and inside of them; ``None`` where they are not even."""
    first, count = offsets[0], len(offsets)
    near = offsets[1] - first if inner > 1 else 0
    far = offsets[inner] - first if inner < count else 0
    for index, offset in enumerate(offsets):
        row, col = divmod(index, inner)
        if offset != first + row * far + col * near:
            return None
    return far, near


def _columns(rows: Sequence[list[Any]]) -> list[list[Operand]]:
    return [list(column) for column in zip(*rows, strict=True) if isinstance(column[0], Operand)]


def _even(columns: Sequence[Sequence[Operand]], count: int) -> int:
    """Members in a row when the first ``count`` are evenly spaced in rows; 0 when they are not."""
    offsets = [[x.offset for x in column[:count]] for column in columns]
    for inner in range(count, 0, -1):
        if count % inner == 0 and all(_spacing(line, inner) is not None for line in offsets):
            return inner
    return 0


def _stackable(rows: Sequence[list[Any]]) -> int:
    """Returns how many of the members, from the first on, one call can compute."""
    columns = _columns(rows)
    together = min(sum(1 for _ in takewhile(partial(_beside, column[0]), column)) for column in columns)
    if _even(columns, together):
        return together
    run = 1
    while run < together and all(_spacing([x.offset for x in column[: run + 1]], run + 1) for column in columns):
        run += 1
    several = together // run * run
    return several if _even(columns, several) else run


def _beside(one: Operand, other: Operand) -> bool:
    return (one.area, one.shape, one.strides, one.dtype) == (other.area, other.shape, other.strides, other.dtype)


def _stacked(rows: Sequence[list[Any]]) -> list[Any]:
    """Returns the operands of one call for all members."""
    columns, count = _columns(rows), len(rows)
    inner = _even(columns, count)
    found: list[Any] = []
    for value, *others in zip(*rows, strict=True):
        if not isinstance(value, Operand):
            found.append(value)
            continue
        offsets = [value.offset, *(x.offset for x in others)]
        spacing = _spacing(offsets, inner)
        assert spacing is not None
        shape = (inner,) if inner == count else (count // inner, inner)
        strides = spacing[1:] if inner == count else spacing
        found.append(value._replace(shape=(*shape, *value.shape), strides=(*strides, *value.strides)))
    return found
