"""Programs with a known order: functions of .pto files, each with its verdict in the comment below it.

    // proven
    // refuted with n = 2: race-war: pto.tadd [0] then pto.tload [1]
    // undecided allowed; proven
    // far; refuted with n = 1000: race-raw: pto.tload [] then pto.tadd []
    // endless; proven

A verdict holds for all arguments.  ``far`` marks faults that small arguments do not show: brute force takes those of
the witness alone.  ``endless`` marks functions that nobody can unroll or run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from order_judge import Judge, Range, Verdict, target_of
from xdsl.dialects.builtin import ModuleOp

from pto_dialect import parse

FOLDER = Path(__file__).parents[1] / "prove" / "programs"
_START = re.compile(r"  func\.func (?:private )?@(\w+)\(")
_VERDICT = re.compile(r"  // ((?:undecided allowed; |far; |endless; )*)((?:proven|refuted)\b.*)")
_VALUE = re.compile(r"(\w+) = (-?\d+)")
QUICK = {0: Range(), 1: Range(), 2: Range(-1, 5), 3: Range(0, 3)}
"""Arguments of a quick check, by the number of integer parameters."""


@dataclass(frozen=True)
class OrderProgram:
    """A function of a file with its known verdict; ``lines`` is where it is, ``kept`` the lines that it needs."""

    path: Path
    name: str
    marks: str
    verdict: str
    kept: frozenset[int]

    @property
    def id(self) -> str:
        return f"{self.path.stem}-{self.name}"

    @property
    def may_be_undecided(self) -> bool:
        return "undecided allowed" in self.marks

    @property
    def is_far(self) -> bool:
        return "far" in self.marks

    @property
    def is_endless(self) -> bool:
        return "endless" in self.marks

    @property
    def kind(self) -> str:
        return self.verdict.split()[0].rstrip(":")

    @property
    def arguments(self) -> dict[str, int]:
        """The smallest arguments of a refuted function."""
        before = self.verdict.partition(":")[0]
        return {name: int(value) for name, value in _VALUE.findall(before)}

    @property
    def text(self) -> str:
        """The function alone, at its lines of the file."""
        lines = self.path.read_text(encoding="utf-8").splitlines()
        return "\n".join(line if number in self.kept else "" for number, line in enumerate(lines)) + "\n"

    @cached_property
    def alone(self) -> ModuleOp:
        """The function alone, parsed."""
        return parse(self.text, str(self.path))

    @property
    def module(self) -> ModuleOp:
        """The whole file."""
        return module_of(self.path)

    @cached_property
    def judge(self) -> Judge:
        return Judge(self.module, self.name)

    @property
    def target(self) -> str:
        return target_of(self.module)

    def brute_force(self, numbers: Range | None = None) -> Verdict:
        """The verdict for arguments of a range, by default a small one."""
        if self.is_far:
            faults = tuple(self.judge.faults(self.arguments))
            return Verdict("refuted", self.arguments, faults) if faults else Verdict("proven", {})
        return self.judge.verdict(numbers or QUICK[min(len(self.judge.parameters), 3)])


@cache
def module_of(path: Path) -> ModuleOp:
    return parse(path.read_text(encoding="utf-8"), str(path))


def read_programs(path: Path) -> Iterator[OrderProgram]:
    """The functions of a file that have a verdict; others are those that they call."""
    lines = path.read_text(encoding="utf-8").splitlines()
    spans = list(_functions(lines))
    inside = {line for _, begin, end in spans for line in range(begin, end)}
    verdicts = {name: _VERDICT.fullmatch(lines[end]) for name, _, end in spans if end < len(lines)}
    common = {line for line in range(len(lines)) if line not in inside}
    common |= {line for name, begin, end in spans if not verdicts[name] for line in range(begin, end)}
    for name, begin, end in spans:
        match = verdicts[name]
        if match is not None:
            yield OrderProgram(path, name, match[1], match[2], frozenset(common | set(range(begin, end))))


def _functions(lines: list[str]) -> Iterator[tuple[str, int, int]]:
    """Name, first line and line after the last of each function, in a file that is indented as usual."""
    name, begin = "", 0
    for number, line in enumerate(lines):
        start = _START.match(line)
        if start:
            name, begin = start[1], number
        elif line == "  }":
            yield name, begin, number + 1


def all_programs(folder: Path = FOLDER) -> list[OrderProgram]:
    return [program for path in sorted(folder.glob("*.pto")) for program in read_programs(path)]
