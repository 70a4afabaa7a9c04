"""How runs of many programs end, as kept in ``tests/runtime/runs``: in plain and in watched runs, in several modes.

A row names a statement near the round-trip programs (``neighbours.py``, by its number, verified or not) or a program
(``kept_outputs.py``), the mode of the run, and how it ends: a digest of all bytes that arguments hold afterwards with
two sums of the numbers, or the error in full with its line; then what a watched run finds, and what its cycles are.
The rows were chosen from many so that together they take every branch of the runtime and of the sanitizers that any of
them takes, and decide alone each part of a condition that any of them decides; some more were chosen at random.

Usage: python tests/helpers/kept_runs.py [FILE ...] writes the rows again, for the same programs and modes.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[2] / "lit-tests"), str(Path(__file__).parent)]

import numpy as np
from kept_findings import busy, said
from kept_outputs import program
from neighbours import Statement, neighbours, statements
from outcomes import agree, given_arguments, same_nans, weighted_sums
from parse_helpers import parsed
from single_operations import REFUSALS, Single
from single_operations import Statement as Tried
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from pto_dialect.analysis.cycles.static import table_for
from pto_dialect.ir.buffers.views import SetValidshapeOp
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.runtime.queues.schedule import Schedule
from pto_dialect.runtime.run.arguments import argument_format
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.launch import WatchedKernel
from pto_dialect.sanitize.options import CHECKS, SanitizeOptions
from pto_dialect.sanitize.report.timeline import Timeline
from pto_dialect.sanitize.timed import CycleKernel
from pto_dialect.sanitize.watch.cycle_times import CycleTimeline

FOLDER = Path(__file__).parents[1] / "runtime" / "runs"
MODES: dict[str, dict[str, Any]] = {
    "plain": {},
    "edges": {},
    "open": {},
    "fast": {"accumulate": "fast"},
    "vpto": {"backend": "vpto"},
    "newest": {"schedule": Schedule.parse("newest", strict=True)},
    "random": {"schedule": Schedule.parse("random:3", strict=True)},
    "watched": {},
    "ordered": {},
    "cycles": {},
}
CUTS: dict[str, Callable[[int, int], tuple[int, int]]] = {
    "short": lambda number, count: (number, 0),
    "tall": lambda number, count: (count - 1 - number, 0),
    "thin": lambda number, count: (0, number),
    "wide": lambda number, count: (0, count - 1 - number),
    "rowless": lambda number, count: (_ALL, 0),
    "columnless": lambda number, count: (0, _ALL),
}
"""Modes in which valid regions are known at run time only, and how many rows and columns each of the operands lacks."""
_ALL = 1 << 20
_SIZE = 1 << 14
"""Elements of a buffer of a program."""
MOST_BYTES = 1 << 22


def _launched(module: ModuleOp, entry: str | None, target: str | None, mode: str) -> tuple[Kernel, Timeline | None]:
    options = RunOptions(**{"fill": "poison", "accumulate": "exact", **MODES.get(mode, {})})
    if mode == "cycles":
        arch = "a5" if target is None else target
        timeline = CycleTimeline(table_for(arch, None), arch, {}, False)
        return CycleKernel(module, entry, target, options, SanitizeOptions(frozenset()), timeline), timeline
    if mode in ("watched", "ordered"):
        timeline = Timeline(costs=True)
        sanitize = SanitizeOptions(frozenset(CHECKS), "strict" if mode == "watched" else "auto")
        return WatchedKernel(module, entry, target, options, sanitize, timeline), timeline
    return Kernel(module, entry, target, options), None


def _told(kernel: Kernel, timeline: Timeline | None) -> Iterator[str]:
    """What a watched run has to tell."""
    if isinstance(kernel, CycleKernel):
        found = kernel.cycles("p.pto")
        yield f"{found.total}"
        yield from (f"{line}" for line in found.lines)
        yield f"{found.ranges} {found.open}"
    elif isinstance(kernel, WatchedKernel) and timeline is not None:
        for finding in kernel.watch.findings.all:
            yield from (line.strip() for line in said(finding.diagnostic()))
        yield from busy(timeline)


def _short(lines: list[str]) -> str:
    """Lines as they are where there are few, else a digest of them and the first."""
    text = " / ".join(lines)
    if len(text) <= 240:
        return text
    return f"{lines[0][:120]} ... {len(lines)} {hashlib.sha256(text.encode()).hexdigest()[:6]}"


def ended(
    module: ModuleOp, entry: str | None, target: str | None, mode: str, given: list[Any], types: list[Attribute]
) -> str:
    """How a run ends; arrays of ``given`` have ``types``."""
    printed = StringIO()
    error = ""
    results: Any = ()
    told: list[str] = []
    with redirect_stdout(printed), np.errstate(all="ignore"):
        try:
            kernel, timeline = _launched(module, entry, target, mode)
            results = kernel.run(given)
            told = list(_told(kernel, timeline))
        except REFUSALS as caught:
            span = getattr(caught, "span", None)
            place = span.source.line_col(span.start)[0] if span is not None else "-"
            error = f"{getattr(caught, 'rule', '') or type(caught).__name__} {place} {caught}".replace("\n", " / ")
    digest = hashlib.sha256(printed.getvalue().encode())
    sums = np.zeros(2)
    for value, type_ in zip(given, types, strict=True):
        if isinstance(value, np.ndarray):
            digest.update(same_nans(value, argument_format(type_)))
            sums += weighted_sums(value, type_)
    for value in results:
        array = np.asarray(value)
        digest.update(array.tobytes())
    numbers = f"{digest.hexdigest()[:6]}|{sums[0]:.3g}|{sums[1]:.3g}"
    return " // ".join([error or numbers, *([_short(told)] if told else [])])


# --- statements -------------------------------------------------------------------------------------------


@cache
def _statements(family: str) -> dict[str, Statement]:
    return {statement.label: statement for statement in statements(family)}


def near(family: str, label: str, number: int) -> tuple[PtoOp, str] | None:
    """The neighbour of a statement and its target; None where it cannot be read."""
    statement = _statements(family)[label]
    if not number:
        return (statement.op, statement.target) if isinstance(statement.op, PtoOp) else None
    text = next(islice(neighbours(statement), number, None), None)
    if text is None:
        return None
    module, _ = parsed(text)
    if module is None:
        return None
    ops = [op for op in module.walk() if op.name == statement.op.name]
    target = statement.target if number != 1 else {"a5": "a2a3", "a2a3": "a5"}[statement.target]
    return (ops[-1], target) if ops and isinstance(ops[-1], PtoOp) else None


def _cut(made: Single, given: list[Any], mode: str) -> list[Any]:
    """Arguments whose open extents are shorter, each by a number of its own: tiles are told so before the statement."""
    (function,) = made.module.ops
    assert isinstance(function, FuncOp)
    block = function.body.block
    places = [place for place, argument in enumerate(made.arguments) if _open(argument.type) != (False, False)]
    found = list(given)
    for number, place in enumerate(places):
        lacks = CUTS[mode](number, len(places))
        type_ = made.arguments[place].type
        *others, rows, cols = given[place].shape
        left = [max(extent - lack, 0) if is_open else extent
                for extent, lack, is_open in zip((rows, cols), lacks, _open(type_), strict=True)]  # fmt: skip
        if isinstance(type_, t.TileBufType):
            numbers = [ConstantOp.from_int_and_width(extent, IndexType()) for extent in left]
            told = SetValidshapeOp.create(operands=[block.args[place], *(one.result for one in numbers)])
            first = block.ops.first
            assert first is not None
            block.insert_ops_before([*numbers, told], first)
        else:
            found[place] = np.ascontiguousarray(given[place][(*map(slice, (*others, *left)),)])
    return found


def _open(type_: Attribute) -> tuple[bool, bool]:
    """Whether rows and columns of a tile or view are known at run time only."""
    if isinstance(type_, t.TileBufType):
        return (True, True) if type_.valid_rows < 0 and type_.valid_cols < 0 else (False, False)
    shape = t.shape_of(type_) if isinstance(type_, t.ShapedView) else ()
    return (shape[-2] < 0, shape[-1] < 0) if len(shape) > 1 else (False, False)


def single(op: PtoOp, target: str, mode: str) -> str:
    """How a run of one statement ends."""
    try:
        made = Single(Tried(op, target, 0), open_tiles=mode == "open" or mode in CUTS)
        given = given_arguments(made, op.name, mode == "edges")
        if mode in CUTS:
            given = _cut(made, given, mode)
    except REFUSALS as error:
        return f"{type(error).__name__} {error}"
    if sum(a.nbytes for a in given if isinstance(a, np.ndarray)) > MOST_BYTES:
        return "large"
    return ended(made.module, "k", target, mode, given, [argument.type for argument in made.arguments])


# --- programs ---------------------------------------------------------------------------------------------


def _values(kernel: Kernel) -> tuple[list[Any], list[Attribute]]:
    """Arguments for a program: buffers that count up to a small number, and small numbers."""
    given: list[Any] = []
    assert isinstance(kernel.function, FuncOp)
    types = [argument.type for argument in kernel.function.body.block.args]
    for place, type_ in enumerate(types):
        fmt = argument_format(type_)
        numbers = (np.arange(_SIZE) * 7 + place) % 11
        if fmt is None:
            given.append(1.5 if t.is_float(type_) else int(str(type_) != "i1") + 1)
        elif fmt.storage.kind in "fiub":
            given.append((numbers - (0 if fmt.storage.kind == "u" else 3)).astype(fmt.storage))
        else:
            given.append(numbers.astype(np.uint8).repeat(fmt.storage.itemsize).view(fmt.storage))
    return given, types


def whole(text: str, mode: str) -> str:
    """How a run of a program ends."""
    module, _ = parsed(text)
    assert module is not None
    target = "a2a3" if '"a2' in text or '"a3"' in text else "a5"
    try:
        given, types = _values(Kernel(module, None, target, RunOptions()))
    except REFUSALS as error:
        text = f"{getattr(error, 'rule', '') or type(error).__name__} {error}"
        return text.replace("\n", " / ")
    return ended(module, None, target, mode, given, types)


# --- rows -------------------------------------------------------------------------------------------------


def outcome(name: str, mode: str) -> str:
    """How the run of a row ends."""
    if name.startswith("near "):
        _, family, number, label = name.split(" ", 3)
        found = near(family, label, int(number))
        return "unreadable" if found is None else single(*found, mode)
    return whole(program(name), mode)


def row(name: str, mode: str) -> str:
    """One line of a file."""
    return f"{name} | {mode} | {outcome(name, mode)}"


def agreed(before: str, after: str) -> bool:
    """Whether two rows are the same as far as every machine computes them: last bits of mathematics may differ."""
    if before == after:
        return True
    name, _, old = before.split(" | ", 2)
    _, _, new = after.split(" | ", 2)
    (result, *told), (other, *more) = old.split(" // "), new.split(" // ")
    return told == more and agree(name, result, other)


def files() -> list[str]:
    """Names of the files of rows."""
    return sorted(file.stem for file in FOLDER.glob("*.txt"))


def kept(file: str) -> list[str]:
    """The rows of a file."""
    return (FOLDER / f"{file}.txt").read_text(encoding="utf-8").splitlines()


def main() -> None:
    """Writes the files."""
    for file in sys.argv[1:] or files():
        rows = [row(*line.split(" | ")[:2]) for line in kept(file)]
        (FOLDER / f"{file}.txt").write_text("".join(f"{line}\n" for line in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
