"""Which functions of a program a launch may mean."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from pto_dialect.runtime.compile.program import Symbols, candidates, find_entry
from pto_dialect.runtime.errors import ProgramError

from .listing import list_functions


def launched_functions(module: ModuleOp, target: str | None) -> list[str]:
    """Returns the only function that may be meant, else all that may be; of functions that start together the first."""
    symbols = Symbols(module)
    if not symbols.first:
        return []
    try:
        return [find_entry(module, None, symbols)]
    except ProgramError:
        started: set[str] = set()
        names: list[str] = []
        partners = {one.name: one.starts_with for one in list_functions(module, target)}
        for name in candidates(module, symbols):
            if name not in started:
                names.append(name)
                started |= {name, partners.get(name) or name}
        return names
