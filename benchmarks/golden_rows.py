"""Rows of a launch table: which program is run on which files, and one run of it as a launch file."""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp

from pto_dialect.driver.launch.document import LaunchError
from pto_dialect.driver.launch.plan import read_plan
from pto_dialect.driver.launch.session import Settings, run_plan
from pto_dialect.driver.run.status import FINDINGS, Streams
from pto_dialect.targets.backend import Backend, backend_named

PASS, FAIL, REFUSED, FOUND, NO_GOLDEN = "pass", "FAIL", "REFUSED", "FOUND", "no-golden"
"""``FOUND``: the sanitizers report an error."""


class Row(NamedTuple):
    """One line of the table."""

    repository: str
    corpus: str
    case: str
    program: str
    level: str
    launch: str
    expected: str


class Verdict(NamedTuple):
    """What became of one row."""

    row: Row
    verdict: str
    reason: str = ""


@dataclass
class Scratch:
    """A folder for one group of rows, how they run, the programs parsed in it, where launches are kept, if any, and the
    passes that programs go through before they run."""

    tree: Path
    folder: Path
    settings: Settings
    programs: dict[str, ModuleOp] = field(default_factory=dict)
    keep: Path | None = None
    passes: tuple[str, ...] = ()
    run: Callable[[Path, Scratch], tuple[str, str]] | None = None
    """Runs a launch file instead of :func:`run_once`."""


RELEASE = "0.50"
"""The results were made with releases up to 0.60, which have the defaults of this one; it has both dialects."""
_BACKEND = re.compile(r"--pto-backend=(\w+)")


def stated_backend(program: Path) -> Backend | None:
    """The library that a program says it is compiled for, in the comments that it begins with."""
    for line in program.read_text().splitlines():
        if line.strip() and not line.startswith("//"):
            break
        named = _BACKEND.search(line)
        if named is not None:
            return backend_named(named[1])
    return None


def read_rows(table: Path) -> list[Row]:
    """All rows of the table."""
    with open(table, newline="") as file:
        return [Row(*(record[name] or "" for name in Row._fields)) for record in csv.DictReader(file)]


def run_python(script: str, folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a generator or a comparison of the tree in ``folder``."""
    env = {**os.environ, "PYTHONHASHSEED": "0", **environment}
    command = [sys.executable, script, *arguments]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=600)


def launch_text(
    program: Path, entry: str, blocks: int, arguments: dict[str, str], backend: Backend | None = None
) -> str:
    """A launch file of one launch; ``arguments`` are TOML values.

    ``backend`` is the library that the corpus is compiled for; what the program says itself comes first.
    """
    lines = [f'program = "{program}"', f'entry = "{entry}"', f"blocks = {blocks}"]
    backend = stated_backend(program) or backend
    if backend is not None:
        lines.append(f'backend = "{backend}"')
    lines.append(f'reference-release = "{RELEASE}"')
    lines += ["", "[arguments]", *(f'"{name}" = {value}' for name, value in arguments.items())]
    return "\n".join(lines) + "\n"


def keep(path: Path, scratch: Path, into: Path) -> None:
    """Copies what a launch reads, as it is before the run, to a folder of its own."""
    name = "-".join(path.parent.relative_to(scratch).parts)
    folder = into / f"{name}-{sum(1 for _ in into.glob(f'{name}-*'))}"
    shutil.copytree(path.parent, folder)
    text = path.read_text().replace(str(path.parent), str(folder))
    (folder / path.name).write_text(text)


def run_launch(path: Path, scratch: Scratch) -> tuple[str, str]:
    """Runs a launch file: ``pass``, or why not."""
    if scratch.keep is not None:
        keep(path, scratch.folder, scratch.keep)
    return (scratch.run or run_once)(path, scratch)


def run_once(path: Path, scratch: Scratch) -> tuple[str, str]:
    """Runs a launch file as it is."""
    said: list[str] = []
    streams = Streams(lambda text: None, said.append)
    try:
        code = run_plan(read_plan(str(path), allow_outside=True), scratch.settings, streams, scratch.programs)
    except LaunchError as error:
        return FAIL, str(error)
    if code == 0:
        return PASS, ""
    if code == FINDINGS:
        return FOUND, next((line for line in "".join(said).splitlines() if "error: " in line), "")
    errors = [line for line in "".join(said).splitlines() if "error: " in line]
    reason = errors[0].partition("error: ")[2] if errors else "".join(said).strip()[-200:]
    return (REFUSED if "cannot be executed" in reason or "[unmodelled]" in reason else FAIL), reason


def last_words(done: subprocess.CompletedProcess[str]) -> str:
    """The last output of a script."""
    lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    return " | ".join(lines[-2:])[-240:]
