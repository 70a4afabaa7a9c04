"""Summary, mechanism, formula and effects of each operation, from the files of this folder.

A file has families (``# family``), each with a paragraph on all of its operations and a line ``name: sentence`` for
each of them. An entry ``## name name ..`` is about these alone: a paragraph, lines ``= formula``, lines ``> effect``.
Text between backquotes is code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from pto_dialect.ir.core.base import PtoOp, signature
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.registry import op_class

from ...reference.operations import computes
from ..page import plain

FILES: Final = ("buffers", "cube", "scalar", "simt", "sync", "tile", "vector", "vmi")
_SUMMARY = re.compile(r"([a-z][\w.]*): ([A-Z].*\.)")
_FORMULA = re.compile(r" \+?= | active where |^(?:Active )?[Ll]anes? |^[Bb]in b |^[Bb]lock b |^[Mm]emory at ")


class Prose(NamedTuple):
    """One sentence on an operation, paragraphs on how it works, lines of its formula, and what it does besides."""

    summary: str
    mechanism: tuple[str, ...]
    formula: tuple[str, ...]
    effects: tuple[str, ...]


class _Entry:
    """The paragraph, formula and effects of one heading."""

    def __init__(self) -> None:
        self.paragraph = ""
        self.formula: list[str] = []
        self.effects: list[str] = []

    def take(self, line: str) -> None:
        """Adds a line of the file."""
        if line.startswith("= "):
            self.formula.append(line[2:])
        elif line.startswith("> "):
            self.effects.append(line[2:])
        elif line:
            self.paragraph = f"{self.paragraph} {line}".lstrip()


@cache
def _entries() -> tuple[dict[str, str], dict[str, list[_Entry]], dict[str, _Entry]]:
    """Summaries and own entries by operation, paragraphs by family."""
    summaries: dict[str, str] = {}
    own: dict[str, list[_Entry]] = {}
    families: dict[str, _Entry] = {}
    for entry, names, line in _lines():
        if (found := _SUMMARY.fullmatch(line)) is not None and f"pto.{found[1]}" in OPS:
            summaries[f"pto.{found[1]}"] = found[2]
            continue
        entry.take(line)
        if names[0] == "#":
            families[names[1]] = entry
            continue
        for short in names[1:]:
            entries = own.setdefault(f"pto.{short}", [])
            if entry not in entries:
                entries.append(entry)
    return summaries, own, families


def _lines() -> Iterator[tuple[_Entry, list[str], str]]:
    """Yields the lines below the headings of all files, each with its entry and the parts of the heading."""
    for name in FILES:
        entry, words = _Entry(), ["#", ""]
        text = files("pto_dialect.driver.explain.manual").joinpath(f"{name}.txt").read_text(encoding="utf-8")
        for line in text.splitlines():
            if line.startswith("#"):
                entry, words = _Entry(), line.split()
            else:
                yield entry, words, line


@cache
def prose_of(name: str) -> Prose:
    """Returns the texts about operation ``name``, by all entries that name it and by that of its family."""
    summaries, own, families = _entries()
    entries = own.get(name, [])
    paragraphs = (*(entry.paragraph for entry in entries), families[OPS[name][0]].paragraph)
    formula = tuple(line for entry in entries for line in entry.formula)
    effects = tuple(line for entry in entries for line in entry.effects)
    summary = summaries.get(name) or f"{computes(op_class(name))}."
    return Prose(summary, tuple(filter(None, paragraphs)), formula or _declared(name), effects)


def marked(text: str) -> str:
    """Returns ``text`` of a file as that of a page: operations are links, what is not code stands for itself."""
    return "".join(
        (f"[`{part}`]({part}.md)" if part in OPS else f"`{part}`") if number % 2 else plain(part)
        for number, part in enumerate(text.split("`"))
    )


def summary_of(name: str) -> str:
    """Returns one sentence on what operation ``name`` does."""
    return prose_of(name).summary


def _declared(name: str) -> tuple[str, ...]:
    """Returns the docstring of the operation where it is a formula, or says what the only result is."""
    cls = op_class(name)
    text = computes(cls).replace("``", "")
    if _FORMULA.search(text):
        return (text,)
    return (f"{_result(cls)} = {text[0].lower()}{text[1:]}",) if _result(cls) else ()


def _result(cls: type[PtoOp]) -> str:
    """Returns the name of the only result, of operations that have no destination."""
    declared = signature(cls)
    alone = len(declared.results) == 1 and declared.results[0].arity == "1"
    return declared.results[0].name.rstrip("_") if alone and declared.results else ""
