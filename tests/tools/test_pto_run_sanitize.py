"""``pto-run --sanitize`` and its options."""

import json
from pathlib import Path

import pytest
from sanitize_programs import load, program, set_flag, store, ub, wait_flag

X = ub("x", 0)
RACE = program(X, load("%x"), set_flag("MTE3", "MTE2"), store("%x"))
GOOD = program(X, load("%x"), set_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3"), store("%x"))
ARGUMENTS = ("--arg", "a=ones:f32:64", "--arg", "b=zeros:f32:64")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "race.pto").write_text(RACE)
    (tmp_path / "good.pto").write_text(GOOD)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_error_is_exit_code_3(pto_run, files: Path):
    outcome = pto_run.raw("--sanitize", "race.pto", *ARGUMENTS, "--out", "b=b.npy")
    assert outcome.code == 3
    assert "race.pto:" in outcome.err and "[race-raw]" in outcome.err and "[sync-flag-unconsumed]" in outcome.err
    assert not (files / "b.npy").exists()


def test_without_findings_all_is_as_always(pto_run, files: Path):
    outcome = pto_run.raw("good.pto", "--sanitize", *ARGUMENTS, "--out", "b=b.npy")
    assert outcome.code == 0 and all(line.startswith("not checked: ") for line in outcome.err.splitlines())
    assert (files / "b.npy").exists()
    assert outcome.out == pto_run.raw("good.pto", *ARGUMENTS, "--out", "b=b.npy").out


@pytest.mark.parametrize("checks, code", [("race", 3), ("init,bounds", 0), ("sync", 0)])
def test_checks_are_chosen(pto_run, files: Path, checks: str, code: int):
    assert pto_run.raw("race.pto", f"--sanitize={checks}", *ARGUMENTS).code == code


def test_an_unknown_check_is_a_mistake_of_the_command_line(pto_run, files: Path):
    outcome = pto_run.raw("race.pto", "--sanitize=races", *ARGUMENTS)
    assert outcome.code == 2 and "no check 'races'" in outcome.err


def test_warnings_change_the_exit_code_on_request_only(pto_run, files: Path):
    assert pto_run.raw("race.pto", "--sanitize=sync", *ARGUMENTS).code == 0
    assert pto_run.raw("race.pto", "--sanitize=sync", "--werror", "--allow=sync-unpaired", *ARGUMENTS).code == 3


def test_strict_checks_programs_without_flags(pto_run, files: Path):
    (files / "plain.pto").write_text(program(X, load("%x"), store("%x")))
    assert pto_run.raw("plain.pto", "--sanitize", *ARGUMENTS).code == 0
    assert pto_run.raw("plain.pto", "--sanitize", "--sync", "strict", *ARGUMENTS).code == 3


def test_the_report_as_json_and_sarif(pto_run, files: Path):
    pto_run.raw("race.pto", "--sanitize", *ARGUMENTS, "--report", "report.json")
    document = json.loads((files / "report.json").read_text())
    assert document["counts"]["errors"] == 1 and document["counts"]["warnings"] == 1
    race = next(d for d in document["diagnostics"] if d["rule"] == "race-raw")
    assert race["location"]["file"] == "race.pto" and race["notes"][0]["location"] is not None
    pto_run.raw("race.pto", "--sanitize", *ARGUMENTS, "--report", "report.sarif")
    log = json.loads((files / "report.sarif").read_text())
    assert log["runs"][0]["tool"]["driver"]["name"] == "pto-run"
    assert {result["ruleId"] for result in log["runs"][0]["results"]} == {"race-raw", "sync-flag-unconsumed"}


def test_fewer_findings_can_be_shown(pto_run, files: Path):
    lines = [ub("y", 256), load("%x"), load("%y"), set_flag("MTE3", "MTE2"), store("%x"), store("%y", "%b2")]
    text = program(X, "%b2 = pto.addptr %b, %i32 : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>", *lines)
    (files / "two.pto").write_text(text.replace("%i0 =", "%i32 = arith.constant 32 : index\n    %i0 =", 1))
    outcome = pto_run.raw("two.pto", "--sanitize", "--sanitize-max", "1", *ARGUMENTS)
    assert outcome.err.count("[race-raw]") == 1 and "1 more error not shown" in outcome.err


def test_a_comment_allows_a_finding(pto_run, files: Path):
    allowed = RACE.replace(
        "    pto.mte_ub_gm", "    // pto-sanitize: allow race-raw %x does not change\n    pto.mte_ub_gm"
    )
    (files / "allowed.pto").write_text(allowed)
    assert pto_run.raw("allowed.pto", "--sanitize", *ARGUMENTS).code == 0
    (files / "broken.pto").write_text(
        RACE.replace("    pto.mte_ub_gm", "    // pto-sanitize: race-raw\n    pto.mte_ub_gm")
    )
    outcome = pto_run.raw("broken.pto", "--sanitize", *ARGUMENTS)
    assert outcome.code == 2 and "allow RULE REASON" in outcome.err


@pytest.mark.parametrize(
    "line, code",
    [
        ("race-raw race.pto the values are equal", 0),
        ("race-* *.pto everything", 0),
        ("race-war race.pto another rule", 3),
        ("race-raw race.pto:3 another line", 3),
        ("race-raw other.pto another file", 3),
        ("race-raw", 2),
    ],
)
def test_a_file_allows_findings(pto_run, files: Path, line: str, code: int):
    (files / "allowed.txt").write_text(f"# accepted\n{line}\n")
    assert pto_run.raw("race.pto", "--sanitize", "--suppressions", "allowed.txt", *ARGUMENTS).code == code


def test_the_timeline(pto_run, files: Path):
    """Slices of a track do not overlap, and the store starts after the load has ended."""
    pto_run.raw("race.pto", "--sanitize", "--trace", "race.json", *ARGUMENTS)
    pto_run.raw("good.pto", "--trace", "good.json", "--trace-costs", *ARGUMENTS)
    events = json.loads((files / "good.json").read_text())["traceEvents"]
    slices = {e["args"]["operation"]: e for e in events if e["ph"] == "X"}
    assert all(e["args"]["core"] == "core" and e["args"]["block"] == 0 for e in slices.values())
    assert slices["pto.mte_gm_ub"]["name"].startswith("pto.mte_gm_ub (line ")
    first, second = slices["pto.mte_gm_ub"], slices["pto.mte_ub_gm"]
    assert second["ts"] >= first["ts"] + first["dur"] and first["tid"] != second["tid"]
    flows = [e for e in events if e.get("cat") == "signal"]
    assert [e["ph"] for e in flows] == ["s", "f"] and flows[0]["id"] == flows[1]["id"]
    instants = [e["name"] for e in json.loads((files / "race.json").read_text())["traceEvents"] if e["ph"] == "i"]
    assert instants == ["race-raw"]


def test_the_plain_source_does_not_know_of_the_sanitizers(pto_run, files: Path):
    source = pto_run.raw("good.pto", "--emit-python", *ARGUMENTS).out
    assert "core.at(" not in source and "core.wait_flag(" in source
    assert "core.at(" in pto_run.raw("good.pto", "--emit-python", "--sanitize", *ARGUMENTS).out


def test_a_run_that_was_stopped_has_no_results(pto_run, files: Path):
    """Also where the violation itself is accepted."""
    (files / "allowed.txt").write_text("mem-oob * known\n")
    short = ("--arg", "a=ones:f32:64", "--arg", "b=zeros:f32:15")
    outcome = pto_run.raw("good.pto", "--sanitize", "--suppressions", "allowed.txt", *short, "--out", "b=b.npy")
    assert (outcome.code, outcome.out) == (3, "") and not (files / "b.npy").exists()


def test_what_does_not_go_together(pto_run, files: Path):
    outcome = pto_run.raw("good.pto", "--sanitize", "--profile", *ARGUMENTS)
    assert outcome.code == 2 and "--profile" in outcome.err


def test_launch_files_under_sanitizers(pto_run, files: Path):
    """Each launch is instrumented; the comments of the program count, the report is that of one launch file."""
    for name in ("good", "race"):
        (files / f"{name}.launch.toml").write_text('entry = "k"\n[arguments]\na = "ones:f32:64"\nb = "zeros:f32:64"\n')
    assert pto_run.raw("good.launch.toml", "--sanitize").code == 0
    outcome = pto_run.raw("race.launch.toml", "--sanitize")
    assert outcome.code == 3 and "[race-raw]" in outcome.err
    both = pto_run.raw(".", "--sanitize")
    assert both.code == 3 and "1 passed" in both.out + both.err and "1 found" in both.out + both.err
    assert pto_run.raw("race.launch.toml").code == 0
    assert pto_run.raw("race.launch.toml", "--sanitize", "--report", "r.json").code == 3
    assert "race-raw" in [one["rule"] for one in json.loads((files / "r.json").read_text())["diagnostics"]]
    assert pto_run.raw(".", "--sanitize", "--report", "r.json").code == 2
