"""Kernels of vector instructions on arrays: what goes in, the result."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from parse_helpers import parsed

from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

DTYPES = {
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32,
}  # fmt: skip
EDGES = [0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan, 65504.0, 1e-8, 3.0]


def lanes(element: str) -> int:
    return 256 // np.dtype(DTYPES[element]).itemsize


def width(element: str) -> str:
    return f"b{8 * np.dtype(DTYPES[element]).itemsize}"


def kernel(body: str, arguments: str, before: str = "", **options) -> Kernel:
    """A vector program: arguments in global memory, 2 KB of each at byte 2048·position of the unified buffer."""
    names = [text.split(":")[0].strip().lstrip("%") for text in arguments.split(",") if "!pto.ptr" in text]
    types = [part.split(":", 1)[1].strip() for part in arguments.split("%")[1:] if "!pto.ptr" in part]
    elements = [type_.split("<")[1].split(",")[0].split(">")[0] for type_ in types]
    lines = [f"%c{i} = arith.constant {i} : index" for i in (0, 1, 2, 3, 8, 32, 64)]
    lines += ["%zero = arith.constant 0 : i64", "%size = arith.constant 2048 : i64", "%once = arith.constant 1 : i64"]
    for number, (name, element) in enumerate(zip(names, elements, strict=True)):
        pointer = f"!pto.ptr<{element}, ub>"
        lines += [
            f"%at_{name} = arith.constant {2048 * number} : i64",
            f"%{name}u = pto.castptr %at_{name} : i64 -> {pointer}",
            f"pto.mte_gm_ub %{name}, %{name}u, %zero, %size nburst(%once, %size, %size)"
            f" : !pto.ptr<{element}, gm>, {pointer}, i64, i64, i64, i64, i64",
        ]
    flags = 'pto.set_flag["PIPE_{0}", "PIPE_{1}", "EVENT_ID0"]\npto.wait_flag["PIPE_{0}", "PIPE_{1}", "EVENT_ID0"]'
    lines += [before, flags.format("MTE2", "V"), f"pto.vecscope {{\n{body}\n}}", flags.format("V", "MTE3")]
    for name, element in zip(names, elements, strict=True):
        lines.append(
            f"pto.mte_ub_gm %{name}u, %{name}, %size nburst(%once, %size, %size)"
            f" : !pto.ptr<{element}, ub>, !pto.ptr<{element}, gm>, i64, i64, i64, i64"
        )
    text = "\n".join(lines)
    source = (
        'module attributes {pto.target_arch = "a5", pto.kernel_kind = #pto.kernel_kind<vector>} {\n'
        f"func.func @k({arguments}) attributes {{pto.kernel}} {{\n{text}\nreturn\n}}\n}}"
    )
    module, found = parsed(source)
    assert {entry[0] for entry in found} <= {"op-deprecated"}, found
    return Kernel(module, None, None, RunOptions(**options))


def buffer(values: np.ndarray) -> np.ndarray:
    """``values`` at the start of 2 KB."""
    whole = np.zeros(2048 // values.itemsize, values.dtype)
    whole[: values.size] = values
    return whole


def numbers(element: str, seed: int = 1) -> np.ndarray:
    count, dtype, rng = lanes(element), DTYPES[element], np.random.default_rng(seed)
    if np.dtype(dtype).kind in "iu":
        return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, count, dtype, endpoint=True)
    values = rng.standard_normal(count) * 4
    values[: len(EDGES)] = np.roll(EDGES, seed)
    return values.astype(dtype)


def run_lanes(statement: str, element: str, inputs: list[np.ndarray], active: int, result: str | None = None):
    """Runs ``%r = statement`` on registers %a, %b, %c of the inputs; all lanes of the result."""
    result = result or element
    vreg, pointer = f"!pto.vreg<{lanes(element)}x{element}>", f"!pto.ptr<{element}, ub>"
    out = f"!pto.vreg<{lanes(result)}x{result}>"
    arguments = [f"%{name}: !pto.ptr<{element}, gm>" for name in "abc"[: len(inputs)]]
    body = [
        f"%n = arith.constant {active} : i32",
        f"%m, %left = pto.plt_{width(element)} %n : i32 -> !pto.mask<{width(element)}>, i32",
        f'%all = pto.pset_{width(result)} "PAT_ALL" : !pto.mask<{width(result)}>',
        *(f"%v{name} = pto.vlds %{name}u[%c0] : {pointer} -> {vreg}" for name in "abc"[: len(inputs)]),
        f"%r = {statement.format(v=vreg, o=out, m=f'!pto.mask<{width(element)}>')}",
        f"pto.vsts %r, %ou[%c0], %all : {out}, !pto.ptr<{result}, ub>, !pto.mask<{width(result)}>",
    ]
    values = [buffer(value) for value in inputs]
    values.append(np.zeros(2048 // np.dtype(DTYPES[result]).itemsize, DTYPES[result]))
    kernel("\n".join(body), ", ".join([*arguments, f"%o: !pto.ptr<{result}, gm>"])).run(values)
    return values[-1][: lanes(result)]


def same(got: np.ndarray, want: np.ndarray) -> None:
    np.testing.assert_array_equal(np.asarray(got, np.float64), np.asarray(want, np.float64))
