"""How messages show the form of every operation, as kept in ``tests/syntax/forms.txt``.

Usage: python tests/helpers/kept_forms.py writes the file again.
"""

from __future__ import annotations

from pathlib import Path

from pto_dialect.ir.core.base import Shape, op_spec, signature
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.registry import op_class
from pto_dialect.ir.core_dialects.core_ops import CORE_SHAPES
from pto_dialect.syntax.usage import usage, value_usage

FILE = Path(__file__).parents[1] / "syntax" / "forms.txt"


def lines() -> list[str]:
    """A line for each operation that has a form, and for each tile operation on values."""
    found = [f"{name}: {form}" for name in (*OPS, *CORE_SHAPES) if (form := usage(name)) is not None]
    for name in OPS:
        cls = op_class(name)
        if op_spec(cls).shape is Shape.DPS:
            inputs = [slot for slot in signature(cls).operands if slot.name not in op_spec(cls).outs]
            found.append(f"{name} on values: {value_usage(name, inputs)}")
    return sorted(found)


if __name__ == "__main__":
    FILE.write_text("".join(f"{line}\n" for line in lines()), encoding="utf-8")
