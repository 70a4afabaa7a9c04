"""Prefetches into the cache from C++: a hint with an event."""

from __future__ import annotations

import numpy as np
import pytest

import pto_dialect

KERNEL = """\
#include <pto/pto-inst.hpp>
using namespace pto;
using Line = GlobalTensor<float, Shape<1, 1, 1, 1, SIZE>, Stride<SIZE, SIZE, SIZE, SIZE, 1>>;

extern "C" __global__ AICORE void k(__gm__ float *in, __gm__ float *out, __gm__ uint8_t *workspace, int n) {
  Line source(in), result(out);
  BEFORE
  auto event = TPREFETCH_ASYNC(source, context);
  if (!event.Wait(context.GetSession()))
    return;
  Tile<TileType::Vec, float, 1, 64> tile;
  TASSIGN(tile, 0x0);
  TLOAD(tile, source);
  set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  TSTORE(result, tile);
}
"""
OWN = "PrefetchAsyncContext context(workspace);"
SCRATCH = "Tile<TileType::Vec, uint8_t, 1, 256> scratch; TASSIGN(scratch, 0x8000); comm::AsyncSession session;"
BUILT = f"{SCRATCH} comm::BuildAsyncSession(scratch, workspace, session);"
GIVEN = f"{BUILT} PrefetchAsyncContext context(workspace, &session);"


@pytest.mark.parametrize("before", [OWN, GIVEN], ids=["session of the context", "session of the kernel"])
def test_data_is_loaded_after_its_prefetch(before: str) -> None:
    kernel = pto_dialect.compile_cpp(KERNEL, defines={"BEFORE": before, "SIZE": "64"})
    data, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    pto_dialect.run(kernel.module, {"in": data, "out": out, "workspace": np.zeros(64, np.uint8), "n": 0})
    assert out.tolist() == data.tolist()
    assert kernel.text.count("pto.make_prefetch_async_context") == kernel.text.count("pto.tprefetch_async") == 1
    assert [one.message for one in pto_dialect.check(kernel.text).diagnostics] == []


OPEN = (
    ("Shape<1, 1, 1, 1, SIZE>", "Shape<1, 1, 1, 1, -1>"),
    ("source(in), result(out)", "source(in, {n}), result(out, {n})"),
    ("float, 1, 64> tile", "float, 1, 64, BLayout::RowMajor, 1, -1> tile(n)"),
)


def test_prefetch_of_an_open_size_is_left_out() -> None:
    source = KERNEL
    for before, after in OPEN:
        assert before in source
        source = source.replace(before, after)
    assert "pto.tprefetch_async" not in pto_dialect.compile_cpp(source, defines={"BEFORE": OWN, "SIZE": "64"}).text


def test_prefetch_of_several_lines_is_refused() -> None:
    source = KERNEL.replace("Shape<1, 1, 1, 1, SIZE>", "Shape<1, 1, 1, 2, SIZE>")
    text = pto_dialect.compile_cpp(source, defines={"BEFORE": OWN, "SIZE": "64"}).text
    assert "comm-async-1d" in {one.rule for one in pto_dialect.check(text).diagnostics}


DEFERRED = """\
  uint64_t post = 0;
  uint32_t queues = 0;
  bool known = comm::sdma::detail::DecodeSdmaEventHandle(event.handle, post, queues);
  __gm__ uint8_t *records = session.sdmaRuntimeCtx.postDoneBase;
  workspace[0] = known ? queues : 7;
  workspace[1] = records == workspace;
"""


def test_event_of_a_transfer_is_decoded_for_a_run_time() -> None:
    source = f"""{KERNEL[: KERNEL.index("  BEFORE")]}  {BUILT}
  auto event = comm::TGET_ASYNC(result, source, session);
{DEFERRED}  event.Wait(session);
}}
"""
    kernel = pto_dialect.compile_cpp(source, defines={"SIZE": "64"})
    out, workspace = np.zeros(64, np.float32), np.zeros(64, np.uint8)
    arguments = {"in": np.ones(64, np.float32), "out": out, "workspace": workspace, "n": 0}
    pto_dialect.run(kernel.module, arguments)
    assert out.tolist() == [1.0] * 64
    assert workspace[:3].tolist() == [1, 1, 0]
