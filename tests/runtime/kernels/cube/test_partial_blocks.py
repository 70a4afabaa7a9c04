"""Moves of accumulators to the matrix memory write all rows of the tile and whole blocks of columns, of 32 bytes or of
16 numbers. Source: docs/reference/layouts.md, "Moves between tiles".
"""

from __future__ import annotations

import numpy as np
import pytest
from fixpipe_model import entry
from function_programs import run

ROWS, COLS = 16, 64


def acc(cols: int, element: str = "f32") -> str:
    return f"!pto.tile_buf<acc, 16x64x{element}, valid=10x{cols}, blayout=col_major, slayout=row_major, fractal=1024>"


def mat(cols: int, element: str, fractal: int = 512) -> str:
    shape = f"16x64x{element}, valid=10x{cols}"
    return f"!pto.tile_buf<mat, {shape}, blayout=col_major, slayout=row_major, fractal={fractal}>"


def numbers() -> np.ndarray:
    return (np.arange(ROWS * COLS, dtype=np.float32).reshape(ROWS, COLS) % 97) - 40


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@pytest.mark.parametrize(("valid", "written"), [(1, 16), (16, 16), (17, 32), (63, 64)])
def test_blocks_of_halves(target: str, valid: int, written: int) -> None:
    found = np.full((ROWS, COLS), 7, np.float16)
    source, dst = acc(valid), mat(valid, "f16")
    given = {"c": (source, numbers()), "d": (dst, found)}
    run(f"pto.tmov ins(%c : {source}) outs(%d : {dst})", given, target=target)
    assert (found[:, :written] == numbers()[:, :written]).all()
    assert (found[:, written:] == 7).all()


@pytest.mark.parametrize(("fractal", "valid", "written"), [(512, 9, 16), (512, 8, 8), (1024, 17, 32)])
def test_blocks_of_words(fractal: int, valid: int, written: int) -> None:
    found = np.full((ROWS, COLS), 7, np.float32)
    source, dst = acc(valid), mat(valid, "f32", fractal)
    run(f"pto.tmov ins(%c : {source}) outs(%d : {dst})", {"c": (source, numbers()), "d": (dst, found)})
    assert (found[:, :written] == numbers()[:, :written]).all()
    assert (found[:, written:] == 7).all()


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@pytest.mark.parametrize(("valid", "written"), [(5, 32), (33, 64)])
def test_blocks_of_bytes_with_an_entry_for_each_channel(target: str, valid: int, written: int) -> None:
    """The entries after the valid ones of the table count for the columns after the valid ones."""
    found = np.full((ROWS, COLS), 7, np.int8)
    scales = 2.0 ** (np.arange(COLS) % 3 - 1)
    words = np.array([[entry(float(scale), 0, True) for scale in scales]], np.uint64)
    source, dst = acc(valid), mat(valid, "i8")
    table = f"!pto.tile_buf<scaling, 1x64xui64, valid=1x{valid}>"
    given = {"c": (source, numbers()), "q": (table, words), "d": (dst, found)}
    run(f"pto.tmov.fp ins(%c, %q : {source}, {table}) outs(%d : {dst})", given, target=target)
    wanted = np.clip(np.rint(numbers() * scales), -128, 127)
    assert (found[:, :written] == wanted[:, :written]).all()
    assert (found[:, written:] == 7).all()


def test_columns_that_the_table_has_no_entry_for_stay() -> None:
    found = np.full((ROWS, COLS), 7, np.int8)
    words = np.array([[entry(1.0, 0, True)] * 16], np.uint64)
    source, dst, table = acc(5), mat(5, "i8"), "!pto.tile_buf<scaling, 1x16xui64, valid=1x5>"
    given = {"c": (source, numbers()), "q": (table, words), "d": (dst, found)}
    run(f"pto.tmov.fp ins(%c, %q : {source}, {table}) outs(%d : {dst})", given)
    assert (found[:, :16] == numbers()[:, :16]).all()
    assert (found[:, 16:] == 7).all()
