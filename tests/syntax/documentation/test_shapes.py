"""Which statements of documents have the operands of the dialect. Source: docs/reference/language.md, "Notations of
documents".
"""

from __future__ import annotations

import pytest

from pto_dialect.syntax.documentation.shapes import is_dialect_form
from pto_dialect.syntax.documentation.statement import Statement

SIZES = {
    "pto.vadd": (3, 3),
    "pto.tadd": (2, 2),
    "pto.mte_gm_ub": (7, None),
    "pto.vmi.vadd": (2, None),
    "pto.yield": (0, None),
    "pto.tsync": (0, None),
    "pto.mem_bar": (0, 0),
}
"""The fewest and the most values that an operation takes, before ``outs``; ``None``: any number."""


@pytest.mark.parametrize("name", SIZES)
def test_as_many_values_as_an_operation_takes(name: str) -> None:
    least, most = SIZES[name]
    results = ("%r",) if name in ("pto.vadd", "pto.vmi.vadd") else ()
    words = ('"VV_ALL"',) if name == "pto.mem_bar" else ()
    fits = [
        is_dialect_form(Statement(name, results, (*words, *(f"%v{place}" for place in range(number)))))
        for number in range(12)
    ]
    assert fits == [least <= number <= (12 if most is None else most) for number in range(12)]
