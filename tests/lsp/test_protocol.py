"""What the server answers to a client that does not keep to the protocol."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="the language server needs it")

from lsp_session import Session

DOCUMENT = {"textDocument": {"uri": "file:///t/a.pto"}}


@pytest.fixture(scope="module")
def session():
    running = Session()
    yield running
    assert running.end() == 0


def test_requests_before_the_beginning_and_after_the_end_are_refused() -> None:
    early = Session(initialize=False)
    assert early.request("textDocument/foldingRange", DOCUMENT)["error"]["code"] == -32002
    early.open("file:///t/a.pto", "retur")
    assert "result" in early.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    assert (
        early.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})["error"]["code"] == -32600
    )
    early.request("shutdown", None)
    assert early.request("textDocument/foldingRange", DOCUMENT)["error"]["code"] == -32600
    early.notify("exit", None)
    assert early.ended() == 0


def test_an_end_without_notice_is_a_failure() -> None:
    sudden, gone = Session(), Session(initialize=False)
    sudden.notify("exit", None)
    assert [sudden.ended(), gone.ended()] == [1, 1]


@pytest.mark.parametrize(
    "parameters", [{"textDocument": 5}, {}, [1], {"textDocument": {"uri": "x"}, "position": "here"}]
)
def test_wrong_parameters_are_reported(session: Session, parameters: object) -> None:
    assert session.request("textDocument/hover", parameters)["error"]["code"] == -32602


def test_what_is_no_request_of_the_protocol_is_reported(session: Session) -> None:
    assert session.request("textDocument/cook", {})["error"]["code"] == -32601


def test_positions_outside_of_a_document_are_taken_for_its_ends(session: Session) -> None:
    session.open("file:///t/b.pto", "func.func @f() {\n  return\n}\n")
    assert session.diagnostics("file:///t/b.pto", 1) == []
    far = {"start": {"line": 900, "character": 0}, "end": {"line": 901, "character": 5}}
    session.change("file:///t/b.pto", 2, {"range": far, "text": "retur"})
    (found,) = session.diagnostics("file:///t/b.pto", 2)
    assert found["range"]["start"] == {"line": 3, "character": 0}


def test_a_document_may_be_replaced_as_a_whole(session: Session) -> None:
    session.open("file:///t/c.pto", "retur\n")
    session.change("file:///t/c.pto", 2, {"text": "func.func @f() {\n  return\n}\n"})
    assert session.diagnostics("file:///t/c.pto", 2) == []


def test_the_target_is_a_setting() -> None:
    program = "func.func @f(%a: !pto.ptr<f16, l0a>, %b: !pto.ptr<f16, l0b>, %c: !pto.ptr<f32, l0c>, %n: i64) {\n"
    program += "  pto.mad %a, %b, %c, %n, %n, %n : !pto.ptr<f16, l0a>, !pto.ptr<f16, l0b>, !pto.ptr<f32, l0c>, "
    program += "i64, i64, i64\n  return\n}\n"
    chosen = Session(options={"target": "a3"})
    chosen.open("file:///t/d.pto", program)
    assert "mad-target" in [found["code"] for found in chosen.diagnostics("file:///t/d.pto", 1)]
    chosen.notify("workspace/didChangeConfiguration", {"settings": {"pto": {"target": "a5"}}})
    assert chosen.diagnostics("file:///t/d.pto", 1) == []
    assert chosen.end() == 0


def test_comments_and_the_project_allow_findings(session: Session, tmp_path: Path) -> None:
    text = "func.func @f(%a: i32) attributes {pto.odd} { // pto: allow(attr-unknown) because a test\n  return\n}\n"
    session.open("file:///t/allowed.pto", text)
    assert session.diagnostics("file:///t/allowed.pto", 1) == []
    session.open("file:///t/unused.pto", text.replace(" attributes {pto.odd}", ""))
    assert [one["code"] for one in session.diagnostics("file:///t/unused.pto", 1)] == ["suppression-unused"]
    (tmp_path / "pto.toml").write_text('deny = ["attr-unknown"]\n', encoding="utf-8")
    uri = (tmp_path / "denied.pto").as_uri()
    session.open(uri, text.partition(" //")[0] + "\n  return\n}\n")
    assert [(one["code"], one["severity"]) for one in session.diagnostics(uri, 1)] == [("attr-unknown", 1)]
