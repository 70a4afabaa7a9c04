"""Guides whose commands are run: the files that they show, and what their commands print.

`python tests/helpers/guides.py PAGE...` writes the present output into pages below `docs`.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from unittest import mock

from called_commands import call

DOCS = Path(__file__).parents[2] / "docs"

_FILE = re.compile(r"^`([\w.]+)` [^`]*?:\n\n```(?:mlir|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LOOP = re.compile(r"for (\w+) in ([\w ]+); do (.*); done")
_CALL = re.compile(r"(pto(?:-\w+)?(?: (?!2>)(?:'[^']*'|[^\s'\"$*|<>&;]+))*)( *[|>2].*)?")
"""A command of the package with plain arguments, and where its output goes."""


def with_present_output(text: str, folder: Path) -> str:
    """The page with what its commands print now. Those of the package run in this process."""
    for name, content in _FILE.findall(text):
        (folder / name).write_text(content, encoding="utf-8")

    def printed(found: re.Match[str]) -> str:
        lines = [line for line in found[1].splitlines() if line.startswith("$ ")]
        return "```console\n" + "".join(f"{line}\n{shown(line[2:])}" for line in lines) + "```"

    with inside(folder):
        return COMMANDS.sub(printed, text)


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Commands run in a folder, with a cache of their own."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with mock.patch.dict(os.environ, {"PATH": path, "PTO_CACHE_DIR": str(folder)}), chdir(folder):
        yield


def shown(line: str) -> str:
    """What a line of a shell prints: standard output, then standard error."""
    if loop := _LOOP.fullmatch(line):
        name, words, body = loop.groups()
        return "".join(shown(body.replace(f"${name}", word)) for word in words.split())
    found = _CALL.fullmatch(line)
    if found is not None:
        result = call(shlex.split(found[1]))
        if not found[2]:
            return result.stdout + result.stderr
        # The shell passes on what the command has written, in the order of writing where both go to one stream.
        both = found[2].lstrip().startswith("2>&1")
        streams = {"written": result.output if both else result.stdout, "said": "" if both else result.stderr}
        for name, written in streams.items():
            Path(f".{name}").write_text(written, encoding="utf-8")
        line = "{ cat .said >&2; cat .written; }" + found[2]
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def main(names: list[str]) -> None:
    for name in names:
        with tempfile.TemporaryDirectory() as directory:
            found = with_present_output((DOCS / name).read_text(encoding="utf-8"), Path(directory))
            (DOCS / name).write_text(found, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
