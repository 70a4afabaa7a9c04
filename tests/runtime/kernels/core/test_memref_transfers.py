"""Transfers and products of the micro level on memrefs: the address of the first element counts."""

from __future__ import annotations

import numpy as np
import pytest

import pto_dialect
from pto_dialect.runtime.errors import BindingError, ProgramError

GM, L1 = "memref<16x16xf16, #pto.address_space<gm>>", "memref<16x16xf16, #pto.address_space<mat>>"
LEFT, RIGHT = (f"memref<16x16xf16, #pto.address_space<{space}>>" for space in ("left", "right"))
ACC, OUT = "memref<16x16xf32, #pto.address_space<acc>>", "memref<16x16xf32, #pto.address_space<gm>>"


def test_a_product() -> None:
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @f(%a: {GM}, %b: {GM}, %d: {OUT}, %l1a: {L1}, %l1b: {L1}, %left: {LEFT}, %right: {RIGHT}, %acc: {ACC}) {{
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %n = arith.constant 16 : i64
    %bytes = arith.constant 32 : i64
    pto.mte_gm_l1 %a, %l1a, %bytes nburst(%n, %bytes, %bytes) : {GM}, {L1}, i64, i64, i64, i64
    pto.mte_gm_l1 %b, %l1b, %bytes nburst(%n, %bytes, %bytes) : {GM}, {L1}, i64, i64, i64, i64
    pto.mte_l1_l0a %l1a, %left, %n, %n, %c0, %c0 : {L1}, {LEFT}, i64, i64, i64, i64
    pto.mte_l1_l0b %l1b, %right, %n, %n, %c0, %c0 {{transpose = true}} : {L1}, {RIGHT}, i64, i64, i64, i64
    pto.mad %left, %right, %acc, %n, %n, %n : {LEFT}, {RIGHT}, {ACC}, i64, i64, i64
    pto.mte_l0c_gm %acc, %d, %n, %n, %n, %n, %c0, %c0, nz2nd : {ACC}, {OUT}, i64, i64, i64, i64, i64, i64
    return
  }}
}}"""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-5, 5, (16, 16)).astype(np.float16) for _ in range(2))
    d = np.zeros((16, 16), np.float32)
    scratch = [np.zeros((16, 16), np.float16) for _ in range(4)]
    pto_dialect.compile(pto_dialect.parse(text), verify=False)(a, b, d, *scratch, np.zeros((16, 16), np.float32))
    assert (d == a.astype(np.float32) @ b.astype(np.float32)).all()


def test_a_part_of_a_memref() -> None:
    whole, part = (
        "memref<4x16xf32, #pto.address_space<gm>>",
        "memref<2x16xf32, strided<[16, 1], offset: 32>, #pto.address_space<gm>>",
    )
    text = f"""func.func @f(%x: {whole}, %ub: memref<2x16xf32, #pto.address_space<vec>>) {{
      %n = arith.constant 2 : i64
      %bytes = arith.constant 64 : i64
      %part = memref.subview %x[2, 0] [2, 16] [1, 1] : {whole} to {part}
      pto.mte_ub_gm %ub, %part, %bytes nburst(%n, %bytes, %bytes)
        : memref<2x16xf32, #pto.address_space<vec>>, {part}, i64, i64, i64, i64
      return
    }}"""
    x, ub = np.zeros((4, 16), np.float32), np.arange(32, dtype=np.float32).reshape(2, 16)
    pto_dialect.compile(pto_dialect.parse(text), target="a5")(x, ub)
    assert (x[:2] == 0).all() and (x[2:] == ub).all()


@pytest.mark.parametrize("wait", ['pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]',
                                  "pto.wait_flag_dyn [#pto.pipe<PIPE_V>, #pto.pipe<PIPE_MTE3>, %c0]"])  # fmt: skip
def test_a_wait_inside_a_vector_scope(wait: str) -> None:
    text = f"""func.func @f() {{
      %c0 = arith.constant 0 : index
      pto.vecscope {{
        {wait}
      }}
      return
    }}"""
    with pytest.raises(ProgramError) as error:
        pto_dialect.compile(pto_dialect.parse(text), target="a5", verify=False)()
    assert error.value.rule == "sync-deadlock"


@pytest.mark.parametrize("element", ["!pto.f4E2M1x2", "!pto.hif8x2", "!pto.bf16x2"])
def test_pairs_are_no_numbers(element: str) -> None:
    kernel = pto_dialect.compile(pto_dialect.parse(f"func.func @f(%x: {element}) {{\n  return\n}}\n"), target="a5")
    with pytest.raises(BindingError, match="cannot be bound"):
        kernel(1.0)
