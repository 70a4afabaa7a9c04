"""Runs Python programs that build `.pto` on this package, and compares the programs that they print.

    python benchmarks/builders_corpus.py CSV TREE.. [--producer NAME] [--list]

CSV has the columns ``repo``, ``path``, ``producer``, ``expects`` (``ok``, or ``refusal`` of the verifier), ``stale``
(``yes`` for programs that their own release refuses), ``has_expected_text`` and ``text_sha256``: of the text that
MLIR's bindings print, read and printed by this package. A TREE is ``REPO=FOLDER``, or ``REPO=FOLDER@RELEASE`` where the
programs are for a release of the reference. Each program runs in a child process, with at most ``--seconds``.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import os
import re
import runpy
import signal
import sys
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

from pto_dialect import api
from pto_dialect.diagnostics.refused import RefusedProgram
from pto_dialect.integrations.builders import RELEASE, install
from pto_dialect.targets.release import ATTRIBUTE


class Outcome(NamedTuple):
    """What became of a program: what it printed, and the exception that ended it, if one did."""

    output: str
    error: str


def run_program(path: Path, seconds: int, release: str) -> Outcome:
    """Runs a program in a child process; an empty ``release`` is the newest."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        if release:
            os.environ[RELEASE] = release
        signal.alarm(seconds)
        outcome = _run_here(path)
        with os.fdopen(writer, "wb") as stream:
            stream.write(b"\0".join(text.encode("utf-8", "replace") for text in outcome))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        parts = stream.read().decode().split("\0")
    os.waitpid(child, 0)
    return Outcome(*parts) if len(parts) == 2 else Outcome("", f"no end after {seconds} s, or a crash")


def _run_here(path: Path) -> Outcome:
    sys.argv = [str(path)]
    sys.path.insert(0, str(path.parent))
    os.chdir(path.parent)
    output, error = io.StringIO(), ""
    with redirect_stdout(output), redirect_stderr(io.StringIO()):
        try:
            runpy.run_path(str(path), run_name="__main__")
        except SystemExit as end:
            error = f"SystemExit: {end.code}" if end.code else ""
        except BaseException as problem:
            error = f"{type(problem).__name__}: {problem}"
    return Outcome(output.getvalue(), error)


def normalize(text: str) -> str:
    """Returns a program as this package prints it, without a release; empty for a text that is no program."""
    try:
        module = api.parse(text)
        module.attributes.pop(ATTRIBUTE, None)
        return api.print_module(module)
    except RefusedProgram:
        return ""


_REFUSAL = re.compile(r"EXPECTED_\w*FAILURE|error:|MLIRError|FAILED|refus", re.IGNORECASE)


def judge(row: dict[str, str], outcome: Outcome, tree: Path) -> str:
    """Returns why the outcome is not what the row states; empty where it is."""
    if row["expects"] == "refusal":
        refused = outcome.error.startswith("MLIRError") or _REFUSAL.search(outcome.output)
        return "" if refused else "a program that must be refused is accepted"
    if outcome.error:
        return outcome.error.splitlines()[0]
    found = normalize(outcome.output)
    if row["has_expected_text"] == "core" and row["text_sha256"]:
        same = hashlib.sha256(found.encode()).hexdigest() == row["text_sha256"]
        return "" if same else "another text"
    if row["has_expected_text"] == "neighbour":
        neighbour = (tree / row["path"]).with_suffix(".pto")
        if neighbour.exists() and normalize(neighbour.read_text()) != found:
            return "another text than its neighbour"
    return ""


_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|\d+")


def main() -> None:
    """Prints how many programs of each producer do what is stated, and why others do not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path, metavar="CSV")
    parser.add_argument("trees", nargs="+", metavar="REPO=FOLDER[@RELEASE]")
    parser.add_argument("--producer", action="append", help="only these producers; by default bindings-builder")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--list", action="store_true", help="list the programs that fail")
    options = parser.parse_args()
    stated = {repo: folder.partition("@") for repo, _, folder in (one.partition("=") for one in options.trees)}
    trees = {repo: Path(folder).resolve() for repo, (folder, _, _) in stated.items()}
    releases = {repo: release for repo, (_, _, release) in stated.items()}
    producers = options.producer or ["bindings-builder"]
    install(force=True, quiet=True)
    api.parse("func.func @f() { return }")
    total, passed, reasons = Counter[str](), Counter[str](), Counter[str]()
    failed: list[tuple[str, str]] = []
    with options.rows.open(newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["producer"] in producers and row["repo"] in trees]
    for row in rows:
        path = trees[row["repo"]] / row["path"]
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != row["sha256"]:
            continue
        key = f"{row['producer']} {row['repo']}"
        total[key] += 1
        reason = judge(row, run_program(path, options.seconds, releases[row["repo"]]), trees[row["repo"]])
        if not reason:
            passed[key] += 1
        else:
            note = " (stale)" if row["stale"] else ""
            failed.append((f"{row['repo']} {row['path']}{note}", reason))
            reasons[_QUOTED.sub("..", reason)[:110] + note] += 1
    for key in sorted(total):
        print(f"{key:50} {passed[key]:4} of {total[key]:4}  {100 * passed[key] / total[key]:5.1f} %")
    for reason, number in reasons.most_common():
        print(f"{number:4}  {reason}")
    if options.list:
        for path, reason in failed:
            print(f"{path}\n    {reason[:300]}")


if __name__ == "__main__":
    main()
