"""The classes and functions of the operations of `pto`, made when they are first used."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from ..declare import GeneratedOp, make_class, make_function
from ..ir.operations import find_view, register_view
from .signatures import class_names, form_of, function_names
from .special import SPECIAL_CLASSES

_BEFORE_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

ALIASES = {"SubsetOp": "SubViewOp"}
"""Classes of older releases, with those that have replaced them."""

FUNCTION_ALIASES = {"subset": "subview"} | {
    name: f"comm_{name}"
    for name in ("build_async_session", "tget_async", "tput_async", "test_async_event", "wait_async_event")
}
"""Functions of older releases, with those that have replaced them."""


class RegionOp(GeneratedOp):
    """Base of the classes of operations with a region."""

    @property
    def body(self) -> Any:
        """The region."""
        return self.regions[0]


@cache
def op_view(mnemonic: str) -> type[Any]:
    """Returns the class of an operation."""
    special = SPECIAL_CLASSES.get(mnemonic)
    if special is None:
        form = form_of(mnemonic)
        special = make_class(form, RegionOp if form.regions else GeneratedOp, __name__)
    return register_view(special)


@cache
def op_function(mnemonic: str) -> Callable[..., Any]:
    """Returns the function that makes an operation."""
    form = form_of(mnemonic)
    renamed: dict[str, str] = {}
    for one in (*form.positional, *form.named):
        renamed[_BEFORE_CAPITAL.sub("_", one.name).lower()] = one.name
    return make_function(op_view(mnemonic), {snake: name for snake, name in renamed.items() if snake != name})


def find_class(name: str) -> type[Any] | None:
    """Returns the class with a name of Python; ``None`` for an unknown one."""
    mnemonic = class_names().get(ALIASES.get(name, name))
    return None if mnemonic is None else op_view(mnemonic)


def find_function(name: str) -> Callable[..., Any] | None:
    """Returns the function with a name of Python; ``None`` for an unknown one."""
    mnemonic = function_names().get(FUNCTION_ALIASES.get(name, name))
    return None if mnemonic is None else op_function(mnemonic)


find_view.append(lambda name: op_view(name) if name in set(class_names().values()) else None)
