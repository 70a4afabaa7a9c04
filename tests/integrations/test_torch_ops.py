"""Kernels as operations of PyTorch."""

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402

from pto_dialect.integrations.function import jit  # noqa: E402
from pto_dialect.integrations.memory import as_array  # noqa: E402
from pto_dialect.integrations.torch_ops import custom_op  # noqa: E402
from pto_dialect.runtime.errors import BindingError  # noqa: E402

Tensor = torch.Tensor


def annotated(**types: Any) -> Callable[[Any], Any]:
    """Gives a function the annotations that PyTorch requires."""

    def decorate(function: Any) -> Any:
        function.__annotations__ = {name.rstrip("_"): type_ for name, type_ in types.items()}
        return function

    return decorate


TWICE = """
func.func @twice(%x: !pto.ptr<bf16>, %y: !pto.ptr<bf16>) {
  %c0 = arith.constant 0 : index
  %0 = pto.load_scalar %x[%c0] : !pto.ptr<bf16> -> bf16
  %1 = arith.addf %0, %0 : bf16
  pto.store_scalar %1, %y[%c0] : !pto.ptr<bf16>, bf16
  return
}
"""


def test_operation_with_a_result() -> None:
    @custom_op("pto_test::twice")
    @jit(TWICE, returns="y")
    @annotated(x=Tensor, return_=Tensor)
    def twice(x: Any) -> dict[str, Any]:
        return {"x": x, "y": torch.empty_like(x)}

    x = torch.tensor([1.5], dtype=torch.bfloat16)
    assert twice(x).tolist() == [3.0]
    assert torch.ops.pto_test.twice(x).tolist() == [3.0]
    torch.library.opcheck(twice, (x,), test_utils=("test_schema", "test_faketensor"))


def test_operation_that_writes() -> None:
    @custom_op("pto_test::twice_into", mutates=("y",))
    @jit(TWICE)
    @annotated(x=Tensor, y=Tensor, return_=None)
    def twice_into(x: Any, y: Any) -> None: ...

    x, y = torch.tensor([2.5], dtype=torch.bfloat16), torch.zeros(1, dtype=torch.bfloat16)
    twice_into(x, y)
    assert y.tolist() == [5.0]


@pytest.mark.parametrize(
    ("name", "like"),
    [
        ("float32", np.float32),
        ("int8", np.int8),
        ("bfloat16", ml_dtypes.bfloat16),
        ("float8_e4m3fn", ml_dtypes.float8_e4m3fn),
    ],
)
def test_arrays_share_the_memory_of_tensors(name: str, like: type) -> None:
    tensor = torch.tensor([1.0, 2.0]).to(getattr(torch, name))
    array = as_array(tensor)
    assert array.view(like).tolist() == [1, 2]
    array[1] = array[0]
    assert tensor.float().tolist() == [1, 1]


def test_tensors_elsewhere_are_refused() -> None:
    with pytest.raises(BindingError, match="in the memory of the host, found one on meta"):
        as_array(torch.ones(2, device="meta"))
