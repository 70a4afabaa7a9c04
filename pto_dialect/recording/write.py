"""Writes recordings. Source: docs/reference/recording.md, "Members"."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from io import BytesIO
from typing import Any

import numpy as np

from pto_dialect.runtime.memory.spaces import Array

from .format import COLUMNS, DATA, FLOATS, HEADER, INITIAL, MAGIC, VERSION
from .log import Issue, Log
from .model import Argument, Finding, Outcome, Program, RecordingError, Waiting

_SAMPLE = 1 << 16
_WORTH = 0.85
"""Members are packed where a sample of them shrinks to this part."""


def write(
    path: str | os.PathLike[str],
    log: Log,
    program: Program,
    arguments: Iterable[Argument],
    findings: Iterable[Finding],
    outcome: Outcome,
    waiting: Iterable[Waiting] = (),
) -> int:
    """Writes the recording ``log`` to ``path``, all or nothing; the number of bytes.

    Raises ``RecordingError`` where the file cannot be written; what was there before stays.
    """
    columns, first = _columns(log)
    header = {
        "format": MAGIC,
        "version": VERSION,
        "program": program._asdict(),
        "statements": [list(one) for one in log.statements],
        "actors": [list(one) for one in log.actors],
        "memories": [list(one) for one in log.memories],
        "forms": [list(one) for one in log.handles.forms],
        "patterns": [list(one) for one in log.patterns],
        "signals": list(log.keys),
        "arguments": [list(one) for one in arguments],
        "findings": [list(_moved(one, first)) for one in findings],
        "outcome": outcome._replace(step=max(outcome.step - first, -1))._asdict(),
        "waiting": [list(one) for one in waiting],
        "dropped": first,
        "limit": log.limit,
        "data": [len(chunk.data) for chunk in log.chunks],
    }
    target = os.path.realpath(path)
    temporary = os.path.join(os.path.dirname(target), f".pto-{os.getpid()}-{os.urandom(6).hex()}.tmp")
    try:
        with zipfile.ZipFile(temporary, "x", allowZip64=True) as archive:
            _add(archive, HEADER, json.dumps(header, separators=(",", ":")).encode())
            for name, column in columns.items():
                _add_array(archive, f"{name}.npy", column)
            for number, content in log.initial.items():
                _add_array(archive, INITIAL.format(number), content)
            for number, chunk in enumerate(log.chunks):
                _add_array(archive, DATA.format(number), np.frombuffer(chunk.data, np.uint8))
        size = os.path.getsize(temporary)
        os.replace(temporary, target)
        return size
    except OSError as error:
        raise RecordingError(f"cannot write '{os.fspath(path)}': {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            os.unlink(temporary)


def _moved(finding: Finding, first: int) -> Finding:
    return finding._replace(steps=tuple(step - first for step in finding.steps if step >= first))


def _columns(log: Log) -> tuple[Mapping[str, Array], int]:
    """All columns, and the number of the first step that they have."""
    chunks = log.chunks
    found = {
        name: np.concatenate([chunk.columns[name] for chunk in chunks]) if chunks else np.zeros(0, type_)
        for name, type_ in COLUMNS.items()
        if name.partition(".")[0] in ("step", "access", "gather", "signal")
    }
    first = chunks[0].first_step if chunks else 0
    issues = dict(log.late)
    for chunk in chunks:
        issues.update(enumerate(chunk.issues, chunk.first_issue))
    used, places = np.unique(found["step.issue"], return_inverse=True)
    found["step.issue"] = places.reshape(-1)
    found |= _issue_columns(log, [issues[number] for number in used.tolist()])
    for name in ("access.step", "signal.step", "signal.peer"):
        found[name] = found[name] - first
    found["signal.peer"] = np.maximum(found["signal.peer"], -1)
    handles = np.array(log.handles.rows, np.int64).reshape(-1, 3)
    found["handle.memory"], found["handle.address"], found["handle.form"] = handles.T
    return {name: np.ascontiguousarray(found[name], type_) for name, type_ in COLUMNS.items()}, first


def _issue_columns(log: Log, issues: list[Issue]) -> dict[str, Any]:
    loops: list[int] = []
    integers: list[int] = []
    floats: list[float] = []
    handles: list[int] = []
    for statement, _, indices, numbers, rows in issues:
        loops.extend(map(signed_64, indices))
        handles.extend(rows)
        for (_, type_), number in zip(log.statements[statement].scalars, numbers, strict=True):
            if type_ in FLOATS:
                floats.append(float(number))
            else:
                integers.append(signed_64(int(number)))
    return {
        "issue.statement": np.array([issue[0] for issue in issues], np.int32),
        "issue.order": np.array([issue[1] for issue in issues], np.int64),
        "issue.loops": np.array(loops, np.int64),
        "issue.integers": np.array(integers, np.int64),
        "issue.floats": np.array(floats, np.float64),
        "issue.handles": np.array(handles, np.int32),
    }


def signed_64(number: int) -> int:
    """An integer as 64 bits in two's complement hold it."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def _add_array(archive: zipfile.ZipFile, name: str, array: Array) -> None:
    stream = BytesIO()
    np.lib.format.write_array(stream, np.ascontiguousarray(array), (1, 0), allow_pickle=False)
    _add(archive, name, stream.getbuffer())


def _add(archive: zipfile.ZipFile, name: str, content: bytes | memoryview) -> None:
    sample = content[:_SAMPLE]
    packed = len(zlib.compress(sample, 1)) < _WORTH * len(sample)
    # The time of a member is no part of a recording: the same run gives the same file.
    info = zipfile.ZipInfo(name)
    info.compress_type = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    info._compresslevel = 1  # pyright: ignore[reportAttributeAccessIssue]
    with archive.open(info, "w", force_zip64=len(content) >= 1 << 31) as member:
        member.write(content)
