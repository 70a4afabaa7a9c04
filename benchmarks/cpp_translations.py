"""Translates the C++ kernels of a list, and says for each what became of it.

    python benchmarks/cpp_translations.py LIST.csv TREES [--repository TEXT] [--json FILE] [--jobs N]

The list has the columns ``repo``, ``path`` and ``kind``; ``TREES`` is a folder with a tree for each repository, named
after it. A kernel counts as translated if it compiles against the headers of the package, all kernels of its file have
a translation, and the program breaks no rule. Where a message names a folder that has a missing header, the kernel is
compiled again with it; where it names scripts beside the kernel that may write the header, they are run in a copy of
the kernel's folder, without arguments. Kernels of Kirin chips, whose headers extend those of a5, are compiled for a5.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from cpp_corpus import include_folders
from cpp_scenes import include_folders as run_time_folders

from pto_dialect.api import check
from pto_dialect.cpp.kernel import Compiled, CppError, compile_kernel
from pto_dialect.cpp.options import CppOptions
from pto_dialect.deadline import TimedOut, deadline
from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.diagnostics.origins import location_of, shown

SECONDS = 180.0
"""For one kernel."""
FOLDERS = 4
"""That messages name, at most."""
SCRIPT_SECONDS = 60.0
"""For a script that writes a header."""
_NAMED = re.compile(r"-I ('[^']*'|\S+) ")
_SCRIPTS = re.compile(r"no folder has it; (.*) may write it")
_MISSING = re.compile(r"'([^']*)' file not found")
Kernel = dict[str, Any]


def kernels_of(listed: Path, trees: Path, repository: str) -> Iterator[Kernel]:
    """The rows of a list whose files are there."""
    with listed.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            tree = trees / row["repo"].rpartition("/")[2]
            if repository in row["repo"] and (tree / row["path"]).is_file():
                yield row | {"tree": str(tree.resolve())}


def folders_of(tree: Path, path: Path, target: str) -> list[str]:
    """Where the build of a tree looks for headers."""
    if not (tree / "simpler_setup").is_dir():
        return include_folders(tree, path)
    runtime = "host_build_graph" if "host_build_graph" in path.parts else "tensormap_and_ringbuffer"
    return run_time_folders(tree, target, runtime)


def target_of(tree: Path, path: Path) -> str:
    """The chip that a kernel is for, as its path or its text says."""
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    names = [part for one in path.relative_to(tree).with_suffix("").parts for part in one.split("_")]
    is_a5 = "PTO_URMA_SUPPORTED" in text or any(name == "a5" or name.startswith("kirin") for name in names)
    return "a5" if is_a5 else "a2a3"


def translate(kernel: Kernel) -> Kernel:
    """A row with its ``outcome``: ``translated``, or what refuses it, with the ``reason``."""
    tree = Path(kernel["tree"])
    path = tree / kernel["path"]
    target = target_of(tree, path)
    options = CppOptions(
        None, target, ("MEMORY_BASE",) if target == "a2a3" else (), tuple(folders_of(tree, path, target))
    )
    outcome, reason = "translated", ""
    try:
        with deadline(SECONDS):
            compiled = _compiled(path, options)
            if compiled.errors:
                outcome, reason = "not translated", _located(compiled.errors[0])
            else:
                found = [one for one in check(compiled.text).diagnostics if one.severity is Severity.ERROR]
                outcome, reason = ("refused by a rule", _located(found[0])) if found else (outcome, "")
    except TimedOut:
        outcome, reason = "too slow", f"more than {SECONDS:.0f} s"
    except CppError as error:
        first = error.diagnostics[0]
        outcome, reason = ("not compiled" if "compile" in first.rule else "not translated"), _located(first)
    return kernel | {"target": target, "outcome": outcome, "reason": reason}


def _compiled(path: Path, options: CppOptions) -> Compiled:
    """A kernel, with the folders of headers that messages name. Raises ``CppError``."""
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    with tempfile.TemporaryDirectory() as scratch:
        for _ in range(FOLDERS):
            try:
                return compile_kernel(text, str(path), options, every=True)
            except CppError as error:
                folder = _advised(error.diagnostics[0], path, Path(scratch))
                if folder is None:
                    raise
                options = dataclasses.replace(options, includes=(*options.includes, folder))
        return compile_kernel(text, str(path), options, every=True)


def _advised(found: Diagnostic, kernel: Path, scratch: Path) -> str | None:
    """The folder of a header that is missing: the one that a message names, or where a script writes it."""
    folder = _NAMED.match(found.help or "")
    if folder is not None:
        return os.path.abspath(shlex.split(folder[1])[0])
    scripts, header = _SCRIPTS.search(found.help or ""), _MISSING.search(found.message)
    if scripts is None or header is None:
        return None
    copy = scratch / kernel.parent.name
    shutil.copytree(kernel.parent, copy, dirs_exist_ok=True)
    for script in shlex.split(scripts[1].replace(" and ", " ")):
        inner = os.path.relpath(script, kernel.parent)
        if inner.endswith(".py"):
            command = [sys.executable, str(copy / inner)]
            subprocess.run(command, cwd=copy, timeout=SCRIPT_SECONDS, capture_output=True, check=False)
    return next((str(one.parent) for one in copy.rglob(header[1])), None)


def _located(found: Diagnostic) -> str:
    frames = location_of(found.span).frames if found.span is not None else ()
    where = f"{Path(frames[0].file).name}:{frames[0].line}: " if frames else ""
    return f"{where}{shown(found).message} [{found.rule}]"[:300]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", type=Path)
    parser.add_argument("trees", type=Path)
    parser.add_argument("--repository", default="", help="only repositories whose name has this text")
    parser.add_argument("--json", type=Path, help="writes all results")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args(arguments)
    kernels = list(kernels_of(options.list, options.trees, options.repository))
    found: list[Kernel] = []
    with ProcessPoolExecutor(options.jobs) as pool:
        for one in pool.map(translate, kernels):
            found.append(one)
            if one["outcome"] != "translated":
                print(f"{one['outcome']:18} {one['repo']} {one['path']}: {one['reason']}", flush=True)
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1))
    report(found)


def report(found: list[Kernel]) -> None:
    """Counts by repository and by kind."""
    for column in ("repo", "kind"):
        total = Counter(one[column] for one in found)
        good = Counter(one[column] for one in found if one["outcome"] == "translated")
        for name, count in sorted(total.items()):
            print(f"{name:28} {count:4} kernels, {good[name]:4} translated ({good[name] / count:.1%})")


if __name__ == "__main__":
    main(sys.argv[1:])
