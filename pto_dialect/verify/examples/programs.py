"""The incorrect and the correct program of each rule: the text files of this folder.

A rule's entry starts with a line ``## id``, or ``## id a2a3`` if its programs are for that target. The lines after
``## incorrect`` violate the rule, those after ``## correct`` do not; ``verify.engine.example_programs`` describes what
may be left out. ``run.txt`` declares its rules as well: an entry starts with ``## id severity`` and the rule's text.
"""

from __future__ import annotations

import os
from functools import cache
from typing import NamedTuple

_FOLDER = os.path.dirname(__file__)


class Example(NamedTuple):
    """An entry: the rest of its first line, the lines below it, and its two programs."""

    note: str
    text: str
    incorrect: str | None
    correct: str | None


@cache
def read_examples(name: str) -> dict[str, Example]:
    """Returns the entries of the file ``name.txt`` by rule id, in order."""
    with open(os.path.join(_FOLDER, f"{name}.txt"), encoding="utf-8") as file:
        _, *parts = f"\n{file.read()}".split("\n## ")
    entries: dict[str, dict[str, str]] = {}
    entry: dict[str, str] = {}
    for part in parts:
        head, _, body = part.partition("\n")
        if head not in ("incorrect", "correct"):
            id, _, note = head.partition(" ")
            entry = entries[id] = {"note": note}
            head = "text"
        entry[head] = body.strip("\n")
    return {
        id: Example(entry["note"], entry["text"], entry.get("incorrect"), entry.get("correct"))
        for id, entry in entries.items()
    }


@cache
def all_examples() -> dict[str, Example]:
    """Returns the entries of all files by rule id."""
    names = sorted(name.removesuffix(".txt") for name in os.listdir(_FOLDER) if name.endswith(".txt"))
    return {id: example for name in names for id, example in read_examples(name).items()}
