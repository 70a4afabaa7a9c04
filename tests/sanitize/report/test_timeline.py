"""Timelines: how long instructions take in the simple model, and when signals come."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions
from pto_dialect.sanitize.report.timeline import Ran, Timeline
from pto_dialect.syntax.read.parser import parse_program

BYTES = {"S": 8, "V": 256, "M": 4096, "MTE1": 256, "MTE2": 64, "MTE3": 64, "FIX": 128}
"""Bytes that a pipe moves in one unit of time."""


def thread(pipe: str, core: Any = None) -> Any:
    core = core or SimpleNamespace(name="AIV0", block=SimpleNamespace(index=3))
    return SimpleNamespace(pipe=f"PIPE_{pipe}", core=core, time=10.0)


SITE: Any = SimpleNamespace(name="pto.x", line_text="line 4", loops=("i",))


@pytest.mark.parametrize("pipe", BYTES)
def test_durations(pipe: str) -> None:
    assert Timeline(costs=False).duration(thread(pipe), 4096) == 1.0
    for size in (0, 256, 65536):
        assert Timeline(costs=True).duration(thread(pipe), size) == 64 + size / BYTES[pipe]


def test_a_signal_starts_where_it_is_sent_and_ends_where_it_is_taken() -> None:
    timeline = Timeline(costs=False)
    sender, receiver = thread("MTE2"), thread("V")
    flow = timeline.sent(sender, SITE, (2,))
    assert sender.time == 10.25
    receiver.time = 12.0
    timeline.taken(receiver, SITE, (2,), 11.0, flow)
    assert receiver.time == 12.25
    assert timeline.sent(sender, SITE, (2,)) == flow + 1
    events = json.loads(timeline.document([]))["traceEvents"]
    start, end = (next(e for e in events if e["ph"] == phase) for phase in "sf")
    assert (start["name"], start["cat"], start["id"], start["ts"]) == ("signal", "signal", flow, 10.0)
    assert (end["name"], end["cat"], end["id"], end["ts"], end["bp"]) == ("signal", "signal", flow, 12.0, "e")
    slices = [e for e in events if e["ph"] == "X"]
    # The time from 11 to 12 is no slice: the pipe does nothing.
    assert [(s["ts"], s["dur"]) for s in slices] == [(10.0, 0.25), (12.0, 0.25), (10.25, 0.25)]
    assert [s["args"].get("waited") for s in slices] == [None, 1.0, None]


def test_times_of_the_cycle_model_are_microseconds() -> None:
    timeline = Timeline(costs=False)
    timeline.microseconds = 1 / 1650
    timeline.operation(thread("V"), SITE, Ran((5,), 3300.0, 825.0))
    (slice_,) = (e for e in json.loads(timeline.document([]))["traceEvents"] if e["ph"] == "X")
    assert (slice_["ts"], slice_["dur"]) == (pytest.approx(2.0), pytest.approx(0.5))


def test_labels_of_operations_and_rows() -> None:
    timeline = Timeline(costs=False)
    timeline.operation(thread("V"), SITE, Ran((5,), 1.0, 2.0))
    events = json.loads(timeline.document([]))["traceEvents"]
    slice_ = events[-1]
    assert slice_["name"] == "pto.x (line 4), %i = 5"
    assert slice_["args"] == {"operation": "pto.x", "place": "line 4", "core": "AIV0", "block": 3, "%i": 5}
    rows = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert sorted(rows.values()) == sorted(BYTES) and rows[slice_["tid"]] == "V"
    assert [e["args"]["name"] for e in events if e["name"] == "process_name"] == ["block 3 AIV0"]


def test_cores_have_processes_of_their_own() -> None:
    timeline = Timeline(costs=False)
    other = SimpleNamespace(name="AIC", block=SimpleNamespace(index=0))
    for one in (thread("V"), thread("M", other), thread("FIX", other)):
        timeline.operation(one, SITE, Ran((0,), 0.0, 1.0))
    slices = [e for e in json.loads(timeline.document([]))["traceEvents"] if e["ph"] == "X"]
    assert slices[0]["pid"] != slices[1]["pid"] == slices[2]["pid"]


def test_findings_are_located_at_the_start_of_the_operation() -> None:
    timeline = Timeline(costs=False)
    timeline.operation(thread("V"), SITE, Ran((0,), 7.0, 1.0, events=(41,)))
    shown: Any = SimpleNamespace(event=41, rule="race-raw", message="a race")
    elsewhere: Any = SimpleNamespace(event=5, rule="race-war", message="another")
    instants = [e for e in json.loads(timeline.document([shown, elsewhere]))["traceEvents"] if e["ph"] == "i"]
    assert [(e["name"], e["ts"], e["cat"], e["args"]) for e in instants] == [
        ("race-raw", 7.0, "finding", {"message": "a race"})
    ]


SCOPE = """pto.vecscope {
      %m, %rest = pto.plt_b32 %n : i32 -> !pto.mask<b32>, i32
      %v = pto.vdup %n, %m : i32, !pto.mask<b32> -> !pto.vreg<64xi32>
    }"""
ITEMS = """pto.section.simt<<<64, 1, 1>>> {
      %tid = pto.get_tid_x : i32
    }"""


@pytest.mark.parametrize("body", [SCOPE, ITEMS], ids=["vecscope", "section.simt"])
def test_a_scope_is_an_instruction_of_its_own(body: str) -> None:
    """Also where nothing is before it."""
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @k(%n: i32) attributes {{pto.kernel}} {{
    {body}
    pto.set_flag["PIPE_V", "PIPE_S", "EVENT_ID0"]
    pto.wait_flag["PIPE_V", "PIPE_S", "EVENT_ID0"]
    {body}
    return
  }}
}}"""
    module = parse_program(SourceFile("k.pto", text), DiagnosticEngine())
    assert module is not None
    timeline = Timeline(costs=False)
    InstrumentedKernel(module, None, None, RunOptions(), SanitizeOptions(sync="strict"), timeline).run([64])
    labels = [e["name"] for e in json.loads(timeline.document([]))["traceEvents"] if e["ph"] == "X"]
    name = body.split()[0].partition("<")[0]
    second = 6 + len(body.splitlines()) - 1
    assert [label for label in labels if label.startswith(name)] == [f"{name} (line 3)", f"{name} (line {second})"]
