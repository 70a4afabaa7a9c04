"""Rules about the input files of a program and about the expectations in its comments."""

from __future__ import annotations

from ..engine.rule import ERROR, WARNING, rule

READ = "read"
EXPECT = "verify-diagnostics"

_LANGUAGE = 'docs/reference/language.md, "Modules and functions"'
_TESTS = 'docs/reference/constraints.md, "Severity"'

rule("input-unreadable", ERROR, READ, "an input can be opened and read", _LANGUAGE)
rule("input-encoding", ERROR, READ, "an input is UTF-8 text", _LANGUAGE)
rule("input-binary", ERROR, READ, "an input has no NUL characters", _LANGUAGE)
rule("internal", ERROR, READ, "the tools have no fault themselves; what shows one is worth a report", _LANGUAGE)
rule("input-memory", ERROR, READ, "an input with what is built from it fits into memory", _LANGUAGE)
rule("input-empty", WARNING, READ, "an input has some text", _LANGUAGE)
rule("config-invalid", ERROR, READ, "settings of a project have known keys with values that they take", _TESTS)

rule(
    "suppression-form",
    WARNING,
    READ,
    "a comment that allows findings reads // pto: allow(rule) because reason, with a rule that there is",
    _TESTS,
)
rule("suppression-unused", WARNING, READ, "what a comment allows is found in the statement beside or below it", _TESTS)

rule(
    "unexpected-diagnostic",
    ERROR,
    EXPECT,
    "with --verify-diagnostics every error and warning has its expected-… comment",
    _TESTS,
)
rule(
    "missing-diagnostic", ERROR, EXPECT, "with --verify-diagnostics every expected-… comment has its diagnostic", _TESTS
)
rule(
    "malformed-expectation",
    ERROR,
    EXPECT,
    "an expectation reads expected-KIND[-re] [@+N | @-N | @above | @below | @unknown] {{text}}",
    _TESTS,
)
