"""Everything that an instrumented run reports, as lines that can be compared."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from pto_dialect.driver.run.sanitizing import unchecked_lines
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.sanitize.launch import InstrumentedKernel


def words(kernel: InstrumentedKernel, values: list[Any], blocks: int = 1) -> list[str]:
    """Runs the kernel: its findings with all they say, in order, what was not checked, and what the run computed."""
    found: list[str] = []
    try:
        returned = kernel.run(values, blocks)
    except ProgramError as error:
        returned = []
        found.append(f"ended: {error.rule}: {error} at {_place(error.span)}")
    for finding in kernel.observer.findings.all:
        one = finding.diagnostic()
        found.append(f"{one.severity.label}: {one.message} [{one.rule}] at {_place(one.span)}")
        found += [f"  note: {note.message} at {_place(note.span)}" for note in one.notes]
        found.append(f"  help: {one.help}")
        found.append(f"  {finding.count} times, event {finding.event}, {finding.same_bytes}, {finding.differs}")
        found += [f"  fix: {_fix(change)}" for change in finding.fix]
    found += [f"not checked: {line}" for line in unchecked_lines(kernel)]
    found.append(f"stopped: {kernel.stopped}, events: {len(kernel.observer.log.count)}")
    found += [f"array {_digest(value)}" for value in (*values, *returned) if isinstance(value, np.ndarray)]
    return found


def _place(span: Any) -> str:
    return "no place" if span is None else f"{span.line} ({span.text[:40]})"


def _fix(change: Any) -> str:
    parts = [type(change).__name__]
    for name in getattr(change, "__dataclass_fields__", getattr(change, "_fields", ())):
        value = getattr(change, name)
        values = value if isinstance(value, tuple) else (value,)
        parts += [f"{name} {_place_of(one)}" for one in values]
    return ", ".join(parts)


def _place_of(value: Any) -> str:
    from xdsl.ir import Operation

    from pto_dialect.ir.core.location import span_of

    return f"{value.name} {_place(span_of(value))}" if isinstance(value, Operation) else str(value)


def _digest(array: Any) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]
