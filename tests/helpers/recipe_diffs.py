"""The recipes of docs/contributing.md as changes: which files they name, and what their differences make of them.

A difference is a block ```` ```diff title="path" ````. Lines ``...`` part it into pieces; each piece belongs where its
lines of context and its removed lines are in the file, once and one below the other. A file with added
lines only is new.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from markdown_pages import ROOT

PAGE = ROOT / "docs" / "contributing.md"

_FENCE = re.compile(r'^( *)```diff title="([^"]+)"\n(.*?)^\1```$', re.MULTILINE | re.DOTALL)


class Change(NamedTuple):
    """A difference of one file."""

    path: str
    pieces: tuple[tuple[str, str], ...]
    """Text before and after, for each piece."""

    @property
    def is_new(self) -> bool:
        """Whether the file is new: nothing is in it before."""
        return [before for before, _ in self.pieces] == [""]

    def apply(self, text: str) -> str:
        """``text`` with all pieces changed, as it is where the recipe was followed already; raises ValueError where a
        piece is not in it once."""
        if all(after in text for _, after in self.pieces):
            return text
        for before, after in self.pieces:
            if text.count(before) != 1 or not before:
                raise ValueError(f"{self.path}: {text.count(before)} places for\n{before}")
            text = text.replace(before, after)
        return text


def recipes() -> dict[str, str]:
    """The text of each recipe by its heading."""
    whole = PAGE.read_text(encoding="utf-8").partition("\n## Recipes\n")[2]
    headings = re.split(r"^### (.+)$", whole, flags=re.MULTILINE)
    return dict(zip(headings[1::2], headings[2::2], strict=True))


def changes(recipe: str) -> list[Change]:
    """The differences of a recipe, in order."""
    found: list[Change] = []
    for indent, path, block in _FENCE.findall(recipe):
        lines = [line.removeprefix(indent) for line in block.splitlines()]
        pieces: list[list[str]] = [[]]
        for line in lines:
            if line.strip() == "...":
                pieces.append([])
            else:
                pieces[-1].append(line)
        found.append(Change(path, tuple((_side(piece, "-"), _side(piece, "+")) for piece in pieces)))
    return found


def _side(lines: list[str], kept: str) -> str:
    """The lines before (``-``) or after (``+``) a change; a line of context is indented by one blank, or empty."""
    return "".join(f"{line[1:]}\n" for line in lines if line[:1] in (" ", kept, ""))


def named_tests(recipe: str) -> dict[str, set[str]]:
    """Functions by the file of tests in which a recipe says that they are."""
    named: dict[str, set[str]] = {}
    functions: set[str] = set()
    for function, path in re.findall(r"`(test_\w+)`|in\s+`(tests/[\w/]+\.py)`", recipe):
        if function:
            functions.add(function)
        else:
            named.setdefault(path, set()).update(functions)
            functions = set()
    return named


def apply(recipe: str, folder: Path) -> list[str]:
    """Applies the differences of a recipe to the files of a copy in ``folder``, those that it has; their paths."""
    applied: list[str] = []
    for change in changes(recipe):
        path = folder / change.path
        if change.is_new:
            path.write_text(change.pieces[0][1], encoding="utf-8")
            applied.append(change.path)
        elif path.exists():
            path.write_text(change.apply(path.read_text(encoding="utf-8")), encoding="utf-8")
            applied.append(change.path)
    return applied
