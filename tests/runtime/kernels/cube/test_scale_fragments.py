"""Loads of scales by fragments of 32 bytes, seen through the product that uses them.

Source: docs/reference/layouts.md, "MX scales".
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from function_programs import run

M, N, K = 16, 32, 128
F8: Any = ml_dtypes.float8_e4m3fn
E8 = "!pto.ptr<!pto.f8E8M0, {0}>"


def blocks(matrix: np.ndarray) -> np.ndarray:
    """Rows as the operand memories hold them: blocks of 32 bytes along k, in them row after row."""
    return np.concatenate([matrix[:, first : first + 32].reshape(-1) for first in range(0, matrix.shape[1], 32)])


def fragments(scales: np.ndarray) -> np.ndarray:
    """Scales [rows, groups] by fragment [row block, pair of groups, 32 bytes]."""
    rows, groups = scales.shape
    found = np.zeros((rows // 16, groups // 2, 32), np.uint8)
    for (row, group), code in np.ndenumerate(scales):
        found[row // 16, group // 2, row % 16 * 2 + group % 2] = code
    return found


@pytest.mark.parametrize(("x", "y", "stride"), [(0, 0, 2), (1, 2, 5), (3, 0, 2)])
def test_scales_from_any_fragment_on(x: int, y: int, stride: int) -> None:
    rng = np.random.default_rng(x)
    left, right = (rng.integers(-3, 4, shape).astype(F8) for shape in ((M, K), (K, N)))
    one, two = (rng.integers(124, 131, (rows, K // 32)).astype(np.uint8) for rows in (M, N))
    memories: dict[str, np.ndarray] = {}
    for name, scales in (("s", one), ("u", two)):
        memory = rng.integers(0, 250, (64, 32)).astype(np.uint8)
        for (row, pair, _), _ in np.ndenumerate(fragments(scales)):
            memory[(x + row) * stride + y + pair] = fragments(scales)[row, pair]
        memories[name] = memory.reshape(-1)
    a, b, c = "!pto.ptr<f8E4M3FN, l0a>", "!pto.ptr<f8E4M3FN, l0b>", "!pto.ptr<f32, l0c>"
    numbers = ", ".join(["i64"] * 6)
    body = f"""%sa = pto.castptr %a : {a} -> {E8.format("l0a")}
    %ub = pto.castptr %b : {b} -> {E8.format("l0b")}
    pto.mte_l1_l0a_mx %s, %sa, %n{x}, %n{y}, %n1, %n2, %n{stride}, %n2
      : {E8.format("l1")}, {E8.format("l0a")}, {numbers}
    pto.mte_l1_l0b_mx %u, %ub, %n{x}, %n{y}, %n2, %n2, %n{stride}, %n2
      : {E8.format("l1")}, {E8.format("l0b")}, {numbers}
    pto.mad_mx %a, %b, %c, %n{M}, %n{N}, %n{K} : {a}, {b}, {c}, i64, i64, i64"""
    out = np.zeros(M * N, np.float32)
    run(body, {
        "a": (a, blocks(left)), "b": (b, blocks(np.ascontiguousarray(right.T))), "c": (c, out),
        "s": (E8.format("l1"), memories["s"]), "u": (E8.format("l1"), memories["u"]),
    })  # fmt: skip
    wide = left.astype(np.float64) * 2.0 ** (np.repeat(one, 32, axis=1).astype(int) - 127)
    tall = right.astype(np.float64) * 2.0 ** (np.repeat(two, 32, axis=1).T.astype(int) - 127)
    assert (out.reshape(N // 16, M, 16).transpose(1, 0, 2).reshape(M, N) == wide @ tall).all()
