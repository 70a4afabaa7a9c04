"""Logical values from registers and back. Source: docs/reference/language.md, "Attributes"."""

from __future__ import annotations

import numpy as np
import pytest
from vmi_programs import DTYPES, kernel, run

from pto_dialect.runtime.errors import ProgramError

LAYOUTS = [
    ("contiguous", "f32", 64, [list(range(64))]),
    ("contiguous", "f32", 100, [list(range(64)), list(range(64, 100))]),
    ("contiguous, lane_stride = 2", "bf16", 5, [[0, None, 1, None, 2, None, 3, None, 4]]),
    ("deinterleaved = 2", "f32", 128, [list(range(0, 128, 2)), list(range(1, 128, 2))]),
    (
        "deinterleaved = 2", "f32", 256,
        [list(range(0, 128, 2)), list(range(128, 256, 2)), list(range(1, 128, 2)), list(range(129, 256, 2))],
    ),
    ("deinterleaved = 4", "ui8", 10, [[0, 4, 8], [1, 5, 9], [2, 6], [3, 7]]),
    (
        "block_deinterleaved = 2", "f32", 32,
        [[*range(8), *range(16, 24)], [*range(8, 16), *range(24, 32)]],
    ),
    ("num_groups = 8, slots = 8", "f32", 8, [list(range(8))]),
    ("num_groups = 8, slots = 8, lane_stride = 4", "ui8", 8, [[i // 4 if i % 4 == 0 else None for i in range(32)]]),
    ("num_groups = 3, slots = 1", "bf16", 3, [[0], [1], [2]]),
]  # fmt: skip


@pytest.mark.parametrize(("layout", "element", "lanes", "registers"), LAYOUTS)
def test_registers_of_layouts(layout: str, element: str, lanes: int, registers: list[list[int | None]]) -> None:
    dtype = DTYPES[element]
    width = 256 // dtype.itemsize
    values = np.arange(1, lanes + 1).astype(dtype)
    whole = f"!pto.vmi.vreg<{lanes}x{element}, #pto.vmi.layout<{layout}>>"
    part = f"!pto.vreg<{width}x{element}>"
    names = [f"r{number}" for number in range(len(registers))]
    listed, types = ", ".join(f"%{name}" for name in names), ", ".join([part] * len(names))
    body = f"""{listed} = "pto.vmi.unpack"(%a) : ({whole}) -> ({types})
    %b = "pto.vmi.pack"({listed}) : ({types}) -> {whole}"""
    results = dict.fromkeys(names, part) | {"b": whole}
    *parts, back = run(body, {"a": (whole, values)}, results)
    assert back.tolist() == values.tolist()
    for got, held in zip(parts, registers, strict=True):
        want = [0 if lane is None else int(values[lane]) for lane in held]
        assert got.astype(np.int64).tolist() == want + [0] * (width - len(want))


@pytest.mark.parametrize(
    ("layout", "granularity", "part", "bits"),
    [
        ("deinterleaved = 2", "b32", "b32", [[0, 2, 4, 6], [1, 3, 5, 7]]),
        ("block_deinterleaved = 2", "b32", "b32", [list(range(8)), []]),
        ("contiguous, lane_stride = 2", "b16", "b32", [list(range(8))]),
    ],
)
def test_predicates_in_registers(layout: str, granularity: str, part: str, bits: list[list[int]]) -> None:
    """Registers are read lane by lane, through a store of ones under their predicates."""
    lanes = np.array([True, False, False, True, True, False, True, True])
    whole = f"!pto.vmi.mask<8x{granularity}, #pto.vmi.layout<{layout}>>"
    mask, vreg, memory = f"!pto.mask<{part}>", "!pto.vreg<64xf32>", "!pto.ptr<f32, ub>"
    names = [f"r{number}" for number in range(len(bits))]
    listed, types = ", ".join(f"%{name}" for name in names), ", ".join([mask] * len(names))
    lines = [f'{listed} = "pto.vmi.unpack"(%a) : ({whole}) -> ({types})']
    for number, name in enumerate(names):
        lines += [
            f"%o{number} = arith.constant {64 * number} : index",
            f"pto.vsts %one, %p[%o{number}], %{name} : {vreg}, {memory}, {mask}",
        ]
    lines += [f'%b = "pto.vmi.pack"({listed}) : ({types}) -> {whole}']
    target = np.zeros(64 * len(bits), np.float32)
    before = "%s = arith.constant 1.0 : f32\n%one = pto.vbr %s : f32 -> " + vreg
    body = "\n".join([before, *lines])
    (back,) = run(body, {"a": (whole, lanes), "p": (memory, target)}, {"b": whole})
    assert back.tolist() == lanes.tolist()
    for got, held in zip(target.reshape(len(bits), 64), bits, strict=True):
        assert [int(x) for x in got] == [int(lanes[lane]) for lane in held] + [0] * (64 - len(held))


def test_registers_that_cannot_hold_the_lanes_are_refused() -> None:
    whole = "!pto.vmi.vreg<64xbf16, #pto.vmi.layout<contiguous, lane_stride = 4>>"
    body = f'%r = "pto.vmi.unpack"(%a) : ({whole}) -> !pto.vreg<128xbf16>'
    with pytest.raises(ProgramError, match="1 registers do not hold"):
        kernel(body, {"a": whole})
