"""Launches: dimensions, sections, calls, retained values, memory of work-items, and what stops a run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from parse_helpers import parsed
from simt_programs import kernel, run, source

from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.runtime.simt.items import geometry_of

OUT = "%out: !pto.ptr<i32, gm>"
PAIR = "%in: !pto.ptr<i32, gm>, %out: !pto.ptr<i32, gm>"


def module_kernel(text: str, **options: Any) -> Kernel:
    head = 'module attributes {pto.target_arch = "a5", pto.kernel_kind = #pto.kernel_kind<vector>} {\n'
    module, found = parsed(f"{head}{text}\n}}")
    assert not found, found
    return Kernel(module, "k", None, RunOptions(**options))


@pytest.mark.parametrize("dims", [(1, 1, 1), (5, 3, 2), (32, 32, 1), (7, 1, 9), (2048, 1, 1)])
def test_coordinates(dims: tuple[int, int, int]) -> None:
    body = """
      %high = arith.shli %tid_z, %i16 : i32
      %middle = arith.shli %tid_y, %i8 : i32
      %a = arith.ori %high, %middle : i32
      %v = arith.xori %a, %tid_x : i32
      pto.stg %v, %out[%at] : !pto.ptr<i32, gm>, i32
    """
    x, y, z = dims
    out = np.full(x * y * z, -1, np.int32)
    run(body, OUT, out, dims=dims)
    np.testing.assert_array_equal(out, [k << 16 | j << 8 ^ i for k in range(z) for j in range(y) for i in range(x)])


def test_a_launch_of_no_work_items_does_nothing() -> None:
    out = np.full(4, -1, np.int32)
    run("pto.stg %tid, %out[%c0] : !pto.ptr<i32, gm>, i32", OUT, out, dims=(0, 4, 1))
    assert out.tolist() == [-1] * 4


def test_too_many_work_items() -> None:
    text = source("", OUT, (0, 1, 1)).replace("%x = arith.constant 0", "%x = arith.constant 2049")
    with pytest.raises(ProgramError, match="2049x1x1 work-items") as raised:
        module, _ = parsed(text)
        Kernel(module, "k", None, RunOptions()).run([np.zeros(4, np.int32)])
    assert raised.value.rule == "simt-max-threads"


@pytest.mark.parametrize(
    ("dims", "fits"),
    [((2048, 1, 1), True), ((16, 16, 8), True), ((2049, 1, 1), False), ((0, 9999, 9999), True), ((-1, 4, 1), False),
     ((-2, -3, 1), False), ((0, -1, 1), False), ((64, 33, 1), False)],
)  # fmt: skip
def test_dimensions_of_a_launch(dims: tuple[int, int, int], fits: bool) -> None:
    """At most 2048 work-items, and no dimension below 0, whatever their product."""
    if fits:
        assert geometry_of(dims).count == dims[0] * dims[1] * dims[2]
    else:
        with pytest.raises(Fault, match="at most 2048 run at once") as raised:
            geometry_of(dims)
        assert raised.value.rule == "simt-max-threads"


def test_blocks_of_a_grid() -> None:
    body = """
      %b = pto.get_block_idx_x : i32
      %n = pto.get_grid_dim_x : i32
      %m = pto.get_grid_dim_y : i32
      %w = arith.muli %b, %dim_x : i32
      %i = arith.addi %w, %tid_x : i32
      %to = arith.index_cast %i : i32 to index
      %nm = arith.muli %n, %i100 : i32
      %v = arith.addi %nm, %m : i32
      pto.stg %v, %out[%to] : !pto.ptr<i32, gm>, i32
    """
    out = np.zeros(12, np.int32)
    kernel(source(body, OUT, (4, 1, 1))).run([out], blocks=3)
    assert out.tolist() == [301] * 12
    single = np.full(4, -1, np.int32)
    kernel(source(body, OUT, (4, 1, 1))).run([single])
    assert single.tolist() == [0] * 4


def test_the_clock_advances() -> None:
    body = """
      %a = pto.get_clock32 : i32
      %b = pto.get_clock64 : i64
      %w = arith.extsi %a : i32 to i64
      %later = arith.cmpi sgt, %b, %w : i64
      %v = arith.extui %later : i1 to i32
      pto.stg %v, %out[%at] : !pto.ptr<i32, gm>, i32
    """
    out = np.zeros(3, np.int32)
    run(body, OUT, out, dims=(3, 1, 1))
    assert out.tolist() == [1, 1, 1]


def test_a_section_in_a_loop_uses_values_around_it() -> None:
    text = """
    func.func @k(%out: !pto.ptr<i32, gm>, %n: i32) attributes {pto.kernel} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %width = arith.constant 40 : index
      scf.for %i = %c0 to %c3 step %c1 {
        %start = arith.muli %i, %width : index
        pto.section.simt<<<20, 2, 1>>> {
          %x = pto.get_tid_x : i32
          %y = pto.get_tid_y : i32
          %dim = pto.get_block_dim_x : i32
          %r = arith.muli %y, %dim : i32
          %t = arith.addi %r, %x : i32
          %j = arith.index_cast %t : i32 to index
          %at = arith.addi %start, %j : index
          %v = arith.addi %t, %n : i32
          pto.store %v, %out[%at] : !pto.ptr<i32, gm>, i32
        }
      }
      return
    }
    """
    out = np.zeros(120, np.int32)
    module_kernel(text).run([out, 1000])
    np.testing.assert_array_equal(out, np.tile(np.arange(40) + 1000, 3))


KEPT = """
  func.func @k(%out: !pto.ptr<i32, gm>, %wide: !pto.ptr<i64, gm>) attributes {pto.kernel} {
    %n = arith.constant 40 : i32
    %one = arith.constant 1 : i32
    pto.store_vfsimt_info %one, %one, %n : i32, i32, i32
    func.call @first() : () -> ()
    func.call @second() : () -> ()
    func.call @third(%out, %wide) : (!pto.ptr<i32, gm>, !pto.ptr<i64, gm>) -> ()
    return
  }
  func.func @first() attributes {pto.simt_entry} {
    %t = pto.get_tid_x : i32
    %c = arith.constant -7 : i32
    %big = arith.constant 1234605616436508552 : i64
    %m = arith.muli %t, %c : i32
    %w = arith.extsi %m : i32 to i64
    %l = arith.addi %w, %big : i64
    %h = pto.convert %t round(r) nosat signed : i32 -> f16
    pto.keep %m {slot = 0 : i64} : i32
    pto.keep %t {slot = 1 : i64} : i32
    pto.keep %l {slot = 2 : i64} : i64
    pto.keep %h {slot = 122 : i64} : f16
    return
  }
  func.func @second() attributes {pto.simt_entry} {
    %a = pto.resume {slot = 0 : i64} : i32
    %b = pto.resume {slot = 1 : i64} : i32
    pto.keep %b {slot = 0 : i64} : i32
    pto.keep %a {slot = 1 : i64} : i32
    return
  }
  func.func @third(%out: !pto.ptr<i32, gm>, %wide: !pto.ptr<i64, gm>) attributes {pto.simt_entry} {
    %b = pto.resume {slot = 0 : i64} : i32
    %a = pto.resume {slot = 1 : i64} : i32
    %l = pto.resume {slot = 2 : i64} : i64
    %h = pto.resume {slot = 122 : i64} : f16
    %t = pto.get_tid_x : i32
    %at = arith.index_cast %t : i32 to index
    %thousand = arith.constant 1000 : i32
    %i = pto.convert %h round(z) sat signed : f16 -> i32
    %x = arith.muli %b, %thousand : i32
    %y = arith.addi %x, %a : i32
    %z = arith.addi %y, %i : i32
    pto.store %z, %out[%at] : !pto.ptr<i32, gm>, i32
    pto.store %l, %wide[%at] : !pto.ptr<i64, gm>, i64
    return
  }
"""


def test_values_kept_between_calls() -> None:
    out, wide = np.zeros(40, np.int32), np.zeros(40, np.int64)
    program = module_kernel(KEPT)
    for _ in range(2):
        program.run([out, wide])
        np.testing.assert_array_equal(out, [t * 1000 - 7 * t + t for t in range(40)])
        np.testing.assert_array_equal(wide, [1234605616436508552 - 7 * t for t in range(40)])


def test_a_call_before_the_dimensions_are_known() -> None:
    text = KEPT.replace("pto.store_vfsimt_info %one, %one, %n : i32, i32, i32", "")
    with pytest.raises(ProgramError, match=r"before pto\.store_vfsimt_info"):
        module_kernel(text).run([np.zeros(40, np.int32), np.zeros(40, np.int64)])


def test_exchange_through_local_memory() -> None:
    """Every work-item reads what another one has stored before the barrier."""
    body = """
      %ub = pto.castptr %zero : i64 -> !pto.ptr<i32, ub>
      %v = pto.ldg %in[%at] : !pto.ptr<i32, gm> -> i32
      pto.store %v, %ub[%at] : !pto.ptr<i32, ub>, i32
      pto.threadfence_block
      pto.syncthreads
      %last = arith.subi %dim_x, %i1 : i32
      %other = arith.subi %last, %tid : i32
      %o = arith.index_cast %other : i32 to index
      %r = pto.load %ub[%o] : !pto.ptr<i32, ub> -> i32
      pto.stg %r, %out[%at] : !pto.ptr<i32, gm>, i32
    """
    values = np.random.default_rng(6).integers(-99, 99, 77).astype(np.int32)
    out = np.zeros(77, np.int32)
    run(body, f"{PAIR}, %zero: i64", values, out, 0, dims=(77, 1, 1))
    np.testing.assert_array_equal(out, values[::-1])


def test_a_barrier_that_some_do_not_reach() -> None:
    body = "%low = arith.cmpi slt, %tid, %i5 : i32\nscf.if %low { pto.syncthreads }"
    with pytest.raises(ProgramError, match=r"5 of 32 work-items wait .* work-item \(5, 0, 0\)") as raised:
        run(body, OUT, np.zeros(1, np.int32))
    assert raised.value.rule == "sync-deadlock"


def test_a_barrier_in_a_branch_that_all_take() -> None:
    body = """
      %low = arith.cmpi slt, %tid, %i100 : i32
      scf.if %low { pto.syncthreads }
      pto.stg %i1, %out[%at] : !pto.ptr<i32, gm>, i32
    """
    out = np.zeros(32, np.int32)
    run(body, OUT, out)
    assert out.tolist() == [1] * 32


def test_arrays_of_each_work_item() -> None:
    body = """
      %a = memref.alloca() : memref<2x4xi32>
      %b = pto.declare_local_array -> !pto.local_array<4xi32>
      scf.for %i = %c0 to %c4 step %c1 {
        %n = arith.index_cast %i : index to i32
        %v = arith.muli %n, %tid : i32
        memref.store %v, %a[%c1, %i] : memref<2x4xi32>
        pto.local_array_set %b[%i], %tid : !pto.local_array<4xi32>, i32
      }
      %k = arith.remsi %tid, %i4 : i32
      %j = arith.index_cast %k : i32 to index
      %x = memref.load %a[%c1, %j] : memref<2x4xi32>
      %y = pto.local_array_get %b[%j] : !pto.local_array<4xi32> -> i32
      %r = arith.addi %x, %y : i32
      pto.stg %r, %out[%at] : !pto.ptr<i32, gm>, i32
    """
    out = np.zeros(37, np.int32)
    run(body, OUT, out, dims=(37, 1, 1))
    np.testing.assert_array_equal(out, [t % 4 * t + t for t in range(37)])


def test_an_index_outside_of_an_own_array() -> None:
    body = "%a = memref.alloca() : memref<8xi32>\nmemref.store %tid, %a[%at] : memref<8xi32>"
    with pytest.raises(ProgramError, match=r"work-item \(8, 0, 0\) accesses element \[8\] of an array of shape 8"):
        run(body, OUT, np.zeros(1, np.int32))


@pytest.mark.parametrize(("offset", "low"), [("%at", 12), ("%before", -4)])
def test_an_access_outside_of_a_buffer(offset: str, low: int) -> None:
    body = f"""
      %minus = arith.constant -1 : index
      %before = arith.muli %minus, %at : index
      %v = pto.ldg %in[{offset}] : !pto.ptr<i32, gm> -> i32
    """
    text = source(body, PAIR)
    number = 3 if low > 0 else 1
    with pytest.raises(
        ProgramError, match=rf"work-item \({number}, 0, 0\) accesses bytes \[{low}, {low + 4}\)"
    ) as raised:
        kernel(text).run([np.zeros(3, np.int32), np.zeros(3, np.int32)])
    assert raised.value.rule == "mem-oob" and raised.value.span is not None
    assert "pto.ldg" in text.splitlines()[raised.value.span.line - 1]


def test_pointers_that_differ_between_work_items() -> None:
    body = """
      %odd_bit = arith.andi %tid, %i1 : i32
      %odd = arith.cmpi eq, %odd_bit, %i1 : i32
      %p = arith.select %odd, %in, %other : !pto.ptr<i32, gm>
      %q = pto.addptr %p, %at : !pto.ptr<i32, gm> -> !pto.ptr<i32, gm>
      %n = pto.castptr %q : !pto.ptr<i32, gm> -> i64
      %eight = arith.constant 8 : i64
      %m = arith.addi %n, %eight : i64
      %r = pto.castptr %m : i64 -> !pto.ptr<i32, gm>
      %v = pto.ldg %r[%c1] : !pto.ptr<i32, gm> -> i32
      pto.stg %v, %out[%at] : !pto.ptr<i32, gm>, i32
    """
    first, second = np.arange(50, dtype=np.int32), np.arange(50, dtype=np.int32) + 1000
    out = np.zeros(40, np.int32)
    arguments = "%in: !pto.ptr<i32, gm>, %other: !pto.ptr<i32, gm>, %out: !pto.ptr<i32, gm>"
    run(body, arguments, first, second, out, dims=(40, 1, 1))
    np.testing.assert_array_equal(out, [(first if t % 2 else second)[t + 3] for t in range(40)])


def test_helpers_with_several_uses() -> None:
    helper = """
      func.func @twice(%v: i32, %n: i32) -> i32 {
        %two = arith.constant 2 : i32
        %r = arith.muli %v, %two : i32
        %s = arith.addi %r, %n : i32
        return %s : i32
      }
    """
    body = """
      %a = func.call @twice(%tid, %i5) : (i32, i32) -> i32
      %b = func.call @twice(%i7, %a) : (i32, i32) -> i32
      pto.stg %b, %out[%at] : !pto.ptr<i32, gm>, i32
    """
    out = np.zeros(33, np.int32)
    run(body, OUT, out, dims=(33, 1, 1), helpers=helper)
    np.testing.assert_array_equal(out, [14 + 2 * t + 5 for t in range(33)])


@pytest.mark.parametrize(
    ("type_", "dtype"), [("i8", np.int8), ("i16", np.int16), ("f64", np.float64), ("i64", np.int64)]
)
def test_elements_at_odd_addresses(type_: str, dtype: Any) -> None:
    """A pointer may point anywhere; the bytes are read and written as they lie."""
    size = np.dtype(dtype).itemsize
    values = np.random.default_rng(7).integers(0, 256, 40 * size + 8, np.uint8)
    out = np.zeros(40 * size + 8, np.uint8)
    body = f"""
      %b = pto.addptr %in, %c3 : !pto.ptr<i8, gm> -> !pto.ptr<i8, gm>
      %p = pto.castptr %b : !pto.ptr<i8, gm> -> !pto.ptr<{type_}, gm>
      %d = pto.addptr %out, %c1 : !pto.ptr<i8, gm> -> !pto.ptr<i8, gm>
      %q = pto.castptr %d : !pto.ptr<i8, gm> -> !pto.ptr<{type_}, gm>
      %v = pto.ldg %p[%at] l1cache(uncache) l2cache(nmpref) : !pto.ptr<{type_}, gm> -> {type_}
      pto.stg %v, %q[%at] : !pto.ptr<{type_}, gm>, {type_}
    """
    run(body, "%in: !pto.ptr<i8, gm>, %out: !pto.ptr<i8, gm>", values.view(np.int8), out.view(np.int8), dims=(40, 1, 1))
    np.testing.assert_array_equal(out[1 : 1 + 40 * size], values[3 : 3 + 40 * size])


def test_stores_to_one_location_keep_the_last() -> None:
    out = np.zeros(2, np.int32)
    run("pto.stg %tid, %out[%c1] : !pto.ptr<i32, gm>, i32", OUT, out, dims=(50, 1, 1))
    assert out.tolist() == [0, 49]


def test_prints_of_each_work_item(capsys: pytest.CaptureFixture[str]) -> None:
    body = """
      %high = arith.cmpi sge, %tid, %i3 : i32
      scf.if %high { pto.print ins("%d;", %tid : i32) }
    """
    run(body, OUT, np.zeros(1, np.int32), dims=(5, 1, 1))
    assert capsys.readouterr().out == "3;4;"


def test_a_body_is_no_entry() -> None:
    module, _ = parsed(source("", OUT))
    with pytest.raises(ProgramError, match="@body is a SIMT body"):
        Kernel(module, "body", None, RunOptions())


def test_queries_outside_of_bodies() -> None:
    text = "func.func @k(%p: !pto.ptr<i32, gm>) attributes {pto.kernel} {\n%t = pto.get_tid_x : i32\nreturn\n}"
    with pytest.raises(ProgramError, match=r"pto\.get_tid_x cannot be executed outside of SIMT bodies"):
        module_kernel(text)


LOCK = """
  scf.while : () -> () {
    %old = pto.atomic_cas %in, %i0, %i1 : !pto.ptr<i32, gm>, i32 -> i32
    %held = arith.cmpi ne, %old, %i0 : i32
    scf.condition(%held)
  } do {
    scf.yield
  }
  %free = pto.atomic_exch %in, %i0 : !pto.ptr<i32, gm>, i32 -> i32
"""


def test_a_lock_that_is_freed_after_the_loop() -> None:
    """The work-item that has the lock continues when all others have left the loop, which they never do."""
    with pytest.raises(
        ProgramError, match=r"31 of 32 work-items, work-item \(1, 0, 0\) among them, wait in a loop"
    ) as raised:
        run(LOCK, PAIR, np.zeros(1, np.int32), np.zeros(1, np.int32))
    assert raised.value.rule == "sync-deadlock"


def test_a_lock_that_is_freed_inside_of_the_loop() -> None:
    body = """
      %none = arith.constant 0 : i32
      scf.while (%done = %none) : (i32) -> (i32) {
        %more = arith.cmpi eq, %done, %i0 : i32
        scf.condition(%more) %done : i32
      } do {
      ^bb0(%done: i32):
        %old = pto.atomic_cas %in, %i0, %i1 : !pto.ptr<i32, gm>, i32 -> i32
        %got = arith.cmpi eq, %old, %i0 : i32
        %next = scf.if %got -> (i32) {
          %n = pto.atomic_add %out, %i1 : !pto.ptr<i32, gm>, i32 -> i32
          %free = pto.atomic_exch %in, %i0 : !pto.ptr<i32, gm>, i32 -> i32
          scf.yield %i1 : i32
        } else {
          scf.yield %i0 : i32
        }
        scf.yield %next : i32
      }
    """
    lock, out = np.zeros(1, np.int32), np.zeros(1, np.int32)
    run(body, PAIR, lock, out, dims=(70, 1, 1))
    assert (lock[0], out[0]) == (0, 70)


def test_bodies_are_no_candidates_for_the_entry() -> None:
    text = source("", OUT).replace(" attributes {pto.kernel}", "")
    unused = "func.func @unused() attributes {pto.simt_entry} {\nreturn\n}\nfunc.func @body("
    module, _ = parsed(text.replace("func.func @body(", unused))
    assert Kernel(module, None, None, RunOptions()).entry == "k"
