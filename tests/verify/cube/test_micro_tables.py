"""The tables of the rules of vector operations and logical vectors fit the declared operations."""

import pytest
from groups import in_groups

from pto_dialect.ir.core.base import signature
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.kinds import MASK
from pto_dialect.ir.core.registry import op_class
from pto_dialect.verify.vector.common import GOVERNED
from pto_dialect.verify.vector.elements import ELEMENTS
from pto_dialect.verify.vector.memory import MEMORY
from pto_dialect.verify.vmi.common import NAMES
from pto_dialect.verify.vmi.tables import ELEMENTS as VMI_ELEMENTS
from pto_dialect.verify.vmi.tables import RESULT_ELEMENTS, admits

VECTOR_FAMILIES = ("vector_memory", "vector_arith", "vector_compare", "vector_convert", "vector_reduce")
MASKED = [
    name
    for name, (family, _, _) in OPS.items()
    if family in VECTOR_FAMILIES and any(slot.kind is MASK for slot in signature(op_class(name)).operands)
]
OWN_MASK_RULE = {"pto.vgather2", "pto.vgatherb", "pto.vscatter", "pto.vsldb", "pto.vsstb"}
"""Gathers and scatters have forms of offset, element and mask; a mask of blocks may have any granularity."""

_INTEGERS = [f"{sign}i{bits}" for sign in ("", "s", "u") for bits in (8, 16, 32, 64)]


@pytest.mark.parametrize("table", [GOVERNED, MEMORY, ELEMENTS, VMI_ELEMENTS, RESULT_ELEMENTS])
def test_tables_name_operations_that_exist(table: dict[str, object]) -> None:
    assert set(table) <= set(OPS)


def test_every_masked_operation_has_a_granularity_rule() -> None:
    assert {name for name in MASKED if name not in GOVERNED} == OWN_MASK_RULE


@in_groups("name", GOVERNED)
def test_masks_govern_what_is_none(name: str) -> None:
    declared = signature(op_class(name))
    assert [slot.kind for slot in declared.operands if slot.name == "mask"] == [MASK]
    governed = declared.operands if GOVERNED[name] else declared.results
    assert governed[0].kind is not MASK


@in_groups("name", MEMORY)
def test_addresses_are_pointers(name: str) -> None:
    slots = {slot.name: slot for slot in signature(op_class(name)).operands}
    assert all(slots[operand].kind.label.startswith("!pto.ptr") for operand in MEMORY[name])


def test_logical_vector_tables_cover_the_arithmetic() -> None:
    checked = set(VMI_ELEMENTS) | set(RESULT_ELEMENTS)
    assert checked <= set(NAMES)
    assert {f"pto.vmi.{name}" for name in ("vadd", "vdiv", "vcmp", "vand", "vcadd", "addf", "addi", "cmpi")} <= checked


@in_groups(
    ("name", "element", "admitted"),
    [
        *((name, element, element in ("si8", "si16", "si32")) for name in ("absi", "shrsi") for element in _INTEGERS),
        *(("shrui", element, element in ("i8", "i16", "i32", "ui8", "ui16", "ui32")) for element in _INTEGERS),
        *(("vmull", element, element in ("i32", "ui32")) for element in _INTEGERS),
        *(("addi", element, element[-2:] != "64") for element in _INTEGERS),
        ("absi", "f32", False),
    ],
)
def test_integers_without_a_sign_count_as_unsigned(name: str, element: str, admitted: bool) -> None:
    assert admits(VMI_ELEMENTS[f"pto.vmi.{name}"], element) is admitted
