"""Communication: peers are ranges of global memory. Source: docs/reference/execution.md, "Communication".

Asynchronous transfers complete at once, and their events are always done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pto_dialect.analysis.type_facts import integer_attribute
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import Pipe, PtoOp
from pto_dialect.ir.core.operands import listed, named
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.memory.values import GmTensor

from ..registry import kernel, kernels
from ..tile.memory import enum_value

_REDUCE: dict[str, Callable[..., Any]] = {"sum": np.add, "max": np.maximum, "min": np.minimum}
_COMPARE: dict[str, Callable[..., Any]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lt": np.less,
    "le": np.less_equal,
}

_WORDS = {
    "eq": "equal to",
    "ne": "different from",
    "gt": "greater than",
    "ge": "at least",
    "lt": "less than",
    "le": "at most",
}


def _fill(target: GmTensor, values: Array) -> None:
    """Stores elements in row-major order into a view with the same number of elements."""
    matrix = target.matrix()
    if values.size != matrix.rows * matrix.cols:
        raise Fault("comm-shape", f"{values.size} elements do not fit {matrix.rows}x{matrix.cols} elements")
    matrix.write(values.reshape(matrix.rows, matrix.cols))


_COMBINE = {"atomic_add": np.add, "atomic_max": np.maximum, "atomic_min": np.minimum}


class Copy:
    """dst := src, or dst := dst and src combined by ``atomic``."""

    def __init__(self, atomic: np.ufunc | None) -> None:
        self.atomic = atomic

    def __call__(self, dst: GmTensor, src: GmTensor) -> None:
        """Copies or combines all elements of ``src``. Raises ``Fault`` (``comm-shape``) for views of different
        sizes."""
        values = np.array(src.matrix().read())
        if self.atomic is not None:
            values = self.atomic(dst.matrix().read().reshape(values.shape), values).astype(values.dtype)
        _fill(dst, values)


@kernel("pto.comm.tput", "pto.comm.tget")
def transfer(op: PtoOp, g: Generator) -> None:
    """dst = src between ranges of peers, or both combined as the attribute says."""
    atomic = _COMBINE.get(enum_value(op, "atomicType", "atomic_none"))
    groups = g.operands(op)
    g.call(Copy(atomic), groups["dst"][0], groups["src"][0], pipe=Pipe.MTE3)


def broadcast(src: GmTensor, group: tuple[GmTensor, ...]) -> None:
    """Assigns src to every member of the group."""
    values = np.array(src.matrix().read())
    for member in group:
        _fill(member, values)


def scatter(src: GmTensor, group: tuple[GmTensor, ...]) -> None:
    """Assigns the rows i·H to (i + 1)·H - 1 of src to member i of the group, which has H rows."""
    slices = [np.array(part.matrix().read()) for part in _parts(src, group)]
    for member, values in zip(group, slices, strict=True):
        _fill(member, values)


def gather(dst: GmTensor, group: tuple[GmTensor, ...]) -> None:
    """Assigns member i of the group to the rows i·H to (i + 1)·H - 1 of dst, where H is its number of rows."""
    values = [np.array(member.matrix().read()) for member in group]
    for part, member in zip(_parts(dst, group), values, strict=True):
        _fill(part, member)


def _parts(whole: GmTensor, group: tuple[GmTensor, ...]) -> list[GmTensor]:
    """Returns the part of ``whole`` for each member of the group: consecutive rows, in all matrices of a view with more
    than two dimensions; consecutive elements of views with one. Raises ``Fault`` (``comm-shape``) where they do not
    fit."""
    shapes = {member.shape for member in group}
    rank = max(map(len, (whole.shape, *shapes)))
    whole, (first, *others) = _of_rank(whole, rank), [(1,) * (rank - len(shape)) + shape for shape in shapes]
    axis = max(0, rank - 2)
    needed = tuple(size * len(group) if i == axis else size for i, size in enumerate(first))
    if others or any(size > held for size, held in zip(needed, whole.shape, strict=True)):
        members = f"{len(group)} members of {' and '.join(t.dims_text(shape) for shape in sorted(shapes))} elements"
        fault = f"{members} need {t.dims_text(needed)}, found {t.dims_text(whole.shape)}"
        raise Fault("comm-shape", f"{members} have different shapes" if others else fault)
    starts = ([i * first[axis] if dim == axis else 0 for dim in range(rank)] for i in range(len(group)))
    return [whole.part(start, first) for start in starts]


def _of_rank(view: GmTensor, rank: int) -> GmTensor:
    """Returns the view with more dimensions, of one element each, before its own."""
    more = rank - len(view.shape)
    return GmTensor(view.pointer, (1,) * more + view.shape, (0,) * more + view.strides, view.fmt, view.layout)


class Reduce:
    """dst := reduction over the group: the member of the root, then the others in their order."""

    def __init__(self, function: Callable[..., Any], root: int) -> None:
        self.function = function
        self.root = root

    def __call__(self, dst: GmTensor, group: tuple[GmTensor, ...]) -> None:
        """Reduces the views of ``group`` into ``dst``, of one shape. Raises ``Fault`` (``comm-shape``)."""
        total = np.array(group[self.root].matrix().read())
        for index, member in enumerate(group):
            if index != self.root:
                total = self.function(total, member.matrix().read()).astype(total.dtype)
        _fill(dst, total)


@kernels(
    {
        # To every member; to each its rows; the rows of all members.
        "pto.comm.tbroadcast": (broadcast, "src"),
        "pto.comm.tscatter": (scatter, "src"),
        "pto.comm.tgather": (gather, "dst"),
    }
)
def share(op: PtoOp, g: Generator, row: tuple[Callable[..., None], str]) -> None:
    """Moves elements between the root and the members of its group."""
    function, root = row
    g.call(function, named(op, root), list(listed(op, "group")), pipe=Pipe.MTE3)


@kernel("pto.comm.treduce")
def from_all(op: PtoOp, g: Generator) -> None:
    """The root gets sum, maximum or minimum over the members of the group."""
    function = Reduce(_REDUCE[enum_value(op, "reduceOp", "sum")], integer_attribute(op, "root") or 0)
    g.call(function, named(op, "dst"), list(listed(op, "group")), pipe=Pipe.MTE3)


# ------------------------------------------------------------ signals


class Notify:
    """Stores a number in the elements of a signal, or adds it to them."""

    def __init__(self, add: bool) -> None:
        self.add = add

    def __call__(self, signal: GmTensor, value: int) -> None:
        """Changes all elements of ``signal`` by ``value``, modulo their width."""
        matrix = signal.matrix()
        old = matrix.read()
        number = np.array([value & 0xFFFFFFFFFFFFFFFF], np.uint64).astype(f"u{old.dtype.itemsize}").view(old.dtype)
        matrix.write(np.add(old, number) if self.add else np.broadcast_to(number, old.shape))


@kernel("pto.comm.tnotify")
def notify(op: PtoOp, g: Generator) -> None:
    """Stores a number in a signal, or adds it; the scalar unit does so after all pipes of its core have finished."""
    action = g.argument(Notify(enum_value(op, "notifyOp", "set").endswith("add")))
    if g.queued:
        g.emitter.line("yield from core.join_all()")
    g.emitter.line(f"core.notify({action}, {_operands(op, g)})")


class Test:
    """Whether every element of a signal compares with a number."""

    def __init__(self, compare: str) -> None:
        self.compare = _COMPARE[compare]
        self.words = _WORDS[compare]

    def __call__(self, signal: GmTensor, value: int) -> bool:
        """Compares all elements of ``signal``, as signed integers, with ``value``."""
        return bool(np.all(self.compare(signal.matrix().read().astype(np.int64), value)))

    def missing(self, signal: GmTensor, value: int) -> str:
        """Returns the awaited value and the content of the signal, for messages."""
        held = signal.matrix().read().reshape(-1)
        shown = ", ".join(map(str, held[:_SHOWN])) + (", …" if held.size > _SHOWN else "")
        pointer = signal.pointer
        name, low = pointer.arena.place(pointer.offset)
        return f"until the signal at byte {low} of {name} is {self.words} {value}; it holds {shown}"


_SHOWN = 8
"""Maximum number of elements of a signal that a message lists."""


def _operands(op: PtoOp, g: Generator) -> str:
    return ", ".join(g.argument(value) for value in op.operands)


@kernel("pto.comm.twait")
def wait(op: PtoOp, g: Generator) -> None:
    """Waits until all elements of a signal compare with a number, while other cores, blocks and ranks continue."""
    test = g.argument(Test(enum_value(op, "cmp", "eq")))
    g.emitter.line(f"yield from core.until({test}, {_operands(op, g)})")


@kernel("pto.comm.ttest")
def test(op: PtoOp, g: Generator) -> None:
    """Whether all elements of a signal compare with a number."""
    called = f"({g.argument(Test(enum_value(op, 'cmp', 'eq')))}, {_operands(op, g)})"
    g.emitter.line(f"yield from core.look{called}")
    g.define(op.results[0], f"core.holds{called}")


# ------------------------------------------------------------ asynchronous transfers


@kernel("pto.comm.build_async_session", "pto.make_prefetch_async_context", "pto.get_prefetch_async_session")
def session(op: PtoOp, g: Generator) -> None:
    """A session of asynchronous transfers, which has no content."""
    if integer_attribute(op, "comm_block_offset"):
        raise g.error("unmodelled", "a session whose comm_block_offset moves its transfers cannot be executed", op)
    g.define(op.results[0], "None")


@kernel("pto.comm.tput_async", "pto.comm.tget_async")
def asynchronous(op: PtoOp, g: Generator) -> None:
    """Another engine copies global memory after all issued work of the pipes: the library waits for that work before it
    starts the engine."""
    dst, src = (named(op, name) for name in ("dst", "src"))
    if g.queued:
        g.emitter.line("yield from core.join_all()")
    g.call(Copy(None), dst, src, pipe=Pipe.S)
    g.define(op.results[0], "None")


@kernel("pto.tprefetch_async")
def prefetch(op: PtoOp, g: Generator) -> None:
    """A hint; its event is complete at once."""
    g.define(op.results[0], "None")


@kernel("pto.comm.wait_async_event", "pto.comm.test_async_event")
def completed(op: PtoOp, g: Generator) -> None:
    """True: asynchronous transfers complete when they are issued."""
    g.define(op.results[0], "True")
