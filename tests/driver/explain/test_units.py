"""Units of operands are those that a run counts in: where a second burst, row or fractal lands, or is read."""

import re
from typing import Any

import numpy as np
import pytest

from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.driver.explain.examples import Example
from pto_dialect.driver.explain.manual.units import unit_of
from pto_dialect.driver.explore.synthesized import synthesize_arguments, values_of
from pto_dialect.ir.core.base import signature
from pto_dialect.ir.core.registry import op_class
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.syntax.read.parser import parse_program

BYTES = {"bytes": 1, "elements": 4, "C0 units of the accumulator": 64, "rows of 16 accumulators": 64}
"""Bytes of units that state no number, for elements of four bytes."""


def bytes_of(unit: str) -> int:
    found = re.match(r"(?:blocks|fractals|fragments) of (\d+)", unit)
    return int(found[1]) if found else next(size for word, size in BYTES.items() if unit.startswith(word))


def unit(name: str, operand: str) -> str:
    cls = op_class(name)
    found = unit_of(cls, next(slot for slot in signature(cls).operands if slot.name == operand))
    assert found is not None
    return found.unit


def moved(name: str, statement: str) -> tuple[np.ndarray, np.ndarray]:
    """Bytes of the source, each distinct, and what the destination holds after the statement."""
    program = Example(name, "a5", statement).program
    module = parse_program(SourceFile("example.pto", program), DiagnosticEngine())
    assert module is not None
    kernel = Kernel(module, "example", "a5", RunOptions())
    values: list[Any] = values_of(kernel, {}, dict(synthesize_arguments(kernel, {}, 0, 1)))
    source, destination = values[:2]
    source[...] = np.arange(1, source.size + 1).reshape(source.shape)
    destination[...] = 0
    kernel.run(values)
    return source.reshape(-1), destination.reshape(-1)


I32 = ": !pto.ptr<i32, {}>, !pto.ptr<i32, {}>"
BURSTS = {
    "mte_gm_ub": ("%c0, %c32 nburst(%c2, %c64, %c96)", "gm", "ub", "nburst_src_stride", "nburst_dst_stride", 64, 96),
    "mte_gm_l1": ("%c32 nburst(%c2, %c64, %c96)", "gm", "l1", "nburst_src_stride", "nburst_dst_stride", 64, 96),
    "mte_ub_gm": ("%c32 nburst(%c2, %c64, %c96)", "ub", "gm", "nburst_src_stride", "nburst_dst_stride", 64, 96),
    "mte_l1_ub": ("%c1 nburst(%c2, %c1, %c2)", "l1", "ub", "nburst_src_stride", "nburst_dst_stride", 1, 2),
    "mte_ub_l1": ("%c1 nburst(%c2, %c1, %c2)", "ub", "l1", "src_stride", "dst_stride", 1, 2),
    "mte_ub_ub": ("%c1 nburst(%c2, %c1, %c2)", "ub", "ub", "src_stride", "dst_stride", 1, 2),
    "copy_gm_to_cbuf": ("%c2, %c1, %c1, %c2", "gm", "l1", "src_stride", "dst_stride", 1, 2),
    "copy_cbuf_to_ubuf": ("%c0, %c2, %c1, %c1, %c2", "l1", "ub", "src_stride", "dst_stride", 1, 2),
    "copy_ubuf_to_cbuf": ("%c0, %c2, %c1, %c1, %c2", "ub", "l1", "src_stride", "dst_stride", 1, 2),
    "copy_ubuf_to_ubuf": ("%c0, %c2, %c1, %c1, %c2", "ub", "ub", "src_stride", "dst_stride", 1, 2),
}
"""Two bursts of 32 bytes: the operands, both memories, the operands with the distances and their values."""


@pytest.mark.parametrize("name", BURSTS)
def test_distances_of_bursts(name: str) -> None:
    operands, source, destination, read, written, reads, writes = BURSTS[name]
    count = len(re.findall("%", operands))
    types = I32.format(source, destination) + ", i64" * count
    before, after = moved(f"pto.{name}", f"pto.{name} %source, %destination, {operands}\n  {types}")
    steps = []
    for operand, value in ((read, reads), (written, writes)):
        said = unit(f"pto.{name}", operand)
        steps.append((value * bytes_of(said) + (32 if "from the end" in said else 0)) // 4)
    wanted = np.zeros_like(after)
    for burst in range(2):
        wanted[burst * steps[1] :][:8] = before[burst * steps[0] :][:8]
    assert bytes_of(unit(f"pto.{name}", "len_burst")) in (1, 32)
    np.testing.assert_array_equal(after, wanted)


def test_distances_of_a_write_back() -> None:
    name = "pto.mte_l0c_gm"
    before, after = moved(
        name,
        "pto.mte_l0c_gm %source, %destination, %c16, %c32, %c48, %c40, %c0, %c0, nz2nd\n"
        "  : !pto.ptr<f32, l0c>, !pto.ptr<f32, gm>, i64, i64, i64, i64, i64, i64",
    )
    block = 48 * bytes_of(unit(name, "src_stride")) // 4
    row = 40 * bytes_of(unit(name, "dst_stride")) // 4
    for m in (0, 1, 15):
        np.testing.assert_array_equal(after[m * row :][:16], before[m * 16 :][:16])
        np.testing.assert_array_equal(after[m * row + 16 :][:16], before[block + m * 16 :][:16])


def test_distances_of_fractals() -> None:
    name = "pto.load_cbuf_to_ca"
    before, after = moved(
        name,
        "pto.load_cbuf_to_ca %source, %destination, %c1, %c0, %c1, %c2, %c3, %c2\n"
        "  : !pto.ptr<i32, l1>, !pto.ptr<i32, l0a>, i64, i64, i64, i64, i64, i64",
    )
    start, read, written = (bytes_of(unit(name, one)) // 4 for one in ("m_start", "src_stride", "dst_stride"))
    np.testing.assert_array_equal(after[:128], before[start:][:128])
    np.testing.assert_array_equal(after[2 * written :][:128], before[start + 3 * read :][:128])
