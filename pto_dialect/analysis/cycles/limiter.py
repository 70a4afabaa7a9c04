"""The limiter of a run in one sentence, with its cause.  Source: docs/cycles.md, "What limits the run"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from .limits import Limits, Waiting
from .table import CycleTable
from .traffic import CUBE, SYNC, VECTOR, Moved, Traffic

if TYPE_CHECKING:
    from .static import Line

BUSY = 0.7
"""Share of the time from which a resource that works limits the run."""

FEW_CORES = 0.5
"""Share of the cores of the chip up to which their number is the limiter."""

UNBALANCED = 0.8
LATENCY = 0.5
SHARED = 0.3
SIGNALS = 0.15
LEAST_COST = 0.03

_NAMES = {CUBE: "the cube unit", VECTOR: "the vector unit"}
_WHAT = {
    "reads": "data of {awaited}",
    "overwrites": "a buffer that {awaited} uses",
    "rewrites": "{awaited}, which writes the same buffer",
    "flag": "flags of {awaited}",
    "lock": "buffer ids of {awaited}",
    "barrier": "{awaited} at barriers",
    "unit-flag": "unit flags of {awaited}",
    "scalar": "the scalar unit",
}


class Sentence(NamedTuple):
    """The kind of the limiter, and the sentence."""

    kind: str
    text: str


def path_text(name: str) -> str:
    """Returns a path of transfers as it is written: ``GM→L1``."""
    return name.upper().replace(":", "→")


def waiting_text(one: Waiting) -> str:
    """Returns what a pipe waits for: ``V for data of MTE2``."""
    return f"{one.pipe.removeprefix('PIPE_')} for {_awaited_text(one)}"


def _awaited_text(one: Waiting) -> str:
    return _WHAT.get(one.kind, "{awaited}").format(awaited=one.awaited.removeprefix("PIPE_"))


def percent(share: float) -> str:
    """Returns a share as a text; small ones are not rounded to nothing."""
    return f"{100 * share:.0f} %" if share >= 0.0095 or not share else "less than 1 %"


def limiter(limits: Limits, moved: Moved, table: CycleTable, lines: Sequence[Line]) -> Sentence:
    """Returns what limits the run: the cores that work, and what the critical path goes through on them."""
    if not limits.whole:
        return Sentence("nothing", "No operation of the run takes cycles.")
    if limits.cores_used <= FEW_CORES * limits.cores:
        inner = _inside(limits, moved, table, lines)
        verb = "works" if limits.cores_used == 1 else "work"
        return Sentence("cores", f"{limits.cores_used} of {limits.cores} {limits.core}s {verb}; there {inner.text}.")
    if limits.balance < UNBALANCED:
        uneven = f"{limits.blocks} blocks on {limits.cores} {limits.core}s"
        text = f"The cores end at different times ({uneven}): on average at {percent(limits.balance)} of the time"
        return Sentence("balance", f"{text}; on the last one {_inside(limits, moved, table, lines).text}.")
    kind, text = _inside(limits, moved, table, lines)
    return Sentence(kind, f"{text[0].upper()}{text[1:]}.")


def _inside(limits: Limits, moved: Moved, table: CycleTable, lines: Sequence[Line]) -> Sentence:
    """Returns what limits a core."""
    worst = limits.waiting[0] if limits.waiting else None
    signals = limits.critical.get(SYNC, 0.0) / limits.whole
    if signals >= SIGNALS:
        between = f" between {_pair(worst)}" if worst is not None else ""
        return Sentence("signals", f"the latency of flags{between} takes {percent(signals)} of the critical path")
    working = [name for name in limits.critical if name != SYNC]
    first = working[0] if working else ""
    busy = limits.uses[first].busiest if first else 0.0
    if worst is None or busy >= BUSY or worst.cycles < LEAST_COST * limits.whole:
        return _resource(first, busy, moved, table, lines)
    most = max(limits.uses.items(), key=lambda one: one[1].busiest)
    text = f"the pipes alternate, {_named(most[0])} is busy most, {percent(most[1].busiest)} of the time"
    waits = f"{worst.pipe.removeprefix('PIPE_')} waits for {_awaited_text(worst)}"
    return Sentence("waits", f"{text}: {waits}, which costs {percent(worst.cycles / limits.whole)}")


def _pair(worst: Waiting) -> str:
    return " and ".join(one.removeprefix("PIPE_") for one in (worst.awaited, worst.pipe))


def _named(resource: str) -> str:
    return _NAMES.get(resource) or path_text(resource)


def _resource(name: str, busy: float, moved: Moved, table: CycleTable, lines: Sequence[Line]) -> Sentence:
    """Returns a resource that works most of the time, and why it takes so long."""
    why = ""
    if name == CUBE:
        why = _product_cause(moved[name], table)
    elif name == VECTOR:
        why = _vector_cause(lines)
    elif name in moved:
        why = _transfer_cause(name, moved, table)
    kind = name if name in _NAMES else "transfers"
    return Sentence(kind, f"{_named(name)} is busy {percent(busy)} of the time{why}")


def _product_cause(cube: Traffic, table: CycleTable) -> str:
    type_ = table.type_of("cube", "tmatmul", "*")
    head = cube.count * table.group("cube", "tmatmul", type_)["head"] / cube.cycles if type_ else 0.0
    if head < SHARED:
        return ""
    rows, cols, inner = cube.tile
    return f", and {percent(head)} of that is the start of its products, because they are only {rows}x{inner}x{cols}"


def _vector_cause(lines: Sequence[Line]) -> str:
    vector = [line for line in lines if line.pipe == "PIPE_V"]
    if len(vector) < 2:
        return ""
    longest = max(vector, key=lambda line: line.count * line.estimate.cycles)
    share = longest.count * longest.estimate.cycles / sum(line.count * line.estimate.cycles for line in vector)
    where = f" (line {longest.line})" if longest.line else ""
    return f", {percent(share)} of that with {longest.operation}{where}"


def _transfer_cause(name: str, moved: Moved, table: CycleTable) -> str:
    """Why transfers along a path take so long: the memory that cores share, latency, or bytes used too few times."""
    one = moved[name]
    if one.shared >= SHARED * one.cycles:
        return f", because the cores share {table.value_of('machine', 'memory_gbps'):.0f} GB/s of global memory"
    if not table.type_of("move", name, "*"):
        return ""
    law = table.group("move", name, "*")
    latency = one.blocks * law["fixed"] / one.cycles
    if latency >= LATENCY:
        size = f"{one.bytes / max(one.blocks, 1):,.0f}"
        return f", because each of its {one.blocks:,} transfers moves only {size} bytes: {percent(latency)} is latency"
    computed = CUBE if CUBE in moved else VECTOR
    if computed not in moved or not one.bytes:
        return ""
    unit, uses = moved[computed], _figure(moved[computed].operations / one.bytes)
    byte = f"{'stored' if name.endswith(':gm') else 'loaded' if name.startswith('gm:') else 'moved'} byte"
    if computed == CUBE:
        return f", because {unit.tile[0]}x{unit.tile[1]} tiles use each {byte} for {uses} operations"
    return f", because each {byte} takes part in only {uses} operations of the vector unit"


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
