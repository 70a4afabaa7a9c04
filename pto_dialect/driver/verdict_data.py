"""Results of checking as JSON, without the text that was checked.

Places in a text are kept as offsets. A source whose text is a part of what was checked is kept as that part's offsets.
"""

from __future__ import annotations

import json
from typing import Any

from pto_dialect.diagnostics.diagnostic import Diagnostic, Note, Severity
from pto_dialect.diagnostics.engine import Counts
from pto_dialect.diagnostics.fix import Edit, Fix
from pto_dialect.diagnostics.remedy import Argument, Remedy
from pto_dialect.diagnostics.source import SourceFile, Span

from .result import Result


def encode(key: str, text: str, result: Result) -> bytes:
    """Returns ``result``, which ``text`` gave, under ``key``."""
    sources: dict[SourceFile, int] = {}
    data = {
        "key": key,
        "ok": result.ok,
        "counts": list(result.counts),
        "text": result.text,
        "diagnostics": [_diagnostic(diag, sources) for diag in result.diagnostics],
        "sources": [_source(source, text) for source in sources],
    }
    return json.dumps(data, separators=(",", ":")).encode("ascii")


def decode(stored: bytes, key: str, text: str) -> Result | None:
    """Returns the result that ``text`` gave; ``None`` when ``stored`` is not what :func:`encode` makes of it under
    ``key``."""
    try:
        data = json.loads(stored)
        if data["key"] != key:
            return None
        sources = [_read_source(entry, text) for entry in data["sources"]]
        errors, warnings, infos, hidden = map(_number, data["counts"])
        return Result(
            _boolean(data["ok"]),
            tuple(_read_diagnostic(entry, sources) for entry in data["diagnostics"]),
            Counts(errors, warnings, infos, hidden),
            None if data["text"] is None else _string(data["text"]),
        )
    except (KeyError, IndexError, TypeError, ValueError, RecursionError):
        return None


def _diagnostic(diag: Diagnostic, sources: dict[SourceFile, int]) -> list[Any]:
    notes = [[note.message, _span(note.span, sources)] for note in diag.notes]
    fixes = [[fix.title, fix.safe, fix.edits] for fix in diag.fixes]
    return [
        diag.rule,
        int(diag.severity),
        diag.message,
        _span(diag.span, sources),
        notes,
        diag.help,
        fixes,
        diag.remedies,
    ]


def _read_diagnostic(entry: list[Any], sources: list[SourceFile]) -> Diagnostic:
    rule, severity, message, span, notes, help, fixes, remedies = entry
    return Diagnostic(
        _string(rule),
        Severity(severity),
        _string(message),
        _read_span(span, sources),
        tuple(Note(_string(told), _read_span(place, sources)) for told, place in notes),
        None if help is None else _string(help),
        tuple(_read_fix(*fix) for fix in fixes),
        tuple(_read_remedy(*remedy) for remedy in remedies),
    )


def _read_fix(title: object, safe: object, edits: list[list[object]]) -> Fix:
    found = tuple(Edit(_number(start), _number(end), _string(text)) for start, end, text in edits)
    return Fix(_string(title), found, _boolean(safe))


def _read_remedy(name: object, arguments: list[object]) -> Remedy:
    return Remedy(_string(name), tuple(_read_argument(argument) for argument in arguments))


def _read_argument(argument: object) -> Argument:
    if isinstance(argument, list):
        return tuple(_string(each) for each in argument)
    if argument is not None and not isinstance(argument, str | int):
        raise TypeError(argument)
    return argument


def _span(span: Span | None, sources: dict[SourceFile, int]) -> list[int] | None:
    return None if span is None else [sources.setdefault(span.source, len(sources)), span.start, span.end]


def _read_span(entry: list[int] | None, sources: list[SourceFile]) -> Span | None:
    if entry is None:
        return None
    source, start, end = map(_number, entry)
    return Span(sources[source], start, end)


def _source(source: SourceFile, text: str) -> list[Any]:
    start = text.find(source.text)
    part = source.text if start < 0 else [start, start + len(source.text)]
    return [source.name, source.first_line, part]


def _read_source(entry: list[Any], text: str) -> SourceFile:
    name, line, part = entry
    if not isinstance(part, str):
        start, end = map(_number, part)
        part = text[start:end]
    return SourceFile(_string(name), part, _number(line))


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _number(value: object) -> int:
    if type(value) is not int or value < 0:
        raise TypeError(value)
    return value


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(value)
    return value
