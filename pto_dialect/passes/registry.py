"""All passes by name. Looking a name up imports no pass, so that a run pays only for the passes it uses."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .base import PtoPass


class PassEntry(NamedTuple):
    """Where a pass lives (module of this folder, class in it) and one line on what it does; ``changes`` tells that it
    changes the program."""

    module: str
    cls: str
    summary: str
    changes: bool = False


_VERIFY = "verify"

PASS_TABLE: dict[str, PassEntry] = {
    "verify-structure": PassEntry(
        _VERIFY,
        "VerifyStructurePass",
        "operand, result and attribute kinds, clauses, terminators, dominance, symbols",
    ),
    "verify-locations": PassEntry(
        _VERIFY, "VerifyLocationsPass", "address spaces, tile locations and layouts of operands"
    ),
    "verify-type-triples": PassEntry(_VERIFY, "VerifyTypeTriplesPass", "element types that go together on the target"),
    "verify-shapes": PassEntry(_VERIFY, "VerifyShapesPass", "shapes, valid regions, ranges of constants, alignment"),
    "check-sync": PassEntry(
        "check_sync", "CheckSyncPass", "flags and accesses along every path: unmatched, reused, unordered"
    ),
    "check-memory": PassEntry("check_memory", "CheckMemoryPass", "tiles in use that share bytes"),
    "assign-memory": PassEntry(
        "assign_memory.assign", "AssignMemoryPass", "addresses for tiles and queue buffers without them", changes=True
    ),
    "insert-sync": PassEntry(
        "insert_sync.insert", "InsertSyncPass", "the flags and barriers that a program without them needs", changes=True
    ),
}
"""Every pass; the verify passes stand in the order in which they run."""

VERIFY_PASSES = tuple(name for name, entry in PASS_TABLE.items() if entry.module == _VERIFY)
"""Passes that only look; those that follow one another run as one walk over the module, in this order."""


class UnknownPassError(ValueError):
    """A pipeline names a pass that does not exist; ``suggestions`` are the names it may have meant."""

    def __init__(self, name: str, suggestions: list[str]) -> None:
        hint = f", did you mean {suggestions[0]}?" if suggestions else f"; passes are {', '.join(PASS_TABLE)}"
        super().__init__(f"unknown pass '{name}'{hint}")
        self.name = name
        self.suggestions = suggestions


def parse_pipeline(text: str) -> tuple[str, ...]:
    """Pass names of a list such as ``verify-structure,verify-shapes``; empty text names none.

    Raises :class:`UnknownPassError`.
    """
    names = tuple(part.strip() for part in text.split(",")) if text.strip() else ()
    for name in names:
        if name not in PASS_TABLE:
            from pto_dialect.diagnostics.suggest import did_you_mean

            raise UnknownPassError(name, did_you_mean(name, PASS_TABLE))
    return names


def pass_class(name: str) -> type[PtoPass]:
    """The class of pass ``name``; raises KeyError for an unknown one."""
    entry = PASS_TABLE[name]
    return getattr(import_module(f".{entry.module}", __package__), entry.cls)
