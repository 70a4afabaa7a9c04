"""Launches as files, which the commands debug, sanitize and report. See docs/ptodsl.md, "Findings at Python lines"."""

from __future__ import annotations

import json
import linecache
import os
import re
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from pto_dialect.analysis.target import profile_of
from pto_dialect.diagnostics.files import atomic_write
from pto_dialect.runtime.run.arguments import argument_format
from pto_dialect.runtime.run.launch import Kernel

_FILE = re.compile(r'"((?:[^"\\\n]|\\[^\n])*\.py)"(?=:\d+:\d+)')
_folder: list[Path] = []
"""Where launches are written, if they are."""


def save_launches(folder: str) -> None:
    """Has each launch from now on written into a folder of its own below ``folder``."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    _folder[:] = [Path(folder)]


def save_launch(kernel: Kernel, text: str, values: Sequence[Any], blocks: int) -> None:
    """Writes a launch, if that is wanted: program, Python files, arguments, launch file. Raises ``OSError``."""
    if not _folder:
        return
    name = re.sub(r"[^\w.-]", "_", kernel.entry)
    number = next(number for number in count(1) if not (_folder[0] / f"{name}-{number}").exists())
    folder = _folder[0] / f"{name}-{number}"
    folder.mkdir()
    _write_program(folder, text)
    target = profile_of(kernel.function, kernel.profile.name).name
    lines = [
        'program = "kernel.pto"',
        f"entry = {json.dumps(kernel.entry)}",
        f"blocks = {blocks}",
        f'target = "{target}"',
    ]
    lines += ["", "[arguments]"]
    for position, ((argument, type_), value) in enumerate(zip(kernel.arguments, values, strict=True)):
        elements = argument_format(type_)
        shown = value
        if elements is not None:
            file = f"argument{position}.bin"
            np.ascontiguousarray(value).tofile(folder / file)
            shown = f"{file}:{elements.name}"
        lines.append(f"{json.dumps(argument.lstrip('%'))} = {json.dumps(shown)}")
    atomic_write(str(folder / "run.launch.toml"), "\n".join(lines) + "\n")


def _write_program(folder: Path, text: str) -> None:
    """Writes the program with the Python files beside it, as its locations name them there."""
    names: dict[str, str] = {}

    def beside(match: re.Match[str]) -> str:
        given = match[1]
        if given not in names:
            names[given] = _copy(folder, given, names.values())
        return f'"{names[given]}"'

    atomic_write(str(folder / "kernel.pto"), _FILE.sub(beside, text))


def _copy(folder: Path, given: str, taken: Any) -> str:
    base = os.path.basename(given)
    name = base if base not in taken else f"{len(taken)}_{base}"
    content = "".join(linecache.getlines(given))
    if content:
        atomic_write(str(folder / name), content)
    return name
