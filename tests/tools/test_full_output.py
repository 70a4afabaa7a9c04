"""Standard output that takes no more is one line and an exit code, whatever command writes there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FULL = Path("/dev/full")
GEMM = str(Path(__file__).parents[2] / "examples" / "gemm" / "gemm.pto")
LAUNCH = str(Path(__file__).parents[2] / "examples" / "rms_norm" / "rms_norm.launch.toml")


@pytest.mark.skipif(not FULL.exists(), reason="needs a device that is full")
@pytest.mark.parametrize(
    "words",
    [
        ("pto_opt", GEMM),
        ("pto_opt", "--help"),
        ("pto_opt", "--explain", "pto.tadd"),
        ("pto_opt", "--list-rules"),
        ("pto_run", GEMM, "--target", "a5", "--auto"),
        ("pto_run", "--list", GEMM),
        ("pto_run", "--emit-python", GEMM),
        ("pto_run", "--version"),
        ("pto_run", LAUNCH),
        ("pto_fmt", "--diff", GEMM),
        ("pto", "--help"),
        ("pto", "completion", "bash"),
        ("pto", "tune", "--help"),
    ],
    ids=" ".join,
)
def test_a_full_device(words: tuple[str, ...], tmp_path: Path) -> None:
    name, *arguments = words
    if "--diff" in arguments:
        (tmp_path / "x.pto").write_text("func.func @f() {\n      return\n}\n")
        arguments[-1] = str(tmp_path / "x.pto")
    code = f"import sys; sys.argv = ['{name}', *sys.argv[1:]]; from pto_dialect.tools.start import {name}; {name}()"
    command = [sys.executable, "-c", code, *arguments]
    with FULL.open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    assert (done.stderr, done.returncode) == ("error: cannot write standard output: No space left on device\n", 2)
