"""Small answers from the documents that commands print."""

from __future__ import annotations

import json
import re
from difflib import SequenceMatcher
from typing import Any

from .calls import COPY, MOST_TEXT, clipped

MOST_DIAGNOSTICS = 20
MOST_FIXES = 3
MOST_NOTES = 3

Answer = dict[str, Any]


def document_in(text: str) -> tuple[Answer, list[str]]:
    """Returns the JSON document of a stream, empty if there is none, and the lines before it."""
    begin = 0 if text.startswith("{") else text.find("\n{") + 1
    if begin == 0 and not text.startswith("{"):
        return {}, text.splitlines()
    try:
        found = json.JSONDecoder().raw_decode(text, begin)[0]
    except ValueError:
        return {}, text.splitlines()
    return found, text[:begin].splitlines()


def diagnostics(document: Answer, name: str, fixes: bool = True) -> Answer:
    """Returns the numbers of errors and warnings, and the diagnostics, of which the program is called ``name``."""
    counts = document.get("counts", {})
    found = document.get("diagnostics", [])
    answer: Answer = {
        "errors": counts.get("errors", 0) + counts.get("hidden_errors", 0),
        "warnings": counts.get("warnings", 0),
        "diagnostics": [_diagnostic(one, name, fixes) for one in found[:MOST_DIAGNOSTICS]],
    }
    left = answer["errors"] + answer["warnings"] - len(answer["diagnostics"])
    return answer | ({"left_out": left} if left > 0 else {})


def _diagnostic(one: Answer, name: str, fixes: bool) -> Answer:
    told: Answer = {"rule": one["rule"], "severity": one["severity"], **_place(one.get("location"), name)}
    told["message"] = clipped(one["message"], MOST_TEXT)
    if one.get("help"):
        told["help"] = clipped(one["help"], MOST_TEXT)
    if notes := one.get("notes"):
        told["notes"] = [
            {**_place(note.get("location"), name), "message": clipped(note["message"], MOST_TEXT)}
            for note in notes[:MOST_NOTES]
        ]
    if fixes and one.get("fixes"):
        told["fixes"] = [_fix(fix) for fix in one["fixes"][:MOST_FIXES]]
    return told


def _place(location: Answer | None, name: str) -> Answer:
    if location is None:
        return {}
    file = name if location["file"] == COPY else location["file"]
    return {"file": file, "line": location["start"]["line"], "column": location["start"]["column"]}


def renamed(value: Any, name: str) -> Any:
    """A part of a document with ``name`` at the begin of locations as text."""
    if isinstance(value, str):
        return f"{name}{value.removeprefix(COPY)}" if value.startswith(f"{COPY}:") else value
    if isinstance(value, dict):
        return {key: renamed(one, name) for key, one in value.items()}
    return [renamed(one, name) for one in value] if isinstance(value, list) else value


def _fix(fix: Answer) -> Answer:
    edits = [edit(one["start"]["line"], one["start"]["column"], one["end"]["line"], one["end"]["column"], one["text"])
             for one in fix["edits"]]  # fmt: skip
    return {"title": fix["title"], "safe": fix["safe"], "edits": edits}


def edit(line: int, column: int, end_line: int, end_column: int, text: str) -> Answer:
    """Returns a replacement: lines and columns count from 1, in characters, and the end is not part of what is
    replaced."""
    return {"line": line, "column": column, "end_line": end_line, "end_column": end_column, "text": text}


def replacements(old: str, new: str) -> list[Answer]:
    """Edits that make ``new`` from ``old``, whole lines each, in the order of the text."""
    before, after = _lines(old), _lines(new)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    found: list[Answer] = []
    for kind, first, last, begin, end in matcher.get_opcodes():
        if kind == "equal":
            continue
        if last == len(before) and before and not before[-1].endswith("\n"):
            # A last line without its end stops at its last character.
            stop = (len(before), len(before[-1]) + 1)
        else:
            stop = (last + 1, 1)
        start = (first + 1, 1) if first < len(before) else stop
        found.append(edit(*start, *stop, "".join(after[begin:end])))
    return found


def _lines(text: str) -> list[str]:
    """Returns the lines of a text with their ends, which are newlines alone."""
    return [line for line in re.split(r"(?<=\n)", text) if line]
