"""The commands of the guides print what they show.

`python tests/passes/lower_cube/test_guide.py` writes the present output into them.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[3] / "docs"
PAGES = {"lower-cube.md": 3, "lower-vector.md": 3, "from-tiles-to-instructions.md": 6, "lower-transfers.md": 2}
PAGES |= {"tile-loops.md": 2, "double-buffer.md": 1, "unroll.md": 1}

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


@pytest.mark.parametrize("page", PAGES)
def test_the_guide_shows_real_output(page: str, tmp_path: Path) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    assert len(_COMMANDS.findall(text)) == PAGES[page]
    assert with_present_output(text, tmp_path) == text


if __name__ == "__main__":
    for name in PAGES:
        with tempfile.TemporaryDirectory() as directory:
            found = with_present_output((DOCS / name).read_text(encoding="utf-8"), Path(directory))
            (DOCS / name).write_text(found, encoding="utf-8")
