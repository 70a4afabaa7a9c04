"""Diagnostics for services that build and review: GitHub annotations, GitLab code quality, JUnit XML.

Lines and columns count from 1, columns in characters.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from xml.sax.saxutils import escape, quoteattr

from .diagnostic import Diagnostic, Severity
from .origins import all_shown

_GITHUB = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_GITLAB = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def to_github(diags: Iterable[Diagnostic]) -> str:
    """Workflow commands, a line each, from which GitHub makes annotations."""
    lines: list[str] = []
    for diag in all_shown(diags):
        fields = [("title", diag.rule)]
        if diag.span is not None:
            source = diag.span.source
            line, column = source.line_col(diag.span.start)
            end, end_column = source.line_col(max(diag.span.start, diag.span.end))
            fields[:0] = [("file", source.name), ("line", str(line)), ("endLine", str(end))]
            if line == end:
                fields[3:3] = [("col", str(column)), ("endColumn", str(end_column))]
        shown = ",".join(f"{name}={_github_field(value)}" for name, value in fields)
        lines.append(f"::{_GITHUB[diag.severity]} {shown}::{_github_text(_whole(diag))}\n")
    return "".join(lines)


def _github_text(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _github_field(text: str) -> str:
    return _github_text(text).replace(":", "%3A").replace(",", "%2C")


def _whole(diag: Diagnostic) -> str:
    return diag.message if diag.help is None else f"{diag.message}\nhelp: {diag.help}"


def to_gitlab(diags: Iterable[Diagnostic]) -> str:
    """Returns a code quality report of GitLab, ended by a newline. Fingerprints do not depend on lines."""
    seen: Counter[str] = Counter()
    entries: list[dict[str, object]] = []
    for diag in all_shown(diags):
        path = "" if diag.span is None else diag.span.source.name.removeprefix("./")
        line = 1 if diag.span is None else diag.span.line
        what = "\0".join((diag.rule, path, diag.message))
        seen[what] += 1
        entries.append(
            {
                "description": _whole(diag),
                "check_name": diag.rule,
                "fingerprint": sha256(f"{what}\0{seen[what]}".encode("utf-8", "surrogatepass")).hexdigest(),
                "severity": _GITLAB[diag.severity],
                "location": {"path": path, "lines": {"begin": line}},
            }
        )
    return json.dumps(entries, indent=2) + "\n"


def to_junit(diags: Iterable[Diagnostic], name: str = "pto-opt") -> str:
    """JUnit XML, ended by a newline: a failed test for each error, a passed one with its text for each other
    diagnostic, and one passed test where there is none."""
    items = all_shown(diags)
    failures = sum(diag.severity is Severity.ERROR for diag in items)
    cases = [_junit_case(diag) for diag in items] or [f'    <testcase name="{name}"/>\n']
    head = f'  <testsuite name="{name}" tests="{len(cases)}" failures="{failures}" errors="0">\n'
    return (
        f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites>\n{head}{"".join(cases)}  </testsuite>\n</testsuites>\n'
    )


def _junit_case(diag: Diagnostic) -> str:
    file, place = "", ""
    if diag.span is not None:
        line, column = diag.span.source.line_col(diag.span.start)
        file, place = diag.span.source.name, f" ({line}:{column})"
    head = f"    <testcase classname={_xml_value(file)} name={_xml_value(diag.rule + place)}>\n"
    if diag.severity is Severity.ERROR:
        message, type_ = _xml_value(diag.message), _xml_value(diag.rule)
        inside = f"      <failure message={message} type={type_}>{escape(_printable(_whole(diag)))}</failure>\n"
    else:
        inside = f"      <system-out>{diag.severity.label}: {escape(_printable(_whole(diag)))}</system-out>\n"
    return f"{head}{inside}    </testcase>\n"


def _xml_value(text: str) -> str:
    return quoteattr(_printable(text))


def _printable(text: str) -> str:
    """Without the characters that XML has no way to write."""
    return "".join(char if char in "\t\n\r" or " " <= char <= "\ud7ff" or "\ue000" <= char <= "\ufffd"
                   or char >= "\U00010000" else "\ufffd" for char in text)  # fmt: skip
