"""Witnesses are replayed by sanitized runs. Source: docs/prove.md, "A run of the witness"."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner
from order_programs import FOLDER
from sampling import sampled

from pto_dialect.api import parse
from pto_dialect.driver.prove.replay import Outcome, Replay, replay
from pto_dialect.prove.decide import Verdict
from pto_dialect.prove.functions import verdicts

pytest.importorskip("islpy", reason="the prover needs islpy (extra prove)")

MAIN = import_module("pto_dialect.tools.pto_prove").main
RACE = """\
func.func @race(%p: !pto.partition_tensor_view<16x16xf32>, %g: !pto.ptr<f32, gm>, %n: index) {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %a0 = arith.constant 0 : i64
  %t = pto.alloc_tile addr = %a0 : !pto.tile_buf<vec, 16x16xf32>
  pto.tload ins(%p : !pto.partition_tensor_view<16x16xf32>) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
  BODY
  return
}
"""
TILE = "!pto.tile_buf<vec, 16x16xf32>"
SIGNAL = "!pto.partition_tensor_view<1x1xi32>"
ADD = f"pto.tadd ins(%t, %t : {TILE}, {TILE}) outs(%t : {TILE})"


def refuted(body: str) -> Verdict:
    (verdict,) = verdicts(parse('module attributes {pto.target_arch = "a5"} {\n' + RACE.replace("BODY", body) + "}\n"))
    assert verdict.witness is not None
    return verdict


def shown(verdict: Verdict, **options: float) -> Replay:
    found = replay(verdict, None, **options)
    assert found is not None
    return found


@pytest.mark.parametrize("path", sampled(sorted(FOLDER.glob("*.pto")), 2), ids=lambda path: path.stem)
def test_each_witness_of_the_known_programs_is_confirmed(path: Path) -> None:
    found = [(one, replay(one, None, 1.0)) for one in verdicts(parse(path.read_text(encoding="utf-8"), str(path)))]
    assert {one.name: run.text for one, run in found if run and run.outcome is not Outcome.CONFIRMED} == {}


def test_proof_is_not_run() -> None:
    (verdict,) = verdicts(parse("func.func @empty() {\n  return\n}\n"))
    assert replay(verdict, None) is None


def test_race_is_shown_with_the_argument_of_the_witness() -> None:
    found = shown(refuted(f"%c = arith.cmpi eq, %n, %c5 : index\n  scf.if %c {{\n  {ADD}\n  }}"))
    assert (found.outcome, found.schedule, found.rule) == (Outcome.CONFIRMED, "text", "race-raw")


def test_run_with_another_argument_shows_nothing() -> None:
    verdict = refuted(f"%c = arith.cmpi eq, %n, %c5 : index\n  scf.if %c {{\n  {ADD}\n  }}")
    assert verdict.witness is not None
    other = replace(verdict, witness=replace(verdict.witness, arguments={"n": 4}))
    found = shown(other)
    assert (found.outcome, found.reason) == (Outcome.NOT_SHOWN, "it reports nothing under 6 schedules")


def test_buffers_of_a_call_that_waits_for_memory_hold_ones() -> None:
    one = "%k = arith.constant 1 : i32"
    wait = f"pto.comm.twait(%s, %k : {SIGNAL}, i32) {{cmp = #pto<wait_cmp ge>}}"
    text = RACE.replace("BODY", f"{ADD}\n  return").replace("%c0 =", f"{one}\n  {wait}\n  %c0 =", 1)
    text = text.replace("%n: index", f"%s: {SIGNAL}").replace("return\n  return", "return")
    (verdict,) = verdicts(parse('module attributes {pto.target_arch = "a5"} {\n' + text + "}\n"))
    found = shown(verdict)
    assert found.text == "confirmed by a run on 1 block, ones in integer buffers, schedule text: race-raw"
    # A wait for a number that no buffer holds ends both.
    (verdict,) = verdicts(
        parse('module attributes {pto.target_arch = "a5"} {\n' + text.replace("1 : i32", "2 : i32") + "}\n")
    )
    assert shown(verdict).reason == "it reports sync-deadlock of other operations under 6 schedules"


def test_finding_about_other_operations_confirms_nothing() -> None:
    first = refuted(ADD)
    load = ADD.replace("tadd", "tmul")
    (verdict,) = verdicts(
        parse('module attributes {pto.target_arch = "a5"} {\n' + RACE.replace("BODY", f"{load}\n  {ADD}") + "}\n")
    )
    assert first.witness is not None
    found = shown(replace(verdict, witness=first.witness))
    assert found.outcome is Outcome.NOT_SHOWN
    assert found.reason is not None and "of other operations" in found.reason


def test_buffer_has_the_bytes_that_the_call_touches() -> None:
    far = "%far = arith.constant 3000000 : index\n  %one = arith.constant 1.0 : f32\n"
    found = shown(refuted(f"{ADD}\n  {far}  pto.store_scalar %one, %g[%far] : !pto.ptr<f32, gm>, f32"))
    assert found.outcome is Outcome.CONFIRMED


def test_call_that_does_not_fit_is_not_run() -> None:
    far = "%far = arith.constant 30000000000 : index\n  %one = arith.constant 1.0 : f32\n"
    verdict = refuted(f"{far}  pto.store_scalar %one, %g[%far] : !pto.ptr<f32, gm>, f32\n  {ADD}")
    found = shown(verdict)
    assert found.outcome is Outcome.NOT_RUN
    assert found.text.startswith("not run: ")


def test_long_call_is_judged_by_its_beginning() -> None:
    loop = "%c1 = arith.constant 1 : index\n  %big = arith.constant 9000000000 : index\n"
    found = shown(refuted(f"{loop}  scf.for %i = %c0 to %big step %c1 {{\n  {ADD}\n  }}"), seconds=0.4)
    assert (found.outcome, found.rule) == (Outcome.CONFIRMED, "race-raw")


def test_call_that_needs_many_blocks_is_not_run() -> None:
    body = (
        "%b = pto.get_block_idx\n  %k = arith.constant 900 : i64\n"
        f"  %c = arith.cmpi eq, %b, %k : i64\n  scf.if %c {{\n  {ADD}\n  }}"
    )
    found = shown(refuted(body))
    assert (found.outcome, found.text) == (Outcome.NOT_RUN, "not run: it needs 901 blocks, and 64 are run")


def test_numbers_that_launchers_pass_are_those_of_a_launch() -> None:
    body = (
        "%k = arith.constant 3 : i32\n"
        f"  %c = arith.cmpi eq, %__pypto_spmd_block_idx, %k : i32\n  scf.if %c {{\n  {ADD}\n  }}"
    )
    text = RACE.replace("BODY", body).replace("%n: index", "%__pypto_spmd_block_idx: i32")
    (verdict,) = verdicts(parse(text))
    assert verdict.witness is not None and verdict.witness.arguments["block_idx"] == 3
    assert shown(verdict).blocks == 4
    assert shown(verdict).outcome is Outcome.CONFIRMED


def test_reports_have_the_run(tmp_path: Path) -> None:
    path = tmp_path / "race.pto"
    path.write_text(RACE.replace("BODY", ADD), encoding="utf-8")

    def report(*options: str) -> str:
        return CliRunner().invoke(MAIN, [str(path), *options]).stdout

    assert "note: confirmed by a run on 1 block, schedule text: race-" in report()
    assert "confirmed" not in report("--no-replay")
    (entry,) = json.loads(report("--output-format", "json"))["functions"]
    assert entry["witness"]["run"] == {
        **{"outcome": "confirmed", "blocks": 1, "schedule": "text", "reason": None, "contents": "zeros"},
        "rule": entry["witness"]["run"]["rule"],
    }
    (entry,) = json.loads(report("--output-format", "json", "--no-replay"))["functions"]
    assert entry["witness"]["run"] is None
    assert re.search("confirmed by a run", report("--output-format", "sarif"))
