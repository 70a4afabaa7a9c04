"""Rows of the micro-operation corpus: one folder each, files named in the table."""

from __future__ import annotations

import math
import re
import shutil
from pathlib import Path

import numpy as np
from golden_rows import FAIL, NO_GOLDEN, PASS, Row, Scratch, Verdict, last_words, launch_text, run_launch, run_python

CORPUS = "test/vpto/cases"
_LAUNCH = re.compile(r"(\w+)<<<(.*?)>>>\((.*)\)$", re.DOTALL)
_RATIO = re.compile(r"ceil\((\w+)/(\d+)\)")


def run(rows: list[Row], scratch: Scratch) -> list[Verdict]:
    """Runs each row in a copy of its folder."""
    return [_run_row(row, scratch) for row in rows]


def _run_row(row: Row, scratch: Scratch) -> Verdict:
    folder = scratch.folder / row.case.replace("/", "-")
    shutil.copytree((scratch.tree / row.program).parent, folder)
    done = run_python("golden.py", folder)
    if done.returncode:
        return Verdict(row, NO_GOLDEN, last_words(done))
    for number, launch in enumerate(row.launch.split("; then ")):
        match = _LAUNCH.match(launch.strip())
        if match is None:
            return Verdict(row, NO_GOLDEN, f"launch is not understood: {launch}")
        entry, blocks, arguments = match.groups()
        path = folder / f"{number}.launch.toml"
        values = dict(_argument(text.strip(), folder) for text in arguments.split("; "))
        path.write_text(launch_text(folder / Path(row.program).name, entry, _blocks(blocks, folder), values))
        verdict, reason = run_launch(path, scratch)
        if verdict != PASS:
            return Verdict(row, verdict, reason)
    done = run_python("compare.py", folder)
    return Verdict(row, FAIL, last_words(done)) if done.returncode else Verdict(row, PASS)


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
    return name, f'"{file}:{element.removeprefix("!pto.")}{"" if role == "in" else ":inout"}"'
