"""The diagnostic of a rule at an operation, at a part of the source, and with another severity."""

from pto_dialect import parse
from pto_dialect.diagnostics.diagnostic import Diagnostic, Note, Severity
from pto_dialect.diagnostics.source import SourceFile, Span
from pto_dialect.verify.engine.rule import rule_named

RULE = rule_named("mem-overlap")


def test_diagnostic_of_an_operation_has_its_span_and_the_severity_of_the_rule() -> None:
    text = "module {\n  func.func @f() {\n    return\n  }\n}\n"
    function = next(iter(parse(text).ops))
    found = RULE.at(function, "two tiles", [Note("here")], "move one")
    assert (found.rule, found.severity, found.message) == ("mem-overlap", RULE.severity, "two tiles")
    assert found.span is not None and found.span.source.text[found.span.start :].startswith("func.func @f")
    assert (found.notes, found.help, found.remedies) == ((Note("here"),), "move one", ())


def test_place_may_be_a_span_or_unknown_and_severity_may_be_replaced() -> None:
    span = Span(SourceFile("f.pto", "module {}"), 0, 6)
    assert RULE.at(span, "m", severity=Severity.INFO) == Diagnostic("mem-overlap", Severity.INFO, "m", span)
    assert RULE.at(None, "m") == Diagnostic("mem-overlap", RULE.severity, "m", None)
