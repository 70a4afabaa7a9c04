"""Accumulators whose unit flags alternate. Source: docs/reference/order-proof.md, "What is assumed of hardware"."""

from __future__ import annotations

import pytest

from pto_dialect import parse
from pto_dialect.analysis.hand_overs import HandOvers
from pto_dialect.ir.core.base import PtoOp

ARGUMENTS = "%a: !pto.ptr<f16, l0a>, %b: !pto.ptr<f16, l0b>, %c: !pto.ptr<f32, l0c>, %g: !pto.ptr<f32, gm>, %n: i64"


def program(*lines: str) -> str:
    body = "\n".join(lines)
    return f"""
    module attributes {{pto.target_arch = "a5"}} {{
    func.func @f({ARGUMENTS}) attributes {{pto.kernel}} {{
    %c16 = arith.constant 16 : i64
    %c32 = arith.constant 32 : i64
    {body}
    return
    }}
    }}"""


def product(rows: str, flag: str = "check_and_set") -> str:
    types = "!pto.ptr<f16, l0a>, !pto.ptr<f16, l0b>, !pto.ptr<f32, l0c>, i64, i64, i64"
    return f"pto.mad %a, %b, %c, {rows}, %c16, %c16 unit_flag({flag}) : {types}"


def write_back(rows: str, flag: str = "check_and_clear") -> str:
    types = "!pto.ptr<f32, l0c>, !pto.ptr<f32, gm>, i64, i64, i64, i64, i64, i64"
    return f"pto.mte_l0c_gm %c, %g, {rows}, %c16, %c16, %c16, %c0, %c0, unit_flag({flag}), nz2nd : {types}"


@pytest.mark.parametrize(
    ("lines", "alternate"),
    [
        ((product("%c16"), write_back("%c16")), True),
        ((product("%c16"), write_back("%c16"), product("%c16"), write_back("%c16")), True),
        # The write-back reads other elements than the product has written.
        ((product("%c16"), write_back("%c32")), False),
        # Nobody knows which.
        ((product("%n"), write_back("%n")), False),
        # The flag is set when it has to be clear.
        ((product("%c16"), product("%c16"), write_back("%c16")), False),
        ((product("%c16"),), False),
    ],
)
def test_products_and_write_backs(lines: tuple[str, ...], alternate: bool) -> None:
    module = parse(program("%c0 = arith.constant 0 : i64", *lines), "program.pto")
    (function,) = [op for op in module.walk() if op.name == "func.func"]
    operations = [op for op in module.walk() if isinstance(op, PtoOp)]
    found = HandOvers(function)
    accumulator = function.regions[0].block.args[2] if alternate else None
    assert [found.of(op) for op in operations] == [accumulator] * len(operations)
