"""What memory held after each write, within a limit: beginning and end of the run are kept.  Source: docs/report.md,
"Limits"."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections import deque
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .columns import encoded

CHUNK = 1 << 18
"""Bytes that are compressed together."""

MOST = 11 << 20
"""Bytes of compressed contents that a page has, by default."""

_LARGEST = 1 << 24
"""Bytes of the largest single content."""

NONE = 0
"""The number of a content that is not kept."""


class _Chunk(NamedTuple):
    number: int
    data: bytes


class Contents:
    """The bytes of writes, each sequence once; ``dropped`` states that some did not fit."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self.dropped = False
        self._places: list[tuple[int, int, int]] = [(0, 0, 0)]
        self._known: dict[bytes, int] = {}
        self._open: list[bytes] = []
        self._open_bytes = 0
        self._number = 1
        self._first: list[_Chunk] = []
        self._last: deque[_Chunk] = deque()
        self._kept = 0
        self._full = False

    def add(self, data: npt.NDArray[Any]) -> int:
        """Returns the number of the content ``data``, any array; ``NONE`` where it is too large."""
        if data.nbytes > _LARGEST:
            self.dropped = True
            return NONE
        content = data.tobytes()
        key = hashlib.blake2b(content, digest_size=16).digest()
        known = self._known.get(key)
        if known is not None:
            return known
        if self._open_bytes and self._open_bytes + len(content) > CHUNK:
            self._close()
        self._places.append((self._number, self._open_bytes, len(content)))
        self._open.append(content)
        self._open_bytes += len(content)
        found = self._known[key] = len(self._places) - 1
        return found

    def _close(self) -> None:
        """Compresses the open chunk. The first half of the space is reserved for the start of the run."""
        chunk = _Chunk(self._number, zlib.compress(b"".join(self._open), 3))
        self._open, self._open_bytes = [], 0
        self._number += 1
        self._kept += len(chunk.data)
        self._full = self._full or self._kept > self.most // 2
        if not self._full:
            self._first.append(chunk)
            return
        self._last.append(chunk)
        lost = set()
        while self._kept > self.most and self._last:
            gone = self._last.popleft()
            self._kept -= len(gone.data)
            lost.add(gone.number)
        if lost:
            self.dropped = True
            self._known = {key: one for key, one in self._known.items() if self._places[one][0] not in lost}

    def document(self) -> tuple[dict[str, Any], dict[int, str]]:
        """Chunk, offset and length of each content, chunk 0 for those that are not there; and the chunks as text."""
        if self._open:
            self._close()
        chunks = {one.number: base64.b64encode(one.data).decode("ascii") for one in (*self._first, *self._last)}
        places = np.asarray([one if one[0] in chunks else (0, 0, 0) for one in self._places], np.int64)
        names = ("chunk", "offset", "length")
        return {name: encoded("u32", places[:, index]) for index, name in enumerate(names)}, chunks
