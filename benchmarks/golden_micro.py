"""Rows of the micro-operation corpus: one folder each, files named in the table."""

from __future__ import annotations

import math
import re
import shutil
from pathlib import Path

import numpy as np
from golden_rows import FAIL, NO_GOLDEN, PASS, Row, Scratch, Verdict, last_words, launch_text, run_launch, run_python

CORPUS = "test/vpto/cases"
PAGE = 1 << 16
_LAUNCH = re.compile(r"(\w+)<<<(.*?)>>>\((.*)\)$", re.DOTALL)
_SEPARATOR = re.compile(r"\s*(?:\|\||; then)\s*")
_RATIO = re.compile(r"ceil\((\w+)/(\d+)\)")


def run(rows: list[Row], scratch: Scratch) -> list[Verdict]:
    """Runs each row in a copy of its folder."""
    return [_run_row(row, scratch) for row in rows]


def _run_row(row: Row, scratch: Scratch) -> Verdict:
    folder = scratch.folder / row.case.replace("/", "-")
    shutil.copytree((scratch.tree / row.program).parent, folder)
    helpers = str((scratch.tree / row.program).parents[1])
    done = run_python("golden.py", folder, PYTHONPATH=helpers)
    if done.returncode:
        return Verdict(row, NO_GOLDEN, last_words(done))
    for number, launch in enumerate(_SEPARATOR.split(row.launch)):
        match = _LAUNCH.match(launch.strip())
        if match is None:
            return Verdict(row, NO_GOLDEN, f"launch is not understood: {launch}")
        entry, blocks, arguments = match.groups()
        path = folder / f"{number}.launch.toml"
        values = dict(_argument(text.strip(), folder) for text in arguments.split("; "))
        path.write_text(launch_text(folder / Path(row.program).name, entry, _blocks(blocks, folder), values))
        missing = [file for file in _files(values) if not (folder / file).exists()]
        if missing:
            return Verdict(row, NO_GOLDEN, f"the table does not name the file of {missing[0]}")
        sizes = _padded(folder, _files(values))
        verdict, reason = run_launch(path, scratch)
        for file, size in sizes.items():
            file.write_bytes(file.read_bytes()[:size])
        if verdict != PASS:
            return Verdict(row, verdict, reason)
    done = run_python("compare.py", folder, PYTHONPATH=helpers)
    return Verdict(row, FAIL, last_words(done)) if done.returncode else Verdict(row, PASS)


def _files(values: dict[str, str]) -> list[str]:
    return [file for value in values.values() if (file := value.strip('"').partition(":")[0]).endswith(".bin")]


def _padded(folder: Path, names: list[str]) -> dict[Path, int]:
    """Fills files to whole pages, in which device memory is given out; their sizes before."""
    sizes: dict[Path, int] = {}
    for name in names:
        file = folder / name
        data = file.read_bytes()
        sizes[file] = len(data)
        file.write_bytes(data.ljust(-(-len(data) // PAGE) * PAGE, b"\0"))
    return sizes


def _blocks(text: str, folder: Path) -> int:
    ratio = _RATIO.match(text)
    if ratio is not None:
        return math.ceil(int(np.fromfile(folder / f"{ratio[1]}.bin", np.int32)[0]) / int(ratio[2]))
    return int(text)


def _argument(text: str, folder: Path) -> tuple[str, str]:
    """Name and TOML value of ``%arg0=v1.bin:f32:24:in``, ``%arg1:i32=@v2.bin`` or ``%arg2:i64=1``."""
    name, value = text.split("=", 1)
    name, _, kind = name.lstrip("%").partition(":")
    if value.startswith("@"):
        width = {"i64": np.int64, "i16": np.int16}.get(kind, np.int32)
        return name, str(int(np.fromfile(folder / value[1:].partition(":")[0], width)[0]))
    if re.fullmatch(r"-?[\d.]+", value):
        return name, value
    file, element, _, role = value.rsplit(":", 3)
    if file == "None":
        # The table does not know the file; arguments and files have the same numbers.
        file = f"v{int(name.removeprefix('arg')) + 1}.bin"
    # Packed pairs of 16-bit numbers lie in memory as words.
    element = "ui32" if element == "vector" else element
    return name, f'"{file}:{element.removeprefix("!pto.")}{"" if role == "in" else ":inout"}"'
