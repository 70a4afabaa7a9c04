"""A contract of import-linter: no circles among modules, wherever the imports stand and whatever they are for."""

from __future__ import annotations

import grimp
from importlinter import Contract, ContractCheck, output


def circles(imports: dict[str, set[str]]) -> list[list[str]]:
    """The groups of modules each of which imports all others of its group, through others or itself.

    These are the strongly connected components of more than one module (Tarjan's algorithm).
    """
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        order[module] = lowest[module] = len(order)
        stack.append(module)
        for imported in imports[module]:
            if imported not in order:
                visit(imported)
            if imported in stack:
                lowest[module] = min(lowest[module], lowest[imported])
        if lowest[module] == order[module]:
            place = stack.index(module)
            if len(stack) > place + 1:
                found.append(sorted(stack[place:]))
            del stack[place:]

    for module in imports:
        if module not in order:
            visit(module)
    return found


class AcyclicContract(Contract):
    """The modules of the root packages import each other without circles."""

    def check(self, graph: grimp.ImportGraph, verbose: bool) -> ContractCheck:
        """Looks for circles."""
        imports = {module: graph.find_modules_directly_imported_by(module) for module in sorted(graph.modules)}
        found = circles(imports)
        return ContractCheck(kept=not found, metadata={"circles": found})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Prints the modules of each circle."""
        for circle in check.metadata["circles"]:
            output.print_error("These modules import each other:")
            for module in circle:
                output.print_error(f"  {module}", bold=False)
