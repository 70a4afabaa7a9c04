"""Mutated programs are refused with a source location, or printed in forms that are read as the same program."""

from __future__ import annotations

import pytest
from mutated_programs import families, first_statements, mutations
from sampling import sampled

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.engine import DiagnosticOptions
from pto_dialect.driver.options import Options
from pto_dialect.driver.pipeline import Result, process

POLICY = DiagnosticOptions(pedantic=True, max_errors=0)


def checked(text: str, *, generic: bool = False) -> Result:
    """What the pipeline makes of a program."""
    return process(text, "program.pto", Options(policy=POLICY, generic=generic))


@pytest.mark.parametrize("family", families())
def test_mutated_programs_are_refused_or_printed(family: str) -> None:
    accepted = refused = 0
    for statement in first_statements(family):
        for text in sampled(mutations(statement), 3):
            result = checked(text)
            if result.ok:
                accepted += 1
                generic = checked(text, generic=True).text
                assert result.text and generic
                assert checked(result.text).text == result.text, text
                assert checked(generic).text == result.text, text
            else:
                refused += 1
                errors = [found for found in result.diagnostics if found.severity is Severity.ERROR]
                assert errors and all(error.span is not None for error in errors), text
    assert accepted and refused
