"""Tile operations on memrefs in the vector buffer (the older dialect's lowering; docs/reference/execution.md,
"Pointers, tiles and views").
"""

from __future__ import annotations

import numpy as np
import pytest
from tile_values import same

from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.runtime.api import compile as compile_kernel
from pto_dialect.syntax.read.parser import parse_program

TYPE = "memref<8x16xf32, #pto.address_space<vec>>"
VIEW = "!pto.partition_tensor_view<8x16xf32>"


def run(statement: str, **more: str) -> np.ndarray:
    """Memref %d after ``statement``, with %a and %b loaded from 0 … 127 and its negative."""
    constants = "\n".join(f"%c{n} = arith.constant {n} : index" for n in (0, 1, 8, 16))
    allocs = "\n".join(
        f"%{n} = memref.alloc() : {type_}" for n, type_ in {"a": TYPE, "b": TYPE, "d": TYPE, **more}.items()
    )
    views = "\n".join(
        f"%v{n} = pto.make_tensor_view %p{n}, shape = [%c8, %c16], strides = [%c16, %c1] : !pto.tensor_view<8x16xf32>\n"
        f"%w{n} = pto.partition_view %v{n}, offsets = [%c0, %c0], sizes = [%c8, %c16] "
        f": !pto.tensor_view<8x16xf32> -> {VIEW}"
        for n in "abd"
    )
    loads = "\n".join(f"pto.tload ins(%w{n} : {VIEW}) outs(%{n} : {TYPE})" for n in "ab")
    text = (
        'module attributes {pto.target_arch = "a5"} {\n'
        "func.func @k(%pa: !pto.ptr<f32>, %pb: !pto.ptr<f32>, %pd: !pto.ptr<f32>) attributes {pto.kernel} {\n"
        f"{constants}\n{allocs}\n{views}\n{loads}\n{statement.replace('{t}', TYPE)}\n"
        f"pto.tstore ins(%d : {TYPE}) outs(%wd : {VIEW})\nreturn\n}}\n}}\n"
    )
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    module = parse_program(SourceFile("t.pto", text), engine)
    assert module is not None and not engine.has_errors, (text, engine.diagnostics)
    a = np.arange(128, dtype=np.float32).reshape(8, 16)
    out = np.zeros_like(a)
    compile_kernel(module)(a.reshape(-1), -a.reshape(-1), out.reshape(-1))
    return out


A = np.arange(128, dtype=np.float32).reshape(8, 16)
COLUMN = "memref<8x1xf32, #pto.address_space<vec>>"
INDEX = "memref<8x16xi32, #pto.address_space<vec>>"


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ("pto.tmul ins(%a, %b : {t}, {t}) outs(%d : {t})", -A * A),
        ("%s = arith.constant 2.5 : f32\npto.tadds ins(%a, %s : {t}, f32) outs(%d : {t})", A + np.float32(2.5)),
        ("%s = arith.constant 7.0 : f32\npto.texpands ins(%s : f32) outs(%d : {t})", np.full_like(A, 7)),
        ("pto.tabs ins(%b : {t}) outs(%d : {t})", A),
        ("pto.tcvt ins(%a {rmode = #pto<round_mode RINT>} : {t}) outs(%d : {t})", A),
    ],
)
def test_elementwise(statement: str, wanted: np.ndarray) -> None:
    same(run(statement), wanted)


def test_reduction_and_broadcast() -> None:
    found = run(
        f"pto.trowsum ins(%a, %b : {{t}}, {{t}}) outs(%s : {COLUMN})\n"
        f"pto.trowexpand ins(%s : {COLUMN}) outs(%d : {{t}})",
        s=COLUMN,
    )
    same(found, np.repeat(A.sum(axis=1, keepdims=True), 16, axis=1))


def test_gather_and_single_elements() -> None:
    found = run(
        f"%s = arith.constant 5 : i32\npto.texpands ins(%s : i32) outs(%i : {INDEX})\n"
        f"%t = arith.constant 3 : i32\n%k = arith.constant 17 : index\n"
        f"pto.tsetval ins(%k, %t : index, i32) outs(%i : {INDEX})\n"
        f"pto.tgather ins(%a, %i, %i : {{t}}, {INDEX}, {INDEX}) outs(%d : {{t}})",
        i=INDEX,
    )
    wanted = np.full((8, 16), 5, np.float32)
    wanted[1, 1] = 3
    same(found, wanted)
