"""Policy and order of collected diagnostics."""

import subprocess
import sys

import pytest

from pto_dialect.diagnostics import Counts, Diagnostic, DiagnosticEngine, DiagnosticOptions, Severity, SourceFile, Span

SOURCE = SourceFile("k.pto", "abcdefghijklmnopqrstuvwxyz")
INFO, WARNING, ERROR = Severity.INFO, Severity.WARNING, Severity.ERROR


def at(offset: int, rule: str = "r", severity: Severity = ERROR, message: str = "m") -> Diagnostic:
    return Diagnostic(rule, severity, message, Span(SOURCE, offset, offset + 1))


def collect(options: DiagnosticOptions, *diags: Diagnostic) -> DiagnosticEngine:
    engine = DiagnosticEngine(options)
    for diag in diags:
        engine.report(diag)
    return engine


def test_severities_are_ordered_and_labelled() -> None:
    assert INFO < WARNING < ERROR
    assert [severity.label for severity in Severity] == ["info", "warning", "error"]


def test_nothing_reported() -> None:
    engine = DiagnosticEngine()
    assert engine.diagnostics == ()
    assert not engine.has_errors
    assert engine.counts() == Counts(0, 0, 0, 0)


@pytest.mark.parametrize("severity", [WARNING, ERROR])
def test_allow_drops_warnings_and_errors(severity: Severity) -> None:
    options = DiagnosticOptions(allow=frozenset({"a"}))
    engine = collect(options, at(0, "a", severity), at(1, "b", WARNING))
    assert engine.diagnostics == (at(1, "b", WARNING),)
    assert not engine.has_errors
    assert engine.counts() == Counts(warnings=1)


def test_deny_makes_errors_of_warnings_and_infos() -> None:
    options = DiagnosticOptions(deny=frozenset({"a"}))
    engine = collect(options, at(0, "a", WARNING), at(1, "a", INFO), at(2, "b", WARNING))
    assert engine.diagnostics == (at(0, "a", ERROR), at(1, "a", ERROR), at(2, "b", WARNING))
    assert engine.has_errors
    assert engine.counts() == Counts(errors=2, warnings=1)


def test_allow_wins_over_deny() -> None:
    options = DiagnosticOptions(frozenset({"a"}), frozenset({"a"}), werror=True)
    assert collect(options, at(0, "a", WARNING)).counts() == Counts()


def test_werror_concerns_warnings_only() -> None:
    options = DiagnosticOptions(werror=True, pedantic=True)
    engine = collect(options, at(0, "w", WARNING), at(1, "i", INFO))
    assert [diag.severity for diag in engine.diagnostics] == [ERROR, INFO]
    assert engine.counts() == Counts(errors=1, infos=1)


@pytest.mark.parametrize(("pedantic", "shown"), [(False, 0), (True, 1)])
def test_infos_only_when_pedantic(pedantic: bool, shown: int) -> None:
    engine = collect(DiagnosticOptions(pedantic=pedantic), at(0, "i", INFO))
    assert len(engine.diagnostics) == shown
    assert engine.counts() == Counts(infos=shown)
    assert not engine.has_errors


def test_repetitions_are_dropped_but_nearly_equal_ones_are_not() -> None:
    engine = collect(
        DiagnosticOptions(),
        at(0),
        at(0),
        at(0)._replace(help="another help"),
        at(0, rule="s"),
        at(0, message="n"),
        at(1),
        Diagnostic("r", ERROR, "m"),
        Diagnostic("r", ERROR, "m"),
    )
    assert engine.counts() == Counts(errors=5)
    assert len(engine.diagnostics) == 5


def test_order_is_by_position_then_by_report() -> None:
    late, first_here, second_here = at(9), at(3, "z"), at(3, "a")
    nowhere = Diagnostic("n", WARNING, "m")
    engine = collect(DiagnosticOptions(), late, first_here, second_here, nowhere)
    assert engine.diagnostics == (nowhere, first_here, second_here, late)
    engine.report(at(0))
    assert engine.diagnostics[1] == at(0)


def test_order_of_files_and_chunks() -> None:
    chunk_two = Diagnostic("r", ERROR, "m", Span(SourceFile("k.pto", "abc", first_line=8), 0, 1))
    other = Diagnostic("r", ERROR, "m", Span(SourceFile("a.pto", "abc"), 2, 3))
    engine = collect(DiagnosticOptions(), chunk_two, other, at(20))
    assert engine.diagnostics == (at(20), chunk_two, other)


def test_errors_beyond_the_limit_are_counted_not_kept() -> None:
    engine = collect(DiagnosticOptions(max_errors=3), *(at(n) for n in range(3)))
    assert engine.is_full
    for n in (*range(5), 4, 3):
        engine.report(at(n))
    engine.report(at(9, "w", WARNING))
    assert engine.diagnostics == (at(0), at(1), at(2), at(9, "w", WARNING))
    assert engine.counts() == Counts(errors=5, warnings=1, hidden_errors=2)


def test_limit_counts_promoted_warnings() -> None:
    options = DiagnosticOptions(werror=True, max_errors=1)
    engine = collect(options, *(at(n, severity=WARNING) for n in range(3)))
    assert engine.diagnostics == (at(0),)
    assert engine.counts() == Counts(errors=3, hidden_errors=2)


def test_limit_default_and_none() -> None:
    diags = [at(0, message=str(n)) for n in range(50)]
    assert len(collect(DiagnosticOptions(), *diags).diagnostics) == 20
    unlimited = collect(DiagnosticOptions(max_errors=0), *diags)
    assert len(unlimited.diagnostics) == 50
    assert not unlimited.is_full
    assert unlimited.counts() == Counts(errors=50)


def test_counts_add_up() -> None:
    assert Counts(1, 2, 3, 4).merge(Counts(10, 20, 30, 40)) == Counts(11, 22, 33, 44)


def test_import_is_light() -> None:
    code = (
        "import sys; before = set(sys.modules); import pto_dialect.diagnostics; "
        "print(*sorted({name.partition('.')[0] for name in set(sys.modules) - before}))"
    )
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    heavy = {"numpy", "json", "difflib", "urllib", "tempfile", "unicodedata", "dataclasses", "inspect"}
    assert heavy.isdisjoint(result.stdout.split())
