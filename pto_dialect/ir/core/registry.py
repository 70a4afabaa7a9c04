"""Operation classes by mnemonic, imported family by family on first use."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from pto_dialect.families import FAMILIES

from .index import OPS

if TYPE_CHECKING:
    from .base import PtoOp


@cache
def op_class(mnemonic: str) -> type[PtoOp]:
    """Returns the class of ``mnemonic`` (``"pto.tadd"``); raises KeyError for an unknown one."""
    family, name, _ = OPS[mnemonic]
    return getattr(import_module(f"pto_dialect.ir.{FAMILIES[family].operations}"), name)


def all_op_classes() -> list[type[PtoOp]]:
    """Returns every operation class, sorted by mnemonic; imports all families."""
    return [op_class(mnemonic) for mnemonic in OPS]


def family_of_name(name: str) -> str:
    """Returns the family of operation ``name``; for an operation of another dialect the dialect."""
    return OPS[name][0] if name in OPS else name.partition(".")[0]


def family_of(cls: type[PtoOp]) -> str:
    """Returns the family that ``cls`` belongs to: ``"matmul"``, ``"tile_elementwise"`` ..."""
    return OPS[cls.name][0]
