"""Fixes come from the data of diagnostics: what their messages say makes no difference."""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from itertools import count
from pathlib import Path

import pytest
from groups import in_groups
from lsprotocol import types

from pto_dialect.api import check
from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.formats import to_sarif
from pto_dialect.driver.fixes import proposals
from pto_dialect.driver.fixes.offer import with_fixes
from pto_dialect.driver.fixes.trying import fixed
from pto_dialect.driver.options import Options
from pto_dialect.driver.pipeline import process
from pto_dialect.lsp.actions import actions
from pto_dialect.lsp.diagnostics import heard
from pto_dialect.lsp.program.document import Document
from tests.diagnostics.mistake_table import Mistake, mistakes

ODD = "something is odd"
PACKAGE = Path(proposals.__file__).parents[2]
ROWS = [row for row in mistakes() if row.frame != "run"]


def found_in(text: str) -> list[Diagnostic]:
    return [one for one in check(text).diagnostics if one.severity is not Severity.INFO]


def reworded(text: str | None) -> str | None:
    """Another text, the same one for the same text."""
    return None if text is None else f"{ODD} {sha256(text.encode()).hexdigest()[:16]}"


def reworded_in(text: str) -> list[Diagnostic]:
    """What checking ``text`` reports, with other messages, notes and help."""
    return [
        one._replace(
            message=reworded(one.message) or "",
            help=reworded(one.help),
            notes=tuple(note._replace(message=reworded(note.message) or "") for note in one.notes),
        )
        for one in found_in(text)
    ]


def _id(row: Mistake) -> str:
    return f"{row.file}: {row.title}"


@in_groups("row", ROWS, _id)
def test_other_messages_have_the_same_fixes(row: Mistake) -> None:
    text, _ = row.program(row.wrong)
    plain = fixed(text, found_in, unsafe=True)
    other = fixed(text, reworded_in, unsafe=True)
    assert other.text == plain.text and other.applied == plain.applied


def _modules(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from (PACKAGE / folder).rglob("*.py")


def test_nothing_that_makes_fixes_reads_a_message() -> None:
    """Messages are compared with each other to see whether a fix helps, and are used for nothing else."""
    for path in _modules("driver/fixes", "diagnostics/remedies"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and node.attr in ("message", "help"):
                assert path.name in ("apart.py", "trying.py"), path
    for name in ("apart.py", "trying.py"):
        assert not re.search(r"re\.\w+\([^\n]*\.(?:message|help)", (PACKAGE / "driver/fixes" / name).read_text())


def test_every_remedy_is_reported_somewhere() -> None:
    used: set[str] = set()
    for path in _modules("syntax", "verify", "passes", "driver/project"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                used.add(node.func.id if isinstance(node.func, ast.Name) else node.func.attr)
    assert set(proposals.REMEDIES) <= used


def test_remedies_are_documented_functions_of_a_site() -> None:
    for name, fixes in proposals.REMEDIES.items():
        assert next(iter(inspect.signature(fixes).parameters)) == "site" and fixes.__doc__, name


# ---------------------------------------------------------------- all that shows fixes

OPTIONS = Options()
NUMBERS = count()
REWORDED = {0: False}


@pytest.fixture
def other_words(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Makes everything that is reported from now on say something else."""
    report = DiagnosticEngine.report

    def say(engine: DiagnosticEngine, one: Diagnostic) -> None:
        report(engine, one._replace(message=reworded(one.message) or "", help=reworded(one.help)))

    def begin() -> None:
        monkeypatch.setattr(DiagnosticEngine, "report", say)
        monkeypatch.setitem(REWORDED, 0, True)

    return begin


def say_what_they_should(found: Iterable[Diagnostic]) -> None:
    """Checks that nothing kept from before hides the other messages."""
    assert all(one.message.startswith(ODD) == REWORDED[0] for one in found)


def sarif_fixes(text: str) -> list[object]:
    found = with_fixes(process(text, "f.pto", OPTIONS).diagnostics, OPTIONS)
    say_what_they_should(found)
    results = json.loads(to_sarif(found))["runs"][0]["results"]
    return [result.get("fixes") for result in results]


def code_actions(text: str) -> list[tuple[str, list[types.TextEdit]]]:
    document = Document(f"untitled:{next(NUMBERS)}", text, 1)
    say_what_they_should(heard(document))
    everywhere = types.Range(types.Position(0, 0), types.Position(text.count("\n"), 0))
    where = types.TextDocumentIdentifier(document.uri)
    found = actions(None, document, types.CodeActionParams(where, everywhere, types.CodeActionContext([])))
    return [(one.title, one.edit.document_changes[0].edits) for one in found]  # pyright: ignore


@pytest.mark.parametrize("shown", [sarif_fixes, code_actions])
def test_reports_and_editors_show_the_same_fixes(
    shown: Callable[[str], object], other_words: Callable[[], None]
) -> None:
    rows = [row.program(row.wrong)[0] for row in ROWS if row.file in ("synchronisation", "matrix")]
    plain = [shown(text) for text in rows]
    assert sum(map(bool, plain)) > 10
    other_words()
    assert [shown(text) for text in rows] == plain
