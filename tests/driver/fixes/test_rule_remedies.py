"""Fixes of the incorrect programs of rules whose help states an edit: what changes, and whether it is a guess."""

from __future__ import annotations

import pytest

from pto_dialect.diagnostics.engine import DiagnosticOptions
from pto_dialect.diagnostics.fix import edited
from pto_dialect.driver.fixes.offer import with_fixes
from pto_dialect.driver.options import Options
from pto_dialect.driver.pipeline import process
from pto_dialect.verify.engine.example_programs import bad_program
from pto_dialect.verify.engine.rule import RULES, load_all_rules

OPTIONS = Options(printing=False, policy=DiagnosticOptions(pedantic=True, max_errors=0))
FIXES = [
    ("mad-tf32-needs-f32", "remove 'tf32_mode(round_even)'", True),
    ("mad-sat-needs-float", "remove 'sat'", True),
    ("fixp-relu-pwl", "replace 'pwl' by 'no_relu'", False),
    ("fixp-ub-split-plain", "remove ', pre_relu(mode = normal_relu)'", False),
    ("fixp-unit-flag-loop0", "remove ', unit_flag(check_only)'", False),
    ("fillpad-mode", "remove '{mode = \"expand\"}'", True),
    ("tcvt-sat-no-effect", "remove '{sat_mode = #pto<saturation_mode OFF>}'", True),
    ("rowexpand-no-tmp-a5", "remove %t", True),
    ("colsum-binary-tmp", "insert '{isBinary = true}'", False),
    ("mgs-coalesce", "insert 'coalesce = #pto<coalesce row>,'", False),
    ("tile-one-scalar", "replace 'pto.tdivs' by 'pto.tdiv'", False),
    ("suppression-unused", "remove '// pto: allow(sync-unpaired) because the wait is elsewhere'", True),
]


def incorrect(rule: str) -> str:
    load_all_rules()
    program = bad_program(RULES[rule])
    assert program is not None
    return program


@pytest.mark.parametrize(("rule", "title", "safe"), FIXES, ids=[rule for rule, *_ in FIXES])
def test_first_fix_of_a_rule_removes_its_diagnostic(rule: str, title: str, safe: bool) -> None:
    program = incorrect(rule)
    found = with_fixes(process(program, "program.pto", OPTIONS).diagnostics, OPTIONS)
    (diagnostic,) = [one for one in found if one.rule == rule]
    first = diagnostic.fixes[0]
    assert (first.title, first.safe) == (title, safe)
    fixed = process(edited(program, first.edits), "program.pto", OPTIONS).diagnostics
    assert rule not in [one.rule for one in fixed]


@pytest.mark.parametrize("rule", ["fixp-relu-no-payload", "fixp-nz2nz-loop3"])
def test_a_removed_argument_is_removed_from_the_types_as_well(rule: str) -> None:
    program = incorrect(rule)
    found = with_fixes(process(program, "program.pto", OPTIONS).diagnostics, OPTIONS)
    (diagnostic,) = [one for one in found if one.rule == rule]
    assert process(edited(program, diagnostic.fixes[0].edits), "program.pto", OPTIONS).ok
