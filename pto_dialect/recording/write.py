"""Writes recordings. Source: docs/reference/recording.md, "Members"."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np

from pto_dialect.diagnostics.files import replacing
from pto_dialect.runtime.memory.spaces import Array

from .format import COLUMNS, DATA, HEADER, INITIAL, MAGIC, PACKED, TOGETHER, VERSION
from .log import Log
from .model import Argument, Finding, Outcome, Program, RecordingError, Waiting
from .packing import packed

_SAMPLE = 1 << 16
_TOGETHER = 256
"""Pieces of a member that are written at once."""
_WORTH = 0.85
"""Members are packed where a sample of them shrinks to this part."""
_QUICKLY, _WELL = 1, 6
"""Compression levels of memory contents, and of text and columns."""


def write(
    path: str | os.PathLike[str],
    log: Log,
    program: Program,
    arguments: Iterable[Argument],
    findings: Iterable[Finding],
    outcome: Outcome,
    waiting: Iterable[Waiting] = (),
    limits: Mapping[str, Any] | None = None,
) -> None:
    """Writes the recording ``log`` to ``path``, all or nothing; what is no regular file is written directly.

    Raises ``RecordingError`` where the file cannot be written; what was there before stays.
    """
    columns, first = _columns(log)
    described, numbers = packed(columns)
    parts: dict[str, Sequence[bytes | memoryview]] = {
        INITIAL.format(number): [np.ascontiguousarray(content).view(np.uint8).data]
        for number, content in log.initial.items()
    }
    parts |= {DATA.format(number): chunk.data for number, chunk in enumerate(log.chunks)}
    sizes = {name: sum(map(len, pieces)) for name, pieces in parts.items()}
    together = sum(sizes.values()) <= TOGETHER
    header = {
        "format": MAGIC,
        "version": VERSION,
        "program": program._asdict(),
        "statements": [list(one) for one in log.statements],
        "threads": [list(one) for one in log.threads],
        "memories": [list(one) for one in log.memories],
        "forms": [list(one) for one in log.handles.forms],
        "patterns": [list(one) for one in log.patterns],
        "signals": list(log.keys),
        "arguments": [list(one) for one in arguments],
        "findings": [list(_moved(one, first)) for one in findings],
        "outcome": outcome._replace(step=max(outcome.step - first, -1))._asdict(),
        "waiting": [list(one) for one in waiting],
        "limits": limits,
        "dropped": first,
        "limit": log.limit,
        "data": [chunk.size for chunk in log.chunks],
        "columns": described,
        "together": list(sizes.items()) if together else [],
    }
    if together:
        numbers = [*numbers, *(piece for pieces in parts.values() for piece in pieces)]
    try:
        with replacing(path, "recording") as stream, zipfile.ZipFile(stream, "w", allowZip64=True) as archive:
            _add(archive, HEADER, [json.dumps(header, separators=(",", ":")).encode()], _WELL)
            _add_bytes(archive, PACKED, numbers, sum(map(len, numbers)), _WELL)
            for name, pieces in {} if together else parts.items():
                _add_bytes(archive, name, pieces, sizes[name])
    except OSError as error:
        raise RecordingError(f"cannot write '{os.fspath(path)}': {error.strerror or error}") from None


def _moved(finding: Finding, first: int) -> Finding:
    return finding._replace(steps=tuple(step - first for step in finding.steps if step >= first))


def _columns(log: Log) -> tuple[Mapping[str, Array], int]:
    """Returns all columns, and the number of the first step that they have."""
    chunks = log.chunks
    found = {
        name: np.concatenate([chunk.columns[name] for chunk in chunks]) if chunks else np.zeros(0, type_)
        for name, type_ in COLUMNS.items()
        if name.partition(".")[0] in ("step", "access", "gather", "signal")
    }
    first = chunks[0].first_step if chunks else 0
    used, places = np.unique(found["step.issue"], return_inverse=True)
    found["step.issue"] = places.reshape(-1)
    numbers, issues = log.all_issues()
    order = np.argsort(numbers)
    rows = order[np.searchsorted(numbers, used, sorter=order)] if used.size else used
    chosen = issues.chosen(rows, log.statements)
    found |= {f"issue.{name}": column for name, column in chosen._asdict().items()}
    for name in ("access.step", "signal.step", "signal.peer"):
        found[name] = found[name] - first
    found["signal.peer"] = np.maximum(found["signal.peer"], -1)
    handles = np.array([*log.handles.rows], np.int64).reshape(-1, 3)
    found["handle.memory"], found["handle.address"], found["handle.form"] = handles.T
    return {name: np.ascontiguousarray(found[name], type_) for name, type_ in COLUMNS.items()}, first


def _add_bytes(
    archive: zipfile.ZipFile, name: str, pieces: Sequence[bytes | memoryview], size: int, level: int = _QUICKLY
) -> None:
    _add(archive, name, [_head(size), *pieces], level)


def _head(size: int) -> bytes:
    """Returns what a member begins with that is an array of so many bytes."""
    stream = BytesIO()
    described = {"descr": "|u1", "fortran_order": False, "shape": (size,)}
    np.lib.format.write_array_header_1_0(stream, described)
    return stream.getvalue()


def _add(archive: zipfile.ZipFile, name: str, pieces: Sequence[bytes | memoryview], level: int = _QUICKLY) -> None:
    sample = b""
    for piece in pieces:
        sample += piece[: _SAMPLE - len(sample)]
        if len(sample) == _SAMPLE:
            break
    size = sum(map(len, pieces))
    packed = len(zlib.compress(sample, 1)) < _WORTH * len(sample)
    # The time of a member is no part of a recording: the same run gives the same file.
    info = zipfile.ZipInfo(name)
    info.compress_type = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    info._compresslevel = level  # pyright: ignore[reportAttributeAccessIssue]
    with archive.open(info, "w", force_zip64=size >= 1 << 31) as member:
        for first in range(0, len(pieces), _TOGETHER):
            member.write(b"".join(pieces[first : first + _TOGETHER]))
