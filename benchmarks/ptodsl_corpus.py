"""Python programs on both packages `ptodsl`: how many kernels compile, and how many programs run and agree.

    python benchmarks/ptodsl_corpus.py TREE... [--kinds kernels,programs,tests] [--list FILE] [--sanitize] [--jobs 2]
        [--log FILE.jsonl]

A TREE is a checkout of PTOAS, with PTODSL in `ptodsl/`, or of huawei-csl/pto-dsl. `kernels` imports each file that
decorates functions with `jit` and compiles them with their default constants; `programs` runs each file as its user
would, so that its own comparison decides; `tests` runs files of tests with pytest. Each file has a process of its own,
which ends after `--limit` seconds of a processor, whatever else the machine does. `--list` names a file with one path a
line, relative to the trees.

PyTorch has to be installed for most programs. Agreement is counted where a program has launched a kernel and has ended
without an error. With `--sanitize` the findings of each program are listed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

KINDS = ("kernels", "programs", "tests")
ROOT = Path(__file__).resolve().parents[1]
_USES = re.compile(r"^\s*(?:from\s+ptodsl\b|import\s+ptodsl\b|from\s+mlir|from\s+ptoas\.mlir)", re.MULTILINE)
_DECORATED = re.compile(r"@(?:\w+\.)?jit\b|to_ir_module")
_MAIN = re.compile(r"""^if __name__ == ["']__main__["']|auto_main\(""", re.MULTILINE)
_NUMBERS = re.compile(r"(\d+) (passed|failed|error|skipped|deselected|xfailed)")
_WAITED = 20
"""How much longer than its seconds of a processor a process may take by the clock."""
MARK = "\x01ptodsl-corpus "
"""Begins the line in which a process reports."""


class Task(NamedTuple):
    """One file, and what is done with it."""

    tree: Path
    path: Path
    kind: str

    @property
    def name(self) -> str:
        """The path in its tree."""
        return self.path.relative_to(self.tree).as_posix()


def is_csl(tree: Path) -> bool:
    """Whether a tree is that of huawei-csl's package."""
    return (tree / "ptodsl" / "compiler" / "jit.py").is_file()


def package_folder(tree: Path) -> Path:
    """The folder below which a tree has the package."""
    return tree if is_csl(tree) else tree / "ptodsl"


def tasks_of(tree: Path, kinds: Sequence[str], listed: Sequence[str] | None) -> Iterator[Task]:
    """What there is to do in a tree."""
    package = package_folder(tree) / "ptodsl"
    for path in sorted(tree.rglob("*.py")) if listed is None else [tree / name for name in listed]:
        if not path.is_file() or path.suffix != ".py" or package in path.parents:
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        if not _USES.search(text):
            continue
        if path.name.startswith("test_") and "tests" in path.parts:
            if "tests" in kinds and package_folder(tree) in path.parents:
                yield Task(tree, path, "tests")
            continue
        if "kernels" in kinds and _DECORATED.search(text):
            yield Task(tree, path, "kernels")
        if "programs" in kinds and _MAIN.search(text):
            yield Task(tree, path, "programs")


def environment(task: Task) -> dict[str, str]:
    """The variables of a process."""
    above = [str(folder) for folder in task.path.parents if folder == task.tree or task.tree in folder.parents]
    folders = [str(package_folder(task.tree)), *above, str(task.tree / "lib"), os.environ.get("PYTHONPATH", "")]
    found = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders)), "PYTHONHASHSEED": "0"}
    path = os.pathsep.join((os.path.dirname(sys.executable), os.environ.get("PATH", "")))
    return {**found, "PATH": path, "PTO_BUILDERS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def carry_out(task: Task, sanitize: bool, limit: float) -> dict[str, Any]:
    """The outcome of one task: what its process has reported."""
    command = [sys.executable, __file__, "--child", task.kind, str(task.path), *(["--sanitize"] if sanitize else [])]
    command += [f"--limit={limit:g}"]
    told: dict[str, Any] = {"name": task.name, "kind": task.kind}
    folder = task.path.parent
    try:
        done = subprocess.run(command, cwd=folder, env=environment(task), capture_output=True, text=True,
                              errors="replace", timeout=_WAITED * limit)  # fmt: skip
    except subprocess.TimeoutExpired:
        return {**told, "ok": False, "reason": f"ended after {_WAITED * limit:g} s by the clock"}
    if done.returncode == -signal.SIGXCPU:
        return {**told, "ok": False, "reason": f"ended after {limit:g} s of a processor"}
    lines = [line for line in done.stdout.splitlines() if line.startswith(MARK)]
    if not lines:
        last = (done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}").splitlines()[-1]
        return {**told, "ok": False, "reason": last[:300]}
    return {**told, **json.loads(lines[-1].removeprefix(MARK))}


# What the process of a file does.


def child(kind: str, path: str, sanitize: bool, limit: float) -> None:
    """Does it, and reports."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))
    sys.path[0] = os.path.dirname(path)
    sys.argv = [path]
    from pto_dialect.integrations.builders import install
    from pto_dialect.integrations.builders.__main__ import _pass_on
    from pto_dialect.integrations.events import Event, Launched, observed

    install(quiet=True)
    events: list[Event] = []
    found: dict[str, Any] = {}
    _pass_on("1")
    if kind == "programs" and "CDLL" in Path(path).read_text():
        for script in sorted(Path(path).parent.glob("compile*.sh")):
            subprocess.run(["bash", script.name], cwd=script.parent, capture_output=True, check=False)
    with observed(events.append), _watched(sanitize):
        try:
            found = {"kernels": _compile, "programs": _run, "tests": _test}[kind](path)
        except BaseException as error:
            found = {"ok": False, "reason": _sentence(error)}
    launches = [event for event in events if isinstance(event, Launched)]
    findings = Counter(f"{one.severity.name.lower()} {one.rule}" for event in launches for one in event.findings)
    texts = sorted({_place(one) for event in launches for one in event.findings})
    report = {**found, "launches": len(launches), "findings": dict(findings), "texts": texts[:20]}
    used = sum(resource.getrusage(who).ru_utime for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(f"\n{MARK}{json.dumps({**report, 'seconds': round(used, 1)})}", flush=True)
    os._exit(0)


def _watched(sanitize: bool) -> Any:
    from contextlib import nullcontext

    from pto_dialect.integrations.events import instrumented
    from pto_dialect.sanitize.options import SanitizeOptions

    return instrumented(SanitizeOptions()) if sanitize else nullcontext()


def _place(found: Any) -> str:
    from pto_dialect.diagnostics.origins import shown

    seen = shown(found)
    where = "" if seen.span is None else f"{seen.span.source.name}:{seen.span.line}"
    return f"{where}: {seen.severity.name.lower()}: {seen.message} [{seen.rule}]"


def _sentence(error: BaseException) -> str:
    if isinstance(error, SystemExit) and not isinstance(error.code, str):
        return f"exit code {error.code}"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' | '.join(lines[:3])}"[:400]


def _compile(path: str) -> dict[str, Any]:
    import importlib

    # The name in the innermost folder that is no package: files may import their neighbours by relative names.
    parts = [Path(path).stem]
    folder = Path(path).parent
    while (folder / "__init__.py").is_file() or re.search(r"^from \.", Path(path).read_text(), re.MULTILINE):
        parts.insert(0, folder.name)
        folder = folder.parent
        if (folder / ".git").exists() or len(parts) > 4:
            break
    sys.path.insert(0, str(folder))
    module = importlib.import_module(".".join(parts))
    kernels = {id(one): one for one in vars(module).values() if type(one).__name__ in ("KernelHandle", "JitWrapper")}
    done: dict[str, str] = {}
    for kernel in kernels.values():
        name = getattr(kernel, "__name__", None) or getattr(kernel, "_py_name", "kernel")
        done[f"{name}#{len(done)}"] = _compile_one(kernel)
    built = [one for one in vars(module).values() if type(one).__name__ == "Module"]
    done.update({f"module#{number}": "" for number, _ in enumerate(built)})
    failed = [f"{name}: {reason}" for name, reason in done.items() if reason]
    return {"ok": not failed, "kernels": len(done), "failed": len(failed), "reason": "; ".join(failed)[:400]}


def _compile_one(kernel: Any) -> str:
    spec = getattr(getattr(kernel, "_compiler", None), "_module_spec", None)
    try:
        if type(kernel).__name__ == "JitWrapper":
            kernel._build()
        elif spec is None or getattr(spec, "entry", True):  # older releases have no kernels without an entry
            kernel.compile().mlir_module().operation.verify()
    except Exception as error:
        return _sentence(error)
    return ""


def _run(path: str) -> dict[str, Any]:
    import runpy

    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    return {"ok": True, "reason": ""}


def _test(path: str) -> dict[str, Any]:
    import io
    from contextlib import redirect_stdout

    import pytest

    output = io.StringIO()
    with redirect_stdout(output):
        code = pytest.main(["-q", "--tb=line", "-p", "no:cacheprovider", "-W", "ignore", path])
    if code == pytest.ExitCode.NO_TESTS_COLLECTED:
        # Some files check themselves when they run.
        return _run(path)
    text = output.getvalue()
    numbers = {word: int(number) for number, word in _NUMBERS.findall(text.splitlines()[-1] if text.strip() else "")}
    failed = [line for line in text.splitlines() if re.match(r"(FAILED|ERROR) ", line)]
    return {"ok": code == 0, "numbers": numbers, "reason": " ; ".join(failed)[:1500]}


def summary(outcomes: Sequence[dict[str, Any]]) -> str:
    """The figures of all results."""
    lines: list[str] = []
    for kind in KINDS:
        own = [one for one in outcomes if one["kind"] == kind]
        if not own:
            continue
        good = sum(one["ok"] for one in own)
        lines.append(f"{kind}: {good} of {len(own)} files ({100 * good / len(own):.1f} %)")
        if kind == "kernels":
            every = sum(one.get("kernels", 0) for one in own)
            failed = sum(one.get("failed", 0) for one in own)
            lines.append(f"  kernels: {every - failed} of {every}")
        if kind == "programs":
            agree = sum(one["ok"] and one.get("launches", 0) > 0 for one in own)
            lines.append(f"  launched kernels and agree: {agree}; launches: {sum(o.get('launches', 0) for o in own)}")
        if kind == "tests":
            numbers = sum((Counter(one.get("numbers", {})) for one in own), Counter[str]())
            lines.append(f"  tests: {', '.join(f'{count} {word}' for word, count in numbers.items())}")
    findings = sum((Counter(one.get("findings", {})) for one in outcomes), Counter[str]())
    lines += [f"  {count} x {rule}" for rule, count in findings.most_common()]
    return "\n".join(lines)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="*", type=Path)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--list", type=Path)
    parser.add_argument("--sanitize", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=float, default=120)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        kind, path = options.child
        child(kind, path, options.sanitize, options.limit)
        return
    listed = options.list.read_text().split() if options.list else None
    trees = [tree.resolve() for tree in options.trees]
    tasks = [task for tree in trees for task in tasks_of(tree, options.kinds.split(","), listed)]
    outcomes: list[dict[str, Any]] = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for one in pool.map(lambda task: carry_out(task, options.sanitize, options.limit), tasks):
            outcomes.append(one)
            state = "ok  " if one["ok"] else "FAIL"
            seconds = f" ({one['seconds']:g} s)" if "seconds" in one else ""
            print(f"{state} {one['kind']:<8} {one['name']}{seconds} {one.get('reason', '')}", flush=True)
            for text in one.get("texts", ()):
                print(f"       {text}")
            if options.log:
                with options.log.open("a") as file:
                    file.write(json.dumps(one) + "\n")
    print(f"\n{summary(outcomes)}")


if __name__ == "__main__":
    main()
