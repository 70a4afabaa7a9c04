"""What an operation does to memories, pipes and targets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pto_dialect.ir.core.base import Effect, PtoOp, op_spec, signature
from pto_dialect.ir.core.registry import family_of
from pto_dialect.targets.choice import get_profile
from pto_dialect.targets.profile import Profile
from pto_dialect.targets.tile_pairs import LocPair

from ...reference.operations import targets
from ..examples import example_of
from ..page import Block, Table, Text, code, codes
from .prose import marked, prose_of
from .units import burst_units

_SPACE = re.compile(r"!pto\.ptr<[^<>]*(?:<[^<>]*>)?[^<>]*, (\w+)>|!pto\.(?:multi_)?tile_buf<(\w+),")
_EFFECTS: Final = {
    Effect.PURE: "computes its results from its operands alone",
    Effect.HANDLE: "makes or renames a handle; moves no data",
    Effect.QUERY: "reads a fact about the machine or the launch",
    Effect.SYNC: "orders other operations",
    Effect.CHANNEL: "changes the state of a channel, session or event",
    Effect.REGION: "groups or ends the operations of a region",
    Effect.CALL: "has the effects of the function that it runs",
    Effect.REPORT: "prints or stops",
}
_FLAGGED: Final = ("tile_", "matmul", "gemv", "cube_mad", "mte", "fixpipe", "dma", "ub_vector")
"""Families whose operations other pipes wait for with flags."""
_TARGETS: Final = ("a2a3", "a5")


def effects(cls: type[PtoOp], pipe: str) -> Iterator[Block]:
    """Memory that is read and written, the pipe, what orders the operation, its results."""
    spec = op_spec(cls)
    rows = [
        ("reads", ", ".join([*(f"`%{name}`" for name in spec.reads), *spec.state_reads])),
        ("writes", ", ".join([*(f"`%{name}`" for name in spec.writes), *spec.state_writes])),
        ("keeps what is not written", codes(f"%{name}" for name in spec.in_place) if spec.in_place else ""),
        ("besides", _EFFECTS[spec.effect] if spec.effect is not None else ""),
        ("results", _results(cls)),
        ("pipe", pipe),
        ("order", _order(cls)),
    ]
    yield Table(("", ""), tuple(row for row in rows if row[1]))


def _results(cls: type[PtoOp]) -> str:
    results = signature(cls).results
    if not results:
        return "none"
    names = codes(f"%{slot.name.rstrip('_')}" for slot in results)
    return f"{names}, in the form without `outs`" if all(slot.arity != "1" for slot in results) else names


def _order(cls: type[PtoOp]) -> str:
    """How work of other pipes is ordered after the operation."""
    said = prose_of(cls.name).effects
    if said:
        return "; ".join(map(marked, said))
    spec = op_spec(cls)
    if not family_of(cls).startswith(_FLAGGED) or not spec.writes:
        return ""
    written = " and ".join(f"`%{name}`" for name in spec.writes)
    return (
        f"other pipes that use {written} wait: [`pto.set_flag`](pto.set_flag.md) on this pipe, "
        "[`pto.wait_flag`](pto.wait_flag.md) on the other one ([`insert-sync`](../insert-sync.md) writes both)"
    )


def differences(cls: type[PtoOp]) -> Iterator[Block]:
    """Yields what the targets have differently: the operation itself, element types, units and memories."""
    having = [target for target in targets(cls).split(", ") if target]
    rows = [("has the operation", *("yes" if target in having else "no" for target in _TARGETS)), *_elements(cls)]
    rows += [(f"a length of `{cls.name}` counts", *counted) for counted in _counted(cls)]
    rows += _memories(example_of(cls.name).program)
    yield Table(("", *_TARGETS), tuple(rows))
    yield from _moves(cls.name)


def _elements(cls: type[PtoOp]) -> Iterator[tuple[str, ...]]:
    """Element types that one target alone has."""
    name = cls.name.removeprefix("pto.")
    tables = [set(get_profile(target).tile_dtypes.get(name, ())) for target in _TARGETS]
    if all(tables) and tables[0] != tables[1]:
        alone = (tables[0] - tables[1], tables[1] - tables[0])
        yield ("element types that the other one lacks", *(codes(sorted(names)) for names in alone))


def _counted(cls: type[PtoOp]) -> Iterator[tuple[str, ...]]:
    units = burst_units(cls.name)
    if units:
        yield tuple(f"{units[target].bytes} bytes" if target in units else "–" for target in _TARGETS)


def _memories(program: str) -> list[tuple[str, ...]]:
    profiles = [get_profile(name) for name in _TARGETS]
    found = dict.fromkeys(pointer or tile for pointer, tile in _SPACE.findall(program))
    rows: list[tuple[str, ...]] = []
    for name in found:
        space = profiles[1].space_aliases.get(name)
        if space is None:
            continue
        sizes = [str(profile.capacity.get(space) or "–") for profile in profiles]
        label = code(name) if name == space else f"{code(name)} ({code(space)})"
        aligned = profiles[1].alignment[space].error
        step = f", addresses are multiples of {aligned}" if aligned > 1 else ""
        rows.append((f"bytes of {label}{step}", *sizes))
    return rows


def _moves(name: str) -> Iterator[Block]:
    """Yields the pairs of locations between which each target moves tiles."""
    short = name.removeprefix("pto.")
    pairs = [_pairs(get_profile(target)).get(short, frozenset()) for target in _TARGETS]
    rows = [
        (f"`{source}`", f"`{to}`", *("yes" if (source, to) in found else "–" for found in pairs))
        for source, to in sorted(set().union(*pairs))
    ]
    if rows:
        yield Text("Moves between locations:")
        yield Table(("from", "to", *_TARGETS), tuple(rows))


def _pairs(profile: Profile) -> dict[str, frozenset[LocPair]]:
    return {"tmov": profile.tmov_pairs, "textract": profile.textract_pairs, "tinsert": profile.tinsert_pairs}
