"""Pointers of LLVM in work-items and in code of a core: what they reach, and vectors that they load and store."""

from pathlib import Path

import numpy as np
import pytest
from order_verdicts import proofs
from simt_programs import kernel, run, source

from pto_dialect import api
from pto_dialect.driver.options import Options
from pto_dialect.driver.pipeline import process
from pto_dialect.runtime.errors import ProgramError

ARGUMENTS = "%a: !pto.ptr<f32, gm>, %o: !pto.ptr<f32, gm>"

POINTERS = """
    %ai = pto.castptr %a : !pto.ptr<f32, gm> -> i64
    %ap = llvm.inttoptr %ai : i64 to !llvm.ptr<1>
    %oi = pto.castptr %o : !pto.ptr<f32, gm> -> i64
    %op = llvm.inttoptr %oi : i64 to !llvm.ptr<1>
    %wide = arith.extsi %tid : i32 to i64
"""

VECTORS = f"""{POINTERS}
    %i16_64 = arith.constant 16 : i64
    %bytes = arith.muli %wide, %i16_64 : i64
    %from = llvm.getelementptr %ap[%bytes] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    %to = llvm.getelementptr %op[%bytes] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    %v = llvm.load %from : !llvm.ptr<1> -> vector<4xf32>
"""

ELEMENT = """
    %p = llvm.mlir.undef : vector<4xf32>
    %e = llvm.extractelement %v[%from_at : i32] : vector<4xf32>
    %q = llvm.insertelement %e, %v[%to_at : i32] : vector<4xf32>
    llvm.store %q, %to : vector<4xf32>, !llvm.ptr<1>
"""


def numbers(count: int) -> np.ndarray:
    return np.random.default_rng(count).standard_normal(count).astype(np.float32)


def test_each_work_item_loads_and_stores_a_vector() -> None:
    a, o = numbers(32 * 4), np.zeros(32 * 4, np.float32)
    run(
        VECTORS + "%w = arith.mulf %v, %v : vector<4xf32>\nllvm.store %w, %to : vector<4xf32>, !llvm.ptr<1>",
        ARGUMENTS,
        a,
        o,
    )
    assert np.array_equal(o, a * a)


def test_elements_move_between_positions_of_a_vector() -> None:
    a, o = numbers(32 * 4), np.zeros(32 * 4, np.float32)
    at = "%from_at = arith.andi %tid, %i3 : i32\n%to_at = arith.subi %i3, %from_at : i32\n"
    run(VECTORS + at + ELEMENT, ARGUMENTS, a, o)
    expected = a.reshape(32, 4).copy()
    for item in range(32):
        expected[item, 3 - item % 4] = a.reshape(32, 4)[item, item % 4]
    assert np.array_equal(o.reshape(32, 4), expected)


def test_a_branch_changes_vectors_of_its_work_items_alone() -> None:
    a, o = numbers(32 * 4), np.zeros(32 * 4, np.float32)
    body = f"""{VECTORS}
    %few = arith.cmpi slt, %tid, %i5 : i32
    scf.if %few {{
      %from_at = arith.addi %i0, %i1 : i32
      %to_at = arith.addi %i0, %i2 : i32
      {ELEMENT}
    }}
    """
    run(body, ARGUMENTS, a, o)
    expected = np.zeros((32, 4), np.float32)
    expected[:5] = a.reshape(32, 4)[:5]
    expected[:5, 2] = expected[:5, 1]
    assert np.array_equal(o.reshape(32, 4), expected)


def test_a_position_outside_of_the_vector_is_reported() -> None:
    at = "%from_at = arith.addi %tid, %i0 : i32\n%to_at = arith.addi %i0, %i0 : i32\n"
    with pytest.raises(ProgramError, match=r"work-item \(4, 0, 0\) names element 4 of a vector of 4") as error:
        run(VECTORS + at + ELEMENT, ARGUMENTS, numbers(128), numbers(128))
    assert error.value.diagnostic().rule == "mem-oob"


def test_a_vector_outside_of_the_buffer_is_reported() -> None:
    with pytest.raises(ProgramError, match=r"work-item \(31, 0, 0\) accesses bytes \[496, 512\) outside gm 'a'"):
        run(VECTORS, ARGUMENTS, numbers(127), numbers(128))


def test_addresses_of_pointers_are_those_of_the_buffers() -> None:
    a, o = numbers(32), np.zeros(32, np.float32)
    body = f"""{POINTERS}
    %from = llvm.getelementptr %ap[%wide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %number = llvm.ptrtoint %from : !llvm.ptr<1> to i64
    %again = pto.castptr %number : i64 -> !pto.ptr<f32, gm>
    %v = pto.load %again[%c0] : !pto.ptr<f32, gm> -> f32
    pto.store %v, %o[%at] : !pto.ptr<f32, gm>, f32
    """
    run(body, ARGUMENTS, a, o)
    assert np.array_equal(o, a)


def test_each_work_item_makes_a_pointer_of_its_number() -> None:
    a, o = numbers(32), np.zeros(32, np.float32)
    body = f"""{POINTERS}
    %size = arith.constant 4 : i64
    %distance = arith.muli %wide, %size : i64
    %number = arith.addi %ai, %distance : i64
    %from = llvm.inttoptr %number : i64 to !llvm.ptr<1>
    %same = llvm.addrspacecast %from : !llvm.ptr<1> to !llvm.ptr<1>
    %v = llvm.load %same : !llvm.ptr<1> -> f32
    pto.store %v, %o[%at] : !pto.ptr<f32, gm>, f32
    """
    run(body, ARGUMENTS, a, o)
    assert np.array_equal(o, a)


CORE = """
func.func @k(%a: !pto.ptr<f32, gm>, %o: !pto.ptr<f32, gm>) {{
  %i = arith.constant 2 : i64
  %ai = pto.castptr %a : !pto.ptr<f32, gm> -> i64
  %ap = llvm.inttoptr %ai : i64 to !llvm.ptr<{space}>
  %first = llvm.getelementptr %ap[1] : (!llvm.ptr<{space}>) -> !llvm.ptr<{space}>, f32
  %p = llvm.getelementptr %first[%i] : (!llvm.ptr<{space}>, i64) -> !llvm.ptr<{space}>, f32
  %v = llvm.load %p : !llvm.ptr<{space}> -> {type}
  %oi = pto.castptr %o : !pto.ptr<f32, gm> -> i64
  %op = llvm.inttoptr %oi : i64 to !llvm.ptr<{space}>
  llvm.store %v, %op : {type}, !llvm.ptr<{space}>
  return
}}
"""


def test_the_scalar_unit_loads_and_stores_numbers() -> None:
    a, o = numbers(4), np.zeros(1, np.float32)
    api.run(api.parse(CORE.format(space=1, type="f32")), {"a": a, "o": o})
    assert o[0] == a[3]


def test_the_scalar_unit_computes_with_addresses() -> None:
    a, o = numbers(4), np.zeros(1, np.float32)
    back = """%pi = llvm.ptrtoint %p : !llvm.ptr<1> to i64
  %again = llvm.inttoptr %pi : i64 to !llvm.ptr<1>
  %same = llvm.addrspacecast %again : !llvm.ptr<1> to !llvm.ptr<1>
  %v = llvm.load %same"""
    api.run(api.parse(CORE.format(space=1, type="f32").replace("%v = llvm.load %p", back)), {"a": a, "o": o})
    assert o[0] == a[3]


@pytest.mark.parametrize(
    ("space", "type_", "message"),
    [
        (1, "vector<4xf32>", r"llvm\.load of vector<4xf32> outside of SIMT bodies"),
        (7, "f32", r"!llvm\.ptr<7> names no memory of the chip"),
    ],
)
def test_what_a_core_cannot_execute_is_refused(space: int, type_: str, message: str) -> None:
    module = api.parse(CORE.format(space=space, type=type_))
    with pytest.raises(ProgramError, match=message):
        api.run(module, {"a": numbers(8), "o": numbers(8)})


COPY_AFTER_STORE = """
module attributes {pto.target_arch = "a5"} {
  func.func @k(%o: !pto.ptr<f32, gm>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c8 = arith.constant 8 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %len = arith.constant 128 : i64
    %u = pto.castptr %zero : i64 -> !pto.ptr<f32, ub>
    WRITE
    pto.mte_ub_gm %u, %o, %len nburst(%one, %zero, %zero)
      : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64
    return
  }
  func.func @body() attributes {pto.simt_entry} {
    %zero = arith.constant 0 : i64
    STORE
    return
  }
}
"""
STORE = """
    %number = arith.constant 1.0 : f32
    %p = llvm.inttoptr %zero : i64 to !llvm.ptr<6>
    llvm.store %number, %p : f32, !llvm.ptr<6>
"""


@pytest.mark.parametrize("write", [STORE, "pto.simt_launch @body<<<%c8, %c1, %c1>>>() : () -> ()"])
def test_a_copy_after_a_store_is_not_proven_to_be_in_order(tmp_path: Path, write: str) -> None:
    program = tmp_path / "k.pto"
    program.write_text(COPY_AFTER_STORE.replace("WRITE", write).replace("STORE", STORE), encoding="utf-8")
    assert [entry["verdict"] for entry in proofs(program)["k"]] == ["undecided"]


def test_flags_are_not_inserted_around_pointers_of_llvm() -> None:
    found = process(CORE.format(space=1, type="f32"), "<string>", Options(passes=("insert-sync",))).diagnostics
    assert [each.rule for each in found] == ["insert-sync-unsupported"]


def test_programs_are_launched_again() -> None:
    program = kernel(source(VECTORS + "llvm.store %v, %to : vector<4xf32>, !llvm.ptr<1>", ARGUMENTS))
    for count in (128, 256):
        a, o = numbers(count), np.zeros(count, np.float32)
        program.run([a, o])
        assert np.array_equal(o[:128], a[:128])
