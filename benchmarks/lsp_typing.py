"""How soon a client that types programs character by character is offered what it is about to write.

    python benchmarks/lsp_typing.py FOLDER...          types 30 programs below the folders
    python benchmarks/lsp_typing.py --count FOLDER...  counts programs for the table of usual operations

Programs of one subject, as their names say, are all counted or all typed, so the table has seen no program that is
typed, nor a variant of it. Comments are not typed, and files have numbers for names: those of tests often name the
operation that follows. With `--as-written` programs are typed with their comments, in files with their names.
"""

from __future__ import annotations

import argparse
import csv
import random
import re
import statistics
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))

from typed_programs import FIRST, Typed, session_with_snippets, typed

from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.lsp.statements.contexts import Program, count
from pto_dialect.lsp.statements.fresh import title_of
from pto_dialect.lsp.statements.shares import TABLE, rows
from pto_dialect.syntax.read.parser import parse_program

_COLLECTIONS = ("samples", "cases", "examples")
"""Folders that have a folder for each subject."""
_ALIAS = re.compile(r"^[ \t]*(![\w.$]+)[ \t]*=[ \t]*(.*)$", re.MULTILINE)
_OWN = Path(__file__).resolve().parents[1]
_WEIGHT = 4
"""How many programs one of this repository counts for: it is written by hand, with flags of its own, while programs
have made most of the public ones."""
_TYPED = 4
"""One of so many subjects is typed, not counted."""
_LONGEST = 60_000
"""Characters of a program that is counted or typed."""


def subject(path: Path) -> str:
    """What a program is about: the first word of its folder in a collection, else the first two of its own name."""
    for name in _COLLECTIONS:
        if name in path.parts[:-1]:
            folder = path.parts[-2] if name == "cases" else path.parts[path.parts.index(name) + 1]
            return re.split(r"[-_]|(?<=[a-z])(?=[A-Z])|(?<=\d)(?=[A-Z])", folder)[0]
    return "_".join(re.split(r"[-_]", path.stem)[:2])


def is_counted(path: Path) -> bool:
    """Whether programs of this subject are counted, not typed."""
    return zlib.crc32(subject(path).encode()) % _TYPED != _TYPED - 1


def parses(text: str) -> bool:
    """Whether a text is a program, but for names that nothing defines."""
    engine = DiagnosticEngine(DiagnosticOptions())
    parse_program(SourceFile("typed.pto", text), engine)
    return not [one for one in engine.diagnostics if one.rule != "name-undefined" and one.severity.name == "ERROR"]


def as_written(path: Path) -> str:
    """The text of a program."""
    return path.read_text(encoding="utf-8", errors="replace")


def programs(folders: list[Path], counted: bool) -> Iterator[tuple[Path, str]]:
    """The programs that are counted, or the others, without comments, each text once."""
    seen: set[str] = set()
    for path in sorted(path for folder in folders for path in folder.rglob("*.pto")):
        if is_counted(path) == counted:
            text = re.sub(r"[ \t]*//[^\n\"]*$", "", as_written(path), flags=re.MULTILINE)
            text = re.sub(r"^[ \t]*//.*\n", "", text, flags=re.MULTILINE)
            if len(text) < _LONGEST and text not in seen and parses(text):
                seen.add(text)
                yield path, text


def aliases(text: str) -> dict[str, str]:
    """The names of types in a program."""
    return dict(_ALIAS.findall(text))


def weighed(path: Path) -> Program:
    """A program as it is counted, with its comments."""
    text = as_written(path)
    return Program(text, aliases(text), title_of(path.as_posix()), _WEIGHT if _OWN in path.resolve().parents else 1)


def write_table(folders: list[Path]) -> None:
    """Counts programs."""
    found = list(rows(count(weighed(path) for path, _ in programs(folders, True))))
    with open(TABLE, "w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows(found)
    print(f"{len(found)} rows, {TABLE.stat().st_size // 1024} KB")


def chosen(folders: list[Path], number: int, seed: int) -> list[tuple[Path, str]]:
    """Programs of different subjects."""
    subjects: dict[str, list[tuple[Path, str]]] = {}
    for path, text in programs(folders, False):
        if len(re.findall(r"\b(?:pto|arith|scf)\.\w+", text)) >= 5:
            subjects.setdefault(subject(path), []).append((path, text))
    order = random.Random(seed)
    names = order.sample(sorted(subjects), min(number, len(subjects)))
    return [order.choice(subjects[name]) for name in names]


def share(ranks: list[tuple[str, int]]) -> str:
    """How many operations are among the first."""
    found = sum(rank < FIRST for _, rank in ranks)
    return f"{found} of {len(ranks)} = {100 * found / max(1, len(ranks)):.1f} %"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--count", action="store_true")
    parser.add_argument("--number", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=80, help="statements of a program")
    parser.add_argument("--as-written", action="store_true", help="types comments too, in files with their names")
    parser.add_argument("--missed", action="store_true", help="lists what was not among the first")
    given = parser.parse_args()
    if given.count:
        write_table(given.folders)
        return 0
    found = Typed()
    session = session_with_snippets()
    for number, (path, text) in enumerate(chosen(given.folders, given.number, given.seed)):
        uri = f"file:///typed/{number}.pto"
        if given.as_written:
            uri, text = f"file:///{number}/{path.parent.name}/{path.name}", as_written(path)
        one = typed(session, uri, text, parses, given.most)
        print(f"{path}: {share(one.start)}", flush=True)
        for name in ("start", "result", "dialect", "letters", "accepted", "seconds"):
            getattr(found, name).extend(getattr(one, name))
    session.end()
    print(f"at the beginning of a statement: {share(found.start)} among the first {FIRST}")
    print(f"after results and their equals sign: {share(found.result)}")
    print(f"after the name of the dialect: {share(found.dialect)}")
    soon = [("", 0 if letters <= 2 else FIRST) for letters in found.letters]
    print(f"with two letters of its name: {share(soon)}")
    print(f"letters that were needed further: {dict(sorted(Counter(found.letters).items()))}")
    whole = sum(fine for _, fine in found.accepted)
    print(f"accepted: {whole} of {len(found.accepted)} programs parse")
    print(f"an answer takes {1e3 * statistics.median(found.seconds):.1f} ms (median)")
    if given.missed:
        print(Counter(name for name, rank in found.start if rank >= FIRST).most_common())
        print(Counter(name for name, fine in found.accepted if not fine).most_common())
    return 0


if __name__ == "__main__":
    sys.exit(main())
