"""Tables of cycle parameters: one CSV file per chip, replaceable by the user. Source: docs/reference/cycles.md,
"Tables"."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

COLUMNS: Final = ("law", "name", "type", "parameter", "value", "prior", "evidence", "note")

EVIDENCE: Final = ("measured", "neighbour", "published", "family", "assumed")
"""Classes of evidence, the best first."""

PARAMETERS: Final[Mapping[str, tuple[str, ...]]] = {
    "machine": ("value",),
    "band": ("value",),
    "flow": ("value",),
    "operation": ("chain", "loads", "slots", "busy"),
    "convert": (
        *("flat_lanes", "row_lanes", "flat_fixed", "flat_step", "flat_floor"),
        *("row_fixed", "row_step", "row_gap", "one_fixed", "one_step"),
    ),
    "select": ("even_fixed", "step", "odd", "single", "pair", "rest", "row"),
    "repeat": ("fixed", "slope", "sources"),
    "convert-repeat": ("fixed", "slope", "sources"),
    "reduce": ("row", "row_more", "fixed", "fixed_more", "partial"),
    "broadcast": ("row", "row_more", "fixed"),
    "column": ("row", "row_more", "fixed", "fixed_more", "partial_row"),
    "divide": ("fixed", "slope"),
    "transpose": ("fixed", "slope", "copy"),
    "scalar": ("fixed", "element"),
    "family": ("fixed", "row", "slope", "error"),
    "copy": ("fixed", "block"),
    "move": ("fixed", "rate"),
    "ragged": ("column",),
    "cube": ("head", "passes"),
    "sync": ("value",),
    "range": ("low", "high"),
}
"""The laws, and the parameters of each of their entries."""

SIGNED: Final = frozenset(("flat_step", "row_gap", "fixed_more", "prior"))
"""Parameters that may be negative: corrections of others."""

Key = tuple[str, str, str, str]
"""Law, name, type and parameter."""

MOST: Final = 1_000_000_000
"""The largest value of a parameter, and of a measurement: sums of such times have no rounding errors."""

POSITIVE: Final = frozenset(("rate", "flat_lanes", "row_lanes"))
"""Parameters that others are divided by."""

POSITIVE_OF_MACHINE: Final = frozenset(("clock_mhz", "cores", "memory_gbps", "vector_bytes"))

BANDS: Final = tuple(each for each in EVIDENCE if each != "family")
"""Classes of evidence with one band each; each family has its own. Tables may have bands of the ``schedule`` of a run
and of its ``launch`` as well."""


class CycleTableError(ValueError):
    """A table that cannot be used; the message has the file and the line."""


class Entry(NamedTuple):
    """One parameter: its ``value``, the ``prior`` where a fit starts (``None``: not fitted), its evidence and its
    line."""

    value: float
    prior: float | None
    evidence: str
    line: int


@dataclass
class CycleTable:
    """The parameters of one chip. While ``used`` is a set, it collects the keys that are read. ``chip``: the only chip
    that it is for, if it says so."""

    name: str
    entries: dict[Key, Entry]
    types: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict[tuple[str, str], tuple[str, ...]])
    used: set[Key] | None = None
    chip: str = ""

    def __post_init__(self) -> None:
        if self.types:
            return
        kinds: dict[tuple[str, str], set[str]] = {}
        for law, name, type_, _ in self.entries:
            kinds.setdefault((law, name), set()).add(type_)
        self.types = {key: tuple(sorted(types)) for key, types in kinds.items()}

    def type_of(self, law: str, name: str, type_: str) -> str | None:
        """Returns the type under which ``law`` has figures of ``name`` for ``type_``; ``None`` where it has none."""
        known = self.types.get((law, name), ())
        return type_ if type_ in known else "*" if "*" in known else None

    def family_of(self, name: str) -> str | None:
        """Returns the most specific family whose name, or prefix before ``*``, matches an operation."""
        fitting = [
            family
            for law, family in self.types
            if law == "family" and (name.startswith(family[:-1]) if family.endswith("*") else name == family)
        ]
        return max(fitting, key=lambda family: len(family.rstrip("*")) + (not family.endswith("*")), default=None)

    def get(self, law: str, name: str, type_: str, parameter: str) -> float:
        """Returns the value of a parameter that exists."""
        key = (law, name, type_, parameter)
        if self.used is not None:
            self.used.add(key)
        return self.entries[key].value

    def group(self, law: str, name: str, type_: str) -> dict[str, float]:
        """Returns all parameters of an entry that exists."""
        return {parameter: self.get(law, name, type_, parameter) for parameter in PARAMETERS[law]}

    def value_of(self, law: str, name: str) -> float:
        """Returns the value of an entry that has one parameter."""
        return self.get(law, name, "*", "value")

    def optional(self, law: str, name: str, default: float) -> float:
        """Like ``value_of``, with a default for a missing entry."""
        return self.value_of(law, name) if (law, name) in self.types else default

    def values(self, keys: Iterable[Key]) -> dict[Key, float]:
        """Returns the values of these parameters."""
        return {key: self.entries[key].value for key in keys}

    def evidence(self, law: str, name: str, type_: str) -> str:
        """Returns the weakest evidence among the parameters of an entry."""
        kinds = (self.entries[law, name, type_, each].evidence for each in PARAMETERS[law])
        return max(kinds, key=EVIDENCE.index)

    def with_values(self, values: Mapping[Key, float], evidence: str | None = None) -> CycleTable:
        """Returns a table with other values, and other ``evidence`` of these."""
        entries = dict(self.entries)
        for key, value in values.items():
            old = entries[key]
            entries[key] = old._replace(value=value, evidence=evidence or old.evidence)
        return CycleTable(self.name, entries, self.types, chip=self.chip)

    def text(self) -> str:
        """Returns the table as CSV."""
        lines = [",".join(COLUMNS)]
        for (law, name, type_, parameter), entry in self.entries.items():
            prior = "" if entry.prior is None else f"{entry.prior:g}"
            lines.append(",".join((law, name, type_, parameter, f"{entry.value:.6g}", prior, entry.evidence, "")))
        return "\n".join(lines) + "\n"


def shipped(chip: str) -> CycleTable:
    """Returns the table of ``a2a3`` or ``a5`` in the package."""
    return read_table(Path(__file__).parents[2] / "targets" / "cycles" / f"{chip}.csv", chip)


CALIBRATION: Final = "# calibration of "
"""The beginning of a file that changes parameters of the shipped table of the chip whose name follows."""

CHIPS: Final = ("a2a3", "a5")


def read_table(path: str | Path, name: str | None = None) -> CycleTable:
    """Returns the table in a file, or the shipped one with the calibration in it. Raises :class:`CycleTableError`."""
    try:
        with open(path, encoding="utf-8", newline="") as stream:
            first = stream.readline(1000)
            if first.startswith(CALIBRATION):
                return _calibrated(first, stream, name or str(path))
            stream.seek(0)
            return parse_table(stream, name or str(path))
    except OSError as error:
        raise CycleTableError(f"cannot read '{path}': {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise CycleTableError(f"'{path}' is not UTF-8 text") from None


def _calibrated(first: str, lines: Iterable[str], name: str) -> CycleTable:
    """Returns the shipped table of the chip that the ``first`` line names, with the values in ``lines``."""
    chip = first.removeprefix(CALIBRATION).split(" ")[0].strip()
    if chip not in CHIPS:
        raise CycleTableError(f"{name}:1: a calibration is of {' or '.join(CHIPS)}, found '{chip}'")
    base = shipped(chip)
    changes = _parse_entries(lines, name, 1)
    for key, entry in changes.items():
        if key not in base.entries:
            raise CycleTableError(f"{name}:{entry.line}: the table of {chip} has no parameter {_text(key)}")
    entries = base.entries | changes
    _check_complete(entries, name)
    return CycleTable(name, entries, base.types, chip=chip)


def parse_table(lines: Iterable[str], name: str) -> CycleTable:
    """Returns the table in ``lines``, called ``name`` in messages. Raises :class:`CycleTableError`."""
    entries = _parse_entries(lines, name, 0)
    _check_complete(entries, name)
    return CycleTable(name, entries)


def _parse_entries(lines: Iterable[str], name: str, before: int) -> dict[Key, Entry]:
    """Returns the parameters in ``lines``, of which so many came ``before``."""
    reader = csv.reader(lines)
    entries: dict[Key, Entry] = {}
    try:
        head = next(reader, [])
        _check_columns(head, f"{name}:{before + 1}")
        for cells in reader:
            if not cells or cells[0].startswith("#"):
                continue
            line = before + reader.line_num
            if len(cells) != len(head):
                raise CycleTableError(f"{name}:{line}: {len(head)} columns expected, found {len(cells)}")
            key, entry = _parse_entry(dict(zip(head, cells, strict=True)), f"{name}:{line}", line)
            if key in entries:
                first = entries[key].line
                raise CycleTableError(f"{name}:{line}: {_text(key)} is given twice, first in line {first}")
            entries[key] = entry
    except csv.Error as error:
        raise CycleTableError(f"{name}:{before + reader.line_num}: {error}") from None
    return entries


def _check_columns(head: list[str], where: str) -> None:
    unknown = [column for column in head if column not in COLUMNS]
    missing = [column for column in COLUMNS if column not in head and column not in ("prior", "evidence", "note")]
    known = ", ".join(COLUMNS)
    if unknown:
        raise CycleTableError(f"{where}: there is no column '{unknown[0]}'; columns are {known}")
    if missing:
        raise CycleTableError(f"{where}: column '{missing[0]}' is missing; columns are {known}")
    if len(set(head)) != len(head):
        raise CycleTableError(f"{where}: a column is named twice")


def _parse_entry(row: Mapping[str, str], where: str, line: int) -> tuple[Key, Entry]:
    law, parameter = row["law"], row["parameter"]
    if law not in PARAMETERS:
        raise CycleTableError(f"{where}: there is no law '{law}'; laws are {', '.join(PARAMETERS)}")
    if parameter not in PARAMETERS[law]:
        raise CycleTableError(f"{where}: '{law}' has no parameter '{parameter}', but {', '.join(PARAMETERS[law])}")
    evidence = row.get("evidence", "") or "measured"
    if evidence not in EVIDENCE:
        raise CycleTableError(f"{where}: there is no evidence '{evidence}', but {', '.join(EVIDENCE)}")
    value = _parse_number(row["value"], parameter, where)
    prior = row.get("prior", "")
    if not value and (parameter in POSITIVE or (law == "machine" and row["name"] in POSITIVE_OF_MACHINE)):
        raise CycleTableError(f"{where}: {parameter}: {row['value']} is not positive")
    if law == "machine" and row["name"] == "flow" and value not in (0, 1):
        raise CycleTableError(f"{where}: the flow is 1, loops over registers, or 0, repeated instructions")
    entry = Entry(value, _parse_number(prior, parameter, where) if prior else None, evidence, line)
    return (law, row["name"], row["type"] or "*", parameter), entry


def read_number(text: str, column: str, where: str) -> float:
    """Returns the number in a cell. Raises ``CycleTableError`` for other texts, with the cell's location and column."""
    try:
        return float(text)
    except ValueError:
        what = f"'{text}' is no number" if text else "the value is missing"
        raise CycleTableError(f"{where}: {column}: {what}") from None


def _parse_number(text: str, parameter: str, where: str) -> float:
    value = read_number(text, parameter, where)
    if math.isfinite(value) and abs(value) > MOST:
        raise CycleTableError(f"{where}: {parameter}: {text} is above {MOST:,}")
    if not math.isfinite(value) or (value < 0 and parameter not in SIGNED):
        raise CycleTableError(f"{where}: {parameter}: {text} is not a number of cycles, bytes or lanes")
    return value


def _check_complete(entries: Mapping[Key, Entry], name: str) -> None:
    seen: dict[tuple[str, str, str], int] = {}
    for (law, entry, type_, _), one in entries.items():
        seen.setdefault((law, entry, type_), one.line)
    for (law, entry, type_), line in seen.items():
        for parameter in PARAMETERS[law]:
            if (law, entry, type_, parameter) not in entries:
                raise CycleTableError(f"{name}:{line}: '{law} {entry} {type_}' has no parameter '{parameter}'")
    for law, entry, type_ in [each for each in seen if each[0] == "range"]:
        if entries[law, entry, type_, "low"].value > entries[law, entry, type_, "high"].value:
            raise CycleTableError(f"{name}:{seen[law, entry, type_]}: 'range {entry}' has a low above its high")
    kind = FLOWS[int(entries["machine", "flow", "*", "value"].value)] if ("machine", "flow", "*") in seen else ()
    for law, entry in (*(("band", each) for each in BANDS), *REQUIRED, *kind):
        if (law, entry, "*") not in seen:
            raise CycleTableError(f"{name}: '{law} {entry}' is missing")


REQUIRED: Final = (
    *(("machine", name) for name in ("clock_mhz", "cores", "memory_gbps", "vector_bytes", "flow")),
    *(("move", name) for name in ("gm:ub", "gm:l1", "ub:gm", "l0c:gm", "l1:l0a", "l1:l0b", "ub:ub")),
    *(("cube", "tmatmul"), ("sync", "flag"), ("sync", "barrier"), ("range", "vector"), ("range", "other")),
)
"""Law and name of the entries that every table must have."""

FLOWS: Final = (
    (("flow", "partial"), ("copy", "row")),
    (
        *(("flow", name) for name in ("flat_start", "single", "second_load", "row_start", "row_least", "row_gap")),
        *(("flow", name) for name in ("port_one", "port_two", "window", "spread")),
        ("select", "tsel"),
    ),
)
"""Entries that a table for repeated instructions, or for loops over registers, must have."""


def _text(key: Key) -> str:
    return " ".join(key)
