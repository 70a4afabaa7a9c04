"""Signals between the cores of a block: from which core to which, as channels.

Source: docs/reference/execution.md, "Synchronisation".
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from xdsl.ir import Operation

from pto_dialect.analysis.type_facts import enumerator, integer_attribute
from pto_dialect.ir.core.base import PtoOp, op_spec, section_around
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import ancestors, walk
from pto_dialect.ir.sync.cross_core import BlockSemaphoreOp, SyncSetOp, SyncWaitOp
from pto_dialect.targets.sync_resources import A5_SYNC

from ..expressions import Expr
from ..model import Signal, UndecidedError
from ..order_rules import CUBE
from ..values import Numbers
from .outside import Step

CORES = (CUBE, 1, 2)
"""The cube core and both vector cores."""
VECTORS = CORES[1:]
_IDS = A5_SYNC.aiv1_offset or 16
_ALL_BLOCKS, _VECTORS, _BLOCK, _PAIR = 0, 1, 2, None
"""The group modes of a signal, and that of a signal to one core."""
_TAKING_PART = {"aic_only": (CUBE,), "aiv_only": VECTORS, "mix": CORES}


def channelled(op: PtoOp, steps: list[Step], core: int, numbers: Numbers, arch: str) -> list[Step]:
    """Returns the steps of an operation on a core of a block, with the channels of its signals. Raises
    :class:`UndecidedError`."""
    if op_spec(type(op)).queue is not None:
        raise UndecidedError(op, "queues between the cores of one function are not followed")
    if not has_role(op, Role.CORES | Role.BLOCKS):
        return steps
    found: list[Step] = []
    for step in steps:
        signal = step.signal
        if signal is None or signal.kind not in ("post", "take"):
            found.append(step)
            continue
        for source, target, name in _ways(op, core, signal.kind, numbers, arch):
            new = Signal(signal.kind, signal.source, signal.target, channel=(name, source, target))
            found.append(Step(step.pipe, step.accesses, new))
    return found


def _ways(op: PtoOp, core: int, kind: str, numbers: Numbers, arch: str) -> Iterator[tuple[int, int, Hashable]]:
    """From which core to which the signal of an operation goes, and what else identifies it."""
    if has_role(op, Role.BARRIER):
        those = _TAKING_PART.get(enumerator(op, "core_type"), CORES)
        for other in those if core in those else ():
            yield (core, other, "all") if kind == "post" else (other, core, "all")
        return
    number, mode = _number(op, numbers), _mode(op, arch)
    if mode is _PAIR:
        other = 1 + number // _IDS if core == CUBE else CUBE
        name: Hashable = ("pair", number % _IDS)
        others = (other,) if other in CORES else ()
    elif mode == _BLOCK:
        others, name = VECTORS if core == CUBE else (CUBE,), ("block", number)
    elif mode == _VECTORS:
        if core == CUBE:
            raise UndecidedError(op, "signals of the cube core to the group of vector cores are not followed")
        others, name = VECTORS, ("vectors", number)
    else:
        others, name = ((CUBE,) if core == CUBE else VECTORS), ("blocks", number)
    for other in others:
        yield (core, other, name) if kind == "post" else (other, core, name)


def _number(op: PtoOp, numbers: Numbers) -> int:
    stated = integer_attribute(op, "event_id")
    number = Expr(stated) if stated is not None else next(iter(numbers.number(one) for one in op.operands), None)
    if number is None or number.value is None:
        raise UndecidedError(op, "its id is computed")
    return number.value


def _mode(op: PtoOp, arch: str) -> int | None:
    """Returns the group mode of a signal; a wait has that of the sets of its flag."""
    if isinstance(op, BlockSemaphoreOp):
        return _ALL_BLOCKS if has_role(op, Role.BLOCKS) else _PAIR
    stated = integer_attribute(op, "ffts_mode")
    if stated is not None:
        return stated
    if has_role(op, Role.BLOCKS):
        return _ALL_BLOCKS
    others = [one for one in walk(_root(op)) if isinstance(one, SyncSetOp | SyncWaitOp)]
    if isinstance(op, SyncWaitOp):
        event = op.attributes.get("event_id")
        sets = [one for one in others if isinstance(one, SyncSetOp) and one.attributes.get("event_id") == event]
        modes = {integer_attribute(one, "ffts_mode") for one in sets}
        if len(modes) > 1:
            raise UndecidedError(op, "the signals that it may take have different modes")
        if modes and None not in modes:
            return modes.pop()
    return _BLOCK if arch == "a2a3" or _is_broadcast(others) else _PAIR


def _root(op: Operation) -> Operation:
    *_, root = op, *ancestors(op)
    return root


def _is_broadcast(signals: list[SyncSetOp | SyncWaitOp]) -> bool:
    """Returns whether signals without a mode on a5 reach all cores of the block: no id is that of the second vector
    core, and each kind of core waits for all that the other sets."""
    sides: dict[tuple[type[Operation], str], set[int | None]] = {}
    for one in signals:
        number = integer_attribute(one, "event_id")
        if number is not None and number >= _IDS:
            return False
        sides.setdefault((type(one), section_around(one)), set()).add(number)
    ways = (("cube", "vector"), ("vector", "cube"))
    return all(sides.get((SyncSetOp, a), set()) - {None} <= sides.get((SyncWaitOp, b), set()) for a, b in ways)
