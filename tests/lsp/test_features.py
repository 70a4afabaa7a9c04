"""Each feature of the real server, used by a client."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pytest_lsp", reason="the client of these tests is pytest-lsp")

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from pto_dialect.driver.formatting import formatted

pytestmark = pytest.mark.asyncio(loop_scope="module")
ROOT = Path(__file__).parents[2]
URI = "file:///t/features.pto"
PROGRAM = """\
!tile = !pto.tile_buf<mat, 64x64xf16, blayout=col_major, slayout=row_major>
module attributes {pto.target_arch = "a5"} {
  // One remark
  // of two lines.
  func.func @first(%l: !pto.ptr<f16, l0a>, %r: !pto.ptr<f16, l0b>, %c: !pto.ptr<f32, l0c>, %n: i64, %v: !pto.ptr<f16>) {
    %addr = arith.constant 4096 : i64
    %t = pto.alloc_tile addr = %addr : !tile
    %zero, %more = arith.addui_extended %n, %n : i64, i1
    %i0 = arith.constant 0 : index
    scf.for %i = %i0 to %i0 step %i0 {
      %t2 = arith.addi %i, %i : index
    }
    scf.for %i = %i0 to %i0 step %i0 {
      %t2 = arith.muli %i, %i : index
    }
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID3>]
    pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID3>]
    pto.mad %l, %r, %c, %n, %n, %n unit_flag(check_only) sat
        : !pto.ptr<f16, l0a>, !pto.ptr<f16, l0b>, !pto.ptr<f32, l0c>, i64, i64, i64
    return
  }
  func.func @second(%n: i64, %b: i1) {
    cf.cond_br %b, ^one, ^two(%n : i64)
  ^one:
    cf.br ^two(%n : i64)
  ^two(%x: i64):
    func.call @second(%x, %b) : (i64, i1) -> ()
    return
  }
}
"""
LINES = PROGRAM.split("\n")
DOCUMENT = types.TextDocumentIdentifier(URI)


@pytest.fixture(scope="module", autouse=True)
def opened(client) -> None:
    open_text(client, URI, PROGRAM)


def open_text(client, uri: str, text: str) -> None:
    client.text_document_did_open(types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "pto", 1, text)))


def place(line: str, word: str, number: int = 0) -> types.Position:
    """The ``number``-th place of a token in the first line that contains ``line``."""
    row = next(n for n, text in enumerate(LINES) if line in text)
    column = -1
    for _ in range(number + 1):
        column = LINES[row].index(word, column + 1)
    return types.Position(row, column + 1)


def text_of(area: types.Range) -> str:
    assert area.start.line == area.end.line
    return LINES[area.start.line][area.start.character : area.end.character]


async def hovered(client, position: types.Position) -> str:
    found = await client.text_document_hover_async(types.HoverParams(DOCUMENT, position))
    return found.contents.value if found is not None else ""


async def test_hover_says_what_an_operation_does(client) -> None:
    words = await hovered(client, place("pto.mad", "pto.mad"))
    assert "**pto.mad**" in words
    assert "`%lhs`" in words
    assert words.index("`unit_flag`: hands") < words.index("for floats")


async def test_hover_decodes_types_and_values(client) -> None:
    words = await hovered(client, place("alloc_tile", "%t"))
    assert "8192 bytes" in words
    assert "16 fractals of 16 × 16 (4 down, 4 across)" in words
    assert "needed" in words
    assert "layout NZ" in await hovered(client, place("alloc_tile", "!tile"))
    assert "always 4096 (0x1000)" in await hovered(client, place("alloc_tile", "%addr"))
    assert "i1" in await hovered(client, place("addui", "%more"))
    assert "f16" in await hovered(client, place("pto.mad", "%r"))


async def test_hover_knows_keywords_functions_and_flags(client) -> None:
    assert "write-back" in await hovered(client, place("pto.mad", "unit_flag"))
    assert "PIPE_MTE2" in await hovered(client, place("set_flag", "PIPE_MTE2"))
    assert "(%n: i64, %b: i1)" in await hovered(client, place("func.call", "@second"))
    assert "set in line 16" in await hovered(client, place("wait_flag", "wait_flag"))


async def definition(client, position: types.Position) -> list[str]:
    found = await client.text_document_definition_async(types.DefinitionParams(DOCUMENT, position))
    return [f"{one.range.start.line + 1}:{text_of(one.range)}" for one in found or []]


async def test_names_lead_to_what_they_stand_for(client) -> None:
    assert await definition(client, place("pto.mad", "%n", 1)) == ["5:%n"]
    assert await definition(client, place("func.call", "%x")) == ["26:%x"]
    assert await definition(client, place("muli", "%i", 1)) == ["13:%i"]
    assert await definition(client, place("cond_br", "^two")) == ["26:^two"]
    assert await definition(client, place("func.call", "@second")) == ["22:@second"]
    assert await definition(client, place("alloc_tile", "!tile")) == ["1:!tile"]
    assert await definition(client, place("wait_flag", "wait")) == [
        "16:pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID3>]"
    ]
    assert await definition(client, place("set_flag", "set")) == [
        "17:pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID3>]"
    ]


async def test_references_stay_in_the_region_of_a_name(client) -> None:
    async def lines(position: types.Position, declaration: bool) -> list[int]:
        context = types.ReferenceContext(declaration)
        found = await client.text_document_references_async(types.ReferenceParams(context, DOCUMENT, position))
        return [one.range.start.line + 1 for one in found]

    assert await lines(place("muli", "%i", 1), True) == [13, 14, 14]
    assert await lines(place("muli", "%i", 1), False) == [14, 14]
    assert await lines(place("func.func @second", "%n"), True) == [22, 23, 25]


async def test_highlights_tell_definitions_from_uses(client) -> None:
    found = await client.text_document_document_highlight_async(
        types.DocumentHighlightParams(DOCUMENT, place("alloc_tile", "%addr"))
    )
    assert [one.kind for one in found] == [types.DocumentHighlightKind.Write, types.DocumentHighlightKind.Read]


async def test_rename_changes_all_locations(client) -> None:
    async def renamed(position: types.Position, new: str) -> list[tuple[int, str]]:
        found = await client.text_document_rename_async(types.RenameParams(DOCUMENT, position, new))
        return [(edit.range.start.line + 1, edit.new_text) for edit in found.changes[URI]]

    assert await renamed(place("muli", "%i", 1), "row") == [(13, "%row"), (14, "%row"), (14, "%row")]
    assert await renamed(place("cond_br", "^two"), "^end") == [(23, "^end"), (25, "^end"), (26, "^end")]
    assert await renamed(place("func.call", "@second"), "third") == [(22, "@third"), (27, "@third")]
    area = await client.text_document_prepare_rename_async(
        types.PrepareRenameParams(DOCUMENT, place("alloc_tile", "%addr"))
    )
    assert text_of(area) == "%addr"
    for new in ("t2", "no name"):
        with pytest.raises(JsonRpcException):
            await renamed(place("muli", "%i", 1), new)


async def test_the_outline_has_functions_arguments_and_blocks(client) -> None:
    found = await client.text_document_document_symbol_async(types.DocumentSymbolParams(DOCUMENT))
    assert [one.name for one in found] == ["!tile", "@first", "@second"]
    assert [one.name for one in found[2].children] == ["%n", "%b", "^one", "^two"]


async def test_regions_and_remarks_fold(client) -> None:
    found = await client.text_document_folding_range_async(types.FoldingRangeParams(DOCUMENT))
    assert {(one.start_line + 1, one.end_line + 1) for one in found} >= {(3, 4), (5, 20), (2, 29), (22, 28)}


async def test_layout_is_that_of_the_formatter(client) -> None:
    uri, text = "file:///t/layout.pto", PROGRAM.replace("    return", "  return").replace("%i0 to", "%i0   to")
    open_text(client, uri, text)
    document, options = types.TextDocumentIdentifier(uri), types.FormattingOptions(2, True)
    whole = await client.text_document_formatting_async(types.DocumentFormattingParams(document, options))
    assert applied(text, whole) == formatted(text, "t").text
    line = next(n for n, one in enumerate(text.split("\n")) if "%i0   to" in one)
    area = types.Range(types.Position(line, 0), types.Position(line + 1, 0))
    part = await client.text_document_range_formatting_async(
        types.DocumentRangeFormattingParams(document, area, options)
    )
    assert applied(text, part) == formatted(text, "t", [range(line + 1, line + 2)]).text != text


def applied(text: str, edits: list[types.TextEdit]) -> str:
    lines = text.split("\n")
    for edit in reversed(edits):
        start, end = edit.range.start, edit.range.end
        before, after = lines[start.line][: start.character], lines[end.line][end.character :]
        lines[start.line : end.line + 1] = (before + edit.new_text + after).split("\n")
    return "\n".join(lines)


async def test_semantic_tokens_say_what_keywords_are(client) -> None:
    legend = client_legend(client)
    found = await client.text_document_semantic_tokens_full_async(types.SemanticTokensParams(DOCUMENT))
    words: dict[str, set[str]] = {}
    line = column = 0
    for step, skip, size, kind, _ in zip(*[iter(found.data)] * 5, strict=True):
        line, column = line + step, (0 if step else column) + skip
        words.setdefault(LINES[line][column : column + size], set()).add(legend[kind])
    expected = {"%l": "parameter", "%t": "variable", "@second": "function", "^two": "label", "pto.mad": "method"}
    expected |= {"sat": "keyword", "4096": "number", "!tile": "type", "pto.target_arch": "property"}
    assert {word: words.get(word) for word in expected} == {word: {kind} for word, kind in expected.items()}
    area = types.Range(types.Position(5, 0), types.Position(6, 0))
    part = await client.text_document_semantic_tokens_range_async(types.SemanticTokensRangeParams(DOCUMENT, area))
    assert 0 < len(part.data) < len(found.data)


def client_legend(client) -> Any:
    from pto_dialect.lsp.semantic import TYPES

    return TYPES


async def test_hints_show_bytes_addresses_and_pipes(client) -> None:
    area = types.Range(types.Position(0, 0), types.Position(len(LINES), 0))
    found = await client.text_document_inlay_hint_async(types.InlayHintParams(DOCUMENT, area))
    assert [(one.position.line + 1, one.label) for one in found] == [(7, "8192 bytes at 0x1000"), (18, "M")]


async def test_calls_are_followed_in_both_directions(client) -> None:
    (item,) = await client.text_document_prepare_call_hierarchy_async(
        types.CallHierarchyPrepareParams(DOCUMENT, place("func.call", "@second"))
    )
    incoming = await client.call_hierarchy_incoming_calls_async(types.CallHierarchyIncomingCallsParams(item))
    outgoing = await client.call_hierarchy_outgoing_calls_async(types.CallHierarchyOutgoingCallsParams(item))
    assert [(one.from_.name, len(one.from_ranges)) for one in incoming] == [("@second", 1)]
    assert [(one.to.name, one.from_ranges[0].start.line + 1) for one in outgoing] == [("@second", 27)]


async def test_a_launch_file_beside_the_program_can_be_run(client) -> None:
    alone = await client.text_document_code_lens_async(types.CodeLensParams(DOCUMENT))
    assert "run" not in [one.command.title for one in alone or ()]
    path = ROOT / "examples" / "gemm" / "gemm.pto"
    open_text(client, path.as_uri(), path.read_text(encoding="utf-8"))
    found = await client.text_document_code_lens_async(
        types.CodeLensParams(types.TextDocumentIdentifier(path.as_uri()))
    )
    assert [one.command.title for one in found][:2] == ["run", "sanitize"]
    command = found[0].command
    output = await client.workspace_execute_command_async(
        types.ExecuteCommandParams(command.command, command.arguments)
    )
    assert "@gemm" in output
    nobody = types.ExecuteCommandParams(command.command, ["file:///etc/passwd"])
    assert await client.workspace_execute_command_async(nobody) is None


FLAG = '["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]'


async def test_the_order_is_proven_on_request(client) -> None:
    uri = "file:///t/order.pto"
    left = f"func.func @left() {{\n  pto.set_flag{FLAG}\n  return\n}}\n"
    text = f"{left}func.func @right() {{\n  pto.set_flag{FLAG}\n  pto.wait_flag{FLAG}\n  return\n}}\n"
    open_text(client, uri, text)
    (lens,) = await client.text_document_code_lens_async(types.CodeLensParams(types.TextDocumentIdentifier(uri)))
    assert lens.command.title == "prove the order"
    shown = await client.workspace_execute_command_async(
        types.ExecuteCommandParams(lens.command.command, lens.command.arguments)
    )
    assert shown == "1 proven, 1 refuted, 0 undecided"
    codes = {}
    for _ in range(100):
        codes = {one.code: one.range.start.line for one in client.diagnostics.get(uri, ()) if "order" in str(one.code)}
        if codes:
            break
        await asyncio.sleep(0.1)
    assert codes == {"order-refuted": 1, "order-proven": 4}
    nobody = types.ExecuteCommandParams(lens.command.command, ["file:///etc/passwd"])
    assert await client.workspace_execute_command_async(nobody) is None


@pytest.mark.parametrize(("chip", "verdict"), [("a5", "1 proven, 0 refuted"), ("a2a3", "0 proven, 1 refuted")])
async def test_settings_of_the_folder_count_for_the_order(client, tmp_path, chip: str, verdict: str) -> None:
    """Two operations of the vector unit need a barrier on one of the chips."""
    (tmp_path / "pto.toml").write_text(f'target = "{chip}"\n', encoding="utf-8")
    tile = "!pto.tile_buf<vec, 16x16xf32>"
    lines = ["func.func @k() {"]
    for name, address in (("x", 0), ("y", 512)):
        lines += [f"%a{name} = arith.constant {address} : i64", f"%{name} = pto.alloc_tile addr = %a{name} : {tile}"]
    lines += [f"pto.tadd ins(%{name}, %{name} : {tile}, {tile}) outs(%{name} : {tile})" for name in "xy"]
    lines += [f"pto.set_flag{FLAG}", f"pto.wait_flag{FLAG}", "return", "}", ""]
    uri = (tmp_path / "order.pto").as_uri()
    open_text(client, uri, "\n".join(lines))
    shown = await client.workspace_execute_command_async(types.ExecuteCommandParams("pto.prove", [uri]))
    assert shown == f"{verdict}, 0 undecided"


async def test_fixes_are_offered_where_the_mistake_is(client) -> None:
    uri = "file:///t/fixes.pto"
    text = PROGRAM.replace("pto.alloc_tile", "pto.aloc_tile").replace(
        "unit_flag(check_only) sat", "sat unit_flag(check_only)"
    )
    open_text(client, uri, text)
    document, context = types.TextDocumentIdentifier(uri), types.CodeActionContext([])
    area = types.Range(types.Position(6, 10), types.Position(6, 10))
    (action,) = await client.text_document_code_action_async(types.CodeActionParams(document, area, context))
    (change,) = action.edit.document_changes
    assert action.is_preferred
    mended = applied(text, change.edits)
    assert mended == text.replace("aloc_tile", "alloc_tile")
    area = types.Range(types.Position(17, 0), types.Position(17, 80))
    (action, *_) = await client.text_document_code_action_async(types.CodeActionParams(document, area, context))
    assert "unit_flag(check_only) sat" in applied(mended, action.edit.document_changes[0].edits)
    only = types.CodeActionContext([], [types.CodeActionKind.Refactor])
    assert not await client.text_document_code_action_async(types.CodeActionParams(document, area, only))
