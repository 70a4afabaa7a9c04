"""What pages of operations say in sentences: for every operation, with units, and no less than the manual says."""

import re

import pytest

from pto_dialect.driver.explain.manual.prose import FILES, prose_of
from pto_dialect.driver.explain.manual.syntax import laid_out, typed
from pto_dialect.driver.explain.manual.units import COUNTING, unit_of, units
from pto_dialect.driver.explain.operation import operation_page
from pto_dialect.driver.explain.page import Code, Page, Table, Text
from pto_dialect.driver.explain.schema import forms
from pto_dialect.driver.explain.terminal import render
from pto_dialect.ir.core.base import signature
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.registry import op_class

VERB = re.compile(r"[A-Z][a-z]+s,? (?!is |are )\S.*\.")
"""A sentence that begins with what the operation does."""
NUMBERS = re.compile(r"\b\w+_(?:stride|gap|step|start|times)\b|\blen_burst\b|\bn_burst\b")
"""Names of operands that count, in a formula."""
FIRST = ("Mechanism", "Example", "Overview", "Syntax", "Operands")
"""How a page begins."""
MANUAL = {
    "pto.mad": (
        5,
        ("mad_acc", "no other type selector", "unit_flag", "disable_gemv", "tf32_mode", "n_dir", "PIPE_FIX"),
    ),
    "pto.tgemv": (10, ("M = 1", "valid", "TGEMV(dst, lhs, rhs);", "[1, 4095]", "%dst = tgemv %lhs, %rhs")),
    "pto.mte_l0c_l1": (
        14,
        ("pre_quant", "pre_relu", "layout", "loop3", "PIPE_FIX", "64 bytes", "elements of the destination", "clip"),
    ),
    "pto.tmatmul": (8, ("valid", "TMATMUL(dst, lhs, rhs);", "at most 4095", "%dst = tmatmul %lhs, %rhs", "f32")),
    "pto.tmatmul.acc": (8, ("acc_in", "TMATMUL_ACC(dst, acc_in, lhs, rhs);", "TMATMUL_ACC(dst, lhs, rhs);")),
}
"""The operations of the manual's pages that are known best: how many constraints those list, and words of theirs."""


def section(page: Page, title: str) -> tuple[object, ...]:
    return next((one.blocks for one in page.sections if one.title == title), ())


def rows(page: Page, title: str) -> list[tuple[str, ...]]:
    return [row for block in section(page, title) if isinstance(block, Table) for row in block.rows]


def test_every_operation_has_a_sentence_and_a_mechanism() -> None:
    for name in OPS:
        said = prose_of(name)
        assert VERB.fullmatch(said.summary), name
        assert said.mechanism and all(paragraph.endswith(".") for paragraph in said.mechanism), name
        assert all(paragraph.count("`") % 2 == 0 for paragraph in (*said.mechanism, *said.effects)), name


def test_names_in_sentences_are_those_of_operations() -> None:
    for name in OPS:
        said = prose_of(name)
        for found in re.findall(r"`pto\.([\w.]+?)\*?`", " ".join((*said.mechanism, *said.effects))):
            assert any(other.startswith(f"pto.{found.rstrip('_')}") for other in OPS), (name, found)


def test_formulas_name_operands_of_the_operation() -> None:
    """A stride, gap or length in a formula is an operand of that name, or of a register that the text explains."""
    for name in OPS:
        cls, said = op_class(name), prose_of(name)
        known = {slot.name for slot in signature(cls).operands}
        named = set(NUMBERS.findall(" ".join(said.formula)))
        loops = {f"loop_{side}_stride" for side in ("src", "dst") if f"loop_{side}_strides" in known}
        raw = {"src_stride", "dst_stride", "x_start", "y_start"} if name == "pto.load_cbuf_to_ca_mx" else set()
        raw |= {"x_start", "y_start"} if name == "pto.load_cbuf_to_cb_mx" else set()
        assert named <= known | loops | raw, (name, named - known)


def test_what_counts_has_a_unit() -> None:
    for name in OPS:
        cls = op_class(name)
        for slot in signature(cls).operands:
            assert not COUNTING.search(slot.name) or unit_of(cls, slot), (name, slot.name)
        for slot in signature(cls).attributes.values():
            assert not COUNTING.search(slot.name) or unit_of(cls, slot, True), (name, slot.name)


def test_a_table_of_units_has_no_row_that_no_operation_uses() -> None:
    used: set[tuple[str, str]] = set()
    for name in OPS:
        declared = signature(op_class(name))
        keys = [slot.name for slot in declared.operands] + [f"@{key}" for key in declared.attributes]
        used |= {(scope, key) for scope in (name, OPS[name][0], "*") for key in keys}
    assert set(units()) - used == set()


@pytest.mark.parametrize("name", MANUAL)
def test_a_page_says_no_less_than_the_manual(name: str) -> None:
    constraints, words = MANUAL[name]
    page = operation_page(name)
    assert [one.title for one in page.sections][:5] == list(FIRST)
    assert VERB.fullmatch(page.summary) and all(isinstance(block, Text) for block in section(page, "Mechanism"))
    assert any(isinstance(block, Code) and name in block.text for block in section(page, "Example"))
    assert {"reads", "writes", "pipe", "order"} <= {row[0] for row in rows(page, "Effects")}
    numbered = rows(page, "Constraints")
    assert len(numbered) >= constraints and [row[0] for row in numbered] == [str(n + 1) for n in range(len(numbered))]
    assert all(row[2].startswith("[`") for row in numbered)
    for row in rows(page, "Operands"):
        assert all(row) and (not row[1].startswith(("i64", "i32")) or row[2] != "–"), row
    text = " ".join([*render(page).split(), *(" ".join(row) for row in rows(page, "Operands"))])
    assert [word for word in words if word not in text] == []


def test_a_long_form_has_a_line_for_each_clause() -> None:
    form = "pto.a %x, %y [one(%a, mode = ..)] [two|three(%b)] [{k = ..}] : T, T[, T] -> T"
    assert laid_out(form).split("\n    ") == [
        "pto.a %x, %y",
        "[one(%a, mode = ..)]",
        "[two|three(%b)]",
        "[{k = ..}]",
        ": T, T[, T] -> T",
    ]
    assert laid_out("%r[, %s] = pto.b %x : T -> T") == "%r[, %s] = pto.b %x : T -> T"


def test_a_clause_after_a_comma_begins_a_line() -> None:
    form = "pto.a %x[, %y][, one(%a, mode = ..)][, two|three(%b)] : T[, T]"
    assert laid_out(form).split("\n    ") == [
        "pto.a %x[, %y]",
        "[, one(%a, mode = ..)]",
        "[, two|three(%b)]",
        ": T[, T]",
    ]


def test_types_that_an_operation_decides_are_spelled() -> None:
    assert typed(forms(op_class("pto.mad"))[0], op_class("pto.mad")).endswith(
        " : !pto.ptr<T, l0a>, !pto.ptr<T, l0b>, !pto.ptr<T, l0c>, i64, i64, i64"
    )
    store = typed(forms(op_class("pto.mte_l0c_l1"))[0], op_class("pto.mte_l0c_l1"))
    assert " : !pto.ptr<T, l0c>, !pto.ptr<T, l1>, i64, i64, i64, i64[, T][, T][, T][, i64]" in store
    assert laid_out(store).count("\n    [, ") == 6


def test_files_name_operations_once() -> None:
    assert len(FILES) == len(set(FILES)) and all(prose_of(name).summary for name in OPS)
