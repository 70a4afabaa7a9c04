"""Arguments that differ from core to core: what each core gets, plain, in processes and in instrumented runs."""

from __future__ import annotations

import numpy as np
import pytest
from parse_helpers import parsed

from pto_dialect.runtime import api
from pto_dialect.runtime.errors import BindingError
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.runtime.run.per_core import CorePosition, InParts, PerCore
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions

# p[i] = v, on each core
STORE = """
func.func @store(%p: !pto.ptr<i32>, %i: index, %v: i32) {
  pto.store_scalar %v, %p[%i] : !pto.ptr<i32>, i32
  return
}
"""

# every vector core, and the cube core: p[core] = 100 * block number that the launcher gives + sub-block
MIXED = """
func.func @mixed(%p: !pto.ptr<i32>, %core: index, %__pypto_spmd_block_idx: i32, %__pypto_spmd_block_num: i32,
                 %__pypto_spmd_subblock_idx: i32) attributes {pto.kernel} {
  %c100 = arith.constant 100 : i32
  %b = arith.muli %__pypto_spmd_block_idx, %c100 : i32
  %v = arith.addi %b, %__pypto_spmd_subblock_idx : i32
  %c10 = arith.constant 10 : i32
  %n = arith.muli %__pypto_spmd_block_num, %c10 : i32
  %s = arith.addi %v, %n : i32
  pto.section.cube {
    pto.store_scalar %s, %p[%core] : !pto.ptr<i32>, i32
  }
  pto.section.vector {
    pto.store_scalar %s, %p[%core] : !pto.ptr<i32>, i32
  }
  return
}
"""


def kernel(text: str) -> api.CompiledKernel:
    module, found = parsed(text)
    assert found == []
    return api.compile(module)


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    "source",
    ["block * 3 - 1", [-1, 2, 5, 8], np.array([-1, 2, 5, 8], np.int8), lambda place: np.int64(place.block * 3 - 1)],
)
def test_each_block_has_its_number(source, jobs: int) -> None:
    p = np.zeros(4, np.int32)
    kernel(STORE)(p, PerCore("block"), PerCore(source), blocks=4, jobs=jobs)
    assert p.tolist() == [-1, 2, 5, 8]


def test_cores_of_a_mixed_kernel_count_block_by_block_from_the_cube_core() -> None:
    p = np.zeros(6, np.int32)
    run = kernel(MIXED)
    run(p, PerCore("core"), blocks=2)
    assert p.tolist() == [20, 20, 21, 120, 120, 121]
    other = np.zeros(6, np.int32)
    run(other, PerCore(range(6)), PerCore([0, 1], by="block"), 2, PerCore("subblock"), blocks=2)
    assert other.tolist() == p.tolist()


def test_by_name_the_values_of_launchers_are_filled_in() -> None:
    module, _ = parsed(MIXED)
    p = np.zeros(3, np.int32)
    assert api.run(module, {"p": p, "core": PerCore("cube * 2 + subblock")})["p"].tolist() == [10, 11, 10]


def test_locations_state_everything() -> None:
    module, _ = parsed(MIXED)
    places = Kernel(module, None, None, RunOptions()).core_positions(2)
    assert places[3:] == [
        CorePosition(1, 2, 3, 6, 0, 2, 1),
        CorePosition(1, 2, 4, 6, 0, 2, 0),
        CorePosition(1, 2, 5, 6, 1, 2, 0),
    ]
    module, _ = parsed(STORE)
    assert Kernel(module, None, None, RunOptions()).core_positions(1) == [CorePosition(0, 1, 0, 1, 0, 1, 0)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_each_block_has_its_part_of_a_buffer(jobs: int) -> None:
    p = np.zeros((4, 3), np.int32)
    kernel(STORE)(InParts(p), 1, PerCore("block + 1"), blocks=4, jobs=jobs)
    assert p.tolist() == [[0, n, 0] for n in (1, 2, 3, 4)]


def test_each_core_has_its_part_of_a_buffer() -> None:
    module, _ = parsed(MIXED)
    p = np.zeros(12, np.int32)
    found = api.run(module, {"p": InParts(p, by="core"), "core": 1}, blocks=2)["p"]
    assert found.tolist() == [0, 20, 0, 20, 0, 21, 0, 120, 0, 120, 0, 121]


@pytest.mark.parametrize(("numbers", "found"), [(16, []), (3, ["cache-lost-update"])])
def test_instrumented_runs_see_the_same(numbers: int, found: list[str]) -> None:
    """Parts of 64 bytes are lines of their own; cores that store into one line through their caches lose updates."""
    module, _ = parsed(STORE)
    instrumented = InstrumentedKernel(module, None, None, RunOptions(), SanitizeOptions())
    p = np.zeros((2, numbers), np.int32)
    instrumented.run([InParts(p), 1, PerCore("block + 1")], 2)
    assert p[:, 1].tolist() == [1, 2]
    assert np.count_nonzero(p) == 2
    assert [one.rule for one in instrumented.observer.findings.all] == found


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((PerCore([1, 2]), 0), "argument i: it needs one value for each core, 4 for 4 blocks, found 2"),
        ((PerCore("1 // block"), 0), "argument i: '1 // block' divides by zero"),
        ((0, PerCore("1 << 40")), "argument v: 1099511627776 does not fit into i32"),
        ((0, PerCore("block / 2")), "argument v (i32) needs an integer, found 0.0"),
        ((InParts(np.zeros(4, np.int32)), 0), "argument i (index) is no pointer to global memory, which has parts"),
    ],
)
def test_what_does_not_fit(values, message: str) -> None:
    p = np.zeros(4, np.int32)
    with pytest.raises(BindingError) as caught:
        kernel(STORE)(p, *values, blocks=4)
    assert str(caught.value) == message
    assert not p.any()


def test_parts_are_equal() -> None:
    with pytest.raises(BindingError, match="argument p: 7 elements make no 2 equal parts, one for each block"):
        kernel(STORE)(InParts(np.zeros(7, np.int32)), 0, 0, blocks=2)
