"""``insert-sync``: the flags and barriers that a program without them needs, and no others.

Source: docs/reference/synchronisation.md, "Placement".
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pto_dialect.analysis.symbols import Symbols
from pto_dialect.analysis.target import profile_of
from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.ir.core.base import section_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.accesses.items import Sequence, UnsupportedError
from pto_dialect.passes.accesses.locations import HandleLocations
from pto_dialect.passes.base import PtoPass
from pto_dialect.verify.engine.rule import read_rules

from .calls import CallReader, Used, flag_ids
from .events import all_flags, assign_event_ids
from .remarks import remarks
from .solve import solve
from .write import write

_RULES = read_rules("passes")
UNSUPPORTED = _RULES["insert-sync-unsupported"]
NOT_SYNCHRONIZED = _RULES["insert-sync-left-alone"]


@dataclass(frozen=True)
class InsertSyncPass(PtoPass):
    """Puts flags and barriers into every function with a body that has none.

    ``style``: ``flags``, ``events`` for event operations instead, or ``buf`` for brackets of buffer ids, which only a5
    has. The scalar unit, and slots of multi-buffers among events, keep flags.
    """

    name: ClassVar[str] = "insert-sync"
    style: str = "flags"

    def run(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        """Changes ``module``; a function that is not followed is an error, and nothing changes then."""
        solver = Solver(self.target, self.style)
        for function in walk(module):
            if not has_role(function, Role.FUNCTION) or not function.regions[0].blocks:
                continue
            own = own_flag(function)
            if own is not None:
                engine.report(_left_alone(own))
                continue
            try:
                for sequence in solver.solved(function):
                    for remark in remarks(sequence):
                        engine.report(remark)
            except UnsupportedError as error:
                message = f"insert-sync cannot order this: {error.reason}"
                engine.report(UNSUPPORTED.at(error.op, message))
        if not engine.has_errors:
            solver.write()


def ordered(function: Operation) -> bool:
    """Returns whether a function orders its pipes by itself."""
    return own_flag(function) is not None


def own_flag(function: Operation) -> Operation | None:
    """Returns the first flag or lock of a function."""
    signals = (op for op in walk(function) if has_role(op, Role.LOCK | Role.PIPES))
    return next((op for op in signals if has_role(op, Role.LOCK) or has_role(op, Role.SETS)), None)


def _left_alone(flag: Operation) -> Diagnostic:
    message = (
        f"insert-sync leaves this function as it is, because it has {flag.name}: nothing is added to its own order"
    )
    help = (
        "-p check-sync reports which order is missing, to be added by hand; "
        "or remove all flags and locks of the function, and insert-sync makes the whole order"
    )
    return NOT_SYNCHRONIZED.at(flag, message, help=help)


class Solver:
    """Finds what the functions of a module need, those that are called before those that call them."""

    def __init__(self, target: str | None, style: str = "flags") -> None:
        self.target = target
        self.style = style
        self.symbols = Symbols()
        self._solved: dict[Operation, list[Sequence]] = {}

    def write(self) -> None:
        """Writes all that was found into the functions."""
        for function, sequences in self._solved.items():
            if self.style == "buf":
                from .locks import without_needless, write_locks  # deferred: start-up

                brackets = [bracket for one in sequences for bracket in write_locks(one)]
                fences = [fence for one in sequences for fence in write(one, self.style)]
                without_needless(function, self.target, brackets, fences)
                continue
            for one in sequences:
                write(one, self.style)

    def solved(self, function: Operation) -> list[Sequence]:
        """Returns the sequences of the cores that run ``function``, with what they need. Raises
        :class:`UnsupportedError`."""
        known = self._solved.get(function)
        if known is not None:
            return known
        profile = profile_of(function, self.target)
        if self.style == "buf" and profile.arch != "a5":
            raise UnsupportedError(function, f"{profile.arch} has no buffer ids, only a5 does")
        sections = {section_of(op) for op in walk(function)}
        sequences: list[Sequence] = []
        for side in [name for name in ("cube", "vector") if name in sections] or [None]:
            locations = HandleLocations(profile)
            reader = CallReader(locations, side, self.symbols, self.numbers, (function,))
            reader.rings = self.style != "buf"
            sequence = reader.function(function)
            solve(sequence, reader)
            if self.style == "buf":
                from .locks import assign_lock_ids, is_lock  # deferred: start-up

                assign_event_ids(sequence, reader, reader.used, is_lock)
                assign_lock_ids(sequence, set().union(*reader.used.values()))
            else:
                from .fewer import unite_flags  # deferred: start-up

                unite_flags(sequence, profile.arch)
                assign_event_ids(sequence, reader, reader.used)
            sequences.append(sequence)
        self._solved[function] = sequences
        return sequences

    def numbers(self, function: Operation) -> Used:
        """Returns the flag ids of a function."""
        if ordered(function):
            return flag_ids(function, profile_of(function, self.target).arch)
        used: Used = defaultdict(set)
        for sequence in self.solved(function):
            for flag in all_flags(sequence):
                used[flag.source, flag.target] |= set(flag.numbers)
        return used


def sequences(function: Operation, target: str | None) -> list[Sequence]:
    """Returns the sequences of the cores that run ``function``, with what they need. Raises
    :class:`UnsupportedError`."""
    return Solver(target).solved(function)
