"""Operations by name."""

from __future__ import annotations

from functools import cache

from xdsl.ir import Operation

from pto_dialect.ir.core.aliases import MNEMONIC_ALIASES
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.registry import op_class
from pto_dialect.ir.core_dialects.core_ops import ALIASES, core_class


@cache
def class_named(name: str) -> type[Operation] | None:
    """Returns the class of an operation; ``None`` for an unknown one."""
    name = MNEMONIC_ALIASES.get(name, ALIASES.get(name, name))
    return op_class(name) if name in OPS else core_class(name)


def is_known(name: str) -> bool:
    """Returns whether an operation is known."""
    return class_named(name) is not None
