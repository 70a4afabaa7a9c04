"""Signals between cores. Source: docs/reference/execution.md, "Synchronisation".

a5 has point-to-point semaphores between the AIC and one AIV; the group forms signal several cores at once. The cores of
a program that uses them run concurrently, with their pipes as queues.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation

from pto_dialect.ir.core.base import PtoOp, section_around
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.walk import ancestors, walk
from pto_dialect.ir.sync.cross_core import SyncSetOp, SyncWaitOp
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.queues.run import QueueCore
from pto_dialect.runtime.run.machine import Core, block_cores
from pto_dialect.targets.sync_resources import A5_SYNC

from ..registry import kernel, kernels

POINT_TO_POINT = "p2p"
SIDE: Final = A5_SYNC.aiv1_offset or 0
"""Ids 16 and up on the AIC side belong to AIV1."""


def signal(core: QueueCore, pipe: str, number: int, mode: str) -> None:
    """Makes ``pipe`` signal the cores of ``mode``; a core that runs the code of both kinds signals itself."""
    cube, vector = block_cores(core)
    alone = core.kind == "all"
    targets: list[tuple[Core, tuple[Any, ...]]] = []
    if mode == POINT_TO_POINT:
        if core.kind == "aic":
            targets = [(c, (mode, number % SIDE)) for c in vector if c.index == number // SIDE]
        elif alone:
            targets = [(core, (mode, number))]
        elif cube is not None:
            targets = [(cube, (mode, core.index * SIDE + number % SIDE))]
    elif mode == "block":
        if core.kind == "aic":
            targets = [(c, (mode, number, 0)) for c in vector]
        elif alone:
            targets = [(core, (mode, number, 0))]
        elif cube is not None:
            targets = [(cube, (mode, number, core.index))]
    elif mode == "vectors":
        targets = [(c, (mode, number, core.index)) for c in vector]
    else:
        peers = [c for block in core.block.device for c in block.cores if c.kind == core.kind]
        targets = [(c, (mode, number, core.block.index, core.index)) for c in peers]
    core.signal(pipe, tuple(targets))


def wait(core: QueueCore, pipe: str, number: int, mode: str, line: int = 0) -> None:
    """Makes ``pipe`` wait for the signals that ``mode`` requires; ``line`` is that of the generated source."""
    _, vector = block_cores(core)
    if mode == POINT_TO_POINT:
        keys: list[tuple[Any, ...]] = [(mode, number % SIDE if core.kind == "aiv" else number)]
    elif mode == "block":
        keys = [(mode, number, c.index) for c in vector] if core.kind == "aic" else [(mode, number, 0)]
    elif mode == "vectors":
        keys = [(mode, number, c.index) for c in vector]
    else:
        peers = [c for block in core.block.device for c in block.cores if c.kind == core.kind]
        keys = [(mode, number, c.block.index, c.index) for c in peers]
    core.await_signals(pipe, tuple(keys), line)


_FFTS = {0: "blocks", 1: "vectors", 2: "block"}
_WITHIN_BLOCK: Final = IntegerAttr(2, IntegerType(32))
"""The mode of signals to the cores of the other kind."""


def default_mode(op: Operation, g: Generator) -> str:
    """Returns the meaning of ``sync.set`` without a group mode on this target (docs/reference/execution.md,
    "Synchronisation")."""
    if g.options.cross_core == "block" or g.profile.arch == "a2a3":
        return "block"
    if g.options.cross_core == "p2p":
        return POINT_TO_POINT
    *_, root = op, *ancestors(op)
    sides: dict[tuple[type[SyncSetOp | SyncWaitOp], str], set[int]] = {}
    for other in walk(root):
        if isinstance(other, SyncSetOp | SyncWaitOp) and "event_id" in other.attributes:
            number = other.attributes["event_id"].value.data  # pyright: ignore[reportAttributeAccessIssue]
            if number >= SIDE:
                return POINT_TO_POINT
            sides.setdefault((type(other), section_around(other)), set()).add(number)
    return "block" if _two_sided(sides) else POINT_TO_POINT


def _two_sided(sides: dict[tuple[type[SyncSetOp | SyncWaitOp], str], set[int]]) -> bool:
    """Returns whether the vector section waits for every id that the cube section sets, and the reverse."""
    ways = (("cube", "vector"), ("vector", "cube"))
    return all(sides.get((SyncSetOp, a), set()) <= sides.get((SyncWaitOp, b), set()) for a, b in ways)


def _emit(op: PtoOp, g: Generator, function: Any, mode: str) -> None:
    pipe = op.attributes["pipe"].data[1]  # pyright: ignore[reportAttributeAccessIssue]
    static = op.attributes.get("event_id")
    number = static.value.data if static is not None else g.name(named(op, "event_id_dyn"))  # pyright: ignore
    pipe = "PIPE_S" if function is wait and g.profile.arch == "a2a3" else pipe
    line = f", {g.next_line()}" if function is wait else ""
    g.emitter.line(f"{g.argument(function)}(core, {pipe!r}, {number}, {mode!r}{line})")
    if pipe == "PIPE_S":
        g.emitter.line("yield from core.join_scalar()")


def _mode(op: PtoOp, g: Generator) -> str:
    attr = op.attributes.get("ffts_mode")
    if attr is not None:
        return _FFTS[attr.value.data]  # pyright: ignore[reportAttributeAccessIssue]
    return _mode_of_sets(op, g) or default_mode(op, g)


def _mode_of_sets(op: PtoOp, g: Generator) -> str | None:
    """Returns the mode of all sets of the flag for which an operation waits; hardware waits for the flag alone. Where
    they differ, a core that sets the flag for its own kind waits for this kind next."""
    event = op.attributes.get("event_id")
    if not isinstance(op, SyncWaitOp) or event is None:
        return None
    sets = _SETS.get(g)
    if sets is None:
        *_, root = op, *ancestors(op)
        sets = _SETS[g] = {}
        for other in walk(root):
            if isinstance(other, SyncSetOp) and "event_id" in other.attributes:
                sets.setdefault(other.attributes["event_id"], set()).add(other.attributes.get("ffts_mode"))
    modes = sets.get(event, set())
    mode = next(iter(modes)) if len(modes) == 1 else _mode_of_own_set(op, event)
    return None if mode is None else _FFTS[mode.value.data]  # pyright: ignore[reportAttributeAccessIssue]


def _mode_of_own_set(op: Operation, event: Attribute) -> Attribute | None:
    """Returns the mode of the set before a wait in its block, if the core itself is among those that it reaches."""
    before = op.prev_op
    while before is not None:
        if isinstance(before, SyncSetOp | SyncWaitOp) and before.attributes.get("event_id") == event:
            mode = before.attributes.get("ffts_mode")
            reaches = isinstance(before, SyncSetOp) and mode is not None and mode != _WITHIN_BLOCK
            return mode if reaches else None
        before = before.prev_op
    return None


_SETS: WeakKeyDictionary[Generator, dict[Attribute, set[Attribute | None]]] = WeakKeyDictionary()
"""The modes of the sets of each flag, of the program that a generator compiles."""


@kernels({"pto.sync.set": signal, "pto.sync.wait": wait})
def sync(op: PtoOp, g: Generator, function: Callable[..., Any]) -> None:
    """Signals the other cores of the block once the earlier work of the pipe is complete, or waits for their signals;
    the mode selects them."""
    _emit(op, g, function, _mode(op, g))


@kernels(
    {
        # One core of the block; the cores of its kind in all blocks.
        "pto.set_intra_block": (signal, POINT_TO_POINT),
        "pto.wait_intra_block": (wait, POINT_TO_POINT),
        "pto.set_cross_block": (signal, "blocks"),
        "pto.wait_cross_block": (wait, "blocks"),
    }
)
def signal_or_wait(op: PtoOp, g: Generator, row: tuple[Callable[..., Any], str]) -> None:
    """Signals other cores once the earlier work of the pipe is complete, or makes the pipe wait for their signals."""
    _emit(op, g, *row)


@kernel("pto.set_ffts")
def set_ffts(op: PtoOp, g: Generator) -> None:
    """Sets the flag area in memory; signals are modelled without it."""


def meet(core: QueueCore, kinds: str, used: int = 0) -> bool:
    """Signals every core that takes part in a barrier over all blocks, and waits for all of them; returns False for a
    core that does not take part. Of the cores of one kind only the first ``used`` take part, if it is not 0."""
    expected = {"aic_only": ("aic", "all"), "aiv_only": ("aiv", "all"), "mix": ("aic", "aiv", "all")}[kinds]
    if core.kind not in expected:
        return False
    peers = [c for block in core.block.device for c in block.cores if c.kind in expected]
    if used and kinds != "mix":
        peers = peers[:used]
    mine = ("all", kinds, core.block.index, core.kind, core.index)
    core.signal("PIPE_S", tuple((c, mine) for c in peers))
    core.await_signals("PIPE_S", tuple(("all", kinds, c.block.index, c.kind, c.index) for c in peers))
    return True


@kernel("pto.syncall")
def syncall(op: PtoOp, g: Generator) -> None:
    """Waits until all cores of the named kinds, in all blocks, arrive with their pipes drained."""
    kinds = op.attributes["core_type"].data[1]  # pyright: ignore[reportAttributeAccessIssue]
    used = g.operand(op, "used_cores")
    count = f", int({g.name(used)})" if used is not None else ""
    g.emitter.line("yield from core.join_all()")
    with g.emitter.block(f"if {g.argument(meet)}(core, {kinds!r}{count}):"):
        g.emitter.line("yield from core.join_scalar()")
