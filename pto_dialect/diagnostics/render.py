"""Diagnostics as text for people, in the manner of compilers: place, severity, message, line, caret."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from .diagnostic import Diagnostic, Severity
from .engine import Counts
from .origins import NamedPosition, all_shown
from .source import Span
from .wording import count

TAB_STOP = 8
"""Columns between tab stops in the source lines shown."""

MAX_COLUMNS = 160
"""Source lines wider than this are shown as a window around the caret."""

_ELLIPSIS = "..."
_LONG_NAME = re.compile(rf"[\w$.-]{{{MAX_COLUMNS},}}")
_KEPT = 60
_INDENT = "  "

_BOLD = "\x1b[1m"
_GREEN = "\x1b[1;32m"
_CYAN = "\x1b[1;36m"
_SEVERITY_COLOR = {Severity.ERROR: "\x1b[1;31m", Severity.WARNING: "\x1b[1;35m", Severity.INFO: "\x1b[1;34m"}
_RESET = "\x1b[0m"


def render_text(diags: Iterable[Diagnostic], *, color: bool = False) -> str:
    """All diagnostics in the given order, as a person sees them, each line ended by a newline; empty text for none.

    Per diagnostic: ``file:line:col: severity: message [rule]``, the source line with ``^~~`` below the span
    (its first line if it has several), then, indented, the help and the notes.  ``color`` adds ANSI codes.
    """
    writer = _Writer(color)
    for diag in all_shown(diags):
        rule = f" [{diag.rule}]" if diag.rule else ""
        severity = diag.severity
        writer.headline(severity.label, _SEVERITY_COLOR[severity], diag.message, rule, diag.span)
        if diag.help is not None:
            writer.remark("help", diag.help, None)
        for note in diag.notes:
            writer.remark("note", note.message, note.span)
    return "".join(line + "\n" for line in writer.lines)


def summary(counts: Counts) -> str:
    """Returns one line such as ``22 errors, 1 warning; 2 more errors not shown``; empty text if all counts are 0."""
    kinds = ((counts.errors, "error"), (counts.warnings, "warning"), (counts.infos, "info"))
    text = ", ".join(count(number, word) for number, word in kinds if number)
    if counts.hidden_errors:
        text += f"; {count(counts.hidden_errors, 'more error')} not shown"
    return text


class _Writer:
    """Collects output lines."""

    def __init__(self, color: bool) -> None:
        self.lines: list[str] = []
        self.color = color

    def headline(self, label: str, label_color: str, message: str, suffix: str, span: Span | None) -> None:
        parts = [self._paint(part, _BOLD) for part in _message_lines(message)]
        parts[-1] += suffix
        self._item("", self._paint(f"{label}:", label_color), parts, span)

    def remark(self, label: str, message: str, span: Span | None) -> None:
        self._item(_INDENT, self._paint(f"{label}:", _CYAN), _message_lines(message), span)

    def _item(self, indent: str, label: str, message: list[str], span: Span | None) -> None:
        place = ""
        if span is not None:
            line, col = span.source.line_col(span.start)
            place = self._paint(f"{visible(span.source.name)}:{line}:{col}:", _BOLD) + " "
        self.lines.append(f"{indent}{place}{label} {message[0]}")
        self.lines += [f"{indent}{_INDENT}{part}" for part in message[1:]]
        if span is not None and not isinstance(span.source, NamedPosition):
            text, pad, mark = excerpt(span)
            self.lines.append(f"{indent}{_INDENT}{text}".rstrip())
            self.lines.append(f"{indent}{_INDENT}{' ' * pad}{self._paint(mark, _GREEN)}")

    def _paint(self, text: str, code: str) -> str:
        return f"{code}{text}{_RESET}" if self.color else text


def _message_lines(message: str) -> list[str]:
    return [visible(shortened(part)) for part in message.split("\n")]


def shortened(text: str) -> str:
    """Returns ``text`` with the beginnings of names that are longer than a line."""
    return text if len(text) <= MAX_COLUMNS else _LONG_NAME.sub(lambda name: name[0][:_KEPT] + _ELLIPSIS, text)


def excerpt(span: Span) -> tuple[str, int, str]:
    """Returns the first line of ``span`` as shown, the columns before the mark, and the mark (``^~~``).

    Tabs are expanded, characters that a terminal would not print are escaped, wide and combining characters
    count as many columns as they take; at most ``MAX_COLUMNS`` columns of the line are returned.
    """
    line, col = span.source.line_col(span.start)
    text = span.source.line_text(line)
    begin = col - 1
    end = begin + max(span.end - span.start, 0)
    if end > len(text):
        end = max(begin, len(text.rstrip()))

    # Only the neighbourhood is measured: a megabyte on one line must not cost a megabyte per diagnostic.
    cut_left = max(0, begin - MAX_COLUMNS)
    cut_right = min(len(text), begin + MAX_COLUMNS)
    cells, edges = _cells(text[cut_left:cut_right])
    caret = edges[begin - cut_left]
    tail = edges[min(end, cut_right) - cut_left]
    total = edges[-1]

    first, last = 0, len(cells)
    left = right = ""
    if cut_left or cut_right < len(text) or total > MAX_COLUMNS:
        if cut_left or caret > MAX_COLUMNS * 3 // 4:
            first = bisect_left(edges, caret - MAX_COLUMNS // 2)
            if cut_right == len(text):
                first = min(first, bisect_left(edges, total - (MAX_COLUMNS - len(_ELLIPSIS))))
            left = _ELLIPSIS if cut_left or first else ""
        room = edges[first] + MAX_COLUMNS - len(left)
        if cut_right < len(text) or total > room:
            right = _ELLIPSIS
            last = bisect_right(edges, room - len(right)) - 1
    shown = left + "".join(cells[first:last]) + right
    pad = len(left) + caret - edges[first]
    return shown, pad, "^" + "~" * (min(tail, edges[last]) - caret - 1)


def _cells(text: str) -> tuple[Sequence[str], Sequence[int]]:
    """Returns what a terminal shows for each character of ``text``, and the columns where each begins and the last
    ends."""
    if text.isascii() and text.isprintable():
        return text, range(len(text) + 1)
    cells: list[str] = []
    edges = [0]
    for char in text:
        if char == "\t":
            width = TAB_STOP - edges[-1] % TAB_STOP
            cells.append(" " * width)
        elif not char.isprintable():
            shown = _escape(char)
            width = len(shown)
            cells.append(shown)
        else:
            width = 1 if char.isascii() else _width(char)
            cells.append(char)
        edges.append(edges[-1] + width)
    return cells, edges


def _width(char: str) -> int:
    # Needed for lines with non-ASCII text only, hence not imported at start-up.
    import unicodedata  # deferred: start-up

    if unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def visible(text: str) -> str:
    """Returns ``text`` with everything escaped that could move the cursor or reorder the line."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escape(char) for char in text)
