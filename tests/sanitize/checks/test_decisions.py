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
        # What is passed on to the only block that follows decides nothing.
        ("cf.br ^a(%x : i32)\n^a(%y: i32):\n  return", None),
        ("memref.store %x, %m[%c] : memref<16xi32>\n  return", None),
        (
            "%i = arith.index_cast %x : i32 to index\n  memref.store %x, %m[%i] : memref<16xi32>\n  return",
            "the address of memref.store (line 4)",
        ),
    ],
)
def test_what_depends_on_a_number(body: str, expected: str | None) -> None:
    module = parse(f"{HEAD}  {body}\n}}\n")
    found = decides(next(op for op in module.walk() if op.name == "pto.load"))
    assert found == (None if expected is None else f"{expected} depends on it")
