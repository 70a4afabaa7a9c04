"""Programs that were built in Python run as they are, and errors of a run name the Python line."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pto_dialect import api
from pto_dialect.integrations.builders import ir, pto
from pto_dialect.integrations.builders.dialects import arith, func
from pto_dialect.runtime.errors import ProgramError


def copy_kernel(rows: int) -> Any:
    """Builds a kernel that copies a tile of this many rows."""
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.create()
        f32, index = ir.F32Type.get(), ir.IndexType.get()
        tile = pto.TileBufType.get([rows, 64], f32, pto.AddressSpaceAttr.get(pto.AddressSpace.VEC))
        part = pto.PartitionTensorViewType.get([rows, 64], f32)
        pointer = pto.PtrType.get(f32)
        with ir.InsertionPoint(module.body):
            kernel = func.FuncOp("copy", ([pointer, pointer], []))
        with ir.InsertionPoint(kernel.add_entry_block()):
            zero, one, height, width = (arith.ConstantOp(index, number) for number in (0, 1, rows, 64))
            views = [
                pto.MakeTensorViewOp(pto.TensorViewType.get(2, f32), argument, [height, width], [width, one])
                for argument in kernel.arguments
            ]
            source, target = (pto.PartitionViewOp(part, view, [zero, zero], [height, width]) for view in views)
            loaded = pto.AllocTileOp(tile)
            pto.TLoadOp(None, source, loaded)  # load
            pto.TStoreOp(None, loaded, target)
            func.ReturnOp([])
        module.operation.verify()
    return module._x


def test_built_program_runs_without_its_text() -> None:
    source = np.arange(1024, dtype=np.float32)
    target = np.zeros(1024, dtype=np.float32)
    api.compile(copy_kernel(16))(source, target)
    assert np.array_equal(source, target)


def test_error_of_a_run_names_the_python_line() -> None:
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    line = 1 + next(number for number, text in enumerate(lines) if text.endswith("# load"))
    small = np.zeros(512, dtype=np.float32)
    with pytest.raises(ProgramError, match=rf"{Path(__file__).name}:{line}:13"):
        api.compile(copy_kernel(16))(small, small.copy())
