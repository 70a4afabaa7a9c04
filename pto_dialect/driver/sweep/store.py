"""A file with one record for each launch that has run: JSON lines, or Parquet. Source: docs/cluster.md, "Results"."""

from __future__ import annotations

import json
import os
from typing import Any

from pto_dialect.diagnostics.files import atomic_write

from ..launch.suite import VERDICTS, FileResult
from .jobs import Job
from .work import Done

PARQUET, LINES = ".parquet", ".jsonl"
_JOURNAL = ".journal.jsonl"
_COLUMNS = ("key", "file", "point", "result", "ms", "worker", "reason", "out", "err")
_CODES = {word.lower(): code for code, word in VERDICTS.items()}

Record = dict[str, Any]


class StoreError(Exception):
    """A file of results that cannot be read or written; the message is for the user."""


def record_of(job: Job, done: Done) -> Record:
    """Returns what is kept of a job."""
    result = done.result
    return {
        "key": job.key,
        "file": job.file,
        "point": dict(job.point),
        "result": VERDICTS[result.code].lower(),
        "ms": round(result.seconds * 1e3, 3),
        "worker": done.worker,
        "reason": result.reason,
        "out": result.out,
        "err": result.err,
    }


def result_of_record(record: Record, label: str) -> FileResult:
    """Returns the result in a record."""
    return FileResult(label, _CODES[record["result"]], record["ms"] / 1e3, record["out"], record["err"])


class Store:
    """The records in ``path``, which grow as launches end. A Parquet file is made at the end, of the journal beside it
    that has the records until then. Raises ``StoreError``."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.journal = path if not path.endswith(PARQUET) else path + _JOURNAL
        if path.endswith(PARQUET):
            _arrow()
        elif not path.endswith(LINES):
            raise StoreError(f"'{path}' ends neither in {LINES} nor in {PARQUET}")
        self.records: dict[str, Record] = {record["key"]: record for record in self._known()}
        self._stream: Any = None

    def _known(self) -> list[Record]:
        found = read_records(self.path) if self.path.endswith(PARQUET) and os.path.exists(self.path) else []
        return found + (read_lines(self.journal) if os.path.exists(self.journal) else [])

    def open(self) -> None:
        """Makes sure that records can be added. A line that was cut off by the end of a process goes away."""
        try:
            if os.path.exists(self.journal):
                lines = (json.dumps(record) + "\n" for record in read_lines(self.journal))
                atomic_write(self.journal, "".join(lines))
            self._stream = open(self.journal, "a", encoding="utf-8")  # noqa: SIM115
        except OSError as error:
            raise StoreError(f"cannot write '{self.path}': {error.strerror or error}") from None

    def add(self, record: Record) -> None:
        """One more record, on the disk when this returns."""
        self.records[record["key"]] = record
        self._stream.write(json.dumps(record) + "\n")
        self._stream.flush()

    def close(self) -> None:
        """The end of the run: a Parquet file gets all records."""
        if self._stream is None:
            return
        self._stream.close()
        if self.path.endswith(PARQUET) and self.records:
            _write_parquet(self.path, list(self.records.values()))
            os.unlink(self.journal)


def read_records(path: str) -> list[Record]:
    """Returns all records of a file. Raises ``StoreError``."""
    if not os.path.exists(path):
        raise StoreError(f"no such file: '{path}'")
    return _read_parquet(path) if path.endswith(PARQUET) else read_lines(path)


_BEGIN = '{"key": "'
"""How the line of a record begins."""


def read_lines(path: str) -> list[Record]:
    """Returns the records of a file of JSON lines; the last line may have been cut off."""
    try:
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"cannot read '{path}': {error}") from None
    lines = text.splitlines()
    found: list[Record] = []
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            if not isinstance(record, dict) or not set(_COLUMNS) <= record.keys() or record["result"] not in _CODES:
                raise ValueError(line)
        except (ValueError, RecursionError):
            # The file of somebody else is not one whose end is missing.
            if number == len(lines) and not text.endswith("\n") and line[: len(_BEGIN)] == _BEGIN[: len(line)]:
                break
            raise StoreError(f"'{path}' is no file of results: line {number}") from None
        found.append(record)
    return found


def _arrow() -> Any:
    try:
        import pyarrow.parquet  # deferred: optional
    except ModuleNotFoundError:
        raise StoreError("Parquet files need the extra cluster: pip install 'pto-dialect[cluster]'") from None
    return pyarrow


def _write_parquet(path: str, records: list[Record]) -> None:
    arrow = _arrow()
    rows = [{**record, "point": json.dumps(record["point"])} for record in records]
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        arrow.parquet.write_table(arrow.Table.from_pylist(rows), temporary)
        os.replace(temporary, path)
    except OSError as error:
        raise StoreError(f"cannot write '{path}': {error.strerror or error}") from None


def _read_parquet(path: str) -> list[Record]:
    arrow = _arrow()
    try:
        rows = arrow.parquet.read_table(path).to_pylist()
        return [{**row, "point": json.loads(row["point"])} for row in rows]
    except (OSError, KeyError, ValueError, RecursionError, arrow.ArrowException) as error:
        raise StoreError(f"'{path}' is no file of results: {error}") from None
