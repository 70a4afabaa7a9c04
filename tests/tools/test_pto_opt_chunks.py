"""pto-opt with several programs in one file, and with expectations."""

import pytest

from run_lines import CommandResult, run_command

FIRST = "func.func @first() {\n  return\n}\n"
LAST = "func.func @last() {\n  return\n}\n"
WRONG = "func.func @wrong() {\n  %0 = arith.constant 0 : i32\n  pto.tmatmull\n  return\n}\n"
EXPECTED = WRONG.replace("  pto.", "  // expected-error@+1 {{[op-unknown]}}\n  pto.")
SEPARATOR = "// -----\n"


def printed(name: str) -> str:
    return f"module {{\n  func.func @{name}() {{\n    return\n  }}\n}}\n"


def opt(text: str, *arguments: str) -> CommandResult:
    result = run_command("pto-opt", ["-", *arguments], text.encode())
    assert not result.crashed, result.stderr.decode()
    return result


@pytest.mark.parametrize("option", ["--split-input-file", "-split-input-file"])
def test_each_program_is_printed_between_separators(option: str) -> None:
    result = opt(FIRST + SEPARATOR + LAST, option)
    assert result.exit_code == 0
    assert result.stdout.decode() == printed("first") + SEPARATOR + printed("last")


def test_without_the_option_separators_are_comments() -> None:
    result = opt(FIRST + SEPARATOR + LAST)
    assert SEPARATOR not in result.stdout.decode()
    assert "@first" in result.stdout.decode() and "@last" in result.stdout.decode()


def test_programs_share_no_names() -> None:
    assert opt(FIRST + FIRST).exit_code == 1
    assert opt(FIRST + SEPARATOR + FIRST, "--split-input-file").exit_code == 0


def test_a_wrong_program_prints_nothing() -> None:
    result = opt(FIRST + SEPARATOR + WRONG + SEPARATOR + LAST, "--split-input-file")
    assert result.exit_code == 1
    assert result.stdout.decode() == printed("first") + SEPARATOR + SEPARATOR + printed("last")


def test_lines_are_counted_through_the_whole_file() -> None:
    result = opt(FIRST + SEPARATOR + WRONG, "--split-input-file")
    assert result.stderr.decode().startswith("<stdin>:7:3: error:")


def test_max_errors_is_counted_for_each_program() -> None:
    result = opt(WRONG + SEPARATOR + WRONG, "--split-input-file", "--max-errors=1")
    assert result.stderr.decode().count(" error: ") == 2


@pytest.mark.parametrize("option", ["--verify-diagnostics", "-verify-diagnostics"])
def test_expected_errors_are_no_failure(option: str) -> None:
    result = opt(EXPECTED, option)
    assert (result.exit_code, result.stdout, result.stderr) == (0, b"", b"")


def test_programs_without_errors_are_printed_beside_expected_ones() -> None:
    result = opt(EXPECTED + SEPARATOR + LAST, "--verify-diagnostics", "--split-input-file")
    assert (result.exit_code, result.stdout.decode()) == (0, SEPARATOR + printed("last"))


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (WRONG, "unexpected-diagnostic"),
        (EXPECTED.replace("op-unknown", "mad-space"), "missing-diagnostic"),
        (FIRST.replace("  return", "  // expected-error@+1 {{x}}\n  return"), "missing-diagnostic"),
        (FIRST + "// expected-error@nowhere {{x}}\n", "malformed-expectation"),
    ],
)
def test_mismatches(text: str, rule: str) -> None:
    result = opt(text, "--verify-diagnostics", "--verify-only")
    assert result.exit_code == 1
    assert f"[{rule}]" in result.stderr.decode()


def test_expectations_belong_to_their_program() -> None:
    text = EXPECTED.replace("@+1", "@+7") + SEPARATOR + WRONG
    assert opt(text, "--split-input-file", "--verify-diagnostics").exit_code == 1
    assert opt(EXPECTED + SEPARATOR + EXPECTED, "--split-input-file", "--verify-diagnostics").exit_code == 0


def test_warnings_must_be_expected_too_and_all_errors_are_seen() -> None:
    foreign = 'func.func @f() {\n  "foo.bar"() : () -> ()\n  return\n}\n'
    assert opt(foreign, "--verify-diagnostics").exit_code == 1
    with_comment = foreign.replace("()\n  return", "() // expected-warning {{foo}}\n  return")
    assert opt(with_comment, "--verify-diagnostics").exit_code == 0
    many = "  // expected-error@+1 {{[op-unknown]}}\n  pto.what\n" * 30
    text = "func.func @f() {\n  %0 = arith.constant 0 : i32\n" + many + "  return\n}\n"
    assert opt(text, "--verify-diagnostics", "--max-errors=1").exit_code == 0
    assert opt(text.replace("op-unknown", "other", 1), "--verify-diagnostics").exit_code == 1


def test_severity_options_come_before_expectations() -> None:
    foreign = 'func.func @f() {\n  "foo.bar"() : () -> () // expected-error {{foo}}\n  return\n}\n'
    assert opt(foreign, "--verify-diagnostics").exit_code == 1
    assert opt(foreign, "--verify-diagnostics", "--werror").exit_code == 0
