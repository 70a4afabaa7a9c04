"""Tile operations on tile values: every result is a tile of its own and operands keep theirs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tile_values import same

from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.runtime.api import compile as compile_kernel
from pto_dialect.syntax.read.parser import parse_program

T, H, IX, ROW = "!pto.tile<8x16xf32>", "!pto.tile<8x16xf16>", "!pto.tile<8x16xi32>", "!pto.tile<1x16xf32>"
A = np.arange(128, dtype=np.float32).reshape(8, 16) - np.float32(60.5)
B = np.roll(A, 5, axis=1)
X = np.stack([np.arange(31, -1, -1, dtype=np.float32), np.zeros(32, np.float32)], axis=1).reshape(1, 64)


def evaluate(body: str, *results: tuple[str, str]) -> Any:
    """Returned tiles of a function of the tiles %a, %b (8 x 16), %x (1 x 64, records) and the number %s = 2."""
    names, types = ", ".join(name for name, _ in results), ", ".join(type_ for _, type_ in results)
    text = (
        f"func.func @k(%a: {T}, %b: {T}, %x: !pto.tile<1x64xf32>, %s: f32) -> ({types}) {{\n"
        f"{body}\nreturn {names} : {types}\n}}\n"
    )
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    module = parse_program(SourceFile("t.pto", text), engine)
    assert module is not None and not engine.has_errors, (text, engine.diagnostics)
    arguments = [A.copy(), B.copy(), X.copy()]
    returned = compile_kernel(module, target="a5", verify=False)(*arguments, 2.0)
    for before, after in zip((A, B, X), arguments, strict=True):
        same(after, before)
    return returned


INDEX = np.arange(16, dtype=np.int32).reshape(1, 16)


@pytest.mark.parametrize(
    ("body", "type_", "wanted"),
    [
        (f"%r = pto.tadd %a, %b : ({T}, {T}) -> {T}", T, A + B),
        (f"%r = pto.tabs %a : {T} -> {T}", T, np.abs(A)),
        (f"%r = pto.tmuls %a, %s : ({T}, f32) -> {T}", T, A * 2),
        (f"%r = pto.tdivs %s, %a : (f32, {T}) -> {T}", T, np.float32(2) / A),
        (f"%r = pto.texpands %s : f32 -> {T}", T, np.full_like(A, 2)),
        (f"%r = pto.tcvt %a : {T} -> {H}", H, A.astype(np.float16)),
        (f"%r = pto.trowsum %a : {T} -> !pto.tile<8x1xf32>", "!pto.tile<8x1xf32>", A.sum(axis=1, keepdims=True)),
        (f"%r = pto.tcolmax %a : {T} -> {ROW}", ROW, A.max(axis=0, keepdims=True)),
        (f"%c = pto.tcolmax %a : {T} -> {ROW}\n%r = pto.tcolexpandsub %a, %c : ({T}, {ROW}) -> {T}", T, A - A[-1:]),
        (
            f"%c = pto.trowmin %a : {T} -> !pto.tile<8x1xf32>\n"
            f"%r = pto.trowexpandmul %a, %c : ({T}, !pto.tile<8x1xf32>) -> {T}",
            T,
            A * A[:, :1],
        ),
        (f"%r = pto.tpartmax %a, %b : ({T}, {T}) -> {T}", T, np.maximum(A, B)),
        (
            "%n = arith.constant 3 : i32\n%r = pto.tci %n : i32 -> !pto.tile<1x16xi32>",
            "!pto.tile<1x16xi32>",
            INDEX + 3,
        ),
        (
            f"%r = pto.tgather %a {{maskPattern = #pto.mask_pattern<P1010>}} : {T} -> !pto.tile<8x8xf32>",
            "!pto.tile<8x8xf32>",
            A[:, 1::2],
        ),
        (
            f"%m = pto.tcmp %a, %b {{cmpMode = #pto<cmp lt>}} : ({T}, {T}) -> !pto.tile<8x32xi8>\n"
            f"%r = pto.tsel %m, %a, %b : (!pto.tile<8x32xi8>, {T}, {T}) -> {T}",
            T,
            np.minimum(A, B),
        ),
        (
            f"%k = arith.constant 17 : index\n%v = pto.tgetval %a, %k : ({T}, index) -> f32\n"
            f"%r = pto.tadds %a, %v : ({T}, f32) -> {T}",
            T,
            A + A[1, 1],
        ),
    ],
)
def test_one_result(body: str, type_: str, wanted: np.ndarray) -> None:
    same(evaluate(body, ("%r", type_)), wanted)


def test_two_results() -> None:
    values, positions = evaluate(
        f"%n = arith.constant 1 : i32\n%m = arith.constant 2 : i32\n"
        f"%i = pto.texpands %n : i32 -> {IX}\n%j = pto.texpands %m : i32 -> {IX}\n"
        f"%r, %p = pto.tpartargmin %a, %b, %i, %j : ({T}, {T}, {IX}, {IX}) -> ({T}, {IX})",
        ("%r", T),
        ("%p", IX),
    )
    same(values, np.minimum(A, B))
    same(positions, np.where(A < B, 1, 2).astype(np.int32))


def test_merge_of_two_lists() -> None:
    lists, both = "!pto.tile<1x64xf32>", "!pto.tile<1x128xf32>"
    merged = evaluate(
        f"%r, %n = pto.tmrgsort %x, %x {{exhausted = false}} : ({lists}, {lists}) -> ({both}, vector<4xi16>)",
        ("%r", both),
    )
    same(merged[:, ::2], np.repeat(np.arange(31, -1, -1, dtype=np.float32), 2).reshape(1, 64))
