"""Operation classes by mnemonic, imported family by family on first use."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from .index import OPS

if TYPE_CHECKING:
    from .base import PtoOp


@cache
def op_class(mnemonic: str) -> type[PtoOp]:
    """The class of ``mnemonic`` (``"pto.tadd"``); raises KeyError for an unknown one."""
    module, name, _ = OPS[mnemonic]
    return getattr(import_module(f".{module}", __package__), name)


def all_op_classes() -> list[type[PtoOp]]:
    """Every operation class, sorted by mnemonic; imports all families."""
    return [op_class(mnemonic) for mnemonic in OPS]


def family_of(cls: type[PtoOp]) -> str:
    """Name of the module that declares ``cls``: ``"matmul"``, ``"tile_elementwise"`` ..."""
    return OPS[cls.name][0]
