"""Runs the examples: inputs, results, and diagnostics where they are wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from typing import Any, NamedTuple

import numpy as np
from xdsl.ir import Attribute

from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import op_spec
from pto_dialect.ir.core.registry import op_class
from pto_dialect.runtime.errors import BindingError, ProgramError
from pto_dialect.runtime.kernels.refusals import reason
from pto_dialect.runtime.numerics.decode import decode
from pto_dialect.runtime.numerics.encode import encode
from pto_dialect.runtime.numerics.formats import Format
from pto_dialect.runtime.run.arguments import argument_format
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.syntax.read.parser import parse_program

from ..explore.synthesized import synthesize_arguments, values_of
from ..options import Options
from ..pipeline import process
from ..run.outputs import result_places
from .examples import Example

ENTRY = "example"
_FILE = "example.pto"
_SHOWN, _LINES, _WIDTH = 8, 6, 96
_REMARKS = frozenset({"op-deprecated"})
"""Rules whose findings an example may have: it shows what they are about."""


class Row(NamedTuple):
    """One array or number of a run: whether it is an input or a result, and its first elements."""

    way: str
    name: str
    type: str
    elements: str


class Ran(NamedTuple):
    """What came of an example: findings of the verifier, rows of the run, what it printed.

    ``refused`` says why it is not run, or how the run ended.
    """

    findings: tuple[Diagnostic, ...]
    rows: tuple[Row, ...] = ()
    printed: str = ""
    refused: str = ""

    @property
    def ok(self) -> bool:
        """No finding besides those that the example is about."""
        return all(finding.rule in _REMARKS for finding in self.findings)


def findings(program: str) -> tuple[Diagnostic, ...]:
    """Returns what the verifier says about a program."""
    options = Options(printing=False, policy=DiagnosticOptions(max_errors=0))
    return process(program, _FILE, options).diagnostics


@cache
def run(example: Example) -> Ran:
    """Verifies and runs an example on small numbers."""
    found = findings(example.program)
    if any(finding.severity is Severity.ERROR for finding in found):
        return Ran(found)
    why = reason(example.name)
    if why is not None:
        return Ran(found, refused=why)
    module = parse_program(SourceFile(_FILE, example.program), DiagnosticEngine())
    kernel = Kernel(module, ENTRY, example.target, RunOptions())
    printed = StringIO()
    try:
        values = _arguments(kernel)
        before = [_copied(value) for value in values]
        with redirect_stdout(printed):
            returned = kernel.run(values)
    except (ProgramError, BindingError) as error:
        message = error.message if isinstance(error, ProgramError) else str(error)
        return Ran(found, refused=f"the run ends: {message}")
    rows = tuple(_rows(kernel, example.name, before, values, returned))
    return Ran(found, rows, _beginning(printed.getvalue()))


def _beginning(printed: str) -> str:
    lines = [line if len(line) <= _WIDTH else f"{line[:_WIDTH]} .." for line in printed.rstrip("\n").split("\n")]
    return "\n".join([*lines[:_LINES], *([".."] if len(lines) > _LINES else [])])


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def _arguments(kernel: Kernel) -> list[Any]:
    """Returns the arguments that let the example run: floats are small numbers, others are tried."""
    with redirect_stdout(StringIO()):
        values = values_of(kernel, {}, dict(synthesize_arguments(kernel, {}, 0, 1)))
    formats = [_format(type_) for _, type_ in kernel.arguments]
    small = [_small(value, fmt, number) for number, (value, fmt) in enumerate(zip(values, formats, strict=True))]
    try:
        with redirect_stdout(StringIO()):
            kernel.run([_copied(value) for value in small])
    except (ProgramError, BindingError):
        return values
    return small


def _format(type_: Attribute) -> Format | None:
    return argument_format(type_) if not isinstance(type_, t.StructType) else None


def _small(value: Any, fmt: Format | None, number: int) -> Any:
    """Numbers 1 to 9, then 1 to 5 for the second argument, .. in turn: the rows of a tile differ."""
    if not isinstance(value, np.ndarray) or fmt is None or value.dtype.kind == "b" or value.size == 0:
        return value
    period = (9, 5, 3, 7)[number % 4]
    turn = np.arange(value.size).reshape(value.shape) % period + 1
    if fmt.is_packed or not fmt.is_float:
        return turn.astype(value.dtype) if value.dtype.kind in "iu" and not fmt.is_float else value
    return np.ascontiguousarray(encode(turn.astype(np.float32), fmt, saturate=False)).reshape(value.shape)


def _rows(
    kernel: Kernel, operation: str, before: Sequence[Any], after: Sequence[Any], returned: Sequence[Any]
) -> Iterator[Row]:
    spec = op_spec(op_class(operation))
    written = {*spec.writes} - {*spec.reads, *spec.in_place}
    for (name, type_), old, new in zip(kernel.arguments, before, after, strict=True):
        fmt = _format(type_)
        if not isinstance(new, np.ndarray):
            yield Row("in", f"%{name}", t.type_text(type_), _number(new))
            continue
        changed = old.tobytes() != new.tobytes()
        if not changed or name not in written:
            yield Row("in", f"%{name}", t.type_text(type_), _elements(old, fmt))
        if changed:
            yield Row("out", f"%{name}", t.type_text(type_), _changed(old, new, fmt))
    for place in result_places(kernel):
        value = np.asarray(returned[place.number])
        type_ = kernel.results[place.number]
        yield Row("out", f"%{place.name}", t.type_text(type_), _elements(value, place.fmt))


def _changed(old: np.ndarray, new: np.ndarray, fmt: Format | None) -> str:
    """Returns the elements of what a run wrote: from the first on that changed, with its number, where that lies
    further in."""
    columns = new.shape[-1] if new.ndim > 1 else new.size
    differs = np.frombuffer(old.tobytes(), np.uint8) != np.frombuffer(new.tobytes(), np.uint8)
    first = int(np.argmax(differs)) // new.itemsize
    row, column = divmod(first, max(columns, 1))
    if (row < 2 and column < _SHOWN) or columns == 1:
        return _elements(new, fmt)
    return f"[{first}] {_elements(new.reshape(-1)[first : (row + 1) * columns], fmt)}"


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _elements(array: np.ndarray, fmt: Format | None) -> str:
    """Returns the first elements of the first row, and the first ones of the second."""
    shown = array
    if fmt is not None and fmt.is_float and not fmt.is_packed and array.dtype.kind != "f":
        shown = decode(np.ascontiguousarray(array), fmt)
    if shown.ndim == 0:
        return _text(shown[()])
    matrix = shown.reshape(-1, shown.shape[-1]) if shown.ndim > 1 else shown.reshape(1, -1)
    if matrix.shape[1] == 1:
        matrix = matrix.T
    rows = [" ".join(map(_text, row[:_SHOWN])) + (" .." if row.size > _SHOWN else "") for row in matrix[:2]]
    return " | ".join(rows) + (" | .." if matrix.shape[0] > 2 else "")


def _text(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    number = value.item() if hasattr(value, "item") else value
    return f"{float(value):.6g}" if isinstance(number, float) or not isinstance(number, int) else str(number)
