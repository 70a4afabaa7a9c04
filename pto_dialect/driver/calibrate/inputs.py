"""Files of measurements: single operations, operations of programs, and summaries of msprof."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from statistics import median
from typing import Final

from pto_dialect.analysis.cycles.calibration import Observation
from pto_dialect.analysis.cycles.fit import Observed
from pto_dialect.analysis.cycles.measurements import MEASURED, Measurement, parse_measurements
from pto_dialect.analysis.cycles.table import MOST, CycleTable, CycleTableError, read_number
from pto_dialect.analysis.cycles.work import Work

from .programs import Executed, Program, read_program

MOST_BYTES: Final = 64 << 20
MOST_ROWS: Final = 100_000
MOST_KINDS: Final = 2_000
"""Different measurements that a fit takes; repeated ones count as one."""

UNITS: Final[Mapping[str, float]] = {"cycles": 0.0, "us": 1.0, "µs": 1.0, "ns": 1e-3, "ms": 1e3}
"""Columns with a time, and the microseconds of their unit; 0 for cycles."""

NAME, DURATION = "Op Name", "Task Duration(us)"
_PIPE = re.compile(r"(?:aic_|aiv_|aicore_)?(mac|mte1|mte2|mte3|fixpipe|vec)_time\(us\)")
PIPES: Final[Mapping[str, str]] = {
    **{"mac": "PIPE_M", "mte1": "PIPE_MTE1", "mte2": "PIPE_MTE2", "mte3": "PIPE_MTE3"},
    **{"fixpipe": "PIPE_FIX", "vec": "PIPE_V"},
}
"""Pipes by the names of msprof."""

MISSING: Final = ("", "N/A", "NA", "-", "--")

FORMS: Final = (
    f"a table of single operations has a column {MEASURED}, one of programs file, operation and one of "
    f"{', '.join(UNITS)}, a summary of msprof '{NAME}' and '{DURATION}'"
)


@dataclass
class Measured:
    """What a file says about one chip. ``skipped``: rows that say nothing about it, by the reason."""

    chip: str
    observations: list[Observed] = field(default_factory=list[Observed])
    skipped: dict[str, int] = field(default_factory=dict[str, int])

    def skip(self, reason: str) -> None:
        """Counts a row that is not taken."""
        self.skipped[reason] = self.skipped.get(reason, 0) + 1


def chip_of(path: str, programs: Sequence[str]) -> str:
    """Returns the chip of the first program that is named, on the command line or in the file; a5 without any."""
    if programs:
        return read_program(Path(programs[0]), None).chip
    text = _text(path)
    head = [name.strip() for name in next(csv.reader(io.StringIO(text)), [])]
    if "file" not in head or MEASURED in head:
        return "a5"
    where, row = next(iter(_rows(path, text)), ("", {}))
    return _program(path, row["file"], None, {}, where).chip if row.get("file") else "a5"


def read_measured(path: str, programs: Sequence[str], target: str | None, table: CycleTable, chip: str) -> Measured:
    """Returns the measurements in a file about ``chip``. Raises :class:`CycleTableError`."""
    text = _text(path)
    head = [name.strip() for name in next(csv.reader(io.StringIO(text)), [])]
    found = Measured(chip)
    try:
        if MEASURED in head:
            rows = parse_measurements(io.StringIO(text), path)
            found.observations += [one for one in rows if one.target in ("", chip)]
            for one in rows:
                if one.target not in ("", chip):
                    found.skip(f"of {one.target}")
        elif NAME in head or DURATION in head:
            _read_summary(path, text, programs, target, table, found)
        else:
            _read_programs(path, text, head, target, table, found)
    except csv.Error as error:
        raise CycleTableError(f"{path}: {error}") from None
    if not found.observations:
        why = "".join(f"; {count} rows skipped: {reason}" for reason, count in found.skipped.items())
        raise CycleTableError(f"{path}: there are no measurements of {chip}{why}")
    found.observations = _merged(found.observations)
    if len(found.observations) > MOST_KINDS:
        raise CycleTableError(f"{path}: more than {MOST_KINDS:,} different measurements")
    return found


def _merged(observations: Sequence[Observed]) -> list[Observed]:
    """Returns one measurement of each kind, with the median of those of a repeated one."""
    kinds: dict[object, list[Observation | Measurement]] = {}
    for one in observations:
        assert isinstance(one, Observation | Measurement)
        if isinstance(one, Observation):
            key: object = (one.name, one.works)
        else:
            key = (one.work, tuple(sorted(one.work.options.items())))
        kinds.setdefault(key, []).append(one)
    return [replace(same[0], cycles=median(one.cycles for one in same)) for same in kinds.values()]


def _text(path: str) -> str:
    file = Path(path)
    try:
        if file.stat().st_size > MOST_BYTES:
            raise CycleTableError(f"'{path}' has more than {MOST_BYTES >> 20} MiB")
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise CycleTableError(f"cannot read '{path}': {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise CycleTableError(f"'{path}' is not UTF-8 text") from None


def _rows(path: str, text: str) -> list[tuple[str, dict[str, str]]]:
    """Returns the rows with their source locations; columns without the spaces around their names."""
    reader = csv.DictReader(io.StringIO(text), restkey="", restval="")
    rows: list[tuple[str, dict[str, str]]] = []
    for row in reader:
        where = f"{path}:{reader.line_num}"
        if row.get(""):
            raise CycleTableError(f"{where}: the row has more cells than the head has columns")
        rows.append((where, {name.strip(): (cell or "").strip() for name, cell in row.items() if name}))
        if len(rows) > MOST_ROWS:
            raise CycleTableError(f"{path}: more than {MOST_ROWS:,} rows")
    return rows


def _number(text: str, column: str, where: str) -> float:
    value = read_number(text, column, where)
    if not isfinite(value) or value <= 0:
        raise CycleTableError(f"{where}: {column}: {text} is not a positive time")
    if value > MOST:
        raise CycleTableError(f"{where}: {column}: {text} is above {MOST:,}")
    return value


# ------------------------------------------------------------ tables about programs


def _read_programs(
    path: str, text: str, head: Sequence[str], target: str | None, table: CycleTable, found: Measured
) -> None:
    times = [name for name in head if name in UNITS]
    missing = [name for name in ("file", "operation") if name not in head]
    if missing or len(times) != 1:
        what = (
            f"column '{missing[0]}' is missing" if missing else f"one column with a time is needed, found {len(times)}"
        )
        raise CycleTableError(f"{path}:1: {what}; {FORMS}")
    unit, factor = times[0], UNITS[times[0]]
    clock = table.value_of("machine", "clock_mhz")
    programs: dict[str, Program] = {}
    for where, row in _rows(path, text):
        time = _number(row[unit], unit, where)
        program = _program(path, row["file"], target, programs, where)
        if program.chip != found.chip:
            found.skip(f"for {program.chip}")
            continue
        works = _works(program, row["operation"], row.get("line", ""), where)
        name = f"{program.file} {row['operation']} {row.get('line', '')}".rstrip()
        cycles = time * factor * clock if factor else time
        found.observations.append(Observation(name, works, cycles, row["operation"].removeprefix("pto.")))


def _program(path: str, name: str, target: str | None, programs: dict[str, Program], where: str) -> Program:
    if not name:
        raise CycleTableError(f"{where}: file: the value is missing")
    if name not in programs:
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise CycleTableError(f"{where}: '{name}' is not below the folder of the table")
        programs[name] = read_program(Path(path).parent / name, target)
    return programs[name]


def _works(program: Program, operation: str, line: str, where: str) -> tuple[tuple[Work, int], ...]:
    if operation.startswith("pipe "):
        return _works_of_pipe(program, f"PIPE_{operation.removeprefix('pipe ').strip().removeprefix('PIPE_')}", where)
    name = operation.removeprefix("pto.")
    named = [one for one in program.operations if one.name == name]
    if line:
        number = _number(line, "line", where)
        named = [one for one in named if one.line == number]
    if not named:
        place = f" in line {line}" if line else ""
        raise CycleTableError(f"{where}: '{program.file}' has no {operation or 'operation without a name'}{place}")
    if len({one.work for one in named}) > 1:
        lines = ", ".join(str(one.line) for one in named[:5])
        raise CycleTableError(
            f"{where}: {operation} of '{program.file}' differs by line; name one of {lines} in 'line'"
        )
    return ((named[0].work, 1),)


def _works_of_pipe(program: Program, pipe: str, where: str) -> tuple[tuple[Work, int], ...]:
    works = [one for one in program.operations if one.pipe == pipe]
    if not works:
        known = ", ".join(sorted({one.pipe.removeprefix("PIPE_") for one in program.operations}))
        raise CycleTableError(
            f"{where}: '{program.file}' has nothing on pipe {pipe.removeprefix('PIPE_')}, but on {known}"
        )
    _check_closed(works, program, where)
    return tuple((one.work, one.executions) for one in works)


def _check_closed(works: Sequence[Executed], program: Program, where: str) -> None:
    open_ = next((one for one in works if one.open), None)
    if open_ is not None:
        raise CycleTableError(f"{where}: how often {open_.name} in line {open_.line} of '{program.file}' executes is "
                              "known in a run only")  # fmt: skip


# ------------------------------------------------------------ summaries of msprof


def _read_summary(
    path: str, text: str, files: Sequence[str], target: str | None, table: CycleTable, found: Measured
) -> None:
    rows = _rows(path, text)
    head = [name.strip() for name in next(csv.reader(io.StringIO(text)))]
    for column in (NAME, DURATION):
        if column not in head:
            raise CycleTableError(f"{path}:1: column '{column}' is missing; {FORMS}")
    columns = {name: PIPES[one[1]] for name in head if (one := _PIPE.fullmatch(name))}
    if not columns:
        raise CycleTableError(f"{path}:1: no column has the time of a pipe, like aiv_vec_time(us): export the metric "
                              "PipeUtilization")  # fmt: skip
    if not files:
        raise CycleTableError(f"{path}: a summary of msprof needs the programs of its kernels: pto cycles --calibrate "
                              f"{path} KERNEL.pto...")  # fmt: skip
    programs = [read_program(Path(file), target) for file in files]
    clock = table.value_of("machine", "clock_mhz")
    for where, row in rows:
        program = next(
            (one for one in programs if row[NAME] in one.functions or row[NAME] == Path(one.file).stem), None
        )
        if program is None:
            found.skip("kernels without a program")
        elif program.chip != found.chip:
            found.skip(f"for {program.chip}")
        else:
            _number(row[DURATION], DURATION, where)
            for column, pipe in columns.items():
                _pipe_of_summary(row[column], column, pipe, program, clock, where, found)


def _pipe_of_summary(
    cell: str, column: str, pipe: str, program: Program, clock: float, where: str, found: Measured
) -> None:
    works = [one for one in program.operations if one.pipe == pipe]
    if cell in MISSING or not works:
        return
    if re.fullmatch(r"0+(?:\.0+)?", cell):
        found.skip(f"no time in {column}")
        return
    _check_closed(works, program, where)
    counted = tuple((one.work, one.executions) for one in works)
    observation = Observation(f"{program.file} {pipe}", counted, _number(cell, column, where) * clock, program.file)
    found.observations.append(observation)
