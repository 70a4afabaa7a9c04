"""Runs one tile statement on given tiles and shows every element of them afterwards, valid or not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.runtime.api import CompiledKernel
from pto_dialect.runtime.api import compile as compile_kernel
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.targets.backend import Backend
from pto_dialect.verify.verifier import verify_module

DTYPES: dict[str, Any] = {
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2, "!pto.hif8": np.uint8,
    "!pto.f4E2M1x2": np.uint8, "!pto.f4E1M2x2": np.uint8,
}  # fmt: skip
"""Storage of element types by their text."""


@dataclass
class TileData:
    """A tile of a test program.

    ``data`` is its whole physical content as a logical matrix; ``valid`` its valid region (default: all of it), known
    only at run time with ``dynamic``; ``layout`` further fields of its type.
    """

    name: str
    element: str
    data: np.ndarray
    valid: tuple[int, int] | None = None
    layout: str = ""
    dynamic: bool = False
    alias: str | None = None

    @property
    def full(self) -> str:
        """Type of the tile with all elements valid."""
        rows, cols = self.data.shape
        return f"!pto.tile_buf<vec, {rows}x{cols}x{self.element}{', ' + self.layout if self.layout else ''}>"

    @property
    def type(self) -> str:
        """Type that the statement sees."""
        if self.valid is None:
            return self.full
        rows, cols = self.data.shape
        valid = "?x?" if self.dynamic else f"{self.valid[0]}x{self.valid[1]}"
        tail = f", {self.layout}" if self.layout else ""
        return f"!pto.tile_buf<vec, {rows}x{cols}x{self.element}, valid={valid}{tail}>"


def tile(
    name: str,
    element: str,
    data: Any,
    valid: tuple[int, int] | None = None,
    layout: str = "",
    dynamic: bool = False,
    alias: str | None = None,
) -> TileData:
    """A tile with ``data`` (of the element's storage dtype); ``alias`` names a tile at whose address it lies."""
    return TileData(name, element, np.array(data, DTYPES[element]), valid, layout, dynamic, alias)


class _Program:
    """Text of a program under construction."""

    def __init__(self) -> None:
        self.constants: dict[tuple[str, int], str] = {}
        self.lines: list[str] = []

    def constant(self, value: int, kind: str = "index") -> str:
        return self.constants.setdefault((kind, value), f"%{kind}_{value}".replace("-", "m"))

    def view(self, item: TileData) -> str:
        rows, cols = item.data.shape
        shape = f"{rows}x{cols}x{item.element}"
        r, c, one, zero = (self.constant(v) for v in (rows, cols, 1, 0))
        name = item.name
        self.lines += [
            f"%view_{name} = pto.make_tensor_view %p_{name}, shape = [{r}, {c}], strides = [{c}, {one}] "
            f": !pto.tensor_view<{shape}>",
            f"%part_{name} = pto.partition_view %view_{name}, offsets = [{zero}, {zero}], sizes = [{r}, {c}] "
            f": !pto.tensor_view<{shape}> -> !pto.partition_tensor_view<{shape}>",
        ]
        return f"%part_{name} : !pto.partition_tensor_view<{shape}>"

    def alloc(self, name: str, type_: str, address: int, valid: tuple[int, int] | None) -> None:
        dims = ""
        if valid is not None:
            dims = f" valid_row = {self.constant(valid[0])} valid_col = {self.constant(valid[1])}"
        self.lines.append(f"%{name} = pto.alloc_tile addr = {self.constant(address, 'i64')}{dims} : {type_}")

    def text(self, arguments: list[str], target: str) -> str:
        head = [f"{name} = arith.constant {value} : {kind}" for (kind, value), name in self.constants.items()]
        body = "\n    ".join((*head, *self.lines))
        return (
            f'module attributes {{pto.target_arch = "{target}"}} {{\n'
            f"  func.func @k({', '.join(arguments)}) attributes {{pto.kernel}} {{\n    {body}\n    return\n  }}\n}}\n"
        )


def program(statement: str, tiles: tuple[TileData, ...], scalars: Mapping[str, str], target: str = "a5") -> str:
    """Program that loads all tiles, runs ``statement`` (tile types in braces) and stores all tiles.

    ``scalars`` maps names of number arguments to their types.
    """
    text = _Program()
    address = 0
    addresses: dict[str, int] = {}
    arguments: list[str] = []
    views: dict[str, str] = {}
    for item in tiles:
        if item.alias is not None:
            addresses[item.name] = addresses[item.alias]
        else:
            addresses[item.name] = address
            address += -(-item.data.nbytes // 1024) * 1024 + 1024
            arguments.append(f"%p_{item.name}: !pto.ptr<{item.element}>")
            views[item.name] = text.view(item)
        text.alloc(f"full_{item.name}", item.full, addresses[item.name], None)
        text.alloc(item.name, item.type, addresses[item.name], item.valid if item.dynamic else None)
        if item.alias is None:
            text.lines.append(f"pto.tload ins({views[item.name]}) outs(%full_{item.name} : {item.full})")
    types = {item.name: item.type for item in tiles}
    for line in statement.strip().splitlines():
        text.lines.append(re.sub(r"\{(\w+)\}", lambda m: types[m[1]], line))
    for item in tiles:
        if item.alias is None:
            text.lines.append(f"pto.tstore ins(%full_{item.name} : {item.full}) outs({views[item.name]})")
    arguments += [f"%{name}: {kind}" for name, kind in scalars.items()]
    return text.text(arguments, target)


@lru_cache(maxsize=64)
def _compiled(
    text: str, verify: bool, accumulate: str, backend: Backend | None
) -> tuple[CompiledKernel | None, list[Any]]:
    """The kernel of a program, ``None`` with the errors in it. Tests run one program with many contents."""
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    module = parse_program(SourceFile("t.pto", text), engine)
    assert module is not None
    if verify:
        verify_module(module, engine)
    errors = [(d.rule, d.message) for d in engine.diagnostics if d.severity is Severity.ERROR]
    kernel = compile_kernel(module, accumulate=accumulate, backend=backend, verify=False) if not errors else None
    return kernel, errors


def run(
    statement: str,
    *tiles: TileData,
    scalars: Mapping[str, tuple[str, Any]] | None = None,
    target: str | None = None,
    verify: bool = True,
    accumulate: str = "fast",
    backend: Backend | None = None,
) -> dict[str, np.ndarray]:
    """Whole content of every tile after ``statement``, by name.

    ``%name`` in the statement is a tile or a scalar, ``{name}`` the type of a tile. Tiles with an alias show what lies
    there under their alias. The program must be free of errors when ``verify`` is set. Without a ``target`` it runs for
    a5, and where it is free of errors for a2a3 too, there with the same result.
    """
    numbers = scalars or {}
    kinds = {name: kind for name, (kind, _) in numbers.items()}

    def contents(kernel: CompiledKernel) -> dict[str, np.ndarray]:
        buffers = {item.name: item.data.copy() for item in tiles if item.alias is None}
        kernel(*(b.reshape(-1) for b in buffers.values()), *(value for _, value in numbers.values()))
        return buffers

    text = program(statement, tiles, kinds, target or "a5")
    kernel, errors = _compiled(text, verify, accumulate, backend)
    assert kernel is not None, (text, errors)
    found = contents(kernel)
    if target is None and verify and backend is None:
        other, _ = _compiled(program(statement, tiles, kinds, "a2a3"), verify, accumulate, backend)
        if other is not None:
            for name, content in contents(other).items():
                assert content.tobytes() == found[name].tobytes(), f"{name} on a2a3"
    return found
