"""An instrumented run says what it did not check."""

import numpy as np
from sanitize_programs import barrier, found, instrumented, load, program, set_flag, store, ub, wait_flag

from pto_dialect.sanitize.unchecked import unchecked

X = ub("x", 0)
TILES = """func.func @k() attributes {pto.kernel} {
  %one = arith.constant 1.0 : f32
  %x = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  pto.texpands ins(%one : f32) outs(%x : !pto.tile_buf<vec, 16x16xf32>)
  return
}"""


def left_out(text: str, values: list[np.ndarray] | None = None, **options: object) -> list[str]:
    kernel = instrumented(text, **options)
    kernel.run([np.zeros(64, np.float32), np.zeros(64, np.float32)] if values is None else values)
    return unchecked(kernel)


def test_a_run_that_checks_everything_says_nothing():
    assert not left_out(TILES, [], sync="strict")


def test_the_order_of_the_pipes_is_the_compilers():
    (line,) = left_out(TILES, [])
    assert line.startswith("order of the pipes") and "--sync strict" in line


def test_the_order_of_the_pipes_is_not_reported_again_without_races():
    lines = left_out(TILES, [], checks=("init", "bounds"))
    assert lines == ["race, deadlock, overlap, cache, sync: not selected"]


def test_checks_that_were_not_requested():
    assert "race, deadlock, bounds, overlap, cache, sync: not selected" in left_out(TILES, [], checks=("init",))


def test_operations_that_were_not_reached():
    never = ["%never = arith.cmpi eq, %c0, %c1 : i64", "scf.if %never {", store("%x"), "}"]
    lines = left_out(program(X, load("%x"), barrier("ALL"), *never))
    assert any(line.startswith("1 operation that this run did not get to (line ") for line in lines)
    assert not any("did not get to" in line for line in left_out(program(X, load("%x"), barrier("ALL"), store("%x"))))


def test_operations_of_other_dialects_and_allocations_that_were_not_reached():
    """What only makes a handle is nothing to miss."""
    view = "%never = arith.cmpi eq, %c0, %c1 : i64"
    tile = "%t = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>"
    memory = "%m = memref.alloca() : memref<4xf32>"
    for lines, told in (([tile], False), ([memory, "%v = memref.load %m[%i0] : memref<4xf32>"], True)):
        text = program(view, "scf.if %never {", *lines, "}")
        assert any("1 operation that this run did not get to" in line for line in left_out(text)) == told


def test_pointers_made_from_numbers_have_no_tile():
    (line,) = left_out(program(X, load("%x"), barrier("ALL"), store("%x")))
    assert line.startswith("overlap of memory at 1 pointer made from numbers (line ")
    others = (
        "%y = pto.castptr %x : !pto.ptr<f32, ub> -> !pto.ptr<i32, ub>",
        "%g = pto.castptr %c64 : i64 -> !pto.ptr<f32, gm>",
    )
    assert left_out(program(X, *others, load("%x"), barrier("ALL"), store("%x"))) == [line]


def test_other_engines_copy_after_all_pipes_and_nobody_checks_the_wait():
    """The store on MTE3 has ended when the engine reads what it stores."""
    tensor, part, session = "!pto.tensor_view<64xf32>", "!pto.partition_tensor_view<16xf32>", "!pto.async_session"
    scratch = "!pto.tile_buf<vec, 1x256xi8>"

    def view(name: str, offset: int) -> list[str]:
        at = f"%{name}at = arith.constant {offset} : index"
        whole = f"%{name}w = pto.make_tensor_view %b, shape = [%n], strides = [%i1] : {tensor}"
        sizes = f"%{name} = pto.partition_view %{name}w, offsets = [%{name}at], sizes = [%s] : {tensor} -> {part}"
        return [at, whole, sizes]

    lines = [
        *("%n = arith.constant 64 : index", "%s = arith.constant 16 : index", *view("from", 0), *view("to", 16)),
        f"%t = pto.alloc_tile addr = %c1024 : {scratch}",
        "%bytes = pto.castptr %b : !pto.ptr<f32, gm> -> !pto.ptr<i8, gm>",
        f"%e = pto.comm.build_async_session(%t, %bytes : {scratch}, !pto.ptr<i8, gm>) -> {session}",
        *(load("%x"), set_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3"), store("%x")),
        f"%done = pto.comm.tput_async(%to, %from, %e : {part}, {part}, {session}) -> !pto.async_event",
    ]
    text = program(X, "%c1024 = arith.constant 1024 : i64", *lines)
    values = [np.arange(64, dtype=np.float32), np.zeros(64, np.float32)]
    kernel = instrumented(text)
    kernel.run(values)
    assert not kernel.observer.findings.all
    assert values[1].tolist() == [*range(16), *range(16), *[0] * 32]
    assert any("before an asynchronous transfer has ended (line " in line for line in unchecked(kernel))
    assert not found(text)
