"""What the server offers at a location, and what it says of the operands that come next."""

from __future__ import annotations

import pytest

pytest.importorskip("pytest_lsp", reason="the client of these tests is pytest-lsp")

from lsprotocol import types

from pto_dialect.ir.clauses import clauses_of
from pto_dialect.ir.core.registry import op_class

pytestmark = pytest.mark.asyncio(loop_scope="module")
HEAD = """\
!tile = !pto.tile_buf<vec, 16x16xf32>
module attributes {pto.target_arch = "a5"} {
  func.func @near(%l: !pto.ptr<f16, l0a>, %acc: !pto.ptr<f32, l0c>, %gm: !pto.ptr<f32>, %n: i64) {
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    scf.if %n {
      %hidden = arith.constant 1 : i64
    }
"""
TAIL = """
    %later = arith.constant 1 : i64
    return
  }
  func.func @far() {
    return
  }
}
"""


async def offered(client, line: str, *, most: int | None = None) -> list[str]:
    """The texts that are offered after ``line``, a line of a function."""
    uri = f"file:///t/completion{hash(line)}.pto"
    client.text_document_did_open(
        types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "pto", 1, HEAD + line + TAIL))
    )
    position = types.Position(HEAD.count("\n"), len(line))
    found = await client.text_document_completion_async(
        types.CompletionParams(types.TextDocumentIdentifier(uri), position)
    )
    return [item.text_edit.new_text for item in found.items][:most]


async def test_a_statement_begins_with_an_operation(client) -> None:
    found = " ".join(await offered(client, "    pto."))
    assert all(f"{name} " in found or f"{name}[" in found for name in ("pto.mad", "pto.set_flag", "pto.alloc_tile"))
    assert "pto.mad " in " ".join(await offered(client, "    pto.ma"))
    with_result = await offered(client, "    %x = pto.vl")
    assert any(text.startswith("pto.vlds") for text in with_result)
    assert not any(text.startswith("pto.set_flag") for text in await offered(client, "    %x = pto.set"))


async def test_values_are_those_in_scope(client) -> None:
    assert sorted(await offered(client, "    pto.mad %")) == ["%acc", "%gm", "%l", "%n"]


async def test_clauses_are_offered_in_their_order_only(client) -> None:
    start = "    pto.mad %l, %l, %acc, %n, %n, %n "
    rows = [taken.keyword for taken in clauses_of(op_class("pto.mad"))]
    found = [text.partition("(")[0] for text in await offered(client, start)]
    assert [word for word in dict.fromkeys(found) if word in rows] == [word for word in rows if word in found]
    assert found[0] == "unit_flag"
    behind = await offered(client, start + "sat ")
    assert "nosat" not in behind
    assert not any(text.startswith("unit_flag") for text in behind)
    assert "n_dir" in behind
    assert await offered(client, start + "unit_flag(") == ["check_only", "check_and_set"]


async def test_clauses_of_write_backs_take_keywords_by_name(client) -> None:
    start = "    pto.mte_l0c_gm %acc, %gm, %n, %n, %n, %n, %n, %n, "
    assert "normal_relu" in await offered(client, start + "pre_relu(mode = ")
    assert await offered(client, start + "pre_relu(") == ["mode = ", "clip = "]
    behind = await offered(client, start + "nz2nd, ")
    assert any(text.startswith("loop3(") for text in behind)
    assert not any(text.startswith("unit_flag") for text in behind)


async def test_pipes_and_events_are_in_brackets(client) -> None:
    assert "<PIPE_MTE1>" in await offered(client, "    pto.set_flag[")
    assert (await offered(client, "    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <"))[0] == "<EVENT_ID1>"
    assert (await offered(client, "    pto.set_flag[<PIPE_MTE1>, <PIPE_M>, <"))[0] == "<EVENT_ID0>"
    assert (await offered(client, "    pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, "))[0] == "<EVENT_ID0>"
    assert "<PIPE_ALL>" in await offered(client, "    pto.barrier ")


async def test_attributes_have_keys_and_keywords(client) -> None:
    assert await offered(client, "    pto.tcvt ins(%n {") == ["rmode = ", "sat_mode = "]
    assert "#pto<round_mode RINT>" in await offered(client, "    pto.tcvt ins(%n {rmode = ")
    assert '"PAT_ALL"' in await offered(client, "    %m = pto.pset_b32 ")


async def test_groups_of_operands_come_in_their_order(client) -> None:
    assert (await offered(client, "    pto.tload "))[0] == "ins("
    assert (await offered(client, "    pto.tload ins(%gm : !pto.ptr<f32>) "))[0] == "outs("
    assert not any(text.startswith("!") for text in await offered(client, "    pto.tabs ins(%n : i64) outs("))


async def test_an_operand_that_fits_comes_first(client) -> None:
    assert (await offered(client, "    %x = pto.addptr "))[0] in ("%gm", "%acc", "%l")
    assert (await offered(client, "    %x = pto.addptr %gm, "))[0] == "%n"
    assert (await offered(client, "    %x = arith.addi "))[0] == "%n"


async def test_a_list_of_types_begins_with_that_of_the_value(client) -> None:
    assert (await offered(client, "    %x = arith.addi %n, %n : "))[0] == "i64"
    assert (await offered(client, "    %x = pto.addptr %gm, %n : "))[0] == "!pto.ptr<f32, gm>"
    assert (await offered(client, "    %x = pto.alloc_tile : "))[0] == "!tile"


async def test_words_of_other_dialects(client) -> None:
    assert (await offered(client, "    %x = arith.cmpi "))[:3] == ["eq", "ne", "slt"]
    assert await offered(client, "    %x = arith.constant ") == []
    assert await offered(client, "    scf.for %i = %n ") == ["to"]
    assert await offered(client, "    scf.for %i = %n to %n step %n ") == ["iter_args("]


async def test_an_enumerator_after_its_mark_is_one_of_the_key(client) -> None:
    found = await offered(client, "    pto.tcvt ins(%n {rmode = #")
    assert "#pto<round_mode RINT>" in found
    assert all(text.startswith("#pto<round_mode ") for text in found)


async def test_keys_of_a_tile_follow_its_bracket(client) -> None:
    found = await offered(client, "    %t = pto.alloc_tile : !pto.tile_buf<")
    assert "<vec" in found
    assert "<loc=" in found


async def test_types_functions_and_nothing_in_remarks(client) -> None:
    assert (await offered(client, "    pto.tabs ins(%n : !"))[0] == "!tile"
    assert await offered(client, "    func.call @") == ["@near", "@far"]
    assert await offered(client, "    // pto.") == []


async def test_the_operand_that_comes_next_is_reported(client) -> None:
    uri = "file:///t/signature.pto"
    line = "    pto.mad %l, %l, "
    client.text_document_did_open(
        types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "pto", 1, HEAD + line + TAIL))
    )
    found = await client.text_document_signature_help_async(
        types.SignatureHelpParams(types.TextDocumentIdentifier(uri), types.Position(HEAD.count("\n"), len(line)))
    )
    label = found.signatures[0].label
    start, end = found.signatures[0].parameters[found.active_parameter].label
    assert label.startswith("pto.mad %lhs, %rhs, %dst")
    assert label[start:end] == "%dst"


async def test_an_operation_that_is_looked_at_has_its_page(client) -> None:
    item = await client.completion_item_resolve_async(types.CompletionItem("pto.mad", data="pto.mad"))
    assert "**pto.mad**" in item.documentation.value
