"""Accumulators to the unified buffers of both vector cores: who gets what, in each form of the move.

Source: docs/reference/layouts.md, "Moves between tiles".
"""

from __future__ import annotations

import numpy as np
import pytest
from function_programs import run_on_cube

from pto_dialect.runtime.errors import ProgramError

ACC = "!pto.tile_buf<acc, 32x64xf32, blayout=col_major, slayout=row_major, fractal=1024>"
ROWS, COLS = 32, 64
MODES = ["single_mode_vec0", "single_mode_vec1", "dual_mode_split_m", "dual_mode_split_n"]


def acc(valid: str) -> str:
    return ACC.replace("xf32", f"xf32, valid={valid}")


def vec(rows: int, cols: int) -> str:
    return f"!pto.tile_buf<vec, {rows}x{cols}xf32>"


def moved(
    op: str, mode: str, dst: str, place: tuple[int, int] | None, source: np.ndarray, tile: str = ACC
) -> list[np.ndarray]:
    """Both unified buffers after a move into a tile at their beginning, as 32-bit floats."""
    at, kinds = (f", %c{place[0]}, %c{place[1]}", ", index, index") if place else ("", "")
    body = (
        (
            f"%d = pto.alloc_tile addr = %n0 : {dst}\n"
            f"pto.{op} ins(%c{at} : {tile}{kinds}) outs(%d : {dst}) {{accToVecMode = #pto.acc_to_vec_mode<{mode}>}}"
        )
        .replace("%c :", "%acc :")
        .replace("%c,", "%acc,")
    )
    return [buffer.view(np.float32) for buffer in run_on_cube(body, {"acc": (tile, source)})]


def numbers() -> np.ndarray:
    return np.arange(1, ROWS * COLS + 1, dtype=np.float32).reshape(ROWS, COLS)


def parts(matrix: np.ndarray, mode: str) -> list[np.ndarray]:
    """What each core gets of a matrix; an empty array for nothing."""
    nothing = matrix[:0]
    if mode.startswith("single"):
        return [matrix, nothing] if mode.endswith("0") else [nothing, matrix]
    return np.split(matrix, 2, axis=0 if mode.endswith("m") else 1)


def check(found: list[np.ndarray], wanted: list[np.ndarray], shape: tuple[int, int], place: tuple[int, int]) -> None:
    for memory, part in zip(found, wanted, strict=True):
        tile = np.zeros(shape, np.float32)
        if part.size:
            tile[place[0] : place[0] + part.shape[0], place[1] : place[1] + part.shape[1]] = part
        assert (memory[: tile.size].reshape(shape) == tile).all()
        assert not memory[tile.size :].any()


@pytest.mark.parametrize("mode", MODES)
def test_whole_tiles(mode: str) -> None:
    wanted = parts(numbers(), mode)
    check(moved("tmov", mode, vec(32, 64), None, numbers()), wanted, (32, 64), (0, 0))


@pytest.mark.parametrize("mode", MODES)
def test_windows_of_the_accumulators(mode: str) -> None:
    """One core gets the valid region of its tile, both cores together get that of the accumulators."""
    rows, cols = (8, 32) if mode.endswith("m") else (16, 16) if mode.endswith("n") else (16, 32)
    wanted = parts(numbers()[16:32, 16:48], mode)
    check(moved("textract", mode, vec(rows, cols), (16, 16), numbers(), acc("16x32")), wanted, (rows, cols), (0, 0))


@pytest.mark.parametrize("mode", MODES[2:])
def test_halves_come_from_inside_the_accumulators(mode: str) -> None:
    with pytest.raises(ProgramError, match=r"16x32 at \(16, 48\) leaves the tile 32x64") as caught:
        moved("textract", mode, vec(16, 16), (16, 48), numbers(), acc("16x32"))
    assert caught.value.rule == "extract-bounds"


@pytest.mark.parametrize("mode", MODES[2:])
def test_halves_in_tiles_of_their_size(mode: str) -> None:
    rows, cols = (16, 64) if mode.endswith("m") else (32, 32)
    check(moved("tmov", mode, vec(rows, cols), None, numbers()), parts(numbers(), mode), (rows, cols), (0, 0))


@pytest.mark.parametrize("mode", MODES[2:])
def test_halves_in_blocks(mode: str) -> None:
    """All rows of the accumulators and whole blocks of columns are divided, whatever is valid."""
    rows, cols = (16, 48) if mode.endswith("m") else (32, 32)
    dst = vec(rows, cols).replace(">", ", blayout=col_major, slayout=row_major>")
    cores = moved("tmov", mode, dst, None, numbers(), acc("20x40"))
    for memory, part in zip(cores, parts(numbers()[:, : 48 if mode.endswith("m") else 64], mode), strict=True):
        blocks = part.reshape(rows, cols // 8, 8).transpose(1, 0, 2)
        assert (memory[: rows * cols] == blocks.reshape(-1)).all()


@pytest.mark.parametrize("mode", MODES)
def test_windows_of_the_destination(mode: str) -> None:
    wanted = parts(numbers(), mode)
    check(moved("tinsert", mode, vec(48, 96), (16, 32), numbers()), wanted, (48, 96), (16, 32))


def test_halves_are_whole() -> None:
    with pytest.raises(ProgramError, match="split_m of 15 rows"):
        moved("textract", "dual_mode_split_m", vec(16, 32), (0, 0), numbers(), acc("15x32"))
    with pytest.raises(ProgramError, match="split_n of 24 columns"):
        moved("textract", "dual_mode_split_n", vec(16, 32), (0, 0), numbers(), acc("16x24"))


@pytest.mark.parametrize("mode", MODES[1:])
def test_values_other_than_tiles_have_no_address_on_both_cores(mode: str) -> None:
    memory = "memref<32x64xf32, #pto.address_space<vec>>"
    body = f"""%m = memref.alloc() : {memory}
pto.tmov ins(%acc : {ACC}) outs(%m : {memory}) {{accToVecMode = #pto.acc_to_vec_mode<{mode}>}}"""
    with pytest.raises(ProgramError, match="only tiles have addresses on both vector cores") as caught:
        run_on_cube(body, {"acc": (ACC, numbers())})
    assert caught.value.rule == "unmodelled"
