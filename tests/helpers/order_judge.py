"""The verdict of the order model on a function: all arguments of a range, smallest first, by brute force."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from order_events import Event
from order_graph import Execution, Fault
from order_scalars import WIDTHS
from order_unroll import Unroller
from order_values import Inadmissible
from xdsl.dialects.builtin import ModuleOp

from pto_dialect.ir.core.location import SourceLoc

CHOICES = (0, 1, 2)
"""What an unknown scalar of memory may be."""
MOST_LOADS = 3
BLOCKS = 4


@dataclass(frozen=True)
class Range:
    """Each integer argument runs from ``low`` to ``high``."""

    low: int = -1
    high: int = 12


@dataclass(frozen=True)
class Verdict:
    """``arguments`` are the smallest ones with a fault; ``faults`` all that they cause, smallest iterations first."""

    kind: str
    arguments: dict[str, int]
    faults: tuple[Fault, ...] = ()

    @property
    def text(self) -> str:
        """As in the comment below a program."""
        if self.kind == "proven":
            return "proven"
        values = ", ".join(f"{name} = {value}" for name, value in self.arguments.items())
        return f"refuted{' with ' if values else ''}{values}: {describe(self.faults[0])}"


def describe(fault: Fault) -> str:
    """A fault: its kind, and each operation with the counters of its loops."""
    ends = (fault.first,) if fault.second is None else (fault.first, fault.second)
    return f"{fault.kind}: " + " then ".join(f"{event.op.name} {list(event.iteration)}" for event in ends)


def line_of(fault_op: object) -> int:
    location = fault_op.location  # type: ignore[attr-defined]
    assert isinstance(location, SourceLoc)
    source, start, _ = location.data
    return source.line_col(start)[0]


def function_names(module: ModuleOp) -> list[str]:
    """Functions with a body that no other one calls."""
    functions = [op for op in module.walk() if op.name == "func.func"]
    called = {str(op.properties["callee"]).removeprefix("@") for op in module.walk() if op.name == "func.call"}
    names = (op.sym_name.data for op in functions if op.body.blocks)  # type: ignore[attr-defined]
    return [name for name in names if name not in called]


def target_of(module: ModuleOp) -> str:
    found = re.search(r"\w+", str(module.attributes.get("pto.target_arch", "a5")))
    return "a5" if found is None or found[0] == "a5" else "a2a3"


class Judge:
    """Brute force over the integer arguments of one function."""

    def __init__(self, module: ModuleOp, name: str):
        self.name, self.target = name, target_of(module)
        self.functions = {op.sym_name.data: op for op in module.walk() if op.name == "func.func"}  # type: ignore[attr-defined]
        self.function = self.functions[name]
        values = self.function.body.blocks.first.args  # type: ignore[attr-defined]
        self.parameters = {str(value.name_hint): str(value.type) for value in values if str(value.type) in WIDTHS}
        inside = {op.name for op in self.function.walk()}
        if "pto.get_block_idx" in inside:
            self.parameters["block_idx"] = "block"
        cube, vector = "pto.section.cube" in inside, "pto.section.vector" in inside
        self.cores = ["cube", "vector0", "vector1"] if cube and vector else ["core"]

    def verdict(self, numbers: Range) -> Verdict:
        """The first arguments with a fault, by the sum of their sizes, a flag that is set early only where no others
        have another fault; else proven (for these arguments)."""
        early: Verdict | None = None
        for arguments in self.arguments(numbers):
            try:
                faults = self.faults(arguments)
            except Inadmissible:
                continue
            worse = [fault for fault in faults if fault.kind != "flag-ahead"]
            if worse:
                return Verdict("refuted", arguments, tuple(sorted(worse, key=size)))
            if faults and early is None:
                early = Verdict("refuted", arguments, tuple(sorted(faults, key=size)))
        return early or Verdict("proven", {})

    def arguments(self, numbers: Range) -> Iterator[dict[str, int]]:
        special = {"i1": range(2), "block": range(BLOCKS)}
        domains = {
            name: special.get(kind, range(numbers.low, numbers.high + 1)) for name, kind in self.parameters.items()
        }
        rows = sorted(product(*domains.values()), key=lambda row: (sum(map(abs, row)), *((abs(n), n < 0) for n in row)))
        return (dict(zip(domains, row, strict=True)) for row in rows)

    def faults(self, arguments: dict[str, int]) -> list[Fault]:
        """All faults of one call; scalars of memory take any of some values."""
        result: list[Fault] = []
        choices: list[int] | None = []
        while choices is not None and not result:
            taken: list[int] = []
            events = self.events(arguments, choices, taken)
            execution = Execution(events, self.target)
            result = [*execution.faults, *execution.ahead]
            choices = following(taken)
        return result

    def events(
        self, arguments: dict[str, int], choices: list[int] | None = None, taken: list[int] | None = None
    ) -> list[Event]:
        """The events of one call on all cores; scalar loads yield the ``choices``, which are noted in ``taken``."""
        load = _Loads(choices or [], [] if taken is None else taken)
        blocks = arguments.get("block_idx", 0), BLOCKS
        cores = (Unroller(self.functions, load, core, blocks).run(self.name, arguments) for core in self.cores)
        return [event for events in cores for event in events]


class _Loads:
    """Yields the chosen values, then zeros, and appends them to ``taken``."""

    def __init__(self, choices: list[int], taken: list[int]):
        self.choices, self.taken = choices, taken

    def __call__(self) -> int:
        index = len(self.taken)
        value = self.choices[index] if index < len(self.choices) else CHOICES[0]
        self.taken.append(value)
        return value


def following(taken: list[int]) -> list[int] | None:
    """The next row of choices in lexicographic order; later loads than the first some are always the same."""
    row = taken[:MOST_LOADS]
    while row:
        last = CHOICES.index(row.pop())
        if last + 1 < len(CHOICES):
            return [*row, CHOICES[last + 1]]
    return None


def size(fault: Fault) -> tuple[object, ...]:
    """Smaller faults come first: sum of iterations, then those of the later and the earlier operation."""
    second = fault.second or fault.first
    both = (*second.ordinals, *(fault.first.ordinals if fault.second else ()))
    lines = line_of(second.op), line_of(fault.first.op)
    return sum(both), second.ordinals, fault.first.ordinals, fault.kind, lines
