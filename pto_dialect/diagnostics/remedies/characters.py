"""Characters that no program has: those of word processors, of other languages, and marks of other tools."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pto_dialect.diagnostics.fix import Edit, Fix

from .site import Site, remedy

LOOK_ALIKE = {
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\uff02", '"'),
    **dict.fromkeys("\u2212\u2010\u2011\u2012\u2013\u2014\uff0d", "-"),
    **dict.fromkeys("\u2192\u27f6\u21d2", "->"),
    **dict.fromkeys("\u00d7\u2715\u2a09", "x"),
    **{chr(code + 0xFEE0): chr(code) for code in range(0x23, 0x7F) if chr(code) not in "-"},
    "\u3001": ",",
}
"""Characters of word processors and of other keyboards, and their replacements in programs."""
_HASH = re.compile(
    r'^(?P<before>(?:[^"/#\n]|"(?:[^"\\\n]|\\.)*"|/(?!/))*?)(?P<mark>(?<!\S)#(?![\w.]*[<=]))', re.MULTILINE
)
_SEMICOLON = re.compile(r"^(?P<before>[ \t]*)(?P<mark>;+)", re.MULTILINE)
_BLOCK = re.compile(r"/\*(?P<inside>.*?)(?:\*/|\Z)", re.DOTALL)


def _is_commented(site: Site, offset: int) -> bool:
    return "//" in site.text[site.text.rfind("\n", 0, offset) + 1 : offset]


@remedy
def ascii_characters(site: Site) -> Iterator[Fix]:
    """All characters that look like an ASCII one are written as that one, since one is reported for all."""
    offsets = [n for n, letter in enumerate(site.text) if letter in LOOK_ALIKE and not _is_commented(site, n)]
    yield Fix("write characters of ASCII", tuple(Edit(n, n + 1, LOOK_ALIKE[site.text[n]]) for n in offsets))


@remedy
def without_invisible(site: Site) -> Iterator[Fix]:
    """All invisible characters of this kind go."""
    offsets = [n for n, letter in enumerate(site.text) if letter == site.word and not _is_commented(site, n)]
    yield Fix("remove the invisible characters", tuple(Edit(n, n + 1, "") for n in offsets))


@remedy
def without_fences(site: Site) -> Iterator[Fix]:
    """Lines that begin or end a listing of Markdown go."""
    lines = re.finditer(r"^[ \t]*```[^\n]*(?:\n|\Z)", site.text, re.MULTILINE)
    yield Fix("remove the lines with ```", tuple(Edit(line.start(), line.end(), "") for line in lines))


@remedy
def without_plus(site: Site) -> Iterator[Fix]:
    """The marks of the lines that a patch adds become blanks."""
    lines = re.finditer(r"^[ \t]*\+", site.text, re.MULTILINE)
    yield Fix("remove the '+'", tuple(Edit(line.end() - 1, line.end(), " ") for line in lines))


@remedy
def rename(site: Site, new: str) -> Iterator[Fix]:
    """The value has another name at all its uses."""
    uses = re.finditer(rf"{re.escape(site.word)}(?![\w$.\-])", site.text)
    if new not in site.text:
        yield Fix(f"write {new}", tuple(Edit(use.start(), use.end(), new) for use in uses))


@remedy
def percent_signs(site: Site) -> Iterator[Fix]:
    """``$name`` of a shell becomes ``%name``."""
    found = (mark.start() for mark in re.finditer(r"\$(?=[A-Za-z_])", site.text))
    offsets = [offset for offset in found if not _is_commented(site, offset)]
    yield Fix("write % before names", tuple(Edit(offset, offset + 1, "%") for offset in offsets))


@remedy
def double_quotes(site: Site) -> Iterator[Fix]:
    """Strings in single quotes get double ones."""
    strings = [one for one in re.finditer(r"'([^'\"\n]*)'", site.text) if not _is_commented(site, one.start())]
    yield Fix('write strings between " and "', tuple(Edit(s.start(), s.end(), f'"{s[1]}"') for s in strings))


@remedy
def comment_marks(site: Site) -> Iterator[Fix]:
    """Comments of other languages begin with ``//``."""
    mark = site.text[site.start : site.start + 1]
    edits: list[Edit] = []
    if mark in "#;":
        pattern = _HASH if mark == "#" else _SEMICOLON
        edits = [Edit(f.start("mark"), f.end("mark"), "//") for f in pattern.finditer(site.text)]
    elif mark == "/":
        for block in _BLOCK.finditer(site.text):
            lines = [line.strip().removeprefix("*").strip() for line in block["inside"].split("\n")]
            kept = [line for line in lines if line] or [""]
            end = block.end()
            if site.text[end : site.line_end(end)].strip():
                # A comment up to the end of the line would hide the text after the block.
                continue
            indent = site.indentation(site.text.rfind("\n", 0, block.start()) + 1)
            edits.append(Edit(block.start(), end, f"\n{indent}".join(f"// {line}".rstrip() for line in kept)))
    if edits:
        yield Fix("begin comments with //", tuple(edits))
