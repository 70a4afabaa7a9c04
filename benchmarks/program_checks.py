"""What is checked on one program: its verdict, that nothing breaks, and that both printed forms read back."""

from __future__ import annotations

import traceback
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.driver.inputs import Input, read
from pto_dialect.driver.options import Options
from pto_dialect.driver.pipeline import build_module
from pto_dialect.syntax.compare import same_module
from pto_dialect.syntax.print.printer import print_module
from pto_dialect.syntax.read.parser import parse_program

_ALL = DiagnosticOptions(max_errors=0)


class Outcome(NamedTuple):
    """Findings about one program.

    ``accepted``: parse and verify report no error. ``error``: the first one, with its rule. ``problems``: kind
    and detail of everything that must never happen (``traceback``, ``custom-fixpoint``, ...). ``generic``: the
    generic form of an accepted program. ``check_seconds``: parse and verify; ``seconds``: everything.
    """

    accepted: bool
    error: str
    problems: tuple[tuple[str, str], ...]
    generic: str | None
    check_seconds: float
    seconds: float


def check_program(path: Path, target: str | None, *, printing: bool = True) -> Outcome:
    """Checks the program in ``path`` under ``target`` (``None``: what the module says); never raises for what is in the
    file."""
    started = perf_counter()
    problems: list[tuple[str, str]] = []
    accepted, error, generic, checked = False, "", None, started
    try:
        text, remark = read(Input(str(path), str(path), path.name))
        engine = DiagnosticEngine(_ALL)
        if remark is not None:
            engine.report(remark)
        module = build_module(SourceFile(str(path), text), engine, Options(target=target))
        accepted = module is not None and not engine.has_errors
        error = first_error(engine)
        checked = perf_counter()
        if accepted and printing and module is not None:
            generic = _round_trips(module, problems)
    except Exception:  # what a check is for: any exception at all is a finding
        last = traceback.format_exc().strip().splitlines()
        problems.append(("traceback", f"{last[-1]} ({last[-3].strip() if len(last) > 2 else ''})"))
        accepted = False
    ended = perf_counter()
    return Outcome(accepted, error, tuple(problems), generic, max(checked, started) - started, ended - started)


def first_error(engine: DiagnosticEngine) -> str:
    """``rule: message`` of the first error, empty without one."""
    for diag in engine.diagnostics:
        if diag.severity is Severity.ERROR:
            return f"{diag.rule}: {diag.message}"
    return ""


def _round_trips(module: ModuleOp, problems: list[tuple[str, str]]) -> str:
    """Prints ``module`` in both forms and reads them back; the generic text."""
    texts: dict[str, str] = {}
    for form in ("custom", "generic"):
        text = texts[form] = print_module(module, generic=form == "generic")
        engine = DiagnosticEngine(_ALL)
        again = parse_program(SourceFile(f"{form} form", text), engine)
        if again is None or engine.has_errors:
            problems.append((f"{form}-reread", first_error(engine)))
            continue
        difference = same_module(module, again)
        if difference is not None:
            problems.append((f"{form}-structure", difference))
        second = print_module(again, generic=form == "generic")
        if second != text:
            problems.append((f"{form}-fixpoint", _first_difference(text, second)))
    return texts["generic"]


def _first_difference(a: str, b: str) -> str:
    for number, (left, right) in enumerate(zip(a.splitlines(), b.splitlines(), strict=False), 1):
        if left != right:
            return f"line {number}: {left.strip()} | {right.strip()}"
    return "one text is longer"
