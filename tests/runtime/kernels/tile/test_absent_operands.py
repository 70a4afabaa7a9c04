"""Operands that an operation may leave out, and those that nobody has verified: what a run does without them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from run_time_tiles import table

import pto_dialect
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.kernels.cube.held import HeldLoad
from pto_dialect.runtime.memory.gm_parts import GmParts
from pto_dialect.runtime.memory.spaces import Arena
from pto_dialect.runtime.memory.values import GmTensor
from pto_dialect.runtime.numerics.formats import format_of

LIST, PAIRS = "!pto.tile<1x64xf32>", "!pto.tile<1x128xf32>"


def unverified(body: str, arguments: str, values: dict[str, Any], result: str = "") -> Any:
    head = f'module attributes {{pto.target_arch = "a5"}} {{\nfunc.func @k({arguments}){result} {{\n'
    return pto_dialect.run(pto_dialect.parse(f"{head}{body}\n}}\n}}"), values, verify=False)


def records(scores: list[int]) -> np.ndarray:
    found = np.zeros((1, 2 * len(scores)), np.float32)
    found[0, ::2] = sorted(scores, reverse=True)
    return found


@pytest.mark.parametrize("counts", [True, False])
def test_merged_lists_with_and_without_counts(counts: bool) -> None:
    """A value form has a second result where somebody wants to know how many records were taken of each list."""
    rng = np.random.default_rng(1)
    scores = [rng.integers(0, 1000, 32).tolist() for _ in range(2)]
    out = np.zeros((1, 128), np.float32)
    results = f"({PAIRS}, vector<4xi16>)" if counts else PAIRS
    names = "%m, %n" if counts else "%m"
    view, part = "!pto.tensor_view<1x128xf32>", "!pto.partition_tensor_view<1x128xf32>"
    body = f"""%c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    %v = pto.make_tensor_view %d, shape = [%c1, %c128], strides = [%c128, %c1] : {view}
    %w = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c1, %c128] : {view} -> {part}
    {names} = pto.tmrgsort %a, %b, %t : ({LIST}, {LIST}, {PAIRS}) -> {results}
    pto.tstore ins(%m : {PAIRS}) outs(%w : {part})
    return"""
    text = f"%a: {LIST}, %b: {LIST}, %t: {PAIRS}, %d: !pto.ptr<f32>"
    given = {"a": records(scores[0]), "b": records(scores[1]), "t": np.zeros((1, 128), np.float32), "d": out}
    found = unverified(body, text, given)["d"]
    assert np.asarray(found).reshape(-1)[::2].tolist() == sorted(scores[0] + scores[1], reverse=True)


TILE, INDEX = "!pto.tile_buf<vec, 8x16xf32>", "!pto.tile_buf<vec, 8x16xi32>"


@pytest.mark.parametrize("kind", ["tile", "pointer"])
@pytest.mark.parametrize("name", ["mgather", "mscatter"])
def test_tables_are_views(kind: str, name: str) -> None:
    """A tile has no locations in global memory, and a pointer has no rows."""
    type_ = TILE if kind == "tile" else "!pto.ptr<f32>"
    value = np.zeros((8, 16) if kind == "tile" else 128, np.float32)
    operands = (f"ins(%p, %i : {type_}, {INDEX}) outs(%t : {TILE})" if name == "mgather"
                else f"ins(%t, %i : {TILE}, {INDEX}) outs(%p : {type_})")  # fmt: skip
    arguments = f"%p: {type_}, %t: {TILE}, %i: {INDEX}"
    given = {"p": value, "t": np.zeros((8, 16), np.float32), "i": np.zeros((8, 16), np.int32)}
    with pytest.raises(ProgramError) as caught:
        unverified(f"pto.{name} {operands}\nreturn", arguments, given)
    assert (caught.value.rule, caught.value.message) == ("unmodelled", f"pto.{name} needs a view of global memory")


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize(("sizes", "covers"), [((4, 8), True), ((2, 8), False), ((4, 6), False)])
def test_a_part_that_covers_its_tile_is_widened_once(sizes: tuple[int, int], covers: bool, constant: bool) -> None:
    """What it does not cover stays as it was, also the next time."""
    view = table(8, 8)
    view.pointer.arena.constant = constant
    parts, load = GmParts(view, sizes), HeldLoad(format_of("f32"), 4, 8)
    for distance, before in ((8, -1.0), (8, -2.0), (16, -3.0)):
        found = load.of_part(parts, distance, np.full((4, 8), before, np.float32))
        wanted = np.full((4, 8), before)
        wanted[: sizes[0], : sizes[1]] = np.arange(64).reshape(8, 8)[distance // 8 :][: sizes[0], : sizes[1]]
        assert (found == wanted).all()
    assert parts.kept is None if not constant else len(parts.kept or ()) == (2 if covers else 0)


def test_parts_are_cached_within_the_limit() -> None:
    """However many there are, each has its own numbers."""
    fmt = format_of("f32")
    arena = Arena.from_array(np.arange(40000, dtype=np.float32))
    arena.constant = True
    parts = GmParts(GmTensor(arena.pointer(0, fmt.storage), (40000, 1), (1, 1), fmt), (1, 1))
    load = HeldLoad(fmt, 1, 1)
    for distance in (*range(5000), *range(5000)):
        assert load.of_part(parts, distance, np.zeros((1, 1), np.float32))[0, 0] == distance
