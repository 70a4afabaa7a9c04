"""Comments that allow findings."""

import pytest

from pto_dialect.driver.options import Options
from pto_dialect.driver.pipeline import process

FLAG = 'pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]'


def found(*lines: str, **options: object) -> list[tuple[str, int]]:
    """Rules and lines of the result in a function with ``lines``."""
    text = "\n".join(
        ('module attributes {pto.target_arch = "a5"} {', "func.func @f() {", *lines, "return", "}", "}", "")
    )
    told = process(text, "x.pto", Options(printing=False)._replace(**options)).diagnostics
    return [(diag.rule, diag.span.line - 2) for diag in told if diag.span is not None]


def test_statements_beside_or_below_the_comment_are_suppressed() -> None:
    assert found(FLAG) == [("sync-unpaired", 1)]
    assert found(f"{FLAG} // pto: allow(sync-unpaired) because the wait is elsewhere") == []
    assert found("// pto: allow(sync-unpaired) because so", "", "// more words", FLAG) == []
    assert found("// pto: allow(dead-tile, sync-unpaired) because so", FLAG) == [("suppression-unused", 1)]


def test_errors_are_allowed_but_not_those_of_reading() -> None:
    tile = "%t = pto.alloc_tile : !pto.tile_buf<vec, 16x3xf32>"
    assert found(tile) == [("alloc-nonebox-align", 1)]
    assert found(f"{tile} // pto: allow(alloc-nonebox-align) because so") == []
    assert found("foo.bar // pto: allow(op-unknown) because so") == [("op-unknown", 1), ("suppression-unused", 1)]


@pytest.mark.parametrize(
    ("comment", "rule"),
    [
        ("// pto: allow(sync-unpaired)", "suppression-form"),
        ("// pto: allow(sync-unpairde) because so", "suppression-form"),
        ("// pto: allow sync-unpaired because so", "suppression-form"),
        ("// pto: allow(alloc-nonebox-align) because so", "suppression-unused"),
    ],
)
def test_comments_that_are_not_as_they_should_be_are_reported(comment: str, rule: str) -> None:
    assert (rule, 1) in found(comment, "pto.barrier #pto.pipe<PIPE_ALL>")


def test_rules_that_were_not_applied_are_not_unused() -> None:
    comment = "// pto: allow(sync-static-hazard, race-war) because so"
    assert found(comment, "pto.barrier #pto.pipe<PIPE_ALL>") == []
    passes = ("verify-structure", "check-sync")
    assert found(comment, "pto.barrier #pto.pipe<PIPE_ALL>", passes=passes) == [("suppression-unused", 1)]


def test_keywords_in_strings_are_no_comments() -> None:
    assert found('pto.barrier #pto.pipe<PIPE_ALL> {note = "// pto: allow(x)"}') == [("attr-unknown", 1)]


def test_statements_of_several_lines_are_covered() -> None:
    lines = ("pto.set_flag[", '"PIPE_MTE2", "PIPE_V", "EVENT_ID0"]')
    assert found("// pto: allow(sync-unpaired) because so", *lines) == []


def test_a_finding_that_cannot_be_suppressed_is_not_reported_absent() -> None:
    told = process("// pto: allow(op-unknown) because so\nfoo.bar\n", "x.pto", Options(printing=False)).diagnostics
    messages = [one.message for one in told if one.rule == "suppression-unused"]
    assert messages == ["errors of op-unknown cannot be allowed, as the statement would be missing"]
