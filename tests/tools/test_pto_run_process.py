"""`pto-run` as a process of its own: signals and pipes."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "programs"

START = """
import sys
sys.path.insert(0, {checkout!r})
import pto_dialect
pto_dialect.__path__.append({checkout!r})
from tools.pto_run import main
print("ready", file=sys.stderr, flush=True)
main(prog_name="pto-run")
"""


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-c", START.format(checkout=str(CHECKOUT)), *arguments]


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to a child process")
def test_interrupt_ends_the_run_quietly(tmp_path: Path) -> None:
    """130, no traceback, the output file as before, no file left over."""
    out = tmp_path / "p.npy"
    out.write_bytes(b"\x93NUMPY old")
    arguments = [str(PROGRAMS / "endless.pto"), "--arg", "p=zeros:i32:1", "--out", f"p={out}"]
    process = subprocess.Popen(command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        assert process.stderr.readline() == "ready\n"
        time.sleep(1.5)
        assert process.poll() is None, "the program should still run"
        process.send_signal(signal.SIGINT)
        printed, said = process.communicate(timeout=120)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    assert printed == ""
    assert said == ""
    assert out.read_bytes() == b"\x93NUMPY old"
    assert [path.name for path in tmp_path.iterdir()] == ["p.npy"]


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGPIPE")
def test_closed_output_pipe(tmp_path: Path) -> None:
    arguments = [
        str(PROGRAMS / "add.pto"), "--arg", "x=ones:f32:100000", "--arg", "y=ones:f32:32",
        "--arg", "z=zeros:f32:100000", "--dump",
    ]  # fmt: skip
    process = subprocess.Popen(command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        said = process.stderr.read()
        process.wait(timeout=30)
    finally:
        process.kill()
        process.wait()
        assert process.stderr is not None
        process.stderr.close()
    assert said == b"ready\n"
    assert process.returncode == 141


def test_exit_codes_of_the_process(tmp_path: Path) -> None:
    base = [str(PROGRAMS / "add.pto"), "--arg", "x=ones:f32:32", "--arg", "y=ones:f32:32"]
    for arguments, code in (
        ([*base, "--arg", "z=zeros:f32:32", "--expect", "z=2"], 0),
        ([*base, "--arg", "z=zeros:f32:32", "--expect", "z=3"], 1),
        (base, 2),
    ):
        done = subprocess.run(
            command(*arguments), cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == code
        assert "Traceback" not in done.stderr


def test_a_launch_loads_only_what_it_needs(tmp_path: Path) -> None:
    """A launch imports nothing that only matrix products, archives or internal errors need."""
    (tmp_path / "f.pto").write_text("func.func @f(%a: index) {\n  return\n}\n")
    (tmp_path / "f.launch.toml").write_text('program = "f.pto"\n[arguments]\na = 1\n')
    unwanted = [
        *("threadpoolctl", "zipfile", "pto_dialect.driver.internal_error", "pto_dialect.driver.command"),
        *("lark", "xdsl.dialects.arith"),
    ]
    code = f"""
try:
    main(prog_name="pto-run")
except SystemExit as exit:
    print(exit.code, *[name for name in {unwanted} if name in sys.modules])
"""
    start = START.format(checkout=str(CHECKOUT)).split("print(")[0]
    for options in ([], ["--no-cache"]):
        command = [sys.executable, "-c", start + code, "--quiet", *options, str(tmp_path / "f.launch.toml")]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (result.stdout, result.stderr) == ("0\n", "")
