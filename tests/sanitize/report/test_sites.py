"""Which memory values of a type refer to."""

from __future__ import annotations

import pytest

from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.sanitize.report.sites import memory_of
from pto_dialect.syntax.read.parser import parse_program

TYPES = {
    "!pto.ptr<f32, gm>": "gm",
    "!pto.ptr<f32, ub>": "ub",
    "!pto.tile_buf<vec, 16x16xf32>": "ub",
    "!pto.tile_buf<acc, 16x16xf32>": "l0c",
    "!pto.tile_buf<left, 16x16xf16>": "l0a",
    "!pto.tile_buf<mat, 16x16xf16>": "l1",
    "!pto.multi_tile_buf<vec, 16x16xf32, count=2>": "ub",
    "!pto.multi_tile_buf<mat, 16x16xf32, count=3>": "l1",
    "!pto.tensor_view<16x16xf32>": "gm",
    "!pto.partition_tensor_view<16x16xf32>": "gm",
    "memref<4xf32>": "gm",
    "memref<4xf32, #pto.address_space<vec>>": "ub",
    "i32": None,
}


@pytest.mark.parametrize("text", TYPES)
def test_memory_of_types(text: str) -> None:
    engine = DiagnosticEngine()
    module = parse_program(SourceFile("k.pto", f"func.func private @f({text})\n"), engine)
    assert module is not None, engine.diagnostics
    function = next(iter(module.body.block.ops))
    (type_,) = function.properties["function_type"].inputs  # pyright: ignore[reportAttributeAccessIssue]
    assert memory_of(type_) == TYPES[text]
