"""Guides whose commands are run: the files that they show, and what their commands print.

`python tests/helpers/guides.py PAGE...` writes the present output into pages below `docs`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"

_FILE = re.compile(r"^`([\w.]+)` [^`]*?:\n\n```(?:mlir|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def with_present_output(text: str, folder: Path) -> str:
    """The page with what its commands print now."""
    for name, content in _FILE.findall(text):
        (folder / name).write_text(content, encoding="utf-8")
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

    return COMMANDS.sub(printed, text)


def main(names: list[str]) -> None:
    for name in names:
        with tempfile.TemporaryDirectory() as directory:
            found = with_present_output((DOCS / name).read_text(encoding="utf-8"), Path(directory))
            (DOCS / name).write_text(found, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
