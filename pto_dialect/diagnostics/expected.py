"""Expectations in comments: which diagnostics a test program must produce.

The form is that of ``mlir-opt -verify-diagnostics``::

    // expected-error@+1 {{must be in l0a}}
    pto.mad …                      // expected-warning {{…}} expected-note {{…}}

- kinds ``error``, ``warning``, ``note`` and ``remark`` (an info);
- the line: that of the comment, ``@+N`` / ``@-N`` lines from it, ``@below`` / ``@above`` the next / last line
  that is not an expectation comment itself, ``@unknown`` for diagnostics without a source location;
- the text is a part of ``[rule-id] message``, so ``{{[mad-space]}}`` requires a rule;
- with ``-re`` after the kind, ``{{…}}`` inside the text are regular expressions, the rest stays literal:
  ``expected-error-re {{found {{i(8|16)}}, expected}}``.

An expectation holds for one diagnostic.  Every error and warning must be expected; notes, helps (which count
as notes at their diagnostic's location) and infos need not be.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from .diagnostic import Diagnostic, Note, Severity
from .source import SourceFile, Span

UNEXPECTED = "unexpected-diagnostic"
MISSING = "missing-diagnostic"
MALFORMED = "malformed-expectation"

_DIRECTIVE = re.compile(r"expected-(error|warning|note|remark)(-re)?(?![\w-])")
_PLACE_AND_TEXT = re.compile(
    r"[ \t]*(?:@(?:(?P<offset>[+-]\d{1,9})|(?P<word>above|below|unknown)))?[ \t]*\{\{(?P<text>.*)\}\}"
)
_ATTEMPT = re.compile(r"[ \t]*[@{:]")
_KIND = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "remark"}
_MUST_BE_EXPECTED = ("error", "warning")


class Expectation(NamedTuple):
    """One expectation: ``line`` is absolute, ``None`` for ``@unknown``; ``span`` is that of the directive."""

    kind: str
    line: int | None
    text: str
    pattern: re.Pattern[str]
    span: Span


class _Produced(NamedTuple):
    kind: str
    line: int | None
    text: str
    span: Span | None
    own_source: bool


def verify_diagnostics(source: SourceFile, diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Mismatches between the expectations written in ``source`` and ``diagnostics``, by line; empty if none.

    Each is an error with rule ``unexpected-diagnostic``, ``missing-diagnostic`` or ``malformed-expectation``.
    The diagnostics must be complete: collect them with ``pedantic=True, max_errors=0``.
    """
    expectations, mismatches = parse_expectations(source)
    produced = [item for diag in diagnostics for item in _produced(source, diag)]
    met: set[int] = set()
    explained: set[int] = set()
    groups: dict[tuple[str, int | None], tuple[list[int], list[int]]] = {}
    for index, expectation in enumerate(expectations):
        groups.setdefault((expectation.kind, expectation.line), ([], []))[0].append(index)
    for index, item in enumerate(produced):
        group = groups.get((item.kind, item.line))
        if group is not None and item.own_source:
            group[1].append(index)
    for wanted, found in groups.values():
        edges = [[p for p in found if expectations[e].pattern.search(produced[p].text)] for e in wanted]
        for place, index in _assign(edges).items():
            met.add(wanted[place])
            explained.add(index)

    left = [item for index, item in enumerate(produced) if index not in explained]
    for index, expectation in enumerate(expectations):
        if index not in met:
            mismatches.append(_missing(expectation, left))
    for item in left:
        if item.kind in _MUST_BE_EXPECTED:
            message = f"unexpected {item.kind}: {item.text}"
            mismatches.append(Diagnostic(UNEXPECTED, Severity.ERROR, message, item.span))
    return sorted(mismatches, key=_by_line)


def parse_expectations(source: SourceFile) -> tuple[list[Expectation], list[Diagnostic]]:
    """Returns the expectations in the comments of ``source``, and an error for each that is malformed."""
    found: list[Expectation] = []
    malformed: list[Diagnostic] = []
    waiting: list[int] = []
    plain_line = source.first_line - 1
    offset = 0
    line = source.first_line
    for line, text in enumerate(source.text.split("\n"), source.first_line):
        directives = _directives(text)
        is_plain = not directives or bool(text[: text.index("//")].strip())
        if is_plain:
            for index in waiting:
                found[index] = found[index]._replace(line=line)
            waiting.clear()
        for directive, rest in directives:
            span = Span(source, offset + directive.start(), offset + directive.end())
            detail = _PLACE_AND_TEXT.match(rest)
            if detail is None:
                if _ATTEMPT.match(rest):
                    malformed.append(_malformed(f"{directive[0]} must be followed by {{{{text}}}}", span))
                continue
            try:
                pattern = _compile(detail["text"], is_regex=directive[2] is not None)
            except (re.error, OverflowError, RecursionError) as error:
                malformed.append(_malformed(f"invalid regular expression: {error}", span))
                continue
            place: int | None = line + int(detail["offset"] or 0)
            if detail["word"] == "unknown":
                place = None
            elif detail["word"] == "above":
                place = plain_line
            elif detail["word"] == "below":
                waiting.append(len(found))
            found.append(Expectation(directive[1], place, detail["text"], pattern, span))
        if is_plain:
            plain_line = line
        offset += len(text) + 1
    for index in waiting:
        found[index] = found[index]._replace(line=line + 1)
    return found, malformed


def _directives(line: str) -> list[tuple[re.Match[str], str]]:
    """Returns each directive in the comment of a line, with what follows it up to the next one."""
    comment = line.find("//")
    if comment < 0:
        return []
    matches = list(_DIRECTIVE.finditer(line, comment))
    ends = [match.start() for match in matches[1:]] + [len(line)]
    return [(match, line[match.end() : end]) for match, end in zip(matches, ends, strict=False)]


def _compile(text: str, *, is_regex: bool) -> re.Pattern[str]:
    if not is_regex:
        return re.compile(re.escape(text))
    parts = re.split(r"\{\{(.*?)\}\}", text)
    if "{{" in parts[-1]:
        raise re.error("'{{' without '}}'")
    literal_and_regex = (f"(?:{part})" if index % 2 else re.escape(part) for index, part in enumerate(parts))
    return re.compile("".join(literal_and_regex))


def _malformed(message: str, span: Span) -> Diagnostic:
    form = "expected-KIND[-re] [@+N | @-N | @above | @below | @unknown] {{text}}"
    return Diagnostic(MALFORMED, Severity.ERROR, message, span, help=f"the form is {form}")


def _produced(source: SourceFile, diag: Diagnostic) -> list[_Produced]:
    def item(kind: str, text: str, span: Span | None) -> _Produced:
        if span is None:
            return _Produced(kind, None, text, None, True)
        other = span.source
        # By value as well: diagnostics that came from another process carry a copy of the source.
        own = other is source or (other.name, other.first_line) == (source.name, source.first_line)
        return _Produced(kind, span.line, text, span, own)

    items = [item(_KIND[diag.severity], f"[{diag.rule}] {diag.message}", diag.span)]
    items += [item("note", note.message, diag.span if note.span is None else note.span) for note in diag.notes]
    if diag.help is not None:
        items.append(item("note", diag.help, diag.span))
    return items


def _assign(edges: list[list[int]]) -> dict[int, int]:
    """Returns a largest pairing of expectations (positions in ``edges``) with diagnostics each may stand for.

    Taking the first match would let ``{{a}}`` use up the only diagnostic that ``{{ab}}`` could have.
    """
    pairs: dict[int, int] = {}
    owner: dict[int, int] = {}
    for start in range(len(edges)):
        reached_from: dict[int, int] = {}
        queue = [start]
        free: int | None = None
        for expectation in queue:
            for target in edges[expectation]:
                if target in reached_from:
                    continue
                reached_from[target] = expectation
                if target not in owner:
                    free = target
                    break
                queue.append(owner[target])
            if free is not None:
                break
        while free is not None:
            expectation = reached_from[free]
            owner[free] = expectation
            free, pairs[expectation] = pairs.get(expectation), free
    return pairs


def _missing(expectation: Expectation, left: list[_Produced]) -> Diagnostic:
    where = "without a source location" if expectation.line is None else f"at line {expectation.line}"
    message = f'expected {expectation.kind} "{expectation.text}" was not produced {where}'
    notes = tuple(
        Note(f"this {item.kind} has the text: {item.text}", item.span)
        for item in left
        if expectation.text and expectation.pattern.search(item.text)
    )
    return Diagnostic(MISSING, Severity.ERROR, message, expectation.span, notes[:1])


def _by_line(diag: Diagnostic) -> int:
    return -1 if diag.span is None else diag.span.line
