"""Writes ``operations.csv``, the declarations that ``index`` reads: ``python -m pto_dialect.ir.core.make_index``."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from pto_dialect.families import FAMILIES

from .base import PtoOp, op_spec


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
    """Returns the text of ``operations.csv`` for the present declarations; raises ValueError for a mnemonic declared
    twice."""
    entries: dict[str, str] = {}
    for name, family in FAMILIES.items():
        for cls in declared(family.operations) if family.operations else ():
            if cls.name in entries:
                raise ValueError(f"{cls.name} is declared twice")
            shape = op_spec(cls).shape.value
            entries[cls.name] = f"{cls.name},{name},{cls.__name__},{shape}\n"
    return "".join(entries[name] for name in sorted(entries))


def main() -> None:
    """Rewrites ``operations.csv`` next to this file."""
    (Path(__file__).parent / "operations.csv").write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    main()
