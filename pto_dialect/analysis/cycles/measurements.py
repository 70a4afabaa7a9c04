"""Measurements of single operations, as CSV.  Source: docs/reference/cycles.md, "Measurements"."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pto_dialect.targets.memory import LOC_TO_SPACE

from .estimate import estimate
from .table import MOST, CycleTable, CycleTableError
from .work import Work

NEEDED: Final = ("op", "src_dtypes", "dst_dtype", "tile_rows", "tile_cols", "valid_rows", "valid_cols")
OPTIONAL: Final = ("gm_shape", "gm_layout", "variant", "public_model_precision", "case", "note", "target")
MEASURED: Final = "measured_cycles"

_MODEL = ("EQ_FIT_TABLE", "CLOSED_FORM")
"""Notes of rows whose figures a formula computed exactly: modelled, not measured."""


@dataclass(frozen=True)
class Measurement:
    """Cycles of one execution. ``target``: empty where the file has one chip only. ``modelled``: a formula computed the
    figure. ``baseline``: relative error that the public model states, if any."""

    work: Work
    cycles: float
    target: str = ""
    modelled: bool = False
    baseline: float | None = None

    @property
    def name(self) -> str:
        """Operation, types and valid part, for a list."""
        work = self.work
        return f"{work.name} {work.source} {work.result} {work.valid_rows}x{work.valid_cols}"

    @property
    def group(self) -> str:
        """Measurements of one operation are left out together."""
        return self.work.name

    def predict(self, table: CycleTable) -> float:
        """Returns the cycles by ``table``."""
        return estimate(self.work, table).cycles

    def identity(self, table: CycleTable) -> object:
        """Returns what equal measurements have in common, under the law of ``table``."""
        work = self.work
        options = tuple(sorted(work.options.items()))
        return work.name, work.source, work.result, work.valid_rows, options, self.predict(table), self.cycles


def read_measurements(path: str | Path) -> list[Measurement]:
    """Returns the measurements in a file. Raises :class:`CycleTableError`."""
    try:
        with open(path, encoding="utf-8", newline="") as stream:
            return parse_measurements(stream, str(path))
    except OSError as error:
        raise CycleTableError(f"cannot read '{path}': {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise CycleTableError(f"'{path}' is not UTF-8 text") from None


def parse_measurements(lines: Iterable[str], name: str) -> list[Measurement]:
    """Returns the measurements in ``lines``, called ``name`` in messages. Raises :class:`CycleTableError`."""
    reader = csv.DictReader(lines, restkey="")
    try:
        columns = list(reader.fieldnames or ())
        for column in columns:
            if column not in (*NEEDED, *OPTIONAL, MEASURED):
                raise CycleTableError(f"{name}:1: there is no column '{column}'")
        for column in (*NEEDED, MEASURED):
            if column not in columns:
                raise CycleTableError(f"{name}:1: column '{column}' is missing")
        return [_measurement(row, f"{name}:{reader.line_num}") for row in reader]
    except csv.Error as error:
        raise CycleTableError(f"{name}:{reader.line_num}: {error}") from None


def _measurement(row: dict[str, str], where: str) -> Measurement:
    cycles = _positive(row, MEASURED, float, where)
    rows, cols, valid_rows, valid_cols = (int(_positive(row, column, int, where)) for column in NEEDED[3:])
    if valid_rows > rows or valid_cols > cols:
        raise CycleTableError(f"{where}: the valid part {valid_rows}x{valid_cols} is larger than {rows}x{cols}")
    sources = (row["src_dtypes"] or "").split(";")
    types = [each for each in sources if each != "mask"]
    options = options_of(row.get("variant") or "")
    shape = [int(each) for each in re.findall(r"\d+", row.get("gm_shape") or "")]
    transfers, path = 1, _path(row["op"], options)
    for extent in shape[:-2] if path.startswith("gm") else ():
        transfers *= extent
    k = _positive(options, "k", int, where) if row["op"].startswith("tmatmul") and "k" in options else 0
    by_columns = path == "gm:ub" and (row.get("gm_layout") or "") == "DN"
    if by_columns:
        rows, cols, valid_rows, valid_cols = cols, rows, valid_cols, valid_rows
    work = Work(row["op"], types[0] if types else row["dst_dtype"], row["dst_dtype"], rows, cols, valid_rows,
                valid_cols, path, transfers, int(k), options, by_columns=by_columns)  # fmt: skip
    precision = row.get("public_model_precision") or ""
    note = row.get("note") or ""
    baseline = 1 - float(precision) if precision else None
    return Measurement(work, cycles, row.get("target") or "", any(token in note for token in _MODEL), baseline)


def _path(op: str, options: Mapping[str, str]) -> str:
    """Returns the memories between which a transfer moves, as its variant names them: ``src=Mat/…; dst=Left/…``."""
    if op not in ("tload", "tstore", "tmov", "textract", "tinsert"):
        return ""
    ends = {key: options.get(key, "vec").partition("/")[0].strip().lower() for key in ("src", "dst")}
    source, result = (LOC_TO_SPACE.get(ends[key], "ub") for key in ("src", "dst"))
    return f"{'gm' if op == 'tload' else source}:{'gm' if op == 'tstore' else result}"


def options_of(text: str) -> dict[str, str]:
    """Returns the variant of a row or an option, ``vf=1D_POST_UPDATE; op_params=default``, as a dictionary."""
    options: dict[str, str] = {}
    for part in text.split(";"):
        key, equals, value = part.strip().partition("=")
        if equals:
            options["variant" if key == "vf" else key] = value.strip()
    return options


def _positive(row: Mapping[str, str], column: str, kind: type[int] | type[float], where: str) -> float:
    text = row.get(column) or ""
    try:
        value = kind(text)
    except ValueError:
        what = f"'{text}' is no number" if text else "the value is missing"
        raise CycleTableError(f"{where}: {column}: {what}") from None
    if not 0 < value < float("inf"):
        raise CycleTableError(f"{where}: {column}: {text} is not positive")
    if value > MOST:
        raise CycleTableError(f"{where}: {column}: {text} is above {MOST:,}")
    return value
