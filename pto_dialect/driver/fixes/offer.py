"""Fixes for the diagnostics of a run."""

from __future__ import annotations

from collections.abc import Sequence

from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.passes.registry import PASS_TABLE

from ..options import Options
from ..pipeline import process
from .trying import Check, offered


def checker(name: str, options: Options) -> Check:
    """Finds what :func:`~pto_dialect.driver.pipeline.process` does with ``options``, all errors, without output."""
    alone = options._replace(
        passes=tuple(call for call in options.passes if not PASS_TABLE[call.partition("{")[0]].changes),
        proving=None,
        printing=False,
        verify_diagnostics=False,
        split_input=False,
        statistics=False,
        cycles=None,
        policy=options.policy._replace(max_errors=0),
    )
    return lambda text: process(text, name, alone).diagnostics


def with_fixes(found: Sequence[Diagnostic], options: Options) -> tuple[Diagnostic, ...]:
    """Returns ``found`` with fixes that were tried; ``options`` are those with which it was found."""
    if options.verify_diagnostics:
        return tuple(found)
    sources: dict[SourceFile, list[Diagnostic]] = {}
    for diag in found:
        if diag.span is not None:
            sources.setdefault(diag.span.source, []).append(diag)
    fixed: dict[int, Diagnostic] = {}
    for source, own in sources.items():
        for old, new in zip(own, offered(own, checker(source.name, options)), strict=True):
            fixed[id(old)] = new
    return tuple(fixed.get(id(diag), diag) for diag in found)
