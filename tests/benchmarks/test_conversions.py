"""A sample of the comparison of conversions with plain integers; benchmarks/conversions.py makes the whole."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
from groups import in_groups

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
conversions = importlib.import_module("conversions")
formula = importlib.import_module("integer_conversions")

RANDOM = 2000
EVERY = 61
"""Of the conversions; prime, so that every clause comes up."""


def label(case) -> str:
    return case.label


@in_groups("case", list(conversions.cases())[::EVERY], label)
def test_sample(case) -> None:
    numbers, wrong, first = conversions.compare(case, RANDOM)
    assert numbers >= 16
    assert wrong == 0, first


def test_every_pair_is_compared() -> None:
    pairs = {(case.op, case.source, case.target, case.arch) for case in conversions.cases()}
    for arch, table in conversions.PAIRS.items():
        assert all(("tcvt", s, t, arch) in pairs for s, targets in table.items() for t in targets.split())
    assert len({case.label for case in conversions.cases()}) == len(list(conversions.cases()))


@in_groups(
    ("value", "source", "target", "letter", "saturate", "wanted"),
    [
        (0x3FC00000, "f32", "i32", "R", True, 2),
        (0x40200000, "f32", "i32", "R", True, 2),
        (0x40200000, "f32", "i32", "A", True, 3),
        (0xC0200000, "f32", "i32", "F", True, -3),
        (0xC0200000, "f32", "i32", "C", True, -2),
        (0x40400000, "f32", "i32", "O", True, 3),
        (0x7F800000, "f32", "i16", "R", False, -1),
        (0xFF800000, "f32", "i16", "R", False, 0),
        (0x501502F9, "f32", "i16", "R", False, -1),
        (0x7C00, "f16", "ui8", "R", False, 255),
        (0xFC00, "f16", "ui8", "R", False, 0),
        (0x7FC00000, "f32", "i32", "R", True, 0),
        (300, "i32", "ui8", "R", True, 255),
        (65535, "i32", "i16", "R", False, -1),
        (0x7F800000, "f32", "hif8", "A", False, 0x6F),
        (0xFF800000, "f32", "hif8", "A", False, 0xEF),
        (0x7FC00000, "f32", "hif8", "A", False, 0x80),
        (0x3F880000, "f32", "hif8", "A", False, 0x09),
        (0x47000000, "f32", "hif8", "A", False, 0x6E),
        (0x3F880000, "f32", "f8E4M3FN", "R", True, 0x38),
        (0x3F980000, "f32", "f8E4M3FN", "R", True, 0x3A),
        (0x7F800000, "f32", "f8E4M3FN", "R", True, 0x7E),
        (0x477FF000, "f32", "f16", "R", False, 0x7C00),
        (0x477FF000, "f32", "f16", "R", True, 0x7BFF),
        (0x3F80, "bf16", "f4E2M1x2", "R", True, 2),
    ],
)
def test_the_formula_itself(value: int, source: str, target: str, letter: str, saturate: bool, wanted: int) -> None:
    assert formula.convert(np.array([value]), source, target, letter, saturate)[0] == wanted
