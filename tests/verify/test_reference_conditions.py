"""Each condition of the reference's verifier has a rule here, or a reason why it has none.

The tables are `tests/verify/reference_conditions`; `tests/helpers/reference_conditions.py` says how to read and extend
them. What a row changes in the program of its block is the only difference between an accepted and a refused program.
"""

from __future__ import annotations

from groups import each
from reference_conditions import Base, Condition, read_tables, reported

from pto_dialect.diagnostics.diagnostic import Severity

BASES, CONDITIONS = read_tables()


def errors(program: str) -> list[str]:
    return [rule for rule, severity in reported(program) if severity is Severity.ERROR]


@each("base", BASES, lambda base: base.file)
def test_programs_of_a_block_are_accepted(base: Base) -> None:
    for target in base.targets:
        for op in base.ops:
            program = base.program(op, target, dict(base.types), base.text)
            assert errors(program) == [], program


@each("condition", CONDITIONS, lambda row: f"{row.base.file}-{row.base.ops[0]}", lambda row: f"line {row.line}")
def test_a_condition_is_held(condition: Condition) -> None:
    """Refused by one of the named rules; where the row says so, warned about by it, or accepted."""
    seen: set[str] = set()
    for _, _, program in condition.programs():
        found = reported(program)
        refused = {rule for rule, severity in found if severity is Severity.ERROR}
        if condition.is_error:
            assert refused & set(condition.rules), f"{condition.words}: {found}\n{program}"
            seen |= refused
        else:
            assert not refused, f"{condition.words}: {found}\n{program}"
            seen |= {rule for rule, _ in found}
    assert set(condition.rules) <= seen, f"{condition.words}: {seen}"


def test_rows_are_complete() -> None:
    """Every row names what holds it; reasons are words."""
    for row in CONDITIONS:
        place = f"{row.base.file}:{row.line}"
        assert row.held and row.held != "?" and row.function and row.words and row.change, place
        if not row.is_error:
            assert len(row.held.partition(":")[2].split()) > 1, place
