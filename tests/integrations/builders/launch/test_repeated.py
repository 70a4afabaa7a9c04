"""Launches that are repeated: executed unless they leave all their memory as it is (docs/ptodsl.md)."""

from collections.abc import Iterator

import numpy as np
import pytest

from pto_dialect.integrations.builders.launch import repeated
from pto_dialect.integrations.builders.launch.kernels import Launched as Kernel
from pto_dialect.integrations.events import Event, Launched, instrumented, observed
from pto_dialect.sanitize.options import SanitizeOptions

HEAD = """
module attributes {pto.target_arch = "a5"} {
  func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %s: f32) attributes {pto.entry} {
    %c0 = arith.constant 0 : index
    %0 = pto.load_scalar %x[%c0] : !pto.ptr<f32> -> f32
    %1 = arith.mulf %0, %s : f32
"""
TAIL = """
    return
  }
}
"""
OUT = HEAD + "    pto.store_scalar %1, %y[%c0] : !pto.ptr<f32>, f32" + TAIL
IN_PLACE = HEAD + "    pto.store_scalar %1, %x[%c0] : !pto.ptr<f32>, f32" + TAIL
PRINTS = OUT.replace("    return", '    pto.print ins("%f", %1 : f32)\n    return')


@pytest.fixture(autouse=True)
def executed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Event]]:
    """The launches that are executed; each counts as one that took long."""
    monkeypatch.setattr(repeated, "BYTES_A_SECOND", 1 << 60)
    events: list[Event] = []
    with observed(lambda event: events.append(event) if isinstance(event, Launched) else None):
        yield events


def kernel(text: str) -> Kernel:
    return Kernel(text, "f", "f.pto", None, True)


def arrays() -> tuple[np.ndarray, np.ndarray]:
    return np.array([1, 2], np.float32), np.zeros(2, np.float32)


def test_third_launch_on_the_same_memory_is_not_executed(executed: list[Event]) -> None:
    launched, (x, y) = kernel(OUT), arrays()
    for _ in range(5):
        launched(1, [x, y, 3.0])
    # The first changes y; the second shows that nothing changes any more.
    assert len(executed) == 2
    assert y.tolist() == [3, 0]


@pytest.mark.parametrize("change", ["input", "output", "number", "blocks", "memory"])
def test_launch_on_something_else_is_executed(executed: list[Event], change: str) -> None:
    launched, (x, y) = kernel(OUT), arrays()
    for _ in range(4):
        launched(1, [x, y, 3.0])
    before = len(executed)
    if change == "input":
        x[0] = 2
    if change == "output":
        y[0] = 7
    if change == "memory":
        x = x.copy()
    launched(2 if change == "blocks" else 1, [x, y, 4.0 if change == "number" else 3.0])
    assert len(executed) == before + 1
    assert y[0] == x[0] * (4 if change == "number" else 3)


def test_launch_in_place_is_always_executed(executed: list[Event]) -> None:
    launched, (x, y) = kernel(IN_PLACE), arrays()
    for _ in range(6):
        launched(1, [x, y, 2.0])
    assert x[0] == 64
    assert len(executed) == 6


def test_program_that_prints_is_always_executed(executed: list[Event]) -> None:
    launched, (x, y) = kernel(PRINTS), arrays()
    for _ in range(5):
        launched(1, [x, y, 2.0])
    assert len(executed) == 5


def test_sanitized_launches_are_always_executed(executed: list[Event]) -> None:
    launched, (x, y) = kernel(OUT), arrays()
    with instrumented(SanitizeOptions()):
        for _ in range(5):
            launched(1, [x, y, 2.0])
    assert len(executed) == 5


def test_short_launches_are_not_compared(executed: list[Event], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeated, "BYTES_A_SECOND", 0)
    launched, (x, y) = kernel(OUT), arrays()
    for _ in range(5):
        launched(1, [x, y, 2.0])
    assert len(executed) == 5
