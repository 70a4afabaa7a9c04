"""Faults that are planted into C++ kernels are reported at their lines and columns, and the correct kernels are clean.

``benchmarks/cpp_faults.py`` plants all of them.
"""

import json
from pathlib import Path

import pytest
from planted_faults import FAULTS, FOLDER, RUNS, Fault, kernel_path, places

from run_lines import run_command

CHOSEN = (
    *("vector_loop/store-not-ordered", "vector_loop/left-over", "double_buffer/flags-of-the-other"),
    *("softmax/no-barrier-in-function", "gemm/panels-overlap", "tail/whole-last-tile", "blocks/blocks-overlap"),
    *("product_plus_one/not-awaited", "scalars/element-too-early"),
)
"""One compilation of each kernel; they take most of the time."""


@pytest.mark.parametrize("kernel", RUNS)
def test_correct_kernel_has_no_finding(kernel: str) -> None:
    result = run_command("pto-run", [str(kernel_path(kernel)), *RUNS[kernel].split(), "--sanitize"])
    assert (result.exit_code, result.stderr) == (0, b"")


@pytest.mark.parametrize(
    "fault", [one for one in FAULTS if f"{one.kernel}/{one.name}" in CHOSEN], ids=lambda one: f"{one.kernel}-{one.name}"
)
def test_fault_is_named_at_its_position(fault: Fault, tmp_path: Path) -> None:
    path = tmp_path / f"{fault.kernel}.cpp"
    path.write_text(fault.text(), encoding="utf-8")
    run = [*RUNS[fault.kernel].split(), "--sanitize", "--quiet", "--output-format", "json"]
    result = run_command("pto-run", [str(path), *run])
    assert fault.position() in places(json.loads(result.stderr), fault.rule), result.stderr.decode()


def test_table() -> None:
    assert len(FAULTS) >= 60
    assert {one.kernel for one in FAULTS} == set(RUNS)
    assert {path.stem for path in FOLDER.glob("*.cpp")} <= set(RUNS)
    assert {name.partition("/")[0] for name in CHOSEN} == set(RUNS)
    for fault in FAULTS:
        assert fault.position() > (0, 0)
