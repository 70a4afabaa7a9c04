"""Which programs depend on the contents of memory. Source: docs/reference/cycles.md, "Times without contents"."""

from __future__ import annotations

import pytest

from pto_dialect import parse
from pto_dialect.sanitize.times.model import times_kernel

TILE = "!pto.tile_buf<vec, 8x64xf32>"
VIEW, PART = "!pto.tensor_view<?x?xf32>", "!pto.partition_tensor_view<8x64xf32>"
COUNTS = "!pto.tile_buf<vec, 8x64xi32>"


def program(body: str) -> str:
    return f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @k(%table: !pto.ptr<i32, gm>, %out: !pto.ptr<f32, gm>) attributes {{pto.entry}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0 : i32
    %at = arith.constant 0 : i64
    %two = arith.constant 4096 : i64
    %three = arith.constant 8192 : i64
    %v = pto.make_tensor_view %out, shape = [%c64, %c64], strides = [%c64, %c1] : {VIEW}
    %p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c8, %c64] : {VIEW} -> {PART}
    %x = pto.alloc_tile addr = %at : {TILE}
    %y = pto.alloc_tile addr = %two : {TILE}
    %n = pto.alloc_tile addr = %three : {COUNTS}
{body}
    pto.tstore ins(%x : {TILE}) outs(%p : {PART})
    return
  }}
}}
"""


READ = "%s = pto.load_scalar %table[%c0] : !pto.ptr<i32, gm> -> i32"
INNER = "%s = pto.tgetval ins(%n, %c0 : !pto.tile_buf<vec, 8x64xi32>, index) outs : i32"
BRANCH = f"""%is = arith.cmpi eq, %s, %zero : i32
    scf.if %is {{
      pto.texp ins(%y : {TILE}) outs(%x : {TILE})
    }}"""
COMPUTE = f"""%f = arith.sitofp %s : i32 to f32
    pto.tmuls ins(%y, %f : {TILE}, f32) outs(%x : {TILE})"""
BOUND = f"""%end = arith.index_cast %s : i32 to index
    scf.for %i = %c0 to %end step %c1 {{
      pto.texp ins(%y : {TILE}) outs(%x : {TILE})
    }}"""
CARRIED = f"""%last = scf.for %i = %c0 to %c8 step %c1 iter_args(%old = %zero) -> i32 {{
      %new = pto.tgetval ins(%n, %i : {COUNTS}, index) outs : i32
      scf.yield %new : i32
    }}
    %is = arith.cmpi eq, %last, %zero : i32
    scf.if %is {{
      pto.texp ins(%y : {TILE}) outs(%x : {TILE})
    }}"""
DIVISOR = "%q = arith.divsi %zero, %s : i32"
GATHER = f"pto.tgather ins(%y, %n : {TILE}, {COUNTS}) outs(%x : {TILE})"


@pytest.mark.parametrize(
    ("body", "operation"),
    [
        (f"    pto.texp ins(%y : {TILE}) outs(%x : {TILE})", None),
        (f"    {READ}\n    {BRANCH}", None),
        (f"    {READ}\n    {BOUND}", None),
        (f"    {INNER}\n    {COMPUTE}", None),
        (f"    {INNER}\n    {BRANCH}", "scf.if"),
        (f"    {INNER}\n    {BOUND}", "scf.for"),
        (f"    {INNER}\n    {DIVISOR}", "arith.divsi"),
        (f"    {CARRIED}", "scf.if"),
        (f"    {GATHER}", "pto.tgather"),
    ],
)
def test_the_first_operation_that_depends_on_contents_is_found(body: str, operation: str | None) -> None:
    kernel = times_kernel(parse(program(body)))
    found = kernel.dependence.operation
    assert (None if found is None else found.name) == operation


def test_the_scalar_unit_needs_the_contents_of_what_it_reads() -> None:
    kernel = times_kernel(parse(program(f"    {READ}\n    {BOUND}")))
    assert {value.name_hint for value in kernel.dependence.needed} == {"table"}


def test_an_argument_that_is_written_has_no_known_contents() -> None:
    store = "pto.store_scalar %zero, %table[%c0] : !pto.ptr<i32, gm>, i32"
    kernel = times_kernel(parse(program(f"    {store}\n    {READ}\n    {BRANCH}")))
    found = kernel.dependence.operation
    assert found is not None and found.name == "scf.if"


CALLED = """func.func @twice(%s: i32) -> i32 {
    %zero = arith.constant 0 : i32
    %sum = arith.addi %s, %s : i32
    BODY
    return %sum : i32
  }
}"""
CALL = "%d = func.call @twice(%s) : (i32) -> i32"


@pytest.mark.parametrize(
    ("body", "inside", "operation"),
    [
        # The result is made of contents, or its operand is.
        (f"    {INNER}\n    {CALL}\n    {BRANCH.replace('%s,', '%d,')}", "", "scf.if"),
        (f"    {INNER}\n    {CALL}", "%q = arith.divsi %zero, %s : i32", "arith.divsi"),
        (f"    {READ}\n    {CALL}\n    {BRANCH.replace('%s,', '%d,')}", "", None),
        (f"    {INNER}\n    {CALL}", "", None),
    ],
)
def test_calls_pass_contents_on(body: str, inside: str, operation: str | None) -> None:
    text = program(body).rstrip().removesuffix("}") + CALLED.replace("BODY", inside)
    found = times_kernel(parse(text)).dependence.operation
    assert (None if found is None else found.name) == operation
