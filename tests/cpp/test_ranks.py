"""Transfers of C++ between the tensors of all ranks, against numpy. The ranks of these kernels share one memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from groups import in_groups

import pto_dialect
from pto_dialect import ranks
from pto_dialect.cpp.kernel import CppError
from pto_dialect.runtime.errors import ProgramError
from tools.pto_run import main as pto_run

KERNEL = """\
#include <pto/pto-inst.hpp>
using namespace pto;
using Part = GlobalTensor<float, Shape<1, 1, 1, -1, -1>, Stride<-1, -1, -1, -1, 1>>;
using Row = Tile<TileType::Vec, float, 4, 32, BLayout::RowMajor, -1, -1>;

AICORE Part part(float *first, int rows, int cols) {
  return Part(first, Part::Shape(rows, cols), Part::Stride(rows * cols, rows * cols, rows * cols, cols));
}
extern "C" __global__ AICORE void k(
    __gm__ float *whole, __gm__ float *parts, __gm__ uint8_t *workspace, int32_t ranks, int32_t rows, int32_t cols) {
  Part all[8];
  for (int rank = 0; rank < ranks; ++rank)
    all[rank] = part(parts + rank * rows * cols, rows, cols);
  comm::ParallelGroup<Part> group(all, ranks, 0);
  Row ping(4, 32), pong(4, 32);
  TASSIGN(ping, 0x0);
  TASSIGN(pong, 0x4000);
  Part joined = part(whole, ranks * rows, cols), one = part(whole, rows, cols);
  Tile<TileType::Vec, uint8_t, 1, 256> scratch;
  TASSIGN(scratch, 0x8000);
  comm::AsyncSession session;
  comm::BuildAsyncSession(scratch, workspace, session);
  STATEMENT;
}
"""
RANKS, ROWS, COLS = 3, 6, 40
PARTS = np.arange(RANKS * ROWS * COLS, dtype=np.float32).reshape(RANKS, ROWS, COLS)


def run(statement: str, whole: np.ndarray, target: str = "a2a3") -> tuple[np.ndarray, np.ndarray]:
    """The whole tensor and the parts of all ranks after a statement."""
    kernel = pto_dialect.compile_cpp(KERNEL, defines={"STATEMENT": statement}, target=target)
    whole, parts = whole.reshape(-1).copy(), PARTS.reshape(-1).copy()
    tensors = {"whole": whole, "parts": parts, "workspace": np.zeros(64, np.uint8)}
    pto_dialect.run(kernel.module, {**tensors, "ranks": RANKS, "rows": ROWS, "cols": COLS})
    return whole, parts.reshape(PARTS.shape)


EMPTY = np.zeros(PARTS.size, np.float32)


@pytest.mark.parametrize("tiles", ["ping", "ping, pong"])
def test_gather_joins_the_lines_of_all_ranks(tiles: str) -> None:
    whole, _ = run(f"comm::TGATHER(group, joined, {tiles})", EMPTY)
    assert whole.tolist() == PARTS.reshape(-1).tolist()


def test_scatter_gives_each_rank_its_lines() -> None:
    given = np.arange(PARTS.size, dtype=np.float32)[::-1].copy()
    _, parts = run("comm::TSCATTER(group, joined, ping, pong)", given)
    assert parts.reshape(-1).tolist() == given.tolist()


def test_broadcast_gives_all_ranks_the_same() -> None:
    given = -np.arange(PARTS.size, dtype=np.float32)
    _, parts = run("comm::TBROADCAST(group, one, ping)", given)
    assert all(part.reshape(-1).tolist() == given[: ROWS * COLS].tolist() for part in parts)


@pytest.mark.parametrize(("operation", "combine"), [("Sum", np.sum), ("Max", np.max), ("Min", np.min)])
def test_reduction_combines_the_elements_of_all_ranks(operation: str, combine: np.ufunc) -> None:
    whole, _ = run(f"comm::TREDUCE(group, one, ping, pong, comm::ReduceOp::{operation})", EMPTY)
    assert whole[: ROWS * COLS].tolist() == combine(PARTS, axis=0).reshape(-1).tolist()
    assert not whole[ROWS * COLS :].any()


PUT = "comm::TPUT_ASYNC(to, from, session)"
LINES = "Part from = part(whole, 1, 240); Part to = part(parts + rank * 240, 1, 240);"


@pytest.mark.parametrize(
    "statement",
    [
        f"for (int rank = 0; rank < ranks; ++rank) {{ {LINES} auto event = {PUT}; event.Wait(session); }}",
        f"comm::AsyncEvent e; for (int rank = 0; rank < ranks; ++rank) {{ {LINES} e = {PUT}; }} e.Wait(session)",
        f"for (int rank = 0; rank < ranks; ++rank) {{ {LINES} auto event = {PUT}; while (!event.Test(session)); }}",
    ],
)
def test_asynchronous_transfers_have_ended_where_they_are_waited_for(statement: str) -> None:
    given = -np.arange(PARTS.size, dtype=np.float32)
    _, parts = run(statement, given)
    assert all(part.reshape(-1).tolist() == given[: ROWS * COLS].tolist() for part in parts)


ONE = "Part from = part(whole, 1, 240); Part to = part(parts, 1, 240);"


@pytest.mark.parametrize(
    ("statement", "waits", "warnings"),
    [
        (f"{ONE} {PUT}", 0, 1),
        (f"for (int rank = 0; rank < ranks; ++rank) {{ {LINES} {PUT}; }}", 0, 1),
        # A number of elements that is open is moved in three loops.
        (f"Part from = part(whole, 1, cols); Part to = part(parts, 1, cols); {PUT}", 0, 3),
        (f"{ONE} {PUT}.Wait(session)", 1, 0),
        # Only the last event of the session is waited for.
        (f"{ONE} {PUT}; {PUT}.Wait(session)", 1, 0),
    ],
)
def test_a_forgotten_wait_is_reported(statement: str, waits: int, warnings: int) -> None:
    program = pto_dialect.compile_cpp(KERNEL, defines={"STATEMENT": statement}).text
    assert program.count("pto.comm.wait_async_event") == waits
    assert sum(one.rule == "comm-async-wait" for one in pto_dialect.check(program).diagnostics) == warnings


BUILT = "comm::BuildAsyncSession(scratch, workspace, other)"
OTHER = "Tile<TileType::Vec, uint8_t, 1, 256> next; TASSIGN(next, 0x9000); comm::AsyncSession other;"
ALL = f"for (int rank = 0; rank < ranks; ++rank) {{ {LINES} comm::TPUT_ASYNC(to, from, other).Wait(other); }}"


@pytest.mark.parametrize(
    "statement",
    [
        # Built in a branch, or for each transfer.
        f"{OTHER} if (ranks > 2) {BUILT}; {ALL}",
        f"{OTHER} if (ranks < 2) {BUILT}; " + ALL.replace("{ P", "{ if (ranks > 2) " + BUILT + "; P"),
        # Two sessions with settings of their own.
        f"{OTHER} if (ranks > 2) comm::BuildAsyncSession(next, workspace, other); else {BUILT}; {ALL}",
        f"{OTHER} {BUILT}; if (ranks > 2) comm::BuildAsyncSession(next, workspace, other, 1); {ALL}",
        # Other engines.
        f"{OTHER} comm::BuildAsyncSession<comm::DmaEngine::URMA>(workspace, 1, other); {ALL}",
        f"{OTHER} comm::BuildAsyncSession<comm::DmaEngine::RDMA>(scratch, workspace, 0, other); {ALL}",
        f"{OTHER} comm::BuildAsyncSession<comm::DmaEngine::RDMA>(scratch, workspace, 1, 0, other); "
        + ALL.replace("other).W", "other, rank).W"),
    ],
)
def test_a_transfer_takes_the_session_that_was_built(statement: str) -> None:
    given = -np.arange(PARTS.size, dtype=np.float32)
    _, parts = run(statement, given)
    assert all(part.reshape(-1).tolist() == given[: ROWS * COLS].tolist() for part in parts)


OFFSET = "comm::sdma::SdmaBaseConfig config{1024, DISTANCE * sizeof(float), 1};"
WITH_OFFSET = BUILT.replace("other)", "other, 0, config)")


@pytest.mark.parametrize("distance", ["80", "(rows * cols / ranks)"])
@pytest.mark.parametrize(("name", "target"), [("TPUT", "a2a3"), ("TGET", "a2a3"), ("TPUT", "a5"), ("TGET", "a5")])
def test_the_offset_of_a_session_moves_both_tensors(name: str, target: str, distance: str) -> None:
    """But for ``TPUT_ASYNC`` on a5, which stores through the vector core."""
    moved = "Part from = part(whole, 1, 40); Part to = part(parts, 1, 40);"
    statement = (
        f"{OTHER} {OFFSET.replace('DISTANCE', distance)} {WITH_OFFSET}; {moved} comm::{name}_ASYNC(to, from, other)"
    )
    given = -np.arange(1, PARTS.size + 1, dtype=np.float32)
    _, parts = run(statement, given, target)
    first = 0 if (name, target) == ("TPUT", "a5") else 80
    wanted = PARTS.reshape(-1).copy()
    wanted[first : first + 40] = given[first : first + 40]
    assert parts.reshape(-1).tolist() == wanted.tolist()


def test_a_transfer_without_the_session_of_a_branch_ends_the_run() -> None:
    with pytest.raises(ProgramError, match="the session is not built"):
        run(f"{OTHER} if (ranks > 3) {BUILT}; {ALL}", EMPTY)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (f"{OTHER} {ALL}", "the session is not built"),
        (
            f"{OTHER} for (int n = 1; n < ranks; ++n) comm::BuildAsyncSession(scratch, workspace + n, other); {ALL}",
            "the session is chosen at run time",
        ),
        (
            "Part more(parts, Part::Shape(ranks, cols), Part::Stride(cols, cols, cols, cols)); "
            "comm::TPUT_ASYNC(more, more, session)",
            "TPUT_ASYNC of several lines has no counterpart in .pto",
        ),
    ],
)
def test_other_transfers_are_refused(statement: str, message: str) -> None:
    with pytest.raises(CppError, match=message):
        run(statement, EMPTY)


@pytest.mark.parametrize("count", [0, 1, 63, 64, 100, 4096, 5000, 8191])
@pytest.mark.parametrize("name", ["TPUT_ASYNC", "TGET_ASYNC"])
def test_an_open_number_of_elements_is_moved(name: str, count: int) -> None:
    """The number of elements is an argument: ``rows``."""
    transfer = f"auto event = comm::{name}(to, from, session); event.Wait(session)"
    kernel = pto_dialect.compile_cpp(
        KERNEL,
        defines={"STATEMENT": f"Part from = part(whole, 1, rows); Part to = part(parts + cols, 1, rows); {transfer}"},
    )
    whole, parts = np.arange(9000, dtype=np.float32), np.zeros(9000, np.float32)
    tensors = {"whole": whole, "parts": parts, "workspace": np.zeros(64, np.uint8)}
    pto_dialect.run(kernel.module, {**tensors, "ranks": 1, "rows": count, "cols": 7})
    assert parts[7 : 7 + count].tolist() == list(range(count))
    assert not parts[:7].any() and not parts[7 + count :].any()


CCU = """\
#include <pto/pto-inst.hpp>
using namespace pto;
using Line = GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>>;

extern "C" __global__ AICORE void k(__gm__ float *whole, __gm__ float *parts, __gm__ uint64_t *slot, uint32_t rank) {
  Line all[4];
  for (int one = 0; one < 4; ++one) all[one] = Line(parts + one * 64);
  comm::ParallelGroup<Line> group(all, 4, 2);
  Line joined(whole);
  Tile<TileType::Vec, float, 1, 64> tile, next;
  TASSIGN(tile, 0x0);
  TASSIGN(next, 0x1000);
  TEXPANDS(tile, 7.0f);
  comm::CcuTriggerContext context{reinterpret_cast<uint64_t>(slot), 13, rank, comm::CcuInputSource::SOURCE};
  comm::STATEMENT;
}
"""


@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize("source", ["AivStored", "HostManaged"])
@in_groups(
    ("statement", "root"),
    [
        ("TGATHER<comm::CollEngine::CCU>(group, joined, tile, context)", False),
        ("TREDUCE<comm::CollEngine::CCU>(group, joined, tile, next, comm::ReduceOp::Sum, context)", False),
        ("TREDUCE<comm::CollEngine::CCU>(group, joined, tile, next, next, comm::ReduceOp::Max, context)", False),
        ("TSCATTER<comm::CollEngine::CCU>(group, joined, tile, next, context)", True),
        ("TBROADCAST<comm::CollEngine::CCU>(group, joined, tile, context)", True),
    ],
)
def test_a_collective_of_the_ccu_stores_a_tile_and_begins(statement: str, root: bool, source: str, rank: int) -> None:
    """What the CCU moves then is no part of the kernel. Only the root, here rank 2, stores for scattering."""
    kernel = pto_dialect.compile_cpp(CCU, defines={"STATEMENT": statement, "SOURCE": source}, target="a5")
    whole, parts, slot = np.zeros(64, np.float32), np.zeros(4 * 64, np.float32), np.zeros(1, np.uint64)
    pto_dialect.run(kernel.module, {"whole": whole, "parts": parts, "slot": slot, "rank": rank})
    assert slot.tolist() == [1 << 63 | 13]
    stored = np.zeros((5, 64), np.float32)
    if source == "AivStored" and (rank == 2 or not root):
        stored[4 if root else rank] = 7
    assert np.vstack([parts.reshape(4, 64), whole]).tolist() == stored.tolist()


TASK = """\
#include <pto/pto-inst.hpp>
#include "tensor.h"
#include "platform_comm/comm_context.h"
using namespace pto;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
  __gm__ Tensor *told = reinterpret_cast<__gm__ Tensor *>(args[0]);
  __gm__ float *window = reinterpret_cast<__gm__ float *>(told->buffer.addr) + told->start_offset;
  __gm__ Tensor *result = reinterpret_cast<__gm__ Tensor *>(args[1]);
  __gm__ float *out = reinterpret_cast<__gm__ float *>(result->buffer.addr) + result->start_offset;
  __gm__ CommContext *context = reinterpret_cast<__gm__ CommContext *>(args[2]);
  __gm__ int32_t *number = reinterpret_cast<__gm__ int32_t *>(args[3]);
  int next = (context->rankId + 1) % context->rankNum;
  uint64_t offset = reinterpret_cast<uint64_t>(window) - context->windowsIn[context->rankId];
  __gm__ float *theirs = reinterpret_cast<__gm__ float *>(context->windowsIn[next] + offset);
  using Row = GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>>;
  Tile<TileType::Vec, float, 1, 64> tile, own;
  TASSIGN(tile, 0x0);
  TASSIGN(own, 0x1000);
  Row source(theirs), mine(window), target(out);
  TLOAD(tile, source);
  TLOAD(own, mine);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TADDS(tile, tile, (float)*number);
  pipe_barrier(PIPE_V);
  TADD(tile, tile, own);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(target, tile);
}
"""


def test_a_task_of_the_run_time_adds_the_window_of_the_next_rank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``args[2]`` points to the communication context, which is no tensor, ``args[3]`` to a number."""
    monkeypatch.chdir(tmp_path)
    Path("task.cpp").write_text(TASK)
    values = np.arange(3 * 64, dtype=np.float32).reshape(3, 64)
    np.save("x.npy", values)
    arguments = ["args[0]=window", "args[1]=zeros:f32:64", "args[2]=context", "args[3]=ones:i32:1"]
    words = ["task.cpp", "--ranks", "3", "--window", "window=split:x.npy", "--sanitize", "--out", "args[1]=y{rank}.npy"]
    done = CliRunner().invoke(pto_run, [*words, *(word for one in arguments for word in ("--arg", one))])
    assert done.exit_code == 0, done.output
    for rank in range(3):
        assert np.load(f"y{rank}.npy").reshape(-1).tolist() == (values[rank] + values[(rank + 1) % 3] + 1).tolist()


CONTEXT = """\
#include <pto/pto-inst.hpp>
#include "platform_comm/comm_context.h"

extern "C" __global__ AICORE void k(__gm__ CommContext *context, __gm__ int32_t *mine, __gm__ TYPE *out) {
  int next = (context->rankId + 1) % context->rankNum;
  uint64_t offset = reinterpret_cast<uint64_t>(mine) - context->windowsIn[context->rankId];
  out[0] = reinterpret_cast<__gm__ int32_t *>(context->windowsIn[next] + offset)[0];
  out[1] = context->FIELD;
}
"""


@pytest.mark.parametrize("field", ["rankNum", "winSize"])
def test_a_context_has_fields_of_two_widths(field: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first field that a kernel reads decides how it takes the context: here one of 32 bits."""
    monkeypatch.chdir(tmp_path)
    Path("k.cpp").write_text(CONTEXT)
    np.save("x.npy", np.array([[10], [20], [30]], np.int32))
    words = ["k.cpp", "-D", f"FIELD={field}", "-D", "TYPE=int64_t", "--ranks", "3", "--window", "win=split:x.npy"]
    words += ["--arg", "context=context", "--arg", "mine=win", "--arg", "out=zeros:i64:2", "--out", "out=y{rank}.npy"]
    done = CliRunner().invoke(pto_run, words)
    assert done.exit_code == 0, done.output
    for rank in range(3):
        next_, size = np.load(f"y{rank}.npy").tolist()
        assert next_ == (20, 30, 10)[rank]
        assert size == 3 if field == "rankNum" else size >= 4
    kernel = pto_dialect.compile_cpp(CONTEXT, defines={"FIELD": field, "TYPE": "int64_t"})
    arguments = {"context": ranks.CONTEXT, "mine": ranks.Window("win"), "out": np.zeros(2, np.int64)}
    results = ranks.run_ranks(kernel.module, arguments, 3, {"win": np.load("x.npy")})
    assert [result["out"][0] for result in results] == [20, 30, 10]


PASSED_ON = """\
#include <pto/pto-inst.hpp>

template <typename T, int Count>
__global__ AICORE void k(__gm__ T *mine, __gm__ int64_t *out, int n) {
  uint64_t address = reinterpret_cast<uint64_t>(mine);
  out[0] = reinterpret_cast<__gm__ T *>(address + n * sizeof(T))[0] * Count;
}
"""


@pytest.mark.parametrize(
    ("type_", "element"),
    [("float", "f32"), ("half", "f16"), ("int32_t", "i32"), ("uint8_t", "i8"), ("int64_t", "i64"), ("short", "i16")],
)
def test_a_pointer_that_only_its_address_is_read_of_has_the_declared_elements(type_: str, element: str) -> None:
    text = pto_dialect.compile_cpp(PASSED_ON, entry=f"k<{type_}, 3>").text
    assert f"%mine: !pto.ptr<{element}>" in text
