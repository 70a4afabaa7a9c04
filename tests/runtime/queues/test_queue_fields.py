"""Fields and forms of queues that change where entries lie, not what they hold: against the products themselves.

Source: docs/reference/execution.md, "Queues between cores".
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from parse_helpers import parsed
from queue_programs import CubeToVector, VectorToCube, entry_views, with_handles

from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions


def launch(text: str, entry: str, **given: np.ndarray) -> None:
    """Runs ``entry`` on arguments by name; the slots of queues in gm are there if they are requested."""
    module, found = parsed(text)
    assert found == []
    kernel = Kernel(module, entry, None, RunOptions())
    given["gm_slots"] = np.zeros(1 << 14, np.float32)
    kernel.run([given[name] for name, _ in kernel.arguments])


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).integers(-9, 10, shape).astype(np.float32)


def products(a: np.ndarray, b: np.ndarray, count: int) -> np.ndarray:
    return np.stack([a @ b[16 * i : 16 * i + 16] for i in range(count)])


@pytest.mark.parametrize("arch", ["a5", "a2a3"])
@pytest.mark.parametrize("split", [0, 1])
def test_slots_in_the_memory_of_the_consumer(arch: str, split: int) -> None:
    """Fewer of them than slots of the queue."""
    program = CubeToVector(arch=arch, split=split, epilogue=", local_slot_num = 2", count=6)
    a, b, out = numbers(16, 16), numbers(4096, 32), np.zeros((4096, 64), np.float32)
    launch(program.text(), "cube", gm_a=a, gm_b=b, gm_out=out)
    np.testing.assert_array_equal(out[:96, :32].reshape(6, 16, 32), products(a, b, 6))


EPILOGUE = "#pto.acc_push_epilogue<layout = nz2nd, quant = f32_f16, relu = normal_relu>"


@pytest.mark.parametrize(
    ("arch", "made_for", "field"),
    [
        ("a5", "a5", "nosplit = true"),
        ("a2a3", "a5", "nosplit = true"),
        ("a2a3", "a2a3", "nosplit = true"),
        ("a5", "a2a3", "nosplit = true"),
        ("a2a3", "a2a3", "local_slot_num = 2"),
        ("a5", "a2a3", "local_slot_num = 2"),
    ],
)
def test_fields_of_queue_handles(arch: str, made_for: str, field: str) -> None:
    """The form that a5 has, from memory to memory, and that of a2a3, through global memory, on either."""
    text = with_handles(CubeToVector(arch=made_for, split=0, count=6), field)
    text = text.replace(f'pto.target_arch = "{made_for}"', f'pto.target_arch = "{arch}"')
    a, b, out = numbers(16, 16), numbers(4096, 32), np.zeros((4096, 64), np.float32)
    launch(text, "cube", gm_a=a, gm_b=b, gm_out=out)
    np.testing.assert_array_equal(out[:96, :32].reshape(6, 16, 32), products(a, b, 6))


@pytest.mark.parametrize("arch", ["a5", "a2a3"])
def test_a_handle_converts_what_is_pushed(arch: str) -> None:
    program = CubeToVector(arch=arch, split=0, element="f16", slot_size=1024)
    text = with_handles(program, f"nosplit = true, acc_push_epilogue = {EPILOGUE}")
    a, b, out = numbers(16, 16), numbers(4096, 32), np.zeros((4096, 64), np.float16)
    launch(text, "cube", gm_a=a, gm_b=b, gm_out=out)
    np.testing.assert_array_equal(out[:48, :32].reshape(3, 16, 32), np.maximum(products(a, b, 3), 0))


@pytest.mark.parametrize(("arch", "split"), [("a2a3", 0), ("a2a3", 1), ("a5", 1)])
def test_entries_of_handles_that_the_program_moves_itself(arch: str, split: int) -> None:
    text = entry_views(split).replace('pto.target_arch = "a2a3"', f'pto.target_arch = "{arch}"')
    text = re.sub(
        r"pto\.ai[cv]_initialize_pipe \{id = 1, (.*?)\} \(gm_slot_tensor = (%\w+)\s*:\s*(!pto\.tensor_view<.*?>)\)",
        r"%pipe = pto.initialize_l2g2l_pipe {\1}(\2 : \3) -> !pto.pipe",
        text,
    )
    for taken, name in (("talloc_to_aiv", "talloc"), ("tpop_from_aic", "tpop")):
        text = re.sub(
            rf"%entry = pto\.{taken} \{{id = 1, (.*?)\}} -> (!pto\.tensor_view<.*?>)",
            rf"%entry = pto.declare_global -> \2\npto.{name}(%entry, %pipe : \2, !pto.pipe) {{\1}}",
            text,
        )
    for given, name in (("tpush_to_aiv", "tpush"), ("tfree_from_aic", "tfree")):
        text = re.sub(
            rf"pto\.{given}\(%entry : (.*?)\) \{{id = 1, (.*?)\}}",
            rf"pto.{name}(%entry, %pipe : \1, !pto.pipe) {{\2}}",
            text,
        )
    assert "id = 1" not in text
    a, b, out = numbers(16, 16), numbers(4096, 16), np.zeros((6, 16, 16), np.float32)
    launch(text, "vector", gm_a=a, gm_b=b, gm_out=out)
    np.testing.assert_array_equal(out, products(a, b, 6))


def naming_a_part(text: str, transfer: str, swapped: bool) -> str:
    """The program whose vector cores say which part of an entry they mean: their own, or that of the other core."""
    text, count = re.subn(rf"(pto\.{transfer}\b.*? \{{[^}}]*split = 1\}})", r"\1 aiv_subblockid(%named)", text)
    assert count == 1
    named = "arith.subi %c1, %who" if swapped else "arith.addi %c0, %who"
    return text.replace(
        "%who = arith.index_cast %who_i : i64 to index",
        rf"""%who = arith.index_cast %who_i : i64 to index
    %named = {named} : index""",
    )


def from_vectors_with_handles(text: str) -> str:
    """A program of ``VectorToCube`` with a queue handle instead of a number."""
    begin = r"pto\.ai[cv]_initialize_pipe \{id = 3, (.*?)\} \("
    end = r"c2v_consumer_buf = %zero : i32, v2c_consumer_buf = %fifo : i32\)"
    through = r"%pipe = pto.initialize_l2g2l_pipe {\1}(\2, %fifo : i32) -> !pto.pipe"
    text = re.sub(rf"{begin}gm_slot_buffer = (%gm_slots : !pto\.ptr<f32>), {end}", through, text)
    text = re.sub(rf"{begin}{end}", r"%pipe = pto.initialize_l2l_pipe {\1}(%fifo : i32) -> !pto.pipe", text)
    text = re.sub(
        r"pto\.tpush_to_aic\((%\w+) : (.*?)\) \{id = 3, (.*?)\}", r"pto.tpush(\1, %pipe : \2, !pto.pipe) {\3}", text
    )
    text = re.sub(
        r"%entry = pto\.tpop_from_aiv \{id = 3, (.*?)\} -> (.*)",
        r"%entry = pto.declare_tile -> \2\npto.tpop(%entry, %pipe : \2, !pto.pipe) {\1}",
        text,
    )
    return re.sub(r"pto\.tfree_from_aiv \{id = 3, (.*?)\}", r"pto.tfree(%pipe : !pto.pipe) {\1}", text)


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("handle", [False, True])
@pytest.mark.parametrize("arch", ["a5", "a2a3"])
def test_the_part_that_a_vector_core_pushes(arch: str, handle: bool, swapped: bool) -> None:
    text = VectorToCube(arch=arch, split=1, count=2).text()
    text = naming_a_part(
        from_vectors_with_handles(text) if handle else text, "tpush" if handle else "tpush_to_aic", swapped
    )
    given, out = numbers(2 * 32, 16), np.zeros((2 * 32, 16), np.float32)
    launch(text, "cube", gm_in=given, gm_unit=np.eye(16, dtype=np.float32), gm_out=out)
    halves = given.reshape(2, 2, 16, 16)
    np.testing.assert_array_equal(out, (halves[:, ::-1] if swapped else halves).reshape(64, 16))


@pytest.mark.parametrize(("arch", "swapped"), [("a5", False), ("a2a3", False), ("a2a3", True)])
def test_the_part_that_a_vector_core_pops(arch: str, swapped: bool) -> None:
    """On a5 each core has its own part in its memory, on a2a3 both read the entry in global memory."""
    text = naming_a_part(with_handles(CubeToVector(arch=arch, split=1), ""), "tpop", swapped)
    a, b, out = numbers(16, 16), numbers(4096, 32), np.zeros((4096, 64), np.float32)
    launch(text, "cube", gm_a=a, gm_b=b, gm_out=out)
    halves = products(a, b, 3).reshape(3, 2, 8, 32)
    np.testing.assert_array_equal(out[:48, :32].reshape(3, 2, 8, 32), halves[:, ::-1] if swapped else halves)


@pytest.mark.parametrize("arch", ["a5", "a2a3"])
def test_a_handle_of_both_directions(arch: str) -> None:
    """It has a location in the memory of either consumer; one direction is used."""
    text = with_handles(CubeToVector(arch=arch, split=1, slots=4), "")
    text, count = re.subn(r"dir_mask = 1(.*?)(%fifo : i32)\)", r"dir_mask = 3\1\2, %zero : i32)", text)
    assert count == 2
    a, b, out = numbers(16, 16), numbers(4096, 32), np.zeros((4096, 64), np.float32)
    launch(text, "cube", gm_a=a, gm_b=b, gm_out=out)
    np.testing.assert_array_equal(out[:48, :32].reshape(3, 16, 32), products(a, b, 3))


@pytest.mark.parametrize("arch", ["a2a3"])
def test_entries_that_vector_cores_fill_themselves(arch: str) -> None:
    """Each vector core stores its half in the slot; the cube core takes the whole through its matrix memory."""
    view, half = "!pto.tensor_view<16x16xf32>", "!pto.tensor_view<8x16xf32>"
    part, whole = "!pto.partition_tensor_view<8x16xf32>", "!pto.partition_tensor_view<16x16xf32>"
    vec, mat = "!pto.tile_buf<vec, 8x16xf32>", "!pto.tile_buf<mat, 16x16xf32>"
    numbers_ = "\n".join(f"%c{n} = arith.constant {n} : index" for n in (0, 1, 3, 8, 16, 48))
    fields = "id = 2, dir_mask = 2, slot_size = 1024, slot_num = 2"
    text = f"""module attributes {{pto.target_arch = "{arch}"}} {{
  func.func @vector(%gm_in: !pto.ptr<f32>, %gm_slots: !pto.ptr<f32>)
      attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    {numbers_}
    %who_i = pto.get_subblock_idx
    %who = arith.index_cast %who_i : i64 to index
    %down = arith.muli %who, %c8 : index
    %slots = pto.make_tensor_view %gm_slots, shape = [%c8, %c16], strides = [%c16, %c1] : {half}
    pto.aiv_initialize_pipe {{{fields}}} (gm_slot_tensor = %slots : {half})
    %all = pto.make_tensor_view %gm_in, shape = [%c48, %c16], strides = [%c16, %c1] : !pto.tensor_view<48x16xf32>
    %tile = pto.alloc_tile : {vec}
    scf.for %n = %c0 to %c3 step %c1 {{
      %first = arith.muli %n, %c16 : index
      %row = arith.addi %first, %down : index
      %from = pto.partition_view %all, offsets = [%row, %c0], sizes = [%c8, %c16]
        : !pto.tensor_view<48x16xf32> -> {part}
      pto.tload ins(%from : {part}) outs(%tile : {vec})
      %entry = pto.talloc_to_aic {{id = 2, split = 1}} -> {half}
      %to = pto.partition_view %entry, offsets = [%c0, %c0], sizes = [%c8, %c16] : {half} -> {part}
      pto.tstore ins(%tile : {vec}) outs(%to : {part})
      pto.tpush_to_aic(%entry : {half}) {{id = 2, split = 1}}
    }}
    return
  }}
  func.func @cube(%gm_out: !pto.ptr<f32>, %gm_slots: !pto.ptr<f32>)
      attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
    {numbers_}
    %slots = pto.make_tensor_view %gm_slots, shape = [%c16, %c16], strides = [%c16, %c1] : {view}
    pto.aic_initialize_pipe {{{fields}}} (gm_slot_tensor = %slots : {view})
    %all = pto.make_tensor_view %gm_out, shape = [%c48, %c16], strides = [%c16, %c1] : !pto.tensor_view<48x16xf32>
    %tile = pto.alloc_tile : {mat}
    scf.for %n = %c0 to %c3 step %c1 {{
      %row = arith.muli %n, %c16 : index
      %entry = pto.tpop_from_aiv {{id = 2, split = 1}} -> {view}
      %from = pto.partition_view %entry, offsets = [%c0, %c0], sizes = [%c16, %c16] : {view} -> {whole}
      pto.tload ins(%from : {whole}) outs(%tile : {mat})
      pto.tfree_from_aiv(%entry : {view}) {{id = 2, split = 1}}
      %to = pto.partition_view %all, offsets = [%row, %c0], sizes = [%c16, %c16]
        : !pto.tensor_view<48x16xf32> -> {whole}
      pto.tstore ins(%tile : {mat}) outs(%to : {whole})
    }}
    return
  }}
}}
"""
    given, out = numbers(48, 16), np.zeros((48, 16), np.float32)
    launch(text, "cube", gm_in=given, gm_out=out)
    np.testing.assert_array_equal(out, given)
