"""SIMT programs for tests: a kernel that launches one body on buffers in global memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from parse_helpers import parsed

from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

CONSTANTS = (0, 1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 100)


def source(body: str, arguments: str, dims: tuple[int, int, int] = (32, 1, 1), helpers: str = "") -> str:
    """The text of a module with ``@body`` and a kernel ``@k`` of the same arguments that launches it.

    The body finds ``%cN`` (index) and ``%iN`` (i32) for the numbers in ``CONSTANTS``, ``%tid`` (i32, linear) and
    ``%at`` (index).
    """
    names = [part.split(":")[0].strip() for part in arguments.split(", %") if part]
    names = [name if name.startswith("%") else f"%{name}" for name in names]
    types = ", ".join(part.split(":", 1)[1].strip() for part in ("%" + arguments.lstrip("%")).split(", %"))
    known = "\n".join(f"%c{n} = arith.constant {n} : index\n%i{n} = arith.constant {n} : i32" for n in CONSTANTS)
    tid = """
      %tid_x = pto.get_tid_x : i32
      %tid_y = pto.get_tid_y : i32
      %tid_z = pto.get_tid_z : i32
      %dim_x = pto.get_block_dim_x : i32
      %dim_y = pto.get_block_dim_y : i32
      %slab = arith.muli %dim_y, %tid_z : i32
      %row = arith.addi %slab, %tid_y : i32
      %row_start = arith.muli %row, %dim_x : i32
      %tid = arith.addi %row_start, %tid_x : i32
      %at = arith.index_castui %tid : i32 to index
    """
    x, y, z = dims
    return f"""
module attributes {{pto.target_arch = "a5", pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  func.func @k({arguments}) attributes {{pto.kernel}} {{
    %x = arith.constant {x} : i32
    %y = arith.constant {y} : i32
    %z = arith.constant {z} : i32
    pto.simt_launch @body<<<%x, %y, %z>>>({", ".join(names)}) : ({types}) -> ()
    pto.barrier #pto.pipe<PIPE_ALL>
    return
  }}
  func.func @body({arguments}) attributes {{pto.simt_entry, pto.simt_max_threads = 2048 : i32}} {{
    {known}
    {tid}
    {body}
    return
  }}
  {helpers}
}}
"""


def kernel(text: str, **options: Any) -> Kernel:
    """The kernel of a program without a finding."""
    module, found = parsed(text)
    assert {entry[0] for entry in found} <= {"op-deprecated"}, found
    return Kernel(module, "k", None, RunOptions(**options))


def run(body: str, arguments: str, *values: Any, dims: tuple[int, int, int] = (32, 1, 1), helpers: str = "") -> None:
    """Runs a body on arrays, which it changes."""
    kernel(source(body, arguments, dims, helpers)).run(list(values))


def results(
    expression: str, type_: str, operands: dict[str, tuple[str, np.ndarray]], out: np.ndarray, **extra: Any
) -> np.ndarray:
    """What work-item i computes with lines that define ``%r`` from ``%a``, ``%b`` ...: element i of ``out``.

    ``operands`` maps a name to its element type and one element for each work-item.
    """
    count = out.shape[0]
    names = {name: element for name, (element, _) in operands.items()}
    arguments = ", ".join(
        [f"%{name}_in: !pto.ptr<{element}, gm>" for name, element in names.items()] + [f"%out: !pto.ptr<{type_}, gm>"]
    )
    loads = "\n".join(
        f"%{name} = pto.ldg %{name}_in[%at] : !pto.ptr<{element}, gm> -> {element}" for name, element in names.items()
    )
    body = f"{loads}\n{expression}\npto.stg %r, %out[%at] : !pto.ptr<{type_}, gm>, {type_}"
    run(body, arguments, *(values for _, values in operands.values()), out, dims=(count, 1, 1), **extra)
    return out
