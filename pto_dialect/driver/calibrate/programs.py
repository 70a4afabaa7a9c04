"""What the pipes of a program execute, for measurements that name it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from pto_dialect.analysis.cycles.operations import pipe_work_of
from pto_dialect.analysis.cycles.static import execution_count
from pto_dialect.analysis.cycles.table import CycleTableError
from pto_dialect.analysis.cycles.work import Work
from pto_dialect.analysis.target import profile_of
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.origins import shown_line
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.walk import walk
from pto_dialect.syntax.read.parser import parse_program

MOST_BYTES = 16 << 20


class Executed(NamedTuple):
    """An operation of a program, and how often it executes; ``open``: loops or choices leave that to the run."""

    name: str
    line: int | None
    pipe: str
    work: Work
    executions: int
    open: bool


class Program(NamedTuple):
    """A program: its file, the chip that it is for, the names of its functions, and its operations with cycles."""

    file: str
    chip: str
    functions: frozenset[str]
    operations: tuple[Executed, ...]


def read_program(path: Path, target: str | None) -> Program:
    """Returns the program in a file. Raises :class:`CycleTableError`."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise CycleTableError(f"'{path}' has more than {MOST_BYTES >> 20} MiB")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise CycleTableError(f"cannot read '{path}': {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise CycleTableError(f"'{path}' is not UTF-8 text") from None
    engine = DiagnosticEngine(DiagnosticOptions())
    module = parse_program(SourceFile(str(path), text), engine)
    if module is None or engine.has_errors:
        raise CycleTableError(f"'{path}' is no program: {engine.diagnostics[0].message}")
    chip = profile_of(module, target).arch
    found: list[Executed] = []
    names: set[str] = set()
    for op in walk(module):
        name = getattr(op, "sym_name", None)
        if name is not None:
            names.add(name.data)
        one = pipe_work_of(op, chip, {})
        if one is not None:
            span = span_of(op)
            line = shown_line(span) if span is not None else None
            found.append(Executed(op.name.removeprefix("pto."), line, one.pipe, one.work, *execution_count(op)))
    return Program(str(path), chip, frozenset(names), tuple(found))
