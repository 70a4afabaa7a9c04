"""Bursts between the memories of a core, in units with gaps, byte by byte against a model in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from function_programs import run, run_on_cube

LENGTH, COUNT, SOURCE_GAP, TARGET_GAP = 2, 3, 1, 4


def moved(source: np.ndarray, unit: int, size: int) -> np.ndarray:
    """What a copy of 3 bursts of 2 units leaves in ``size`` bytes that were 0."""
    found = np.zeros(size, np.uint8)
    for burst in range(COUNT):
        start, end = (burst * (LENGTH + gap) * unit for gap in (SOURCE_GAP, TARGET_GAP))
        found[end : end + LENGTH * unit] = source[start : start + LENGTH * unit]
    return found


def bytes_of(size: int) -> np.ndarray:
    return np.random.default_rng(2).integers(0, 256, size, np.uint8)


STATEMENTS = {
    "mte_ub_ub": ("ub", "ub", "%s, %d, %n2 nburst(%n3, %n1, %n4)"),
    "mte_ub_l1": ("ub", "l1", "%s, %d, %n2 nburst(%n3, %n1, %n4)"),
    "mte_l1_ub": ("l1", "ub", "%s, %d, %n2 nburst(%n3, %n1, %n4)"),
    "copy_ubuf_to_ubuf": ("ub", "ub", "%s, %d, %n0, %n3, %n2, %n1, %n4"),
    "copy_ubuf_to_cbuf": ("ub", "l1", "%s, %d, %n0, %n3, %n2, %n1, %n4"),
    "copy_cbuf_to_ubuf": ("l1", "ub", "%s, %d, %n0, %n3, %n2, %n1, %n4"),
    "copy_gm_to_cbuf": ("gm", "l1", "%s, %d, %n3, %n2, %n1, %n4"),
}
EITHER = ("copy_ubuf_to_ubuf",)
"""Operations that both targets have."""


@pytest.mark.parametrize(
    ("op", "target"), [(op, target) for op in STATEMENTS for target in ("a5", *(("a2a3",) if op in EITHER else ()))]
)
def test_units_of_a_block(op: str, target: str) -> None:
    source_space, target_space, operands = STATEMENTS[op]
    s, d = f"!pto.ptr<f16, {source_space}>", f"!pto.ptr<f16, {target_space}>"
    source, memory = bytes_of(1024), np.zeros(1024, np.uint8)
    types = ", ".join([s, d, *["i64"] * (operands.count("%n"))])
    arguments = {"s": (s, source.view(np.float16)), "d": (d, memory.view(np.float16))}
    run(f"pto.{op} {operands} : {types}", arguments, target=target)
    assert (memory == moved(source, 32, 1024)).all()


@pytest.mark.parametrize("number", [0, 1])
def test_the_cube_chooses_a_vector_core(number: int) -> None:
    s, d = "!pto.ptr<f16, l1>", "!pto.ptr<f16, ub>"
    source = bytes_of(1024)
    body = f"""%d = pto.castptr %n64 : i64 -> {d}
    pto.section.cube {{
      pto.copy_cbuf_to_ubuf %s, %d, %n{number}, %n3, %n2, %n1, %n4 : {s}, {d}, i64, i64, i64, i64, i64
      pto.set_intra_block #pto.pipe<PIPE_MTE1>, 3
      pto.set_intra_block #pto.pipe<PIPE_MTE1>, 19
    }}
    pto.section.vector {{
      pto.wait_intra_block #pto.pipe<PIPE_V>, 3
    }}"""
    both = run_on_cube(body, {"s": (s, source.view(np.float16))})
    assert (both[number][64:1088] == moved(source, 32, 1024)).all()
    assert not both[1 - number][64:1088].any()


TABLES = {
    "mte_l1_bt": ("bt", "%s, %d, %n2 nburst(%n3, %n1, %n4)", "", 32),
    "copy_cbuf_to_bt": ("bt", "%s, %d, %no, %n3, %n2, %n1, %n4", "i1, ", 32),
    "mte_l1_fb": ("fb", "%s, %d, %n2 nburst(%n3, %n1, %n4)", "", 64),
    "copy_cbuf_to_fbuf": ("fb", "%s, %d, %n3, %n2, %n1, %n4", "", 64),
}


@pytest.mark.parametrize("op", TABLES)
def test_units_of_tables(op: str) -> None:
    """Blocks of the bias table and pairs of blocks of the table of channels."""
    space, operands, first, unit = TABLES[op]
    s, d = "!pto.ptr<f32, l1>", f"!pto.ptr<f32, {space}>"
    source, memory = bytes_of(2048), np.zeros(2048, np.uint8)
    body = f"%no = arith.constant false\npto.{op} {operands} : {s}, {d}, {first}i64, i64, i64, i64"
    run(body, {"s": (s, source.view(np.float32)), "d": (d, memory.view(np.float32))})
    assert (memory == moved(source, unit, 2048)).all()


@pytest.mark.parametrize("op", ["mte_l1_bt", "copy_cbuf_to_bt"])
def test_halves_widen_into_the_bias_table(op: str) -> None:
    s, d = "!pto.ptr<f16, l1>", "!pto.ptr<f32, bt>"
    source, memory = np.random.default_rng(4).standard_normal(64).astype(np.float16), np.zeros(64, np.float32)
    numbers = "%s, %d, %yes, %n1, %n2, %n0, %n0" if "copy" in op else "%s, %d, %n2 nburst(%n1, %n0, %n0)"
    first = "i1, " if "copy" in op else ""
    body = f"%yes = arith.constant true\npto.{op} {numbers} : {s}, {d}, {first}i64, i64, i64, i64"
    run(body, {"s": (s, source), "d": (d, memory)})
    count = np.flatnonzero(memory).size
    assert count in (16, 32) and (memory[:count] == source[:count].astype(np.float32)).all()


REGISTERS = (
    "set_loop1_stride_outtol1 %n7", "set_loop2_stride_outtol1 %n7", "set_loop_size_outtol1 %n7",
    "set_loop3_para %n7, %n5", "set_channel_para %n7, %n5", "set_mte2_nz_para %n7", "set_pad_val_outtol1 %n7",
    "set_quant_pre %n7", "set_relu_alpha %n7", "set_fix_clip_relu %n7", "set_fpc %n7",
    "set_loop1_stride_ubtoout %n7, %n5", "set_loop2_stride_ubtoout %n7, %n5",
)  # fmt: skip


@pytest.mark.parametrize("register", REGISTERS)
@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_registers_of_other_instructions_change_no_copy(register: str, target: str) -> None:
    s, d = "!pto.ptr<f16, ub>", "!pto.ptr<f16, ub>"
    source, memory = bytes_of(1024), np.zeros(1024, np.uint8)
    body = f"""pto.{register} : {", ".join(["i64"] * register.count("%"))}
    pto.copy_ubuf_to_ubuf %s, %d, %n0, %n3, %n2, %n1, %n4 : {s}, {d}, i64, i64, i64, i64, i64"""
    run(body, {"s": (s, source.view(np.float16)), "d": (d, memory.view(np.float16))}, target=target)
    assert (memory == moved(source, 32, 1024)).all()


@pytest.mark.parametrize("mode", ["nd2nz", "dn2nz"])
def test_fractals_of_a_matrix(mode: str) -> None:
    """Two matrices of 16 x 32 halves, each in columns of blocks of 16; ``dn`` lies transposed."""
    n, d = 16, 32
    source = np.random.default_rng(5).standard_normal((2, n, d)).astype(np.float16)
    memory = np.zeros(2048, np.float16)
    g, l1 = "!pto.ptr<f16, gm>", "!pto.ptr<f16, l1>"
    held = source if mode == "nd2nz" else source.transpose(0, 2, 1)
    inner = 2 * held.shape[2]
    outer = held[0].nbytes
    body = f"""%no = arith.constant false
    pto.mte_gm_l1_frac %s, %d, {mode}, shape(%n{n}, %n{d}), src_layout(%n{inner}, %n{outer}),
      dst_group(%n2, %n1, %n{n}, %n{n * d // 16}), ctrl(%n0, %no) : {g}, {l1}, {mode}, shape i64, i64,
      src_layout(i64, i64), dst_group i64, i64, i64, i64, ctrl i64, i1"""
    run(body, {"s": (g, np.ascontiguousarray(held).reshape(-1)), "d": (l1, memory)})
    for number in range(2):
        blocks = source[number].reshape(n, d // 16, 16).transpose(1, 0, 2).reshape(-1)
        assert (memory[number * n * d :][: n * d] == blocks).all(), number
