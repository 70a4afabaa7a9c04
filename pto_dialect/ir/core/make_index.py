"""Writes ``index.py``, which states the declaration of each operation. Run as ``python -m
pto_dialect.ir.core.make_index``."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from pto_dialect.families import FAMILIES

from .base import PtoOp, op_spec

_HEADER = '''"""Every operation by mnemonic: family, class, shape.

Looking an operation up here imports no operation class. Generated: ``python -m pto_dialect.ir.core.make_index``.
"""

from __future__ import annotations

OPS: dict[str, tuple[str, str, str]] = {
'''


def declared(module_name: str) -> list[type[PtoOp]]:
    """Returns the operation classes that a module below ``ir`` declares itself, in order."""
    module = import_module(f"pto_dialect.ir.{module_name}")
    return [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, PtoOp)
        and value.__module__ == module.__name__
        and "name" in value.__dict__
    ]


def render() -> str:
    """Returns the text of ``index.py`` for the present declarations; raises ValueError for a mnemonic
    declared twice."""
    entries: dict[str, str] = {}
    for name, family in FAMILIES.items():
        for cls in declared(family.operations) if family.operations else ():
            if cls.name in entries:
                raise ValueError(f"{cls.name} is declared twice")
            shape = op_spec(cls).shape.value
            entries[cls.name] = f'    "{cls.name}": ("{name}", "{cls.__name__}", "{shape}"),\n'
    return _HEADER + "".join(entries[name] for name in sorted(entries)) + "}\n"


def main() -> None:
    """Rewrites ``index.py`` next to this file."""
    (Path(__file__).parent / "index.py").write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    main()
