"""Reductions with conditions on the text."""

from __future__ import annotations

from pto_dialect.driver.reduce.operations import Reduction

LINES = [f"    %v{number} = arith.addi %x, %x : i64" for number in range(100)]
PROGRAM = "\n".join(
    [
        "module {",
        "  func.func @first(%x: i64, %n: index) {",
        *LINES,
        "    scf.for %i = %n to %n step %n {",
        "      %w = arith.muli %v7, %v99 : i64",
        "      %needed = arith.xori %w, %w : i64",
        "    }",
        "    return",
        "  }",
        "  func.func @second() {",
        "    return",
        "  }",
        "}",
        "",
    ]
)


def test_what_the_condition_needs_stays() -> None:
    tried: list[str] = []

    def holds(text: str) -> bool:
        tried.append(text)
        return "arith.xori" in text and "func.func" in text

    reduced = Reduction(PROGRAM, holds, 60).run()
    assert holds(reduced)
    assert reduced.splitlines() == ["  func.func @first(%x: i64) {", "    %needed = arith.xori %x, %x : i64"]
    assert len(tried) < 200 and len(set(tried)) >= len(tried) - 3


def test_syntax_errors_are_reduced_by_lines() -> None:
    wrong = PROGRAM.replace("arith.muli %v7, %v99", "arith.muli %v7 %v99")
    reduced = Reduction(wrong, lambda text: "muli %v7 %v99" in text, 60).run()
    assert reduced.strip() == "%w = arith.muli %v7 %v99 : i64"


def test_the_best_so_far_is_the_result_when_time_is_over() -> None:
    kept: list[str] = []
    reduction = Reduction(PROGRAM, lambda text: "arith.xori" in text, 0.0, kept.append)
    assert reduction.run() == (kept[-1] if kept else PROGRAM)
