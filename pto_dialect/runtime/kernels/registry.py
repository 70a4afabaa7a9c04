"""Which function generates the code of an operation, found by operation name; families are imported on first use."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation

from ...ir.index import OPS
from .families import MODULES
from .refusals import reason

if TYPE_CHECKING:
    from ..generator import Generator

Generate = Callable[[Any, "Generator"], None]

KERNELS: dict[str, Generate] = {}
"""Code generators by operation name."""


def kernel(*mnemonics: str) -> Callable[[Generate], Generate]:
    """Registers the code generator of the named operations."""

    def register(function: Generate) -> Generate:
        for mnemonic in mnemonics:
            KERNELS[mnemonic] = function
        return function

    return register


POINTER_PREFIXES = ("pto.mte_", "pto.mad")
"""Operations that use a memref as the address of its first element."""

_imported: set[str] = set()


def find(name: str) -> Generate | None:
    """The code generator of operation ``name``, importing the modules of its family."""
    if name not in KERNELS:
        family = OPS[name][0] if name in OPS else name.partition(".")[0]
        for module in MODULES.get(family, ()):
            if module not in _imported:
                _imported.add(module)
                import_module(f".{module}", __package__)
    return KERNELS.get(name)


def generate(op: Operation, generator: Generator) -> None:
    """Writes the code of one operation; raises ``ProgramError`` for one that cannot be executed."""
    found = find(op.name)
    if found is None:
        why = reason(op.name) or "its execution is not supported"
        raise generator.error("unmodelled", f"{op.name} cannot be executed: {why}", op)
    if op.name.startswith(POINTER_PREFIXES):
        with generator.as_pointers([value for value in op.operands if isinstance(value.type, MemRefType)]):
            found(op, generator)
    else:
        found(op, generator)
