"""Scales lie at a sixteenth of the address of their operand. Source: docs/reference/memory-planning.md, "Packing";
docs/reference/layouts.md, "MX scales".
"""

from __future__ import annotations

import numpy as np
import pytest
from lowering_programs import lowered

from pto_dialect import parse
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.passes.assign_memory.assign import AssignMemoryPass
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

TYPES = {
    "l": "!pto.tile_buf<left, 16x64xf8E4M3FN, blayout=col_major, slayout=row_major>",
    "r": "!pto.tile_buf<right, 64x32xf8E4M3FN, slayout=col_major>",
    "s": "!pto.tile_buf<scaling, 16x2x!pto.f8E8M0, slayout=row_major, fractal=32>",
    "t": "!pto.tile_buf<scaling, 2x32x!pto.f8E8M0, blayout=col_major, slayout=col_major, fractal=32>",
    "c": "!pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>",
    "m": "!pto.tile_buf<mat, 16x64xf8E4M3FN, blayout=col_major, slayout=row_major>",
    "n": "!pto.tile_buf<mat, 64x32xf8E4M3FN, blayout=col_major, slayout=row_major>",
    "x": "!pto.tile_buf<mat, 16x2x!pto.f8E8M0, slayout=row_major, fractal=32>",
    "y": "!pto.tile_buf<mat, 2x32x!pto.f8E8M0, blayout=col_major, slayout=col_major, fractal=32>",
}


def tiles(names: str, fixed: dict[str, int] | None = None) -> list[str]:
    """Allocations; the first letter of a name is its type."""
    found: list[str] = []
    for name in names.split():
        at = (fixed or {}).get(name)
        if at is not None:
            found.append(f"%at_{name} = arith.constant {at} : i64")
        found.append(f"%{name} = pto.alloc_tile {f'addr = %at_{name} ' if at is not None else ''}: {TYPES[name[0]]}")
    return found


def move(one: str, other: str) -> str:
    return f"pto.tmov ins(%{one} : {TYPES[one[0]]}) outs(%{other} : {TYPES[other[0]]})"


def bind(operand: str, scales: str) -> str:
    return f"pto.tget_scale_addr ins(%{operand} : {TYPES[operand[0]]}) outs(%{scales} : {TYPES[scales[0]]})"


def product(a: str, s: str, b: str, t: str, c: str) -> str:
    types = ", ".join(TYPES[name[0]] for name in (a, s, b, t))
    return f"pto.tmatmul.mx ins(%{a}, %{s}, %{b}, %{t} : {types}) outs(%{c} : {TYPES[c[0]]})"


def function(*lines: str, arguments: str = "") -> str:
    body = "\n".join(f"  {line}" for line in lines)
    attributes = "attributes {pto.kernel, pto.kernel_kind = #pto.kernel_kind<cube>}"
    return (
        f'module attributes {{pto.target_arch = "a5"}} {{\nfunc.func @f({arguments}) {attributes} {{\n{body}\n'
        "  return\n}\n}\n"
    )


def addresses(text: str, reuse: str = "auto") -> dict[str, int]:
    module = parse(text, "program.pto")
    engine = DiagnosticEngine()
    AssignMemoryPass(None, reuse).run(module, engine)
    assert not engine.diagnostics, [one.message for one in engine.diagnostics]
    return {
        str(op.results[0].name_hint): op.operands[0].owner.value.value.data  # pyright: ignore
        for op in module.walk()
        if op.name == "pto.alloc_tile"
    }


def refusal(text: str) -> str:
    _, diagnostics = lowered(text, "assign-memory")
    assert [one.rule for one in diagnostics] == ["assign-memory-unsupported"]
    assert diagnostics[0].span is not None
    return diagnostics[0].message


MOVES = [move(*pair.split()) for pair in ("m l1", "n r1", "x s1", "y t1", "m l2", "n r2", "x s2", "y t2")]
PAIRS = [(f"{operand}{i}", f"{scales}{i}") for i in (1, 2) for operand, scales in ("ls", "rt")]
ALL = "m n x y l1 r1 s1 t1 l2 r2 s2 t2 c1 c2"
PRODUCTS = [product("l1", "s1", "r1", "t1", "c1"), product("l2", "s2", "r2", "t2", "c2")]


@pytest.mark.parametrize("binds", [True, False])
@pytest.mark.parametrize("reuse", ["max", "safe", "none"])
def test_scales_lie_beside_their_operands(binds: bool, reuse: str) -> None:
    bound = [bind(*pair) for pair in PAIRS] if binds else []
    found = addresses(function(*tiles(ALL), *MOVES, *bound, *PRODUCTS), reuse)
    assert found["l1"] != found["l2"]
    assert found["r1"] != found["r2"]
    assert all(found[scales] == found[operand] // 16 for operand, scales in PAIRS)


def test_an_operand_keeps_its_bytes_as_long_as_its_scales_are_needed() -> None:
    # The second operand is moved before the first product, but its scales are there before the first operand.
    lines = (move("x", "s2"), move("m", "l1"), move("x", "s1"), PRODUCTS[0], move("m", "l2"), PRODUCTS[1])
    found = addresses(function(*tiles(ALL), *lines))
    assert found["l1"] != found["l2"]
    assert [found[name] * 16 for name in ("s1", "s2")] == [found[name] for name in ("l1", "l2")]


def test_an_address_that_is_given_fixes_the_other_one() -> None:
    given = {"l1": 2048, "t1": 256}
    found = addresses(function(*tiles("l1 r1 s1 t1 c1", given), bind("l1", "s1"), bind("r1", "t1"), PRODUCTS[0]))
    assert (found["s1"], found["r1"]) == (128, 4096)


@pytest.mark.parametrize("at", [32, 64, 96, 128, 192])
def test_operands_keep_clear_of_what_belongs_to_scales_at_a_given_address(at: int) -> None:
    """An operand has 1024 bytes; it lies before the other one where it fits, else after it."""
    found = addresses(function(*tiles(ALL, {"s2": at}), *MOVES, *PRODUCTS))
    first = 0 if at * 16 >= 1024 else at * 16 + 1024
    assert (found["l2"], found["l1"], found["s1"]) == (at * 16, first, first // 16)


def test_scales_of_two_operands_at_one_address() -> None:
    one, other = (product(f"l{i}", "s1", f"r{i}", f"t{i}", f"c{i}") for i in (1, 2))
    names = "m n x y l1 r1 s1 t1 l2 r2 t2 c1 c2"
    lines = (*tiles(names), *MOVES[:4], one, move("m", "l2"), move("x", "s1"), *MOVES[5:6], MOVES[7], other)
    found = addresses(function(*lines), "max")
    assert found["l1"] == found["l2"] == found["s1"] * 16
    message = refusal(function(*tiles(names), *MOVES[:6], MOVES[7], one, other))
    assert message == (
        "assign-memory cannot follow this: two operands that have the same scales cannot lie at one address: "
        "their uses overlap"
    )


def test_addresses_that_do_not_fit_are_refused() -> None:
    def said(given: dict[str, int], *more: str) -> str:
        return refusal(function(*tiles("l1 l2 r1 s1 t1 c1", given), *more, PRODUCTS[0]))

    assert "multiples of 256, not at 32" in said({"l1": 32})
    assert "multiples of 512, not at 256" in said({"s1": 16})
    assert "at another address already" in said({"l1": 0, "l2": 1024}, bind("l2", "s1"))
    assert "other tiles have these bytes" in said({"s1": 32, "l2": 512})


def test_scales_of_arguments_lie_anywhere() -> None:
    lines = (*tiles("s1 r1 t1 c1"), PRODUCTS[0])
    assert addresses(function(*lines, arguments=f"%l1: {TYPES['l']}"))["s1"] == 0


def test_a_product_reads_what_was_moved_before_the_scales_were_bound() -> None:
    pointers = "%a: !pto.ptr<!pto.f8E8M0>, %b: !pto.ptr<!pto.f8E8M0>, %o: !pto.ptr<f32>, %p: !pto.ptr<f8E4M3FN>"
    numbers = [f"%n{n} = arith.constant {n} : index" for n in (0, 1, 2, 16, 32, 64)]
    views: list[str] = []
    for name, pointer, element, rows, cols, to in (
        ("va", "a", "!pto.f8E8M0", 16, 2, "x"),
        ("vb", "b", "!pto.f8E8M0", 2, 32, "y"),
        ("vo", "o", "f32", 16, 32, ""),
        ("vp", "p", "f8E4M3FN", 16, 64, "m"),
        ("vq", "p", "f8E4M3FN", 64, 32, "n"),
    ):
        view, part = f"!pto.tensor_view<?x?x{element}>", f"!pto.partition_tensor_view<{rows}x{cols}x{element}>"
        sizes = f"[%n{rows}, %n{cols}]"
        views += [
            f"%{name} = pto.make_tensor_view %{pointer}, shape = {sizes}, strides = [%n{cols}, %n1] : {view}",
            f"%{name}p = pto.partition_view %{name}, offsets = [%n0, %n0], sizes = {sizes} : {view}",
        ]
        if to:
            views.append(f"pto.tload ins(%{name}p : {part}) outs(%{to} : {TYPES[to]})")
    store = f"pto.tstore ins(%c2 : {TYPES['c']}) outs(%vop : !pto.partition_tensor_view<16x32xf32>)"
    bound = [bind(*pair) for pair in PAIRS]
    text = function(*numbers, *tiles(ALL), *views, *MOVES, *bound,
                    PRODUCTS[0], PRODUCTS[1], store, arguments=pointers)  # fmt: skip
    module, diagnostics = lowered(text, "assign-memory")
    assert not diagnostics
    scales = [np.full(shape, number, np.uint8) for shape, number in (((16, 2), 128), ((2, 32), 129))]
    ones = np.full(2048, 0x38, np.uint8)
    found = np.zeros((16, 32), np.float32)
    Kernel(module, None, None, RunOptions()).run([*scales, found, ones], 1)
    assert (found == 64 * 2 * 4).all()
