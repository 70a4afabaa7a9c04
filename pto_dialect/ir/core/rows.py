"""Operations that differ from their base class in name and meaning alone, declared as rows of a table.

Operations that other code names are classes, whatever they add.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import new_class
from typing import Any

from .base import PtoOp


def rows(module: str, base: type[PtoOp], **spec: Any) -> Callable[[str], None]:
    """Returns the function that declares the rows of a text in ``module``: subclasses of ``base`` with ``spec``.

    A row has the class, the mnemonic and what the operation computes: ``TAbsOp pto.tabs: dst[i,j] = |src[i,j]|.``
    """

    def declare(text: str) -> None:
        for row in text.strip().splitlines():
            head, _, meaning = row.partition(": ")
            cls, name = head.split()
            parts = {"__doc__": meaning, "__module__": module}
            created = new_class(
                cls, (base,), {"name": name, **spec}, lambda namespace, parts=parts: namespace.update(parts)
            )
            setattr(sys.modules[module], cls, created)

    return declare
