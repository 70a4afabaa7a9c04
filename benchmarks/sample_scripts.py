"""Scripts that build `.pto` with MLIR's bindings, run against the golden generators beside them.

    python benchmarks/sample_scripts.py TREE [--list FILE] [--sanitize auto|strict] [-j N]

For each script of `test/samples` in a checkout of PTOAS with a `_golden.py` beside it, the program is built on this
package, and run on the inputs that the generator makes; the comparison beside it judges. Sizes of the buffers are those
that a first run accesses. `--list` names a file with one path a line, relative to the tree.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import golden_samples
from golden_rows import FAIL, NO_GOLDEN, PASS, Row, Scratch, Verdict
from goldens import settings_of

import pto_dialect
from pto_dialect.driver.explore.listing import list_functions
from pto_dialect.driver.explore.synthesized import synthesize_arguments
from pto_dialect.driver.run.value_text import Generated
from pto_dialect.runtime.compile.program import find_entry
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.options import SyncMode

SAMPLES = Path(golden_samples.CORPUS)


class Task(NamedTuple):
    """A script of a tree, and how its program is sanitized."""

    tree: Path
    script: Path
    sanitize: SyncMode | None


def scripts_of(tree: Path, listed: Sequence[str] | None) -> list[Path]:
    """Scripts with a generator beside them."""
    found = sorted((tree / SAMPLES).rglob("*.py")) if listed is None else [tree / name for name in listed]
    return [path for path in found if path.is_file() and path.with_name(f"{path.stem}_golden.py").is_file()]


def build(script: Path, program: Path) -> str:
    """Writes the program that a script prints; returns why there is none, empty where there is one."""
    command = [sys.executable, "-m", "pto_dialect.integrations.builders", script.name]
    done = subprocess.run(command, cwd=script.parent, capture_output=True, text=True, timeout=100, env={**os.environ})
    program.write_text(done.stdout)
    if done.returncode or "func.func" not in done.stdout:
        return (done.stderr.strip() or "no program").splitlines()[-1][:200]
    return ""


def launch_of(program: Path) -> str:
    """Arguments and outputs of the entry, as tables of launches have them."""
    module = pto_dialect.parse(program.read_text())
    entry = find_entry(module, None)
    kernel = Kernel(module, entry, None, RunOptions())
    listed = next(one for one in list_functions(module, None) if one.name == entry)
    sizes = {
        name: given.content.shape[0] if isinstance(given.content, Generated) else None
        for name, given in synthesize_arguments(kernel, {}, 0, 1)
    }
    parts: list[str] = []
    for number, one in enumerate(listed.arguments, 1):
        name = one.name.lstrip("%")
        size = sizes.get(one.name, sizes.get(name))
        parts.append(f"v{number}=%{name}:{one.type}:{'scalar' if size is None else size}")
    outputs = [f"%{one.name.lstrip('%')}" for one in listed.arguments if one.direction in ("out", "inout")]
    return f"{'; '.join(parts)} outs: {' '.join(outputs)}"


def run(task: Task) -> Verdict:
    """Builds and runs one script."""
    relative = task.script.relative_to(task.tree)
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        program = (tree / relative).with_suffix(".pto")
        program.parent.mkdir(parents=True)
        for file in task.script.parent.glob("*.py"):
            shutil.copy(file, program.parent)
        shutil.copy(task.tree / SAMPLES / "validation_runtime.py", tree / SAMPLES)
        row = Row("", golden_samples.CORPUS, relative.as_posix(), str(program.relative_to(tree)), "script", "", "")
        try:
            problem = build(task.script, program)
            if problem:
                return Verdict(row, FAIL, f"not built: {problem}")
            row = row._replace(launch=launch_of(program))
            place = Path(folder) / "runs"
            place.mkdir()
            return golden_samples.run([row], Scratch(tree, place, settings_of(task.sanitize)))[0]
        except subprocess.TimeoutExpired:
            return Verdict(row, FAIL, "takes too long")
        except Exception as error:
            return Verdict(row, FAIL, f"{type(error).__name__}: {str(error).splitlines()[0][:200]}")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--list", type=Path)
    parser.add_argument("--sanitize", choices=("auto", "strict"))
    parser.add_argument("-j", "--jobs", type=int, default=1)
    options = parser.parse_args()
    tree = options.tree.resolve()
    listed = options.list.read_text().split() if options.list else None
    tasks = [Task(tree, script, options.sanitize) for script in scripts_of(tree, listed)]
    counts: Counter[str] = Counter()
    with multiprocessing.Pool(options.jobs) as pool:
        for found in pool.imap_unordered(run, tasks):
            counts[found.verdict] += 1
            if found.verdict != PASS:
                print(f"  {found.verdict:9} {found.row.case}: {found.reason}", flush=True)
    judged = sum(counts.values()) - counts[NO_GOLDEN]
    print(f"{counts[PASS]} of {judged} scripts agree; {counts[NO_GOLDEN]} have no results; {dict(counts)}")


if __name__ == "__main__":
    main()
