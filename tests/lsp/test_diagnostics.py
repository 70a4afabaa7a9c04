"""Diagnostics while somebody writes, reported by the real server."""

from __future__ import annotations

import pytest

pytest.importorskip("pytest_lsp", reason="the client of these tests is pytest-lsp")

from lsprotocol import types

PROGRAM = """\
module attributes {pto.target_arch = "a5"} {
  func.func @first(%a: i32) {
    %b = arith.addi %a, %a : i32
    return
  }
  func.func @second(%x: index) {
    %y = arith.addi %x, %x : index
    return
  }
}
"""


class Typist:
    """Edits one document of a client and waits for what the server says."""

    def __init__(self, client, uri: str, text: str) -> None:
        self.client, self.uri, self.version = client, uri, 1
        item = types.TextDocumentItem(uri, "pto", 1, text)
        client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def edit(self, start: tuple[int, int], end: tuple[int, int], text: str) -> None:
        self.version += 1
        area = types.Range(types.Position(*start), types.Position(*end))
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(self.version, self.uri),
                [types.TextDocumentContentChangePartial(area, text)],
            )
        )

    async def told(self) -> list[types.Diagnostic]:
        while True:
            await self.client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
            if self.version in self.versions():
                return list(self.client.diagnostics[self.uri])

    def versions(self) -> list[int | None]:
        return [one.version for one in self.client.published.get(self.uri, [])]


@pytest.fixture(autouse=True)
def remembers_versions(client):
    """The client of the library keeps diagnostics without their versions."""
    client.published = {}
    kept = client.protocol.fm.features[types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS]

    def remember(params: types.PublishDiagnosticsParams) -> None:
        client.published.setdefault(params.uri, []).append(params)
        client.diagnostics[params.uri] = params.diagnostics

    client.protocol.fm.features[types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS] = remember
    yield
    client.protocol.fm.features[types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS] = kept


def shown(found: list[types.Diagnostic]) -> list[tuple[object, int, int, int]]:
    return [(d.code, d.range.start.line, d.range.start.character, d.range.end.character) for d in found]


@pytest.mark.asyncio(loop_scope="module")
async def test_an_error_comes_and_goes(client) -> None:
    typist = Typist(client, "file:///t/come.pto", PROGRAM)
    assert shown(await typist.told()) == []
    typist.edit((2, 15), (2, 19), "addx")
    assert shown(await typist.told()) == [("op-unknown", 2, 9, 19)]
    # What is reported moves with the lines before it.
    typist.edit((1, 0), (1, 0), "\n\n")
    assert shown(await typist.told()) == [("op-unknown", 4, 9, 19)]
    typist.edit((4, 15), (4, 19), "addi")
    assert shown(await typist.told()) == []


@pytest.mark.asyncio(loop_scope="module")
async def test_half_a_statement_leaves_the_other_functions_alone(client) -> None:
    typist = Typist(client, "file:///t/half.pto", PROGRAM.replace("%x, %x : index", "%x, %z : index"))
    other = shown(await typist.told())
    assert [code for code, *_ in other] == ["name-undefined"]
    typist.edit((3, 0), (3, 0), "    %c = arith.addi %a,\n")
    found = shown(await typist.told())
    assert [place for place in found if place[1] > 5] == [(code, line + 1, *rest) for code, line, *rest in other]
    # An opened region without its end reaches no further than its function.
    typist.edit((3, 0), (4, 0), "    scf.if %a {\n")
    found = shown(await typist.told())
    assert [place for place in found if place[1] > 5] == [(code, line + 1, *rest) for code, line, *rest in other]


@pytest.mark.asyncio(loop_scope="module")
async def test_columns_are_units_of_utf16(client) -> None:
    typist = Typist(client, "file:///t/wide.pto", 'module attributes {a = "\U0001f600\u00e9", b = %x} {}\n')
    (found,) = [d for d in await typist.told() if d.range.start.line == 0][:1]
    before = typist.client.diagnostics[typist.uri]
    assert found.range.start.character == 'module attributes {a = "..\u00e9", b = %x'.index("%")
    typist.edit((0, found.range.start.character), (0, found.range.start.character + 2), "1")
    assert shown(await typist.told()) == []
    assert before


@pytest.mark.asyncio(loop_scope="module")
async def test_separators_of_unicode_end_no_line(client) -> None:
    typist = Typist(client, "file:///t/separator.pto", "// one\u2028two\x85three\x0c\n" + PROGRAM)
    assert shown(await typist.told()) == []
    typist.edit((3, 15), (3, 19), "subx")
    assert shown(await typist.told()) == [("op-unknown", 3, 9, 19)]


@pytest.mark.asyncio(loop_scope="module")
async def test_thousands_of_errors_on_one_line_take_no_time(client) -> None:
    body = " ".join(f"%v{n} = arith.addx %a, %a : i32" for n in range(100))
    line = " ".join(f"func.func @f{n}() {{ {body} return }}" for n in range(40)) + "\n"
    typist = Typist(client, "file:///t/long.pto", "// \U0001f600\n" + line)
    found = await typist.told()
    assert len(found) >= 4000
    assert found[-1].range.start.line == 1


@pytest.mark.asyncio(loop_scope="module")
async def test_a_closed_document_has_no_diagnostics(client) -> None:
    typist = Typist(client, "file:///t/closed.pto", "func.func @f() { retur }\n")
    assert shown(await typist.told()) != []
    client.text_document_did_close(
        types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(typist.uri)),
    )
    typist.version = None  # pyright: ignore[reportAttributeAccessIssue]
    assert await typist.told() == []
