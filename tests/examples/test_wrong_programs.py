"""Mistakes in the kernels of the examples show: no tolerance is so wide that it hides one."""

from __future__ import annotations

import pytest

import pto_dialect
from examples import run_all
from examples.check import FOLDER, copied, outputs
from pto_dialect.runtime.api import compile as compile_kernel
from pto_dialect.runtime.errors import ProgramError

MISTAKES = [
    ("rms_norm", "rms_norm_f32", "pto.tadds ins(%sums_row, %eps", "pto.tsubs ins(%sums_row, %eps"),
    ("rotary", "rotary", "pto.tsub ins(%low_turned", "pto.tadd ins(%low_turned"),
    ("rotary", "rotary", "%positions[%t]", "%positions[%block]"),
    ("token_quant", "token_quant", "pto.vmi.vmax %largest", "pto.vmi.vmin %largest"),
    ("token_quant", "token_quant", '{rounding = "R"', '{rounding = "A"'),
    ("token_quant", "token_quant", "scf.yield %next", "scf.yield %size"),
    ("swiglu_mlp", "swiglu_mlp", "pto.tadds ins(%divisor, %one", "pto.tadds ins(%divisor, %minus_one"),
    ("flash_attention", "flash_attention", "pto.trowexpandmul ins(%sum, %alpha", "pto.trowexpandmul ins(%sum, %m"),
    ("flash_attention", "flash_attention", "arith.cmpi eq, %j, %panel", "arith.cmpi ugt, %j, %panel"),
    ("flash_attention", "flash_attention", "%seen = arith.addi %panel, %c1", "%seen = arith.addi %panel, %c0"),
    ("paged_attention", "paged_attention", "arith.addi %first_entry, %before", "arith.addi %first_entry, %c0"),
    ("paged_attention", "paged_attention", "arith.minsi %rest, %page_size", "arith.maxsi %c0, %page_size"),
    ("topk_routing", "topk_routing", "pattern<P1010>", "pattern<P0101>"),
    ("topk_routing", "topk_routing", "%sorted_length = arith.constant 64", "%sorted_length = arith.constant 128"),
    ("int8_dequant_gemm", "per_group", "%group = arith.divui %p", "%group = arith.divui %j"),
    ("int8_dequant_gemm", "per_column", "offsets = [%c0, %j], sizes = [%c1", "offsets = [%c0, %first], sizes = [%c1"),
]


@pytest.mark.parametrize(("example", "entry", "right", "wrong"), MISTAKES)
def test_a_mistake_shows(example: str, entry: str, right: str, wrong: str) -> None:
    cases, expected = run_all.load(example)
    texts = [(case, (FOLDER / example / case.program).read_text(encoding="utf-8")) for case in cases]
    found = [(case, text) for case, text in texts if case.entry == entry and right in text]
    assert found
    case, text = found[-1]
    wanted = expected(entry, case.data, "fast")
    arguments = copied(case.data)
    try:
        compile_kernel(pto_dialect.parse(text.replace(right, wrong)), entry, "a5")(
            *arguments.values(), blocks=case.blocks
        )
    except ProgramError:
        return
    results = outputs(case, arguments, None)
    assert any(wanted[name].error(result) > wanted[name].tolerance for name, result in results.items())
