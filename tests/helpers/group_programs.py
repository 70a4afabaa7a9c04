"""Texts of a cube function and a vector function that meet through signals alone, for tests of groups."""

from __future__ import annotations


def module(function: str, arch: str = "a2a3") -> str:
    """A module with ``function``."""
    return f'module attributes {{pto.target_arch = "{arch}"}} {{\n{function}}}\n'


def cube(stores: str = "%arg0", sets: bool = True, kind: bool = True, name: str = "produce") -> str:
    """A cube function: arg0[block] = 7 + block, then a signal to the vector cores, then one back from both."""
    signal = "pto.sync.set #pto.pipe<PIPE_FIX>, 3\n" if sets else ""
    attributes = " attributes {pto.kernel_kind = #pto.kernel_kind<cube>}" if kind else ""
    return f"""  func.func @{name}(%arg0: !pto.ptr<i32>, %arg1: index, %arg2: i32){attributes} {{
    pto.store_scalar %arg2, {stores}[%arg1] : !pto.ptr<i32>, i32
    pto.barrier #pto.pipe<PIPE_ALL>
    {signal}    return
  }}
"""


def vector(wait: bool = True, kind: bool = True, name: str = "consume", more: str = "") -> str:
    """A vector function: waits for the signal, then arg1[2 * block + sub-block] = 10 * arg0[block]."""
    signal = "pto.sync.wait #pto.pipe<PIPE_MTE2>, 3\n" if wait else ""
    attributes = " attributes {pto.kernel_kind = #pto.kernel_kind<vector>}" if kind else ""
    return f"""  func.func @{name}(%arg0: !pto.ptr<i32>, %arg1: !pto.ptr<i32>, %__pypto_spmd_block_idx: i32,
      %__pypto_spmd_subblock_idx: i32){attributes} {{
    %c2 = arith.constant 2 : i32
    %c10 = arith.constant 10 : i32
    %twice = arith.muli %__pypto_spmd_block_idx, %c2 : i32
    %place = arith.addi %twice, %__pypto_spmd_subblock_idx : i32
    %from = arith.index_cast %__pypto_spmd_block_idx : i32 to index
    %to = arith.index_cast %place : i32 to index
    {signal}    pto.barrier #pto.pipe<PIPE_ALL>
    %value = pto.load_scalar %arg0[%from] : !pto.ptr<i32> -> i32
    %result = arith.muli %value, %c10 : i32
    pto.store_scalar %result, %arg1[%to] : !pto.ptr<i32>, i32
    {more}return
  }}
"""
