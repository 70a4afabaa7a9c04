"""Random edits of a document that a running server has open, with questions in between."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from lsp_session import ROOT, Session

PARTS = (
    *("", "", "{", "}", "\n", "\r\n", " ", "%x", '"', "// ", "\u2028", "\U0001f600", "@f", "(", ")", ",", "<", ": "),
    *("pto.", "pto.ma", "%", "!", "func.func @q() {\n  return\n}\n", "module {\n", "^bb0:\n"),
)
QUESTIONS = (
    *("hover", "completion", "definition", "references", "signatureHelp", "documentHighlight", "prepareRename"),
    *("documentSymbol", "foldingRange", "semanticTokens/full", "inlayHint", "codeAction", "codeLens", "formatting"),
    "prepareCallHierarchy",
)
_WHOLE = {"start": {"line": 0, "character": 0}, "end": {"line": 100_000, "character": 0}}
_MORE: dict[str, dict[str, Any]] = {
    "references": {"context": {"includeDeclaration": True}},
    "inlayHint": {"range": _WHOLE},
    "formatting": {"options": {"tabSize": 2, "insertSpaces": True}},
}


def programs() -> list[str]:
    """The texts that are edited."""
    paths: list[Path] = sorted(ROOT.glob("examples/*/*.pto"))
    return [path.read_text(encoding="utf-8") for path in paths]


def position(text: str, offset: int) -> dict[str, int]:
    """The position of a character; there is none between ``\\r`` and ``\\n``."""
    before = text[:offset].replace("\r\n", "\n").replace("\r", "\n")
    line = before.rpartition("\n")[2]
    return {"line": before.count("\n"), "character": len(line.encode("utf-16-le")) // 2}


class Editor:
    """A client that edits one document after another and sends requests."""

    def __init__(self, session: Session, seed: int) -> None:
        self.session = session
        self.chosen = random.Random(seed)
        self.texts = programs()
        self.number = self.version = 0
        self.refused: list[object] = []

    def open(self) -> None:
        """Continues with another document."""
        if self.number:
            self.session.notify("textDocument/didClose", {"textDocument": {"uri": self.uri}})
        self.number += 1
        self.version = 1
        self.text = self.chosen.choice(self.texts)
        self.session.open(self.uri, self.text)

    @property
    def uri(self) -> str:
        return f"file:///edits/{self.number}.pto"

    def edit(self) -> None:
        """One edit at a random place."""
        chosen, text = self.chosen, self.text
        start = self._place()
        end = min(len(text), start + chosen.choice([0, 0, 0, 1, 3, 30]))
        new = chosen.choice([*PARTS, text[start : start + 40], chosen.choice(text.split("\n") or [""]) + "\n"])
        if text[start - 1 : start + 1] == "\r\n" or text[end - 1 : end + 1] == "\r\n":
            return
        area = {"start": position(text, start), "end": position(text, end)}
        self.text = text[:start] + new + text[end:]
        self.version += 1
        self.session.change(self.uri, self.version, {"range": area, "text": new})

    def _place(self) -> int:
        return self.chosen.randrange(len(self.text) + 1)

    def ask(self) -> None:
        """A question; an answer with an error is kept."""
        what = self.chosen.choice(QUESTIONS)
        place = position(self.text, self._place())
        params = {"textDocument": {"uri": self.uri}, "position": place, **_MORE.get(what, {})}
        if what == "codeAction":
            params |= {"range": {"start": place, "end": place}, "context": {"diagnostics": []}}
        answer = self.session.request(f"textDocument/{what}", params)
        if "error" in answer:
            self.refused.append((what, answer["error"], self.text))

    def state(self, uri: str, version: int) -> list[object]:
        """What the server reports about a document."""
        told = self.session.diagnostics(uri, version)
        found: list[object] = [sorted(map(str, (_without(one, uri) for one in told)))]
        found += [_without(self.session.about(what, uri), uri) for what in ("documentSymbol", "semanticTokens/full")]
        return [*found, self.session.about("foldingRange", uri), self.session.about("inlayHint", uri, range=_WHOLE)]

    def differs(self) -> bool:
        """Whether the server reports something else about the text when it is opened."""
        if self.version == 1:
            return False
        now = self.state(self.uri, self.version)
        fresh = self.uri + ".fresh"
        self.session.open(fresh, self.text)
        anew = self.state(fresh, 1)
        self.session.notify("textDocument/didClose", {"textDocument": {"uri": fresh}})
        return now != anew


def _without(found: object, uri: str) -> str:
    """An answer as text in which the document has no name."""
    return str(found).replace(uri, "")


def edit_at_random(session: Session, edits: int, seed: int, *, each: int = 10) -> tuple[int, list[object]]:
    """``edits`` edits with questions, compared with a fresh open after every ``each``; how often they differed, and the
    answers with errors."""
    editor = Editor(session, seed)
    differed = 0
    for number in range(edits):
        if number % 60 == 0:
            editor.open()
        editor.edit()
        if number % 2:
            editor.ask()
        if number % each == each - 1:
            differed += editor.differs()
    return differed, editor.refused
