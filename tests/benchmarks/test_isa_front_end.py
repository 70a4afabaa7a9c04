"""What launch functions of the instruction set's tests launch, as their LLVM IR says."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from isa_front_end import Kernels, Launch, constant_of, launches_of
from isa_record import NotMapped

STRAIGHT = """entry:
  %conv = fptrunc float %scale to half
  tail call void @kernel(ptr noundef %out, ptr noundef %in, half noundef %conv, i32 noundef 7), !dbg !12
  ret void
"""
CHOICE = """entry:
  switch i32 %which, label %done [
    i32 1, label %one
    i32 2, label %two
  ]
one:
  tail call void @first(ptr %out)
  br label %done
two:
  tail call void @second(ptr %out)
  br label %done
done:
  ret void
"""
COMPUTED = """entry:
  %next = getelementptr i8, ptr %out, i64 64
  tail call void @kernel(ptr %next)
  ret void
"""


def kernels(parameters: str, body: str) -> Kernels:
    return Kernels([], {"launch": (parameters, body)}, {})


def test_arguments_are_passed_on_through_conversions() -> None:
    found = launches_of(kernels("ptr %out, ptr %in, float %scale", STRAIGHT), "launch", ["p,0,0", "p,1,0", "n,0.5"])
    assert found == [Launch("kernel", ["p,0,0", "p,1,0", "n,0.5", "7"])]


@pytest.mark.parametrize(("which", "kernel"), [(1, ["first"]), (2, ["second"]), (3, [])])
def test_branches_are_taken_by_the_given_numbers(which: int, kernel: list[str]) -> None:
    one = kernels("ptr %out, i32 %which", CHOICE)
    if not kernel:
        with pytest.raises(NotMapped, match="without a launch"):
            launches_of(one, "launch", ["p,0,0", f"n,{which}"])
        return
    assert [launch.kernel for launch in launches_of(one, "launch", ["p,0,0", f"n,{which}"])] == kernel


def test_computed_arguments_are_refused() -> None:
    with pytest.raises(NotMapped, match="computes getelementptr"):
        launches_of(kernels("ptr %out", COMPUTED), "launch", ["p,0,0"])


@pytest.mark.parametrize(
    ("text", "number"), [("7", 7.0), ("0xH4000", 2.0), ("0x3FF8000000000000", 1.5), ("-2.5", -2.5)]
)
def test_constants_are_read_in_all_spellings(text: str, number: float) -> None:
    assert constant_of(text) == number
