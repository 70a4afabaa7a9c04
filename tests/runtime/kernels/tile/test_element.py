"""Single elements of tiles (docs/reference/tiles.md, "Irregular operations")."""

from __future__ import annotations

import numpy as np
import pytest
from tile_run_helpers import run, tile
from tile_values import edges, is_float, same

from pto_dialect.runtime.errors import ProgramError


@pytest.mark.parametrize("element", ["i8", "i16", "i32", "f16", "bf16", "f32"])
def test_elements_move_without_change(element: str) -> None:
    """Every edge value read from one tile and written to another."""
    source = np.resize(edges(element), (4, 32))
    lines = []
    for k in range(16):
        lines += [
            f"%k{k} = arith.constant {k} : index", f"%j{k} = arith.constant {40 + k} : index",
            f"%v{k} = pto.tgetval ins(%a, %k{k} : {{a}}, index) outs : {element}",
            f"pto.tsetval ins(%j{k}, %v{k} : index, {element}) outs(%d : {{d}})",
        ]  # fmt: skip
    before = np.ones((4, 32), source.dtype)
    found = run("\n".join(lines), tile("a", element, source), tile("d", element, before))["d"]
    wanted = before.reshape(-1).copy()
    wanted[40:56] = source.reshape(-1)[:16]
    same(found, wanted.reshape(4, 32))
    if is_float(element):
        assert np.signbit(found.reshape(-1)[41].astype(np.float32))


def test_elements_count_in_memory_order() -> None:
    """Column-major tiles count down their columns."""
    source = np.arange(8 * 8, dtype=np.float32).reshape(8, 8)
    found = run(
        "%k = arith.constant 10 : index\n%v = pto.tgetval ins(%a, %k : {a}, index) outs : f32\n"
        "pto.tsetval ins(%k, %v : index, f32) outs(%d : {d})",
        tile("a", "f32", source, layout="blayout=col_major"), tile("d", "f32", np.zeros((8, 8))),
    )["d"]  # fmt: skip
    assert found[1, 2] == source[2, 1]


def test_an_element_feeds_scalar_arithmetic() -> None:
    source = np.arange(16, dtype=np.int32).reshape(2, 8)
    found = run(
        "%k = arith.constant 5 : index\n%v = pto.tgetval ins(%a, %k : {a}, index) outs : i32\n"
        "%w = arith.muli %v, %v : i32\npto.tadds ins(%a, %w : {a}, i32) outs(%a : {a})",
        tile("a", "i32", source),
    )["a"]
    same(found, source + 25)


@pytest.mark.parametrize("offset", [-1, 1 << 20])
def test_outside_the_memory(offset: int) -> None:
    with pytest.raises(ProgramError) as error:
        run(
            f"%k = arith.constant {offset} : index\n%v = pto.tgetval ins(%a, %k : {{a}}, index) outs : f32\n"
            "pto.texpands ins(%v : f32) outs(%a : {a})",
            tile("a", "f32", np.zeros((2, 8))),
        )
    assert error.value.rule == "mem-oob"


@pytest.mark.parametrize(("source", "target"), [("f32", "i32"), ("i32", "f32"), ("f16", "i16")])
def test_move_between_elements_of_one_size_copies_bits(source: str, target: str) -> None:
    values = np.resize(edges(source), (4, 32))
    before = np.ones((4, 32), edges(target).dtype)
    found = run("pto.tmov ins(%a : {a}) outs(%d : {d})", tile("a", source, values), tile("d", target, before))["d"]
    assert found.tobytes() == values.tobytes()
