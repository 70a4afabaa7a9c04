"""A watched run says what it did not check."""

import numpy as np
from sanitize_programs import barrier, load, program, store, ub, watched

from pto_dialect.sanitize.report.unchecked import unchecked

X = ub("x", 0)
TILES = """func.func @k() attributes {pto.kernel} {
  %one = arith.constant 1.0 : f32
  %x = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  pto.texpands ins(%one : f32) outs(%x : !pto.tile_buf<vec, 16x16xf32>)
  return
}"""


def left_out(text: str, values: list[np.ndarray] | None = None, **options: object) -> list[str]:
    kernel = watched(text, **options)
    kernel.run([np.zeros(64, np.float32), np.zeros(64, np.float32)] if values is None else values)
    return unchecked(kernel)


def test_a_run_that_checks_everything_says_nothing():
    assert not left_out(TILES, [], sync="strict")


def test_the_order_of_the_pipes_is_the_compilers():
    (line,) = left_out(TILES, [])
    assert line.startswith("order of the pipes") and "--sync strict" in line


def test_checks_that_were_not_asked_for():
    assert "race, deadlock, bounds, overlap, sync: not asked for" in left_out(TILES, [], checks=("init",))


def test_operations_that_were_not_reached():
    never = ["%never = arith.cmpi eq, %c0, %c1 : i64", "scf.if %never {", store("%x"), "}"]
    lines = left_out(program(X, load("%x"), barrier("ALL"), *never))
    assert any(line.startswith("1 operation that this run did not get to (line ") for line in lines)
    assert not any("did not get to" in line for line in left_out(program(X, load("%x"), barrier("ALL"), store("%x"))))


def test_pointers_made_from_numbers_have_no_tile():
    (line,) = left_out(program(X, load("%x"), barrier("ALL"), store("%x")))
    assert line.startswith("overlap of memory behind 1 pointer made from numbers (line ")
