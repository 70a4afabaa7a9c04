"""Diagnostics of C++ kernels, as of the last time that their files were saved. Source: docs/cpp.md, "In editors"."""

from __future__ import annotations

import os
from contextlib import suppress
from urllib.parse import unquote, urlsplit

from lsprotocol import types

from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.origins import all_shown
from pto_dialect.diagnostics.source import Span
from pto_dialect.driver.inputs import CPP_SUFFIXES, Input
from pto_dialect.driver.options import Options
from pto_dialect.driver.pipeline import process_input
from pto_dialect.driver.project.settings import SettingsError, configured

from .diagnostics import SEVERITIES, SOURCE

MARKER = "pto/"
"""Files without it are no kernels, but host code."""


def is_kernel(uri: str) -> bool:
    """Returns whether a document is a C++ file of this machine."""
    return uri.startswith("file:") and uri.endswith(CPP_SUFFIXES)


def check_kernel(uri: str, target: str | None) -> list[types.Diagnostic]:
    """Compiles and verifies the file of a document; returns what is wrong in it, in the order of its text."""
    path = os.path.normpath(unquote(urlsplit(uri).path))
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            text = stream.read()
    except OSError:
        return []
    if MARKER not in text:
        return []
    options = Options(target=target, printing=False)
    with suppress(SettingsError):
        options = configured(options, path, frozenset())
    found = all_shown(process_input(Input(path, path, os.path.basename(path)), options).diagnostics)
    return [_diagnostic(uri, path, one) for one in found]


def _diagnostic(uri: str, path: str, found: Diagnostic) -> types.Diagnostic:
    related = [
        types.DiagnosticRelatedInformation(types.Location(uri, _range(path, note.span)), note.message)
        for note in found.notes
        if note.span is not None and note.span.source.name == path
    ]
    message = found.message if found.help is None else f"{found.message}\nhelp: {found.help}"
    return types.Diagnostic(
        range=_range(path, found.span),
        message=message,
        severity=SEVERITIES[found.severity],
        code=found.rule,
        source=SOURCE,
        related_information=related or None,
    )


def _range(path: str, span: Span | None) -> types.Range:
    """Returns the range of a span of the file; its first line for what is elsewhere."""
    if span is None or span.source.name != path:
        return types.Range(types.Position(0, 0), types.Position(0, 0))
    line, column = span.source.line_col(span.start)
    before = span.source.line_text(line)[: column - 1]
    start = len(before.encode("utf-16-le", "surrogatepass")) // 2
    width = len(span.text.encode("utf-16-le", "surrogatepass")) // 2
    return types.Range(types.Position(line - 1, start), types.Position(line - 1, start + width))
