"""Runs C++ kernels of source trees under the sanitizers and compares them with the trees' own references.

    python benchmarks/cpp_references.py TREE... [--case TEXT...] [--words TEXT] [--set NAME=VALUE]
        [--param NAME=VALUE] [--seconds N] [--json FILE]

Needs ``torch`` and ``g++``. A tree is one of the run time (``simpler``), whose tests name kernels, inputs and expected
values, or a collection of kernels whose scripts launch them with ``torch`` and compare the results. Each test or script
runs in a child process. Tests of a file run until the time is over; scripts whose sizes take too long get other
arguments or constants, tests of the run time other parameters of their first case.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def run_scene(tree: Path, path: Path, seconds: float, folder: Path, params: dict[str, int]) -> list[dict[str, Any]]:
    """The results of the scenes of one test; ``params`` are sizes instead of those of its case."""
    from cpp_launch import NoRun
    from cpp_scenes import Scene, cases_of, scenes_of

    outcomes = []
    target = "a5" if "a5" in path.relative_to(tree).parts else "a2a3"
    for owner in scenes_of(tree, path):
        name = f"{path.relative_to(tree)}::{owner.__name__}"
        outcome: dict[str, Any] = {"name": name, "kind": "agrees", "reason": "", "kernels": [], "findings": {}}
        if "incores" not in owner.CALLABLE or "orchestration" not in owner.CALLABLE:
            outcomes.append(outcome | {"kind": "several chips"})
            continue
        scene = Scene(tree, owner, path, target, getattr(owner, "_st_runtime", "tensormap_and_ringbuffer"), seconds)
        outcome["kernels"] = sorted({str(scene.source_of(one).relative_to(tree)) for one in scene.kernels})
        cases = cases_of(owner, target)
        try:
            if not cases:
                raise NoRun("no case", f"no case for {target}")
            if getattr(owner, "SKIP_GOLDEN", False) or cases[0].get("skip_golden"):
                raise NoRun("no reference", "the test compares nothing")
            own = cases[0].get("params", {})
            smaller = {name: value for name, value in params.items() if name in own}
            scene.run(cases[0] | {"params": own | smaller}, folder)
        except NoRun as error:
            outcome |= {"kind": error.kind, "reason": error.reason}
        except AssertionError as error:
            outcome |= {"kind": "differs", "reason": str(error)[:300]}
        except NotImplementedError as error:
            outcome |= {"kind": "no reference", "reason": str(error)[:300]}
        outcome["ran"] = sorted({str(scene.source_of(one).relative_to(tree)) for one in scene.used})
        outcome["tasks"] = scene.tasks
        for kernel, program in scene.used.items():
            file = scene.source_of(kernel).name
            if program.rejection:
                outcome.setdefault("rejections", {})[file] = program.rejection
            for finding in program.findings:
                outcome["findings"].setdefault(finding, file)
        outcomes.append(outcome)
    return outcomes


def child(arguments: list[str]) -> None:
    tree, path, seconds, folder, *words = arguments
    if is_run_time(Path(tree)):
        params = {name: int(value) for name, _, value in (word.partition("=") for word in words)}
        outcomes = run_scene(Path(tree), Path(path), float(seconds), Path(folder), params)
    else:
        from cpp_scripts import run_script

        outcomes = [run_script(Path(tree), Path(path), float(seconds), Path(folder), words)]
    os.write(1, b"\nOUTCOMES " + json.dumps(outcomes).encode() + b"\n")
    os._exit(0)


def is_run_time(tree: Path) -> bool:
    """Whether a tree is one of the run time."""
    return (tree / "simpler_setup").is_dir()


def tests_of(tree: Path) -> list[Path]:
    """The tests of a tree: those that have scenes, or scripts that launch kernels."""
    if not is_run_time(tree):
        files = sorted({*tree.rglob("test_*.py"), *tree.rglob("run_*.py")})
        return [path for path in files if "torch" in path.read_text(errors="replace")]
    found = [path for folder in ("examples", "tests") for path in sorted((tree / folder).rglob("test_*.py"))]
    return [path for path in found if "@scene_test" in path.read_text(errors="replace") and "/ut/" not in str(path)]


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--child"]:
        return child(arguments[1:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--case", nargs="*", default=[""], help="only tests whose path has one of these texts")
    parser.add_argument("--seconds", type=float, default=60, help="time for one test")
    parser.add_argument("--words", default="", help="arguments of scripts")
    parser.add_argument(
        "--set", action="append", default=[], help="NAME=VALUE: a constant of a script, such as its sizes"
    )
    parser.add_argument("--param", action="append", default=[], help="NAME=VALUE: a size of a test of the run time")
    parser.add_argument("--json", type=Path, help="writes all results")
    options = parser.parse_args(arguments)
    outcomes: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for tree in options.trees:
            for path in tests_of(tree.resolve()):
                if not any(case in str(path) for case in options.case):
                    continue
                with tempfile.TemporaryDirectory(dir=folder) as own:
                    work = folder if is_run_time(tree.resolve()) else own
                    words = [*options.words.split(), *(f"--set={one}" for one in options.set)]
                    words = options.param if is_run_time(tree.resolve()) else words
                    command = [sys.executable, __file__, "--child", tree.resolve(), path, options.seconds, work, *words]
                    found = outcomes_of([str(part) for part in command], path, options.seconds)
                for one in found:
                    outcomes.append(one)
                    print(f"{one['kind']:16} {one['name']}  {one['reason']}", flush=True)
                    for finding, file in one["findings"].items():
                        print(f"    {file}: {finding}", flush=True)
                if options.json is not None:
                    options.json.write_text(json.dumps(outcomes, indent=1))
    report(outcomes)


def outcomes_of(command: list[str], path: Path, seconds: float) -> list[dict[str, Any]]:
    """What a child process found."""
    failed = {"name": str(path), "kernels": [], "findings": {}, "ran": []}
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=4 * seconds + 120, check=False)
    except subprocess.TimeoutExpired:
        return [failed | {"kind": "too slow", "reason": f"stopped after {4 * seconds + 120:.0f} s"}]
    line = next((line for line in result.stdout.splitlines() if line.startswith("OUTCOMES ")), None)
    if line is None:
        return [failed | {"kind": "crash", "reason": (result.stderr.strip().splitlines() or [""])[-1][:300]}]
    return json.loads(line.removeprefix("OUTCOMES "))


def report(outcomes: list[dict[str, Any]]) -> None:
    """Prints tests and kernels by kind."""
    print()
    for kind, count in Counter(one["kind"] for one in outcomes).most_common():
        print(f"{count:5} tests: {kind}")
    kernels: dict[str, set[str]] = defaultdict(set)
    for one in outcomes:
        for kernel in one["kernels"]:
            ran = kernel in one["ran"]
            kernels[kernel].add(one["kind"] if ran or one["kind"] != "agrees" else "not used")
    order = ("differs", "agrees")
    total: Counter[str] = Counter()
    for kinds in kernels.values():
        total[next((kind for kind in order if kind in kinds), sorted(kinds)[0])] += 1
    for kind, count in total.most_common():
        print(f"{count:5} kernels: {kind}")


if __name__ == "__main__":
    main(sys.argv[1:])
