"""Kernels that are C++ of their own, in the orchestrations that PyPTO generates for them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pypto_chips import COLS, submit
from pypto_programs import HEAD, TAIL

from pto_dialect.cpp.compilers import CompilerMissing, find_compiler
from pto_dialect.diagnostics.origins import shown
from pto_dialect.integrations.events import Event, Launched, instrumented, observed
from pto_dialect.integrations.pypto import assembler
from pto_dialect.integrations.pypto.interface import ChipCallable, CoreCallable, DataType, TaskArgs, Tensor
from pto_dialect.integrations.pypto.objects import packed
from pto_dialect.integrations.pypto.platform import KernelCompiler
from pto_dialect.integrations.pypto.worker import Worker
from pto_dialect.runtime.errors import BindingError
from pto_dialect.sanitize.options import SanitizeOptions


def is_there() -> bool:
    """Whether there are compilers for kernels and for orchestrations."""
    try:
        find_compiler(None)
    except CompilerMissing:
        return False
    return any(map(shutil.which, ("g++", "clang++", "c++")))


pytestmark = pytest.mark.skipif(not is_there(), reason="no C++ compiler is installed")

START = """
#include <cstdint>
#include <pto/pto-inst.hpp>
#include "platform_comm/comm_context.h"
#include "pto/comm/pto_comm_inst.hpp"
#include "tensor.h"
#include "intrinsic.h"
#include "../common/step.h"

static AICORE __gm__ float *elements(__gm__ int64_t *args, int n) {
    __gm__ ChipTensor *t = reinterpret_cast<__gm__ ChipTensor *>(args[n]);
    return reinterpret_cast<__gm__ float *>(t->buffer.addr) + t->start_offset;
}
extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
"""
LINES = START.count("\n")
"""Lines before the body of a kernel."""


def kernel(folder: Path, body: str, core: str = "aiv", platform: str = "a2a3sim", **more: Any) -> CoreCallable:
    """A kernel as PyPTO compiles it, with a header beside its folder."""
    (folder / "common").mkdir(exist_ok=True)
    (folder / "common" / "step.h").write_text("#define STEP 16\n")
    (folder / core).mkdir(exist_ok=True)
    path = folder / core / "k.cpp"
    path.write_text(f"{START}{body}}}\n")
    return CoreCallable.build((), KernelCompiler(platform).compile_incore(str(path), core_type=core, **more))


def chip(body: str, *kernels: CoreCallable) -> ChipCallable:
    """An orchestration with this body."""
    return ChipCallable.build((), "f", packed(HEAD + body + TAIL), list(enumerate(kernels)))


def run(callable_: ChipCallable, *arrays: np.ndarray, platform: str = "a2a3sim") -> None:
    """Runs an orchestration on arrays of f32."""
    args = TaskArgs()
    for one in arrays:
        args.add_tensor(Tensor(one.ctypes.data, one.shape, DataType.FLOAT32, one))
    worker = Worker(platform=platform)
    worker.run(worker.register(callable_), args)


BLOCKS = """
    uint32_t extents[] = {8, 16}, offsets[] = {2, 0};
    CoreTaskArgs params;
    params.add_inout(orch_args.tensor(0).ref().view(extents, offsets));
    params.add_scalar(7);
    params.launch_spec.set_block_num(4);
    rt_submit_aiv_task(0, params);
"""


@pytest.mark.parametrize("platform", ["a2a3sim", "a5"])
def test_a_kernel_reads_tensors_numbers_and_blocks(tmp_path: Path, platform: str) -> None:
    body = """
    __gm__ ChipTensor *t = reinterpret_cast<__gm__ ChipTensor *>(args[0]);
    int64_t total = 1;
    for (uint32_t dim = 0; dim < t->ndims; ++dim) total *= t->shapes[dim];
    int32_t block = get_block_idx(args);
    elements(args, 0)[block * STEP] = static_cast<float>(args[1]) + block * 1000 + total;
"""
    out = np.zeros((10, 16), np.float32)
    run(chip(BLOCKS, kernel(tmp_path, body, platform=platform)), out, platform=platform)
    expected = np.zeros((10, 16), np.float32)
    expected[2:6, 0] = [7 + 8 * 16 + 1000 * block for block in range(4)]
    assert np.array_equal(out, expected)


def test_a_kernel_reads_what_describes_its_tensor(tmp_path: Path) -> None:
    body = """
    __gm__ ChipTensor *t = reinterpret_cast<__gm__ ChipTensor *>(args[0]);
    __gm__ float *out = elements(args, 0);
    out[0] = t->shapes[t->ndims - 1];
    out[1] = t->strides[t->ndims - 2];
    out[2] = t->buffer.size;
    out[3] = t->dtype;
    out[4] = t->is_contiguous;
"""
    orchestration = """
    uint32_t extents[] = {3, 8}, offsets[] = {0, 4};
    CoreTaskArgs params;
    params.add_inout(orch_args.tensor(0).ref().view(extents, offsets));
    rt_submit_aiv_task(0, params);
"""
    out = np.zeros((4, 16), np.float32)
    run(chip(orchestration, kernel(tmp_path, body)), out)
    assert out[0, 4:9].tolist() == [8, 16, 4 * 16 * 4, DataType.FLOAT32.value, 0]


MIXED = """
    CoreTaskArgs params;
    params.add_inout(orch_args.tensor(0).ref());
    params.launch_spec.set_block_num(2);
    MixedKernels kernels;
    kernels.aic_kernel_id = 0;
    kernels.aiv0_kernel_id = 1;
    kernels.aiv1_kernel_id = AIV1;
    rt_submit_task(kernels, params);
"""


@pytest.mark.parametrize("second", [False, True])
def test_kernels_of_several_files_start_together(tmp_path: Path, second: bool) -> None:
    cube = "    elements(args, 0)[get_block_idx(args) * 64] = 1;\n"
    vector = """
    int32_t place = get_block_idx(args) * 64 + (get_sub_block_id(args) + 1) * STEP;
    elements(args, 0)[place] = place;
"""
    orchestration = MIXED.replace("AIV1", "1" if second else "INVALID_KERNEL_ID")
    out = np.zeros(128, np.float32)
    run(chip(orchestration, kernel(tmp_path, cube, "aic"), kernel(tmp_path, vector)), out)
    expected = np.zeros(128, np.float32)
    for block in (0, 64):
        expected[[block, block + 16]] = 1, block + 16
        expected[block + 32] = block + 32 if second else 0
    assert np.array_equal(out, expected)


NEXT = """
    __gm__ CommContext *ctx = reinterpret_cast<__gm__ CommContext *>(args[4]);
    __gm__ ChipTensor *s = reinterpret_cast<__gm__ ChipTensor *>(args[3]);
    __gm__ int32_t *signal = reinterpret_cast<__gm__ int32_t *>(s->buffer.addr) + s->start_offset;
    using Row = pto::GlobalTensor<float, pto::Shape<1, 1, 1, 1, 64>, pto::Stride<64, 64, 64, 64, 1>>;
    using Tile = pto::Tile<pto::TileType::Vec, float, 1, 64>;
    int rank = ctx->rankId, ranks = ctx->rankNum, next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    Tile tile;
    TASSIGN(tile, 0);
    Row x(elements(args, 0)), y(elements(args, 1)), mine(elements(args, 2));
    uint64_t here = reinterpret_cast<uint64_t>(elements(args, 2)) - ctx->windowsIn[rank];
    Row theirs(reinterpret_cast<__gm__ float *>(ctx->windowsIn[next] + here));
    uint64_t told = reinterpret_cast<uint64_t>(signal) - ctx->windowsIn[rank];
    TLOAD(tile, x);
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    TSTORE(mine, tile);
    pipe_barrier(PIPE_ALL);
    pto::comm::Signal there(reinterpret_cast<__gm__ int32_t *>(ctx->windowsIn[before] + told)), own(signal);
    pto::comm::TNOTIFY(there, 1, pto::comm::NotifyOp::AtomicAdd);
    WAIT
    pipe_barrier(PIPE_ALL);
    TLOAD(tile, theirs);
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    TSTORE(y, tile);
"""
WAIT = "pto::comm::TWAIT(own, 1, pto::comm::WaitCmp::GE);"
READ = LINES + 1 + NEXT[: NEXT.index("TLOAD(tile, theirs)")].count("\n")
"""The line that reads the window of the next rank."""
TASK = """
    CoreTaskArgs params;
    params.add_input(orch_args.tensor(0).ref());
    params.add_output(orch_args.tensor(1).ref());
    params.add_inout(orch_args.tensor(2).ref());
    params.add_inout(orch_args.tensor(3).ref());
    params.add_scalar(orch_args.scalar(0));
    rt_submit_aiv_task(0, params);
"""


def ring(folder: Path, wait: str, ranks: int) -> tuple[bool, list[str]]:
    """Whether each rank gets the row of the next one, sanitized, and the findings with the C++ lines."""
    events: list[Event] = []
    x = np.arange(ranks * COLS, dtype=np.float32).reshape(ranks, 1, COLS)
    y = np.zeros_like(x)
    one = chip(TASK, kernel(folder, NEXT.replace("WAIT", wait)))
    with observed(events.append), instrumented(SanitizeOptions()):
        Worker(level=3, platform="a2a3sim").submit(lambda orch, *_: submit(orch, [one] * ranks, x, y)).result()
    launches = [event for event in events if isinstance(event, Launched)]
    found = [shown(one) for launch in launches for one in launch.findings]
    places = [f"{Path(one.span.source.name).name}:{one.span.line} {one.rule}" for one in found if one.span]
    return np.array_equal(y, np.roll(x, -1, axis=0)), places


@pytest.mark.parametrize("ranks", [2, 4])
def test_ranks_reach_the_windows_of_each_other(tmp_path: Path, ranks: int) -> None:
    assert ring(tmp_path, WAIT, ranks) == (True, [])


def test_a_missing_wait_is_found_at_the_line_of_the_kernel(tmp_path: Path) -> None:
    loose = "pto::comm::TTEST(own, 5, pto::comm::WaitCmp::LE);"
    _, found = ring(tmp_path, loose, 2)
    assert f"k.cpp:{READ} race-cross-rank" in found


def test_a_kernel_that_does_not_compile_is_reported_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=rf"k\.cpp:{LINES + 1}:5: error: use of undeclared identifier 'missing'"):
        kernel(tmp_path, "    missing = 1;\n")


def test_a_kernel_with_an_array_that_has_no_elements_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="indexes it by no constant"):
        kernel(tmp_path, "    args[args[0]] = 1;\n")


def test_folders_of_headers_are_those_that_the_kernel_names(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "factor.h").write_text("#define FACTOR 3\n")
    folders = [*KernelCompiler().get_incore_include_dirs(), str(own)]
    body = '#include "factor.h"\n    elements(args, 0)[0] = FACTOR;\n'
    orchestration = BLOCKS.replace("4);", "1);")
    out = np.zeros((10, 16), np.float32)
    run(chip(orchestration, kernel(tmp_path, body, extra_include_dirs=folders)), out)
    assert out[2, 0] == 3


def test_a_number_in_place_of_a_tensor_is_refused(tmp_path: Path) -> None:
    body = "    elements(args, 0)[0] = reinterpret_cast<__gm__ ChipTensor *>(args[1])->shapes[0];\n"
    with pytest.raises(RuntimeError, match="a kernel takes a number for a tensor"):
        run(chip(BLOCKS, kernel(tmp_path, body)), np.zeros((10, 16), np.float32))


def test_memory_that_is_given_by_its_address_is_found(tmp_path: Path) -> None:
    body = "    reinterpret_cast<__gm__ float *>(args[1])[3] = elements(args, 0)[0];\n"
    orchestration = """
    CoreTaskArgs params;
    params.add_input(orch_args.tensor(0).ref());
    params.add_scalar(orch_args.tensor(1).ref().buffer.addr + MORE);
    rt_submit_aiv_task(0, params);
"""
    one = kernel(tmp_path, body)
    x, y = np.full(8, 5, np.float32), np.zeros(8, np.float32)
    run(chip(orchestration.replace("MORE", "4"), one), x, y)
    assert y.tolist() == [0, 0, 0, 0, 5, 0, 0, 0]
    with pytest.raises(BindingError, match="is in no buffer of this launch"):
        run(chip(orchestration.replace("MORE", "100000000000"), one), x, y)


def test_the_program_knows_its_source(tmp_path: Path) -> None:
    """Binaries that an earlier process has kept are loaded without their files."""
    text = kernel(tmp_path, "    elements(args, 0)[0] = 1;\n").text
    (found,) = assembler.embedded_in(text)
    assert (found.target, found.ordered) == ("a2a3", False)
    assert found.source == (tmp_path / "aiv" / "k.cpp").read_text()
