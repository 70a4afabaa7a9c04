"""Rows of the validation folders beside samples: a generator, a comparison, and a host program for several kernels.

The whole computation is one kernel here, the first of the programs that a row names.
"""

from __future__ import annotations

import re
import shutil

from golden_rows import FAIL, NO_GOLDEN, PASS, Row, Scratch, Verdict, last_words, launch_text, run_launch, run_python

CORPUS = "test/samples/*/npu_validation"
_ENTRY = re.compile(r"func\.func\s+@(\w+)\((.*?)\)\s*(?:attributes[^{]*)?\{", re.DOTALL)
_PARAMETER = re.compile(r"%(\w+):\s*(?:!pto\.ptr<(\w+)[^>]*>|\w+)")


def run(rows: list[Row], scratch: Scratch) -> list[Verdict]:
    """Runs each row in a copy of its folder."""
    return [_run_row(row, scratch) for row in rows]


def _run_row(row: Row, scratch: Scratch) -> Verdict:
    program = scratch.tree / row.program.partition(" / ")[0]
    folder = scratch.folder / row.case
    shutil.copytree(program.parent / "npu_validation", folder)
    done = run_python("golden.py", folder)
    entry = _ENTRY.search(program.read_text())
    if done.returncode or entry is None:
        return Verdict(row, NO_GOLDEN, last_words(done))
    host = (folder / "main.cpp").read_text()
    values: dict[str, str] = {}
    for number, (name, element) in enumerate(_PARAMETER.findall(entry[2]), 1):
        if not element:
            scalar = re.search(rf"\bv{number}\s*=\s*(-?\d+)", host)
            if scalar is None:
                return Verdict(row, NO_GOLDEN, f"no file states the number {name}")
            values[name] = scalar[1]
            continue
        golden, file = folder / f"golden_v{number}.bin", folder / f"v{number}.bin"
        if golden.exists() and not file.exists():
            file.write_bytes(bytes(golden.stat().st_size))
        values[name] = f'"{file.name}:{element}:inout"'
    path = folder / "run.launch.toml"
    path.write_text(launch_text(program, entry[1], 1, values))
    verdict, reason = run_launch(path, scratch)
    if verdict != PASS:
        return Verdict(row, verdict, reason)
    done = run_python("compare.py", folder)
    if "(ignored)" in done.stdout:
        return Verdict(row, NO_GOLDEN, "its comparison ignores its own failure")
    return Verdict(row, FAIL, last_words(done)) if done.returncode else Verdict(row, PASS)


__all__ = ["CORPUS", "run"]
