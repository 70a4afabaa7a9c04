"""Messages about C++ kernels have the names of C++."""

from __future__ import annotations

import pytest

from pto_dialect.cpp.wording import in_cpp


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("in pto.wait_flag_dyn on MTE1", "in wait_flag on MTE1"),
        ("set by pto.set_flag_dyn (line 15)", "set by set_flag (line 15)"),
        ('pto.set_flag_dyn["PIPE_V", "PIPE_MTE3", %slot]', "set_flag(PIPE_V, PIPE_MTE3, slot)"),
        ("pto.wait_intra_block on V", "wait_intra_block on V"),
        ("pto.syncall between the two", "SYNCALL between the two"),
        ("writes in pto.comm.tput", "writes in TPUT"),
        ("pto.comm.wait_async_event for it", "Wait for it"),
        ("pto.tpush_to_aiv and pto.tpop_from_aic, pto.tfree_from_aic", "TPUSH and TPOP, TFREE"),
        ("pto.tgetval, pto.tsetval, pto.subview", "GetValue, SetValue, TSUBVIEW"),
        ("pto.mgather, pto.mscatter", "MGATHER, MSCATTER"),
        ("pto.local_array_get on S", "reading an element on S"),
        ("pto.tquant.mx", "TQUANT_MX"),
        ("found !pto.tile_buf<vec, 8x64xf32>", "found !pto.tile_buf<vec, 8x64xf32>"),
        ('pto.target_arch = "a5"', 'pto.target_arch = "a5"'),
    ],
)
def test_names(text: str, wanted: str) -> None:
    assert in_cpp(text) == wanted
