"""Synchronisation rules about a function as a whole. Source: docs/reference/constraints.md, "Synchronisation rules"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import inf
from typing import TYPE_CHECKING, Final

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, Region

from pto_dialect.analysis.constants import constant_of, constant_trip_count
from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.diagnostics.remedies.synchronization import other_end
from pto_dialect.ir.core.base import Effect, Pipe, op_spec
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.operands import find
from pto_dialect.ir.core_dialects.structured import is_for, is_if, is_switch
from pto_dialect.ir.sync.flags import MemBarOp, OperationEventOp

from ..engine.context import Context
from ..engine.functions import FunctionScan, function_check, is_vector_scope
from ..engine.order import EVENTS, PIPE_ORDER, SETS, WAITS
from ..engine.rule import ERROR, WARNING

if TYPE_CHECKING:
    pass

SIGNAL_BASE: Final = "pto.ffts_base"
"""Attribute of signals whose memory the kernel sets by a number, as C++ kernels do."""


@function_check("cross_core")
def check_ffts_base(scan: FunctionScan, ctx: Context) -> None:
    """Checks that a flag area is set before cross-core signals of a2a3."""
    first = next(scan.named("pto.sync.set", "pto.sync.wait"), None)
    if first is None or scan.contains("pto.set_ffts") or SIGNAL_BASE in first.attributes:
        return
    severity = ctx.refused(lambda p: p.arch != "a2a3", WARNING)
    if severity is not None:
        message = f"{first.name} needs the base of the flag area on {ctx.profile.name}"
        ctx.report(
            "sync-ffts-base", first, message, help="pto.set_ffts at the start of the function", severity=severity
        )


_DELIMITERS: Final = (
    *EVENTS,
    *PIPE_ORDER,
    "pto.tsync",
    "pto.syncall",
    "pto.sync.set",
    "pto.sync.wait",
    "pto.dsb",
    "pto.dcci",
    "pto.cmo.cacheinvalid",
    "pto.fence.barrier_all",
    "pto.syncthreads",
    "pto.threadfence",
    "pto.threadfence_block",
)
"""Synchronization that ends a vector function."""
_OTHER_PIPES: Final = ("sync", "cross_core", "dma", "mte", "mte_raw")


@function_check(*sorted({*_OTHER_PIPES, *(OPS[name][0] for name in _DELIMITERS)}))
def check_in_vecscope(scan: FunctionScan, ctx: Context) -> None:
    """Checks for synchronization and operations of other pipes inside a vector function."""
    if not scan.has_vector_scope:
        return
    delimiters = dict.fromkeys(scan.named(*_DELIMITERS))
    others = [op for op in scan.of_families(*_OTHER_PIPES) if op not in delimiters and not _vector_side(op)]
    for op in (*delimiters, *others):
        scope = scan.enclosing(op, is_vector_scope)
        if scope is None:
            continue
        # A marked loop becomes a vector function only later, when its synchronization may have moved out of it.
        written = not is_for(scope) and op in delimiters
        severity = ERROR if written else WARNING
        ctx.report("sync-in-vecscope", op, f"{op.name} does not belong inside a vector scope", severity=severity)


def _vector_side(op: Operation) -> bool:
    """Returns whether ``op`` is a barrier inside the vector pipe, or only prepares a value or a register."""
    spec = op_spec(type(op))
    if isinstance(op, MemBarOp) or spec.effect is Effect.HANDLE:
        return True
    return spec.pipe is Pipe.S and spec.effect is not Effect.SYNC


# ------------------------------------------------------------ pairing of flags

_STEPS: Final = {**dict.fromkeys((*SETS, EVENTS[0]), 1), **dict.fromkeys((*WAITS, EVENTS[1]), -1)}
"""Change that an operation makes to the number of sets without a wait."""

Key = tuple[str, str, str]
"""Both ends and the id of a flag."""
Balance = dict[Key, tuple[float, float]]
"""Minimum and maximum number of sets without a wait, over all paths."""


@function_check("sync")
def check_unpaired(scan: FunctionScan, ctx: Context) -> None:
    """Reports flags whose numbers of sets and waits differ on every path."""
    flags = list(scan.named(*_STEPS))
    if not flags or _may_pair_across_functions(scan):
        return
    keys = {id(op): _key(op) for op in flags}
    counts = Counter((keys[id(op)], _STEPS[op.name] > 0) for op in flags)
    unknown = {key[:2] for key in keys.values() if not key[2]}
    balance = _region(scan.function.body, keys)
    reported: set[Key] = set()
    for op in flags:
        key = keys[id(op)]
        low, high = balance.get(key, (0, 0))
        if low <= 0 <= high or key in reported or key[:2] in unknown:
            continue
        if (_STEPS[op.name] > 0) != (low > 0):
            continue
        reported.add(key)
        sets, waits = counts[key, True], counts[key, False]
        more = "set more often than it is waited for" if low > 0 else "waited for more often than it is set"
        message = f"flag {key[2]} from {key[0]} to {key[1]} is {more} (set {sets}, wait {waits} in the text)"
        mended = (other_end(*key, low > 0),) if key[2].startswith("EVENT_ID") else ()
        ctx.report("sync-unpaired", op, message, remedies=mended)


def _key(op: Operation) -> Key:
    if isinstance(op, OperationEventOp):
        return enumerator(op, "src_op"), enumerator(op, "dst_op"), enumerator(op, "event_id")
    number = enumerator(op, "event_id")
    value = find(op, "event_id")
    if not number and value is not None:
        known = constant_of(value)
        number = f"EVENT_ID{known}" if isinstance(known, int) else ""
    return enumerator(op, "src_pipe"), enumerator(op, "dst_pipe"), number


def _may_pair_across_functions(scan: FunctionScan) -> bool:
    """Returns whether the other end of a flag may be in another function."""
    if scan.contains("func.call"):
        return True
    visibility = scan.function.properties.get("sym_visibility")
    return isinstance(visibility, StringAttr) and visibility.data == "private"


def _region(region: Region, keys: dict[int, Key]) -> Balance:
    total: Balance = {}
    blocks = list(region.blocks)
    for block in blocks:
        for op in block.ops:
            key = keys.get(id(op))
            if key is not None:
                step = _STEPS[op.name]
                low, high = total.get(key, (0, 0))
                total[key] = (low + step, high + step)
            elif op.regions:
                for key, (low, high) in _nested(op, keys).items():
                    sum_low, sum_high = total.get(key, (0, 0))
                    total[key] = (sum_low + low, sum_high + high)
    if len(blocks) > 1:
        return dict.fromkeys(total, (-inf, inf))
    return total


def _nested(op: Operation, keys: dict[int, Key]) -> Balance:
    inner = [_region(region, keys) for region in op.regions]
    if is_if(op) or is_switch(op):
        return _either(inner)
    touched: Iterable[Key] = {key for balance in inner for key in balance}
    if is_for(op):
        times = constant_trip_count(op)
        return {key: _repeated(inner[0][key], times) for key in touched}
    # Every other operation of the dialect runs its regions any number of times.
    if op.name.startswith("scf."):
        return dict.fromkeys(touched, (-inf, inf))
    return inner[0] if inner else {}


def _either(branches: list[Balance]) -> Balance:
    merged: Balance = {}
    for key in {key for branch in branches for key in branch}:
        bounds = [branch.get(key, (0, 0)) for branch in branches]
        merged[key] = (min(low for low, _ in bounds), max(high for _, high in bounds))
    return merged


def _repeated(bounds: tuple[float, float], times: int | None) -> tuple[float, float]:
    low, high = bounds
    if times is not None:
        return low * times if low else 0, high * times if high else 0
    return min(0, -inf if low < 0 else 0), max(0, inf if high > 0 else 0)
