"""Programs as ``pto prove`` and ``pto prove --check`` read them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp

from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile

from ..inputs import Input, read_program
from ..options import Options
from ..pipeline import build_module
from ..project.settings import configured


class Read(NamedTuple):
    """The text of a program, its verified module (``None`` where it has errors), its errors, and the chip."""

    text: str
    module: ModuleOp | None
    errors: Sequence[Diagnostic]
    target: str | None


def read_module(item: Input, target: str | None, stated: Collection[str] | None = None) -> Read:
    """Reads a program; ``stated`` are the options of the command line, which count more than the settings of its
    project (``None``: these do not count at all)."""
    options = Options(target=target)
    if stated is not None:
        options = configured(options, item.path, stated)
    engine = DiagnosticEngine(options.policy._replace(max_errors=0))
    text, remarks = read_program(item, options.target, every=True)
    for remark in remarks:
        engine.report(remark)
    module = None
    if not engine.has_errors:
        module = build_module(SourceFile(item.name, text), engine, options)
    if module is None or engine.has_errors:
        return Read(text, None, engine.diagnostics, options.target)
    return Read(text, module, (), options.target)
