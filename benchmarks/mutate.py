"""Do the tests see small changes?  Changes places of the package one at a time and runs the tests that cover them.

Usage: python benchmarks/mutate.py [--count N] [--seed S] [--files PATTERN] [--jobs J] [--tests N] [--data FILE]
                                   [--out FILE]

Needs `pip install -e '.[test,bench]'`.  Works on a copy of the files that git knows.  The tests run once to learn which
test function executes which line (``--data`` keeps that for the next time); then `N` places, as many in each subpackage
of the package, are changed, and tests that cover the location run, quick ones first: in a process that has loaded
everything when the change is inside of a function, and otherwise, or when nothing was noticed there, in a new process.
A change that no test notices is a survivor; those that change nothing a user could see are in `harmless_changes.txt`,
with reasons.  Functions that no test executes must be in `unexecuted_functions.txt`, with reasons.  With ``--files``
only files of the package that match are looked at, for instance `runtime/simt/*` (`*` stands for folders too).  Exits
with 1 when less than 92 % of the others are noticed, less than 88 % in a subpackage, or a function without a reason is
never executed."""

from __future__ import annotations

import argparse
import ast
import fnmatch
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from queue import Queue

import coverage
from code_changes import Change, changes, is_possible
from coverage_contexts import seconds_file
from readers import Readers

ROOT = Path(__file__).resolve().parents[1]
HERE = Path(__file__).resolve().parent
ROOMS = {
    "verify": ("verify", "analysis"),
    "kernels": ("runtime/kernels",),
    "runtime": ("runtime",),
    "sanitize": ("sanitize", "passes"),
    "syntax": ("syntax",),
    "ir, targets": ("ir", "targets"),
}
"""Folders of the package; a file belongs to the first subpackage that has it."""

LEFT_OUT = (
    *("packaging", "benchmarks", "plugin", "runtime/test_formulas.py"),
    *("tools/test_pto_opt_process.py", "tools/test_pto_run_process.py"),
)
"""Tests that start other processes, which would run the package that is installed."""

TABLES = {"verify": ("tests/verify/test_catalogue.py",), "ir, targets": ("tests/ir/", "tests/targets/")}
ALONE = {"verify": ("tests/verify/test_families_alone.py",), "kernels": ("tests/verify/test_families_alone.py",)}
"""Tests that start processes of their own, which see a change only in the file."""

GOAL, ROOM_GOAL = 0.92, 0.88
SECONDS = 240
"""After which a run counts as noticed: the change made it endless."""

BUDGET = 80
"""Seconds that all tests of a change take together, as measured in the run that notes who executes what, which takes
about four times as long as one that does not."""

ROUNDS = (6, 14)
"""Tests of the first rounds, quick ones first: mostly one of them notices the change.  The rest is the last round."""


def room_of(path: str) -> str | None:
    """The subpackage of a file of the package."""
    inner = path.removeprefix("pto_dialect/")
    return next((room for room, folders in ROOMS.items() if inner.startswith(tuple(f"{f}/" for f in folders))), None)


def copied(folder: Path) -> Path:
    """The files that git knows, in a folder of their own."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def environment(tree: Path) -> dict[str, str]:
    """Variables under which Python finds the package of ``tree``."""
    path = os.pathsep.join((str(tree), str(tree / "benchmarks")))
    # More threads than that only disturb the run beside it.
    return {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1"}


MOST_FAILED = 5
"""Tests that may fail unchanged, for instance because the machine is busy with something else."""
QUIET = ("-q", "--no-header", "-p", "no:cacheprovider")


def all_tests(tree: Path, data_file: Path) -> int:
    """Exit code of a run of all tests that notes who executes what."""
    ignored = [f"--ignore=tests/{name}" for name in LEFT_OUT]
    command = [sys.executable, "-m", "pytest", *QUIET, "-n", "2", "--dist", "loadfile", "-p", "coverage_contexts"]
    environ = {**environment(tree), "PTO_COVERAGE": str(data_file)}
    return subprocess.run([*command, *ignored], cwd=tree, env=environ, stdout=subprocess.DEVNULL).returncode


class Server:
    """A process that runs pytest in one tree."""

    def __init__(self, tree: Path) -> None:
        self.tree = tree
        command = [sys.executable, str(tree / "benchmarks" / "fork_server.py")]
        self.process = subprocess.Popen(
            command, cwd=tree, env=environment(tree), text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def passes(self, tests: Sequence[str]) -> bool:
        """True when all of ``tests`` pass, in time."""
        assert self.process.stdin is not None and self.process.stdout is not None
        print(json.dumps([SECONDS, *QUIET, "-x", *tests]), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline().strip()
        if not answer:
            sys.exit("the process that runs the tests has ended")
        return answer == "0"

    def close(self) -> None:
        """Ends it."""
        self.process.communicate()


class Loaded:
    """Clients of a process that has collected all tests of a tree; see `loaded_server.py`."""

    def __init__(self, tree: Path, clients: int) -> None:
        asked, answered = [os.pipe() for _ in range(clients)], [os.pipe() for _ in range(clients)]
        own = [end for pipe, back in zip(asked, answered, strict=True) for end in (pipe[0], back[1])]
        ignored = [f"--ignore=tests/{name}" for name in LEFT_OUT]
        command = [sys.executable, str(tree / "benchmarks" / "loaded_server.py"), *QUIET, "-s", *ignored]
        environ = {**environment(tree), "PTO_PIPES": ",".join(map(str, own))}
        self.process = subprocess.Popen(command, cwd=tree, env=environ, pass_fds=own, stdout=subprocess.DEVNULL)
        for end in own:
            os.close(end)
        self.pipes = [(os.fdopen(pipe[1], "w"), os.fdopen(back[0])) for pipe, back in zip(asked, answered, strict=True)]

    def outcome(self, client: int, path: str, changed: str, tests: Sequence[str]) -> str:
        """`passed`, `failed`, `late`, or `import` for a change that only a new process shows."""
        out, back = self.pipes[client]
        print(json.dumps([SECONDS, path, changed, *tests]), file=out, flush=True)
        answer = back.readline().strip()
        if not answer:
            sys.exit("the process that has loaded the tests has ended")
        return answer

    def close(self) -> None:
        """Ends it."""
        for out, back in self.pipes:
            out.close()
            back.close()
        self.process.wait()


# --- who covers what --------------------------------------------------------------------------------------


class Tests:
    """Which tests execute which lines."""

    def __init__(self, data: coverage.CoverageData, tree: Path) -> None:
        self.data = data
        file = Path(data.data_filename())
        self.seconds: dict[str, float] = {}
        for part in file.parent.glob(seconds_file(file.name, "*").name):
            self.seconds.update(json.loads(part.read_text(encoding="utf-8")))
        self.failed = {name for name, seconds in self.seconds.items() if math.isinf(seconds)}
        """Tests that fail without any change: they report nothing, and are not run again."""
        if len(self.failed) > MOST_FAILED:
            sys.exit(
                f"{len(self.failed)} tests do not pass unchanged: {', '.join(sorted(self.failed)[:MOST_FAILED])}, ..."
            )
        self.names = {self._inner(name): name for name in data.measured_files()}
        self.tree = tree
        self.readers = Readers(tree)
        self.texts = {str(file.relative_to(tree)): file.read_text(encoding="utf-8")
                      for file in sorted((tree / "tests").rglob("test_*.py"))}  # fmt: skip

    @staticmethod
    def _inner(name: str) -> str:
        return name[name.rindex("pto_dialect/") :]

    @cache  # noqa: B019
    def by_line(self, path: str) -> dict[int, list[str]]:
        """Tests by line of a file."""
        name = self.names.get(path)
        return self.data.contexts_by_lineno(name) if name is not None else {}

    def quick_ones(self, names: Sequence[str], limit: int) -> list[str]:
        """The first ``limit`` tests that do not take too much together, in the order of how long they take."""
        chosen: list[str] = []
        left = BUDGET
        for name in dict.fromkeys(names):
            seconds = self.seconds.get(name, 0.0)
            if name not in self.failed and len(chosen) < limit and (seconds < left or not chosen):
                left -= seconds
                chosen.append(name)
        return sorted(chosen, key=lambda name: self.seconds.get(name, 0.0))

    def executed(self, path: str) -> set[int]:
        """Lines that are executed by a test, or when the tests are imported."""
        name = self.names.get(path)
        return set(self.data.lines(name) or ()) if name is not None else set()

    def covering(self, change: Change, limit: int, rng: random.Random) -> list[str]:
        """Up to ``limit`` tests that execute the lines of a change: those of its subpackage first, then of different
        files.

        For what runs at import, maybe in the midst of a test, those that know its name, execute what reads it, or most
        of the file.
        """
        by_line = self.by_line(change.path)
        last = change.line + change.old.count("\n")
        found = {test for line in range(change.line, last + 1) for test in by_line.get(line, ()) if test}
        at_import = self.readers.runs_at_import(change.path, change.line)
        if found and not at_import:
            return self._near_first(found, change.path, limit, rng)
        files = self._knowing(change)
        known = [test for test in sorted(self.seconds) if test.partition("::")[0] in files]
        reading: set[str] = set()
        for path, first, final in self.readers.reading(change.path, change.line):
            for line, tests in self.by_line(path).items():
                if first <= line <= final:
                    reading.update(test for test in tests if test)
        counts: Counter[str] = Counter(test for tests in by_line.values() for test in tests if test)
        tables = TABLES.get(room_of(change.path) or "", ())
        whole = [test for test in sorted(self.seconds) if test.startswith(tables)] if tables else []
        among = self._near_first(found, change.path, limit // 10, rng)
        return [*among, *known, *self._near_first(reading, change.path, limit, rng), *whole,
                *(test for test, _ in counts.most_common(limit))]  # fmt: skip

    def _near_first(self, found: set[str], path: str, limit: int, rng: random.Random) -> list[str]:
        """Tests of the folder like that of ``path``, then some of the others."""
        folder = f"tests/{path.split('/')[1]}/"
        near = sorted(test for test in found if test.startswith(folder))
        chosen = spread(near, limit // 2, rng)
        return [*chosen, *spread(sorted(found.difference(chosen)), limit - len(chosen), rng)]

    def _knowing(self, change: Change) -> set[str]:
        """Files of tests that have the name of what is changed."""
        names = [n for n in self.readers.names_at(change.path, change.line) if len(n) > 3 and not n.startswith("_")]
        pattern = re.compile("|".join(rf"\b{re.escape(name)}\b" for name in names))
        return {file for file, text in self.texts.items() if names and pattern.search(text)}


def spread(tests: Sequence[str], limit: int, rng: random.Random) -> list[str]:
    """Up to ``limit`` tests, from different files first."""
    by_file: dict[str, list[str]] = defaultdict(list)
    for test in rng.sample(tests, len(tests)):
        by_file[test.partition("::")[0]].append(test)
    groups = sorted(by_file.values(), key=len)
    chosen: list[str] = []
    while groups and len(chosen) < limit:
        chosen += [group.pop() for group in groups][: limit - len(chosen)]
        groups = [group for group in groups if group]
    return chosen


def collected(tree: Path, data_file: Path) -> coverage.CoverageData:
    """What every test executes, from ``data_file`` or from a run of all tests."""
    if not data_file.exists():
        code = all_tests(tree, data_file)
        if code > 1:
            sys.exit(f"the tests end with exit code {code}")
        whole = coverage.CoverageData(str(data_file))
        for part in data_file.parent.glob(f"{data_file.name}.*"):
            other = coverage.CoverageData(str(part))
            other.read()
            whole.update(other)
        whole.write()
    data = coverage.CoverageData(str(data_file))
    data.read()
    return data


# --- functions that nobody executes -----------------------------------------------------------------------


def looked_at(tree: Path, pattern: str) -> Iterator[tuple[str, Path]]:
    """Files of the subpackages whose names in the package match ``pattern``."""
    for file in sorted((tree / "pto_dialect").rglob("*.py")):
        path = str(file.relative_to(tree))
        if room_of(path) is not None and fnmatch.fnmatchcase(path.removeprefix("pto_dialect/"), pattern):
            yield path, file


def unexecuted(tree: Path, tests: Tests, pattern: str = "*") -> Iterator[str]:
    """`file function` of all functions of which no test executes a line."""
    for path, file in looked_at(tree, pattern):
        executed = tests.executed(path)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                body = {statement.lineno for statement in ast.walk(node) if isinstance(statement, ast.stmt)}
                # Docstrings, and the dots of what only describes an interface.
                body -= {s.lineno for s in node.body if isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)}
                if body - {node.lineno} and not (body - {node.lineno}) & executed:
                    yield f"{path} {node.name}"


def reasons(name: str) -> dict[str, str]:
    """Lines `key | reason` of a file beside this one."""
    found: dict[str, str] = {}
    for line in (HERE / name).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            key, _, reason = line.rpartition(" | ")
            found[key.strip()] = reason.strip()
    return found


# --- the measurement --------------------------------------------------------------------------------------


def sample(tree: Path, count: int, rng: random.Random, pattern: str = "*") -> list[Change]:
    """``count`` changes of files that match, as many in each subpackage; within a subpackage every kind in turn."""
    found: dict[str, list[Change]] = defaultdict(list)
    for path, file in looked_at(tree, pattern):
        found[room_of(path) or ""] += changes(path, file.read_text(encoding="utf-8"))
    chosen: list[Change] = []
    for room in (room for room in ROOMS if found[room]):
        kinds: dict[str, list[Change]] = defaultdict(list)
        for change in found[room]:
            kinds[change.kind].append(change)
        pools = [rng.sample(group, len(group)) for _, group in sorted(kinds.items())]
        wanted = len(chosen) + count // sum(map(bool, found.values()))
        while len(chosen) < wanted and any(pools):
            for pool in pools:
                if pool and len(chosen) < wanted:
                    change = pool.pop()
                    if is_possible(change, (tree / change.path).read_text(encoding="utf-8")):
                        chosen.append(change)
    return chosen


def key_of(change: Change) -> str:
    """What a change is called in the list of harmless ones: without its line, which moves."""
    old, new = (" ".join(text.split()) for text in (change.old, change.new))
    return f"{change.path} | {old} | {new}".rstrip()


def outdated() -> list[str]:
    """Entries of the list of harmless changes whose code is no longer in the package."""
    keys = [key for key in reasons("harmless_changes.txt") if key]
    return [key for key in keys if not _is_present(*f"{key} ".split(" | ")[:2])]


def _is_present(path: str, code: str) -> bool:
    file = ROOT / path
    return file.is_file() and code in " ".join(file.read_text(encoding="utf-8").split())


def in_new_process(change: Change, source: str, tests: Sequence[str], server: Server) -> str:
    """`killed` or `survived`, of a change to the file itself."""
    file = server.tree / change.path
    for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*"):
        compiled.unlink()
    file.write_text(change.apply(source), encoding="utf-8")
    begin = 0
    try:
        for count in (*ROUNDS, len(tests)):
            if tests[begin : begin + count] and not server.passes(tests[begin : begin + count]):
                return "killed"
            begin += count
    finally:
        file.write_text(source, encoding="utf-8")
    return "survived"


def measured(chosen: list[Change], tests: Tests, trees: list[Path], limit: int, seed: int) -> list[tuple[Change, str]]:
    """The outcome of every change, on as many copies side by side as there are ``trees`` but for the first."""
    loaded = Loaded(trees[0], len(trees) - 1)
    servers = [Server(tree) for tree in trees[1:]]
    free: Queue[int] = Queue()
    known = tests.quick_ones([name for name in tests.seconds if name.startswith("tests/")], 20 * limit)
    for client, server in enumerate(servers):
        free.put(client)
        source = (trees[0] / "pto_dialect" / "__init__.py").read_text(encoding="utf-8")
        answer = loaded.outcome(client, "pto_dialect/__init__.py", source, known)
        if answer != "passed" or not server.passes(known[:limit]):
            sys.exit("tests that pass in the whole run do not pass by themselves")

    def one(change: Change) -> tuple[Change, str]:
        client = free.get()
        try:
            rng = random.Random(seed)
            covering = tests.covering(change, 10 * limit, rng)
            source = (trees[0] / change.path).read_text(encoding="utf-8")
            result = "uncovered"
            if covering:
                some = tests.quick_ones(covering, 10 * limit)
                answer = loaded.outcome(client, change.path, change.apply(source), some)
                result = {"passed": "survived"}.get(answer, "killed")
                if answer in ("import", "passed"):
                    # What the loaded process keeps from before, and tests that start processes, show it only now.
                    count = 4 * limit if answer == "import" else limit
                    few = tests.quick_ones(tests.covering(change, count, rng), count)
                    alone = ALONE.get(room_of(change.path) or "", ()) if answer == "passed" else ()
                    result = in_new_process(change, source, [*few, *alone], servers[client])
        finally:
            free.put(client)
        print(f"{result:9} {change.text}", flush=True)
        return change, result

    with ThreadPoolExecutor(len(servers)) as pool:
        results = list(pool.map(one, chosen))
    for server in (loaded, *servers):
        server.close()
    return results


def report(results: list[tuple[Change, str]], harmless: dict[str, str]) -> tuple[str, bool]:
    """Tables by subpackage and by kind, the survivors, and whether the goals are met."""
    lines: list[str] = []
    met = True
    for title, group in (("room", lambda c: room_of(c.path)), ("kind", lambda c: c.kind)):
        lines += [f"| {title} | changes | killed | survived | uncovered | harmless | killed of the others |",
                  "|---|---|---|---|---|---|---|"]  # fmt: skip
        rows: dict[str, Counter[str]] = defaultdict(Counter)
        for change, result in results:
            result = "harmless" if result != "killed" and key_of(change) in harmless else result
            for name in (str(group(change)), "all"):
                rows[name][result] += 1
        for name, counts in rows.items():
            total = counts.total()
            share = counts["killed"] / max(total - counts["harmless"], 1)
            numbers = " | ".join(str(counts[k]) for k in ("killed", "survived", "uncovered", "harmless"))
            lines.append(f"| {name} | {total} | {numbers} | {share:.1%} |")
            if title == "room":
                met &= share >= (GOAL if name == "all" else ROOM_GOAL)
        lines.append("")
    lines += ["Survivors", ""]
    lines += [f"- {result}: {change.text}" for change, result in results
              if result != "killed" and key_of(change) not in harmless]  # fmt: skip
    return "\n".join(lines) + "\n", met


def main() -> None:
    """The whole measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=630)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--files", default="*", metavar="PATTERN")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tests", type=int, default=40)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pto-mutate-") as folder:
        trees = [copied(Path(folder) / f"tree{number}") for number in range(options.jobs + 1)]
        data = collected(trees[0], (options.data or Path(folder) / "coverage").absolute())
        tests = Tests(data, trees[0])
        known = reasons("unexecuted_functions.txt")
        idle = [name for name in unexecuted(trees[0], tests, options.files) if name not in known]
        chosen = sample(trees[0], options.count, random.Random(options.seed), options.files)
        results = measured(chosen, tests, trees, options.tests, options.seed)
    text, met = report(results, reasons("harmless_changes.txt"))
    text += "\n".join(
        ["", "Functions that no test executes, without a reason", "", *(f"- {name}" for name in idle), ""]
    )
    text += "".join(f"Left out, as it fails unchanged: {name}\n" for name in sorted(tests.failed))
    text += "".join(f"Outdated entry of harmless_changes.txt: {key}\n" for key in outdated())
    if options.out is not None:
        options.out.write_text(text, encoding="utf-8")
    print(text)
    sys.exit(not met or bool(idle))


if __name__ == "__main__":
    main()
