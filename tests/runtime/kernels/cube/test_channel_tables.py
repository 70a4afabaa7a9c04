"""Tables of channel scales: how many entries a tile holds, what they are, and conversions that do not exist."""

from __future__ import annotations

import numpy as np
import pytest
from run_time_tiles import held, refused, value

from pto_dialect.runtime.kernels.cube.fixpipe_tile import AccumulatorOut, channel_entries, channel_table
from pto_dialect.targets.a2a3 import A2A3
from pto_dialect.targets.a5 import A5


def test_numbers_of_entries() -> None:
    assert channel_entries(value(2, 8, "f32")) == 16 and channel_entries(value(1, 8, "f16")) == 8
    assert channel_entries(value(1, 8, "ui64")) == 8 and channel_entries(value(3, 8, "i32")) == 12
    assert channel_entries(value(2, 8, "ui8")) == 2 and channel_entries(held(4, 8, "f32", valid=(2, 3))) == 6


@pytest.mark.parametrize("signed", [False, True])
def test_a_float_is_the_scale_of_its_entry(signed: bool) -> None:
    scales = np.array([1.0, 0.5, -2.0, 8.0], np.float32)
    for element in ("f32", "f16", "bf16"):
        table = channel_table(value(1, 4, element, scales), 3, signed, 1)
        assert (table & np.uint64(0xFFFF_FFFF)).astype(np.uint32).view(np.float32).tolist() == [0.5, -2.0, 8.0]
        assert (table >> np.uint64(46) & np.uint64(1)).tolist() == [int(signed)] * 3
        assert not (table >> np.uint64(47)).any() and not (table >> np.uint64(32) & np.uint64(0x3FFF)).any()


def test_entries_are_taken_as_they_are() -> None:
    entries = np.array([3, 1 << 60, 7, (1 << 64) - 1], np.uint64)
    assert channel_table(value(1, 4, "ui64", entries), 2, True, 2).tolist() == entries[2:].tolist()
    words = entries.view(np.int32)
    assert channel_table(value(2, 4, "i32", words), 4, False).tolist() == entries.tolist()
    odd = np.append(words, 5)
    assert channel_table(value(1, 9, "i32", odd), 4, False).tolist() == entries.tolist()


def test_columns_without_an_entry() -> None:
    table = value(1, 4, "ui64")
    assert channel_table(table, 4, True).size == 4 and channel_table(table, 0, True, 4).size == 0
    refused("fb-bt-capacity", "4 channel entries for 5 columns", lambda: channel_table(table, 5, True))
    refused("fb-bt-capacity", "4 channel entries for 5 columns", lambda: channel_table(table, 2, True, 3))


def test_conversions_that_do_not_exist() -> None:
    message = "accumulators hold f32 or i32, not f16"
    refused("unmodelled", message, lambda: AccumulatorOut("f16", "f16", "no_relu", A5, False))
    message = "f32 accumulators cannot be quantised to i16"
    refused("fixp-quant-dst-mode", message, lambda: AccumulatorOut("f32", "i16", "no_relu", A5, True))
    message = "reluPreMode vector_relu needs a payload that tile instructions do not carry"
    refused("unmodelled", message, lambda: AccumulatorOut("f32", "f16", "vector_relu", A2A3, False))
    assert AccumulatorOut("si32", "i32", "no_relu", A5, False).source == "i32"
    for target in ("i8", "si8", "ui8"):
        assert AccumulatorOut("f32", target, "no_relu", A5, True).base == "qf322b8_pre"


def test_sums_without_conversion_are_given_as_they_are() -> None:
    sums = np.array([[1.5, -2.0], [np.inf, 3.0]], np.float32)
    assert AccumulatorOut("f32", "f32", "no_relu", A5, False)(sums) is sums
    assert AccumulatorOut("f32", "f32", "normal_relu", A5, False)(sums).tolist() == [[1.5, 0.0], [np.inf, 3.0]]
    halves = AccumulatorOut("f32", "f16", "no_relu", A5, False)(sums)
    assert halves.dtype == np.float16 and halves[:, 1].tolist() == [-2.0, 3.0]
