"""The debug adapter, driven by a client over its streams, as editors do."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from debug_dialogues import PROGRAM
from editor_client import Editor, RequestFailed


@pytest.fixture
def editor() -> Iterator[Editor]:
    found = Editor()
    yield found
    assert found.close() == 0


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "k.pto"
    path.write_text(PROGRAM, encoding="utf-8")
    np.save(tmp_path / "a.npy", np.arange(64, dtype=np.float32))
    return path


def launch(editor: Editor, program: Path, **more: Any) -> None:
    args = ["--entry", "k", "--arg", f"a={program.parent / 'a.npy'}", "--arg", "b=zeros:f32:64"]
    editor.ask("launch", program=str(program), args=args, **more)
    editor.wait("initialized")


def line_of(editor: Editor) -> int:
    return editor.ask("stackTrace", threadId=1)["stackFrames"][0]["line"]


def test_a_session(editor: Editor, program: Path) -> None:
    assert editor.capabilities["supportsStepBack"]
    launch(editor, program)
    lines = [{"line": 24, "condition": "%i == 1"}, {"line": 999}, {"line": 4, "condition": "1 +"}]
    answers = editor.ask("setBreakpoints", source={"path": str(program)}, breakpoints=lines)["breakpoints"]
    assert [(one["verified"], one["line"]) for one in answers] == [(True, 24), (False, 999), (False, 4)]
    editor.ask("configurationDone")
    stopped = editor.wait("stopped")
    assert (stopped["reason"], stopped["threadId"]) == ("breakpoint", 1)
    assert editor.ask("threads")["threads"] == [{"id": 1, "name": "block 0 core"}]
    (frame,) = editor.ask("stackTrace", threadId=1)["stackFrames"]
    assert (frame["name"], frame["line"], frame["source"]["path"]) == ("@k [%i = 1] V", 24, str(program))

    scopes = {one["name"]: one["variablesReference"] for one in editor.ask("scopes", frameId=frame["id"])["scopes"]}
    assert list(scopes) == ["Locals", "Arguments", "Pipes", "Operation"]
    values = variables(editor, scopes["Locals"])
    assert values["%i"]["value"] == "1"
    assert values["%x"]["value"] == "tile 4x16 of f32, row_major, at block0.aiv0.ub + 0"
    rows = variables(editor, values["%x"]["variablesReference"])
    numbers = variables(editor, rows["[0]"]["variablesReference"])
    assert [one["value"] for one in numbers.values()][:3] == ["0", "8", "16"]
    assert variables(editor, scopes["Arguments"])["%a"]["value"] == "64 float32"
    assert "pto.tadd" in variables(editor, scopes["Pipes"])["block 0 core V"]["value"] or variables(
        editor, scopes["Pipes"]
    )["block 0 core V"]["value"].startswith("#8 ")
    assert variables(editor, scopes["Operation"])["writes block0.aiv0.ub"]["value"] == "[0, 256)"
    assert editor.ask("evaluate", expression="max(abs(%x))")["result"] == "504"
    content = editor.ask("readMemory", memoryReference=values["%x"]["memoryReference"], count=12)["data"]
    assert np.frombuffer(base64.b64decode(content), np.float32).tolist() == [0, 8, 16]

    for way, line in (("stepIn", 23), ("stepIn", 4), ("stepBack", 23), ("next", 4), ("stepOut", 24)):
        editor.ask(way, threadId=1)
        assert editor.wait("stopped")["reason"] == "step"
        assert line_of(editor) == line
    editor.ask("reverseContinue", threadId=1)
    assert editor.wait("stopped")["reason"] == "breakpoint"
    editor.ask("continue", threadId=1)
    assert editor.wait("stopped")["description"] == "the run is over"
    editor.ask("continue", threadId=1)
    editor.wait("terminated")
    editor.ask("disconnect")
    assert editor.process.wait(30) == 0


def variables(editor: Editor, reference: int) -> dict[str, Any]:
    return {one["name"]: one for one in editor.ask("variables", variablesReference=reference)["variables"]}


def test_operations_bytes_and_nans(editor: Editor, program: Path) -> None:
    values = np.arange(64, dtype=np.float32)
    values[3] = np.nan
    np.save(program.parent / "a.npy", values)
    launch(editor, program, stopOnEntry=True)
    editor.ask("setExceptionBreakpoints", filters=["nan"])
    editor.ask("configurationDone")
    assert editor.wait("stopped")["reason"] == "entry"
    editor.ask("continue", threadId=1)
    assert editor.wait("stopped")["reason"] == "exception"
    assert line_of(editor) == 21
    editor.ask("setExceptionBreakpoints", filters=[])
    names = [{"name": "tmuls"}, {"name": "nothing"}]
    answers = editor.ask("setFunctionBreakpoints", breakpoints=names)["breakpoints"]
    assert [one["verified"] for one in answers] == [True, False]
    editor.ask("continue", threadId=1)
    assert editor.wait("stopped")["reason"] == "breakpoint"
    assert line_of(editor) == 4
    editor.ask("setFunctionBreakpoints", breakpoints=[])
    assert editor.ask("dataBreakpointInfo", name="%nothing")["dataId"] is None
    info = editor.ask("dataBreakpointInfo", name="%t")
    editor.ask("setDataBreakpoints", breakpoints=[{"dataId": info["dataId"]}])
    editor.ask("continue", threadId=1)
    assert editor.wait("stopped")["reason"] == "data breakpoint"
    assert line_of(editor) == 24


def test_what_is_wrong_is_answered(editor: Editor, program: Path, tmp_path: Path) -> None:
    for arguments, says in (
        ({}, "launch needs a program, or a recording"),
        ({"program": str(tmp_path / "gone.pto")}, "gone.pto"),
        ({"program": str(program), "args": [1]}, "args of a launch are texts"),
        ({"recording": str(program)}, "is no recording"),
    ):
        with pytest.raises(RequestFailed, match=says):
            editor.ask("launch", **arguments)
    with pytest.raises(RequestFailed, match="nothing was launched"):
        editor.ask("evaluate", expression="1 + 1")
    with pytest.raises(RequestFailed, match="there is no request dance"):
        editor.ask("dance")
    launch(editor, program)
    with pytest.raises(RequestFailed, match="there is no %nothing here"):
        editor.ask("evaluate", expression="%nothing")
    with pytest.raises(RequestFailed, match="stackTrace: 'threadId'"):
        editor.ask("stackTrace")


def test_a_recording_of_another_program_is_refused(editor: Editor, program: Path, tmp_path: Path) -> None:
    from debug_dialogues import session_of

    session_of(tmp_path).recording.close()
    recording = str(tmp_path / "1.pto-rec")
    program.write_text(PROGRAM + "// changed\n", encoding="utf-8")
    with pytest.raises(RequestFailed, match="is the recording of another program than"):
        editor.ask("launch", recording=recording, program=str(program))
    program.write_text(PROGRAM, encoding="utf-8")
    editor.ask("launch", recording=recording, program=str(program))
    editor.ask("configurationDone")
    assert editor.wait("stopped")["description"] == "the run is over"


def test_an_editor_that_vanishes_ends_the_adapter(program: Path) -> None:
    editor = Editor()
    launch(editor, program)
    assert editor.close() == 0


def test_what_is_no_message_ends_the_adapter() -> None:
    editor = Editor()
    editor.write(b"Content-Length: 3\r\n\r\n[1]")
    assert editor.wait("output")["output"].startswith("error: a message ")
    assert editor.close() == 0
