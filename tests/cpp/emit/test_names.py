"""Names of a program that mean something else in C++."""

from __future__ import annotations

import pytest

from pto_dialect import compile_cpp
from pto_dialect.api import parse
from pto_dialect.cpp.emit import emit_module
from pto_dialect.cpp.emit.expression import quoted
from pto_dialect.cpp.emit.names import identifier

PROGRAM = """
func.func @FUNCTION(%POINTER: !pto.ptr<f32, gm>, %n: index) attributes {pto.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %TILE = pto.alloc_tile : !pto.tile_buf<vec, 32x32xf32>
  %v = pto.make_tensor_view %POINTER, shape = [%c32, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf32>
  %p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c32, %c32]
      : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<32x32xf32>
  pto.tload ins(%p : !pto.partition_tensor_view<32x32xf32>) outs(%TILE : !pto.tile_buf<vec, 32x32xf32>)
  pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
  pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
  scf.for %LOOP = %c0 to %n step %c1 {
    %i = arith.index_cast %LOOP : index to i32
    %x = arith.sitofp %i : i32 to f32
    pto.tadds ins(%TILE, %x : !pto.tile_buf<vec, 32x32xf32>, f32) outs(%TILE : !pto.tile_buf<vec, 32x32xf32>)
    pto.barrier <PIPE_V>
  }
  return
}
"""


def renamed(**names: str) -> str:
    text = PROGRAM
    for place in ("FUNCTION", "POINTER", "TILE", "LOOP"):
        text = text.replace(f"@{place}", f"@{names.get(place, 'k')}").replace(
            f"%{place}", f"%{names.get(place, place)}"
        )
    return text


@pytest.mark.parametrize(
    "names",
    [
        {"FUNCTION": "std", "POINTER": "PIPE_V", "TILE": "EVENT_ID0", "LOOP": "int32_t"},
        {"FUNCTION": "AICORE", "POINTER": "Gm_f32_32x32", "TILE": "Vec_f32_32x32", "LOOP": "int64_t"},
        {"FUNCTION": "PIPE_MTE2", "POINTER": "uint32_t", "TILE": "PTO_ATOMIC", "LOOP": "float"},
        {"FUNCTION": "printf", "POINTER": "TADDS", "TILE": "TileType", "LOOP": "Shape"},
    ],
)
def test_names_of_cpp_are_not_those_of_values(names: dict[str, str]) -> None:
    compiled = compile_cpp(emit_module(parse(renamed(**names))))
    assert "pto.tadds" in compiled.text


@pytest.mark.parametrize("name", ["x", "product", "tile_0", "A", "BM", "acc", "index_0"])
def test_other_names_stay(name: str) -> None:
    assert identifier(name) == name


def test_text_in_quotes_ends_at_its_quote() -> None:
    assert quoted('a"); b\\\n\x1b[31m ??/é') == r'"a\"); b\\\n\033[31m ?\?/é"'
