"""Masks of comparisons that are as wide as their bits: accepted, run and lowered on both targets."""

from __future__ import annotations

import numpy as np
import pytest
from groups import in_groups

from pto_dialect import check, parse
from pto_dialect import compile as compile_program
from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.passes.registry import make_pass
from pto_dialect.syntax.print.printer import print_module


def program(rows: int, cols: int, pitch: int, mode: str, target: str) -> str:
    source, mask = (
        f"!pto.tile_buf<vec, {rows}x{cols}xf32>",
        f"!pto.tile_buf<vec, {rows}x{pitch}xui8, valid={rows}x{cols // 8}>",
    )
    part, bits = f"!pto.partition_tensor_view<{rows}x{cols}xf32>", f"!pto.partition_tensor_view<{rows}x{cols // 8}xui8>"
    views = "\n".join(
        f"""%{name}v = pto.make_tensor_view %{name}, shape = [%m, %{size}], strides = [%{size}, %c1]
          : !pto.tensor_view<?x?x{element}>
        %{name}p = pto.partition_view %{name}v, offsets = [%c0, %c0], sizes = [%m, %{size}]
          : !pto.tensor_view<?x?x{element}> -> {kind}"""
        for name, size, element, kind in (("a", "n", "f32", part), ("b", "n", "f32", part), ("r", "w", "ui8", bits))
    )
    return f"""module attributes {{pto.target_arch = "{target}"}} {{
      func.func @k(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %r: !pto.ptr<ui8>) attributes {{pto.entry}} {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %m = arith.constant {rows} : index
        %n = arith.constant {cols} : index
        %w = arith.constant {cols // 8} : index
        {views}
        %x = pto.alloc_tile : {source}
        %y = pto.alloc_tile : {source}
        %t = pto.alloc_tile : {mask}
        pto.tload ins(%ap : {part}) outs(%x : {source})
        pto.tload ins(%bp : {part}) outs(%y : {source})
        pto.tcmp ins(%x, %y {{cmpMode = #pto<cmp {mode}>}} : {source}, {source}) outs(%t : {mask})
        pto.tstore ins(%t : {mask}) outs(%rp : {bits})
        return
      }}
    }}"""


COMPARE = {"gt": np.greater, "le": np.less_equal, "eq": np.equal, "ne": np.not_equal}


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@pytest.mark.parametrize("mode", COMPARE)
@in_groups(("rows", "cols", "pitch"), [(8, 808, 128), (8, 808, 808 + 24), (1, 64, 32), (5, 256, 32)])
def test_packed_mask(rows: int, cols: int, pitch: int, mode: str, target: str) -> None:
    text = program(rows, cols, pitch, mode, target)
    assert [one for one in check(text).diagnostics if one.severity is Severity.ERROR] == []
    rng = np.random.default_rng(rows * cols)
    a, b = (rng.integers(0, 3, (rows, cols)).astype(np.float32) for _ in "ab")
    wanted = np.packbits(COMPARE[mode](a, b), axis=1, bitorder="little")
    out = np.zeros((rows, cols // 8), np.uint8)
    compile_program(parse(text))(a, b, out)
    np.testing.assert_array_equal(out, wanted)
    if target == "a5":
        module, engine = parse(text), DiagnosticEngine()
        for name in ("assign-memory", "insert-sync", "lower-vector"):
            make_pass(name, None).run(module, engine)
        lowered = print_module(module)
        assert "pto.vcmp" in lowered and "pto.tcmp" not in lowered
        out[...] = 0
        compile_program(parse(lowered))(a, b, out)
        np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_mask_with_other_rows_or_too_few_bytes(target: str) -> None:
    text = program(8, 808, 128, "gt", target)
    fewer = text.replace("8x128xui8, valid=8x101", "8x96xui8, valid=8x96")
    assert "cmp-dst" in " ".join(one.rule for one in check(fewer).diagnostics)
    rows = text.replace("8x128xui8, valid=8x101", "16x128xui8, valid=16x101")
    assert [one for one in check(rows).diagnostics if one.severity >= Severity.WARNING]
