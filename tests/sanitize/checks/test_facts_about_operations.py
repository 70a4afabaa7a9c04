"""What sanitizers take for granted about operations: who moves data, which addresses are aligned, what decides."""

from __future__ import annotations

import pytest
from parse_helpers import parsed
from xdsl.dialects import arith, memref
from xdsl.ir import Operation

from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.registry import op_class
from pto_dialect.sanitize.checks.alignment import alignment, base_operand
from pto_dialect.sanitize.checks.decisions import decides
from pto_dialect.sanitize.report.sites import moves

MOVING = """
mte_l1_l0a mte_l0c_gm mte_gm_ub mte_ub_gm mte_gm_l1 mte_l1_bt load_cbuf_to_ca copy_gm_to_ubuf copy_ubuf_to_gm tmov
textract tinsert ttrans tload tstore tprefetch tpush_to_aiv tpop_from_aic vlds vsts vldus vsldb plds psts vmi.load
vmi.store vmi.masked_load tfillpad
"""
USING = """
tadd tmul tcvt tsel tmatmul mad vadd vcvt vsel vmi.addf vmi.vcvt tgather tgatherb tsort32 trowsum tgetval tprint
set_quant_vector atomic_add ldg pand vcmp tquant tcmp
"""


def one(cls: type[Operation]) -> Operation:
    """An operation of a class, without operands: the result depends on the class."""
    return object.__new__(cls)


@pytest.mark.parametrize(("names", "wanted"), [(MOVING, True), (USING, False)])
def test_who_passes_on_what_it_reads(names: str, wanted: bool) -> None:
    assert {name for name in names.split() if moves(one(op_class(f"pto.{name}"))) != wanted} == set()


def test_who_passes_on_what_it_reads_of_other_dialects() -> None:
    assert moves(one(memref.CopyOp)) and not moves(one(memref.LoadOp)) and not moves(one(arith.AddfOp))


def function(*lines: str) -> list[Operation]:
    """The operations of a function with these lines."""
    body = "".join(f"  {line}\n" for line in lines)
    arguments = "%p: !pto.ptr<f32, ub>, %g: !pto.ptr<i32, gm>, %u: !pto.ptr<i32, ub>, %c: index, %m: memref<8xi32>"
    module, found = parsed(f"func.func @f({arguments}) {{\n  %one = arith.constant 1 : i32\n{body}  return\n}}\n")
    assert module is not None and not found, found
    return list(module.walk())


BYTES = {"BRC_B8": 1, "BRC_B16": 2, "BRC_B32": 4, "BRC_BLK": 32, "NORM": 32, "US_B8": 32, "UNPK_B16": 32}
ONE = {"1PT_B8": 1, "1PT_B16": 2, "1PT_B32": 4, "NORM_B32": 32, "PK_B32": 32}


def last(*lines: str) -> PtoOp:
    return [op for op in function(*lines) if isinstance(op, PtoOp)][-1]


def test_alignment_of_loads_and_stores() -> None:
    for dist, wanted in BYTES.items():
        op = last(f'%v = pto.vlds %p[%c] {{dist = "{dist}"}} : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>')
        assert (base_operand(op), alignment(op)) == ("source", wanted), dist
    for dist, wanted in ONE.items():
        op = last(
            '%m1 = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>',
            "%v = pto.vlds %p[%c] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>",
            f'pto.vsts %v, %p[%c], %m1 {{dist = "{dist}"}} : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>',
        )
        assert (base_operand(op), alignment(op)) == ("destination", wanted), dist
    assert base_operand(last("%d = pto.load_scalar %u[%c] : !pto.ptr<i32, ub> -> i32")) is None


LOAD = "%x = pto.load_scalar %u[%c] : !pto.ptr<i32, ub> -> i32"
INDEX = "%i = arith.index_cast %x : i32 to index"
TRUTH = "%t = arith.cmpi eq, %x, %one : i32"
DECIDING = {
    "scf.if": [TRUTH, "scf.if %t {", "}"],
    "scf.for": [INDEX, "scf.for %k = %c to %i step %c {", "}"],
    "scf.index_switch": [INDEX, "scf.index_switch %i", "default {", "scf.yield", "}"],
    "scf.condition": ["scf.while : () -> () {", TRUTH, "scf.condition(%t)", "} do {", "scf.yield", "}"],
    "cf.cond_br": [TRUTH, "cf.cond_br %t, ^bb1, ^bb1", "^bb1:"],
    "cf.switch": ["cf.switch %x : i32, [default: ^bb1, 2: ^bb1]", "^bb1:"],
}
ADDRESSING = {
    "the address of memref.load": [INDEX, "%y = memref.load %m[%i] : memref<8xi32>"],
    "the address of memref.store": [INDEX, "memref.store %one, %m[%i] : memref<8xi32>"],
    "offset of pto.load_scalar": [INDEX, "%y = pto.load_scalar %u[%i] : !pto.ptr<i32, ub> -> i32"],
    "offset of pto.store_scalar": [INDEX, "pto.store_scalar %one, %u[%i] : !pto.ptr<i32, ub>, i32"],
}
HARMLESS = [
    ["%y = arith.addi %x, %one : i32"],
    ["memref.store %x, %m[%c] : memref<8xi32>"],
    ["pto.store_scalar %x, %u[%c] : !pto.ptr<i32, ub>, i32"],
]


def found(lines: list[str]) -> str | None:
    return decides(next(op for op in function(LOAD, *lines) if op.name == "pto.load_scalar"))


@pytest.mark.parametrize("name", DECIDING)
def test_what_decides(name: str) -> None:
    text = found(DECIDING[name])
    assert text is not None and text.startswith(f"{name} (line") and text.endswith("depends on it")


@pytest.mark.parametrize("name", ADDRESSING)
def test_what_says_where(name: str) -> None:
    text = found(ADDRESSING[name])
    assert text is not None and text.startswith(name)


def test_what_leaves_the_chip() -> None:
    text = found(["pto.store_scalar %x, %g[%c] : !pto.ptr<i32, gm>, i32"])
    assert (
        text is not None and text.startswith("pto.store_scalar (line") and text.endswith("stores it to global memory")
    )


@pytest.mark.parametrize("lines", HARMLESS, ids=["sum", "memref", "on chip"])
def test_what_is_only_computed_with(lines: list[str]) -> None:
    assert found(lines) is None


def test_what_a_branch_yields_decides_after_it() -> None:
    lines = ["%r = scf.if %w -> (i32) {", "scf.yield %x : i32", "} else {", "scf.yield %one : i32", "}"]
    behind = ["%t = arith.cmpi eq, %r, %one : i32", "scf.if %t {", "}"]
    assert found(["%w = arith.cmpi eq, %one, %one : i32", *lines]) is None
    text = found(["%w = arith.cmpi eq, %one, %one : i32", *lines, *behind])
    assert text is not None and text.startswith("scf.if")
