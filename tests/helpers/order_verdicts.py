"""What ``pto prove`` states about programs with a known order, and whether that is right.

The prover is used through its command and its JSON form alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from order_graph import Fault
from order_judge import Verdict, line_of, size
from order_programs import OrderProgram

PROVE = import_module("pto_dialect.tools.pto_prove").main
Entry = dict[str, Any]
_RACES = ("race-raw", "race-war", "race-waw")


@dataclass(frozen=True)
class Outcome:
    """``kind`` is right, undecided or wrong; ``smallest`` whether arguments and iterations of a witness are minimal."""

    kind: str
    why: str = ""
    smallest: bool = True


def proofs(path: Path, *options: str) -> dict[str, list[Entry]]:
    """The entries of all functions of a file by name: one, or one for each kind of core.

    Raises ``RuntimeError`` when the command has no answer.
    """
    result = CliRunner().invoke(PROVE, [str(path), "--no-replay", "--output-format", "json", *options])
    if result.exit_code not in (0, 3, 4):
        raise RuntimeError(f"pto prove {path}: exit code {result.exit_code}\n{result.output}\n{result.exception!r}")
    entries: dict[str, list[Entry]] = {}
    for entry in json.loads(result.stdout)["functions"]:
        entries.setdefault(entry["name"], []).append(entry)
    return entries


def stated(entries: Iterable[Entry]) -> Entry:
    """The entry that decides about a function: a refuted one, else an undecided one."""
    order = ("refuted", "undecided", "proven")
    return min(entries, key=lambda entry: order.index(entry["verdict"]))


def outcome(program: OrderProgram, entries: list[Entry] | None) -> Outcome:
    """Whether the entries of a function agree with its known verdict."""
    if not entries:
        return Outcome("wrong", "the function is missing")
    entry = stated(entries)
    if entry["verdict"] == "undecided":
        return Outcome("undecided", str(entry["reason"]))
    if entry["verdict"] != program.kind:
        return Outcome("wrong", f"{entry['verdict']} {entry['witness'] or ''}")
    if entry["verdict"] == "proven" or program.is_endless:
        return Outcome("right")
    if program.is_far and entry["witness"]["arguments"] != program.arguments:
        return Outcome("wrong", f"other arguments: {entry['witness']}")
    # Arguments that do not matter may be missing.
    arguments = dict.fromkeys(program.judge.parameters, 0) | entry["witness"]["arguments"]
    faults = program.judge.faults(arguments)
    known = Verdict("refuted", program.arguments, tuple(program.judge.faults(program.arguments)))
    return judged(entry["witness"], known, faults)


def judged(witness: Entry, known: Verdict, faults: list[Fault]) -> Outcome:
    """Whether a witness is among the faults that its arguments cause, and as small as the known one."""
    same = [fault for fault in faults if is_shown(fault, witness)]
    if not same:
        return Outcome("wrong", f"no such fault: {witness}")
    if total(witness["arguments"]) > total(known.arguments):
        return Outcome("right", f"smaller arguments: {known.arguments}, not {witness['arguments']}", smallest=False)
    # Another fault of the same operations, in earlier iterations, would be a smaller witness.
    ends = line_of(same[0].first.op), same[0].second and line_of(same[0].second.op)
    alike = [fault for fault in faults if (line_of(fault.first.op), fault.second and line_of(fault.second.op)) == ends]
    least = min(size(fault)[0] for fault in alike)  # type: ignore[type-var]
    if size(same[0])[0] != least:
        return Outcome("right", f"earlier iterations show the fault: {witness}", smallest=False)
    return Outcome("right")


def is_shown(fault: Fault, witness: Entry) -> bool:
    """Whether a witness names this fault: the kind, both operations with their iterations."""
    kinds = (*_RACES, "race-inverted") if fault.kind in _RACES else (fault.kind,)
    if witness["kind"] not in kinds:
        return False
    ends = [end for end in (witness["first"], witness["second"]) if end is not None]
    events = [event for event in (fault.first, fault.second) if event is not None]
    if fault.kind == "overfull-flag":
        events = events[-len(ends) :]
    if len(ends) != len(events):
        return False
    return all(
        int(end["location"].split(":")[-2]) == line_of(event.op) and tuple(end["iteration"]) == event.iteration
        for end, event in zip(ends, events, strict=True)
    )


def total(arguments: dict[str, int]) -> int:
    return sum(abs(int(value)) for value in arguments.values())
