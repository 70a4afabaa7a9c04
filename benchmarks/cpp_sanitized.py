"""Runs C++ kernels of a list with generated arguments under the sanitizers, and prints what they find.

    python benchmarks/cpp_sanitized.py LIST.csv TREES [--repository TEXT] [--path REGEX] [--every N] [--seconds N]
        [--json FILE]

The list has the columns ``repo`` and ``path``; ``TREES`` is a folder with a tree for each repository, named after it.
Of a file with several kernels or template arguments the first one runs. Each run is ``pto run --auto --sanitize`` in a
process of its own. Some findings come from the generated arguments, such as an index outside of a table: each one is to
be read.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cpp_translations import folders_of, kernels_of, target_of

_ENTRY = re.compile(r"--entry ('[^']*'|\S+?)(?:,|$)", re.MULTILINE)
_FINDING = re.compile(r"^(?P<place>\S+:\d+:\d+): (?P<kind>error|warning): (?P<message>.*) \[(?P<rule>[\w-]+)\]$", re.M)
RAN, FOUND, REFUSED = 0, 3, 1
"""Exit codes of a run."""


def run(command: Sequence[str], seconds: float) -> tuple[int, str]:
    """The exit code of a command and what it wrote; -1 where the time was not enough."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return -1, ""
    return done.returncode, done.stderr


def sanitized(kernel: dict[str, Any], seconds: float) -> dict[str, Any]:
    """A row with its ``entry``, what became of its run, and the findings of it."""
    tree = Path(kernel["tree"])
    path = tree / kernel["path"]
    target = target_of(tree, path)
    command = [sys.executable, "-m", "pto_dialect", "run", str(path), "--auto", "--sanitize", "--target", target]
    for folder in folders_of(tree, path, target):
        command += ["-I", folder]
    code, text = run(command, seconds)
    entry = ""
    if "several kernels" in text or "is a template" in text:
        named = _ENTRY.search(text)
        if named is not None:
            entry = named[1].strip("'")
            code, text = run([*command, "--entry", entry], seconds)
    found = [match.groupdict() for match in _FINDING.finditer(text)]
    outcome = {RAN: "silent", FOUND: "found", REFUSED: "not run", -1: "too slow"}.get(code, "not run")
    if outcome == "silent" and found:
        outcome = "warned"
    reason = text.strip().splitlines()[-1:] if outcome == "not run" and not found else []
    return kernel | {"entry": entry, "outcome": outcome, "findings": found, "reason": " ".join(reason)}


def main(arguments: Sequence[str]) -> None:
    """Prints the findings and counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", type=Path)
    parser.add_argument("trees", type=Path)
    parser.add_argument("--repository", default="", help="only repositories whose name has this text")
    parser.add_argument("--path", default="", metavar="REGEX", help="only kernels whose path matches")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each N-th kernel")
    parser.add_argument("--seconds", type=float, default=120, help="time for one run")
    parser.add_argument("--json", type=Path, help="writes all results")
    options = parser.parse_args(arguments)
    listed = kernels_of(options.list, options.trees, options.repository)
    kernels = [one for one in listed if re.search(options.path, one["path"])][:: options.every]
    rows: list[dict[str, Any]] = []
    for kernel in kernels:
        row = sanitized(kernel, options.seconds)
        rows.append(row)
        print(f"{row['outcome']:8} {row['path']} {row['entry']} {row['reason']}", flush=True)
        for one in row["findings"]:
            print(f"    {one['place']}: {one['kind']}: {one['message']} [{one['rule']}]", flush=True)
    if options.json is not None:
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    print(", ".join(f"{count} {outcome}" for outcome, count in Counter(row["outcome"] for row in rows).items()))


if __name__ == "__main__":
    main(sys.argv[1:])
