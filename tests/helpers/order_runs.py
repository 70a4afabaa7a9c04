"""Sanitized runs of programs with a known order, and which of their findings show a fault of the order model."""

from __future__ import annotations

from typing import Any

import numpy as np
from order_scalars import WIDTHS
from xdsl.dialects.builtin import ModuleOp

from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.queues.schedule import Schedule
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions

RACES = frozenset(("race-raw", "race-war", "race-waw", "race-inverted", "l0c-handover"))
RULES = {
    **dict.fromkeys(("race-raw", "race-war", "race-waw"), RACES),
    "race-same-pipe": frozenset(("race-same-pipe", "sync-mte3-reorder")),
    "race-cross-core": frozenset(("race-cross-core",)),
    "deadlock": frozenset(("sync-deadlock",)),
    "leftover-flag": frozenset(("sync-flag-unconsumed",)),
    "overfull-flag": frozenset(("sync-flag-depth",)),
    "flag-ahead": frozenset(("sync-flag-depth",)),
    "id-range": frozenset(("sync-flag-range", "sync-buf-range", "sync-sem-range")),
    "buf-nesting": frozenset(("sync-buf-nesting",)),
}
"""Rules of the sanitizers that report a kind of fault."""
ORDER_RULES = frozenset(rule for rules in RULES.values() for rule in rules)
SCHEDULES = ("text", "oldest", "newest", "random:1")
ELEMENTS = 1 << 18
_DTYPES = {"i32": np.int32, "f16": np.float16, "f32": np.float32}


def argument(value: Any, arguments: dict[str, int]) -> Any:
    """A value of a parameter of a function: one of the integers, or zeros."""
    text = str(value.type)
    if text in WIDTHS:
        number = arguments[str(value.name_hint)]
        return bool(number) if text == "i1" else number
    dtype = next(dtype for name, dtype in _DTYPES.items() if name in text)
    if text.startswith("!pto.partition_tensor_view<"):
        return np.zeros(tuple(int(size) for size in text.partition("<")[2].split("x")[:-1]), dtype)
    return np.zeros(ELEMENTS, dtype)


def findings(module: ModuleOp, name: str, arguments: dict[str, int], schedule: str = "text") -> set[str]:
    """Rules about order that a sanitized run of the function ``name`` reports."""
    function = next(op for op in module.walk() if op.name == "func.func" and op.sym_name.data == name)  # type: ignore[attr-defined]
    values = [argument(value, arguments) for value in function.body.blocks.first.args]  # type: ignore[attr-defined]
    options = RunOptions(fill="zero", schedule=Schedule.parse(schedule, strict=True))
    sanitize = SanitizeOptions(frozenset(("race", "deadlock", "sync")), "strict")
    kernel = InstrumentedKernel(module, name, None, options, sanitize)
    try:
        kernel.run(values, arguments.get("block_idx", 0) + 1)
    except ProgramError as error:
        return {error.rule} - {"scf-step"}
    return {finding.diagnostic().rule for finding in kernel.observer.findings.all} & ORDER_RULES
