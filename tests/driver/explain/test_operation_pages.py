"""Pages of operations: what they report, from where, and that there is one for each."""

import re

from groups import in_groups

from pto_dialect.driver.explain.checked_by import rules_of
from pto_dialect.driver.explain.examples import example_of
from pto_dialect.driver.explain.operand_words import meaning
from pto_dialect.driver.explain.operation import operation_page
from pto_dialect.driver.explain.page import Code, Page, Table
from pto_dialect.driver.explain.related import related
from pto_dialect.driver.explain.schema import forms
from pto_dialect.driver.explain.terminal import render
from pto_dialect.ir.core.base import signature
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.registry import op_class


def cells(page: Page, title: str) -> list[tuple[str, ...]]:
    section = next(section for section in page.sections if section.title == title)
    return [row for block in section.blocks if isinstance(block, Table) for row in block.rows]


def test_operands_attributes_and_forms_of_every_operation_are_reported() -> None:
    for name in OPS:
        cls = op_class(name)
        declared = signature(cls)
        assert all(meaning(cls, slot) for slot in declared.operands), name
        assert all(meaning(cls, slot, True) for slot in declared.attributes.values()), name
        written = forms(cls)
        assert written and all(name in line for line in written), name
        assert written[-1].count('"') >= 2


@in_groups("name", list(OPS)[::24])
def test_a_page_has_all_of_an_operation(name: str) -> None:
    page = operation_page(name)
    assert page.title == name and page.summary
    titles = [section.title for section in page.sections]
    assert {"Mechanism", "Example", "Overview", "Syntax", "A mistake", "Effects", "Targets", "Source"} <= set(titles)
    declared = signature(op_class(name))
    wanted = [f"`%{slot.name.rstrip('_')}`" for slot in (*declared.operands, *declared.results)]
    assert [row[0] for row in cells(page, "Operands")] == wanted if wanted else "Operands" not in titles
    assert example_of(name).program.strip() in "\n".join(
        block.text for section in page.sections for block in section.blocks if isinstance(block, Code)
    )
    text = render(page)
    assert max(map(len, text.split("\n"))) <= 200


def test_forms() -> None:
    assert forms(op_class("pto.tadd"))[:2] == [
        "pto.tadd ins(%src0, %src1 : T, T) outs(%dst : T)",
        "%result = pto.tadd %src0, %src1 : (T, T) -> T",
    ]
    assert forms(op_class("pto.mad"))[0].startswith(
        "pto.mad %lhs, %rhs, %dst, %m, %n, %k [unit_flag(check_only|check_and_set)] [disable_gemv] [sat|nosat]"
    )
    assert forms(op_class("pto.set_flag"))[0] == "pto.set_flag[<SRC_PIPE>, <DST_PIPE>, <EVENT_ID>]"
    assert forms(op_class("pto.vlds"))[0].startswith("%result[, %updated_base] = pto.vlds %source[%offset]")
    assert forms(op_class("pto.vlds"))[0].endswith(" : T -> T[, T]")


def test_rules_are_those_that_can_be_reported() -> None:
    assert {"mad-space", "mad-mnk-range", "mad-clause-order"} <= {rule.id for rule in rules_of("pto.mad")}
    assert {"tile-dtype", "tile-valid-rows"} <= {rule.id for rule in rules_of("pto.tadd")}
    assert "mad-space" not in {rule.id for rule in rules_of("pto.tadd")}


def test_element_types_are_those_of_the_tables() -> None:
    rows = cells(operation_page("pto.tadd"), "Element types")
    assert rows == [("all", "`f16` `i16` `f32` `i32`", "`i8` `bf16` `f16` `i16` `f32` `i32`")]
    measured = {row[0]: row[1] for row in cells(operation_page("pto.vexp"), "Element types")}
    assert "`f32`" in measured["accepted"] and "`i32`" in measured["with a warning"]


def test_operations_without_values_have_no_element_types() -> None:
    for name in ("pto.wait_flag", "pto.set_flag", "pto.barrier"):
        assert all(section.title != "Element types" for section in operation_page(name).sections if section.blocks)


def test_every_operand_states_its_count_and_its_use() -> None:
    rows = {row[0]: row for row in cells(operation_page("pto.tgather"), "Operands")}
    assert rows["`%src`"][1] == "a tile; reads"
    assert rows["`%kValue`"][1].endswith(", optional")
    assert rows["`%results`"][1].endswith(", any number; result")
    names = [name for name in list(OPS)[::70] if signature(op_class(name)).operands]
    assert all(all(row) for name in names for row in cells(operation_page(name), "Operands"))


def test_defaults_are_among_the_values_beside_them() -> None:
    rows = {row[0]: row for row in cells(operation_page("pto.tstore"), "Attributes")}
    assert rows["`atomicType`"][1] == "`atomic_none`" and "`atomic_none`" in rows["`atomicType`"][3]


def test_related_operations() -> None:
    assert {"pto.tadds", "pto.vadd"} <= set(related("pto.tadd"))
    assert {"pto.mad_acc", "pto.mad_bias"} <= set(related("pto.mad"))


def test_sources_are_links_into_the_reference() -> None:
    page = operation_page("pto.mad")
    text = str(next(section for section in page.sections if section.title == "Source"))
    assert re.search(r"\[Matrix products\]\(\.\./reference/numerics\.md#matrix-products\)", text)


def test_forms_put_types_of_what_may_be_left_out_into_brackets() -> None:
    assert forms(op_class("pto.tgather"))[0].startswith(
        "pto.tgather ins(%src[, %indices][, %kValue][, %tmp] : T[, T][, T][, T]) outs(%dst[, %cdst] : T[, T])"
    )
    assert forms(op_class("pto.tfree"))[0].startswith("pto.tfree([%entry, ]%pipe_handle : [T, ]T)")
    assert forms(op_class("pto.vsts"))[0].startswith("[%updated_base =] pto.vsts ")
    assert forms(op_class("pto.vsts"))[0].endswith(" : T, T, T[ -> T]")


def test_keywords_are_reported_with_what_they_mean() -> None:
    rows = dict(row for row in cells(operation_page("pto.vlds"), "Attributes") if len(row) == 2)
    assert rows["`DS_B8` `DS_B16`"] == "every second element: lane i has element 2i"
    assert not any("1PT" in words for words in rows)
    assert any("PIPE\\_FIX" in row[1] for row in cells(operation_page("pto.barrier_sync"), "Attributes"))


def test_operands_are_as_the_rules_want_them() -> None:
    kinds = {name: [row[1] for row in cells(operation_page(f"pto.{name}"), "Operands")] for name in ("tcvt", "mad")}
    assert all(kind.startswith("a tile") for kind in kinds["tcvt"]) and kinds["mad"][3:] == ["i64"] * 3
    places = [kind.rpartition(" in ")[2] for kind in kinds["mad"][:3]]
    assert places == ["`l0a`; reads", "`l0b`; reads", "`l0c`; writes"]
    assert next(row[1] for row in cells(operation_page("pto.tload"), "Operands")) == "a tile or view; reads"


def test_transfers_say_what_they_count_in() -> None:
    rows = {row[0]: row[2] for row in cells(operation_page("pto.copy_gm_to_ubuf"), "Operands")}
    assert rows["`%len_burst`"] == "bytes; at least 0"
    assert rows["`%gm_stride`"] == "bytes, from the start of a burst to the start of the next; at least 0"


def test_the_pipe_of_flags_is_that_of_their_attribute() -> None:
    for name, attribute in (("set_flag", "src_pipe"), ("wait_flag", "dst_pipe")):
        rows = {row[0]: row[1] for row in cells(operation_page(f"pto.{name}"), "Overview")}
        assert attribute in rows["pipe"]


def test_the_mistake_is_one_of_the_operation() -> None:
    for name, rule in (("pto.tpop", "pipe-entry-type"), ("pto.mem_bar", "sync-membar-kind")):
        section = next(one for one in operation_page(name).sections if one.title == "A mistake")
        assert f"[{rule}]" in str(section)


def test_a_terminal_shows_where_sources_are() -> None:
    assert "Conversion (docs/reference/tiles.md#conversion)" in " ".join(render(operation_page("pto.tcvt")).split())
