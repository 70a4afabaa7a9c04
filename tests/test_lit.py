"""Every file of `lit-tests/` as one test, run in this process by the same runner as `lit lit-tests`."""

from pathlib import Path

import pytest

from run_lines import ScriptError, find_tests, run_test

LIT_TESTS = Path(__file__).parents[1] / "lit-tests"
FILES = find_tests(LIT_TESTS)


def test_lit_tests_are_found() -> None:
    assert FILES, f"no test file under {LIT_TESTS}"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(LIT_TESTS).as_posix())
def test_lit(file: Path, tmp_path: Path) -> None:
    try:
        report = run_test(file, tmp_path)
    except ScriptError as error:
        report = str(error)
    if report is not None:
        pytest.fail(report, pytrace=False)
