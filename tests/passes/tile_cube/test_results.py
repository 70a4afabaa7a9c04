"""Products with other tiles: the same bits, in every order that the flags allow.

Source: docs/reference/numerics.md, "Matrix products".
"""

from __future__ import annotations

import numpy as np
import pytest
from cube_programs import CONTENT, SCHEDULES, copies, passed, run
from plain_products import Plain

from pto_dialect import parse, print_module
from pto_dialect.api import check
from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions

SMALL = "rows=32 columns=64 panel=32"
"""Sizes with which small products have several blocks and panels."""

CASES = [
    (Plain(64, 128, 64), SMALL),
    (Plain(64, 128, 64, target="a5"), SMALL),
    (Plain(50, 100, 70), SMALL),
    (Plain(50, 100, 70, target="a5"), SMALL),
    (Plain(40, 30, 20), "rows=16 columns=16 panel=32"),
    (Plain(33, 65, 100), SMALL),
    (Plain(64, 128, 64, loops="ijp"), SMALL),
    (Plain(64, 128, 64, loops="jip", begin="peeled"), SMALL),
    (Plain(64, 128, 96, loops="ip", target="a5"), SMALL),
    (Plain(32, 64, 64, loops="p"), "rows=16 columns=32 panel=32"),
    (Plain(64, 64, 32, loops="ij"), SMALL),
    (Plain(64, 128, 64, loops="ijp", bias="all"), SMALL),
    (Plain(64, 128, 64, loops="ijp", bias="maybe"), SMALL),
    (Plain(48, 96, 64, loops="ijp", bias="maybe"), SMALL),
    (Plain(50, 100, 70, bias="all", target="a5"), SMALL),
    (Plain(64, 128, 64, element="bf16"), SMALL),
    (Plain(64, 64, 40, element="f32"), SMALL),
    (Plain(64, 128, 128, element="i8", out="i32"), "rows=32 columns=64 panel=64"),
    (Plain(50, 100, 70, element="i8", out="i32", target="a5"), "rows=32 columns=64 panel=64"),
    (Plain(64, 128, 128, loops="ijp", tile=32, element="i8", out="i32"), "rows=32 columns=64 panel=64"),
    (Plain(64, 128, 64, out="f16", store=" {reluPreMode = #pto<relu_pre_mode normal_relu>}"), SMALL),
    (Plain(64, 128, 64, store=" {atomicType = #pto<atomic_type atomic_add>}"), SMALL),
    (Plain(64, 64, 64, element="i8", out="f16", quant="%scale : i64"), "rows=32 columns=64 panel=32"),
    (Plain(32, 32, 1050, element="i8", out="i32"), "rows=32 columns=32 panel=32"),
    (Plain(80, 144, 112, loops="ijp", open="ijp"), SMALL),
    (Plain(32, 96, 112, loops="ijp", open="jp", bias="all", target="a5"), "rows=32 columns=64 panel=64"),
    (Plain(80, 64, 64, loops="ijp", open="i", element="i8", out="i32"), "rows=32 columns=64 panel=64"),
    (Plain(128, 256, 128), ""),
    (Plain(128, 256, 128, target="a5", loops="ijp"), ""),
]


@pytest.mark.parametrize(("plain", "sizes"), CASES, ids=[f"{number}" for number in range(len(CASES))])
def test_the_results_are_the_same_bits(plain: Plain, sizes: str) -> None:
    arrays = plain.arrays()
    before, said = passed(str(plain), "assign-memory", "insert-sync")
    assert not said
    expected = run(before, arrays)
    after, said = passed(str(plain), f"tile-cube{{{sizes}}}" if sizes else "tile-cube", "assign-memory", "insert-sync")
    assert not [one for one in said if "tile-cube" in one]
    text = print_module(after)
    verdict = check(text)
    assert not [one for one in verdict.diagnostics if one.severity is Severity.ERROR], f"{verdict}\n{text}"
    assert "pto.textract" in text
    again = parse(text, "tiled.pto")
    for schedule in SCHEDULES:
        found = run(again, arrays, schedule)
        assert found["c"].tobytes() == expected["c"].tobytes(), f"{schedule}\n{text}"
    instrumented = InstrumentedKernel(again, None, None, RunOptions(), SanitizeOptions(sync="strict"))
    instrumented.run(copies(arrays), 1)
    assert not [one.rule for one in instrumented.observer.findings.all if one.rule not in CONTENT], text
    assert not np.array_equal(expected["c"], arrays["c"])
