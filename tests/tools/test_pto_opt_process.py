"""pto-opt as a process: streams, signals, terminal, what a start loads."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

CHECKOUT = Path(__file__).parents[2]
LAUNCH = f"""
import sys
sys.path.insert(0, {str(CHECKOUT)!r})
import pto_dialect
pto_dialect.__path__.append({str(CHECKOUT)!r})
from pto_dialect.tools.pto_opt import main
sys.argv[0] = "pto-opt"
"""
COMMAND = [sys.executable, "-c", LAUNCH + "main()"]
GOOD = "func.func @f() {\n  return\n}\n"
WRONG = "func.func @f() {\n  return %x : i32\n}\n"

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX processes")


def opt(*arguments: str, stdin: str = "", **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **options,
    )


def additions(number: int) -> str:
    lines = "".join(f"  %v{n + 1} = arith.addi %v{n}, %v{n} : i32\n" for n in range(number))
    return f"func.func @f(%v0: i32) {{\n{lines}  return\n}}\n"


def test_exit_codes() -> None:
    assert opt(stdin=GOOD).returncode == 0
    assert opt(stdin=WRONG).returncode == 1
    assert opt("--what", stdin=GOOD).returncode == 2


def test_text_that_the_locale_cannot_show() -> None:
    wrong = WRONG.replace("i32", "i32 // é")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    result = subprocess.run(COMMAND, input=wrong.encode(), capture_output=True, env=environment, check=False)
    assert result.returncode == 1
    assert "return %x : i32 // é\n" in result.stderr.decode("utf-8")


@pytest.mark.parametrize(("option", "more"), [("--no-cache", []), ("--verify-only", ["json"])])
def test_a_start_imports_only_what_a_run_needs(tmp_path: Path, option: str, more: list[str]) -> None:
    unwanted = [
        *("numpy", "ml_dtypes", "json", "multiprocessing", "concurrent", "pto_dialect.diagnostics.formats"),
        *("lark", "logging", "pickle", "hashlib", "urllib.request"),
        *("xdsl.passes", "xdsl.dialects.arith", "xdsl.dialects.llvm", "pto_dialect.verify.engine.example_programs"),
    ]
    code = f"""
try:
    main()
except SystemExit as exit:
    loaded = [name for name in {unwanted} if name in sys.modules]
    print(exit.code, *loaded, file=sys.stderr)
"""
    command = [sys.executable, "-c", LAUNCH + code, option, "-"]
    # A name that nothing is kept under.
    program = f"// {tmp_path}\n{GOOD}"
    result = subprocess.run(command, input=program, capture_output=True, text=True, check=False)
    assert sorted(result.stderr.split()) == sorted(["0", *more])
    assert ("func.func @f" in result.stdout) == (option == "--no-cache")


def test_help_and_version_load_no_dialect() -> None:
    unwanted = ["xdsl", "lark", "importlib.metadata", "pto_dialect.diagnostics", "pto_dialect.driver"]
    code = (
        f"\ntry:\n    main()\nexcept SystemExit:\n    print('loaded', *[n for n in {unwanted} if n in sys.modules])\n"
    )
    for option in ("--help", "--version"):
        command = [sys.executable, "-c", LAUNCH + code, option]
        result = subprocess.run(command, capture_output=True, text=True, check=True)
        assert result.stdout.splitlines()[-1] == "loaded"


@posix
def test_a_reader_that_has_ended(tmp_path: Path) -> None:
    path = tmp_path / "f.pto"
    # More than a pipe holds.
    path.write_text(additions(5_000))
    process = subprocess.Popen([*COMMAND, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert (process.wait(120), errors) == (141, b"")


@posix
def test_closed_streams() -> None:
    def shell(redirection: str, program: str = GOOD) -> subprocess.CompletedProcess[str]:
        script = f'"$0" -c "$1" - {redirection}'
        command = ["sh", "-c", script, sys.executable, LAUNCH + "main()"]
        return subprocess.run(command, input=program, capture_output=True, text=True, timeout=120, check=False)

    closed = shell(">&-")
    assert (closed.returncode, closed.stderr) == (2, "error: cannot write standard output: it is closed\n")
    closed = shell("<&-")
    assert closed.returncode == 2
    assert "Error: cannot read standard input: it is closed" in closed.stderr
    assert shell("2>&-").returncode == 0
    assert shell("2>&-", WRONG).returncode == 1
    if Path("/dev/full").exists():
        full = shell(">/dev/full")
        assert full.returncode == 2
        assert full.stderr == "error: cannot write standard output: No space left on device\n"


@posix
@pytest.mark.parametrize("seconds", [0.0, 0.5])
def test_interrupting_one_program(tmp_path: Path, seconds: float) -> None:
    assert _interrupted([], tmp_path / "pipe.pto", seconds) == (130, b"")


@posix
@pytest.mark.parametrize("seconds", [0.0, 0.5])
def test_interrupting_several_processes(tmp_path: Path, seconds: float) -> None:
    for number in range(4):
        (tmp_path / f"{number}.pto").write_text(additions(50_000))
    others = [str(tmp_path / f"{number}.pto") for number in range(4)]
    assert _interrupted([*others, "-j", "2"], tmp_path / "pipe.pto", seconds) == (130, b"")


def _interrupted(arguments: list[str], pipe: Path, seconds: float) -> tuple[int, bytes]:
    """Exit code and standard error of a run that gets Ctrl-C, as a terminal sends it.

    Its first input is a pipe, which reports when it is at work; it has ``seconds`` for the large program that
    comes.
    """
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [*COMMAND, str(pipe), *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stderr is not None
    with pipe.open("w") as stream:
        if seconds:
            stream.write(additions(200_000))
            stream.close()
            time.sleep(seconds)
        assert process.poll() is None, "it ended by itself"
        os.killpg(process.pid, signal.SIGINT)
        errors = process.stderr.read()
    process.stderr.close()
    code = process.wait(120)
    # Nobody of its group is left.
    for _ in range(50):
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return code, errors
        time.sleep(0.1)
    pytest.fail("a worker process survived")


@posix
def test_a_terminal_shows_progress_and_colors(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.pto").write_text(WRONG if number == 1 else GOOD)
    code, shown = _on_terminal([str(tmp_path)])
    assert code == 1
    assert "checking" in shown and "3/3" in shown
    # The bar is removed from the line before a diagnostic is there.
    assert f"\r\x1b[K\x1b[1m{tmp_path}/1.pto:2:10:" in shown
    assert shown.rstrip().endswith("3 files: 2 ok, 1 failed (1 error, 0 warnings)")


@posix
def test_a_terminal_without_colors(tmp_path: Path) -> None:
    path = tmp_path / "wrong.pto"
    path.write_text(WRONG)
    for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        code, shown = _on_terminal([str(path)], variables)
        assert code == 1 and "error:" in shown and "\x1b" not in shown


@posix
def test_nothing_named_on_a_terminal() -> None:
    code, shown = _on_terminal([])
    assert code == 2
    assert "name a file, a folder, or - for standard input" in shown


LAST = b"\0the command has ended\0"


def _on_terminal(arguments: list[str], variables: dict[str, str] | None = None) -> tuple[int, str]:
    """Exit code and what a terminal shows, standard output and error together."""
    import pty

    ours, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    environment |= {"TERM": "xterm", **(variables or {})}
    process = subprocess.Popen(
        [*COMMAND, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=environment, close_fds=True
    )
    shown = b""
    # A terminal whose last writer has ended may lose what was not read yet: this process is the last, and says so.
    ending = threading.Thread(target=lambda: (process.wait(120), os.write(theirs, LAST)))
    ending.start()
    while not shown.endswith(LAST):
        shown += os.read(ours, 65536)
    ending.join()
    os.close(ours)
    os.close(theirs)
    return process.wait(120), shown.removesuffix(LAST).decode()
