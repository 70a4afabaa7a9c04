"""Errors before they have a location: their text, and memory that runs out."""

from __future__ import annotations

import numpy as np
import pytest

from pto_dialect.runtime.faults import Fault, TooLarge, exhausted, format_size


def test_the_text_of_a_fault_has_its_notes() -> None:
    fault = Fault("mem-oob", "too far", ("of 4 bytes", "from byte 8 on"))
    assert (fault.rule, fault.message, fault.notes) == ("mem-oob", "too far", ("of 4 bytes", "from byte 8 on"))
    assert str(fault) == "mem-oob: too far\n  note: of 4 bytes\n  note: from byte 8 on"
    assert str(Fault("mem-oob", "too far")) == "mem-oob: too far"
    assert Fault("mem-oob", "too far").args == ("mem-oob", "too far", ())


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 bytes"), (1, "1 byte"), (2, "2 bytes"), (1023, "1023 bytes"), (1024, "1 KiB"), (1025, "1 KiB"),
        (1536, "1.5 KiB"), (1 << 20, "1 MiB"), (1 << 30, "1 GiB"), (7 << 29, "3.5 GiB"), (1 << 40, "1 TiB"),
        (1 << 50, "1 PiB"), (1 << 60, "1 EiB"), (1 << 70, "1.02e+03 EiB"), (1 << 80, "1.05e+06 EiB"),
    ],
)  # fmt: skip
def test_sizes(number: int, text: str) -> None:
    assert format_size(number) == text


def test_memory_that_runs_out_reports_what_was_wanted() -> None:
    for error, text in [
        (MemoryError(), ""), (TooLarge(1 << 62), ": 4 EiB"),
        (np._core._exceptions._ArrayMemoryError((3, 1 << 30), np.dtype(np.float64)), ": 24 GiB"),  # type: ignore[attr-defined]
    ]:  # fmt: skip
        fault = exhausted(error)
        assert (fault.rule, fault.message) == ("run-memory", f"takes more memory than there is{text}")
    partly = MemoryError()
    partly.shape = (4,)  # type: ignore[attr-defined]
    assert exhausted(partly).message == "takes more memory than there is"
    assert str(TooLarge(77)) == "no array has 77 bytes"
