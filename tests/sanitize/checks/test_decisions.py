"""What a number that is loaded leads to: control flow, an address, or arithmetic alone."""

import pytest

from pto_dialect import parse
from pto_dialect.sanitize.checks.decisions import decides

HEAD = """func.func @f(%p: !pto.ptr<i32, ub>, %m: memref<16xi32>, %c: index, %t: i1) {
  %x = pto.load %p[%c] : !pto.ptr<i32, ub> -> i32
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("%y = arith.addi %x, %x : i32\n  return", None),
        ("%b = arith.cmpi eq, %x, %x : i32\n  scf.if %b {\n  }\n  return", "scf.if (line 4)"),
        (
            "%i = arith.index_cast %x : i32 to index\n  scf.for %k = %c to %i step %c {\n  }\n  return",
            "scf.for (line 4)",
        ),
        ("cf.switch %x : i32, [\n    default: ^a,\n    1: ^b\n  ]\n^a:\n  return\n^b:\n  return", "cf.switch (line 3)"),
        ("%b = arith.cmpi eq, %x, %x : i32\n  cf.cond_br %b, ^a, ^a\n^a:\n  return", "cf.cond_br (line 4)"),
        # What is passed on to the only block that follows is redundant.
        ("cf.br ^a(%x : i32)\n^a(%y: i32):\n  return", None),
        ("memref.store %x, %m[%c] : memref<16xi32>\n  return", None),
        (
            "%i = arith.index_cast %x : i32 to index\n  memref.store %x, %m[%i] : memref<16xi32>\n  return",
            "the address of memref.store (line 4)",
        ),
        (
            "%i = arith.index_cast %x : i32 to index\n  %y = memref.load %m[%i] : memref<16xi32>\n  return",
            "the address of memref.load (line 4)",
        ),
        (
            "%i = arith.index_cast %x : i32 to index\n  %y = pto.load %p[%i] : !pto.ptr<i32, ub> -> i32\n  return",
            "offset of pto.load (line 4)",
        ),
        (
            "%i = arith.index_cast %x : i32 to index\n  %a = memref.alloc(%i) : memref<?xi32>\n  return",
            "the address of memref.alloc (line 4)",
        ),
        ("pto.store %x, %p[%c] : !pto.ptr<i32, ub>, i32\n  return", None),
        # Through a region, and once more through arithmetic.
        (
            "%y = scf.if %t -> i32 {\n  scf.yield %x : i32\n  } else {\n  scf.yield %x : i32\n  }\n"
            "  %z = arith.muli %y, %y : i32\n  %b = arith.cmpi eq, %z, %x : i32\n  scf.if %b {\n  }\n  return",
            "scf.if (line 10)",
        ),
        (
            "%y = scf.if %t -> i32 {\n  scf.yield %x : i32\n  } else {\n  scf.yield %x : i32\n  }\n"
            "  %z = arith.muli %y, %y : i32\n  return",
            None,
        ),
    ],
)
def test_what_depends_on_a_number(body: str, expected: str | None) -> None:
    module = parse(f"{HEAD}  {body}\n}}\n")
    found = decides(next(op for op in module.walk() if op.name == "pto.load"))
    assert found == (None if expected is None else f"{expected} depends on it")


def test_a_number_that_fills_what_comes_from_memory_stays_on_the_chip() -> None:
    text = HEAD.replace("%c: index", "%g: !pto.ptr<i32, gm>, %n: i64, %c: index")
    move = "pto.mte_gm_ub %g, %p, %n, %n nburst(%n, %n, %n) pad(%x)"
    types = "!pto.ptr<i32, gm>, !pto.ptr<i32, ub>, i64, i64, i64, i64, i64, pad i32"
    module = parse(f"{text}  {move} : {types}\n  return\n}}\n")
    assert decides(next(op for op in module.walk() if op.name == "pto.load")) is None


def test_a_number_that_leaves_the_chip() -> None:
    text = HEAD.replace("%c: index", "%g: !pto.ptr<i32, gm>, %c: index")
    module = parse(f"{text}  pto.store %x, %g[%c] : !pto.ptr<i32, gm>, i32\n  return\n}}\n")
    found = decides(next(op for op in module.walk() if op.name == "pto.load"))
    assert found == "pto.store (line 3) stores it to global memory"
