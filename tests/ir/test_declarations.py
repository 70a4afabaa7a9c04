"""Operands, results and attributes of every operation are declared as ``operations.txt`` has them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pto_dialect.ir.core.base import signature
from pto_dialect.ir.core.registry import all_op_classes

FILE = Path(__file__).with_name("operations.txt")


def test_declarations_of_operations(compare: Callable[[Path, str], None]) -> None:
    lines: list[str] = []
    for cls in all_op_classes():
        declared = signature(cls)
        operands, results, attributes = (
            ", ".join(f"{slot.name}{'' if slot.arity == '1' else slot.arity}: {slot.kind.label}" for slot in slots)
            for slots in (declared.operands, declared.results, declared.attributes.values())
        )
        lines.append(f"{cls.name}({operands}) -> ({results}) {{{attributes}}}\n")
    compare(FILE, "".join(lines))
