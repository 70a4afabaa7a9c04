"""How runs of programs end, as text: changed elements of arguments, results, errors, findings, cycles.

Arguments follow from the types of the entry: numbers count up from a small one, so that a reader can follow them.
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import ml_dtypes
import numpy as np
from parse_helpers import parsed
from single_operations import REFUSALS, content
from snapshots import Block, described
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from pto_dialect.analysis.cycles.static import table_for
from pto_dialect.ir.core import types as t
from pto_dialect.runtime.numerics.decode import decode
from pto_dialect.runtime.numerics.formats import Format
from pto_dialect.runtime.queues.schedule import Schedule
from pto_dialect.runtime.run.arguments import argument_format
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.instrument.cycle_times import CycleTimeline
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import CHECKS, SanitizeOptions
from pto_dialect.sanitize.report.timeline import Timeline
from pto_dialect.sanitize.timed import CycleKernel

MODES: dict[str, dict[str, Any]] = {
    "plain": {},
    "fast": {"accumulate": "fast"},
    "vpto": {"backend": "vpto"},
    "newest": {"schedule": Schedule.parse("newest", strict=True)},
    "random": {"schedule": Schedule.parse("random:3", strict=True)},
}
"""Options of runs; other modes are ``edges`` (of formats), ``sanitized`` (strict order), ``ordered`` and ``cycles``."""
_SHOWN = 8
_INEXACT = re.compile(r"exp|ln|log|pow|sum|prod|mad|matmul|gemv|sqrt|add|mean|dot|lrelu|prelu|silu|gelu|recip|div")
"""Operations, by a part of their names, whose last bits are those of the machine's own mathematics."""


def run(block: Block) -> str:
    """How the run of a program ends in the mode that the title begins with; the expected output where all differences
    are last bits of mathematics, which depend on the machine."""
    output = _run(block)
    if _INEXACT.search(block.program) and _agree(block.output.split(), output.split()):
        return block.output
    return output


def _agree(expected: list[str], actual: list[str]) -> bool:
    """Whether words are the same or numbers that are close."""
    return len(expected) == len(actual) and all(map(_is_close, expected, actual))


def _is_close(expected: str, actual: str) -> bool:
    try:
        return expected == actual or math.isclose(float(expected), float(actual), rel_tol=0.02, abs_tol=1e-6)
    except ValueError:
        return False


def _run(block: Block) -> str:
    mode = block.title.split()[0]
    module, _ = parsed(block.program)
    assert module is not None
    target = "a2a3" if '"a2' in block.program or '"a3"' in block.program else "a5"
    printed = StringIO()
    lines: list[str] = []
    with redirect_stdout(printed), np.errstate(all="ignore"):
        try:
            arguments, types = _arguments(Kernel(module, None, target, RunOptions()), mode == "edges")
            before = [value.copy() if isinstance(value, np.ndarray) else value for value in arguments]
            kernel, timeline = _kernel(module, target, mode)
            results = kernel.run(arguments)
            lines += _changes(before, arguments, types)
            lines += [f"result {number}: {_numbers(np.asarray(value), None)}" for number, value in enumerate(results)]
            lines += _reported(kernel, timeline)
        except REFUSALS as error:
            lines.append(f"{type(error).__name__}: {error}")
    lines += [f"printed: {line}" for line in printed.getvalue().splitlines()]
    return "\n".join(lines or ["nothing changes"])


def _kernel(module: ModuleOp, target: str, mode: str) -> tuple[Kernel, Timeline | None]:
    options = RunOptions(**{"fill": "poison", "accumulate": "exact", **MODES.get(mode, {})})
    if mode == "cycles":
        timeline = CycleTimeline(table_for(target, None), target, {}, False)
        return CycleKernel(module, None, target, options, SanitizeOptions(frozenset()), timeline), timeline
    if mode in ("sanitized", "ordered"):
        timeline = Timeline(costs=True)
        sanitize = SanitizeOptions(frozenset(CHECKS), "strict" if mode == "sanitized" else "auto")
        return InstrumentedKernel(module, None, target, options, sanitize, timeline), timeline
    return Kernel(module, None, target, options), None


def _arguments(kernel: Kernel, edges: bool) -> tuple[list[Any], list[Attribute]]:
    """Arguments: arrays that count up to a small number, or begin at the edges of their format; and small numbers."""
    assert isinstance(kernel.function, FuncOp)
    types = [argument.type for argument in kernel.function.body.block.args]
    return [_argument(type_, number, edges) for number, type_ in enumerate(types)], types


def _argument(type_: Attribute, number: int, edges: bool) -> Any:
    fmt = argument_format(type_)
    if fmt is None:
        return 1.5 if t.is_float(type_) else int(str(type_) != "i1") + 1
    values = content(type_, number)
    kind = fmt.storage.kind
    if kind not in "fiu" or fmt.is_packed or (fmt.is_float and kind != "f"):
        return values
    counted = (np.arange(values.size) * 7 + number) % 11 - (0 if kind == "u" else 3)
    if edges and values.size > _SHOWN:
        if kind == "f":
            limits = ml_dtypes.finfo(fmt.storage)
            found = [np.nan, np.inf, -np.inf, -0.0, limits.max, limits.tiny]
        else:
            found = [np.iinfo(fmt.storage).min, np.iinfo(fmt.storage).max, 0, 1]
        first = np.roll(np.array(found).astype(fmt.storage), number)
        values.reshape(-1)[:] = counted.astype(fmt.storage)
        values.reshape(-1)[: first.size] = first
        return values
    return counted.astype(fmt.storage).reshape(values.shape)


def _changes(before: list[Any], after: list[Any], types: list[Attribute]) -> Iterator[str]:
    """Which elements of arguments have changed, and to what."""
    for number, (old, new, type_) in enumerate(zip(before, after, types, strict=True)):
        if isinstance(new, np.ndarray):
            width = new.dtype.itemsize
            differs = (old.view(np.uint8).reshape(-1, width) != new.view(np.uint8).reshape(-1, width)).any(axis=1)
            (changed,) = differs.nonzero()
            if changed.size:
                place = f"elements {changed[0]} to {changed[-1]}, {changed.size} changed"
                yield f"argument {number}, {place}: {_numbers(new.reshape(-1)[changed], argument_format(type_))}"


def _numbers(values: np.ndarray, fmt: Format | None) -> str:
    """The first numbers, and the sum of those that are finite."""
    if fmt is not None and fmt.storage.itemsize == values.dtype.itemsize:
        values = np.asarray(decode(values, fmt))
    numbers = np.asarray(values, np.float64).reshape(-1)
    shown = " ".join(f"{number:.5g}" for number in numbers[:_SHOWN])
    if numbers.size <= _SHOWN:
        return shown
    finite = np.where(np.isfinite(numbers) & (np.abs(numbers) < 1e30), numbers, 0)
    return f"{shown} .. sum {finite.sum():.5g}"


def _reported(kernel: Kernel, timeline: Timeline | None) -> Iterator[str]:
    """What a sanitized run finds, and when pipes are busy; what a run in cycles takes."""
    if isinstance(kernel, CycleKernel):
        cycles = kernel.cycles("program.pto")
        yield f"{cycles.total.cycles:g} cycles, {cycles.total.low:.4g} to {cycles.total.high:.4g}"
        for line in cycles.lines:
            time = f"{line.estimate.cycles:g} cycles ({line.estimate.evidence})"
            yield f"line {line.line} {line.operation} on {line.pipe}, {line.count} times: {time}"
    elif isinstance(kernel, InstrumentedKernel) and timeline is not None:
        for finding in kernel.observer.findings.all:
            yield from described(finding.diagnostic())
        yield from busy(timeline)


def busy(timeline: Timeline) -> Iterator[str]:
    """How many instructions each pipe of each core runs, how long, until when."""
    events = json.loads(timeline.document([]))["traceEvents"]
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    pipes = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    slices: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            key = names[event["pid"]], pipes[event["pid"], event["tid"]]
            slices[key].append((event["ts"] + event["dur"], event["dur"]))
    for (core, pipe), ends in sorted(slices.items()):
        yield f"{core} {pipe}: {len(ends)} until {max(ends)[0]:g}, {sum(length for _, length in ends):g} busy"
    flows = sum(event["ph"] == "s" for event in events)
    if flows:
        yield f"{flows} signals"
