"""Kernels as custom operations of PyTorch, which `torch.compile`, fake tensors and autograd formulas know.

Needs PyTorch 2.4 or newer. See docs/integrations.md.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from .function import Function


def custom_op(name: str, *, mutates: Iterable[str] = ()) -> Callable[[Function], Any]:
    """Registers a function made by ``jit`` as the operation ``namespace::name`` of PyTorch.

    The parameters of the function and its result have the annotations of `torch.library.custom_op` (``torch.Tensor``,
    ``int``, ``float`` ...). ``mutates`` are the parameters that the kernel writes. Shapes and types of results are
    those that the function returns for fake tensors. The returned operation accepts a formula for gradients
    (``register_autograd``). Raises ``ImportError`` without PyTorch.
    """
    torch = import_module("torch")

    def decorate(function: Function) -> Any:
        def carry_out(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        def shape_of_results(*args: Any, **kwargs: Any) -> Any:
            return function.results(function.values(*args, **kwargs))

        for one in (carry_out, shape_of_results):
            one.__name__ = function.prepare.__name__
            one.__annotations__ = inspect.get_annotations(function.prepare, eval_str=True)
            one.__signature__ = inspect.signature(function.prepare, eval_str=True)
        operation = torch.library.custom_op(name, carry_out, mutates_args=tuple(mutates))
        operation.register_fake(shape_of_results)
        return operation

    return decorate
