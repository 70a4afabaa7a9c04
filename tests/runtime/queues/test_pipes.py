"""Queues between the cube core and the vector cores: what arrives, in which half, and when a core waits."""

from __future__ import annotations

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parse_helpers import parsed
from queue_programs import CubeToVector

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.queues.schedule import Schedule
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.verify.verifier import verify_module

DTYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i8": np.int8}


def kernel(text: str, entry: str | None = None, **options) -> Kernel:
    module, found = parsed(text)
    assert found == []
    return Kernel(module, entry, None, RunOptions(**options))


def factors(rows: int, cols: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Small integers, so that f32 products are exact: a, all b_i below each other, and a x b_i."""
    rng = np.random.default_rng(rows * cols + count)
    a = rng.integers(-3, 4, (rows, 16)).astype(np.float32)
    b = rng.integers(-3, 4, (4096, cols)).astype(np.float32)
    return a, b, np.stack([a @ b[16 * i : 16 * i + 16] for i in range(count)])


def run(program: CubeToVector) -> tuple[np.ndarray, np.ndarray]:
    """The buffer that the vector cores fill, and the products."""
    a, b, products = factors(program.rows, program.cols, program.count)
    out = np.full((4096, 2 * program.cols), 77, DTYPES[program.element])
    slots = np.zeros(program.slots * program.slot_size // 4, np.float32)
    k = kernel(program.text(), "cube")
    given = {"gm_a": a, "gm_b": b, "gm_slots": slots, "gm_out": out}
    k.run([given[name] for name, _ in k.arguments])
    return out, products


def assert_stored(program: CubeToVector, out: np.ndarray, products: np.ndarray) -> None:
    """Every product is where ``CubeToVector`` says, and nothing else was written."""
    expected = np.full(out.shape, 77, np.float32)
    for i, entry in enumerate(products):
        expected[i * program.rows : (i + 1) * program.rows, : program.cols] = entry
    np.testing.assert_array_equal(out.astype(np.float32), expected)


@pytest.mark.parametrize("split", [0, 1, 2])
@pytest.mark.parametrize("arch", ["a5", "a2a3"])
def test_halves_reach_their_vector_core(arch: str, split: int) -> None:
    program = CubeToVector(arch=arch, split=split)
    assert_stored(program, *run(program))


@pytest.mark.parametrize("arch", ["a5", "a2a3"])
def test_the_programs_of_these_tests_are_correct(arch: str) -> None:
    module, _ = parsed(CubeToVector(arch=arch).text())
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    verify_module(module, engine)
    assert [d for d in engine.diagnostics if d.severity is Severity.ERROR] == []


@settings(max_examples=12)
@given(st.sampled_from(["a5", "a2a3"]), st.integers(1, 3), st.integers(0, 9), st.sampled_from([0, 1, 2]))
def test_entries_arrive_in_order_however_many_slots(arch: str, slots: int, count: int, split: int) -> None:
    program = CubeToVector(arch=arch, slots=slots, count=count, split=split)
    out, products = run(program) if count else (np.full((1, 64), 77.0), np.zeros((0, 16, 32)))
    assert_stored(program, out, products)


@pytest.mark.parametrize("arch", ["a5", "a2a3"])
@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_accumulators_become_what_is_popped(arch: str, element: str) -> None:
    """The products are integers below 300: exact in f16, rounded to 8 bits in bf16."""
    program = CubeToVector(arch=arch, element=element)
    out, products = run(program)
    assert_stored(program, out, products.astype(DTYPES[element]).astype(np.float32))


def guarded(program: CubeToVector) -> str:
    """The vector core of number 0 pops and stores; the other one marks a row of its own."""
    text = program.text()
    start, end = text.index("%tile = pto.tpop"), text.index(FREE.replace("1}", "0}"))
    body = text[start:end] + FREE.replace("1}", "0}")
    mark = """%first = arith.cmpi eq, %who, %c0 : index
      scf.if %first {
        BODY
      } else {
        %value = arith.constant 5.0 : f32
        %place = arith.constant 8192 : index
        pto.store_scalar %value, %gm_out[%place] : !pto.ptr<f32>, f32
      }"""
    return text[:start] + mark.replace("BODY", body) + text[end + len(FREE) :]


def test_whole_entries_on_a5_concern_the_first_vector_core() -> None:
    """A program that distinguishes its vector cores runs on both."""
    program = CubeToVector(split=0)
    k = kernel(guarded(program), "cube")
    assert k.program.vector_cores == 2
    a, b, products = factors(16, 32, 3)
    out = np.full((4096, 64), 77, np.float32)
    given = {"gm_a": a, "gm_b": b, "gm_slots": np.zeros(1, np.float32), "gm_out": out}
    k.run([given[name] for name, _ in k.arguments])
    assert out[128, 0] == 5
    out[128, 0] = 77
    assert_stored(program, out, products)


def test_number_of_vector_cores() -> None:
    for program, cores in (
        (CubeToVector(split=0), 1),
        (CubeToVector(split=0, arch="a2a3"), 2),
        (CubeToVector(split=1), 2),
    ):
        assert kernel(program.text(), "cube").program.vector_cores == cores


# ------------------------------------------------------------ waiting


def test_pops_without_a_push_are_a_located_deadlock() -> None:
    program = CubeToVector(count=1, pops=2)
    with pytest.raises(ProgramError) as caught:
        run(program)
    assert caught.value.rule == "sync-deadlock"
    assert caught.value.span is not None and caught.value.span.text.startswith("%tile = pto.tpop_from_aic")
    assert caught.value.notes == (
        "AIV0: PIPE_S waits for an entry of queue 0 from the AIC",
        "AIV1: PIPE_S waits for an entry of queue 0 from the AIC",
    )


def test_pushes_beyond_the_slots_wait_for_frees() -> None:
    program = CubeToVector(count=5, slots=4, frees=False)
    with pytest.raises(ProgramError) as caught:
        run(program)
    assert caught.value.rule == "sync-deadlock"
    assert caught.value.span is not None and caught.value.span.text.startswith("pto.tpush_to_aiv")
    assert caught.value.notes[0] == "AIC: PIPE_S waits for a free slot of queue 0 from AIV0"


def test_as_many_entries_as_slots_need_no_free() -> None:
    program = CubeToVector(count=4, slots=4, frees=False)
    assert_stored(program, *run(program))


def test_entries_nobody_pops_may_stay() -> None:
    program = CubeToVector(count=3, pops=2)
    out, products = run(program)
    assert_stored(program, out, products[:2])


# ------------------------------------------------------------ slots


def test_an_entry_larger_than_its_local_slot_is_refused() -> None:
    with pytest.raises(ProgramError) as caught:
        kernel(CubeToVector(split=0, slot_size=1024).text(), "cube")
    assert caught.value.rule == "pipe-slot"
    assert caught.value.message == "an entry of 2048 bytes does not fit into a slot of 1024 bytes"


def test_an_entry_larger_than_its_slot_in_gm_is_a_fault() -> None:
    """The local buffer is large enough for whole entries, the slots in gm are not."""
    with pytest.raises(ProgramError) as caught:
        run(CubeToVector(arch="a2a3", split=0, slot_size=1024, reserve=8 * 2048))
    assert caught.value.rule == "pipe-slot"
    assert caught.value.span is not None and caught.value.span.text.startswith("pto.tpush_to_aiv")


def test_slots_in_gm_hold_the_entries_row_after_row() -> None:
    program = CubeToVector(arch="a2a3", split=2, count=3, slots=2)
    a, b, products = factors(16, 32, 3)
    slots = np.zeros(2 * 512, np.float32)
    k = kernel(program.text(), "cube")
    given = {"gm_a": a, "gm_b": b, "gm_slots": slots, "gm_out": np.zeros((4096, 64), np.float32)}
    k.run([given[name] for name, _ in k.arguments])
    np.testing.assert_array_equal(slots.reshape(2, 16, 32), products[[2, 1]])


FREE = "pto.tfree_from_aic {id = 0, split = 1}"
STORE = "pto.tstore ins(%tile"


def test_freeing_twice_is_a_fault() -> None:
    text = CubeToVector().text().replace(FREE, FREE + "\n" + FREE)
    with pytest.raises(ProgramError) as caught:
        launch(text)
    assert caught.value.rule == "pipe-slot"
    assert caught.value.message == "every popped entry of queue 0 was freed before"


def launch(text: str) -> None:
    k = kernel(text, "cube")
    k.run([np.zeros((4096, 64), np.float32) for _ in k.arguments])


def freed_early(arch: str, valid: str = "") -> str:
    """A program that frees an entry before it stores it."""
    text = CubeToVector(arch=arch).text()
    free, store = text.index(FREE), text.index(STORE)
    swapped = text[:store] + FREE + "\n" + text[store:free] + text[free + len(FREE) :]
    return swapped.replace("!pto.tile_buf<vec, 8x32xf32>", f"!pto.tile_buf<vec, 8x32xf32{valid}>")


@pytest.mark.parametrize("valid", ["", ", valid=?x?"])
def test_use_after_free_is_a_fault(valid: str) -> None:
    """With a static valid region generated code works on memory itself, otherwise on the handle."""
    swapped = freed_early("a5", valid)
    with pytest.raises(ProgramError) as caught:
        launch(swapped)
    assert caught.value.rule == "pipe-slot"
    assert caught.value.message == "the popped entry was freed"
    assert caught.value.span is not None and caught.value.span.text.startswith(STORE)


def stored(text: str) -> np.ndarray:
    """What a launch on random numbers leaves in its output."""
    k = kernel(text, "cube")
    values = [np.zeros((4096, 64), np.float32) for _ in k.arguments]
    names = [name for name, _ in k.arguments]
    for name in ("gm_a", "gm_b"):
        values[names.index(name)][...] = np.random.default_rng(len(name)).standard_normal((4096, 64))
    k.run(values)
    return values[names.index("gm_out")]


@pytest.mark.parametrize("valid", ["", ", valid=?x?"])
def test_a_popped_tile_of_a2a3_outlives_its_free(valid: str) -> None:
    # The pop has loaded it into a local slot of its own, and tfree does nothing there.
    wanted = stored(CubeToVector(arch="a2a3").text())
    assert wanted.any()
    np.testing.assert_array_equal(stored(freed_early("a2a3", valid)), wanted)
    np.testing.assert_array_equal(stored(CubeToVector(arch="a2a3", frees=False).text()), wanted)


@pytest.mark.parametrize("schedule", ["newest", "oldest", "random:3"])
def test_an_entry_that_nobody_reads_is_freed_when_it_has_come(schedule: str) -> None:
    """The load of a slot in global memory may come long after the statement that frees it."""
    lines = CubeToVector(arch="a2a3", count=6).text().splitlines()
    text = "\n".join(line for line in lines if STORE not in line)
    k = kernel(text, "cube", schedule=Schedule.parse(schedule, strict=True))
    k.run([np.zeros((4096, 64), np.float32) for _ in k.arguments])


def test_ends_that_split_differently_are_refused() -> None:
    """The cube core pushes halves, the vector cores pop whole entries: nobody knows whose the rest is."""
    head, tail = CubeToVector().text().split("func.func @vector", 1)
    text = f"{head}func.func @vector{tail.replace('split = 1', 'split = 0')}"
    with pytest.raises(ProgramError) as caught:
        launch(text)
    assert caught.value.rule == "pipe-split"
    assert caught.value.message == "queue 0 has split entries at the other end, found split = 0"
    assert caught.value.span is not None and "pto.tpop_from_aic" in caught.value.span.text


# ------------------------------------------------------------ conversion on the way


def epilogue(quant: str, relu: str, setter: str, element: str, arch: str = "a5") -> CubeToVector:
    conversion = f"#pto.acc_push_epilogue<layout = nz2nd, quant = {quant}, relu = {relu}>"
    fields = f", nosplit = true, acc_push_epilogue = {conversion}"
    return CubeToVector(split=0, epilogue=fields, before_push=setter, element=element, arch=arch)


@pytest.mark.parametrize("arch", ["a5", "a2a3"])
def test_a_queue_scales_and_clips_accumulators(arch: str) -> None:
    scale = "%scale = arith.constant 0.125 : f32\n pto.set_quant_scalar(%scale : f32) {id = 0}"
    program = epilogue("qf322f16_pre_scalar", "normal_relu", scale, "f16", arch)
    out, products = run(program)
    assert_stored(program, out, np.maximum(products * 0.125, 0))


@pytest.mark.parametrize("arch", ["a5", "a2a3"])
def test_a_scale_per_channel(arch: str) -> None:
    """The scales are 1, 1/2, 1/4 ... of a tile that is loaded from gm."""
    tile = "!pto.tile_buf<scaling, 1x32xf32>"
    part = "!pto.partition_tensor_view<1x32xf32>"
    setter = f"""%s_at = arith.constant 1024 : index
      %s_view = pto.make_tensor_view %gm_slots, shape = [%many, %cols], strides = [%cols, %c1]
        : !pto.tensor_view<?x?xf32>
      %s_part = pto.partition_view %s_view, offsets = [%s_at, %c0], sizes = [%c1, %cols]
        : !pto.tensor_view<?x?xf32> -> {part}
      %s_mat = pto.alloc_tile : !pto.tile_buf<mat, 1x32xf32>
      %s_tile = pto.alloc_tile : {tile}
      pto.tload ins(%s_part : {part}) outs(%s_mat : !pto.tile_buf<mat, 1x32xf32>)
      pto.tmov ins(%s_mat : !pto.tile_buf<mat, 1x32xf32>) outs(%s_tile : {tile})
      pto.set_quant_vector(%s_tile : {tile}) {{id = 0}}"""
    program = epilogue("qf322b8_pre_vec", "no_relu", setter, "si8", arch)
    a, b, products = factors(16, 32, 3)
    scales = (0.5 ** (np.arange(32) % 4)).astype(np.float32)
    out = np.full((4096, 64), 77, np.int8)
    k = kernel(program.text(), "cube")
    slots = np.zeros((4096, 32), np.float32)
    slots[1024] = scales
    given = {"gm_a": a, "gm_b": b, "gm_slots": slots, "gm_out": out}
    k.run([given[name] for name, _ in k.arguments])
    assert_stored(program, out, np.clip(np.rint(products * scales), -128, 127))


def test_a_push_without_its_scale_is_a_fault() -> None:
    with pytest.raises(ProgramError) as caught:
        launch(replace(epilogue("qf322f16_pre_scalar", "no_relu", "", "f16"), element="f32").text())
    assert caught.value.rule == "pipe-epilogue"
    assert caught.value.message == "the scale of queue 0 was not set"
