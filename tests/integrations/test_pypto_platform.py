"""Programs in the form of PyPTO's code generators, run by what replaces its run time."""

from __future__ import annotations

import ctypes
import shutil
from pathlib import Path

import numpy as np
import pytest
from pypto_programs import CUBE_ARGUMENTS, PAIR_WRAPPER, SCALE, SCALE_WRAPPER, VECTOR_ARGUMENTS, orchestrated, wrapper
from queue_programs import CubeToVector

from pto_dialect.integrations.events import Event, Launched, observed
from pto_dialect.integrations.pypto import assembler
from pto_dialect.integrations.pypto.host_code import HostCodeError
from pto_dialect.integrations.pypto.interface import DataType, TaskArgs, Tensor
from pto_dialect.integrations.pypto.worker import OrchestrationError, Worker
from pto_dialect.runtime.errors import ProgramError

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="no C++ compiler is installed"
)


def arguments(*values: np.ndarray | int) -> TaskArgs:
    """Arrays and numbers as arguments of an orchestration."""
    args = TaskArgs()
    types = {np.dtype(np.float32): DataType.FLOAT32, np.dtype(np.int32): DataType.INT32}
    for value in values:
        if isinstance(value, np.ndarray):
            args.add_tensor(Tensor(value.ctypes.data, value.shape, types[value.dtype], value))
        else:
            args.add_scalar(value)
    return args


def test_tasks_on_blocks_and_windows(tmp_path: Path) -> None:
    scale = wrapper(tmp_path, SCALE, SCALE_WRAPPER)
    body = """
    const ChipTensor& ext_x = orch_args.tensor(0).ref();
    const ChipTensor& ext_y = orch_args.tensor(1).ref();
    PTO2_SCOPE() {
        uint32_t t_ci_shapes[1] = {8};
        TensorCreateInfo t_ci(t_ci_shapes, 1, DataType::FLOAT32);
        TaskOutputTensors alloc_0 = alloc_tensors(t_ci);
        const ChipTensor& t = alloc_0.get_ref(0);
        CoreTaskArgs params_t0;
        params_t0.add_input(ext_x);
        params_t0.add_output(t);
        params_t0.add_scalar(to_u64(2.0f));
        params_t0.launch_spec.set_block_num(4);
        rt_submit_aiv_task(0, params_t0);
        for (int64_t i = 0; i < 2; i += 1) {
            uint32_t offsets[1] = {static_cast<uint32_t>(i * 4)};
            uint32_t shapes[1] = {std::min<uint32_t>(4, 8 - offsets[0])};
            ChipTensor part = t.view(shapes, offsets);
            ChipTensor out = ext_y.view(shapes, offsets);
            CoreTaskArgs params_t1;
            params_t1.add_input(part);
            params_t1.add_output(out);
            params_t1.add_scalar(to_u64(static_cast<float>(i + 10)));
            rt_submit_aiv_task(0, params_t1);
        }
    }
"""
    worker = Worker(platform="a2a3sim")
    x, y = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    worker.run(worker.register(orchestrated(body, scale)), arguments(x, y))
    assert y.tolist() == [0, 20, 40, 60, 88, 110, 132, 154]


PREFETCH = """
module attributes {pto.target_arch = "a2a3"} {
  func.func @warm(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %w: !pto.ptr<i8>)
      attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %view = pto.make_tensor_view %x, shape = [%c8], strides = [%c1] : !pto.tensor_view<?xf32>
    %part = pto.partition_view %view, offsets = [%c0], sizes = [%c8]
      : !pto.tensor_view<?xf32> -> !pto.partition_tensor_view<8xf32>
    %context = pto.make_prefetch_async_context(%w : !pto.ptr<i8>) -> !pto.prefetch_async_context
    %event = pto.tprefetch_async(%part, %context : !pto.partition_tensor_view<8xf32>, !pto.prefetch_async_context)
      -> !pto.async_event
    @USE@
    %v = pto.load_scalar %x[%c0] : !pto.ptr<f32> -> f32
    pto.store_scalar %v, %y[%c1] : !pto.ptr<f32>, f32
    return
  }
}
"""
PREFETCH_WRAPPER = (
    SCALE_WRAPPER.partition("    union {")[0]
    + """
    __gm__ int8_t* w = reinterpret_cast<__gm__ int8_t*>(get_dma_workspace(args, DMA_WORKSPACE_SDMA));
    warm(x, y, w);
}
"""
)
PREFETCHING = """
    PTO2_SCOPE() {
        CoreTaskArgs params;
        params.add_input(orch_args.tensor(0).ref());
        params.add_output(orch_args.tensor(1).ref());
        rt_submit_aiv_task(0, params);
    }
"""


def test_prefetches_need_no_workspace(tmp_path: Path) -> None:
    warm = wrapper(tmp_path, PREFETCH.replace("@USE@", ""), PREFETCH_WRAPPER)
    x, y = np.arange(1, 9, dtype=np.float32), np.zeros(8, np.float32)
    worker = Worker(platform="a2a3sim")
    worker.run(worker.register(orchestrated(PREFETCHING, warm)), arguments(x, y))
    assert y.tolist() == [0, 1, 0, 0, 0, 0, 0, 0]


def test_a_workspace_cannot_be_accessed(tmp_path: Path) -> None:
    use = "%u = pto.load_scalar %w[%c0] : !pto.ptr<i8> -> i8"
    warm = wrapper(tmp_path, PREFETCH.replace("@USE@", use), PREFETCH_WRAPPER)
    worker = Worker(platform="a2a3sim")
    handle = worker.register(orchestrated(PREFETCHING, warm))
    with pytest.raises(ProgramError, match=r"outside gm 'warm\.w', which has 0 bytes"):
        worker.run(handle, arguments(np.ones(8, np.float32), np.zeros(8, np.float32)))


def test_pairs_share_queues_of_their_block(tmp_path: Path) -> None:
    """The cube function and the vector function have arguments of their own; each block has its part of the slots."""
    program = CubeToVector(arch="a2a3", count=2).text()
    cube = wrapper(tmp_path, program, PAIR_WRAPPER.replace("@ARGUMENTS@", CUBE_ARGUMENTS), "pair")
    vector = wrapper(tmp_path, program, PAIR_WRAPPER.replace("@ARGUMENTS@", VECTOR_ARGUMENTS), "pair")
    body = """
    PTO2_SCOPE() {
        MixedKernels mixed_0 = {0, 1, 1};
        CoreTaskArgs params_t0;
        params_t0.add_input(orch_args.tensor(0).ref());
        params_t0.add_input(orch_args.tensor(1).ref());
        params_t0.add_output(orch_args.tensor(2).ref());
        params_t0.add_inout(orch_args.tensor(3).ref());
        params_t0.launch_spec.set_block_num(2);
        rt_submit_task(mixed_0, params_t0);
    }
"""
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-4, 5, shape).astype(np.float32) for shape in ((16, 16), (32, 32)))
    out, slots = np.zeros((32, 64), np.float32), np.zeros(2 * 8 * 512, np.float32)
    seen: list[Event] = []
    with observed(seen.append):
        worker = Worker(platform="a2a3")
        worker.run(worker.register(orchestrated(body, cube, vector)), arguments(a, b, out, slots))
    assert np.array_equal(out[:, :32], np.concatenate([a @ b[:16], a @ b[16:]]))
    assert np.any(slots[: 8 * 512]) and np.any(slots[8 * 512 :])
    launched = [event for event in seen if isinstance(event, Launched)]
    assert [(event.client, event.functions, event.blocks) for event in launched] == [("pypto", ("cube", "vector"), 2)]


@pytest.mark.parametrize(
    ("kind", "submit", "cores"),
    [
        ("cube", "rt_submit_aic_task(0, params)", {"aic"}),
        ("vector", "rt_submit_aiv_task(0, params)", {"aiv0"}),
        ("vector", "MixedKernels both = {-1, 0, 0}; rt_submit_task(both, params)", {"aiv0", "aiv1"}),
    ],
)
def test_cores_of_a_task(tmp_path: Path, kind: str, submit: str, cores: set[str]) -> None:
    program = SCALE.replace("kernel_kind<vector>", f"kernel_kind<{kind}>")
    scale = wrapper(tmp_path, program, SCALE_WRAPPER)
    body = f"""
    CoreTaskArgs params;
    params.add_input(orch_args.tensor(0).ref());
    params.add_output(orch_args.tensor(1).ref());
    params.add_scalar(to_u64(2.0f));
    {submit};
"""
    worker = Worker()
    x, y = np.arange(3, dtype=np.float32), np.zeros(3, np.float32)
    worker.run(worker.register(orchestrated(body, scale)), arguments(x, y))
    assert y.tolist() == [0, 2, 4]
    kept = [kernel for kernel in assembler.device().programs if kernel.filename == str(tmp_path / "kernel.pto")]
    assert [set(kernel.program.roots) for one in kept for kernel in one.kernels] == [cores]


def test_reads_writes_predicates_and_dependencies(tmp_path: Path) -> None:
    scale = wrapper(tmp_path, SCALE, SCALE_WRAPPER)
    body = """
    const ChipTensor& ext_x = orch_args.tensor(0).ref();
    const ChipTensor& ext_flags = orch_args.tensor(1).ref();
    int64_t n = from_u64<int64_t>(orch_args.scalar(0));
    PTO2_SCOPE() {
        PTO2TaskId last = PTO2TaskId::invalid();
        for (int64_t i = 0; i < n; i += 1) {
            uint32_t at[1] = {static_cast<uint32_t>(i)};
            int32_t flag = get_tensor_data<int32_t>(ext_flags, 1, at);
            CoreTaskArgs params_t0;
            params_t0.add_inout(ext_x);
            params_t0.add_no_dep(ext_x);
            params_t0.add_scalar(to_u64(3.0f));
            PTO2TaskId deps[1];
            uint32_t deps_count = 0;
            if (last.is_valid()) deps[deps_count++] = last;
            params_t0.set_dependencies(deps, deps_count);
            CoreTaskPredicate pred;
            pred.operand.tensor = &ext_flags;
            pred.operand.ndims = 1;
            pred.operand.indices[0] = static_cast<uint32_t>(i);
            pred.op = PredicateOp::GT;
            pred.target = 0;
            params_t0.set_predicate(pred);
            TaskOutputTensors outs = rt_submit_aiv_task(0, params_t0);
            last = outs.task_id();
            set_tensor_data<int32_t>(ext_flags, 1, at, flag + 100);
        }
    }
"""
    worker = Worker()
    x, flags = np.ones(4, np.float32), np.array([1, -1, 0, 2], np.int32)
    worker.run(worker.register(orchestrated(body, scale)), arguments(x, flags, 4))
    assert x.tolist() == [9, 9, 9, 9]
    assert flags.tolist() == [101, 99, 100, 102]


@pytest.mark.parametrize(
    ("body", "error", "message"),
    [
        ('rt_report_fatal(3, "%s", "no room");', OrchestrationError, "no room"),
        ("always_assert(orch_args.tensor(0).ref().ndims == 2);", OrchestrationError, "claims .*ndims == 2"),
        (
            "CoreTaskArgs params; params.add_input(orch_args.tensor(0).ref()); rt_submit_aiv_task(7, params);",
            OrchestrationError,
            "a kernel that does not exist",
        ),
        ("this is no C++;", HostCodeError, "cannot be compiled for the host"),
    ],
)
def test_wrong_orchestrations(body: str, error: type[Exception], message: str) -> None:
    worker = Worker()
    with pytest.raises(error, match=message):
        worker.run(worker.register(orchestrated(body)), arguments(np.ones(4, np.float32)))


def test_faults_of_kernels_end_the_orchestration(tmp_path: Path) -> None:
    scale = wrapper(tmp_path, SCALE, SCALE_WRAPPER)
    body = """
    const ChipTensor& ext_x = orch_args.tensor(0).ref();
    for (int64_t i = 0; i < 2; i += 1) {
        CoreTaskArgs params;
        params.add_input(ext_x);
        params.add_output(orch_args.tensor(1).ref());
        params.add_scalar(to_u64(1.0f));
        rt_submit_aiv_task(0, params);
    }
"""
    worker = Worker()
    with pytest.raises(ProgramError, match=r"kernel\.pto:") as caught:
        worker.run(
            worker.register(orchestrated(body, scale)), arguments(np.ones(4, np.float32), np.ones(2, np.float32))
        )
    assert caught.value.rule == "mem-oob"


def test_kernels_without_a_program_are_refused() -> None:
    worker = Worker()
    with pytest.raises(HostCodeError, match="kernel 0 of the orchestration is C\\+\\+ of its own"):
        worker.run(worker.register(orchestrated("", "void kernel_entry(int64_t*) {}")), arguments())


def test_memory_of_the_device() -> None:
    worker = Worker()
    worker.init(prewarm_config=None)
    buffer = worker.malloc(16)
    given = (ctypes.c_ubyte * 16)(*range(16))
    worker.copy_to(buffer, given)
    taken = (ctypes.c_ubyte * 16)()
    worker.copy_from(taken, buffer)
    assert bytes(taken) == bytes(range(16))
    tensor = buffer.tensor((4,), DataType.INT32)
    assert (tensor.address, tensor.nbytes) == (buffer.base, 16)
    worker.free(buffer)
    worker.close()
