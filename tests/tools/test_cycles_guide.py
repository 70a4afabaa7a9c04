"""The examples of the guide to cycles show what the commands really print.

`python tests/tools/test_cycles_guide.py` writes the present output into the guide.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
GUIDE = CHECKOUT / "docs" / "cycles.md"

_PROGRAM = re.compile(r"^`([\w.]+)` [^\n]*:\n\n```mlir\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_EXAMPLE = re.compile(r"^```console\n\$ (pto-opt|pto-run) ([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def with_present_output(text: str, directory: Path) -> str:
    """The guide with each example's output replaced by what the command prints now."""
    from run_lines import run_command

    for name, program in _PROGRAM.findall(text):
        (directory / name).write_text(program, encoding="utf-8")

    def example(found: re.Match[str]) -> str:
        before = Path.cwd()
        os.chdir(directory)
        try:
            result = run_command(found[1], shlex.split(found[2]))
        finally:
            os.chdir(before)
        assert not result.crashed, result.stderr.decode()
        return f"```console\n$ {found[1]} {found[2]}\n{result.interleaved.decode()}```"

    return _EXAMPLE.sub(example, text)


def test_the_guide_shows_real_output(tmp_path: Path) -> None:
    text = GUIDE.read_text(encoding="utf-8")
    assert len(_EXAMPLE.findall(text)) >= 1
    assert with_present_output(text, tmp_path) == text


def test_the_python_of_the_guide_runs(capsys: object) -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    exec(compile(code, "cycles.md", "exec"), {})


if __name__ == "__main__":
    sys.path[:0] = [str(CHECKOUT), str(CHECKOUT / "lit-tests")]
    import pto_dialect

    pto_dialect.__path__.append(str(CHECKOUT))
    with tempfile.TemporaryDirectory() as folder:
        GUIDE.write_text(with_present_output(GUIDE.read_text(encoding="utf-8"), Path(folder)), encoding="utf-8")
