"""A client that types a program into a language server character by character, with completion at each statement."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from lsp_session import Session

from pto_dialect.ir.core.index import OPS

FIRST = 10
"""Items that somebody looks at."""
SNIPPETS = {"textDocument": {"completion": {"completionItem": {"snippetSupport": True}}}}
_STATEMENT = re.compile(r'^([ \t]*)((?:%[^=\n"]*=[ \t]*)?)(pto\.[\w.]+|(?:arith|scf)\.\w+|return\b)', re.MULTILINE)


def session_with_snippets() -> Session:
    """A server whose client fills in snippets."""
    session = Session(initialize=False)
    session.request("initialize", {"processId": None, "rootUri": None, "capabilities": SNIPPETS})
    session.notify("initialized", {})
    return session


class Typing:
    """A document that grows; what follows the cursor closes what is open."""

    def __init__(self, session: Session, uri: str) -> None:
        self.session, self.uri, self.version = session, uri, 1
        self.text = ""
        session.open(self.uri, "")
        self.seconds: list[float] = []

    def _place(self) -> dict[str, int]:
        return {"line": self.text.count("\n"), "character": len(self.text) - self.text.rfind("\n") - 1}

    def write(self, text: str) -> None:
        """Types ``text``, a change for each character."""
        for char in text:
            place = self._place()
            self.version += 1
            self.session.change(self.uri, self.version, {"range": {"start": place, "end": place}, "text": char})
            self.text += char

    def offered(self) -> list[dict]:
        """The items at the cursor."""
        place = self._place()
        begin = time.perf_counter()
        result = self.session.ask("completion", self.uri, place["line"], place["character"])
        self.seconds.append(time.perf_counter() - begin)
        assert len(result["items"]) < 100 or result["isIncomplete"]
        return result["items"]

    def accepted(self, item: dict, plain: Callable[[str], str]) -> str:
        """The text with an item in place of its prefix, and its open regions closed."""
        start = item["textEdit"]["range"]["start"]["character"]
        text = f"{self.text[: self.text.rfind(chr(10)) + 1 + start]}{plain(item['textEdit']['newText'])}\n"
        return text + "}" * (text.count("{") - text.count("}"))


@dataclass
class Typed:
    """Results of typing a program; ranks count from 0."""

    start: list[tuple[str, int]] = field(default_factory=list)
    """The rank of each operation where nothing of its statement is written."""
    result: list[tuple[str, int]] = field(default_factory=list)
    """The same after the equals sign of its results, or again at the beginning."""
    dialect: list[tuple[str, int]] = field(default_factory=list)
    """The same after the name of its dialect and the point."""
    letters: list[int] = field(default_factory=list)
    """Letters that had to be written further."""
    accepted: list[tuple[str, bool]] = field(default_factory=list)
    """Whether the program parses with the item of an operation."""
    seconds: list[float] = field(default_factory=list)


def rank(items: list[dict], name: str) -> int:
    """The index of an operation in the list."""
    labels = [item["label"] for item in items]
    return labels.index(name) if name in labels else len(labels) + FIRST


def _accept(found: Typed, typing: Typing, items: list[dict], name: str, parses: Callable[[str], bool]) -> None:
    from pto_dialect.lsp.statements.snippets import plain  # deferred: optional

    chosen = next((item for item in items if item["label"] == name), None)
    if chosen is not None:
        found.accepted.append((name, parses(typing.accepted(chosen, plain))))


def typed(session: Session, uri: str, program: str, parses: Callable[[str], bool], most: int = 1000) -> Typed:
    """Types a program up to so many statements."""
    found, typing = Typed(), Typing(session, uri)
    last = 0
    for match in _statements(program, most):
        name = match[3]
        typing.write(program[last : match.start(2)])
        items = typing.offered()
        found.start.append((name, rank(items, name)))
        if rank(items, name) < FIRST:
            _accept(found, typing, items, name, parses)
        typing.write(match[2])
        if match[2]:
            items = typing.offered()
        found.result.append((name, rank(items, name)))
        dialect, point, rest = name.partition(".")
        if point:
            typing.write(f"{dialect}.")
            items = typing.offered()
            found.dialect.append((name, rank(items, name)))
            letters = 0
            while rank(items, name) >= FIRST and letters < len(rest):
                typing.write(rest[letters])
                letters += 1
                items = typing.offered()
            found.letters.append(letters)
            _accept(found, typing, items, name, parses)
        typing.write(program[len(typing.text) : match.end()])
        last = match.end()
    typing.write(program[last:] if most >= 1000 else "")
    assert program.startswith(typing.text)
    found.seconds = typing.seconds
    session.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    return found


def _statements(program: str, most: int) -> Iterator[re.Match[str]]:
    found = (match for match in _STATEMENT.finditer(program) if match[3] in OPS or not match[3].startswith("pto."))
    yield from islice(found, most)
