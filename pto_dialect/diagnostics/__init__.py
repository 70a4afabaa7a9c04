"""Diagnostics: what is reported about a program, with its source location, and how it is shown.

A reporter builds a :class:`Diagnostic` over a :class:`Span` of a :class:`SourceFile` and passes it to a
:class:`DiagnosticEngine`. Output has modules that are imported only when something is shown: ``render`` (text for
people), ``formats`` (JSON, SARIF), ``expected`` (expectations in comments).
"""

from .diagnostic import Diagnostic, Note, Severity
from .engine import Counts, DiagnosticEngine, DiagnosticOptions
from .fix import Edit, Fix
from .source import SourceFile, Span

__all__ = [
    "Counts",
    "Diagnostic",
    "DiagnosticEngine",
    "DiagnosticOptions",
    "Edit",
    "Fix",
    "Note",
    "Severity",
    "SourceFile",
    "Span",
]
