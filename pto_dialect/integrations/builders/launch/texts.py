"""Texts of modules with the Python lines that statements come from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from xdsl.ir import Operation

from pto_dialect.ir.core.base import symbol_of
from pto_dialect.ir.core_dialects.func import FuncOp


def located_text(module: Any, entry: str, names: Sequence[str]) -> str | None:
    """Returns the text of a module with locations, if it is one of the modules that this package provides; the
    arguments of function ``entry`` have ``names`` in it."""
    operation = getattr(module, "operation", None)
    get = getattr(operation, "get_asm", None)
    if operation is None or get is None:
        return None
    with _named(operation._x, entry, names):
        return str(get(enable_debug_info=True))


@contextmanager
def _named(module: Operation, entry: str, names: Sequence[str]) -> Iterator[None]:
    """Has the arguments of a function names inside the ``with`` block, if there is one for each."""
    arguments = next((list(op.regions[0].blocks[0].args) for op in module.walk() if _is_function(op, entry)), [])
    if len(arguments) != len(names):
        arguments = []
    before = [one.name_hint for one in arguments]
    for one, name in zip(arguments, names, strict=False):
        one.name_hint = one.name_hint or name
    try:
        yield
    finally:
        for one, name in zip(arguments, before, strict=True):
            one.name_hint = name


def _is_function(op: Operation, name: str) -> bool:
    return isinstance(op, FuncOp) and bool(op.regions[0].blocks) and symbol_of(op) == name
