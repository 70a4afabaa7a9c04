"""Numbers without a stated width, constants that no decimal says, and blocks of a region that nothing branches to.

Source: docs/reference/core-operations.md, "arith".
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from function_programs import run

import pto_dialect
from pto_dialect.runtime.errors import ProgramError

WORD = 1 << 64
NUMBERS = [0, 1, 2, 6, 1 << 32, (1 << 63) - 1, 1 << 62, -1, -6, -(1 << 63)]


def signed(value: int) -> int:
    return (value + (WORD >> 1)) % WORD - (WORD >> 1)


@pytest.mark.parametrize("value", NUMBERS)
def test_bits_of_a_number_that_counts(value: int) -> None:
    """An index has 64 bits."""
    body = """%z = math.ctlz %a : index
    %t = math.cttz %a : index
    %p = math.ctpop %a : index"""
    text = f"{value % WORD:064b}"
    wanted = [len(text) - len(text.lstrip("0")), len(text) - len(text.rstrip("0")), text.count("1")]
    assert run(body, {"a": ("index", value)}, dict.fromkeys("ztp", "index")) == wanted


@pytest.mark.parametrize("a", NUMBERS)
@pytest.mark.parametrize("b", NUMBERS)
def test_sums_and_products_of_numbers_that_count(a: int, b: int) -> None:
    body = """%s, %o = arith.addui_extended %a, %b : index, i1
    %sl, %sh = arith.mulsi_extended %a, %b : index
    %ul, %uh = arith.mului_extended %a, %b : index"""
    names = {"s": "index", "o": "i1", **dict.fromkeys(("sl", "sh", "ul", "uh"), "index")}
    total, product, positive = a % WORD + b % WORD, a * b, (a % WORD) * (b % WORD)
    wanted = [signed(total), total >= WORD, signed(product), signed(product >> 64), signed(positive),
              signed(positive >> 64)]  # fmt: skip
    assert run(body, {"a": ("index", a), "b": ("index", b)}, names) == wanted


@pytest.mark.parametrize(("bits", "type_", "value"), [
    ("0x7FC00000", "f32", math.nan), ("0x7F800000", "f32", math.inf), ("0xFF800000", "f32", -math.inf),
    ("0x7E00", "f16", math.nan), ("0x7FF8000000000000", "f64", math.nan), ("0x3FC00000", "f32", 1.5),
    ("0x80000000", "f32", -0.0),
])  # fmt: skip
def test_constants_that_are_given_by_their_bits(bits: str, type_: str, value: float) -> None:
    (found,) = run(f"%x = arith.constant {bits} : {type_}", {}, {"x": type_})
    np.testing.assert_array_equal(found, value)
    assert math.copysign(1, found) == math.copysign(1, value)


def unverified(body: str, values: dict[str, Any], arguments: str, target: str = "a5") -> dict[str, Any]:
    text = f'module attributes {{pto.target_arch = "{target}"}} {{\nfunc.func @k({arguments}) {{\n{body}\n}}\n}}'
    return pto_dialect.run(pto_dialect.parse(text), values, verify=False)


def test_a_yield_outside_of_a_region_is_refused() -> None:
    """A function has blocks that return; nothing takes what one yields."""
    body = """cf.br ^next
    ^next:
    "scf.yield"() : () -> ()"""
    with pytest.raises(ProgramError) as caught:
        unverified(body, {"a": 1}, "%a: i32")
    assert (caught.value.rule, "scf.yield cannot be executed" in caught.value.message) == ("unmodelled", True)


def test_memory_whose_rows_lie_apart() -> None:
    """Elements after a row belong to no row: 4 rows of 3, 5 apart, seen row after row."""
    strided = "memref<4x3xi32, strided<[5, 1]>>"
    body = f"""%m = memref.alloc() : {strided}
    %all = memref.reinterpret_cast %m to offset: [0], sizes: [18], strides: [1] : {strided} to memref<18xi32>
    scf.for %i = %c0 to %c18 step %c1 {{
      %v = arith.index_cast %i : index to i32
      memref.store %v, %all[%i] : memref<18xi32>
    }}
    %x = memref.load %m[%c3, %c2] : {strided}
    %y = memref.load %m[%c1, %c0] : {strided}
    %z = memref.load %m[%c0, %c2] : {strided}"""
    assert run(body, {}, dict.fromkeys("xyz", "i32")) == [17, 5, 2]


ADDRESS = '%p = "memref.extract_aligned_pointer_as_index"'


@pytest.mark.parametrize(("layout", "known"), [
    ("strided<[8, 1]>", True), ("strided<[8, 1], offset: 0>", True), ("strided<[8, 1], offset: 4>", False),
    ("strided<[8, 1], offset: ?>", False),
])  # fmt: skip
def test_where_memory_begins_of_which_a_view_shows_a_part(layout: str, known: bool) -> None:
    """A view without an offset begins there itself."""
    view = f"memref<2x4xi32, {layout}>"
    body = f"""%m = memref.alloc() : memref<4x8xi32>
    %q = "memref.extract_aligned_pointer_as_index"(%m) : (memref<4x8xi32>) -> index
    %w = memref.subview %m[0, {0 if known else 4}] [2, 4] [1, 1] : memref<4x8xi32> to {view}
    {ADDRESS}(%w) : ({view}) -> index
    %d = arith.subi %p, %q : index"""
    if known:
        assert run(body, {}, {"d": "index"}) == [0]
    else:
        with pytest.raises(ProgramError) as caught:
            unverified(f"{body}\nreturn", {"a": 1}, "%a: i32")
        assert caught.value.rule == "unmodelled"


@pytest.mark.parametrize("shape", ["?x4", "4x?"])
def test_a_tile_is_no_memory_of_unknown_extents(shape: str) -> None:
    tile, memref = "!pto.tile_buf<vec, 4x8xf32>", f"memref<{shape}xf32, #pto.address_space<vec>>"
    body = f"""%t = pto.alloc_tile : {tile}
    %m = pto.simd.tile_to_memref %t : {tile} to {memref}
    return"""
    with pytest.raises(ProgramError) as caught:
        unverified(body, {"a": 1}, "%a: i32")
    assert caught.value.message == f"{memref} does not say which elements it has"
