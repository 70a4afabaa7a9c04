"""Diagnostics for other programs: JSON and SARIF 2.1.0.

Lines and columns count from 1, columns in characters (Unicode code points); ``end`` is the position after
the last character.

The JSON document (``version`` changes when a field changes its meaning or disappears; new fields may come)::

    {
      "version": 1,
      "counts": {"errors": 1, "warnings": 0, "infos": 0, "hidden_errors": 0},
      "diagnostics": [
        {
          "rule": "mad-space", "severity": "error" | "warning" | "info", "message": "…",
          "location": null | {"file": "kernel.pto",
                              "start": {"line": 12, "column": 33}, "end": {"line": 12, "column": 35}},
          "help": null | "…",
          "notes": [{"message": "…", "location": null | {…}}],
          "fixes": [{"title": "…", "safe": true, "edits": [{"start": {…}, "end": {…}, "text": "…"}]}]
        }
      ]
    }

``fixes`` is there where one is known. The edits of a fix are all in the file of the diagnostic, or in its ``file``
where it has one: that of the program, if the diagnostic is about the source that the program was made from.
"""

import json
from collections.abc import Iterable, Mapping
from urllib.parse import quote

from .diagnostic import Diagnostic, Severity
from .engine import Counts
from .fix import Fix
from .origins import all_shown
from .source import SourceFile, Span

JSON_VERSION = 1
SARIF_VERSION = "2.1.0"
SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

_SARIF_LEVEL = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


NO_FACTS: Mapping[str, str] = {}


def _camel(name: str) -> str:
    """Returns a name as SARIF writes them."""
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def to_json(diags: Iterable[Diagnostic], counts: Counts | None = None, facts: Mapping[str, str] = NO_FACTS) -> str:
    """Returns the JSON document described above, ended by a newline.

    ``counts`` are those of the engine; left out, they are the numbers of ``diags``. ``facts`` hold for
    the whole report, such as the release of the reference that counts.
    """
    items = all_shown(diags)
    if counts is None:
        number = [sum(diag.severity is severity for diag in items) for severity in Severity]
        counts = Counts(number[Severity.ERROR], number[Severity.WARNING], number[Severity.INFO])
    document: dict[str, object] = {
        "version": JSON_VERSION,
        **facts,
        "counts": counts._asdict(),
        "diagnostics": [_json_diagnostic(diag) for diag in items],
    }
    return _dump(document)


def to_sarif(
    diags: Iterable[Diagnostic],
    rules: Mapping[str, str] | None = None,
    *,
    version: str = "",
    tool: str = "pto-opt",
    facts: Mapping[str, str] = NO_FACTS,
) -> str:
    """A SARIF 2.1.0 log with one run of ``tool``, ended by a newline.

    ``rules`` maps rule ids to one-sentence descriptions; the log lists the rules that its results name, in
    order of appearance.  ``version`` is that of the tool, ``facts`` as for ``to_json``.  A help text follows the
    message on its own line.
    """
    items = all_shown(diags)
    order = {rule: index for index, rule in enumerate(dict.fromkeys(diag.rule for diag in items))}
    driver: dict[str, object] = {"name": tool}
    if version:
        driver["version"] = version
    driver["rules"] = [_sarif_rule(rule, (rules or {}).get(rule)) for rule in order]
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        **({"properties": {_camel(name): value for name, value in facts.items()}} if facts else {}),
        "results": [_sarif_result(diag, order[diag.rule]) for diag in items],
    }
    return _dump({"$schema": SARIF_SCHEMA, "version": SARIF_VERSION, "runs": [run]})


def _dump(document: object) -> str:
    # ASCII output: a lone surrogate from undecodable input stays valid JSON.
    return json.dumps(document, indent=2) + "\n"


def _json_diagnostic(diag: Diagnostic) -> dict[str, object]:
    found: dict[str, object] = {
        "rule": diag.rule,
        "severity": diag.severity.label,
        "message": diag.message,
        "location": _json_location(diag.span),
        "help": diag.help,
        "notes": [{"message": note.message, "location": _json_location(note.span)} for note in diag.notes],
    }
    if diag.fixes and diag.span is not None:
        found["fixes"] = [_json_fix(fix, diag.edited or diag.span.source, diag.edited) for fix in diag.fixes]
    return found


def _json_fix(fix: Fix, source: SourceFile, other: SourceFile | None) -> dict[str, object]:
    edits: list[dict[str, object]] = []
    for edit in fix.edits:
        line, column, end_line, end_column = _extent(Span(source, edit.start, edit.end))
        edits.append(
            {
                "start": {"line": line, "column": column},
                "end": {"line": end_line, "column": end_column},
                "text": edit.text,
            }
        )
    file = {} if other is None else {"file": other.name}
    return {"title": fix.title, "safe": fix.safe, **file, "edits": edits}


def _json_location(span: Span | None) -> dict[str, object] | None:
    if span is None:
        return None
    line, column, end_line, end_column = _extent(span)
    return {
        "file": span.source.name,
        "start": {"line": line, "column": column},
        "end": {"line": end_line, "column": end_column},
    }


def _extent(span: Span) -> tuple[int, int, int, int]:
    source = span.source
    return (*source.line_col(span.start), *source.line_col(max(span.start, span.end)))


def _sarif_rule(rule: str, description: str | None) -> dict[str, object]:
    return {"id": rule} if description is None else {"id": rule, "shortDescription": {"text": description}}


def _sarif_result(diag: Diagnostic, rule_index: int) -> dict[str, object]:
    text = diag.message if diag.help is None else f"{diag.message}\nhelp: {diag.help}"
    result: dict[str, object] = {
        "ruleId": diag.rule,
        "ruleIndex": rule_index,
        "level": _SARIF_LEVEL[diag.severity],
        "message": {"text": text},
    }
    if diag.span is not None:
        result["locations"] = [{"physicalLocation": _sarif_place(diag.span)}]
    related: list[dict[str, object]] = []
    for number, note in enumerate(diag.notes):
        location: dict[str, object] = {"id": number, "message": {"text": note.message}}
        if note.span is not None:
            location["physicalLocation"] = _sarif_place(note.span)
        related.append(location)
    if related:
        result["relatedLocations"] = related
    if diag.fixes and diag.span is not None:
        result["fixes"] = [_sarif_fix(fix, diag.edited or diag.span.source) for fix in diag.fixes]
    return result


def _sarif_fix(fix: Fix, source: SourceFile) -> dict[str, object]:
    replacements = [
        {"deletedRegion": _sarif_region(Span(source, edit.start, edit.end)), "insertedContent": {"text": edit.text}}
        for edit in fix.edits
    ]
    change = {"artifactLocation": {"uri": _uri(source.name)}, "replacements": replacements}
    return {"description": {"text": fix.title}, "artifactChanges": [change], "properties": {"safe": fix.safe}}


def _sarif_place(span: Span) -> dict[str, object]:
    return {"artifactLocation": {"uri": _uri(span.source.name)}, "region": _sarif_region(span)}


def _sarif_region(span: Span) -> dict[str, object]:
    line, column, end_line, end_column = _extent(span)
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _uri(name: str) -> str:
    path = name.replace("\\", "/")
    # "surrogatepass": file names that are no Unicode text still get a unique reference.
    quoted = quote(path, safe="/", errors="surrogatepass")
    return "file://" + quoted if path.startswith("/") else quoted
