"""The forms in which pto-opt reports, and what it reports about itself."""

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import pto_dialect
from pto_dialect.verify.engine.rule import PASSES, RULES, load_all_rules
from run_lines import CommandResult, run_command

GOOD = "func.func @f() {\n  return\n}\n"
TWO_FINDINGS = 'func.func @f() {\n  "foo.bar"() : () -> ()\n  return %x : i32\n}\n'
ESCAPE = "\x1b["


def opt(*arguments: str, stdin: str = "") -> CommandResult:
    result = run_command("pto-opt", arguments, stdin.encode())
    assert not result.crashed, result.stderr.decode()
    return result


# ---------------------------------------------------------------- diagnostics


def test_json() -> None:
    result = opt("--diagnostics-format", "json", stdin=TWO_FINDINGS)
    assert (result.exit_code, result.stdout) == (1, b"")
    document: dict[str, Any] = json.loads(result.stderr)
    assert document["version"] == 1
    assert document["counts"] == {"errors": 1, "warnings": 1, "infos": 0, "hidden_errors": 0}
    warning, error = document["diagnostics"]
    assert (warning["rule"], warning["severity"]) == ("dialect-unregistered", "warning")
    assert (error["rule"], error["severity"]) == ("name-undefined", "error")
    assert error["location"]["file"] == "<stdin>"
    assert error["location"]["start"] == {"line": 3, "column": 10}


def test_json_says_that_nothing_was_found() -> None:
    result = opt("--diagnostics-format", "json", stdin=GOOD)
    assert result.exit_code == 0 and b"func.func" in result.stdout
    assert json.loads(result.stderr)["diagnostics"] == []


def test_sarif() -> None:
    result = opt("--diagnostics-format", "sarif", stdin=TWO_FINDINGS)
    assert result.exit_code == 1
    (run,) = json.loads(result.stderr)["runs"]
    assert run["tool"]["driver"]["version"] == pto_dialect.__version__
    load_all_rules()
    for described in run["tool"]["driver"]["rules"]:
        assert described["shortDescription"]["text"] == RULES[described["id"]].text
    assert [found["level"] for found in run["results"]] == ["warning", "error"]


def test_one_document_for_many_inputs(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.pto").write_text(TWO_FINDINGS)
    document = json.loads(opt(str(tmp_path), "--diagnostics-format", "json").stderr)
    assert document["counts"]["errors"] == 2
    files = [Path(found["location"]["file"]).name for found in document["diagnostics"]]
    assert files == ["a.pto", "a.pto", "b.pto", "b.pto"]


def test_mismatched_expectations_as_json() -> None:
    result = opt("--verify-diagnostics", "--diagnostics-format", "json", stdin=TWO_FINDINGS)
    found = json.loads(result.stderr)
    assert [item["rule"] for item in found["diagnostics"]] == ["unexpected-diagnostic"] * 2
    assert found["counts"]["errors"] == 2


@pytest.mark.parametrize(("choice", "colored"), [("always", True), ("never", False), ("auto", False)])
def test_color(choice: str, colored: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    result = opt("--color", choice, stdin=TWO_FINDINGS)
    assert (ESCAPE in result.stderr.decode()) == colored
    assert ESCAPE not in opt("--color", choice, stdin=GOOD).stdout.decode()


def test_color_in_the_report_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.pto").write_text(TWO_FINDINGS)
    assert ESCAPE in opt(str(tmp_path), "--color=always").stderr.decode()


# ---------------------------------------------------------------- rules


def test_all_rules_are_listed() -> None:
    load_all_rules()
    head, *rows = opt("--list-rules").stdout.decode().splitlines()
    assert head.split() == ["rule", "severity", "pass", "demands"]
    cells = [re.split(r"\s\s+", row, maxsplit=3) for row in rows]
    listed = {id: (severity, stage, text) for id, severity, stage, text in cells}
    assert listed == {rule.id: (rule.severity.label, rule.stage, rule.text) for rule in RULES.values()}
    assert [row[0] for row in cells] == sorted(listed)


def test_all_rules_as_json() -> None:
    load_all_rules()
    result = opt("--list-rules", "--diagnostics-format", "json")
    document = json.loads(result.stdout)
    assert document["version"] == 1
    assert {rule["id"] for rule in document["rules"]} == set(RULES)
    for listed in document["rules"]:
        rule = RULES[listed["id"]]
        assert listed["severity"] == rule.severity.label
        assert (listed["pass"], listed["text"], listed["source"]) == (rule.stage, rule.text, rule.source)


def test_a_rule_is_explained_with_programs_that_do_as_said() -> None:
    text = opt("--explain", "mad-space").stdout.decode()
    assert text.startswith("mad-space: ")
    assert re.search(r"^severity +error$", text, re.MULTILINE)
    assert re.search(r"^pass +verify-locations$", text, re.MULTILINE)
    assert re.search(r"^source +docs/reference/constraints\.md, \"Products on pointers\"$", text, re.MULTILINE)
    broken, right = re.findall(r"^    (?:!|module)(?:.*\n(?:    .*\n)*)", text, re.MULTILINE)
    assert "[mad-space]" in opt(stdin=broken).stderr.decode()
    assert opt(stdin=right).exit_code == 0
    assert "error: " in text and "[mad-space]" in text


def test_every_rule_can_be_explained() -> None:
    load_all_rules()
    from pto_dialect.driver.explain.rules import explain

    for rule in RULES.values():
        text = explain(rule)
        assert rule.id in text and rule.text in text and rule.source in text


@pytest.mark.parametrize(
    ("id", "hint"),
    [("mad-spce", "did you mean mad-space"), ("x", "list all names"), ("", "list all names")],
)
def test_what_is_unknown_cannot_be_explained(id: str, hint: str) -> None:
    result = opt("--explain", id)
    assert (result.exit_code, result.stdout) == (2, b"")
    assert f"there is nothing called '{id}'" in result.stderr.decode() and hint in result.stderr.decode()


# ---------------------------------------------------------------- the command itself


def test_version() -> None:
    result = opt("--version")
    assert re.fullmatch(
        rf"pto-opt {re.escape(pto_dialect.__version__)} \(xDSL [\d.]+, reference release 0\.64, Python [\d.]+\w*\)\n",
        result.stdout.decode(),
    )


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_names_every_option(option: str) -> None:
    text = opt(option).stdout.decode()
    for name in (
        *("-o", "--target", "-p, --passes", "--verify-only", "--verify-diagnostics", "--split-input-file"),
        *("--print-op-generic", "--no-unregistered-dialect", "--allow-schematic", "--output-format"),
        *("--max-errors", "--print-debuginfo", "--allow", "--deny", "--werror", "--pedantic", "--explain"),
        *("--list-rules", "--list-ops", "--family", "-j, --jobs", "--color", "--version"),
    ):
        assert f"\n  {name}" in text
    assert "--mlir-print-op-generic" not in text


def test_the_pass_table_is_that_of_the_rules() -> None:
    from pto_dialect.passes.registry import VERIFY_PASSES

    assert VERIFY_PASSES == PASSES


def test_the_targets_are_those_of_the_profiles() -> None:
    from pto_dialect.targets.choice import OPTION_ALIASES, PROFILE_NAMES

    targets = import_module("pto_dialect.tools.target_choice").TARGETS
    assert sorted(targets) == sorted((*PROFILE_NAMES, *OPTION_ALIASES))
