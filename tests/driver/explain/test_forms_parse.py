"""What ``pto explain`` prints as forms of an operation is what the parser reads."""

from __future__ import annotations

import pytest
from form_statements import chosen, optional_parts, problems, statements

from pto_dialect.driver.explain import schema
from pto_dialect.driver.explain.schema import forms
from pto_dialect.ir.core.registry import all_op_classes, op_class

CLASSES = sorted(all_op_classes(), key=lambda cls: cls.name)

NUMBER = "l1l0-operand-count"
"""Loads of L0 by name: any of the names may be left out, and four of them are needed."""


@pytest.mark.parametrize("part", range(8))
def test_forms_are_read(part: int) -> None:
    """Without optional parts, and with each of them alone."""
    seen = 0
    wrong: dict[str, str] = {}
    for cls in CLASSES[part::8]:
        for form in forms(cls)[:-1]:
            seen += 1
            wrong |= {text: error for text, error in problems(cls, form) if NUMBER not in error}
    assert seen >= len(CLASSES) // 8 - 1
    assert wrong == {}


def test_optional_parts_take_their_types_along() -> None:
    form = "%r[, %n] = pto.x %a[, %b][, %c] [k(%d, %e)] : T[, T][, T][, T, T] -> T[, T]"
    assert [chosen(form, number) for number in (None, *optional_parts(form))] == [
        "%r = pto.x %a : T -> T",
        "%r, %n = pto.x %a : T -> T, T",
        "%r = pto.x %a, %b : T, T -> T",
        "%r = pto.x %a, %c : T, T -> T",
        "%r = pto.x %a k(%d, %e) : T, T, T -> T",
    ]


def test_a_keyword_that_the_parser_does_not_know_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    cls = op_class("pto.tinsert")
    right = forms(cls)[0]
    assert "[pre_quant %preQuantScalar : T]" in right
    assert list(problems(cls, right)) == []
    wrong = right.replace("[pre_quant ", "[preQuantScalar ")
    assert [error.rpartition(" ")[2] for _, error in problems(cls, wrong)] == ["[parse-missing-token]"]


def test_forms_of_transfers_state_the_types_of_their_clauses() -> None:
    texts = list(statements(op_class("pto.mte_gm_ub"), schema.forms(op_class("pto.mte_gm_ub"))[0]))
    assert texts[0].endswith(": !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64")
    assert texts[1].endswith(" loop i64, i64, i64")
    assert " pad(%pad_value, %left_padding_count, %right_padding_count) : " in texts[2]
