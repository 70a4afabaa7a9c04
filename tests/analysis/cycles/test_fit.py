"""Fitting tables to measurements. Source: docs/reference/cycles.md, "Fitting"."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pto_dialect.analysis.cycles.estimate import estimate
from pto_dialect.analysis.cycles.fit import fit, reset_to_priors
from pto_dialect.analysis.cycles.measurements import Measurement
from pto_dialect.analysis.cycles.table import CycleTable, shipped
from pto_dialect.analysis.cycles.work import Work

SHAPES = [(rows, cols) for rows in (1, 2, 5, 16) for cols in (64, 128, 320, 1280)]


def measured(table: CycleTable, *names: str, shapes: list[tuple[int, int]] = SHAPES) -> list[Measurement]:
    works = [Work(name, "f32", "f32", rows, cols + 32, rows, cols) for name in names for rows, cols in shapes]
    return [Measurement(work, estimate(work, table).cycles) for work in works]


def test_a_fit_finds_the_parameters_that_made_the_measurements() -> None:
    key = ("operation", "texp", "*", "chain")
    made = shipped("a5").with_values({key: 40.0, ("flow", "row_gap", "*", "value"): 9.0})
    rows = measured(made, "texp", "tmins", "tadd")
    found = fit(shipped("a5"), rows)
    assert all(estimate(one.work, found).cycles == pytest.approx(one.cycles, rel=0.03) for one in rows)
    assert found.entries["flow", "row_gap", "*", "value"].value == pytest.approx(9.0, abs=0.5)


def test_what_no_measurement_depends_on_stays() -> None:
    found = fit(shipped("a5"), measured(shipped("a5"), "texp"))
    old = shipped("a5").entries
    for key in (
        ("operation", "tadd", "*", "chain"),
        ("convert", "narrow", "*", "row_step"),
        ("move", "gm:ub", "*", "rate"),
    ):
        assert found.entries[key].value == old[key].value
    assert fit(found, []).entries == found.entries


def test_an_operation_without_measurements_is_predicted_from_its_class() -> None:
    """Fitted from neutral values to other operations of the unit, a division by a scalar is met within 5 %."""
    truth = shipped("a5")
    table = fit(reset_to_priors(truth), measured(truth, "texp", "trsqrt", "tmins", "tadd", "tneg"))
    for one in measured(truth, "tdivs"):
        assert estimate(one.work, table).cycles == pytest.approx(one.cycles, rel=0.05)


def test_equal_measurements_count_once() -> None:
    truth = shipped("a5")
    rows = measured(truth, "texp")
    wrong = [replace(rows[0], cycles=2 * rows[0].cycles)]
    once = fit(truth, rows + wrong)
    assert fit(truth, rows + wrong * 50).entries == once.entries
