"""What a server answers is what a process of its own says: output, exit code, folder, environment, arguments."""

from __future__ import annotations

import os
import shlex
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from served_calls import CHECKOUT, Commands

from run_lines import find_tests, parse_run_lines, run_command

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="servers need Linux")

GOOD = b"func.func @f() {\n  return\n}\n"
WRONG = b"func.func @f() {\n  return %x : i32\n}\n"
LIT = CHECKOUT / "lit-tests"


def lit_commands() -> list[tuple[Path, list[str]]]:
    """The calls of ``pto-opt`` in the test files, without what is after pipes."""
    found: list[tuple[Path, list[str]]] = []
    for path in find_tests(LIT):
        for line in parse_run_lines(path.read_text(encoding="utf-8", errors="surrogateescape"), path):
            for part in line.text.replace("&&", "|").split("|"):
                words = [word for word in shlex.split(part) if word != "not"]
                if words[:1] == ["pto-opt"] and "%t" not in part and not any(word[0] in "<>2" for word in words[1:]):
                    found.append((path, [word.replace("%s", str(path)) for word in words[1:]]))
    return found


COMMANDS = lit_commands()


def same(commands: Commands, *arguments: str | bytes, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """A call with a server, and that it says what a call without one does."""
    (server,) = commands.servers()
    served, plain = commands.call(*arguments, **options), commands.plain(*arguments, **options)
    assert (served.returncode, served.stdout, served.stderr) == (plain.returncode, plain.stdout, plain.stderr)
    assert commands.servers() == [server]
    return served


def test_the_server_answers(served: Commands) -> None:
    """A call loads nothing itself, which shows where a module that it would need cannot be imported."""
    refusing = {"TEST_REFUSES": "click"}
    found = served.call("-", input=GOOD, variables=refusing)
    assert (found.returncode, found.stderr) == (0, b"") and b"func.func @f" in found.stdout
    found = served.plain("-", input=GOOD, variables=refusing)
    assert (found.returncode, found.stderr) == (1, b"refused\n")


def test_there_are_many_commands() -> None:
    assert len(COMMANDS) > 150


@pytest.mark.parametrize("part", range(8))
def test_commands_of_the_test_files(served: Commands, part: int) -> None:
    for path, arguments in COMMANDS[part::8]:
        expected = run_command("pto-opt", arguments)
        found = served.direct(*arguments, folder=path.parent)
        assert found == (expected.exit_code, expected.stdout, expected.stderr), arguments


def test_exit_codes_and_standard_input(served: Commands) -> None:
    assert same(served, "-", input=GOOD).returncode == 0
    assert same(served, input=WRONG).returncode == 1
    assert same(served, "--what", input=GOOD).returncode == 2
    assert same(served, "", b"\xff\xfe.pto").returncode == 2
    assert same(served, "--version").returncode == 0
    assert b"--server" in same(served, "--help").stdout


def test_the_option_starts_a_server_as_well(served: Commands) -> None:
    found = served.call("--server", "-", input=GOOD, variables={"PTO_SERVER": "0"})
    assert (found.returncode, found.stdout) == (0, served.plain("-", input=GOOD).stdout)
    # A file of this name is no wish.
    assert served.call("--", "--server", variables={"PTO_SERVER": "0"}).returncode == 2


def test_the_folder_of_the_call(served: Commands) -> None:
    inner = served.folder / "inner"
    inner.mkdir()
    (inner / "here.pto").write_bytes(WRONG)
    assert b"here.pto:2:" in same(served, "here.pto", cwd=inner).stderr


def test_the_environment_of_the_call(served: Commands) -> None:
    wide = same(served, "--help", variables={"COLUMNS": "80"})
    narrow = same(served, "--help", variables={"COLUMNS": "50"})
    assert wide.stdout != narrow.stdout


def test_the_mask_of_new_files(served: Commands) -> None:
    for mask in (0o022, 0o077):
        target = served.folder / f"{mask}.pto"
        assert served.call("-", "-o", str(target), input=GOOD, umask=mask).returncode == 0
        assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~mask


def test_several_processes_and_a_folder(served: Commands) -> None:
    tree = served.folder / "tree"
    tree.mkdir()
    for number in range(12):
        (tree / f"{number}.pto").write_bytes((GOOD, WRONG)[number % 3 == 0])
    assert same(served, "-j2", "--no-cache", "tree").returncode == 1
    assert same(served, "--diagnostics-format=sarif", "tree").returncode == 1


def test_streams_that_cannot_be_written(served: Commands) -> None:
    with open("/dev/full", "wb") as full:
        for stream in ("stdout", "stderr"):
            given = {"capture_output": False, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: full}
            same(served, "-", input=WRONG, **given)
            same(served, "-", input=GOOD, **given)
    for redirection in (">&-", "<&-", "2>&-"):
        command = ["sh", "-c", f'exec "$0" "$1" - {redirection}', sys.executable, str(served.script)]
        found = [
            subprocess.run(command, input=GOOD, capture_output=True, env={**served.environment, "PTO_SERVER": value})
            for value in "01"
        ]
        assert len({(one.returncode, one.stdout, one.stderr) for one in found}) == 1


def test_a_reader_that_has_ended(served: Commands) -> None:
    (served.folder / "long.pto").write_bytes(b"// " + b"x" * 70 + b"\n" + GOOD * 1)
    program = "".join(f"func.func @f{n}() {{\n  return\n}}\n" for n in range(4000))
    (served.folder / "long.pto").write_text(program)
    call = served.begin("long.pto", stdin=subprocess.DEVNULL)
    assert call.stdout is not None and call.stderr is not None
    call.stdout.close()
    assert (call.stderr.read(), call.wait(120)) == (b"", 141)
    call.stderr.close()


def test_a_terminal_is_one_for_the_server_as_well(served: Commands) -> None:
    ours, theirs = os.openpty()
    try:
        found = served.call("-", input=WRONG, capture_output=False, stdout=subprocess.PIPE, stderr=theirs)
        text = os.read(ours, 1 << 16)
    finally:
        os.close(ours)
        os.close(theirs)
    assert found.returncode == 1 and b"\x1b[" in text
