"""pto-opt on one program: what is checked, what is printed, exit codes."""

from pathlib import Path

import pytest

from run_lines import CommandResult, run_command

GOOD = """\
func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  return %0 : i32
}
"""
GOOD_PRINTED = """\
module {
  func.func @f(%a: i32) -> i32 {
    %0 = arith.addi %a, %a : i32
    return %0 : i32
  }
}
"""
WRONG = """\
func.func @f() {
  %0 = arith.constant 0 : i32
  pto.tmatmull ins() outs()
  return
}
"""
FOREIGN = """\
func.func @f() {
  "foo.bar"() : () -> ()
  "foo.baz"() : () -> ()
  return
}
"""
SCHEMATIC = """\
func.func @f(%a: !pto.tile<...>) {
  return
}
"""
MAD_OF_TWO_RIGHTS = """\
module attributes {pto.target_arch = "a5"} {
  func.func @f(%a: !pto.ptr<f16, l0b>, %b: !pto.ptr<f16, l0b>, %c: !pto.ptr<f32, l0c>) {
    %unused = arith.constant 0 : i64
    %n = arith.constant 16 : i64
    pto.mad %a, %b, %c, %n, %n, %n : !pto.ptr<f16, l0b>, !pto.ptr<f16, l0b>, !pto.ptr<f32, l0c>, i64, i64, i64
    return
  }
}
"""
TWO_MISTAKES = MAD_OF_TWO_RIGHTS.replace("    %n =", "    pto.madd %a\n    %n =")
UNREAD_TILE = """\
func.func @f() {
  %0 = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  return
}
"""


def opt(text: str, *arguments: str) -> CommandResult:
    result = run_command("pto-opt", ["-", *arguments], text.encode())
    assert not result.crashed, result.stderr.decode()
    return result


def stderr(result: CommandResult) -> str:
    return result.stderr.decode()


def test_the_module_is_printed_to_standard_output() -> None:
    result = opt(GOOD)
    assert (result.exit_code, result.stdout.decode(), result.stderr) == (0, GOOD_PRINTED, b"")


def test_standard_input_is_read_when_nothing_is_named() -> None:
    result = run_command("pto-opt", [], GOOD.encode())
    assert (result.exit_code, result.stdout.decode()) == (0, GOOD_PRINTED)


def test_printing_again_gives_the_same_text() -> None:
    assert opt(GOOD_PRINTED).stdout.decode() == GOOD_PRINTED


def test_an_error_goes_to_standard_error_and_nothing_is_printed() -> None:
    result = opt(WRONG)
    assert (result.exit_code, result.stdout) == (1, b"")
    lines = stderr(result).splitlines()
    assert lines[0].startswith("<stdin>:3:3: error: ") and lines[0].endswith("[op-unknown]")
    assert lines[1:3] == ["    pto.tmatmull ins() outs()", "    ^~~~~~~~~~~~"]
    assert "pto.tmatmul" in lines[3]
    assert lines[-1] == "1 error"


def test_all_errors_are_reported_in_one_run() -> None:
    result = opt(TWO_MISTAKES)
    assert result.exit_code == 1
    assert "[mad-space]" in stderr(result) and "[op-unknown]" in stderr(result)
    assert stderr(result).endswith("2 errors\n")


def test_a_syntax_error_is_not_followed_by_its_consequences() -> None:
    # Without the return the block has no terminator, and without @g the call has no callee.
    text = "func.func @f() {\n  call @g() : () -> ()\n  retur\n}\nfunc.func @g(%x: oops) {\n  return\n}\n"
    rules = {line.rpartition("[")[2] for line in stderr(opt(text)).splitlines() if ": error:" in line}
    assert rules and not rules & {"block-terminator]", "callee]", "core-op]"}


def test_verify_only_prints_no_module() -> None:
    result = opt(GOOD, "--verify-only")
    assert (result.exit_code, result.stdout, result.stderr) == (0, b"", b"")
    assert opt(WRONG, "--verify-only").exit_code == 1


@pytest.mark.parametrize("option", ["--print-op-generic", "--mlir-print-op-generic", "-mlir-print-op-generic"])
def test_generic_form(option: str) -> None:
    printed = opt(GOOD, option).stdout.decode()
    assert '"func.func"()' in printed and '"arith.addi"(%a, %a)' in printed
    assert opt(printed).stdout.decode() == GOOD_PRINTED


@pytest.mark.parametrize("option", ["--print-debuginfo", "--mlir-print-debuginfo", "-mlir-print-debuginfo"])
def test_locations_are_printed(option: str) -> None:
    printed = opt(GOOD, option).stdout.decode()
    (addition,) = [line for line in printed.splitlines() if "arith.addi" in line]
    assert addition.endswith('loc("<stdin>":2:8)') or addition.endswith('loc("<stdin>":2:3)')
    assert opt(printed).stdout.decode() == GOOD_PRINTED


def test_target_option_wins_over_the_module() -> None:
    text = 'module attributes {pto.target_arch = "a5"} {\n}\n'
    assert stderr(opt(text, "--target", "a5")) == ""
    result = opt(text, "--target", "a2a3")
    assert result.exit_code == 0
    assert "[target-override]" in stderr(result)


@pytest.mark.parametrize("target", ["a2", "a3", "a2a3", "a5", "cpu-sim"])
def test_targets(target: str) -> None:
    assert opt(GOOD, "--target", target).exit_code == 0


def test_unknown_target() -> None:
    result = opt(GOOD, "--target", "a4")
    assert result.exit_code == 2
    assert "'a4' is not one of 'a2', 'a3', 'a2a3', 'a5', 'cpu-sim'" in stderr(result)


@pytest.mark.parametrize(
    ("passes", "exit_code"),
    [
        (["-p", "verify-locations"], 1),
        (["--passes", "verify-structure,verify-locations"], 1),
        (["-p", "verify-structure", "-p", " verify-locations "], 1),
        (["--passes=verify-structure"], 0),
        (["-p", "verify-type-triples,verify-shapes"], 0),
        (["-p", ""], 0),
    ],
)
def test_only_the_named_passes_run(passes: list[str], exit_code: int) -> None:
    assert opt(MAD_OF_TWO_RIGHTS, *passes).exit_code == exit_code
    assert opt(MAD_OF_TWO_RIGHTS).exit_code == 1


def test_no_pass_runs_after_a_parse_without_passes() -> None:
    result = opt(TWO_MISTAKES, "-p", "")
    assert "[op-unknown]" in stderr(result) and "[mad-space]" not in stderr(result)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("verify-shape", "did you mean verify-shapes?"),
        ("inline", "passes are verify-structure,"),
        ("verify-shapes,", "''"),
    ],
)
def test_unknown_pass(name: str, hint: str) -> None:
    result = opt(GOOD, "-p", name)
    assert result.exit_code == 2
    assert "unknown pass" in stderr(result) and hint in stderr(result)


def test_schematic_types() -> None:
    assert "[type-schematic]" in stderr(opt(SCHEMATIC))
    assert opt(SCHEMATIC).exit_code == 1
    result = opt(SCHEMATIC, "--allow-schematic")
    assert result.exit_code == 0
    assert "!pto.tile<...>" in result.stdout.decode()


def test_unknown_dialects_are_kept_with_one_warning_each() -> None:
    result = opt(FOREIGN)
    assert result.exit_code == 0
    assert stderr(result).count("warning:") == 1
    assert '"foo.bar"()' in result.stdout.decode() and '"foo.baz"()' in result.stdout.decode()


def test_unknown_dialects_can_be_refused_or_accepted() -> None:
    refused = opt(FOREIGN, "--no-unregistered-dialect")
    assert refused.exit_code == 1
    assert "error:" in stderr(refused) and "[dialect-unregistered]" in stderr(refused)
    for option in ("--allow-unregistered-dialect", "-allow-unregistered-dialect"):
        accepted = opt(FOREIGN, option)
        assert (accepted.exit_code, stderr(accepted)) == (0, "")


def test_severity_options() -> None:
    rule = "dialect-unregistered"
    assert opt(FOREIGN, "--werror").exit_code == 1
    assert opt(FOREIGN, "--deny", rule).exit_code == 1
    assert stderr(opt(FOREIGN, "--allow", rule)) == ""
    assert opt(FOREIGN, "--werror", "--allow", f"op-unknown, {rule}").exit_code == 0
    allowed = opt(MAD_OF_TWO_RIGHTS, "--allow", "mad-space")
    assert (allowed.exit_code, stderr(allowed)) == (0, "")


@pytest.mark.parametrize("option", ["--allow", "--deny"])
def test_severity_options_know_the_rules(option: str) -> None:
    result = opt(GOOD, option, "mad-spce")
    assert result.exit_code == 2
    assert "unknown rule 'mad-spce'; did you mean mad-space?" in stderr(result)


def test_remarks_are_shown_on_request() -> None:
    assert stderr(opt(UNREAD_TILE)) == ""
    result = opt(UNREAD_TILE, "--pedantic")
    assert result.exit_code == 0
    assert "[dead-tile]" in stderr(result) and stderr(result).endswith("1 info\n")


@pytest.mark.parametrize(("limit", "shown"), [("0", 30), ("1", 1), ("29", 29), ("30", 30), ("31", 30)])
def test_max_errors(limit: str, shown: int) -> None:
    wrong = "".join(f"  pto.what{n}\n" for n in range(30))
    text = f"func.func @f() {{\n  %0 = arith.constant 0 : i32\n{wrong}  return\n}}\n"
    result = opt(text, "--max-errors", limit)
    assert result.exit_code == 1
    assert stderr(result).count(" error: ") == shown
    hidden = 30 - shown
    ending = "30 errors\n" if not hidden else f"30 errors; {hidden} more error{'s' * (hidden > 1)} not shown\n"
    assert stderr(result).endswith(ending)


def test_max_errors_must_not_be_negative() -> None:
    assert opt(GOOD, "--max-errors", "-1").exit_code == 2


def test_unknown_option() -> None:
    result = opt(GOOD, "--verify-onl")
    assert result.exit_code == 2
    assert "--verify-only" in stderr(result)


def test_options_end_at_two_dashes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("-split-input-file").write_text(GOOD)
    result = run_command("pto-opt", ["--", "-split-input-file"])
    assert (result.exit_code, result.stdout.decode()) == (0, GOOD_PRINTED)


def test_a_pass_given_as_an_option_is_reported_as_one() -> None:
    result = opt(GOOD, "--check-sync")
    assert result.exit_code == 2 and "check-sync is a pass: write -p check-sync" in stderr(result)
