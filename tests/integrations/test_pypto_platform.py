"""Programs in the form of PyPTO's code generators, run by what takes the place of its run time."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from pypto_programs import SCALE, SCALE_WRAPPER, orchestrated, wrapper

from pto_dialect.integrations.pypto.interface import DataType, TaskArgs, Tensor
from pto_dialect.integrations.pypto.worker import Worker

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
            uint32_t shapes[1] = {4};
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
