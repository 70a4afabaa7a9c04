"""Programs as ``pto prove`` and ``pto prove --check`` read them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp

from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile

from ..inputs import Input, read_program
from ..options import Options
from ..pipeline import build_module


def read_module(item: Input, target: str | None) -> tuple[str, ModuleOp | None, Sequence[Diagnostic]]:
    """The text of a program, its verified module, and its errors; ``None`` where it has errors."""
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    text, remarks = read_program(item, target, every=True)
    for remark in remarks:
        engine.report(remark)
    module = None
    if not engine.has_errors:
        module = build_module(SourceFile(item.name, text), engine, Options(target=target))
    if module is None or engine.has_errors:
        return text, None, engine.diagnostics
    return text, module, ()
