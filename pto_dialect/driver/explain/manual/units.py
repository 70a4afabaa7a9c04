"""In what the numbers of an operation count, and in which range, from ``units.txt`` and the tables of the targets."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from pto_dialect.ir.core.base import PtoOp, Slot
from pto_dialect.ir.core.registry import family_of
from pto_dialect.targets.choice import get_profile
from pto_dialect.targets.dma_units import BurstUnit

COUNTING: Final = re.compile(
    r"stride|gap|len(?:_|$)|Len|burst|repeat|offset|size|_num|num_|count|addr|distance|step|start|width", re.IGNORECASE
)
"""Names of operands and attributes that have a unit."""

_LENGTHS: Final = ("len_burst",)
_DISTANCES: Final = re.compile(r"^(?:nburst_|burst_)?(?:src|dst|source)_(?:stride|gap)$|^(?:gm|ub)_stride$")
_RAW_TABLES: Final = {"copy_cbuf_to_bt": "mte_l1_bt", "copy_cbuf_to_fbuf": "mte_l1_fb"}
"""Raw copies that count as another transfer does."""
_FROM: Final = {
    "start": "from the start of a burst to the start of the next",
    "gap": "from the end of a burst to the start of the next",
}


class Unit(NamedTuple):
    """In what a number counts, and the range of it, which may be unknown."""

    unit: str
    range: str = ""

    def __str__(self) -> str:
        return f"{self.unit}; {self.range}" if self.range else self.unit


@cache
def units() -> dict[tuple[str, str], Unit]:
    """Returns the rows of ``units.txt`` by scope and name; attributes begin with ``@``."""
    found: dict[tuple[str, str], Unit] = {}
    for line in (
        files("pto_dialect.driver.explain.manual").joinpath("units.txt").read_text(encoding="utf-8").splitlines()
    ):
        if line and not line.startswith("#"):
            head, _, counted = line.partition(": ")
            unit, _, limits = counted.partition("; ")
            scope, *names = head.split()
            found |= {(scope, name): Unit(unit, limits) for name in names}
    return found


def unit_of(cls: type[PtoOp], slot: Slot, attribute: bool = False) -> Unit | None:
    """Returns the unit of an operand or attribute of ``cls``; ``None`` for what is no number or counts nothing."""
    if not attribute and (burst := _burst(cls, slot.name)) is not None:
        return burst
    table, name = units(), f"@{slot.name}" if attribute else slot.name
    return next((table[scope, name] for scope in (cls.name, family_of(cls), "*") if (scope, name) in table), None)


def burst_units(name: str) -> dict[str, BurstUnit]:
    """Returns the units of a transfer in bursts on each target that has one."""
    short = name.removeprefix("pto.")
    short = _RAW_TABLES.get(short, short)
    profiles = [get_profile(target) for target in ("a2a3", "a5")]
    return {profile.name: profile.burst_units[short] for profile in profiles if short in profile.burst_units}


def _burst(cls: type[PtoOp], name: str) -> Unit | None:
    """Returns the unit of the length or distance of bursts."""
    counts = burst_units(cls.name)
    if not counts or name.startswith("loop_"):
        return None
    sizes = dict.fromkeys(unit.bytes for unit in counts.values())
    counted = _counted(counts) if len(sizes) > 1 else "bytes" if 1 in sizes else f"blocks of {next(iter(sizes))} bytes"
    if name in _LENGTHS:
        return Unit(counted, "at least 0")
    if _DISTANCES.search(name) is None:
        return None
    return Unit(f"{counted}, {_FROM[next(iter(counts.values())).stride]}", "at least 0")


def _counted(counts: dict[str, BurstUnit]) -> str:
    return "blocks of " + " or ".join(f"{unit.bytes} ({target})" for target, unit in counts.items()) + " bytes"
