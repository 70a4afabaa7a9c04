"""Which operations usually come next: counts over programs, and over the program that is written.

`python -m pto_dialect.lsp.statements.usual FOLDER...` counts the programs in folders and writes the table.
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter, defaultdict
from functools import cache
from itertools import pairwise
from pathlib import Path

from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core_dialects.core_ops import ALIASES, CORE_SHAPES

TABLE = Path(__file__).with_name("usual.csv")
BEGIN = "{"
"""Stands for the beginning of a region."""

_STATEMENT = re.compile(r'^[ \t]*(?:%[^=\n"]*=[ \t]*)?"?([A-Za-z_][\w]*(?:\.[\w.]+)?)"?(?=[\s<\[({]|$)', re.MULTILINE)
_OWN, _FOLLOWING, _LONG = 3.0, 1.0, 0.02
"""Weights: the program itself, what follows an operation elsewhere, and how often an operation is used at all."""
_MOST_LINES = 400
"""Lines before the cursor that are counted."""


def operations_of(text: str) -> list[str]:
    """The names of the operations of a text in their order, with :data:`BEGIN` where a region begins."""
    found: list[str] = []
    for line in text.splitlines():
        match = _STATEMENT.match(line)
        name = ALIASES.get(match[1], match[1]) if match else ""
        if name in OPS or name in CORE_SHAPES:
            found.append(name)
        if line.split("//")[0].rstrip().endswith("{"):
            found.append(BEGIN)
    return found


@cache
def _table() -> tuple[dict[str, Counter[str]], Counter[str]]:
    following: dict[str, Counter[str]] = {}
    overall: Counter[str] = Counter()
    with open(TABLE, encoding="utf-8", newline="") as stream:
        for before, name, number in csv.reader(stream):
            following.setdefault(before, Counter())[name] = int(number)
            overall[name] += int(number)
    return following, overall


def ranking(text: str) -> dict[str, float]:
    """How usual each operation is after ``text``, a part of a program; operations that never follow are left out."""
    following, overall = _table()
    names = operations_of("\n".join(text.splitlines()[-_MOST_LINES:]))
    scores: defaultdict[str, float] = defaultdict(float)
    for name, number in overall.items():
        scores[name] = _LONG * number / max(1, overall.total()) * 100
    last = names[-1] if names else BEGIN
    elsewhere = following.get(last, Counter())
    for name, number in elsewhere.items():
        scores[name] += _FOLLOWING * number / elsewhere.total()
    own = Counter(after for before, after in pairwise(names) if before == last)
    for name, number in own.items():
        scores[name] += _OWN * number / own.total() * number / (number + 1)
    for name, number in Counter(names).items():
        scores[name] += _LONG * number / len(names) * 10
    scores.pop(BEGIN, None)
    return dict(scores)


def main(folders: list[str]) -> None:
    """Writes the table."""
    counts: Counter[tuple[str, str]] = Counter()
    for path in sorted(path for folder in folders for path in Path(folder).rglob("*.pto")):
        names = operations_of(path.read_text(encoding="utf-8"))
        counts.update((before, after) for before, after in pairwise(names) if after != BEGIN)
    with open(TABLE, "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerows((*pair, number) for pair, number in sorted(counts.items()))


if __name__ == "__main__":
    main(sys.argv[1:])
