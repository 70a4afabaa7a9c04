"""Pages of runs, and what is in them, read again without the code of the page."""

from __future__ import annotations

import base64
import json
import re
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner

from tools.pto_run import main

TYPES = {"u8": "u1", "u16": "<u2", "u32": "<u4", "i32": "<i4", "f32": "<f4", "f64": "<f8"}
ROOT = Path(__file__).parents[2]

Array = np.ndarray[Any, np.dtype[Any]]


def page(folder: Path, program: str | Path, *options: str, code: int = 0) -> str:
    """The page of a run of ``program``, a text or a file."""
    path = program
    if isinstance(program, str):
        path = folder / "kernel.pto"
        path.write_text(program, encoding="utf-8")
    target = folder / "report.html"
    target.unlink(missing_ok=True)
    result = CliRunner().invoke(main, [str(path), "--html", str(target), "--no-cache", *options])
    assert result.exit_code == code, result.output
    return target.read_text(encoding="utf-8")


def column(one: dict[str, Any]) -> Array:
    """A column of numbers."""
    return np.frombuffer(zlib.decompress(base64.b64decode(one["data"])), TYPES[one["type"]])


def columns(table: dict[str, Any]) -> dict[str, Array]:
    """All columns of a table."""
    return {name: column(one) for name, one in table.items()}


def document(text: str) -> dict[str, Any]:
    """The document of a page."""
    found = re.search(r'<script type="application/json" id="run">(.*?)</script>', text, re.S)
    assert found is not None
    return json.loads(found.group(1))


class Read:
    """A page, read: ``doc`` its document, ``steps`` and ``accesses`` its tables."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.doc = document(text)
        self._chunks: dict[int, bytes] = {}
        self.steps = columns(self.doc["steps"])
        self.accesses = columns(self.doc["accesses"])
        self.regions = columns(self.doc["regions"])
        places = {name: one for name, one in self.doc["contents"].items() if name != "dropped"}
        self.contents = columns(places)
        dims = columns(self.doc["dims"])
        cuts = dims["starts"].tolist()
        self.dims = [dims["numbers"][a:b].astype(int).tolist() for a, b in pairwise(cuts)]

    def content(self, number: int) -> bytes | None:
        """A content, if the page has it."""
        chunk = int(self.contents["chunk"][number])
        if not chunk:
            return None
        whole = self._chunks.get(chunk)
        if whole is None:
            found = re.search(rf'id="chunk-{chunk}">([^<]*)<', self.text)
            assert found is not None
            whole = self._chunks[chunk] = zlib.decompress(base64.b64decode(found.group(1)))
        start = int(self.contents["offset"][number])
        return whole[start : start + int(self.contents["length"][number])]

    def offsets(self, region: int) -> Array:
        """Offsets of the bytes of a region, in the order of its content."""
        total = int(self.regions["offset"][region]) + np.arange(int(self.regions["run"][region]))
        pairs = self.dims[int(self.regions["dims"][region])]
        for count, stride in reversed(list(zip(pairs[::2], pairs[1::2], strict=True))):
            total = (np.arange(count) * stride).reshape(-1, *(1,) * total.ndim) + total
        return total.reshape(-1)

    def memory(self, number: int, step: int | None = None) -> Array:
        """The bytes of a memory after ``step``, -1 where nothing is known."""
        one = self.doc["memories"][number]
        found = np.full(one["capacity"], -1, np.int64)
        start = self.content(one["content"]) if one["content"] else None
        if start is not None:
            found[:] = np.frombuffer(start, np.uint8)
        table = self.accesses
        for row in range(len(table["step"])):
            region = int(table["region"][row])
            late = step is not None and table["step"][row] > step
            if late or not table["writes"][row] or self.regions["memory"][region] != number:
                continue
            data = self.content(int(table["content"][row]))
            found[self.offsets(region)] = -1 if data is None else np.frombuffer(data, np.uint8)
        return found

    def memory_called(self, name: str) -> int:
        """The number of the memory with a name."""
        return next(number for number, one in enumerate(self.doc["memories"]) if one["name"] == name)
