"""Runs two versions of the package on the same subjects and compares what they say line by line.

A script gives what one version says about each subject (``said``); this module runs it for both versions at the same
time, each in a process of its own with this project's interpreter, and shows what differs. With ``--history`` every
difference is followed through the commits between both versions, halving them, until it is known which commits made it:
a table of commits and numbers of subjects. A subject that changed in several steps counts for each of them.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BytesIO
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, NamedTuple, TextIO
from zipfile import ZipFile

Request = dict[str, Any]
"""What a script requires of a version: plain data. ``only`` are the names of the subjects to look at; without it,
all."""
Said = Callable[[Request], Iterator[tuple[str, list[str]]]]
"""Names of the subjects of a request, and what the version that is imported says about each."""

CRASHED = "crashed: "
"""Begins the line of a subject on which a version broke."""
UNDECIDED = "too slow"
"""The line of a subject that took too long: it says nothing about the version."""
_WORKER = "--worker"
_PARTS = ("pto_dialect", "grammar", "examples")
"""What a version needs to run."""


class Found(NamedTuple):
    """What a comparison found: how many subjects there are, and the names of those that differ."""

    subjects: int
    lines: int
    crashed: tuple[int, int]
    different: list[str]


def arguments(text: str | None) -> argparse.ArgumentParser:
    """A parser of the arguments that all comparisons have; ``text`` is the documentation of the script."""
    parser = argparse.ArgumentParser(description=(text or "").splitlines()[0])
    parser.add_argument("old", type=Path, help="tree of the version before")
    parser.add_argument("new", type=Path, help="tree of the version now")
    parser.add_argument("--show", type=int, default=3, metavar="K", help="how many differences are shown")
    parser.add_argument("--history", action="store_true", help="find the commits that made the differences")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write the commits of each difference here")
    return parser


def selected(request: Request, name: str) -> bool:
    """Whether a request names a subject."""
    return request.get("only") is None or name in request["only"]


# ------------------------------------------------------------ one version


def is_worker() -> bool:
    """Whether this process is to answer for one version."""
    return sys.argv[1:2] == [_WORKER]


def answer(said: Said) -> None:
    """Writes a line for each subject of the request: its name and what the version says."""
    request: Request = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    if request.get("only") is not None:
        request["only"] = frozenset(request["only"])
    # What programs print is not compared.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="replace")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    root = Path(request["root"])
    sys.path.insert(0, str(root))
    import pto_dialect

    assert Path(pto_dialect.__file__).resolve().is_relative_to(root), pto_dialect.__file__
    for name, lines in said(request):
        answers.write(json.dumps([name, lines]) + "\n")
    answers.close()


# ------------------------------------------------------------ both versions


class Session:
    """A script with a request, and a folder for what versions keep."""

    def __init__(self, script: str, request: Request, folder: Path) -> None:
        self.script = script
        self.request = request
        self.folder = folder
        self.number = 0

    def start(self, tree: Path, only: Sequence[str] | None = None) -> subprocess.Popen[str]:
        """A process that answers for the version in ``tree``."""
        self.number += 1
        place = self.folder / f"request{self.number}.json"
        place.write_text(json.dumps({**self.request, "root": str(tree.resolve()), "only": only}), encoding="utf-8")
        cache = self.folder / f"cache-{hashlib.sha256(str(tree.resolve()).encode()).hexdigest()[:12]}"
        environment = {**os.environ, "PTO_CACHE_DIR": str(cache), "XDG_CACHE_HOME": str(cache), "PYTHONHASHSEED": "0"}
        environment.pop("PYTHONPATH", None)
        command = [sys.executable, "-s", self.script, _WORKER, str(place)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8", env=environment)

    def compare(self, old: Path, new: Path, show: int) -> Found:
        """Compares both versions, and prints the first ``show`` differences."""
        running = [self.start(tree) for tree in (old, new)]
        subjects = lines = 0
        crashed, different = [0, 0], []
        for before, after in zip_longest(*(answers(process) for process in running), fillvalue=("nothing", [])):
            subjects += 1
            lines += len(before[1])
            for side, (_, told) in enumerate((before, after)):
                crashed[side] += any(line.startswith(CRASHED) for line in told)
            if before != after and [UNDECIDED] not in (before[1], after[1]):
                different.append(before[0])
                if len(different) <= show:
                    print(*difference(before, after), sep="\n", flush=True)
        if any(process.wait() for process in running):
            sys.exit("a version ended with an error")
        return Found(subjects, lines, (crashed[0], crashed[1]), different)

    def told(self, tree: Path, only: Sequence[str]) -> dict[str, str] | None:
        """Digest of what a version says about some subjects; ``None`` where the version does not run."""
        process = self.start(tree, only)
        found = {name: hashlib.sha256("\n".join(lines).encode()).hexdigest() for name, lines in answers(process)}
        return None if process.wait() else found


def answers(process: subprocess.Popen[str]) -> Iterator[tuple[str, list[str]]]:
    """What the process of a version says."""
    assert process.stdout is not None
    for line in process.stdout:
        name, lines = json.loads(line)
        yield name, lines


def difference(before: tuple[str, list[str]], after: tuple[str, list[str]]) -> list[str]:
    """The first lines of what differs about a subject."""
    (name, old), (other, new) = before, after
    remark = [] if name == other else ["(the names differ)"]
    return list(chain(difflib.unified_diff(old, new, f"old {name}", f"new {other}", "", "", 1, ""), remark))[:40]


# ------------------------------------------------------------ the commits between


def git(tree: Path, *words: str) -> bytes:
    """What git says about a tree."""
    return subprocess.run(["git", "-C", str(tree), *words], check=True, stdout=subprocess.PIPE).stdout


class History:
    """The commits from one version to another, and what their answers."""

    def __init__(self, session: Session, old: Path, new: Path) -> None:
        start = git(old, "rev-parse", "HEAD").decode().strip()
        self.session = session
        self.tree = new
        self.commits = [start, *git(new, "rev-list", "--reverse", f"{start}..HEAD").decode().split()]
        self.known: dict[int, dict[str, str]] = {}
        self.broken: set[int] = set()

    def ask(self, number: int, names: Sequence[str]) -> Mapping[str, str] | None:
        """What a commit says about some subjects; ``None`` where it does not run."""
        known = self.known.setdefault(number, {})
        missing = [name for name in names if name not in known]
        if missing and number not in self.broken:
            with tempfile.TemporaryDirectory() as folder:
                self.unpack(self.commits[number], folder)
                found = self.session.told(Path(folder), missing)
            if found is None:
                self.broken.add(number)
            known.update(found or {})
        return None if number in self.broken else known

    def unpack(self, commit: str, folder: str) -> None:
        """Writes the parts of a commit that a version needs."""
        parts = [part for part in _PARTS if git(self.tree, "ls-tree", "--name-only", commit, part)]
        with ZipFile(BytesIO(git(self.tree, "archive", "--format=zip", commit, *parts))) as archive:
            archive.extractall(folder)

    def causes(self, names: Sequence[str], first: int, last: int, into: dict[int, list[str]]) -> None:
        """Collects which commits after ``first`` up to ``last`` change something about the subjects."""
        before, after = self.ask(first, names), self.ask(last, names)
        assert before is not None and after is not None, "an end of a part of the history does not run"
        changed = [name for name in names if before.get(name) != after.get(name)]
        if not changed:
            return
        centre = (first + last) // 2
        for middle in sorted(range(first + 1, last), key=lambda number: abs(number - centre)):
            if (between := self.ask(middle, changed)) is not None:
                self.causes([n for n in changed if before.get(n) != between.get(n)], first, middle, into)
                self.causes([n for n in changed if between.get(n) != after.get(n)], middle, last, into)
                return
        into.setdefault(last, []).extend(changed)

    def report(self, names: Sequence[str], file: TextIO | None) -> None:
        """Prints the commits with numbers of subjects, the largest first."""
        into: dict[int, list[str]] = {}
        self.causes(names, 0, len(self.commits) - 1, into)
        for number, found in sorted(into.items(), key=lambda item: -len(item[1])):
            title = git(self.tree, "log", "-1", "--format=%h %s", self.commits[number]).decode().strip()
            print(f"{len(found):6}  {title}   ({found[0]})", flush=True)
            if file is not None:
                file.writelines(json.dumps([title, name]) + "\n" for name in found)


def run(script: str, subjects: str, request: Request, args: argparse.Namespace) -> int:
    """The whole comparison: prints how many ``subjects`` differ and the first of them; 1 when one does."""
    with tempfile.TemporaryDirectory() as folder:
        session = Session(script, request, Path(folder))
        found = session.compare(args.old, args.new, args.show)
        print(f"{found.subjects} {subjects} with {found.lines} lines: {len(found.different)} differ")
        if any(found.crashed):
            print(f"the old version crashed on {found.crashed[0]}, the new one on {found.crashed[1]}")
        if found.different and args.history:
            file = args.csv.open("w", encoding="utf-8") if args.csv is not None else None
            History(session, args.old, args.new).report(found.different, file)
            if file is not None:
                file.close()
    return bool(found.different or found.crashed[1] or not found.subjects)
