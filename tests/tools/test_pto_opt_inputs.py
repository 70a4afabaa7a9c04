"""Which inputs pto-opt takes, and what it says about bad ones."""

import json
import os
import sys
from pathlib import Path
from threading import Thread

import pytest

from pto_dialect.driver import inputs
from run_lines import CommandResult, run_command

GOOD = b"func.func @f() {\n  return\n}\n"
PRINTED = "module {\n  func.func @f() {\n    return\n  }\n}\n"
WRONG = b"func.func @f() {\n  return %x : i32\n}\n"
FOREIGN = b'func.func @f() {\n  "foo.bar"() : () -> ()\n  return\n}\n'


def opt(*arguments: object, stdin: bytes = b"") -> CommandResult:
    result = run_command("pto-opt", [str(argument) for argument in arguments], stdin)
    assert not result.crashed, result.stderr.decode()
    return result


def stderr(result: CommandResult) -> str:
    return result.stderr.decode()


def write(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder with two right programs and a wrong one, and files that are none of its programs."""
    write(tmp_path / "tree" / "b.pto", WRONG)
    write(tmp_path / "tree" / "a.pto", GOOD)
    write(tmp_path / "tree" / "deep" / "er" / "c.pto", GOOD)
    write(tmp_path / "tree" / "notes.txt", b"\xff")
    write(tmp_path / "tree" / ".hidden" / "d.pto", b"\xff")
    return tmp_path / "tree"


# ---------------------------------------------------------------- one input


@pytest.mark.parametrize("name", ["f.pto", "f.mlir", "no suffix"])
def test_a_file_may_have_any_name(tmp_path: Path, name: str) -> None:
    result = opt(write(tmp_path / name, GOOD))
    assert (result.exit_code, result.stdout.decode(), stderr(result)) == (0, PRINTED, "")


@pytest.mark.parametrize("data", [b"\xef\xbb\xbf" + GOOD, GOOD.replace(b"\n", b"\r\n")])
def test_byte_order_mark_and_windows_line_ends(data: bytes) -> None:
    result = opt("-", stdin=data)
    assert (result.exit_code, result.stdout.decode(), stderr(result)) == (0, PRINTED, "")


@pytest.mark.parametrize(
    ("data", "exit_code", "place", "rule"),
    [
        (b"", 0, "1:1: warning", "input-empty"),
        (b" \n\n\t", 0, "1:1: warning", "input-empty"),
        (b"func.func @f() {\n  // caf\xe9\n  return\n}\n", 1, "2:9: error", "input-encoding"),
        ("// é\n// ".encode() + b"\xff", 1, "2:4: error", "input-encoding"),
        (GOOD.decode().encode("utf-16"), 1, "1:1: error", "input-encoding"),
        (b"func.func @f() {\n  return\0\n}\n", 1, "2:9: error", "input-binary"),
        (b"\x7fELF\x02\x01\x01\0\0\0", 1, "1:8: error", "input-binary"),
        (b"%PDF-1.7\n\xe2\xe3\xcf\xd3\n", 1, "2:1: error", "input-encoding"),
        (b"PROGRAM Hello\n", 1, "1:1: error", "op-unknown"),
    ],
)
def test_what_is_no_program(data: bytes, exit_code: int, place: str, rule: str) -> None:
    result = opt("-", stdin=data)
    assert result.exit_code == exit_code
    first = stderr(result).splitlines()[0]
    assert first.startswith(f"<stdin>:{place}: ") and first.endswith(f"[{rule}]")


def test_the_location_of_the_first_byte_that_is_no_text() -> None:
    # The first line ends at byte 10; 0x80 is the first byte that cannot begin a character.
    result = opt("-", stdin=bytes(range(1, 256)))
    assert stderr(result).startswith("<stdin>:2:118: error: the input is not UTF-8 text, found byte 0x80")


def test_remarks_about_the_input_obey_the_severity_options() -> None:
    assert opt("-", "--allow", "input-empty").stderr == b""
    assert opt("-", "--werror").exit_code == 1
    assert opt("-", "--werror").stdout == b""


@pytest.mark.parametrize(
    "text",
    [
        "a" * 2_000_000,
        "%a " * 200_000,
        "(" * 200_000,
        "{" * 200_000,
        '"' + "x" * 2_000_000,
        "!pto.ptr<" * 100_000,
        "func.func @f() {" + " return" * 50_000,
        "module {" * 5_000 + "}" * 5_000,
        "func.func @f() attributes {a = " + "[" * 20_000 + "]" * 20_000 + "} { return }",
        "// " + "x" * 2_000_000,
    ],
    ids=lambda text: text[:12],
)
def test_endless_lines(text: str) -> None:
    result = opt("-", stdin=text.encode())
    assert result.exit_code in (0, 1)
    assert (result.exit_code == 1) == (" error: " in stderr(result))
    assert all(len(line) < 300 for line in stderr(result).splitlines())


def test_an_input_that_does_not_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    from pto_dialect.driver import pipeline

    def exhausted(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(pipeline, "process", exhausted)
    result = opt("-", stdin=GOOD)
    assert result.exit_code == 1
    assert stderr(result) == "error: '<stdin>' does not fit into memory [input-memory]\n1 error\n"


def test_paths_that_do_not_exist(tmp_path: Path) -> None:
    result = opt(tmp_path / "none.pto")
    assert result.exit_code == 2
    assert f"no such file or folder: '{tmp_path / 'none.pto'}'" in stderr(result)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "loop.pto").symlink_to("loop.pto")
    result = opt(tmp_path / "loop.pto")
    assert result.exit_code == 1
    assert "cannot read" in stderr(result) and "[input-unreadable]" in stderr(result)


def test_a_device_without_an_end_is_not_read_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "MOST_PIPED", 1 << 20)
    result = opt("/dev/zero")
    assert result.exit_code == 1
    assert stderr(result).startswith("error: cannot read '/dev/zero': it is no regular file and has more than 1 MiB [")


def test_a_pipe_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.pto")
    writer = Thread(target=(tmp_path / "pipe.pto").write_bytes, args=(GOOD,))
    writer.start()
    result = opt(tmp_path / "pipe.pto")
    writer.join()
    assert (result.exit_code, result.stdout.decode()) == (0, PRINTED)


def test_a_pipe_is_no_kernel_and_no_program_of_a_folder(tree: Path) -> None:
    os.mkfifo(tree / "pipe.cpp")
    result = opt(tree / "pipe.cpp")
    assert result.exit_code == 1
    told = f"error: cannot read '{tree / 'pipe.cpp'}': a C++ kernel is a regular file [input-unreadable]\n"
    assert stderr(result).startswith(told)
    os.mkfifo(tree / "deep" / "pipe.pto")
    assert stderr(opt(tree / "deep")).startswith("1 file: 1 ok")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(tmp_path: Path) -> None:
    path = write(tmp_path / "secret.pto", GOOD)
    path.chmod(0)
    result = opt(path)
    assert result.exit_code == 1
    assert "Permission denied [input-unreadable]" in stderr(result)


# ---------------------------------------------------------------- many inputs


def test_a_folder_is_checked_in_order(tree: Path) -> None:
    result = opt(tree)
    assert (result.exit_code, result.stdout) == (1, b"")
    lines = stderr(result).splitlines()
    assert lines[0].startswith(f"{tree / 'b.pto'}:2:10: error:")
    assert lines[-1] == "3 files: 2 ok, 1 failed (1 error, 0 warnings)"


def test_a_folder_with_one_program_is_only_checked(tree: Path) -> None:
    result = opt(tree / "deep")
    assert (result.exit_code, result.stdout) == (0, b"")
    assert stderr(result) == "1 file: 1 ok, 0 failed (0 errors, 0 warnings)\n"


def test_several_files_and_standard_input(tree: Path) -> None:
    result = opt(tree / "a.pto", "-", stdin=FOREIGN)
    assert (result.exit_code, result.stdout) == (0, b"")
    assert stderr(result).startswith("<stdin>:2:3: warning:")
    assert stderr(result).endswith("\n2 files: 2 ok, 0 failed (0 errors, 1 warning)\n")


def test_each_input_is_checked_once(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree)
    result = opt("a.pto", "./a.pto", ".", "deep", "deep/er/c.pto", "-", "-", stdin=GOOD)
    assert stderr(result).splitlines()[-1].startswith("4 files: 3 ok")


def test_a_folder_without_programs(tmp_path: Path) -> None:
    write(tmp_path / "readme.txt", b"text")
    result = opt(tmp_path)
    assert result.exit_code == 2
    assert f"folder '{tmp_path}' has no .pto files" in stderr(result)


def test_bad_files_in_a_folder_fail_and_the_others_are_checked(tree: Path) -> None:
    (tree / "dangling.pto").symlink_to("nowhere")
    write(tree / "e.pto", b"\xff\xfe\0")
    write(tree / "f.pto", b"")
    result = opt(tree)
    assert result.exit_code == 1
    assert "[input-unreadable]" in stderr(result) and "[input-encoding]" in stderr(result)
    assert stderr(result).splitlines()[-1] == "6 files: 3 ok, 3 failed (3 errors, 1 warning)"


def test_hidden_errors_are_counted_in_the_summary(tmp_path: Path) -> None:
    wrong = b"func.func @f() {\n  return %x : i32\n}\nfunc.func @g() {\n  return %x : i32\n}\n"
    write(tmp_path / "a.pto", wrong)
    result = opt(tmp_path, "--max-errors=1")
    assert stderr(result).splitlines()[-1] == "1 file: 0 ok, 1 failed (2 errors, 0 warnings; 1 error not shown)"


@pytest.mark.parametrize("jobs", ["2", "5"])
def test_several_processes_give_the_same_report(tree: Path, jobs: str) -> None:
    for number in range(40):
        write(tree / f"n{number}.pto", (GOOD, WRONG, FOREIGN)[number % 3])
    one, many = opt(tree, "-j", "1"), opt(tree, "-j", jobs)
    assert one.exit_code == many.exit_code == 1
    assert stderr(one) == stderr(many)
    for format in ("json", "sarif"):
        document = json.loads(opt(tree, "-j", jobs, "--diagnostics-format", format).stderr)
        assert document == json.loads(opt(tree, "-j", "1", "--diagnostics-format", format).stderr)


def test_expectations_work_in_several_processes(tmp_path: Path) -> None:
    text = b"func.func @f() {\n  // expected-error@+1 {{%x}}\n  return %x : i32\n}\n"
    for number in range(4):
        write(tmp_path / f"{number}.pto", text)
    assert opt(tmp_path, "-j2", "--verify-diagnostics").exit_code == 0


@pytest.mark.skipif(sys.platform != "linux", reason="relies on fork")
def test_a_process_that_dies_is_reported(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pto_dialect.driver import batch

    monkeypatch.setattr(batch, "check_file", lambda item, task: os._exit(9))
    result = opt(tree, "-j2")
    assert result.exit_code == 1
    assert "error: a worker process ended unexpectedly" in stderr(result)


@pytest.mark.parametrize("jobs", ["0", "-1", "many"])
def test_jobs_must_be_a_positive_number(tree: Path, jobs: str) -> None:
    assert opt(tree, "-j", jobs).exit_code == 2
