"""The commands of the guide print what it shows.

`python tests/passes/lower_cube/test_guide.py` writes the present output into it.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "lower-cube.md"

_PROGRAM = re.compile(r"^`([\w.]+)` [^`]*?:\n\n```mlir\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMANDS = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def with_present_output(text: str, folder: Path) -> str:
    """The page with what its commands print now."""
    for name, program in _PROGRAM.findall(text):
        (folder / name).write_text(program, encoding="utf-8")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PTO_CACHE_DIR": str(folder)}

    def printed(found: re.Match[str]) -> str:
        shown = ""
        for line in found[1].splitlines():
            if line.startswith("$ "):
                command = ["bash", "-c", line[2:]]
                result = subprocess.run(
                    command, cwd=folder, env=environment, capture_output=True, text=True, check=False
                )
                shown += f"{line}\n{result.stdout}{result.stderr}"
        return f"```console\n{shown}```"

    return _COMMANDS.sub(printed, text)


def test_the_guide_shows_real_output(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert len(_COMMANDS.findall(text)) >= 3
    assert with_present_output(text, tmp_path) == text


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        PAGE.write_text(with_present_output(PAGE.read_text(encoding="utf-8"), Path(directory)), encoding="utf-8")
