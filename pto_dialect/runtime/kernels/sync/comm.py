"""Communication: peers are ranges of global memory in one process. Source: docs/reference/execution.md,
"Communication".

Asynchronous transfers complete at once, and their events are always done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pto_dialect.ir.core.base import Pipe, PtoOp
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.memory.values import GmTensor

from ..registry import kernel
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


def _fill(target: GmTensor, values: Array) -> None:
    """Elements in row-major order into a view of as many."""
    matrix = target.matrix()
    if values.size != matrix.rows * matrix.cols:
        raise Fault("comm-shape", f"{values.size} elements do not fit {matrix.rows}x{matrix.cols} elements")
    matrix.write(values.reshape(matrix.rows, matrix.cols))


class Copy:
    """dst := src, or dst := dst + src."""

    def __init__(self, atomic: bool) -> None:
        self.atomic = atomic

    def __call__(self, dst: GmTensor, src: GmTensor) -> None:
        values = np.array(src.matrix().read())
        if self.atomic:
            values = np.add(dst.matrix().read().reshape(values.shape), values).astype(values.dtype)
        _fill(dst, values)


@kernel("pto.comm.tput", "pto.comm.tget")
def transfer(op: PtoOp, g: Generator) -> None:
    atomic = enum_value(op, "atomicType", "atomic_none") == "atomic_add"
    groups = g.operands(op)
    g.call(Copy(atomic), groups["dst"][0], groups["src"][0], pipe=Pipe.MTE3)


def broadcast(src: GmTensor, group: tuple[GmTensor, ...]) -> None:
    """Every member of the group := src."""
    values = np.array(src.matrix().read())
    for member in group:
        _fill(member, values)


def scatter(src: GmTensor, group: tuple[GmTensor, ...]) -> None:
    """Member i of the group := slice i of src."""
    slices = np.array(src.matrix().read()).reshape(-1)
    if slices.size % len(group):
        raise Fault("comm-shape", f"{slices.size} elements cannot be shared by {len(group)} members of the group")
    for member, values in zip(group, np.split(slices, len(group)), strict=True):
        _fill(member, values)


def gather(dst: GmTensor, group: tuple[GmTensor, ...]) -> None:
    """dst := the members of the group one after the other."""
    _fill(dst, np.concatenate([np.array(member.matrix().read()).reshape(-1) for member in group]))


class Reduce:
    """dst := reduction over the group in the order of its members."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, dst: GmTensor, group: tuple[GmTensor, ...]) -> None:
        total = np.array(group[0].matrix().read())
        for member in group[1:]:
            total = self.function(total, member.matrix().read()).astype(total.dtype)
        _fill(dst, total)


@kernel("pto.comm.tbroadcast", "pto.comm.tscatter")
def from_root(op: PtoOp, g: Generator) -> None:
    groups = g.operands(op)
    function = broadcast if op.name == "pto.comm.tbroadcast" else scatter
    g.call(function, groups["src"][0], list(groups["group"]), pipe=Pipe.MTE3)


@kernel("pto.comm.tgather", "pto.comm.treduce")
def to_root(op: PtoOp, g: Generator) -> None:
    groups = g.operands(op)
    function = gather if op.name == "pto.comm.tgather" else Reduce(_REDUCE[enum_value(op, "reduceOp", "sum")])
    g.call(function, groups["dst"][0], list(groups["group"]), pipe=Pipe.MTE3)


# ------------------------------------------------------------ signals


class Notify:
    """Stores a number in the elements of a signal, or adds it to them."""

    def __init__(self, add: bool) -> None:
        self.add = add

    def __call__(self, signal: GmTensor, value: int) -> None:
        matrix = signal.matrix()
        old = matrix.read()
        number = np.array([value & 0xFFFFFFFFFFFFFFFF], np.uint64).astype(f"u{old.dtype.itemsize}").view(old.dtype)
        matrix.write(np.add(old, number) if self.add else np.broadcast_to(number, old.shape))


@kernel("pto.comm.tnotify")
def notify(op: PtoOp, g: Generator) -> None:
    g.call(Notify(enum_value(op, "notifyOp", "set").endswith("add")), *op.operands, pipe=Pipe.S)


class Test:
    """True when every element of a signal compares with a number."""

    def __init__(self, compare: str) -> None:
        self.compare = _COMPARE[compare]

    def __call__(self, signal: GmTensor, value: int) -> bool:
        return bool(np.all(self.compare(signal.matrix().read().astype(np.int64), value)))

    def wait(self, signal: GmTensor, value: int) -> None:
        """Blocks run one after the other, so a signal that is not there yet never comes."""
        if not self(signal, value):
            raise Fault("sync-deadlock", f"pto.comm.twait waits for {value}, which no one has sent to the signal")


@kernel("pto.comm.twait")
def wait(op: PtoOp, g: Generator) -> None:
    g.call(Test(enum_value(op, "cmp", "eq")).wait, *op.operands, pipe=Pipe.S)


@kernel("pto.comm.ttest")
def test(op: PtoOp, g: Generator) -> None:
    g.value_of_call(op.results[0], Test(enum_value(op, "cmp", "eq")), *op.operands)


# ------------------------------------------------------------ asynchronous transfers


@kernel("pto.comm.build_async_session", "pto.make_prefetch_async_context", "pto.get_prefetch_async_session")
def session(op: PtoOp, g: Generator) -> None:
    g.define(op.results[0], "None")


@kernel("pto.comm.tput_async", "pto.comm.tget_async")
def asynchronous(op: PtoOp, g: Generator) -> None:
    """Another engine copies global memory, behind all that the pipes have been given: the library waits for these
    before it tells the engine."""
    dst, src, _ = op.operands
    if g.queued:
        g.emitter.line("yield from core.join_all()")
    g.call(Copy(atomic=False), dst, src, pipe=Pipe.S)
    g.define(op.results[0], "None")


@kernel("pto.tprefetch_async")
def prefetch(op: PtoOp, g: Generator) -> None:
    g.define(op.results[0], "None")


@kernel("pto.comm.wait_async_event", "pto.comm.test_async_event")
def completed(op: PtoOp, g: Generator) -> None:
    g.define(op.results[0], "True")
