"""Applies the fixes of findings to the program, as far as that can be done mechanically.

Fixes one finding after the other and runs the program again, because one fix often resolves several findings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.files import atomic_write
from pto_dialect.diagnostics.origins import shown_line
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.diagnostics.wording import count
from pto_dialect.ir.core.location import span_of
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.syntax.read.parser import parse_program

from .files import FileError
from .sanitizing import kept_findings

if TYPE_CHECKING:
    from pto_dialect.sanitize.launch import InstrumentedKernel
    from pto_dialect.sanitize.report.findings import Finding

    from .sanitizing import Sanitizing

MOST_CHANGES = 100


def fixed_text(
    text: str,
    kernel: InstrumentedKernel,
    request: Sanitizing,
    again: Callable[[ModuleOp], InstrumentedKernel],
    values: Callable[[], list[Any]],
    blocks: int,
) -> tuple[str, list[str], list[str]]:
    """Returns the text with changes, what was changed, and what findings are left, one line each.

    ``kernel`` has run on ``text``; ``again`` makes the kernel of a changed program, ``values`` fresh arguments.
    """
    from pto_dialect.sanitize.report.apply_fixes import CannotApplyError, Patch  # deferred: start-up

    applied: list[str] = []
    refused: dict[str, str] = {}
    found = kept_findings(kernel, request)
    while len(applied) < MOST_CHANGES:
        for finding in found:
            if not finding.fix:
                continue
            patch = Patch(text, kernel.program.functions)
            try:
                patch.apply(finding.fix)
            except CannotApplyError as error:
                refused[_place(finding)] = str(error)
                continue
            text = patch.result()
            applied.append(f"{_place(finding)}: {finding.help}")
            break
        else:
            break
        module = parse_program(SourceFile(_name(kernel), text), DiagnosticEngine())
        assert module is not None, "the changed program does not parse"
        kernel = again(module)
        try:
            kernel.run(values(), blocks)
        except ProgramError as error:
            return text, applied, [f"{error.rule}: {error}"]
        found = kept_findings(kernel, request)
    left = [f"{_place(finding)}{_reason(finding, refused)}" for finding in found if _counts(finding)]
    return text, applied, left


def _name(kernel: InstrumentedKernel) -> str:
    span = span_of(kernel.function)
    return span.source.name if span is not None else "program"


def _place(finding: Finding) -> str:
    line = "" if finding.span is None else f"line {shown_line(finding.span)}: "
    return f"{line}{finding.rule}"


def _reason(finding: Finding, refused: dict[str, str]) -> str:
    reason = refused.get(_place(finding), "" if finding.fix else "nothing to do mechanically")
    return f" ({reason})" if reason else ""


def _counts(finding: Finding) -> bool:
    return finding.diagnostic().severity is not Severity.INFO


def write_fixed(path: str, text: str) -> None:
    """Writes the program to a file. Raises ``FileError``."""
    try:
        atomic_write(path, text, "program")
    except OSError as error:
        raise FileError(f"cannot write '{path}': {error.strerror or error}") from None


def report_of(path: str, applied: Sequence[str], left: Sequence[str]) -> str:
    """Returns what was done, for people."""
    if not applied:
        head = "nothing was changed"
    else:
        where = "standard output" if path == "-" else f"'{path}'"
        head = f"{count(len(applied), 'change')}, written to {where}"
    lines = [f"fix: {head}", *(f"  {line}" for line in applied)]
    if left:
        lines += [f"{count(len(left), 'finding')} left:", *(f"  {line}" for line in left)]
    return "\n".join(lines) + "\n"
