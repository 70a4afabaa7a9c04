"""Which results of two runs are the same."""

import ml_dtypes
import numpy as np
import pytest

from pto_dialect.driver.prove.runs import difference


@pytest.mark.parametrize("kind", [np.float16, np.float32, ml_dtypes.bfloat16])
def test_one_nan_is_as_good_as_another(kind: type[np.generic]) -> None:
    before = np.array([[1, np.nan, 2, np.nan]], kind)
    after = np.array([[1, np.nan, 2, np.nan]], kind)
    sign = np.dtype(kind).itemsize - 1
    after.view(np.uint8).reshape(4, -1)[1, sign] ^= 0x80
    assert before.tobytes() != after.tobytes()
    assert difference([before], [after]) is None
    after[0, 3] = 5
    found = difference([before], [after])
    assert found is not None
    assert (found.element, found.differing) == ((0, 3), 1)


def test_other_bits_are_another_result() -> None:
    for before, after in (([0.0], [-0.0]), ([1.0, np.nan], [np.nan, np.nan])):
        found = difference([np.array(before, np.float32)], [np.array(after, np.float32)])
        assert found is not None
        assert found.element == (0,)
    assert difference([np.array([1, 2], np.int32)], [np.array([1, 3], np.int32)]) is not None
