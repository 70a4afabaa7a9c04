"""Sorting as instructions on memory. Source: docs/reference/tiles.md, "Irregular operations"."""

import numpy as np
import pytest
from cube_programs import Program, lowered, refusals

from pto_dialect import print_module

RNG = np.random.default_rng(47)


def program(rows: int, cols: int, merges: bool) -> Program:
    """Scores and positions sorted in groups of 32, and with ``merges`` four groups each merged."""
    found = Program(a="f32", i="i32", c="f32")
    for name, array, width in (("x", "a", cols), ("k", "i", cols), ("z", "c", 2 * cols)):
        kind = "i32" if name == "k" else "f32"
        found.view(f"v{name}", array, (rows, width), (width, 1))
        found.tile(name, "vec", rows, width, kind)
    found.op("tload", "vx", to="x")
    found.op("tload", "vk", to="k")
    found.op("tsort32", "x", "k", to="z")
    if merges:
        found.tile("w", "vec", rows, 2 * cols, "f32")
        found.tiles.append("%block = arith.constant 64 : i32")
        found.op("tmrgsort", "z", to="w", extra=", %block", extra_types=", i32")
    found.op("tstore", "w" if merges else "z", to="vz")
    return found


def sorted_records(a, i, group: int):
    """Records of each group, largest score first."""
    found = []
    for row, places in zip(a, i, strict=True):
        for start in range(0, row.size, group):
            order = np.argsort(-row[start : start + group], kind="stable") + start
            for place in order:
                found += [row[place : place + 1].view(np.uint32)[0], places[place]]
    return np.array(found, np.uint32)


@pytest.mark.parametrize(("rows", "cols", "merges"), [(3, 64, False), (1, 256, True)])
def test_records_are_sorted(rows, cols, merges):
    a = RNG.integers(-20, 20, (rows, cols)).astype(np.float32)
    i = np.arange(rows * cols, dtype=np.int32).reshape(rows, cols)
    out = np.zeros((rows, 2 * cols), np.float32)
    module, found = lowered(program(rows, cols, merges), "lower-vector", a=a, i=i, c=out)
    text = print_module(module)
    assert "tsort32" not in text
    assert "tmrgsort" not in text
    assert np.array_equal(found["c"].reshape(-1).view(np.uint32), sorted_records(a, i, 128 if merges else 32))


def test_groups_that_are_not_full_are_refused():
    found = program(1, 64, False)
    part = found.types["x"].replace("1x64xf32", "1x64xf32, valid=1x40")
    found.tiles = [line.replace(found.types["x"], part) for line in found.tiles]
    found.lines = [line.replace(f"(%x : {found.types['x']}", f"(%x : {part}") for line in found.lines]
    found.lines = [line.replace(f"%k : {found.types['x']}", f"%k : {part}") for line in found.lines]
    reason = "the backends fill a group of less than 32 scores differently"
    assert refusals(found, "lower-vector") == [f"pto.tsort32: {reason}"]


def test_blocks_that_are_left_over_are_refused():
    found = program(1, 64, True)
    reason = "the backends treat blocks that are left over differently"
    assert refusals(found, "lower-vector") == [f"pto.tmrgsort: {reason}"]
