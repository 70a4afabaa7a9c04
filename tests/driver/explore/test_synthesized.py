"""Arguments generated from types: sizes that fit exactly, numbers that let a program run, the same for the same
seed."""

from __future__ import annotations

import pytest
from parse_helpers import parsed

from pto_dialect.driver.explore.synthesized import synthesize_arguments
from pto_dialect.runtime.errors import BindingError, ProgramError
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

# out[n - 1] = table[index[0]], and n is at most 20
LOOK_UP = """
func.func @look_up(%out: !pto.ptr<f32>, %table: !pto.ptr<f32>, %index: !pto.ptr<i64>, %n: i32, %on: i1, %f: f32,
                   %t: !pto.tile<4x8xbf16>, %__pypto_spmd_block_num: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : i32
  %c20 = arith.constant 20 : i32
  %large = arith.cmpi sgt, %n, %c20 : i32
  scf.if %large {
    pto.trap
  }
  %last = arith.subi %n, %c1 : i32
  %place = arith.index_cast %last : i32 to index
  %i = pto.load_scalar %index[%c0] : !pto.ptr<i64> -> i64
  %at = arith.index_cast %i : i64 to index
  %v = pto.load_scalar %table[%at] : !pto.ptr<f32> -> f32
  pto.store_scalar %v, %out[%place] : !pto.ptr<f32>, f32
  return
}
"""


def kernel(text: str) -> Kernel:
    module, found = parsed(text)
    assert found == []
    return Kernel(module, None, None, RunOptions())


def texts(text: str, seed: int = 0, **known: object) -> dict[str, str]:
    return {name: given.content.text for name, given in synthesize_arguments(kernel(text), known, seed, 1)}


def test_sizes_and_numbers_fit() -> None:
    assert texts(LOOK_UP) == {
        "out": "random:f32:16:seed=0",
        "table": "random:f32:1:seed=1",
        "index": "zeros:i64:1",
        "n": "16",
        "on": "true",
        "f": "1.0",
        "t": "random:bf16:4x8:seed=6",
    }


def test_the_seed_counts_on_and_what_is_known_stays() -> None:
    found = texts(LOOK_UP, 40, n=5)
    assert found["out"] == "random:f32:5:seed=40"
    assert found["t"] == "random:bf16:4x8:seed=46"
    assert "n" not in found


def test_a_program_that_never_runs_keeps_its_first_error() -> None:
    with pytest.raises(ProgramError, match=r"pto\.trap") as caught:
        texts(LOOK_UP.replace("constant 20", "constant -1"))
    assert caught.value.rule


def test_sizes_are_the_ends_of_what_is_touched() -> None:
    found = texts("""
func.func @copy(%x: !pto.ptr<f16>, %y: !pto.tensor_view<?x?xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c40 = arith.constant 40 : index
  %view = pto.make_tensor_view %x, shape = [%c4, %c16], strides = [%c40, %c1] : !pto.tensor_view<4x16xf16>
  %part = pto.partition_view %view, offsets = [%c0, %c0], sizes = [%c4, %c16] : !pto.tensor_view<4x16xf16> -> !pto.partition_tensor_view<4x16xf16>
  %to = pto.partition_view %y, offsets = [%c4, %c0], sizes = [%c4, %c16] : !pto.tensor_view<?x?xf16> -> !pto.partition_tensor_view<4x16xf16>
  %t = pto.alloc_tile : !pto.tile_buf<vec, 4x16xf16>
  pto.tload ins(%part : !pto.partition_tensor_view<4x16xf16>) outs(%t : !pto.tile_buf<vec, 4x16xf16>)
  pto.tstore ins(%t : !pto.tile_buf<vec, 4x16xf16>) outs(%to : !pto.partition_tensor_view<4x16xf16>)
  return
}
""")  # noqa: E501
    assert found == {"x": "random:f16:136:seed=0", "y": "random:f16:32x32:seed=1"}


def test_vectors_are_made_from_numbers() -> None:
    assert texts("func.func @pairs(%p: !pto.ptr<vector<2xf16>>) {\n  return\n}\n") == {"p": "random:f16:2:seed=0"}


def test_every_block_has_enough_bytes() -> None:
    text = """
func.func @mark(%p: !pto.ptr<i32>, %__pypto_spmd_block_idx: i32) {
  %i = arith.index_cast %__pypto_spmd_block_idx : i32 to index
  pto.store_scalar %__pypto_spmd_block_idx, %p[%i] : !pto.ptr<i32>, i32
  return
}
"""
    made = synthesize_arguments(kernel(text), {}, 0, 7)
    assert [(name, given.content.text) for name, given in made] == [("p", "random:i32:7:seed=0")]


def test_what_is_printed_while_trying_is_dropped(capsys: pytest.CaptureFixture[str]) -> None:
    texts("""
func.func @say(%p: !pto.ptr<i32>) {
  %c7 = arith.constant 7 : i32
  %c0 = arith.constant 0 : index
  pto.print ins("%d", %c7 : i32)
  pto.store_scalar %c7, %p[%c0] : !pto.ptr<i32>, i32
  return
}
""")
    assert capsys.readouterr().out == ""


def test_matrix_operands_of_4_bit_numbers_are_pairs_along_their_boxes() -> None:
    left = "!pto.tile_buf<left, 16x64x!pto.f4E2M1x2, blayout=col_major, slayout=row_major>"
    right = "!pto.tile_buf<right, 64x16x!pto.f4E2M1x2, slayout=col_major>"
    found = texts(f"func.func @f(%a: {left}, %b: {right}) {{\n  return\n}}")
    assert found == {"a": "random:f4E2M1x2:16x32:seed=0", "b": "random:f4E2M1x2:32x16:seed=1"}


def tiles_of(side: int, unused: str = "") -> str:
    """Copies a row for each whole tile of ``side`` rows among n."""
    return f"""
func.func @copy(%out: !pto.ptr<f32>, %in: !pto.ptr<f32>, %n: index{unused}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %side = arith.constant {side} : index
  %tiles = arith.divui %n, %side : index
  scf.for %i = %c0 to %tiles step %c1 {{
    %v = pto.load_scalar %in[%i] : !pto.ptr<f32> -> f32
    pto.store_scalar %v, %out[%n] : !pto.ptr<f32>, f32
  }}
  return
}}
"""


def test_numbers_are_large_enough_that_buffers_are_used() -> None:
    assert texts(tiles_of(16))["n"] == "32"
    # 128 / 120 is the first tile: one element is read, and element 128 is written.
    assert texts(tiles_of(120)) == {"out": "random:f32:129:seed=0", "in": "random:f32:1:seed=1", "n": "128"}
    assert texts(tiles_of(33))["n"] == "64"
    # One of several numbers is enough.
    found = texts(tiles_of(33, ", %other: index"))
    assert (found["n"], found["other"]) == ("64", "1")


# Counts to an integer that a buffer holds; random ones are too large to reach.
COUNTED = """
func.func @count(%out: !pto.ptr<f32>, %length: !pto.ptr<i64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %read = pto.load_scalar %length[%c0] : !pto.ptr<i64> -> i64
  %positive = math.absi %read : i64
  %n = arith.index_cast %positive : i64 to index
  scf.for %i = %c0 to %n step %c1 {
    %v = pto.load_scalar %out[%c0] : !pto.ptr<f32> -> f32
    pto.store_scalar %v, %out[%c0] : !pto.ptr<f32>, f32
  }
  return
}
"""


def test_runs_without_a_practical_end_are_no_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pto_dialect.driver.explore.synthesized.TRIAL_SECONDS", 0.2)
    assert texts(COUNTED) == {"out": "random:f32:1:seed=0", "length": "zeros:i64:1"}


def test_a_function_whose_runs_all_take_too_long_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pto_dialect.driver.explore.synthesized.TRIAL_SECONDS", 0.2)
    endless = COUNTED.replace("math.absi %read : i64", "arith.constant 4611686018427387904 : i64")
    with pytest.raises(BindingError, match=r"^a run with generated arguments takes longer than 0\.2 s"):
        texts(endless)
